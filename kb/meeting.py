"""Deciding a meet: all that satisfy the constraints, or why nobody is known to.

It abstains, with the first that applies, for a conflict, localised to its dimension; for a range
that values may or may not lie in; else for a gap. More constraints never turn an abstention into
answers: a conflict between two of them stays, and an intersection only shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from .answers import Answers
from .constraint import Conflict, Constraint, Range
from .lattice import LatticeIndex
from .qualified import EVERYTHING, View
from .statement import Value


class Lack(Enum):
    """Why a meet has no answer; named as the abstention codes are."""

    CONFLICT = "CONFLICT"
    UNDETERMINED = "UNDETERMINED"
    GAP_IN_EXTRACTION = "GAP_IN_EXTRACTION"
    """Each constraint is satisfied by somebody, together they are by nobody known."""
    GAP_IN_CORPUS = "GAP_IN_CORPUS"
    """One constraint is satisfied by nobody known."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """In one dimension all that satisfy the rest, or may, are stated to be something else.

    `instances` are all of them; `stated` are the values that exclude what is asked, by label, each
    with the reason.
    """

    dimension: str
    asked: Value | Range
    instances: Answers
    stated: tuple[tuple[Value, str], ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a meet gives. `lack` is None exactly where there are answers.

    `alone` says how many satisfy each constraint by itself, in the order asked.
    """

    answers: Answers
    lack: Lack | None = None
    conflicts: tuple[Conflict, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    undetermined: Answers | None = None
    alone: tuple[tuple[Constraint | Range, int], ...] = ()


def decide(
    index: LatticeIndex,
    constraints: Iterable[Constraint | Range],
    *,
    view: View = EVERYTHING,
    union: bool = False,
) -> Meeting:
    """Decide a meet, or with `union` ask who satisfies at least one constraint.

    Source: LatWeave (arXiv 2609.27225), operators meet and abstain; a conflict between what is
    stated and what is asked is ours, by the same rule that makes two constraints a conflict.
    """
    wanted = tuple(dict.fromkeys(constraints))
    answers = index.answers(wanted, view=view, union=union)
    conflicts = () if union else index.conflicts(wanted)
    if len(answers) and not conflicts:
        return Meeting(answers)
    nobody = answers - answers
    alone = tuple((item, len(index.answers([item], view=view))) for item in wanted)
    if conflicts:
        return Meeting(nobody, Lack.CONFLICT, conflicts, alone=alone)
    contradictions = () if union else _contradictions(index, wanted, view)
    if contradictions:
        return Meeting(nobody, Lack.CONFLICT, (), contradictions, alone=alone)
    perhaps = index.perhaps(wanted, view=view, union=union)
    if len(perhaps):
        return Meeting(nobody, Lack.UNDETERMINED, undetermined=perhaps, alone=alone)
    lack = Lack.GAP_IN_EXTRACTION if all(count for _, count in alone) else Lack.GAP_IN_CORPUS
    return Meeting(nobody, lack, alone=alone)


def _contradictions(
    index: LatticeIndex, wanted: tuple[Constraint | Range, ...], view: View
) -> tuple[Contradiction, ...]:
    found: list[Contradiction] = []
    for asked in sorted(wanted, key=lambda item: item.dimension):
        rest = [item for item in wanted if item.dimension != asked.dimension]
        candidates = index.perhaps(rest, view=view)
        if not rest or not len(candidates):
            continue
        excluding = index.excluding(asked, view=view)
        instances, stated = candidates, []
        for value, reason, holders in excluding:
            if len(candidates & holders):
                stated.append((value, reason))
            instances = instances - holders
        if not len(instances):
            sought = asked.value if isinstance(asked, Constraint) else asked
            found.append(Contradiction(asked.dimension, sought, candidates, tuple(stated)))
    return tuple(found)
