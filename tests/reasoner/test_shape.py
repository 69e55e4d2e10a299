"""Code is shared by policies of one shape: their constants are never part of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_programs import CLOSED, Program, programs

from reasoner.atom import Atom, Constant, Symbol, Variable
from reasoner.clause import Clause, Comparison, Operator, Policy, Positive
from reasoner.errors import PolicyRejected
from reasoner.evaluate import Budget, compile_shape, evaluate
from reasoner.facts import Fact, FactBase, fact_id
from reasoner.policy import parse_atom, parse_facts, parse_policy
from reasoner.shape import reached, shape_of
from reasoner.slice import Slice

CONSTANTS = ("1", "2", "3", "a")


def _slice(rules: str, facts: str, goal: str, *, budget: Budget | None = None) -> Slice:
    policy = parse_policy(CLOSED + rules, name="shape")
    stated = [Fact(line.atom, fact_id(line.atom)) for line in parse_facts(facts, name="facts")]
    limits = budget or Budget()
    return evaluate(policy, parse_atom(goal), FactBase(stated), valid_on=None, budget=limits)


def _compilations() -> int:
    return compile_shape.cache_info().misses


def test_goals_that_differ_in_constants_are_compiled_once() -> None:
    def answers(film: str, year: int) -> list[str]:
        rules = f'answer(P) :- made("{film}", P), born(P, Y), Y > {year}.'
        facts = 'made("A", ann). made("B", bob). born(ann, 1950). born(bob, 1960).'
        return [str(atom) for atom in _slice(rules, facts, "answer(P)").answers]

    first = answers("A", 1940)
    before = _compilations()
    assert (first, answers("B", 1940)) == (["answer(ann)"], ["answer(bob)"])
    assert (answers("A", 1955), answers("B", 1955)) == ([], ["answer(bob)"])
    assert _compilations() == before


def test_constants_that_become_equal_are_another_shape() -> None:
    facts = "e(1). f(1, 2). f(2, 2)."
    assert not _slice("p(1) :- f(1, 2).\np(2) :- e(3).", facts, "p(2)").answers
    assert _slice("p(2) :- f(1, 2).\np(2) :- e(3).", facts, "p(2)").answers
    shapes = {
        shape_of(parse_policy(rules, name="two").clauses)[0]
        for rules in ("p(1) :- f(1, 2).", "p(5) :- f(5, a).", "p(1) :- f(1, 1).")
    }
    assert len(shapes) == 2


def test_clauses_a_goal_cannot_depend_on_are_no_part_of_its_shape() -> None:
    rules = "p(X) :- e(X), not q(X).\nq(X) :- f(X, 1).\nr(X) :- p(X)."
    policy = parse_policy(CLOSED + rules, name="three")
    assert [c.head.predicate for c in reached(policy.clauses, ("p", 1))] == ["p", "q"]


@given(programs(), st.permutations(CONSTANTS))
@settings(max_examples=60, deadline=None)
def test_other_constants_give_the_same_slice_in_their_terms(
    program: Program, others: list[str]
) -> None:
    if "#count" in program.rules:
        return  # the number counted is no name
    table = dict(zip(CONSTANTS, others, strict=True))

    def renamed(text: str) -> str:
        return re.sub(r"(?<![\w@])[123a](?!\w)", lambda found: table[found.group()], text)

    first = _slice(program.rules, program.facts, program.goal)
    turned = _slice(renamed(program.rules), renamed(program.facts), renamed(program.goal))
    assert {renamed(str(atom)) for atom in first.answers} == set(map(str, turned.answers))
    assert {renamed(str(each.head)) for each in first.instances} == {
        str(each.head) for each in turned.instances
    }
    assert len(first.instances) == len(turned.instances)


def _unsafe(limit: Constant) -> Policy:
    x, y = Variable("X"), Variable("Y")
    body = (Positive(Atom("e", (x,))), Comparison(Operator.LESS, y, limit))
    return Policy("unsafe", "1", (None, None), (Clause("p", Atom("p", (x,)), body, ""),))


@pytest.mark.parametrize("limit", ["one", "two"])
def test_a_shape_that_is_refused_is_refused_in_the_words_of_each_policy(limit: str) -> None:
    before = compile_shape.cache_info().currsize
    with pytest.raises(PolicyRejected, match=f"nothing binds Y in Y < {limit}"):
        evaluate(_unsafe(Symbol(limit)), Atom("p", (limit,)), FactBase(), valid_on=None)
    assert compile_shape.cache_info().currsize == before


def test_an_evaluation_that_was_cut_leaves_nothing_behind() -> None:
    facts = " ".join(f"f({n}, {n + 1})." for n in range(120))
    rules = "q(X, Y) :- f(X, Y).\nq(X, Z) :- q(X, Y), f(Y, Z)."
    whole = len(_slice(rules, facts, "q(X, Y)").answers)
    cut = _slice(rules, facts, "q(X, Y)", budget=Budget(max_instances=10))
    late = _slice(
        rules, facts, "q(X, Y)", budget=Budget(deadline_ms=0, clock=iter(range(9)).__next__)
    )
    assert not cut.complete
    assert not late.complete
    assert len(_slice(rules, facts, "q(X, Y)").answers) == whole == 120 * 121 // 2
