"""Derivations and minimal supports: laws, and proofs that are long."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import numpy as np
import pytest
from horn_strategies import Problem, problems
from hypothesis import given

from reasoner.derivation import certify, derivation, minimal_support, trace
from reasoner.engines.linear import GIVEN, UNDERIVED, fire, focus
from reasoner.errors import EngineTimedOut
from reasoner.horn import HornProgram, horn_program
from reasoner.supports import supports


@given(problems())
def test_dropping_any_unit_from_a_minimal_certificate_breaks_it(problem: Problem) -> None:
    support = minimal_support(problem.program, problem.goal, problem.loose)
    if support is None:
        assert not problem.derives(set(problem.loose))
        return
    kept = set(support).intersection(problem.loose)
    assert problem.derives(kept)
    assert not any(problem.derives(kept - {unit}) for unit in kept)


@given(problems())
def test_support_is_that_of_the_plain_deletion_loop(problem: Problem) -> None:
    firing = fire(problem.program)
    found = certify(problem.program, problem.goal, problem.loose, firing=firing)
    support = found and found.support
    if support is None:
        return
    steps = trace(problem.program, firing, problem.goal)
    kept = {step.atom for step in steps if step.clause == GIVEN}.intersection(problem.loose)
    for unit in sorted(kept, reverse=True):
        if problem.derives(kept - {unit}):
            kept -= {unit}
    assert set(support).intersection(problem.loose) == kept


@given(problems())
def test_a_derivation_is_well_founded_and_uses_all_of_its_support(problem: Problem) -> None:
    support = minimal_support(problem.program, problem.goal, problem.loose)
    if support is None:
        return
    steps = derivation(problem.program, problem.goal, support)
    assert steps is not None
    seen: set[int] = set()
    for step in steps:
        if step.clause == GIVEN:
            assert step.atom in support
        else:
            head, tail = problem.clauses[step.clause]
            assert head == step.atom
            assert seen.issuperset(tail)
        seen.add(step.atom)
    assert steps[-1].atom == problem.goal
    assert {step.atom for step in steps if step.clause == GIVEN} == set(support)


def test_a_circular_proof_is_never_given() -> None:
    program = horn_program(3, [(0, [1]), (1, [0]), (0, [2])], [2])
    steps = derivation(program, 1, [2])
    assert steps is not None
    assert [(step.atom, step.clause) for step in steps] == [(2, GIVEN), (0, 2), (1, 1)]
    assert derivation(program, 1, []) is None


def _chain(length: int) -> HornProgram:
    """Each step needs the one before and a unit of its own."""
    clauses = [(step + 1, [step, length + 1 + step]) for step in range(length)]
    return horn_program(2 * length + 1, clauses, [0, *range(length + 1, 2 * length + 1)])


def _overlapping(length: int) -> HornProgram:
    """Each step accepts either of two units, which other steps accept as well."""
    ways = [
        (step, length + 1 + unit) for step in range(length) for unit in (step, step * 7 % length)
    ]
    clauses = [(step + 1, [step, unit]) for step, unit in ways]
    return horn_program(2 * length + 1, clauses, [0, *range(length + 1, 2 * length + 1)])


def _diamonds(length: int) -> HornProgram:
    """Each step goes two ways over one and the same unit."""
    clauses = []
    for step in range(length):
        left, right, unit = (part * length + 1 + step for part in (1, 2, 3))
        clauses += [(left, [step, unit]), (right, [step, unit])]
        clauses += [(step + 1, [left]), (step + 1, [right])]
    return horn_program(4 * length + 1, clauses, [0, *range(3 * length + 1, 4 * length + 1)])


@pytest.fixture
def stopwatch() -> Iterator[None]:
    """Fails what takes half a minute, far more than it needs and far less than quadratic time."""
    start = time.monotonic()
    yield
    assert time.monotonic() - start < 30


@pytest.mark.usefixtures("stopwatch")
def test_a_chain_of_fifty_thousand_steps_is_proved_whole() -> None:
    length = 50_000
    program = _chain(length)
    support = minimal_support(program, length)
    assert support is not None
    assert len(support) == length + 1
    steps = derivation(program, length, support)
    assert steps is not None
    assert len(steps) == 2 * length + 1


@pytest.mark.usefixtures("stopwatch")
def test_long_proofs_with_redundant_units_are_cut_to_minimal_ones() -> None:
    length = 10_000
    program = _overlapping(length)
    support = minimal_support(program, length)
    assert support is not None
    units = set(support)
    assert len(units) < length
    users: dict[int, list[int]] = {}
    for clause in range(program.clause_count):
        for atom in program.tail(clause):
            users.setdefault(atom, []).append(clause // 2)
    accepted = [set(program.tail(2 * step) + program.tail(2 * step + 1)) for step in range(length)]
    for unit in units - {0}:
        steps = users[unit]
        assert any(accepted[step] & units - {step, unit} == set() for step in steps)


@pytest.mark.usefixtures("stopwatch")
def test_units_both_ways_share_are_found_indispensable() -> None:
    length = 5_000
    support = minimal_support(_diamonds(length), length)
    assert support is not None
    assert len(support) == length + 1


@given(problems())
def test_a_certificate_is_its_support_and_the_derivation_from_it(problem: Problem) -> None:
    found = certify(problem.program, problem.goal, problem.loose)
    if found is None:
        assert fire(problem.program).clauses[problem.goal] == UNDERIVED
        return
    assert found.steps == derivation(problem.program, problem.goal, found.support)


@given(problems())
def test_a_focus_brings_the_closure_of_its_part(problem: Problem) -> None:
    part = focus(problem.program, problem.goal)
    again = fire(part.program)
    assert np.array_equal(part.firing.clauses, again.clauses)
    assert np.array_equal(part.firing.order, again.order)


def _woven(units: int, seed: int) -> tuple[HornProgram, int]:
    """Two ways to each atom, each from two of the atoms below it: drops hit much."""
    rng = random.Random(seed)
    atoms = 2 * units
    clauses = [(atom, [atoms + atom]) for atom in range(units)]
    for atom in range(units, atoms):
        clauses += [(atom, [rng.randrange(max(0, atom - 20), atom) for _ in "ab"]) for _ in "ab"]
    return horn_program(atoms + units, clauses, range(atoms, atoms + units)), atoms - 1


@pytest.mark.parametrize("seed", range(8))
def test_dropping_together_leaves_what_the_plain_loop_leaves(seed: int) -> None:
    program, goal = _woven(120, seed)
    steps = trace(program, fire(program), goal)
    kept = {step.atom for step in steps if step.clause == GIVEN}
    for unit in sorted(kept, reverse=True):
        if fire(program, given=sorted(kept - {unit})).clauses[goal] != UNDERIVED:
            kept -= {unit}
    assert minimal_support(program, goal) == tuple(sorted(kept))


class _After:
    """A clock that passes the deadline at the given question."""

    def __init__(self, questions: int) -> None:
        self.left = questions

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_a_deadline_stops_inside_one_call_and_never_changes_a_certificate() -> None:
    program, goal = _woven(2_000, 1)
    patient = _After(10**9)
    whole = certify(program, goal, expired=patient)
    asked = 10**9 - patient.left
    assert asked > 10, "long loops ask for the deadline again and again"
    for questions in range(0, asked, 3):
        with pytest.raises(EngineTimedOut):
            certify(program, goal, expired=_After(questions))
    assert certify(program, goal, expired=_After(asked)) == whole


def test_an_enumeration_stopped_at_its_deadline_says_so() -> None:
    program, goal = _woven(300, 2)
    some = supports(program, goal, expired=_After(40))
    assert not some.complete
    none = supports(program, goal, expired=_After(0))
    assert (none.found, none.complete) == ((), False)


@given(problems())
def test_trails_that_share_what_they_saw_give_each_atom_once(problem: Problem) -> None:
    firing = fire(problem.program)
    derived = [atom for atom in range(problem.program.atom_count) if firing.derived[atom]]
    seen = bytearray(problem.program.atom_count)
    steps = [step for goal in derived for step in trace(problem.program, firing, goal, seen=seen)]
    atoms = [step.atom for step in steps]
    assert sorted(atoms) == derived
    known: set[int] = set()
    for atom, clause in steps:  # premises first, across the trails as well
        assert clause < 0 or known.issuperset(problem.program.tail(clause))
        known.add(atom)
