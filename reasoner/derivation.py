"""The canonical derivation of a goal and the minimal set of leaves it needs.

The proof depends on the program alone, whose clauses and given atoms stand in canonical order:
queue closure, support of the recorded derivation, deletion in a fixed order, queue closure again.
Nothing recurses, so proofs may be deep.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from .engines.linear import GIVEN, UNDERIVED, Firing, fire, focus
from .horn import HornProgram, IntArray
from .pruning import ordered_deletion


class Step(NamedTuple):
    """An atom and the clause that derives it, or -1 for a given atom."""

    atom: int
    clause: int


def derivation(program: HornProgram, goal: int, support: Iterable[int]) -> tuple[Step, ...] | None:
    """Derive `goal` from exactly the atoms of `support`, or give None where it does not follow.

    Steps come in firing order, every premise before its conclusion, only those the goal needs.
    Linear in the size of the program.
    """
    firing = fire(program, given=sorted(support), goal=goal)
    if firing.clauses[goal] == UNDERIVED:
        return None
    return trace(program, firing, goal)


def trace(program: HornProgram, firing: Firing, goal: int) -> tuple[Step, ...]:
    """Read the derivation of a derived `goal` off a recorded closure, premises first.

    Linear in the derivation, so many goals may share one closure.
    """
    needed = _needed(program, firing, goal)
    ordered = needed[np.argsort(firing.ranks[needed])]
    return tuple(map(Step, ordered.tolist(), firing.clauses[ordered].tolist()))


def _needed(program: HornProgram, firing: Firing, goal: int) -> IntArray:
    """Give the atoms of the recorded derivation of a goal, in no order."""
    clause_of = firing.clauses.item
    needed = {goal}
    stack = [goal]
    while stack:
        clause = clause_of(stack.pop())
        if clause != GIVEN:
            for atom in program.tail(clause):
                if atom not in needed:
                    needed.add(atom)
                    stack.append(atom)
    return np.fromiter(needed, np.int32, len(needed))


def minimal_support(
    program: HornProgram,
    goal: int,
    deletable: Collection[int] | None = None,
    *,
    given: Collection[int] | None = None,
    firing: Firing | None = None,
) -> tuple[int, ...] | None:
    """Give the given atoms of an inclusion-minimal certificate, ascending; None if underivable.

    Starts from the support of the canonical derivation and drops, last first, each atom of
    `deletable` (default: all given atoms) without which the goal still follows. Given atoms outside
    `deletable` always hold; those the final derivation uses are in the result. `given` replaces the
    program's own given atoms, and `firing` may be their recorded closure, shared between goals.
    """
    start = sorted(program.given.tolist() if given is None else given)
    firing = fire(program, given=start, goal=goal) if firing is None else firing
    if firing.clauses[goal] == UNDERIVED:
        return None
    loose = set(start) if deletable is None else set(start).intersection(deletable)
    frozen = set(start) - loose
    used = _leaves(program, firing, goal)
    if not loose.isdisjoint(used):
        part = focus(program, goal, given=sorted(frozen.union(used)))
        candidates = part.narrow(loose)
        closed = fire(part.program)
        turns = sorted(candidates, reverse=True)
        kept = ordered_deletion(part.program, part.goal, closed, candidates=turns)
        if len(kept) < len(candidates):
            rest = set(part.program.given.tolist()) - candidates
            closed = fire(part.program, given=sorted(rest | kept), goal=part.goal)
            used = set(part.widen(_leaves(part.program, closed, part.goal)))
    return tuple(sorted(used))


def _leaves(program: HornProgram, firing: Firing, goal: int) -> set[int]:
    """Give the given atoms that the recorded derivation of a goal rests on."""
    needed = _needed(program, firing, goal)
    leaves: list[int] = needed[firing.clauses[needed] == GIVEN].tolist()
    return set(leaves)
