"""The linear engine: laws of closure, and the compiled kernel against its Python twin."""

from __future__ import annotations

import random

import numpy as np
import pytest
from horn_strategies import Problem, derived_atoms, naive_closure, problems
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoner.engines import linear
from reasoner.engines.layout import RENUMBER_FROM, Layout, is_scattered
from reasoner.engines.linear import GIVEN, UNDERIVED, Firing, Form, fire, focus
from reasoner.horn import HornProgram, horn_program


@given(problems())
def test_closure_is_the_least_closed_set(problem: Problem) -> None:
    assert derived_atoms(problem.program) == naive_closure(problem.clauses, problem.given)


@given(problems())
def test_closure_is_extensive_and_idempotent(problem: Problem) -> None:
    derived = derived_atoms(problem.program)
    assert derived.issuperset(problem.given)
    assert derived_atoms(problem.program, sorted(derived)) == derived


@given(problems(), st.data())
def test_closure_is_monotone(problem: Problem, data: st.DataObject) -> None:
    more = data.draw(st.sets(st.integers(0, problem.atom_count - 1)))
    derived = derived_atoms(problem.program)
    assert derived <= derived_atoms(problem.program, sorted(more.union(problem.given)))


@given(problems(), st.randoms(use_true_random=False))
def test_order_of_the_input_does_not_change_the_closure(
    problem: Problem, rng: random.Random
) -> None:
    clauses, given = list(problem.clauses), list(problem.given)
    rng.shuffle(clauses)
    rng.shuffle(given)
    shuffled = horn_program(problem.atom_count, clauses, given)
    assert derived_atoms(shuffled) == derived_atoms(problem.program)


@given(problems())
def test_every_tail_comes_before_its_head(problem: Problem) -> None:
    firing = fire(problem.program)
    place = {atom: rank for rank, atom in enumerate(firing.order.tolist())}
    for atom, clause in enumerate(firing.clauses.tolist()):
        if clause >= 0:
            head, tail = problem.clauses[clause]
            assert head == atom
            assert all(place[premise] < place[atom] for premise in tail)
        elif clause == GIVEN:
            assert atom in problem.given


@given(problems())
def test_stopping_at_the_goal_gives_a_prefix(problem: Problem) -> None:
    whole, part = fire(problem.program), fire(problem.program, goal=problem.goal)
    length = len(part.order)
    assert part.order.tolist() == whole.order.tolist()[:length]
    assert (part.clauses[problem.goal] == UNDERIVED) == (whole.clauses[problem.goal] == UNDERIVED)


@given(problems())
def test_focus_keeps_the_goal_and_its_ways(problem: Problem) -> None:
    part = focus(problem.program, problem.goal)
    firing = fire(part.program)
    assert (firing.clauses[part.goal] != UNDERIVED) == problem.derives(set(problem.loose))
    if firing.clauses[part.goal] != UNDERIVED:
        whole = fire(problem.program).order.tolist()
        inside = set(part.atoms.tolist())
        assert [int(part.atoms[atom]) for atom in firing.order] == [a for a in whole if a in inside]


def _random_program(seed: int, size: int) -> HornProgram:
    rng = random.Random(seed)
    clauses = [
        (rng.randrange(size), [rng.randrange(size) for _ in range(rng.randrange(4))])
        for _ in range(size)
    ]
    return horn_program(size, clauses, rng.sample(range(size), size // 4))


def _same(one: Firing, other: Firing) -> bool:
    return np.array_equal(one.clauses, other.clauses) and np.array_equal(one.order, other.order)


@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_does_the_same_as_plain_python(seed: int) -> None:
    program = _random_program(seed, 2_000)
    goal = int(fire(program, form=Form.LISTS).order[-1])
    assert _same(fire(program, form=Form.ARRAYS), fire(program, form=Form.LISTS))
    early = fire(program, goal=goal, form=Form.ARRAYS)
    assert _same(early, fire(program, goal=goal, form=Form.LISTS))
    one, other = (focus(program, goal, form=form) for form in (Form.ARRAYS, Form.LISTS))
    assert np.array_equal(one.atoms, other.atoms)
    assert np.array_equal(one.clauses, other.clauses)
    assert np.array_equal(one.program.tails, other.program.tails)


@settings(max_examples=50, deadline=None)
@given(problems())
def test_the_kernel_does_the_same_on_tiny_programs(problem: Problem) -> None:
    program = problem.program
    assert _same(fire(program, form=Form.ARRAYS), fire(program, form=Form.LISTS))


def test_large_programs_run_on_arrays() -> None:
    size = linear.LOAD_KERNEL_FROM // 2
    chain = horn_program(size + 1, [(atom + 1, [atom]) for atom in range(size)], [0])
    assert len(fire(chain).order) == size + 1
    assert "layout" in chain.indexes


def _scattered_program(seed: int) -> HornProgram:
    """A chain with joins and side ways, its atoms numbered at random, some named by no clause."""
    count = RENUMBER_FROM + 1_000
    names = np.random.default_rng(seed).permutation(count).tolist()
    rng = random.Random(seed)
    clauses = []
    for step in range(1, count - 500):
        others = [names[max(0, step - rng.randrange(1, 50))] for _ in range(rng.randrange(3))]
        clauses.append((names[step], [names[step - 1], *others]))
        if rng.randrange(4) == 0:
            clauses.append((names[step - rng.randrange(step)], [names[step]]))
    return horn_program(count, clauses, sorted([names[0], *names[-300:-290]]))


@pytest.mark.parametrize("seed", range(2))
def test_numbering_anew_changes_nothing(seed: int) -> None:
    program = _scattered_program(seed)
    assert is_scattered(program)
    whole = fire(program, form=Form.ARRAYS)
    layout = program.indexes["layout"]
    assert isinstance(layout, Layout)
    assert layout.numbers is not None
    assert _same(whole, fire(program, form=Form.LISTS))
    goal = int(whole.order[len(whole.order) // 2])
    some = program.given.tolist()[1:] + [int(whole.order[100])]
    for given_atoms in (None, some):
        one, other = (
            fire(program, given=given_atoms, goal=goal, form=form)
            for form in (Form.ARRAYS, Form.LISTS)
        )
        assert _same(one, other)
    one_part, other_part = (focus(program, goal, form=f) for f in (Form.ARRAYS, Form.LISTS))
    assert np.array_equal(one_part.atoms, other_part.atoms)
    assert np.array_equal(one_part.clauses, other_part.clauses)


def test_atoms_numbered_as_clauses_name_them_keep_their_numbers() -> None:
    count = RENUMBER_FROM + 1
    chain = horn_program(count, [(atom + 1, [atom]) for atom in range(count - 1)], [0])
    fire(chain, form=Form.ARRAYS)
    layout = chain.indexes["layout"]
    assert isinstance(layout, Layout)
    assert layout.numbers is None


@pytest.mark.parametrize("length", [254, 255, 256, 257, 70_000])
def test_long_tails_are_counted_whole(length: int) -> None:
    clauses = [(length, list(range(length))), (length + 1, [0] * length), (length + 2, [length])]
    for missing in (-1, 0, length - 1):
        given_atoms = [atom for atom in range(length) if atom != missing]
        program = horn_program(length + 3, clauses, given_atoms)
        assert _same(fire(program, form=Form.ARRAYS), fire(program, form=Form.LISTS))
