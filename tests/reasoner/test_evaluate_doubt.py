"""What is certain holds at every rate of exchange; what is not even possible holds at none."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_programs import DOUBTFUL_CLOSED, Program, doubtful_programs

from kb.quantity import format_number
from reasoner.decide import Request, decide
from reasoner.evaluate import evaluate
from reasoner.facts import Fact, FactBase
from reasoner.policy import parse_atom, parse_facts, parse_policy
from reasoner.slice import Slice
from reasoner.sources import facts_file_sources
from reasoner.verdict import AbstentionCode


def _slice(program: Program, goal: str) -> Slice:
    policy = parse_policy(DOUBTFUL_CLOSED + program.rules, name="generated")
    facts = FactBase(Fact(line.atom, "x") for line in parse_facts(program.facts, name="f"))
    return evaluate(policy, parse_atom(goal), facts, valid_on=None)


def _at_rate(text: str, rate: Fraction) -> str:
    """Write all amounts as numbers, at so many euros for a dollar."""

    def number(match: re.Match[str]) -> str:
        amount = int(match[1]) * (rate if match[2] == "USD" else 1)
        return f'@decimal("{format_number(Fraction(amount))}")'

    return re.sub(r'@quantity\("(\d+) (EUR|USD)"\)', number, text)


@given(
    doubtful_programs(), st.sampled_from([Fraction(1, 5), Fraction(1), Fraction(2), Fraction(9)])
)
@settings(max_examples=200, deadline=None)
def test_certain_and_possible_enclose_every_world(program: Program, rate: Fraction) -> None:
    doubtful = _slice(program, program.goal)
    world = Program(_at_rate(program.rules, rate), _at_rate(program.facts, rate), program.goal)
    actual = set(_slice(world, program.goal).answers)
    certain, possible = set(doubtful.answers), set(doubtful.possible)
    assert certain <= actual <= certain | possible
    assert not _slice(world, program.goal).possible


@given(doubtful_programs(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_doubt_is_decided_and_checked(program: Program, ask_for_one: bool) -> None:
    goal = parse_atom(program.goal.replace("X", "a") if ask_for_one else program.goal)
    policy = parse_policy(DOUBTFUL_CLOSED + program.rules, name="generated")
    facts, sources = facts_file_sources(("facts.lp", program.facts))
    found = decide(Request(goal=goal, valid_on=None), policy=policy, facts=facts, sources=sources)
    expected = _slice(program, str(goal))
    assert found.answers == expected.answers
    if expected.possible and not expected.answers:
        assert found.code is AbstentionCode.UNDETERMINED


@given(doubtful_programs())
@settings(max_examples=100, deadline=None)
def test_asking_for_one_agrees_with_asking_for_all(program: Program) -> None:
    everything = _slice(program, program.goal)
    for thing in "abc":
        one = _slice(program, program.goal.replace("X", thing))
        assert set(one.answers) <= set(everything.answers) | set(everything.possible)
        assert set(one.answers) >= {
            atom for atom in everything.answers if f"({thing})" in str(atom)
        }


@pytest.mark.parametrize("thing", ["a", "b"])
def test_the_order_of_facts_does_not_decide_what_is_certain(thing: str) -> None:
    rules = """t(X, T) :- v(X, A), v(b, B), T = A + B.
        k(X) :- t(X, T), e(T).
        p(X) :- e(X), not k(X)."""
    facts = 'e(a).\ne(b).\nv(a, @quantity("1 USD")).\nv(b, @quantity("1 EUR")).'
    turned = "\n".join(reversed(facts.split("\n")))
    for text in (facts, turned):
        found = _slice(Program(rules, text, "p(X)"), "p(X)")
        assert [str(atom) for atom in found.possible] == ["p(a)", "p(b)"]
        assert f"p({thing})" in {str(atom) for atom in found.possible}
