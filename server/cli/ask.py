"""`proofweave ask` and `proofweave plan`: questions in words."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from google.protobuf.json_format import MessageToDict
from proofweave.v1 import common_pb2, reasoning_pb2

from .connection import connect
from .options import (
    At,
    Config,
    Deadline,
    Json,
    Kb,
    MaxAnswers,
    Server,
    Token,
    ValidOn,
    settings_of,
    target,
)
from .outcome import console, print_json
from .prove import EngineOption, engine_of
from .verdicts import (
    certificate_of,
    decision_json,
    exit_of,
    proof_text,
    show_decision,
    show_not_understood,
)

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="A question in words.")]


def ask(
    question: Question,
    valid_on: ValidOn = "",
    at: At = "",
    engine: EngineOption = "auto",
    deadline: Deadline = 0,
    max_answers: MaxAnswers = 0,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Answer a question with a proof, or say what is missing.

    An ambiguous question gives every reading with its own verdict.

    \b
    Examples:
      proofweave ask --kb kb 'Which films did the director of Casablanca direct?'
      proofweave ask --kb kb 'Is Acme GmbH certified?' --valid-on 2026-11-30 --json
      proofweave ask --kb kb 'Is Acme GmbH certified?' --at 12
    """
    settings = settings_of(config)
    request = reasoning_pb2.AskQuestionRequest(
        question=question,
        valid_on=valid_on,
        at=at,
        budget=common_pb2.Budget(deadline_ms=deadline, max_answers=max_answers),
        engine=engine_of(engine),
    )
    with connect(target(server, kb, token, settings), settings) as services:
        readings = services.reasoning.AskQuestion(request).readings
        found = [
            (reading.decision, certificate_of(reading.decision, services)) for reading in readings
        ]
        proofs = [] if as_json else [proof_text(*pair, services) for pair in found]
    if as_json:
        shown = [
            {"plan": plan_json(reading.plan), **decision_json(*pair)}
            for reading, pair in zip(readings, found, strict=True)
        ]
        print_json(
            {"question": question, "readings": shown, **(shown[0] if len(shown) == 1 else {})}
        )
    else:
        for reading, proof in zip(readings, proofs, strict=True):
            if not reading.decision.certificate_sha256:
                show_not_understood(question, reading.decision)
                continue
            console().print(f"understood as: {reading.plan.understood_as}", style="italic")
            for answer in reading.decision.answers:
                also = f" (also named {', '.join(answer.names)})" if answer.names else ""
                console().print(f"answer: {answer.label or answer.atom}{also}", style="bold")
            show_decision(reading.decision, proof)
    raise typer.Exit(exit_of([reading.decision for reading in readings]))


def plan_json(plan: reasoning_pb2.Plan) -> dict[str, Any]:
    """Give a plan as JSON."""
    return {
        "understood_as": plan.understood_as,
        "goal": plan.goal,
        "steps": MessageToDict(plan.steps),
        "rules": plan.rules,
    }


def plan(
    question: Question,
    valid_on: ValidOn = "",
    at: At = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Show how a question is understood, without answering it.

    \b
    Example:
      proofweave plan --kb kb 'Which films did the director of Casablanca direct?'
    """
    settings = settings_of(config)
    request = reasoning_pb2.PlanQuestionRequest(question=question, valid_on=valid_on, at=at)
    with connect(target(server, kb, token, settings), settings) as services:
        readings = services.reasoning.PlanQuestion(request).readings
    if as_json:
        print_json({"question": question, "readings": [plan_json(found) for found in readings]})
        return
    out = console()
    for number, found in enumerate(readings, start=1):
        out.print(f"{number}. {found.understood_as}", style="bold")
        out.print(f"   goal: {found.goal}")
        for line in found.rules.splitlines():
            out.print(f"   {line}", style="dim")
