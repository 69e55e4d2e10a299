"""Projection to bitmaps: which instances lie at or below each value, and their meet.

An instance is an entity with, per dimension, the values its asserted, affirmed statements give.
Per value one Roaring bitmap holds every instance at or below it, so that a meet of constraints is
an intersection of complete answer sets. A dimension in which nothing is stated of an instance
satisfies no constraint, not even the root. What is stated for a time only, or doubted, is kept
apart in rows and joined in per day and confidence asked for (see `qualified`).
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction

from pyroaring import BitMap

from .answers import Answers, Names
from .constraint import (
    Conflict,
    Constraint,
    Range,
    asked_for,
    exclusion,
    label_of,
    range_of,
)
from .dimension import Dimension, dimension_from_json, value_label
from .lattice_checkpoint import LatticeCheckpoint, dimension_prefix, point_key, point_of
from .placements import CERTAIN
from .qualified import EVERYTHING, QualifiedRows, View
from .quantity import Comparable
from .ranges import OrderedValues
from .statement import ALWAYS, Modality, Polarity, Statement, TaxonClass, Value

__all__ = ["Conflict", "Constraint", "LatticeIndex", "Point", "Range", "View"]

Point = tuple[str, Value]
"""A dimension's name and a value in it."""

_NONE = BitMap()


