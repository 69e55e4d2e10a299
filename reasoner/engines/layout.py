"""How a program lies in memory for propagation; none of this changes an answer.

Large programs wait for memory, not for arithmetic. What decides is how often the next atom is near
the last one, so atoms numbered without regard to where clauses name them are numbered anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from ..horn import HornProgram, IntArray
from .propagation import Integers

RENUMBER_FROM = 2**18
"""Number of atoms from which their numbering matters; below, they fit into cache anyhow."""

FAR = 2**12
"""Distance of two numbers whose entries surely lie on different pages."""

SAMPLE = 256
"""How many pairs of neighbouring clauses are looked at to judge a numbering."""

_BYTE = 255


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """Clauses by atom: those of atom `a` are `clauses[starts[a]:starts[a + 1]]`, ascending."""

    starts: Integers
    clauses: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What the kernel propagates over.

    `lengths` are tail lengths, in bytes where the longest tail allows. `numbers` gives the number
    here of each atom of the program and `names` the inverse; None where atoms keep their numbers.
    """

    heads: IntArray
    tails: Index
    lengths: NDArray[np.integer]
    numbers: IntArray | None
    names: IntArray | None


def index_lists(atom_count: int, row_starts: IntArray, atoms: IntArray) -> Index:
    """Index rows by the atoms they hold, as lists."""
    rows = np.repeat(np.arange(len(row_starts) - 1), np.diff(row_starts))
    rows = rows[np.argsort(atoms, kind="stable")]
    ends = np.cumsum(np.bincount(atoms, minlength=atom_count))
    return Index([0, *ends.tolist()], rows.tolist())


def index_arrays(
    atom_count: int, row_starts: IntArray, atoms: IntArray, kernel: ModuleType
) -> Index:
    """Index rows by the atoms they hold, as arrays; a counting sort, linear."""
    starts = np.zeros(atom_count + 1, np.int32)
    rows = np.empty(len(atoms), np.int32)
    kernel.index_tails(row_starts, atoms, starts, rows)
    return Index(starts, rows)


def lay_out(program: HornProgram, kernel: ModuleType) -> Layout:
    """Lay a program out for the kernel. Linear."""
    lengths: NDArray[np.integer] = program.tail_lengths
    if len(lengths) and int(lengths.max()) <= _BYTE:
        lengths = lengths.astype(np.uint8)
    starts, tails, heads = program.tail_starts, program.tails, program.heads
    numbers = names = None
    if program.atom_count >= RENUMBER_FROM and is_scattered(program):
        numbers = np.full(program.atom_count, -1, np.int32)
        names = np.empty(program.atom_count, np.int32)
        tails, heads = np.empty_like(tails), np.empty_like(heads)
        kernel.renumber(starts, program.tails, program.heads, numbers, names, tails, heads)
    index = index_arrays(program.atom_count, starts, tails, kernel)
    return Layout(heads, index, lengths, numbers, names)


def is_scattered(program: HornProgram) -> bool:
    """Whether neighbouring clauses share atoms whose numbers lie far apart.

    Then numbering atoms as clauses name them brings together what is derived together; where
    neighbours share nothing, no numbering would help. Looks at SAMPLE places.
    """
    pairs = program.clause_count - 1
    if pairs < SAMPLE:
        return False
    found = 0
    for sample in range(SAMPLE):
        clause = sample * pairs // SAMPLE
        one, other = ({*program.tail(c), int(program.heads[c])} for c in (clause, clause + 1))
        found += not one.isdisjoint(other) and max(one | other) - min(one | other) >= FAR
    return found >= SAMPLE // 2
