"""The linear engine: queue-based unit propagation over compressed rows.

Small programs run in Python on lists; large ones, and all once the compiled kernel is loaded, on
arrays. Both give the same firing clauses in the same order.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ..horn import HornProgram, IntArray
from . import propagation
from .propagation import GIVEN, UNDERIVED

__all__ = ["GIVEN", "UNDERIVED", "Firing", "compiled", "fire", "index", "warm"]

LOAD_KERNEL_FROM = 300_000
"""Program size from which loading the kernel (about a second) pays for one closure."""

USE_KERNEL_FROM = 3_000
"""Program size from which a loaded kernel beats lists."""

_KERNEL = "reasoner.engines.kernel"


@dataclass(frozen=True, slots=True, eq=False)
class Firing:
    """How atoms were derived.

    `clauses[atom]` is the clause that fired first, GIVEN or UNDERIVED; `order` lists the derived
    atoms, every tail before its head.
    """

    clauses: IntArray
    order: IntArray


def warm() -> None:
    """Load the compiled kernel now, so that no request pays for it."""
    from . import kernel

    assert kernel.propagate is not None


def compiled(size: int) -> ModuleType | None:
    """Give the kernel where it is worth using for this size, else None."""
    if size >= LOAD_KERNEL_FROM or (size >= USE_KERNEL_FROM and _KERNEL in sys.modules):
        from . import kernel

        return kernel
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """For each atom the clauses whose tail holds it; as lists or as arrays."""

    starts: propagation.Integers
    occurrences: propagation.Integers


def index(program: HornProgram, *, kernel: ModuleType | None) -> Index:
    """Index the tails of a program; a program keeps its index for later closures."""
    key = "lists" if kernel is None else "arrays"
    found = program.indexes.get(key)
    if found is None:
        if kernel is None:
            rows = program.rows
            starts: propagation.Integers = [0] * (program.atom_count + 1)
            occurrences: propagation.Integers = [0] * len(rows.tails)
            propagation.index_tails(rows.tail_starts, rows.tails, starts, occurrences)
        else:
            starts = np.zeros(program.atom_count + 1, np.int32)
            occurrences = np.empty(len(program.tails), np.int32)
            kernel.index_tails(program.tail_starts, program.tails, starts, occurrences)
        found = Index(starts, occurrences)
        program.indexes[key] = found
    assert isinstance(found, Index)
    return found


def fire(
    program: HornProgram, *, given: Sequence[int] | IntArray | None = None, goal: int = -1
) -> Firing:
    """Derive all that follows from `given` (default: all given atoms), or stop at `goal`.

    Linear in the size of the program.
    """
    start = program.given if given is None else given
    kernel = compiled(program.size)
    if kernel is None:
        clauses, order = fire_lists(program, list(start), goal=goal)
        return Firing(np.array(clauses, np.int32), np.array(order, np.int32))
    found = index(program, kernel=kernel)
    fired = np.full(program.atom_count, UNDERIVED, np.int32)
    queue = np.empty(program.atom_count, np.int32)
    length = kernel.propagate(
        program.heads,
        program.free,
        found.starts,
        found.occurrences,
        np.asarray(start, np.int32),
        goal,
        program.tail_lengths.copy(),
        fired,
        queue,
    )
    return Firing(fired, queue[:length])


def fire_lists(
    program: HornProgram, given: Sequence[int], *, goal: int = -1
) -> tuple[list[int], list[int]]:
    """Do what `fire` does in plain Python; the twin the kernel is tested against."""
    rows = program.rows
    found = index(program, kernel=None)
    fired = [UNDERIVED] * program.atom_count
    queue = [0] * program.atom_count
    length = propagation.propagate(
        rows.heads,
        rows.free,
        found.starts,
        found.occurrences,
        given,
        goal,
        rows.tail_lengths.copy(),
        fired,
        queue,
    )
    del queue[length:]
    return fired, queue
