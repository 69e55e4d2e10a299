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