class LatticeIndex:
    """Instances by value, kept current statement by statement, on top of a checkpoint if given.

    A dimension that was never defined is ordered by equality. Adding twice and removing what is not
    there are harmless. For one thread at a time; answers may be read by any, at any time.
    """

    def __init__(
        self, dimensions: Iterable[Dimension] = (), *, base: LatticeCheckpoint | None = None
    ) -> None:
        self._dimensions: dict[str, Dimension | None] = {}
        self._base = base
        self._forms = dict(base.forms) if base else {}
        self._names = Names(base.names if base else None)
        self._stated: dict[Point, BitMap] = {}
        self._below: dict[Point, BitMap] = {}
        self._fresh: dict[str, dict[Value, None]] = {}
        self._ups: dict[Point, tuple[Point, ...]] = {}
        self._placed_anew: set[str] = set()
        self._rows = QualifiedRows(base)
        self._ordered: dict[str, OrderedValues] = {}
        self._blocks: dict[str, dict[tuple[int, int], BitMap]] = {}
        self._everyone = BitMap(range(len(base.names))) if base else BitMap()
        self._perhaps_gone: set[int] = set()
        self._taxonomic = set(base.taxonomic) if base else set()
        for dimension in dimensions:
            self._set(dimension)

    def _set(self, dimension: Dimension) -> None:
        self._dimensions[dimension.name] = dimension
        if dimension.taxonomy is None:
            self._taxonomic.discard(dimension.name)
        else:
            self._taxonomic.add(dimension.name)

    # ---- what is stated

    def define(self, dimension: Dimension) -> None:
        """Define a dimension anew; what is stated in it is placed again."""
        name = dimension.name
        stated = {value: self._stated_at((name, value)) for value in self._values(name)}
        self._set(dimension)
        self._ups = {point: ups for point, ups in self._ups.items() if point[0] != name}
        self._below = {point: bits for point, bits in self._below.items() if point[0] != name}
        self._placed_anew.add(name)
        self._rows.forget(name)
        self._changed(name, new_value=True)
        for value, bits in stated.items():
            if bits:
                self._stated[name, value] = bits
                for up in self._up((name, value)):
                    self._below.setdefault(up, BitMap()).update(bits)

    def add(self, statement: Statement, *, confidence: Fraction = CERTAIN) -> None:
        """Index a statement; one that is not asserted and affirmed places nothing.

        Again with another confidence: that replaces the one before.
        """
        if not is_plain(statement):
            return
        instance = self._names.number(statement.subject)
        point = (statement.dimension, statement.value)
        self._everyone.add(instance)
        is_certain = statement.validity == ALWAYS and confidence == CERTAIN
        if is_certain and instance in self._stated_at(point):
            return
        self._take_out(instance, point, statement)
        if not self._is_known(point):
            self._fresh.setdefault(point[0], {})[point[1]] = None
            self._changed(point[0], new_value=True)
        if is_certain:
            self._own_stated(point).add(instance)
            for up in self._up(point):
                self._own_below(up).add(instance)
            self._changed(point[0])
        else:
            self._rows.put(point, instance, statement.validity, confidence)

    def remove(self, statement: Statement) -> None:
        """Take a statement out again."""
        instance = self._names.find(statement.subject)
        if instance is not None and is_plain(statement):
            self._take_out(instance, (statement.dimension, statement.value), statement)
            self._perhaps_gone.add(instance)

    def _take_out(self, instance: int, point: Point, statement: Statement) -> None:
        self._rows.remove(point, instance, statement.validity)
        if statement.validity != ALWAYS or instance not in self._stated_at(point):
            return
        name = point[0]
        self._own_stated(point).discard(instance)
        self._changed(name)
        if name not in self._taxonomic:
            return
        kept = {
            up
            for value in self._values(name)
            if instance in self._stated_at((name, value))
            for up in self._up((name, value))
        }
        for up in self._up(point):
            if up not in kept:
                self._own_below(up).discard(instance)

    # ---- what is asked

    def answers(
        self,
        constraints: Iterable[Constraint | Range],
        *,
        view: View = EVERYTHING,
        union: bool = False,
    ) -> Answers:
        """Give all instances that satisfy every constraint, or with `union` one; of none: all.

        Of a range only what certainly lies in it counts: see `perhaps`.
        """
        extents = [self._extent(item, view) for item in dict.fromkeys(constraints)]
        return self._combined(extents, union=union)

    def perhaps(
        self,
        constraints: Iterable[Constraint | Range],
        *,
        view: View = EVERYTHING,
        union: bool = False,
    ) -> Answers:
        """Give all instances that do not certainly fail a range, among them the certain answers."""
        extents = [self._extent(item, view, possible=True) for item in dict.fromkeys(constraints)]
        return self._combined(extents, union=union)

    def meet(
        self, constraints: Iterable[Constraint | Range], *, valid_on: datetime.date | None = None
    ) -> tuple[str, ...]:
        """Names of all instances that satisfy every constraint, sorted; of none: all instances.

        With `valid_on` only statements that hold on that day count, without it all do.
        """
        return tuple(self.answers(constraints, view=View(valid_on)))

    def count(
        self, constraints: Iterable[Constraint | Range], *, valid_on: datetime.date | None = None
    ) -> int:
        """How many instances `meet` would name."""
        return len(self.answers(constraints, view=View(valid_on)))

    def conflicts(self, constraints: Iterable[Constraint | Range]) -> tuple[Conflict, ...]:
        """Pairs of constraints that no instance can satisfy together; an empty meet is no conflict.

        Sorted by dimension and the labels of the values.
        """
        wanted = sorted(set(constraints), key=lambda item: (item.dimension, label_of(item)))
        found: list[Conflict] = []
        for place, left in enumerate(wanted):
            dimension = self.dimension(left.dimension)
            for right in wanted[place + 1 :]:
                if dimension is None or right.dimension != left.dimension:
                    continue
                reason = exclusion(dimension, left, right)
                if reason is not None:
                    sides = (asked_for(left), asked_for(right))
                    found.append(Conflict(left.dimension, *sides, reason))
        return tuple(found)

    def excluding(
        self, asked: Constraint | Range, *, view: View = EVERYTHING
    ) -> tuple[tuple[Value, str, Answers], ...]:
        """Give the values stated that nothing with them can satisfy, why, and who has them.

        Looks at every value of the dimension; sorted by label.
        """
        dimension = self.dimension(asked.dimension)
        found: list[tuple[Value, str, Answers]] = []
        for value in self._values(asked.dimension) if dimension else ():
            assert dimension is not None
            reason = exclusion(dimension, asked, Constraint(asked.dimension, value))
            if reason is not None:
                point = (asked.dimension, value)
                holders = self._stated_at(point) | self._rows.at([point], view)
                found.append((value, reason, Answers(self._names, holders)))
        return tuple(sorted(found, key=lambda item: value_label(item[0])))

    def coordinate(
        self, instance: str, *, valid_on: datetime.date | None = None
    ) -> Mapping[str, tuple[Value, ...]]:
        """Per dimension the most special values of an instance: an antichain, sorted by label.

        Looks at every value of every dimension.
        """
        number = self._names.find(instance)
        result: dict[str, tuple[Value, ...]] = {}
        if number is None:
            return result
        for name in sorted(self._dimension_names()):
            values = {
                value
                for value in self._values(name)
                if number in self._stated_at((name, value))
                or number in self._rows.at([(name, value)], View(valid_on))
            }
            above = {up for value in values for _, up in self._up((name, value)) if up != value}
            if values:
                result[name] = tuple(sorted(values - above, key=value_label))
        return result

    def values(self, dimension: str) -> tuple[tuple[Value, int], ...]:
        """Values with instances at or below them, at any time, and how many; sorted by label."""
        points = {up for value in self._values(dimension) for up in self._up((dimension, value))}
        counted = ((point[1], len(self._at_or_below(point, EVERYTHING))) for point in points)
        return tuple(
            sorted((item for item in counted if item[1]), key=lambda item: value_label(item[0]))
        )

    def dimension(self, name: str) -> Dimension | None:
        """Give the definition of a dimension, if it has one."""
        if name not in self._dimensions:
            form = self._forms.get(name)
            self._dimensions[name] = dimension_from_json(json.loads(form)) if form else None
        return self._dimensions[name]

    # ---- extents

    def _combined(self, extents: list[BitMap], *, union: bool) -> Answers:
        if not extents:
            return Answers(self._names, self._present())
        if union:
            return Answers(self._names, BitMap.union(*extents))
        return Answers(self._names, BitMap.intersection(*sorted(extents, key=len)))

    def _extent(self, asked: Constraint | Range, view: View, *, possible: bool = False) -> BitMap:
        wanted = range_of(asked)
        if wanted is None:
            assert isinstance(asked, Constraint)
            return self._at_or_below((asked.dimension, asked.value), view)
        name = wanted.dimension
        ordered = self._ordered.get(name)
        if ordered is None:
            values = (value for value in self._values(name) if isinstance(value, Comparable))
            ordered = self._ordered[name] = OrderedValues(values)
        if possible:
            perhaps = ordered.possible(wanted)
            return _union(self._at_or_below((name, value), view) for value in perhaps)
        run = ordered.certain(wanted)
        blocks = [self._block(name, number, block) for number, block in run.blocks]
        singles = [self._below_at((name, value)) for value in run.values]
        if self._rows.has(name):
            found = [*run.values, *(v for place in run.blocks for v in ordered.block(*place))]
            singles.append(self._rows.at([(name, value) for value in found], view))
        return _union([*blocks, *singles])

    def _block(self, name: str, number: int, block: int) -> BitMap:
        """Give the plain instances of neighbouring values of an ordered dimension."""
        known = self._blocks.setdefault(name, {})
        if (number, block) not in known:
            values = self._ordered[name].block(number, block)
            known[number, block] = _union(self._below_at((name, value)) for value in values)
        return known[number, block]

    def _at_or_below(self, point: Point, view: View) -> BitMap:
        plain = self._below_at(point)
        if not self._rows.has(point[0]):
            return plain
        lower = [point]
        dimension = self.dimension(point[0])
        taxonomy = dimension.taxonomy if dimension else None
        if taxonomy and isinstance(point[1], TaxonClass) and point[1].label in taxonomy:
            lower = [(point[0], TaxonClass(c)) for c in taxonomy.descendants(point[1].label)]
        return plain | self._rows.at(lower, view)

    def _below_at(self, point: Point) -> BitMap:
        """What lies plainly at or below a point: for reading only."""
        if point[0] not in self._taxonomic:
            return self._stated_at(point)
        found = self._below.get(point)
        if found is None:
            place = None if point[0] in self._placed_anew else self._place(point)
            if place is None:
                return _NONE
            assert self._base is not None
            found = self._below[point] = self._base.below(place)
        return found

    def _stated_at(self, point: Point) -> BitMap:
        """What is plainly stated at a point: for reading only."""
        found = self._stated.get(point)
        if found is None:
            place = self._place(point)
            if place is None:
                return _NONE
            assert self._base is not None
            found = self._stated[point] = self._base.stated(place)
        return found

    def _own_stated(self, point: Point) -> BitMap:
        self._stated_at(point)
        return self._stated.setdefault(point, BitMap())

    def _own_below(self, point: Point) -> BitMap:
        if point[0] not in self._taxonomic:
            return self._own_stated(point)
        self._below_at(point)
        return self._below.setdefault(point, BitMap())

    def _present(self) -> BitMap:
        """Everyone of whom something is stated; looks again where something was withdrawn."""
        for number in sorted(self._perhaps_gone):
            points = ((name, v) for name in self._dimension_names() for v in self._values(name))
            if not any(
                number in self._stated_at(point) or number in self._rows.at([point], EVERYTHING)
                for point in points
            ):
                self._everyone.discard(number)
        self._perhaps_gone.clear()
        return self._everyone.copy()

    # ---- points

    def _place(self, point: Point) -> int | None:
        return None if self._base is None else self._base.points.find(point_key(*point))

    def _is_known(self, point: Point) -> bool:
        return point[1] in self._fresh.get(point[0], ()) or self._place(point) is not None

    def _values(self, name: str) -> Iterator[Value]:
        """Values of a dimension that may be stated of somebody."""
        if self._base is not None:
            for place in self._base.points.beginning_with(dimension_prefix(name)):
                yield point_of(self._base.points[place])[1]
        yield from tuple(self._fresh.get(name, ()))

    def _dimension_names(self) -> Collection[str]:
        names = set(self._fresh)
        if self._base is not None:
            names.update(self._base.dimensions())
        return names

    def _up(self, point: Point) -> tuple[Point, ...]:
        """The points at or above a point."""
        ups = self._ups.get(point)
        if ups is None:
            name, value = point
            dimension = self.dimension(name)
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

    def _changed(self, name: str, *, new_value: bool = False) -> None:
        """Forget what was computed of an ordered dimension."""
        self._blocks.pop(name, None)
        if new_value:
            self._ordered.pop(name, None)


def is_plain(statement: Statement) -> bool:
    """Whether a statement places its subject: it is affirmed and asserted."""
    return (statement.polarity, statement.modality) == (Polarity.AFFIRMED, Modality.ASSERTED)


def _union(extents: Iterable[BitMap]) -> BitMap:
    found = list(extents)
    return BitMap.union(*found) if found else BitMap()
