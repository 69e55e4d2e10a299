"""Formal concepts across dimensions: maximal groups of instances with all that they share."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from .constraint import Constraint
from .dimension import value_label
from .lattice import LatticeIndex
from .poset import places
from .qualified import View
from .statement import Entity

CROSS = "/"
"""Stands between the dimensions of a cross-reference."""


@dataclass(frozen=True, slots=True)
class Context:
    """Which instances satisfy which constraints.

    `instances` are sorted; bit i of `extents[j]` says whether `instances[i]` satisfies
    `attributes[j]`.
    """

    instances: tuple[str, ...]
    attributes: tuple[Constraint, ...]
    extents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Concept:
    """Instances and constraints that determine each other; both sorted.

    The extent is all that satisfies the intent; the intent is all that the extent satisfies.
    """

    extent: tuple[str, ...]
    intent: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Concepts:
    """Concepts, the largest extents first, then by extent; `complete` unless cut by a limit."""

    concepts: tuple[Concept, ...]
    complete: bool


def context_of(
    index: LatticeIndex, dimensions: Iterable[str], *, valid_on: datetime.date | None = None
) -> Context:
    """Take every value of `dimensions` as an attribute: being at or below it.

    `owner/country` is a cross-reference: being at or below a country is then an attribute of those
    whose owner is; any number of steps, all but the last through entities.
    """
    attributes: list[Constraint] = []
    satisfying: list[tuple[str, ...]] = []
    for path in sorted(set(dimensions)):
        *steps, last = path.split(CROSS)
        for value, _ in index.values(last):
            names = index.meet([Constraint(last, value)], valid_on=valid_on)
            for step in reversed(steps):
                names = _referring(index, step, names, valid_on)
            if names or not steps:
                attributes.append(Constraint(path, value))
                satisfying.append(names)
    instances = sorted({name for names in satisfying for name in names})
    bit = {name: 1 << i for i, name in enumerate(instances)}
    extents = tuple(sum(bit[name] for name in names) for names in satisfying)
    return Context(tuple(instances), tuple(attributes), extents)


def _referring(
    index: LatticeIndex, dimension: str, names: Iterable[str], valid_on: datetime.date | None
) -> tuple[str, ...]:
    """Give the instances that have one of the names as value of a dimension, sorted."""
    wanted = [Constraint(dimension, Entity(name)) for name in names]
    if not wanted:
        return ()
    return tuple(index.answers(wanted, view=View(valid_on), union=True))


def find_concepts(context: Context, *, limit: int = 10_000) -> Concepts:
    """List the concepts of a context, up to `limit`; there may be exponentially many.

    Source: Kuznetsov, A fast algorithm for computing all intersections of objects in a finite
    semi-lattice (1993), Close-by-One over attributes: a concept is kept where it is first generated
    in the order of attributes. Without recursion.
    """
    everyone = (1 << len(context.instances)) - 1
    count = len(context.attributes)

    def intent_of(extent: int) -> int:
        return sum(1 << j for j in range(count) if context.extents[j] & extent == extent)

    found: list[tuple[int, int]] = []
    stack = [(everyone, intent_of(everyone), 0)]
    while stack and len(found) < limit:
        extent, intent, start = stack.pop()
        found.append((extent, intent))
        for j in range(count - 1, start - 1, -1):
            if intent >> j & 1:
                continue
            smaller = extent & context.extents[j]
            closed = intent_of(smaller)
            before = (1 << j) - 1
            if closed & before == intent & before:
                stack.append((smaller, closed, j + 1))
    concepts = [
        Concept(
            tuple(context.instances[i] for i in places(extent)),
            tuple(
                sorted(
                    (context.attributes[j] for j in places(intent)),
                    key=lambda item: (item.dimension, value_label(item.value)),
                )
            ),
        )
        for extent, intent in found
    ]
    concepts.sort(key=lambda concept: (-len(concept.extent), concept.extent))
    return Concepts(tuple(concepts), complete=not stack)
