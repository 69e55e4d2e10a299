"""Questions in words over the wire: planned, answered, and what is not understood."""

from __future__ import annotations

import grpc
import pytest
from live_server import Live
from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from server.status import failure_of

QUESTION = "What is the liability cover of Acme GmbH?"


def ask(live: Live, question: str) -> pb.Reading:
    """Ask a question that has one reading."""
    request = pb.AskQuestionRequest(question=question, valid_on="2026-03-01")
    (reading,) = live.services.reasoning.AskQuestion(request).readings
    return reading


def test_a_plan_says_how_a_question_is_understood(live: Live) -> None:
    request = pb.PlanQuestionRequest(question=QUESTION)
    (plan,) = live.services.reasoning.PlanQuestion(request).readings
    assert "Acme GmbH" in plan.understood_as
    assert plan.goal == "answer(A)"
    assert plan.rules
    assert plan.steps["dimensions"] == ["liability_cover"]


def test_a_question_is_answered_with_its_quote(live: Live) -> None:
    reading = ask(live, QUESTION)
    assert reading.decision.verdict == common_pb2.VERDICT_CERTIFIED
    (answer,) = reading.decision.answers
    assert answer.bindings["A"] == '@quantity("5000000 EUR")'
    assert any("5,000,000" in quote.quote for quote in answer.quotes)
    assert reading.plan.understood_as


def test_what_is_not_known_is_named(live: Live) -> None:
    decision = ask(live, "What is the liability cover of Nobody Ltd?").decision
    assert decision.verdict == common_pb2.VERDICT_ABSTAINED
    assert any("liability_cover" in found.atom for found in decision.open)


@pytest.mark.parametrize("question", ["", "?", "Colourless green ideas sleep furiously?"])
def test_what_is_not_understood_is_out_of_scope(live: Live, question: str) -> None:
    decision = ask(live, question).decision
    assert decision.verdict == common_pb2.VERDICT_ABSTAINED
    assert decision.code == common_pb2.ABSTENTION_CODE_OUT_OF_SCOPE
    assert decision.open[0].detail
    with pytest.raises(grpc.RpcError) as caught:
        live.services.reasoning.PlanQuestion(pb.PlanQuestionRequest(question=question))
    assert failure_of(caught.value).reason == "QUESTION_REJECTED"
