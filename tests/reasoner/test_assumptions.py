"""An assumption settles no contest: what it contradicts, stated or assumed, is named."""

from __future__ import annotations

import datetime

import pytest

from reasoner.decide import Decision, Request, decide
from reasoner.policy import parse_atom, parse_policy
from reasoner.retraction import Retraction
from reasoner.sources import facts_file_sources
from reasoner.verdict import AbstentionCode, Verdict

POLICY = """
functional(size).
disjoint("cat", "dog").
ok(S) :- size(S, 1).
pet(S) :- kind(S, "cat").
fit(S) :- tested(S).
"""
DAY = datetime.date(2026, 1, 1)


def suppose(goal: str, facts: str, *assumed: str, without: str = "") -> Decision:
    """Decide a goal under assumptions, perhaps without a fact."""
    base, sources = facts_file_sources(("facts.lp", f"{facts} other(a)."))
    found = base.match(parse_atom(without), None) if without else ()
    request = Request(
        parse_atom(goal),
        DAY,
        assumptions=tuple(map(parse_atom, assumed)),
        retractions=tuple(Retraction(fact.leaf, fact.atom) for fact in found),
    )
    policy = parse_policy(POLICY, name="policy.lp")
    return decide(request, policy=policy, facts=base, sources=sources, engine="linear")


@pytest.mark.parametrize(
    ("goal", "facts", "assumed"),
    [
        ("ok(a)", "size(a, 1).", ["size(a, 2)"]),
        ("ok(a)", "size(a, 2).", ["size(a, 1)"]),
        ("ok(a)", "size(a, 1). size(a, 2).", ["size(a, 1)"]),
        ("size(a, 1)", "size(a, 1). size(a, 2).", ["size(a, 1)"]),
        ("ok(a)", "", ["size(a, 1)", "size(a, 2)"]),
        ("pet(a)", 'kind(a, "cat").', ['kind(a, "dog")']),
        ("pet(a)", 'kind(a, "dog").', ['kind(a, "cat")']),
        ("fit(a)", "tested(a).", ["-tested(a)"]),
        ("fit(a)", "-tested(a).", ["tested(a)"]),
        ("fit(a)", "", ["tested(a)", "-tested(a)"]),
    ],
)
def test_whatever_contradicts_is_a_conflict_with_both_sides(
    goal: str, facts: str, assumed: list[str]
) -> None:
    decision = suppose(goal, facts, *assumed)
    assert decision.code is AbstentionCode.CONFLICT
    assert all(
        text.removeprefix("-") in decision.open[0].detail.replace("-", "") for text in assumed
    )


def test_what_is_retracted_contradicts_no_more() -> None:
    decision = suppose("ok(a)", "size(a, 2).", "size(a, 1)", without="size(a, 2)")
    assert decision.verdict is Verdict.CERTIFIED


def test_what_is_stated_may_be_assumed_too() -> None:
    assert suppose("ok(a)", "size(a, 1).", "size(a, 1)").verdict is Verdict.CERTIFIED
    assert suppose("fit(a)", "tested(a).", "size(a, 2)").verdict is Verdict.CERTIFIED
