"""Horn programs over integers: what every engine closes.

Atoms are numbers `0 .. atom_count - 1`. Clauses stand in compressed rows: the tail of clause `c` is
`tails[tail_starts[c]:tail_starts[c + 1]]`. Whatever can be added to or dropped from a context is an
atom too: a unit is a given atom, and what it states is a clause from the unit to the stated atom.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .atom import Atom
from .facts import Fact
from .slice import AtomPremise, Instance, Slice

IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Rows:
    """A program as plain lists, which Python walks faster than arrays; `free` have no tail."""

    heads: list[int]
    tail_starts: list[int]
    tails: list[int]
    tail_lengths: list[int]
    free: list[int]


@dataclass(frozen=True, eq=False)
class HornProgram:
    """Clauses `head <- tail` over integer atoms, and the atoms given from the start.

    The order of clauses and of `given` decides which clause fires first, so it must be canonical.
    A tail may be empty and may repeat an atom. `indexes` is what engines look up and keep between
    closures; it never changes an answer. Compared by identity.
    """

    atom_count: int
    heads: IntArray
    tail_starts: IntArray
    tails: IntArray
    given: IntArray
    indexes: dict[str, object] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        starts = self.tail_starts
        if len(starts) != len(self.heads) + 1 or starts[0] != 0 or starts[-1] != len(self.tails):
            raise ValueError(
                f"tail_starts has {len(starts)} rows for {len(self.heads)} clauses and "
                f"{len(self.tails)} tail atoms; expected one row more than clauses, from 0 to "
                "the number of tail atoms"
            )
        if len(starts) > 1 and bool((starts[1:] < starts[:-1]).any()):
            raise ValueError("tail_starts falls; expected rows in ascending order")
        for name, atoms in (("heads", self.heads), ("tails", self.tails), ("given", self.given)):
            if len(atoms) and not 0 <= int(atoms.min()) <= int(atoms.max()) < self.atom_count:
                raise ValueError(
                    f"{name} holds atom {int(atoms.min())} or {int(atoms.max())}; "
                    f"expected numbers from 0 to {self.atom_count - 1}"
                )

    @property
    def clause_count(self) -> int:
        """Number of clauses."""
        return len(self.heads)

    @property
    def size(self) -> int:
        """Number of clauses and tail atoms: what one closure has to read."""
        return len(self.heads) + len(self.tails)

    def tail(self, clause: int) -> list[int]:
        """Give the tail of a clause, in stored order."""
        rows = self.__dict__.get("rows")
        if isinstance(rows, Rows):
            return rows.tails[rows.tail_starts[clause] : rows.tail_starts[clause + 1]]
        tail: list[int] = self.tails[
            self.tail_starts[clause] : self.tail_starts[clause + 1]
        ].tolist()
        return tail

    @cached_property
    def tail_lengths(self) -> IntArray:
        """Number of tail atoms per clause."""
        return np.diff(self.tail_starts).astype(np.int32, copy=False)

    @cached_property
    def free(self) -> IntArray:
        """Clauses without a tail, ascending."""
        return np.flatnonzero(self.tail_lengths == 0).astype(np.int32)

    @cached_property
    def rows(self) -> Rows:
        """The same program as lists."""
        return Rows(
            self.heads.tolist(),
            self.tail_starts.tolist(),
            self.tails.tolist(),
            self.tail_lengths.tolist(),
            self.free.tolist(),
        )


def horn_program(
    atom_count: int,
    clauses: Iterable[tuple[int, Sequence[int]]],
    given: Iterable[int] = (),
) -> HornProgram:
    """Build a program from `(head, tail)` pairs, keeping their order."""
    heads: list[int] = []
    starts = [0]
    tails: list[int] = []
    for head, tail in clauses:
        heads.append(head)
        tails.extend(tail)
        starts.append(len(tails))
    return HornProgram(
        atom_count,
        np.array(heads, np.int32),
        np.array(starts, np.int32),
        np.array(tails, np.int32),
        np.array(list(given), np.int32),
    )


@dataclass(frozen=True, slots=True)
class Leaf:
    """What a slice rests on and can lose: one statement with all it states, or one other fact.

    `name` is the leaf of its facts (`st:...`, `provenance`, `request`, ...); only a statement may
    carry several facts.
    """

    name: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, eq=False)
class SliceNames:
    """What the numbers of a compiled slice mean.

    Atom `i` is `atoms[i]`; atom `len(atoms) + j` stands for `leaves[j]`. `origins[c]` is the rule
    instance or the fact behind clause `c`.
    """

    atoms: tuple[Atom, ...]
    leaves: tuple[Leaf, ...]
    origins: tuple[Instance | Fact, ...]

    @cached_property
    def _numbers(self) -> dict[Atom, int]:
        return {atom: number for number, atom in enumerate(self.atoms)}

    def number(self, atom: Atom) -> int | None:
        """Give the number of an atom, or None where the slice does not hold it."""
        return self._numbers.get(atom)

    def leaf(self, number: int) -> Leaf | None:
        """Give the leaf a number stands for, or None for an ordinary atom."""
        index = number - len(self.atoms)
        return self.leaves[index] if index >= 0 else None

    @property
    def leaf_numbers(self) -> range:
        """Numbers that stand for leaves, in leaf order."""
        return range(len(self.atoms), len(self.atoms) + len(self.leaves))


_LEAF_ORDER = {"provenance": 1, "identity": 2, "request": 3, "assumed": 4}
"""Statements come first and assumptions last, so that proofs prefer what is stated."""


def compile_slice(part: Slice) -> tuple[HornProgram, SliceNames]:
    """Compile the certain instances and the facts of a slice, everything given.

    Clauses are the instances in slice order, then the facts. Comparisons, absences and aggregates
    of a certain instance hold and leave no tail atom. Leaves are statements by id, then provenance,
    identity, request and assumptions by atom text.
    """
    numbers: dict[Atom, int] = {}

    def intern(atom: Atom) -> int:
        return numbers.setdefault(atom, len(numbers))

    clauses: list[tuple[int, list[int]]] = []
    origins: list[Instance | Fact] = []
    for instance in part.instances:
        if not instance.is_certain:
            continue
        tail = [
            intern(premise.atom)
            for premise in instance.premises
            if isinstance(premise, AtomPremise)
        ]
        clauses.append((intern(instance.head), tail))
        origins.append(instance)
    facts_of: dict[tuple[int, str, str], list[Fact]] = {}
    for fact in part.facts:
        rank = _LEAF_ORDER.get(fact.leaf, 0)
        facts_of.setdefault((rank, fact.leaf, str(fact.atom) if rank else ""), []).append(fact)
        intern(fact.atom)
    leaves = []
    for number, key in enumerate(sorted(facts_of), start=len(numbers)):
        leaves.append(Leaf(key[1], tuple(facts_of[key])))
        for fact in facts_of[key]:
            clauses.append((numbers[fact.atom], [number]))
            origins.append(fact)
    names = SliceNames(tuple(numbers), tuple(leaves), tuple(origins))
    count = len(numbers) + len(leaves)
    return horn_program(count, clauses, names.leaf_numbers), names
