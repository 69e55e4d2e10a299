"""The linear engine: queue-based unit propagation over compressed rows.

Small programs run in Python on lists; large ones, and all once the compiled kernel is loaded, on
arrays. Both give the same firing clauses in the same order.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from ..horn import HornProgram, IntArray
from . import propagation
from .propagation import GIVEN, UNDERIVED

__all__ = ["GIVEN", "UNDERIVED", "Firing", "Focus", "Form", "fire", "focus", "warm"]

LOAD_KERNEL_FROM = 300_000
"""Program size from which loading the kernel (about a second) pays for one closure."""

USE_KERNEL_FROM = 3_000
"""Program size from which a loaded kernel beats lists."""

_KERNEL = f"{__package__}.kernel"


class Form(Enum):
    """What to run on; `AUTO` chooses by size, and the answer never depends on it."""

    AUTO = "auto"
    LISTS = "lists"
    ARRAYS = "arrays"


@dataclass(frozen=True, eq=False)
class Firing:
    """How atoms were derived.

    `clauses[atom]` is the clause that fired first, GIVEN or UNDERIVED; `order` lists the derived
    atoms, every tail before its head.
    """

    clauses: IntArray
    order: IntArray

    @property
    def derived(self) -> NDArray[np.bool_]:
        """Whether each atom is derived."""
        return np.not_equal(self.clauses, UNDERIVED)

    @cached_property
    def ranks(self) -> IntArray:
        """Place of each derived atom in `order`; of no meaning for others."""
        ranks = np.zeros(len(self.clauses), np.int32)
        ranks[self.order] = np.arange(len(self.order), dtype=np.int32)
        return ranks


def warm() -> None:
    """Load and link the compiled kernel now, so that no request pays for it."""
    from . import kernel

    one, none = np.zeros(1, np.int32), np.zeros(0, np.int32)
    program = HornProgram(1, none, one, none, one)
    _fire(program, program.given, -1, kernel)
    _index_heads(program, kernel)


def _kernel(program: HornProgram, form: Form) -> ModuleType | None:
    """Give the kernel where it is asked for or worth using for this size, else None."""
    size = program.size
    worth = size >= LOAD_KERNEL_FROM or (size >= USE_KERNEL_FROM and _KERNEL in sys.modules)
    if form is Form.ARRAYS or (form is Form.AUTO and worth):
        from . import kernel

        return kernel
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Index:
    """Clauses by atom; lists without a kernel, else arrays."""

    starts: propagation.Integers
    clauses: propagation.Integers


def _space(length: int, value: int, kernel: ModuleType | None) -> propagation.Integers:
    return [value] * length if kernel is None else np.full(length, value, np.int32)


def _index_tails(program: HornProgram, kernel: ModuleType | None) -> _Index:
    """Index clauses by the atoms of their tails; a program keeps its index for later closures."""
    return _kept(program, "tails", program.tail_starts, program.tails, kernel)


def _index_heads(program: HornProgram, kernel: ModuleType | None) -> _Index:
    """Index clauses by their head: the same over rows of one atom."""
    singles = np.arange(program.clause_count + 1, dtype=np.int32)
    return _kept(program, "heads", singles, program.heads, kernel)


def _kept(
    program: HornProgram,
    what: str,
    row_starts: IntArray,
    atoms: IntArray,
    kernel: ModuleType | None,
) -> _Index:
    key = f"{what} of {'arrays' if kernel else 'lists'}"
    found = program.indexes.get(key)
    if found is None:
        found = program.indexes[key] = _sort(program.atom_count, row_starts, atoms, kernel)
    assert isinstance(found, _Index)
    return found


def _sort(
    atom_count: int, row_starts: IntArray, atoms: IntArray, kernel: ModuleType | None
) -> _Index:
    """List for each atom the rows that hold it, ascending; the kernel's sort is linear."""
    if kernel is not None:
        starts = np.zeros(atom_count + 1, np.int32)
        rows = np.empty(len(atoms), np.int32)
        kernel.index_tails(row_starts, atoms, starts, rows)
        return _Index(starts, rows)
    rows = np.repeat(np.arange(len(row_starts) - 1), np.diff(row_starts))
    rows = rows[np.argsort(atoms, kind="stable")]
    ends = np.cumsum(np.bincount(atoms, minlength=atom_count))
    return _Index([0, *ends.tolist()], rows.tolist())


