"""The cheapest missing facts, against every set of facts that could be added."""

from __future__ import annotations

import datetime
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reasoner.abduction import Optimality
from reasoner.atom import Atom
from reasoner.policy import parse_atom, parse_policy
from reasoner.run import UNLIMITED
from reasoner.sources import facts_file_sources
from server.reasoning import Ground
from server.repairs import Repairs, find_repairs, proves

STORED = ("a", "b", "c", "d", "n")
DERIVED = ("p", "q", "r")
CLOSED = "n"


def ground(rules: str, facts: str) -> Ground:
    base, sources = facts_file_sources(("facts.lp", facts))
    policy = parse_policy(rules, name="rules")
    return Ground(policy, base, sources, datetime.date(2026, 3, 1), ())


def repairs(rules: str, facts: str, goal: str, *, cap: int = 50) -> Repairs:
    return find_repairs(
        parse_atom(goal), ground(rules, facts), budget=UNLIMITED, cap=cap, expired=lambda: False
    )


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, str]:
    """Draw rules with recursion, strong negation and absence of a closed predicate, and facts."""
    names = [*STORED[:-1], *DERIVED]
    lines = ['closed(n/0, "facts").']
    for _ in range(draw(st.integers(2, 7))):
        head = draw(st.sampled_from([*DERIVED, *DERIVED, "-p", "-q"]))
        body = sorted(draw(st.sets(st.sampled_from(names), min_size=1, max_size=3)))
        if draw(st.integers(0, 3)) == 0:
            body.append(draw(st.sampled_from(["n", "not n", "-b"])))
        lines.append(f"{head} :- {', '.join(body)}.")
    lines.append("p :- q, a.")
    stated = draw(st.sets(st.sampled_from(["a", "b", "c", "n", "-b", "-c"]), max_size=3))
    return "\n".join(lines), "\n".join(["other.", *(f"{name}." for name in sorted(stated))])


@given(programs())
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_no_cheaper_set_of_facts_proves_the_goal(program: tuple[str, str]) -> None:
    rules, facts = program
    where, goal = ground(rules, facts), Atom("p")
    if proves(goal, where, (), UNLIMITED):
        return
    stated = set(facts.replace(".", "").split())
    ruled = {line.partition(" :-")[0] for line in rules.splitlines()}
    names = ("a", "b", "c", "d", "-b", "q", "r")
    free = [parse_atom(name) for name in names if name not in stated | ruled]
    wanted: list[tuple[Atom, ...]] = []
    for size in range(1, len(free) + 1):
        for chosen in combinations(free, size):
            if not any(set(less) <= set(chosen) for less in wanted) and proves(
                goal, where, chosen, UNLIMITED
            ):
                wanted.append(chosen)
    found = repairs(rules, facts, "p")
    assert found.complete
    assert {frozenset(facts) for facts in found.sets} == {frozenset(facts) for facts in wanted}
    assert [len(facts) for facts in found.sets] == sorted(len(facts) for facts in wanted)
    assert found.optimality is (Optimality.OPTIMAL if wanted else Optimality.IMPOSSIBLE)


CLEAR = 'closed(listed/1, "facts").\nclear(S) :- member(S), not listed(S), seat(S, "DE").\n'


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ("other(x).", [["member(s)", 'seat(s, "DE")']]),
        ("member(s).", [['seat(s, "DE")']]),
        ('member(s). listed(s). seat(s, "DE").', []),
        ('member(s). seat(s, "AT").', []),
        ('member(s). -seat(s, "DE").', []),
    ],
    ids=["both", "one", "excluded", "another value", "denied"],
)
def test_nothing_is_proposed_that_what_is_known_contradicts(
    facts: str, found: list[list[str]]
) -> None:
    result = repairs(f"functional(seat).\n{CLEAR}", facts, "clear(s)")
    assert [sorted(map(str, each)) for each in result.sets] == found
    assert result.optimality is (Optimality.OPTIMAL if found else Optimality.IMPOSSIBLE)


def test_a_complete_source_misses_nothing() -> None:
    rules = 'closed(member/1, "list").\nok(S) :- member(S).\nok(S) :- waiver(S), signed(S).\n'
    result = repairs(rules, "other(x).", "ok(s)")
    assert [sorted(map(str, each)) for each in result.sets] == [["signed(s)", "waiver(s)"]]


def test_a_deep_chain_of_rules_is_looked_through() -> None:
    rules = "\n".join(f"p{n} :- p{n + 1}, a{n}." for n in range(12)) + "\np12 :- a12.\n"
    result = repairs(rules, "other.", "p0")
    assert [len(each) for each in result.sets] == [13]
    assert result.complete
    assert result.optimality is Optimality.OPTIMAL


def test_a_spent_deadline_is_never_called_optimal() -> None:
    result = find_repairs(
        Atom("p"),
        ground("p :- a, b.\np :- c, d.\n", "other."),
        budget=UNLIMITED,
        cap=5,
        expired=lambda: True,
    )
    assert result.optimality is Optimality.BEST_FOUND
    assert not result.complete
