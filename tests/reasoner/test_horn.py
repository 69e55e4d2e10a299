"""Horn programs: building, refusing what is out of range, compiling slices."""

from __future__ import annotations

import numpy as np
import pytest

from kb.quantity import Truth
from reasoner.atom import Atom
from reasoner.compiled_slice import compile_slice
from reasoner.derivation import derivation, minimal_support
from reasoner.facts import Fact
from reasoner.horn import HornProgram, horn_program
from reasoner.slice import AbsencePremise, AtomPremise, ComparisonPremise, Instance, Slice


def test_a_head_outside_the_atoms_is_refused() -> None:
    with pytest.raises(ValueError, match="expected numbers from 0 to 1"):
        horn_program(2, [(2, [0])])


def test_rows_that_do_not_fit_the_clauses_are_refused() -> None:
    empty = np.array([], np.int32)
    with pytest.raises(ValueError, match="one row more than clauses"):
        HornProgram(1, np.array([0], np.int32), np.array([0], np.int32), empty, empty)


def test_falling_rows_are_refused() -> None:
    heads, starts = np.array([0, 0], np.int32), np.array([0, 2, 1], np.int32)
    with pytest.raises(ValueError, match="ascending"):
        HornProgram(1, heads, starts, np.array([0], np.int32), np.array([], np.int32))


def _slice(instances: tuple[Instance, ...], facts: tuple[Fact, ...]) -> Slice:
    return Slice(Atom("goal"), instances, facts, (), (), (), (), complete=True)


INSURED = Instance(
    "insured",
    (("C", "5"), ("S", "acme")),
    Atom("insured", ("acme",)),
    (
        AtomPremise(Atom("cover", ("acme", "5"))),
        ComparisonPremise("5 >= 1", Truth.TRUE),
        AbsencePremise(Atom("barred", ("acme",))),
    ),
)


def test_only_atoms_of_an_instance_become_its_tail() -> None:
    program, names = compile_slice(
        _slice((INSURED,), (Fact(Atom("cover", ("acme", "5")), "st:1"),))
    )
    goal = names.number(Atom("insured", ("acme",)))
    assert goal is not None
    support = minimal_support(program, goal)
    assert support is not None
    assert [leaf.name for n in support if (leaf := names.leaf(n))] == ["st:1"]
    steps = derivation(program, goal, support)
    assert steps is not None
    assert [names.origins[step.clause] for step in steps if step.clause >= 0] == [
        Fact(Atom("cover", ("acme", "5")), "st:1"),
        INSURED,
    ]


def test_an_undetermined_instance_derives_nothing() -> None:
    unsure = Instance("r", (), Atom("p"), (ComparisonPremise("a < b", Truth.UNDETERMINED),))
    program, names = compile_slice(_slice((unsure,), ()))
    assert program.clause_count == 0
    assert names.number(Atom("p")) is None


def test_one_statement_is_one_leaf_and_stated_comes_before_assumed() -> None:
    facts = (
        Fact(Atom("p", ("a",)), "assumed"),
        Fact(Atom("p", ("a",)), "st:9"),
        Fact(Atom("p", ("a", "st:9")), "st:9"),
        Fact(Atom("q", ("a",)), "assumed"),
    )
    program, names = compile_slice(_slice((), facts))
    assert [(leaf.name, len(leaf.facts)) for leaf in names.leaves] == [
        ("st:9", 2),
        ("assumed", 1),
        ("assumed", 1),
    ]
    goal = names.number(Atom("p", ("a",)))
    assert goal is not None
    assert minimal_support(program, goal) == (names.leaf_numbers[0],)
