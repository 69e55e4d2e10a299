"""Hypothesis strategies for Horn programs: cycles, empty tails and repeated tail atoms included."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from hypothesis import strategies as st

from reasoner.engines.linear import UNDERIVED, Form, fire
from reasoner.horn import HornProgram, horn_program

Clause = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Problem:
    """A program with a goal and the given atoms that may be dropped."""

    atom_count: int
    clauses: tuple[Clause, ...]
    given: tuple[int, ...]
    goal: int
    loose: tuple[int, ...]

    @property
    def program(self) -> HornProgram:
        return horn_program(self.atom_count, self.clauses, self.given)

    @property
    def frozen(self) -> tuple[int, ...]:
        return tuple(atom for atom in self.given if atom not in self.loose)

    def derives(self, loose: tuple[int, ...] | set[int]) -> bool:
        """Whether the goal follows from these loose atoms and the frozen ones."""
        start = sorted({*self.frozen, *loose})
        return self.goal in naive_closure(self.clauses, start)

    def minimal_sets(self, candidates: tuple[int, ...]) -> list[tuple[int, ...]]:
        """All minimal sets of candidates that derive the goal, by trying every subset."""
        found: list[tuple[int, ...]] = []
        for size in range(len(candidates) + 1):
            for subset in combinations(sorted(candidates), size):
                covered = any(set(known) <= set(subset) for known in found)
                if not covered and self.derives(subset):
                    found.append(subset)
        return sorted(found, key=lambda atoms: (len(atoms), atoms))


def naive_closure(clauses: tuple[Clause, ...], given: list[int] | tuple[int, ...]) -> set[int]:
    """Close by looking at every clause until nothing changes: the definition, nothing clever."""
    derived = set(given)
    while True:
        new = {head for head, tail in clauses if derived.issuperset(tail)} - derived
        if not new:
            return derived
        derived |= new


def derived_atoms(program: HornProgram, given: list[int] | None = None) -> set[int]:
    """The closure by the plain Python twin of the linear engine."""
    clauses = fire(program, given=given, form=Form.LISTS).clauses.tolist()
    return {atom for atom, clause in enumerate(clauses) if clause != UNDERIVED}


@st.composite
def problems(draw: st.DrawFn, *, most_atoms: int = 10, most_clauses: int = 20) -> Problem:
    """Small problems in which every atom may stand anywhere."""
    count = draw(st.integers(1, most_atoms))
    atoms = st.integers(0, count - 1)
    clause = st.tuples(atoms, st.lists(atoms, max_size=3).map(tuple))
    clauses = tuple(draw(st.lists(clause, max_size=most_clauses)))
    given = tuple(sorted(draw(st.sets(atoms, max_size=8))))
    loose = tuple(atom for atom in given if draw(st.integers(0, 4)))
    return Problem(count, clauses, given, draw(atoms), loose)
