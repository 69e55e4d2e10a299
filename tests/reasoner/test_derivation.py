"""Derivations and minimal supports: laws, and proofs that are long."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from horn_strategies import Problem, problems
from hypothesis import given

from reasoner.derivation import certify, derivation, minimal_support, trace
from reasoner.engines.linear import GIVEN, fire
from reasoner.horn import HornProgram, horn_program


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
