"""The canonical derivation of a goal and the minimal set of leaves it needs.

The proof depends on the program alone, whose clauses and given atoms stand in canonical order:
queue closure, support of the recorded derivation, deletion in a fixed order, queue closure again.
Nothing recurses, so proofs may be deep.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from .collection import paused_collection
from .engines.linear import GIVEN, UNDERIVED, Firing, fire, focus
from .expiry import Expired, never
from .horn import HornProgram, IntArray
from .pruning import ordered_deletion


class Step(NamedTuple):
    """An atom and the clause that derives it, or -1 for a given atom."""

    atom: int
    clause: int


def derivation(
    program: HornProgram, goal: int, support: Iterable[int], *, expired: Expired = never
) -> tuple[Step, ...] | None:
    """Derive `goal` from exactly the atoms of `support`, or give None where it does not follow.

    Steps come in firing order, every premise before its conclusion, only those the goal needs.
    Linear in the size of the program.
    """
    firing = fire(program, given=sorted(support), goal=goal, expired=expired)
    if firing.clauses[goal] == UNDERIVED:
        return None
    return trace(program, firing, goal)


def trace(
    program: HornProgram, firing: Firing, goal: int, *, seen: bytearray | None = None
) -> tuple[Step, ...]:
    """Read the derivation of a derived `goal` off a recorded closure, premises first.

    Linear in the derivation, so many goals may share one closure. Atoms marked in `seen`, one byte
    each, are left out with what they alone rest on; those given are marked.
    """
    needed = _needed(program, firing, goal, seen)
    ordered = needed[np.argsort(firing.ranks[needed])]
    return tuple(
        map(Step._make, zip(ordered.tolist(), firing.clauses[ordered].tolist(), strict=True))
    )


def _needed(
    program: HornProgram, firing: Firing, goal: int, seen: bytearray | None = None
) -> IntArray:
    """Give the atoms of the recorded derivation of a goal that are not seen yet, in no order."""
    rows = program.rows
    starts, tails = rows.tail_starts, rows.tails
    clause_of = firing.clauses.item
    if seen is None:
        seen = bytearray(program.atom_count)
    needed = [] if seen[goal] else [goal]
    seen[goal] = 1
    for atom in needed:
        clause = clause_of(atom)
        if clause != GIVEN:
            for premise in tails[starts[clause] : starts[clause + 1]]:
                if not seen[premise]:
                    seen[premise] = 1
                    needed.append(premise)
    return np.array(needed, np.int32)


class Minimal(NamedTuple):
    """An inclusion-minimal certificate: the given atoms it rests on, ascending, and its steps."""

    support: tuple[int, ...]
    steps: tuple[Step, ...]


@paused_collection()
def certify(
    program: HornProgram,
    goal: int,
    deletable: Collection[int] | None = None,
    *,
    given: Collection[int] | None = None,
    firing: Firing | None = None,
    expired: Expired = never,
) -> Minimal | None:
    """Give the canonical minimal certificate of a goal, or None where it does not follow.

    Starts from the support of the canonical derivation and drops, last first, each atom of
    `deletable` (default: all given atoms) without which the goal still follows. Given atoms outside
    `deletable` always hold; those the final derivation uses are in the support. The steps are
    `derivation` from the support. `given` replaces the program's own given atoms, and `firing` may
    be their recorded closure, shared between goals. Raises EngineTimedOut soon after `expired`
    turns true.
    """
    start = sorted(program.given.tolist() if given is None else given)
    if firing is None:
        firing = fire(program, given=start, goal=goal, expired=expired)
    if firing.clauses[goal] == UNDERIVED:
        return None
    loose = set(start) if deletable is None else set(start).intersection(deletable)
    frozen = set(start) - loose
    used = _leaves(program, firing, goal)
    if loose.isdisjoint(used):
        support = tuple(sorted(used))
        steps = derivation(program, goal, support, expired=expired)
        assert steps is not None, "a support derives its goal"
        return Minimal(support, steps)
    part = focus(program, goal, given=sorted(frozen.union(used)), expired=expired)
    candidates = part.narrow(loose)
    turns = sorted(candidates, reverse=True)
    kept = ordered_deletion(part.program, part.goal, part.firing, candidates=turns, expired=expired)
    closed, stated = part.firing, set(part.program.given.tolist())
    found = part.narrow(used)
    if len(kept) < len(candidates):
        stated = stated - candidates | kept
        closed = fire(part.program, given=sorted(stated), goal=part.goal, expired=expired)
        found = _leaves(part.program, closed, part.goal)
    if found != stated:
        closed = fire(part.program, given=sorted(found), goal=part.goal, expired=expired)
    steps = trace(part.program, closed, part.goal)
    atoms, clauses = part.atoms.item, part.clauses.item
    wide = (Step(atoms(a), clauses(c) if c >= 0 else c) for a, c in steps)
    return Minimal(part.widen(found), tuple(wide))


def minimal_support(
    program: HornProgram,
    goal: int,
    deletable: Collection[int] | None = None,
    *,
    given: Collection[int] | None = None,
    expired: Expired = never,
) -> tuple[int, ...] | None:
    """Give the given atoms of the canonical minimal certificate, ascending, as `certify` does."""
    found = certify(program, goal, deletable, given=given, expired=expired)
    return None if found is None else found.support


def _leaves(program: HornProgram, firing: Firing, goal: int) -> set[int]:
    """Give the given atoms that the recorded derivation of a goal rests on."""
    needed = _needed(program, firing, goal)
    leaves: list[int] = needed[firing.clauses[needed] == GIVEN].tolist()
    return set(leaves)