def fire(
    program: HornProgram,
    *,
    given: Sequence[int] | IntArray | None = None,
    goal: int = -1,
    form: Form = Form.AUTO,
) -> Firing:
    """Derive all that follows from `given` (default: all given atoms), or stop at `goal`.

    Linear in the size of the program.
    """
    start = program.given if given is None else given
    return _fire(program, start, goal, _kernel(program, form))[0]


def _fire(
    program: HornProgram, given: Sequence[int] | IntArray, goal: int, kernel: ModuleType | None
) -> tuple[Firing, propagation.Integers]:
    """Close, and give also how many tail atoms each clause still misses."""
    code = kernel or propagation
    rows = program if kernel else program.rows
    start: propagation.Integers = np.asarray(given, np.int32)
    found = _index_tails(program, kernel)
    missing = rows.tail_lengths.copy()
    fired = _space(program.atom_count, UNDERIVED, kernel)
    queue = _space(program.atom_count, 0, kernel)
    length = code.propagate(
        rows.heads,
        rows.free,
        found.starts,
        found.clauses,
        start if kernel else start.tolist(),
        goal,
        missing,
        fired,
        queue,
    )
    return Firing(np.asarray(fired, np.int32), np.asarray(queue[:length], np.int32)), missing


@dataclass(frozen=True, slots=True, eq=False)
class Focus:
    """The part of a program that can matter for a goal, renumbered.

    Atom `i` of the part is atom `atoms[i]` of the whole and clause `c` is `clauses[c]`; both
    ascend, so the canonical order stays.
    """

    program: HornProgram
    goal: int
    atoms: IntArray
    clauses: IntArray

    def narrow(self, atoms: Collection[int]) -> set[int]:
        """Give the numbers in the part of those `atoms` of the whole that are given in it."""
        given = self.program.given.tolist()
        return {number for number in given if int(self.atoms[number]) in atoms}

    def widen(self, atoms: Collection[int]) -> tuple[int, ...]:
        """Give the numbers in the whole of `atoms` of the part, ascending."""
        return tuple(sorted(int(self.atoms[atom]) for atom in atoms))


def focus(
    program: HornProgram,
    goal: int,
    *,
    given: Sequence[int] | IntArray | None = None,
    form: Form = Form.AUTO,
) -> Focus:
    """Cut a program down to what derivations of `goal` from `given` can use.

    Keeps the clauses whose whole tail is derivable and whose head the goal needs. Linear.
    """
    kernel = _kernel(program, form)
    code = kernel or propagation
    rows = program if kernel else program.rows
    start = np.asarray(program.given if given is None else given, np.int32)
    _, missing = _fire(program, start, -1, kernel)
    heads = _index_heads(program, kernel)
    marks = _space(program.atom_count, 0, kernel)
    queue = _space(program.atom_count, 0, kernel)
    code.reach_back(
        goal,
        heads.starts,
        heads.clauses,
        rows.tail_starts,
        rows.tails,
        missing,
        marks,
        queue,
    )
    marked = np.asarray(marks, np.bool_)
    atoms = np.flatnonzero(marked).astype(np.int32)
    numbers = np.cumsum(marked, dtype=np.int32) - 1
    usable = marked[program.heads] & (np.asarray(missing, np.int32) == 0)
    clauses = np.flatnonzero(usable).astype(np.int32)
    lengths = program.tail_lengths[clauses]
    starts = np.zeros(len(clauses) + 1, np.int32)
    np.cumsum(lengths, out=starts[1:])
    places = np.repeat(program.tail_starts[clauses] - starts[:-1], lengths)
    tails = program.tails[places + np.arange(starts[-1], dtype=np.int32)]
    part = HornProgram(
        len(atoms),
        numbers[program.heads[clauses]],
        starts,
        numbers[tails],
        numbers[start[marked[start]]],
    )
    return Focus(part, int(numbers[goal]), atoms, clauses)
