"""The interval of a proof: it holds on each of its days, and not beyond."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest
from golden import load
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoner.certificate import canonical_bytes
from reasoner.decide import Decision, Request, decide
from reasoner.policy import parse_atom, parse_policy
from reasoner.verdict import Verdict
from reasoner.verify import verify_bytes

DAY = datetime.date(2026, 3, 1)
FACTS = (
    'born("Ada", @date("2000-05-10")). born("Bo", @date("2001")). due("Ada", @date("2026-09-30")).'
)


def decided(rules: str, goal: str = 'ok("Ada")', day: datetime.date = DAY) -> Decision:
    """Decide a goal under some rules."""
    facts, sources = load(FACTS)
    policy = parse_policy(rules, name="rules")
    request = Request(parse_atom(goal), day)
    return decide(request, policy=policy, facts=facts, sources=sources, engine="linear")


def interval(rules: str, goal: str = 'ok("Ada")') -> tuple[str | None, str | None]:
    """Give the interval of a proof."""
    certificate: dict[str, Any] = json.loads(decided(rules, goal).certificate)
    validity = certificate["validity"]
    assert validity["next_change"] == validity["end"]
    return validity["start"], validity["end"]


OWN = ("2026-03-01", "2026-03-02")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("born(P, D)", (None, None)),
        ("born(P, D), valid_on(T), D <= T", ("2000-05-10", None)),
        ("born(P, D), valid_on(T), T > D", ("2000-05-11", None)),
        ("due(P, D), valid_on(T), T <= D", (None, "2026-10-01")),
        ("due(P, D), valid_on(T), T < D", (None, "2026-09-30")),
        ("born(P, D), valid_on(T), years(D, T) >= 18", ("2018-05-10", None)),
        ("born(P, D), valid_on(T), years(D, T) < 26", (None, "2026-05-10")),
        ("born(P, D), valid_on(T), A = years(D, T), A >= 18, A < 67", ("2018-05-10", "2067-05-10")),
        ("born(P, D), valid_on(T), days(D, T) <= 10000", (None, "2027-09-27")),
        ("due(P, D), valid_on(T), days(T, D) >= 30", (None, "2026-09-01")),
        ("due(P, D), valid_on(T), D >= add_months(T, 1)", (None, "2026-09-01")),
        ("born(P, D), valid_on(T), year(T) >= 2026", ("2026-01-01", None)),
        ("born(P, D), valid_on(T), 2 * year(T) - 1 >= 4051", ("2026-01-01", None)),
        ("born(P, D), valid_on(T), 0 - year(T) <= 0 - 2026", ("2026-01-01", None)),
        ("born(P, D), due(P, E), valid_on(T), D <= T, T <= E", ("2000-05-10", "2026-10-01")),
        # What can change both ways, or goes elsewhere, holds on its day only.
        ('born(P, D), valid_on(T), T = @date("2026-03-01")', OWN),
        ("born(P, D), valid_on(T), D != T", OWN),
        ("born(P, D), valid_on(T), month(T) >= 3", OWN),
        ("born(P, D), valid_on(T), seen(T), D <= T", OWN),
        ("born(P, D), valid_on(T), years(D, T) - year(T) > -3000", OWN),
        ('born(P, D), valid_on(@date("2026-03-01"))', OWN),
    ],
)
def test_interval_of_a_rule(body: str, expected: tuple[str | None, str | None]) -> None:
    assert interval(f'ok(P) :- {body}.\nseen(T) :- valid_on(T), T > @date("2000").') == expected


def test_a_day_in_the_answer_holds_on_that_day() -> None:
    assert interval("ok(P, T) :- born(P, D), valid_on(T), D < T.", 'ok("Ada", T)') == OWN
    assert interval("ok(P) :- born(P, _).", "valid_on(T)") == OWN


def test_a_partial_date_does_not_change_just_once() -> None:
    rules = "ok(P) :- born(P, D), valid_on(T), years(D, T) >= 18."
    late = decided(rules, 'ok("Bo")', datetime.date(2026, 12, 31))
    assert late.verdict is Verdict.CERTIFIED
    validity = json.loads(late.certificate)["validity"]
    assert (validity["start"], validity["end"]) == ("2026-12-31", "2027-01-01")


def test_the_interval_ends_with_the_policy() -> None:
    header = "%! policy: p\n%! effective: 2026-01-01/2026-06-30\n\n"
    assert interval(header + "ok(P) :- born(P, _).") == ("2026-01-01", "2026-06-30")


TESTS = [
    "born(P, D), valid_on(T), years(D, T) >= {n}",
    "born(P, D), valid_on(T), A = years(D, T), A < {n}",
    "due(P, D), valid_on(T), days(T, D) >= {n}",
    "due(P, D), valid_on(T), add_days(T, {n}) <= D",
    "born(P, D), valid_on(T), months(D, T) * 2 > {n}",
    "born(P, D), due(P, E), valid_on(T), max(D, T) <= E, year(T) - {n} >= 1990",
]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TESTS), st.integers(0, 400), st.integers(-400, 400))
def test_a_proof_holds_exactly_on_the_days_of_its_interval(body: str, n: int, shift: int) -> None:
    rules = f"ok(P) :- {body.format(n=n)}."
    first = decided(rules)
    if first.verdict is not Verdict.CERTIFIED:
        return
    validity = json.loads(first.certificate)["validity"]
    day = DAY + datetime.timedelta(days=shift)
    inside = (validity["start"] or "") <= day.isoformat() < (validity["end"] or "9")
    assert (decided(rules, day=day).verdict is Verdict.CERTIFIED) == inside
    for edge, holds in (("start", True), ("end", False)):
        if validity[edge] is not None:
            found = decided(rules, day=datetime.date.fromisoformat(validity[edge]))
            assert (found.verdict is Verdict.CERTIFIED) == holds


@pytest.mark.parametrize("edge", ["start", "end", "next_change"])
def test_another_interval_is_rejected(edge: str) -> None:
    decision = decided("ok(P) :- born(P, D), valid_on(T), A = years(D, T), A >= 18, A < 67.")
    certificate = json.loads(decision.certificate)
    certificate["validity"][edge] = "2030-01-01"
    assert verify_bytes(canonical_bytes(certificate)).rejection == "VALIDITY_MISMATCH"
