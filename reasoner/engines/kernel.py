"""The propagation loops compiled by numba for arrays; importing this module costs about a second.

They answer as their twins in `propagation` do, atom for atom, but are laid out for memory, on which
large programs wait: counters of one byte, rows indexed without sign, and a queue of fired clauses
instead of atoms, so that what the next entries need can be asked for ahead of time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # no stubs exist
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from .propagation import GIVEN, UNDERIVED, Integers

AHEAD = 16
"""How many entries of a queue lie between two stages of asking for memory."""

_Unsigned: Any = np.uint64  # compiled away; as a type it would not mix with plain integers


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to keep the cache, such as a read-only installation
        return njit(nogil=True)(function)


def _write_prefetch(_context: Any, array: Any, _place: Any) -> Any:  # numba has no types
    """Ask for `array[place]` to be brought into cache; changes nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.bitcast(builder.gep(found.data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        declare: Any = cgutils.get_or_insert_function
        call = declare(builder.module, shape, "llvm.prefetch.p0i8")
        read, keep, for_data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(call, [pointer, read, keep, for_data])
        return context.get_dummy_value()

    return types.void(array, types.uintp), generate


_prefetch: Any = intrinsic(_write_prefetch)


@_compile
def index_tails(
    tail_starts: Integers, tails: Integers, starts: Integers, occurrences: Integers
) -> None:
    """List for each atom the clauses whose tail holds it, ascending, once per place in the tail.

    `starts` comes zeroed, one longer than there are atoms; afterwards the clauses of atom `a` are
    `occurrences[starts[a]:starts[a + 1]]`. A counting sort: linear.
    """
    one = _Unsigned(1)
    atoms = _Unsigned(len(starts) - 1)
    clauses = _Unsigned(len(tail_starts) - 1)
    place = _Unsigned(len(tails))
    for position in range(place):
        starts[_Unsigned(tails[position]) + one] += 1
    for atom in range(atoms):
        starts[atom + one] += starts[atom]
    for back in range(clauses):
        clause = clauses - one - back
        first = _Unsigned(tail_starts[clause])
        while place > first:
            place -= one
            atom = _Unsigned(tails[place]) + one
            row = starts[atom] - 1
            starts[atom] = row
            occurrences[_Unsigned(row)] = np.int32(clause)
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

    `numbers` comes filled with -1; afterwards `numbers[atom]` is its number, and `names` the
    inverse.
    """
    one = _Unsigned(1)
    count = _Unsigned(0)
    place = _Unsigned(0)
    for clause in range(_Unsigned(len(heads))):
        end = _Unsigned(tail_starts[clause + one])
        while place <= end:
            atom = _Unsigned(tails[place] if place < end else heads[clause])
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
    for atom in range(_Unsigned(len(numbers))):
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
    one = _Unsigned(1)
    ahead = _Unsigned(AHEAD)
    length = _Unsigned(0)
    waiting = _Unsigned(0)
    for at in range(_Unsigned(len(given))):
        atom = given[at]
        if fired[_Unsigned(atom)] == UNDERIVED:
            fired[_Unsigned(atom)] = GIVEN
            order[length] = atom
            length += one
            if atom == goal:
                return int(length)
    for at in range(_Unsigned(len(free))):
        events[waiting] = free[at]
        waiting += one
    for at in range(length):
        if at + ahead < length:
            if at + ahead + ahead < length:
                _prefetch(starts, _Unsigned(order[at + ahead + ahead]))
            _prefetch(occurrences, _Unsigned(starts[_Unsigned(order[at + ahead])]))
        place = _Unsigned(order[at])
        for row in range(_Unsigned(starts[place]), _Unsigned(starts[place + one])):
            clause = _Unsigned(occurrences[row])
            left = missing[clause] - missing.dtype.type(1)
            missing[clause] = left
            events[waiting] = np.int32(clause)
            waiting += _Unsigned(left == 0)
    read = _Unsigned(0)
    while read < waiting:
        near = read + ahead
        if near < waiting:
            if near + ahead < waiting:
                if near + ahead + ahead < waiting:
                    _prefetch(heads, _Unsigned(events[near + ahead + ahead]))
                later = _Unsigned(heads[_Unsigned(events[near + ahead])])
                _prefetch(fired, later)
                _prefetch(starts, later)
            soon = _Unsigned(heads[_Unsigned(events[near])])
            _prefetch(occurrences, _Unsigned(starts[soon]))
        event = events[read]
        read += one
        head = heads[_Unsigned(event)]
        place = _Unsigned(head)
        if fired[place] == UNDERIVED:
            fired[place] = event
            order[length] = head
            length += one
            if head == goal:
                return int(length)
            for row in range(_Unsigned(starts[place]), _Unsigned(starts[place + one])):
                clause = _Unsigned(occurrences[row])
                left = missing[clause] - missing.dtype.type(1)
                missing[clause] = left
                events[waiting] = np.int32(clause)
                waiting += _Unsigned(left == 0)
    return int(length)


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
    one = _Unsigned(1)
    marks[goal] = 1
    queue[0] = goal
    length = one
    read = _Unsigned(0)
    while read < length:
        atom = _Unsigned(queue[read])
        read += one
        for row in range(_Unsigned(head_starts[atom]), _Unsigned(head_starts[atom + one])):
            clause = _Unsigned(head_clauses[row])
            if missing[clause] == 0:
                first, end = _Unsigned(tail_starts[clause]), _Unsigned(tail_starts[clause + one])
                for position in range(first, end):
                    premise = _Unsigned(tails[position])
                    if marks[premise] == 0:
                        marks[premise] = 1
                        queue[length] = np.int32(premise)
                        length += one
    return int(length)
