"""Unit propagation in plain Python on lists; `kernel` is its compiled twin for arrays.

Nothing here allocates: callers pass filled work space. Both forms answer alike, atom for atom.
Source: Dowling and Gallier, Linear-time algorithms for testing the satisfiability of propositional
Horn formulae (1984), section 3; we add the record of the firing clause.
"""

from __future__ import annotations

from typing import Any

from ..expiry import STRIDE, Expired, never, stop_if

Integers = Any  # list[int] in Python, an array of integers in numba; no one type covers both

UNDERIVED = -2
GIVEN = -1


def propagate(
    heads: Integers,
    free: Integers,
    starts: Integers,
    occurrences: Integers,
    given: Integers,
    goal: int,
    missing: Integers,
    fired: Integers,
    queue: Integers,
    expired: Expired = never,
) -> int:
    """Derive in queue order and return how many atoms the queue holds.

    `missing` comes as the tail lengths, `fired` filled with UNDERIVED; afterwards `fired[atom]` is
    the clause that derived it, or GIVEN. A clause fires only after its whole tail is in the queue,
    so derivations are acyclic. Stops once `goal` is derived; -1 derives everything. Raises
    EngineTimedOut soon after `expired` turns true.
    """
    length = 0
    for atom in given:
        if fired[atom] == UNDERIVED:
            fired[atom] = GIVEN
            queue[length] = atom
            length += 1
            if atom == goal:
                return length
    for clause in free:
        head = heads[clause]
        if fired[head] == UNDERIVED:
            fired[head] = clause
            queue[length] = head
            length += 1
            if head == goal:
                return length
    read = 0
    while read < length:
        if not read % STRIDE:
            stop_if(expired)
        atom = queue[read]
        read += 1
        for row in range(starts[atom], starts[atom + 1]):
            clause = occurrences[row]
            missing[clause] -= 1
            if missing[clause] == 0:
                head = heads[clause]
                if fired[head] == UNDERIVED:
                    fired[head] = clause
                    queue[length] = head
                    length += 1
                    if head == goal:
                        return length
    return length


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
    """Mark the atoms a derivation of `goal` may use, and return how many the queue holds.

    Follows clauses whose tail is derived whole (`missing` is zero after propagation to the end);
    `marks` comes zeroed.
    """
    marks[goal] = 1
    queue[0] = goal
    length = 1
    read = 0
    while read < length:
        atom = queue[read]
        read += 1
        for row in range(head_starts[atom], head_starts[atom + 1]):
            clause = head_clauses[row]
            if missing[clause] == 0:
                for position in range(tail_starts[clause], tail_starts[clause + 1]):
                    premise = tails[position]
                    if marks[premise] == 0:
                        marks[premise] = 1
                        queue[length] = premise
                        length += 1
    return length
