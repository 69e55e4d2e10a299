"""The supplier example over a live server: as shipped, and under other names, values and orders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from live_server import LIMITS, Live, running, send
from proofweave.v1 import common_pb2, policy_pb2, reasoning_pb2
from supplier_world import EXAMPLE, World, original_world, renamed_world

from server.knowledge import create_knowledge
from server.settings import Settings

DAY = "2026-03-01"
POLICY = (EXAMPLE / "supplier_onboarding.lp").read_text("utf-8")
CERTIFIED, REFUTED, ABSTAINED = (
    common_pb2.VERDICT_CERTIFIED,
    common_pb2.VERDICT_REFUTED,
    common_pb2.VERDICT_ABSTAINED,
)
WORLDS = [original_world(), *(renamed_world(seed) for seed in (1, 2, 3))]


@contextmanager
def serving_world(world: World, directory: Path) -> Iterator[Live]:
    create_knowledge(directory, namespace="https://example.org/kb/", packs=("supplier",))
    with running(directory, Settings(limits=LIMITS)) as live:
        outcomes, _ = send(live.services, dict(world.documents))
        assert all(outcome.WhichOneof("result") == "admitted" for outcome in outcomes)
        request = policy_pb2.CreatePolicyVersionRequest(text=POLICY, file_name="onboarding.lp")
        assert not live.services.policy.CreatePolicyVersion(request).warnings
        yield live


@pytest.fixture(scope="module", params=range(len(WORLDS)), ids=["shipped", "1", "2", "3"])
def example(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, Live]]:
    """One world after another, each with a server of its own."""
    world = WORLDS[request.param]
    with serving_world(world, tmp_path_factory.mktemp("example") / "kb") as live:
        yield world, live


def decide(example: tuple[World, Live], company: str, day: str = DAY) -> common_pb2.Decision:
    """Ask whether a company, by its name in the shipped example, may be onboarded."""
    world, live = example
    goal = reasoning_pb2.Goal(
        goal=f'may_onboard("{world.name(company)}")',
        policy="policies/supplier_onboarding",
        valid_on=day,
    )
    request = reasoning_pb2.ProveGoalRequest(goal=goal)
    return live.services.reasoning.ProveGoal(request).decision


def only_open(decision: common_pb2.Decision) -> common_pb2.OpenRequirement:
    """Give the one open requirement of an abstention."""
    assert decision.verdict == ABSTAINED
    assert len(decision.open) == 1, [requirement.atom for requirement in decision.open]
    assert decision.code == decision.open[0].code
    return decision.open[0]


def test_what_is_documented_is_certified(example: tuple[World, Live]) -> None:
    decision = decide(example, "Nordhafen Logistik GmbH")
    assert decision.verdict == CERTIFIED
    quotes = [quote.quote for answer in decision.answers for quote in answer.quotes]
    name = example[0].name("Nordhafen Logistik GmbH")
    assert any(quote.startswith(f"{name} is certified under ISO 9001") for quote in quotes)
    assert not any("ISO 14001" in quote for quote in quotes)


def test_the_twin_abstains_and_names_the_missing_fact(example: tuple[World, Live]) -> None:
    requirement = only_open(decide(example, "Ostwind Spedition GmbH"))
    name = example[0].name("Ostwind Spedition GmbH")
    assert requirement.atom.startswith(f'account_verified_on("{name}", ')
    assert requirement.code == common_pb2.ABSTENTION_CODE_GAP_IN_EXTRACTION
    assert requirement.expected == "date"
    assert name in requirement.query


def test_a_stated_denial_refutes(example: tuple[World, Live]) -> None:
    decision = decide(example, "Kestrel Freight Ltd")
    assert decision.verdict == REFUTED
    quotes = [quote.quote for answer in decision.answers for quote in answer.quotes]
    name = example[0].name("Kestrel Freight Ltd")
    assert f"{name} is not certified under ISO 9001." in quotes


def test_a_namesake_is_rejected_by_name(example: tuple[World, Live]) -> None:
    requirement = only_open(decide(example, "Meridian Metals GmbH"))
    assert requirement.code == common_pb2.ABSTENTION_CODE_UNVERIFIED_ENTITY
    assert [name.partition(" (")[0] for name in requirement.rejected] == [
        example[0].name("Meridian Metals AG")
    ]


def test_an_expired_certificate_counts_until_it_expires(example: tuple[World, Live]) -> None:
    requirement = only_open(decide(example, "Alpenglas Handels AG"))
    assert requirement.atom.startswith("liability_cover(")
    assert "2025-01-01..2026-01-01" in requirement.detail
    assert decide(example, "Alpenglas Handels AG", "2025-12-31").verdict == CERTIFIED
    assert decide(example, "Alpenglas Handels AG", "2026-01-01").verdict == ABSTAINED


def test_two_countries_are_a_conflict_with_both_sides(example: tuple[World, Live]) -> None:
    requirement = only_open(decide(example, "Baltimar Shipping OÜ"))
    assert requirement.code == common_pb2.ABSTENTION_CODE_CONFLICT
    assert "Estonia" in requirement.detail
    assert "Latvia" in requirement.detail
    assert len(set(requirement.conflicting)) == 2


def test_another_currency_is_undetermined(example: tuple[World, Live]) -> None:
    requirement = only_open(decide(example, "Tagus Carriers Lda"))
    assert requirement.code == common_pb2.ABSTENTION_CODE_UNDETERMINED
    assert "USD" in requirement.atom
    assert "EUR" in requirement.atom


def test_the_wrong_issuer_does_not_count(example: tuple[World, Live]) -> None:
    requirement = only_open(decide(example, "Sierra Polymers S.A."))
    assert requirement.atom.startswith("certified_under(")
    assert "Letter" in requirement.detail


def ask(example: tuple[World, Live], question: str) -> reasoning_pb2.Reading:
    """Ask a question that has one reading."""
    request = reasoning_pb2.AskQuestionRequest(question=example[0].name(question), valid_on=DAY)
    readings = example[1].services.reasoning.AskQuestion(request).readings
    assert len(readings) == 1
    return readings[0]


def test_a_question_over_two_documents(example: tuple[World, Live]) -> None:
    reading = ask(example, "In which country is the insurer of Nordhafen Logistik GmbH registered?")
    assert reading.decision.verdict == CERTIFIED
    assert [dict(answer.bindings) for answer in reading.decision.answers] == [{"A": '"Germany"'}]
    sources = {quote.source_sha256 for quote in reading.decision.answers[0].quotes}
    assert len(sources) == 2


@pytest.mark.parametrize(
    ("word", "winner"), [("higher", "Nordhafen Logistik GmbH"), ("lower", "Ostwind Spedition GmbH")]
)
def test_a_question_that_compares(example: tuple[World, Live], word: str, winner: str) -> None:
    reading = ask(
        example,
        f"Which of Nordhafen Logistik GmbH and Ostwind Spedition GmbH has the {word} liability "
        "cover?",
    )
    assert reading.decision.verdict == CERTIFIED
    (answer,) = reading.decision.answers
    assert example[0].name(winner) in answer.atom
    assert len(answer.quotes) >= 2


def test_a_question_about_an_unknown_company_is_not_answered(example: tuple[World, Live]) -> None:
    reading = ask(example, "In which country is the insurer of Tagus Carriers Lda registered?")
    assert reading.decision.verdict == ABSTAINED
    assert reading.decision.open[0].atom.startswith("insured_by(")


def test_no_goal_leaves_without_a_certificate_that_checks(example: tuple[World, Live]) -> None:
    from proofweave.v1 import certificate_pb2

    for company in ("Nordhafen Logistik GmbH", "Ostwind Spedition GmbH", "Kestrel Freight Ltd"):
        decision = decide(example, company)
        response = example[1].services.certificate.VerifyCertificate(
            certificate_pb2.VerifyCertificateRequest(name=decision.certificate)
        )
        assert response.accepted, response.message
