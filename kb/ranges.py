"""The values of one dimension in order, so that those in a range are found by bisection."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from .constraint import Range, Test
from .quantity import Comparable, Date, Quantity, Truth, compare, in_unit

Number = int | Fraction

BLOCK = 128
"""How many neighbouring values a `Run` says to take together."""


@dataclass(frozen=True, slots=True)
class Run:
    """Values in a range: single ones, and blocks of neighbours, by group and number."""

    values: tuple[Comparable, ...]
    blocks: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class _Group:
    """Values that compare with each other; each is a closed interval of numbers, mostly a point.

    Numbers are on the scale of `like`, one of the values.
    """

    like: Comparable
    values: list[Comparable] = field(default_factory=list)
    lows: list[Number] = field(default_factory=list)
    highs: list[Number] = field(default_factory=list)
    exact: bool = True


class OrderedValues:
    """Distinct values of one dimension, grouped by what compares, sorted within each group."""

    def __init__(self, values: Iterable[Comparable]) -> None:
        grouped: list[list[Comparable]] = []
        known: dict[object, list[Comparable]] = {}
        for value in values:
            kind: object = value.unit if isinstance(value, Quantity) else type(value)
            group = known.get(kind)
            if group is None:
                group = next((g for g in grouped if _interval(value, g[0]) is not None), None)
                if group is None:
                    group = []
                    grouped.append(group)
                known[kind] = group
            group.append(value)
        self._groups = [_sorted_group(group) for group in grouped]

    def certain(self, wanted: Range) -> Run:
        """Find the values that lie in a range."""
        values: list[Comparable] = []
        blocks: list[tuple[int, int]] = []
        for number, group in enumerate(self._groups):
            bounds = [_certain_bound(group, t) for test in wanted.tests for t in _bounds(test)]
            start, end = 0, len(group.values)
            least_high: Number | None = None
            strict = False
            for bound in bounds:
                if bound is None:
                    end = 0
                    break
                operator, limit = bound
                if operator == ">=":
                    start = max(start, bisect_left(group.lows, limit))
                elif operator == ">":
                    start = max(start, bisect_right(group.lows, limit))
                else:
                    find = bisect_left if operator == "<" else bisect_right
                    end = min(end, find(group.lows, limit))
                    if least_high is None or (limit, operator != "<") < (least_high, not strict):
                        least_high, strict = limit, operator == "<"
            if not group.exact:
                values += (
                    group.values[i]
                    for i in range(start, end)
                    if least_high is None
                    or (group.highs[i] < least_high if strict else group.highs[i] <= least_high)
                )
                continue
            first, last = -(-start // BLOCK), end // BLOCK
            if first < last:
                values += group.values[start : first * BLOCK]
                blocks += ((number, block) for block in range(first, last))
                values += group.values[last * BLOCK : end]
            else:
                values += group.values[start:end]
        return Run(tuple(values), tuple(blocks))

    def block(self, number: int, block: int) -> list[Comparable]:
        """Give the values of a block."""
        return self._groups[number].values[block * BLOCK : (block + 1) * BLOCK]

    def possible(self, wanted: Range) -> tuple[Comparable, ...]:
        """Find the values that do not certainly lie outside a range; looks at every value."""
        return tuple(
            value
            for group in self._groups
            for value in group.values
            if wanted.truth(value) is not Truth.FALSE
        )


def _sorted_group(values: list[Comparable]) -> _Group:
    like = values[0]
    placed = []
    for value in values:
        interval = _interval(value, like)
        assert interval is not None
        placed.append((*interval, str(value), value))
    placed.sort(key=lambda item: item[:3])
    return _Group(
        like,
        [value for *_, value in placed],
        [low for low, *_ in placed],
        [high for _, high, *_ in placed],
        all(low == high for low, high, *_ in placed),
    )


def _interval(value: Comparable, like: Comparable) -> tuple[Number, Number] | None:
    """Give what a value may be, as numbers on the scale of another; None if they do not compare."""
    if isinstance(value, Date):
        if not isinstance(like, Date):
            return None
        return value.first.toordinal(), value.last.toordinal()
    if isinstance(value, Quantity):
        converted = in_unit(value, like.unit) if isinstance(like, Quantity) else None
        return None if converted is None else _point(converted.magnitude)
    return _point(value) if isinstance(like, Fraction) else None


def _point(number: Fraction) -> tuple[Number, Number]:
    exact: Number = number.numerator if number.denominator == 1 else number
    return exact, exact


def _bounds(test: Test) -> tuple[Test, ...]:
    """Write `=` as the two bounds it is where it can be true at all: of a point."""
    operator, bound = test
    if operator == "=" and compare("=", bound, bound) is Truth.TRUE:
        return ("<=", bound), (">=", bound)
    return (test,)


def _certain_bound(group: _Group, test: Test) -> tuple[str, Number] | None:
    """Say what makes a test true: a number that the value lies above or below; None: nothing."""
    operator, bound = test
    interval = _interval(bound, group.like)
    if interval is None or operator == "=":
        return None
    low, high = interval
    return operator, low if operator in ("<", "<=") else high
