"""The canonical derivation of a goal and the minimal set of leaves it needs.

The proof depends on the program alone, whose clauses and given atoms stand in canonical order:
queue closure, support of the recorded derivation, deletion in a fixed order, queue closure again.
Nothing recurses, so proofs may be deep.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from .engines.linear import GIVEN, UNDERIVED, Firing, fire
from .horn import HornProgram


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
    return _backward(program, firing, goal)


def _backward(program: HornProgram, firing: Firing, goal: int) -> tuple[Step, ...]:
    needed = {goal}
    steps = []
    for atom in reversed(firing.order.tolist()):
        if atom not in needed:
            continue
        clause = int(firing.clauses[atom])
        steps.append(Step(atom, clause))
        if clause != GIVEN:
            needed.update(program.tail(clause))
    steps.reverse()
    return tuple(steps)


def minimal_support(
    program: HornProgram, goal: int, deletable: Collection[int] | None = None
) -> tuple[int, ...] | None:
    """Give the given atoms of an inclusion-minimal certificate, ascending; None if underivable.

    Starts from the support of the canonical derivation and drops, last first, each atom of
    `deletable` (default: all given atoms) without which the goal still follows. Given atoms outside
    `deletable` always hold; those the final derivation uses are in the result too.
    """
    firing = fire(program, goal=goal)
    if firing.clauses[goal] == UNDERIVED:
        return None
    given = set(program.given.tolist())
    loose = given if deletable is None else given.intersection(deletable)
    frozen = given - loose
    kept = [s.atom for s in _backward(program, firing, goal) if s.clause == GIVEN]
    candidates = sorted(loose.intersection(kept), reverse=True)
    needed = set(candidates)
    for candidate in candidates:
        trial = (needed - {candidate}) | frozen
        if fire(program, given=sorted(trial), goal=goal).clauses[goal] != UNDERIVED:
            needed.discard(candidate)
    steps = derivation(program, goal, needed | frozen)
    assert steps is not None
    return tuple(sorted(step.atom for step in steps if step.clause == GIVEN))
