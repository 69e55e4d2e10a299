"""Who is who over a live server: short names of several, namesakes, chains of names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_server import Live, running, send
from proofweave.v1 import common_pb2, knowledge_pb2, reasoning_pb2

from server.knowledge import create_knowledge
from server.settings import Settings

LOGISTICS = (
    'Nordhafen Logistik GmbH ("Nordhafen") is based in Hamburg.'
    " Nordhafen is certified under ISO 9001.\n"
)
SHIPPING = (
    'Nordhafen Reederei AG ("Nordhafen") is based in Bremen.'
    " Nordhafen is certified under ISO 14001.\n"
)
ELSEWHERE = "Nordhafen is insured by Hanse Insurance AG.\n"
SMITHS = (
    "John Smith was born on 4 March 1952 in Leeds.\n\n"
    "John Smith was born on 9 May 1971 in York.\n\n"
    "John Smith died in Oxford.\n"
)
RULES = (
    "%! policy: names\n%! version: 1\n\n"
    "%! rule: both\nboth(S) :- certified_under(S, A), certified_under(S, B), A != B.\n\n"
    "%! rule: covered\n"
    "covered(S, I) :- insured_by(S, I), certified_under(S, _).\n"
)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    packs = ("supplier", "wiki")
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=packs)
    with running(tmp_path / "kb", Settings()) as found:
        yield found


def ask(live: Live, question: str) -> common_pb2.Decision:
    request = reasoning_pb2.AskQuestionRequest(question=question)
    (reading,) = live.services.reasoning.AskQuestion(request).readings
    return reading.decision


def prove(live: Live, goal: str) -> common_pb2.Decision:
    request = reasoning_pb2.ProveGoalRequest(goal=reasoning_pb2.Goal(goal=goal, policy_text=RULES))
    return live.services.reasoning.ProveGoal(request).decision


def values(live: Live, dimension: str) -> dict[str, list[str]]:
    request = knowledge_pb2.ListStatementsRequest(dimension=dimension)
    found: dict[str, list[str]] = {}
    for statement in live.services.knowledge.ListStatements(request).statements:
        value = statement.value
        found.setdefault(statement.subject, []).append(
            value.entity or value.class_label or value.date
        )
    return found


def test_a_legal_form_stands_for_no_company_and_other_scripts_have_names(live: Live) -> None:
    text = (
        "Nordwind GmbH is certified under ISO 9001. 株式会社 GmbH is certified under ISO 14001.\n\n"
        "شركة GmbH is certified under ISO 14001. 3M GmbH is certified under ISO 14001.\n\n"
        "The GmbH is certified under ISO 27001.\n"
    )
    send(live.services, {"register.txt": text.encode()})
    assert values(live, "certified_under") == {
        "Nordwind GmbH": ["ISO 9001"],
        "株式会社 GmbH": ["ISO 14001"],
        "شركة GmbH": ["ISO 14001"],
        "3M GmbH": ["ISO 14001"],
    }


@pytest.mark.parametrize("order", [(LOGISTICS, SHIPPING), (SHIPPING, LOGISTICS)])
def test_one_short_name_of_two_companies_merges_nothing(live: Live, order: tuple[str, str]) -> None:
    for number, text in enumerate((*order, ELSEWHERE)):
        send(live.services, {f"{number}.txt": text.encode()})
    assert not prove(live, "both(S)").answers
    assert not prove(live, "covered(S, I)").answers
    for name, standard in (("Logistik GmbH", "ISO 9001"), ("Reederei AG", "ISO 14001")):
        decision = ask(live, f"Is Nordhafen {name} certified under {standard}?")
        assert decision.verdict == common_pb2.VERDICT_CERTIFIED
    decision = ask(live, "Which standard is Nordhafen certified under?")
    assert decision.verdict == common_pb2.VERDICT_ABSTAINED
    assert decision.code == common_pb2.ABSTENTION_CODE_UNVERIFIED_ENTITY
    (needed,) = decision.open
    assert list(needed.rejected) == ["Nordhafen Logistik GmbH", "Nordhafen Reederei AG"]


def test_a_short_name_counts_again_when_one_company_bears_it(live: Live) -> None:
    send(live.services, {"a.txt": LOGISTICS.encode(), "c.txt": ELSEWHERE.encode()})
    question = "Which standard is Nordhafen certified under?"
    alone = ask(live, question)
    assert alone.verdict == common_pb2.VERDICT_CERTIFIED
    statements = json.loads(alone.certificate_content)["statements"].values()
    assert "same_as" in {statement["dimension"] for statement in statements}
    assert prove(live, "covered(S, I)").answers
    outcomes, _ = send(live.services, {"b.txt": SHIPPING.encode()})
    assert ask(live, question).verdict == common_pb2.VERDICT_ABSTAINED
    name = outcomes[0].admitted.document.name
    live.services.knowledge.RetractDocument(knowledge_pb2.RetractDocumentRequest(name=name))
    assert ask(live, question).certificate_content == alone.certificate_content


def test_names_that_differ_in_case_are_two_unless_linked(live: Live) -> None:
    texts = "ACME GmbH is certified under ISO 9001.\n", "Acme GmbH is certified under ISO 14001.\n"
    send(live.services, {f"{n}.txt": text.encode() for n, text in enumerate(texts)})
    assert not prove(live, "both(S)").answers
    assert len(values(live, "certified_under")) == 2


def test_namesakes_of_one_document_are_two_persons(live: Live) -> None:
    outcomes, _ = send(live.services, {"smiths.txt": SMITHS.encode()})
    first, second = (
        "John Smith (date of birth 1952-03-04)",
        "John Smith (date of birth 1971-05-09)",
    )
    assert values(live, "date_of_birth") == {first: ["1952-03-04"], second: ["1971-05-09"]}
    assert values(live, "place_of_birth") == {first: ["Leeds"], second: ["York"]}
    assert values(live, "place_of_death") == {}
    reasons = list(outcomes[0].admitted.rejected_by_reason)
    assert any(
        reason.startswith("namesakes: 'John Smith' is the name of several") for reason in reasons
    )
    decision = ask(live, "When was John Smith born?")
    assert decision.verdict == common_pb2.VERDICT_ABSTAINED
    assert first in decision.open[0].detail
    assert second in decision.open[0].detail
    assert ask(live, f"When was {first} born?").verdict == common_pb2.VERDICT_CERTIFIED


def test_two_births_of_one_passage_contradict_each_other(live: Live) -> None:
    text = "John Smith was born on 4 March 1952. John Smith was born on 9 May 1971.\n"
    send(live.services, {"smith.txt": text.encode()})
    assert sorted(values(live, "date_of_birth")["John Smith"]) == ["1952-03-04", "1971-05-09"]
    decision = ask(live, "When was John Smith born?")
    assert decision.code == common_pb2.ABSTENTION_CODE_CONFLICT


def test_a_less_precise_birth_is_the_same_person(live: Live) -> None:
    text = "John Smith was born in 1952.\n\nJohn Smith was born on 4 March 1952 in Leeds.\n"
    send(live.services, {"smith.txt": text.encode()})
    assert set(values(live, "date_of_birth")) == {"John Smith"}


@pytest.mark.parametrize("between", ["", "\n\n"])
def test_a_short_name_that_a_document_gives_twice_means_the_one_before_it(
    live: Live, between: str
) -> None:
    text = LOGISTICS.strip() + f" {between}" + SHIPPING
    send(live.services, {"both.txt": text.encode()})
    assert values(live, "certified_under") == {
        "Nordhafen Logistik GmbH": ["ISO 9001"],
        "Nordhafen Reederei AG": ["ISO 14001"],
    }


def test_a_short_name_of_two_says_nobody_where_neither_is_introduced(live: Live) -> None:
    text = f"{LOGISTICS}\n{SHIPPING}\n{ELSEWHERE}"
    outcomes, _ = send(live.services, {"all.txt": text.encode()})
    assert values(live, "insured_by") == {}
    (reason,) = outcomes[0].admitted.rejected_by_reason
    assert reason == (
        "'Nordhafen' is short for several here, and none is named in full: "
        "Nordhafen Logistik GmbH, Nordhafen Reederei AG"
    )
    assert not prove(live, "covered(S, I)").answers
