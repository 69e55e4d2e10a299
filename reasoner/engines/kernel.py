"""The propagation loops compiled by numba for arrays; importing this module costs about a second.

They answer as their twins in `propagation` do, atom for atom, but are laid out for memory, on which
large programs wait: counters of one byte, rows indexed without sign, and a queue of fired clauses
instead of atoms, so that what the next entries need can be asked for ahead of time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from .propagation import GIVEN, UNDERIVED, Integers

AHEAD = 16
"""How many entries of a queue lie between two stages of asking for memory."""


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to keep the cache, such as a read-only installation
        return njit(nogil=True)(function)  # type: ignore[no-any-return]  # numba has no types


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def _prefetch(_context: Any, array: Any, place: Any) -> Any:  # numba has no types
    """Ask for `array[place]` to be brought into cache; changes nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.bitcast(builder.gep(found.data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        call = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0i8")
        read, keep, for_data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(call, [pointer, read, keep, for_data])
        return context.get_dummy_value()

    return types.void(array, types.uintp), generate


@_compile
def index_tails(
    tail_starts: Integers, tails: Integers, starts: Integers, occurrences: Integers
) -> None:
    """List for each atom the clauses whose tail holds it, ascending, once per place in the tail.

    `starts` comes zeroed, one longer than there are atoms; afterwards the clauses of atom `a` are
    `occurrences[starts[a]:starts[a + 1]]`. A counting sort: linear.
    """
    one = np.uint64(1)
    atoms = np.uint64(len(starts) - 1)
    clauses = np.uint64(len(tail_starts) - 1)
    place = np.uint64(len(tails))
    for position in range(place):
        starts[np.uint64(tails[position]) + one] += 1
    for atom in range(atoms):
        starts[atom + one] += starts[atom]
    for back in range(clauses):
        clause = clauses - one - back
        first = np.uint64(tail_starts[clause])
        while place > first:
            place -= one
            atom = np.uint64(tails[place]) + one
            row = starts[atom] - 1
            starts[atom] = row
            occurrences[np.uint64(row)] = np.int32(clause)
    for atom in range(atoms):
        starts[atom] = starts[atom + one]
    starts[atoms] = np.int32(len(tails))


@_compile
def renumber(
    tail_starts: Integers,
    tails: Integers,
    heads: Integers,
    numbers: Integers,
    names: Integers,
    new_tails: Integers,
    new_heads: Integers,
) -> None:
    """Number atoms in the order in which clauses first name them, those never named last.

    `numbers` comes filled with -1; afterwards `numbers[atom]` is its number and `names` the inverse.
    """
    one = np.uint64(1)
    count = np.uint64(0)
    place = np.uint64(0)
    for clause in range(np.uint64(len(heads))):
        end = np.uint64(tail_starts[clause + one])
        while place <= end:
            atom = np.uint64(tails[place] if place < end else heads[clause])
            number = numbers[atom]
            if number < 0:
                number = np.int32(count)
                numbers[atom] = number
                names[count] = np.int32(atom)
                count += one
            if place == end:
                new_heads[clause] = number
                break
            new_tails[place] = number
            place += one
    for atom in range(np.uint64(len(numbers))):
        if numbers[atom] < 0:
            numbers[atom] = np.int32(count)
            names[count] = np.int32(atom)
            count += one


@_compile
def propagate(
    heads: Integers,
    free: Integers,
    starts: Integers,
    occurrences: Integers,
    given: Integers,
    goal: int,
    missing: Integers,
    fired: Integers,
    events: Integers,
    order: Integers,
) -> int:
    """Derive as `propagation.propagate` does and return how many atoms `order` holds.

    `events` has room for one clause more than there are. Clauses enter it when the last atom of
    their tail has come; taking their heads in that order is taking the atoms in queue order.
    """
    one = np.uint64(1)
    ahead = np.uint64(AHEAD)
    length = np.uint64(0)
    waiting = np.uint64(0)
    for at in range(np.uint64(len(given))):
        atom = given[at]
        if fired[np.uint64(atom)] == UNDERIVED:
            fired[np.uint64(atom)] = GIVEN
            order[length] = atom
            length += one
            if atom == goal:
                return length
    for at in range(np.uint64(len(free))):
        events[waiting] = free[at]
        waiting += one
    for at in range(length):
        if at + ahead < length:
            if at + ahead + ahead < length:
                _prefetch(starts, np.uint64(order[at + ahead + ahead]))
            _prefetch(occurrences, np.uint64(starts[np.uint64(order[at + ahead])]))
        place = np.uint64(order[at])
        for row in range(np.uint64(starts[place]), np.uint64(starts[place + one])):
            clause = np.uint64(occurrences[row])
            left = missing[clause] - missing.dtype.type(1)
            missing[clause] = left
            events[waiting] = np.int32(clause)
            waiting += np.uint64(left == 0)
    read = np.uint64(0)
    while read < waiting:
        near = read + ahead
        if near < waiting:
            if near + ahead < waiting:
                if near + ahead + ahead < waiting:
                    _prefetch(heads, np.uint64(events[near + ahead + ahead]))
                later = np.uint64(heads[np.uint64(events[near + ahead])])
                _prefetch(fired, later)
                _prefetch(starts, later)
            soon = np.uint64(heads[np.uint64(events[near])])
            _prefetch(occurrences, np.uint64(starts[soon]))
        event = events[read]
        read += one
        head = heads[np.uint64(event)]
        place = np.uint64(head)
        if fired[place] == UNDERIVED:
            fired[place] = event
            order[length] = head
            length += one
            if head == goal:
                return length
            for row in range(np.uint64(starts[place]), np.uint64(starts[place + one])):
                clause = np.uint64(occurrences[row])
                left = missing[clause] - missing.dtype.type(1)
                missing[clause] = left
                events[waiting] = np.int32(clause)
                waiting += np.uint64(left == 0)
    return length


@_compile
def reach_back(
    goal: int,
    head_starts: Integers,
    head_clauses: Integers,
    tail_starts: Integers,
    tails: Integers,
    missing: Integers,
    marks: Integers,
    queue: Integers,
) -> int:
    """Mark the atoms a derivation of `goal` may use, as `propagation.reach_back` does."""
    one = np.uint64(1)
    marks[goal] = 1
    queue[0] = goal
    length = one
    read = np.uint64(0)
    while read < length:
        atom = np.uint64(queue[read])
        read += one
        for row in range(np.uint64(head_starts[atom]), np.uint64(head_starts[atom + one])):
            clause = np.uint64(head_clauses[row])
            if missing[clause] == 0:
                first, end = np.uint64(tail_starts[clause]), np.uint64(tail_starts[clause + one])
                for position in range(first, end):
                    premise = np.uint64(tails[position])
                    if marks[premise] == 0:
                        marks[premise] = 1
                        queue[length] = np.int32(premise)
                        length += one
    return length
