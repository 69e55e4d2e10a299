"""Cheapest missing facts: against brute force and against clingo."""

from __future__ import annotations

from fractions import Fraction

import pytest
from horn_strategies import Problem, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoner.abduction import Optimality, abduce
from reasoner.engines import clingo
from reasoner.horn import horn_program


@given(problems(most_atoms=8), st.data())
def test_sets_are_the_cheapest_in_order(problem: Problem, data: st.DataObject) -> None:
    costs = _costs(problem, data)
    bare = Problem(problem.atom_count, problem.clauses, problem.frozen, problem.goal, ())
    expected = sorted(
        (sum((costs[atom] for atom in atoms), Fraction(0)), len(atoms), atoms)
        for atoms in bare.minimal_sets(tuple(costs))
    )
    result = abduce(bare.program, bare.goal, costs, limit=3)
    found = [(entry.cost, len(entry.atoms), entry.atoms) for entry in result.sets]
    assert found == expected[:3]
    wanted = Optimality.OPTIMAL if expected else Optimality.IMPOSSIBLE
    assert result.optimality is wanted


def _costs(problem: Problem, data: st.DataObject) -> dict[int, Fraction]:
    exact = st.fractions(0, 4, max_denominator=3)
    costs: dict[int, Fraction] = {}
    for atom in range(problem.atom_count):
        if atom not in problem.frozen and data.draw(st.booleans()):
            costs[atom] = data.draw(exact)
    return costs


@settings(max_examples=60, deadline=None)
@given(problems(), st.data())
def test_clingo_finds_the_same_cost(problem: Problem, data: st.DataObject) -> None:
    atoms = st.integers(0, problem.atom_count - 1)
    costs = data.draw(st.dictionaries(atoms, st.integers(0, 5)))
    ours = abduce(problem.program, problem.goal, costs)
    theirs, optimal = clingo.cheapest(problem.program, problem.goal, costs)
    assert optimal
    if theirs is None:
        assert ours.optimality is Optimality.IMPOSSIBLE
    else:
        added = set(theirs).difference(problem.given)
        assert ours.sets[0].cost == sum(costs[atom] for atom in added)


def test_a_passed_deadline_states_the_best_found() -> None:
    program = horn_program(4, [(0, [1, 2]), (0, [3])])
    result = abduce(program, 0, {1: 1, 2: 1, 3: 5}, expired=lambda: True)
    assert result.optimality is Optimality.BEST_FOUND
    assert [entry.atoms for entry in result.sets] == [(1, 2)]


def test_nothing_is_missing_from_a_derived_goal() -> None:
    result = abduce(horn_program(2, [(0, [1])], [1]), 0, {0: 3})
    assert result.optimality is Optimality.OPTIMAL
    assert result.sets[0].atoms == ()


def test_a_negative_cost_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 0"):
        abduce(horn_program(1, []), 0, {0: -1})
