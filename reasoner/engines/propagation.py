"""Unit propagation in one source text that Python runs on lists and numba compiles for arrays.

Nothing here allocates: callers pass filled work space, so both forms do the same, step for step.
Source: Dowling and Gallier, Linear-time algorithms for testing the satisfiability of propositional
Horn formulae (1984), section 3; we add the record of the firing clause.
"""

from __future__ import annotations

from typing import Any

Integers = Any  # list[int] in Python, an int32 array in numba; no one type covers both
Words = Any  # list[int] of any width in Python, a uint64 array in numba

UNDERIVED = -2
GIVEN = -1


def index_tails(
    tail_starts: Integers, tails: Integers, starts: Integers, occurrences: Integers
) -> None:
    """List for each atom the clauses whose tail holds it, ascending, once per place in the tail.

    `starts` comes zeroed, one longer than there are atoms; afterwards the clauses of atom `a` are
    `occurrences[starts[a]:starts[a + 1]]`. A counting sort: linear.
    """
    atoms = len(starts) - 1
    for atom in tails:
        starts[atom + 1] += 1
    for atom in range(atoms):
        starts[atom + 1] += starts[atom]
    for clause in range(len(tail_starts) - 2, -1, -1):
        for position in range(tail_starts[clause], tail_starts[clause + 1]):
            place = tails[position] + 1
            starts[place] -= 1
            occurrences[starts[place]] = clause
    for atom in range(atoms):
        starts[atom] = starts[atom + 1]
    starts[atoms] = len(tails)


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
) -> int:
    """Derive in queue order and return how many atoms the queue holds.

    `missing` comes as the tail lengths, `fired` filled with UNDERIVED; afterwards `fired[atom]` is
    the clause that derived it, or GIVEN. A clause fires only after its whole tail is in the queue,
    so derivations are acyclic. Stops once `goal` is derived; -1 derives everything.
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
