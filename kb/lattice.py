"""Projection to bitmaps: which instances lie at or below each value, and their meet.

An instance is an entity with, per dimension, the values its asserted, affirmed statements give.
Per value one Roaring bitmap holds every instance at or below it, so that a meet of constraints is
an intersection of complete answer sets. A dimension in which nothing is stated of an instance
satisfies no constraint, not even the root.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyroaring import BitMap

from .dimension import Dimension, value_label
from .statement import ALWAYS, Modality, Polarity, Statement, TaxonClass, Validity, Value

Point = tuple[str, Value]
"""A dimension's name and a value in it."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """Asks for a value at or below `value` in `dimension`."""

    dimension: str
    value: Value


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two constraints that nothing can satisfy together, and why; localised to a dimension."""

    dimension: str
    left: Value
    right: Value
    reason: str


@dataclass(frozen=True, slots=True)
class _Entry:
    instance: int
    point: Point
    validity: Validity


class LatticeIndex:
    """Instances by value, kept current statement by statement.

    Statements that hold for a time only are kept apart and joined in per day asked for. A dimension
    that was never defined is ordered by equality. Adding twice and removing what is not there are
    harmless.
    """

    def __init__(self, dimensions: Iterable[Dimension] = ()) -> None:
        self._dimensions = {dimension.name: dimension for dimension in dimensions}
        self._names: list[str] = []
        self._stated: list[dict[str, None]] = []
        self._ids: dict[str, int] = {}
        self._entries: dict[str, _Entry] = {}
        self._at: dict[tuple[int, str], dict[Value, set[str]]] = {}
        self._below: dict[Point, BitMap] = {}
        self._bounded: dict[Point, dict[str, None]] = {}
        self._ups: dict[Point, tuple[Point, ...]] = {}

    def __len__(self) -> int:
        """How many statements are indexed."""
        return len(self._entries)

    def define(self, dimension: Dimension) -> None:
        """Define a dimension anew; what is stated in it is placed again."""
        entries = {
            statement_id: entry
            for statement_id, entry in self._entries.items()
            if entry.point[0] == dimension.name
        }
        for statement_id in entries:
            self.remove(statement_id)
        self._dimensions[dimension.name] = dimension
        self._ups = {point: ups for point, ups in self._ups.items() if point[0] != dimension.name}
        for statement_id, entry in entries.items():
            self._place(statement_id, entry)

    def add(self, statement_id: str, statement: Statement) -> None:
        """Index a statement; one that is not asserted and affirmed places nothing."""
        if statement_id in self._entries or (statement.polarity, statement.modality) != (
            Polarity.AFFIRMED,
            Modality.ASSERTED,
        ):
            return
        instance = self._ids.get(statement.subject)
        if instance is None:
            instance = self._ids[statement.subject] = len(self._names)
            self._names.append(statement.subject)
            self._stated.append({})
        point = (statement.dimension, statement.value)
        self._place(statement_id, _Entry(instance, point, statement.validity))

    def remove(self, statement_id: str) -> None:
        """Take a statement out again."""
        entry = self._entries.pop(statement_id, None)
        if entry is None:
            return
        del self._stated[entry.instance][statement_id]
        dimension, value = entry.point
        if entry.validity != ALWAYS:
            for up in self._up(entry.point):
                self._bounded[up].pop(statement_id, None)
            return
        stated = self._at[entry.instance, dimension]
        stated[value].discard(statement_id)
        if stated[value]:
            return
        del stated[value]
        kept = {up for rest in stated for up in self._up((dimension, rest))}
        for up in self._up(entry.point):
            if up not in kept:
                self._below[up].discard(entry.instance)

    def meet(
        self, constraints: Iterable[Constraint], *, valid_on: datetime.date | None = None
    ) -> tuple[str, ...]:
        """Names of all instances that satisfy every constraint, sorted; of none: all instances.

        With `valid_on` only statements that hold on that day count, without it all do.
        """
        return tuple(sorted(self._names[i] for i in self._meet(constraints, valid_on)))

    def count(
        self, constraints: Iterable[Constraint], *, valid_on: datetime.date | None = None
    ) -> int:
        """How many instances `meet` would name."""
        return len(self._meet(constraints, valid_on))

    def conflicts(self, constraints: Iterable[Constraint]) -> tuple[Conflict, ...]:
        """Pairs of constraints that no instance can satisfy together; an empty meet is no conflict.

        Sorted by dimension and the labels of the values.
        """
        wanted = sorted(
            set(constraints), key=lambda item: (item.dimension, value_label(item.value))
        )
        found: list[Conflict] = []
        for place, left in enumerate(wanted):
            dimension = self._dimensions.get(left.dimension)
            for right in wanted[place + 1 :]:
                if dimension is None or right.dimension != left.dimension:
                    continue
                reason = dimension.conflict(left.value, right.value)
                if reason is not None:
                    found.append(Conflict(left.dimension, left.value, right.value, reason))
        return tuple(found)

    def coordinate(
        self, instance: str, *, valid_on: datetime.date | None = None
    ) -> Mapping[str, tuple[Value, ...]]:
        """Per dimension the most special values of an instance: an antichain, sorted by label."""
        stated: dict[str, set[Value]] = {}
        for statement_id in self._stated[self._ids[instance]] if instance in self._ids else ():
            entry = self._entries[statement_id]
            if _holds(entry.validity, valid_on):
                stated.setdefault(entry.point[0], set()).add(entry.point[1])
        result: dict[str, tuple[Value, ...]] = {}
        for name in sorted(stated):
            values = stated[name]
            above = {up for value in values for _, up in self._up((name, value)) if up != value}
            result[name] = tuple(sorted(values - above, key=value_label))
        return result

    def values(self, dimension: str) -> tuple[tuple[Value, int], ...]:
        """Values with instances at or below them, at any time, and how many; sorted by label."""
        points = {point for point in (*self._below, *self._bounded) if point[0] == dimension}
        counted = ((point[1], len(self._extent(point, None))) for point in points)
        return tuple(
            sorted((item for item in counted if item[1]), key=lambda item: value_label(item[0]))
        )

    def _place(self, statement_id: str, entry: _Entry) -> None:
        self._entries[statement_id] = entry
        self._stated[entry.instance][statement_id] = None
        dimension, value = entry.point
        if entry.validity != ALWAYS:
            for up in self._up(entry.point):
                self._bounded.setdefault(up, {})[statement_id] = None
            return
        stated = self._at.setdefault((entry.instance, dimension), {}).setdefault(value, set())
        if not stated:
            for up in self._up(entry.point):
                self._below.setdefault(up, BitMap()).add(entry.instance)
        stated.add(statement_id)

    def _up(self, point: Point) -> tuple[Point, ...]:
        """The points at or above a point."""
        ups = self._ups.get(point)
        if ups is None:
            name, value = point
            dimension = self._dimensions.get(name)
            ups = (point,)
            if (
                dimension is not None
                and dimension.taxonomy is not None
                and isinstance(value, TaxonClass)
                and value.label in dimension.taxonomy
            ):
                ups = tuple(
                    (name, TaxonClass(label)) for label in dimension.taxonomy.ancestors(value.label)
                )
            self._ups[point] = ups
        return ups

    def _meet(self, constraints: Iterable[Constraint], valid_on: datetime.date | None) -> BitMap:
        extents = [
            self._extent((item.dimension, item.value), valid_on)
            for item in dict.fromkeys(constraints)
        ]
        if not extents:
            return BitMap([number for number, stated in enumerate(self._stated) if stated])
        return BitMap.intersection(*sorted(extents, key=len))

    def _extent(self, point: Point, valid_on: datetime.date | None) -> BitMap:
        always = self._below.get(point, BitMap())
        bounded = self._bounded.get(point)
        if not bounded:
            return always
        entries = (self._entries[statement_id] for statement_id in bounded)
        return always | BitMap(
            {entry.instance for entry in entries if _holds(entry.validity, valid_on)}
        )


def _holds(validity: Validity, valid_on: datetime.date | None) -> bool:
    return valid_on is None or validity.holds_on(valid_on)
