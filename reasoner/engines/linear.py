"""The linear engine: queue-based unit propagation over compressed rows.

Small programs run in Python on lists; large ones, and all once the compiled kernel is loaded, on
arrays laid out for memory (see `layout`). Both give the same firing clauses in the same order.
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

from ..expiry import Expired, never, stop_if
from ..horn import HornProgram, IntArray
from . import propagation
from .layout import Index, Layout, index_arrays, index_lists, lay_out
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

    one, starts = np.zeros(1, np.int32), np.arange(2, dtype=np.int32)
    program = HornProgram(1, one, starts, one, one)
    focus(program, 0, form=Form.ARRAYS)
    kernel.renumber(starts, one, one, np.full(1, -1, np.int32), *(one.copy() for _ in range(3)))


def _kernel(program: HornProgram, form: Form) -> ModuleType | None:
    """Give the kernel where it is asked for or worth using for this size, else None."""
    size = program.size
    worth = size >= LOAD_KERNEL_FROM or (size >= USE_KERNEL_FROM and _KERNEL in sys.modules)
    if form is Form.ARRAYS or (form is Form.AUTO and worth):
        from . import kernel

        return kernel
    return None


def _space(length: int, value: int, kernel: ModuleType | None) -> propagation.Integers:
    return [value] * length if kernel is None else np.full(length, value, np.int32)


def tails_of(program: HornProgram) -> Index:
    """Index clauses by the atoms of their tails; a program keeps its index for later closures."""
    found = program.indexes.get("tails of lists")
    if found is None:
        found = index_lists(program.atom_count, program.tail_starts, program.tails)
        program.indexes["tails of lists"] = found
    assert isinstance(found, Index)
    return found


def _laid_out(program: HornProgram, kernel: ModuleType) -> Layout:
    found = program.indexes.get("layout")
    if found is None:
        found = program.indexes["layout"] = lay_out(program, kernel)
    assert isinstance(found, Layout)
    return found


def _heads_of(program: HornProgram, kernel: ModuleType | None) -> Index:
    """Index clauses by their head: the same over rows of one atom."""
    key = f"heads of {'arrays' if kernel else 'lists'}"
    found = program.indexes.get(key)
    if found is None:
        singles = np.arange(program.clause_count + 1, dtype=np.int32)
        found = (
            index_arrays(program.atom_count, singles, program.heads, kernel)
            if kernel
            else index_lists(program.atom_count, singles, program.heads)
        )
        program.indexes[key] = found
    assert isinstance(found, Index)
    return found


def fire(
    program: HornProgram,
    *,
    given: Sequence[int] | IntArray | None = None,
    goal: int = -1,
    form: Form = Form.AUTO,
    expired: Expired = never,
) -> Firing:
    """Derive all that follows from `given` (default: all given atoms), or stop at `goal`.

    Linear in the size of the program. Raises EngineTimedOut soon after `expired` turns true.
    """
    start = program.given if given is None else given
    return _fire(program, start, goal, _kernel(program, form), expired)[0]


def _fire(
    program: HornProgram,
    given: Sequence[int] | IntArray,
    goal: int,
    kernel: ModuleType | None,
    expired: Expired,
) -> tuple[Firing, propagation.Integers]:
    """Close, and give also how many tail atoms each clause still misses."""
    if kernel is not None:
        stop_if(expired)  # once is enough for what takes tens of milliseconds
        return _fire_arrays(program, np.asarray(given, np.int32), goal, kernel)
    rows = program.rows
    found = tails_of(program)
    missing = rows.tail_lengths.copy()
    fired = [UNDERIVED] * program.atom_count
    queue = [0] * program.atom_count
    length = propagation.propagate(
        rows.heads,
        rows.free,
        found.starts,
        found.clauses,
        np.asarray(given, np.int32).tolist(),
        goal,
        missing,
        fired,
        queue,
        expired,
    )
    return Firing(np.asarray(fired, np.int32), np.asarray(queue[:length], np.int32)), missing


def _fire_arrays(
    program: HornProgram, given: IntArray, goal: int, kernel: ModuleType
) -> tuple[Firing, propagation.Integers]:
    layout = _laid_out(program, kernel)
    numbers, names = layout.numbers, layout.names
    missing = layout.lengths.copy()
    fired = np.full(program.atom_count, UNDERIVED, np.int32)
    events = np.empty(program.clause_count + 1, np.int32)
    order = np.empty(program.atom_count, np.int32)
    length = kernel.propagate(
        layout.heads,
        program.free,
        layout.tails.starts,
        layout.tails.clauses,
        given if numbers is None else numbers[given],
        goal if numbers is None or goal < 0 else int(numbers[goal]),
        missing,
        fired,
        events,
        order,
    )
    if numbers is not None and names is not None:
        return Firing(fired[numbers], names[order[:length]]), missing
    return Firing(fired, order[:length]), missing


@dataclass(frozen=True, slots=True, eq=False)
class Focus:
    """The part of a program that can matter for a goal, renumbered.

    Atom `i` of the part is atom `atoms[i]` of the whole and clause `c` is `clauses[c]`; both
    ascend, so the canonical order stays. `firing` is the closure of the part: the atoms of the part
    come in it in the order in which they come in the closure of the whole, by the same clauses.
    """

    program: HornProgram
    goal: int
    atoms: IntArray
    clauses: IntArray
    firing: Firing

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
    expired: Expired = never,
) -> Focus:
    """Cut a program down to what derivations of `goal` from `given` can use.

    Keeps the clauses whose whole tail is derivable and whose head the goal needs. Linear. Raises
    EngineTimedOut soon after `expired` turns true.
    """
    kernel = _kernel(program, form)
    code = kernel or propagation
    rows = program if kernel else program.rows
    start = np.asarray(program.given if given is None else given, np.int32)
    firing, missing = _fire(program, start, -1, kernel, expired)
    heads = _heads_of(program, kernel)
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
    fired = firing.clauses[atoms]
    derived = fired >= 0
    fired[derived] = np.searchsorted(clauses, fired[derived])
    order = numbers[firing.order[marked[firing.order]]]
    return Focus(part, int(numbers[goal]), atoms, clauses, Firing(fired, order))
