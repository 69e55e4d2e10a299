"""Finite partially ordered sets: order, meet and join by bitsets.

An element is a label. `a <= b` reads "a is a kind of b". Elements are kept in sorted order and the
order is kept as its covering pairs, so two posets with the same order are equal however they were
written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from .errors import DimensionRejected, NotFound


@dataclass(frozen=True, slots=True)
class Poset:
    """A partial order over labels.

    `elements` are sorted; `covers` are the sorted pairs (lower, upper) with nothing in between.
    Make one with `poset`. `below[i]` and `above[i]` are the elements at or below and at or above
    `elements[i]`, as bitsets whose bit k stands for `elements[k]`; memory is quadratic in bits.
    """

    elements: tuple[str, ...]
    covers: tuple[tuple[str, str], ...]
    _index: Mapping[str, int] = field(init=False, repr=False, compare=False)
    _upper: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    _lower: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    below: tuple[int, ...] = field(init=False, repr=False, compare=False)
    above: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if list(self.elements) != sorted(set(self.elements)):
            raise DimensionRejected("the elements of a poset must be sorted and distinct")
        index = {element: place for place, element in enumerate(self.elements)}
        upper: list[list[int]] = [[] for _ in self.elements]
        lower: list[list[int]] = [[] for _ in self.elements]
        for low, high in self.covers:
            if low not in index or high not in index:
                raise DimensionRejected(f"the pair {low!r} < {high!r} names no element")
            upper[index[low]].append(index[high])
            lower[index[high]].append(index[low])
        order = _upwards(upper, lower)
        if len(order) < len(self.elements):
            raise DimensionRejected(
                "a poset has no cycle; this order has one through "
                + ", ".join(repr(self.elements[i]) for i in _left_over(order, len(index)))
            )
        below = [1 << i for i in range(len(order))]
        above = [1 << i for i in range(len(order))]
        for i in order:
            for low_index in lower[i]:
                below[i] |= below[low_index]
        for i in reversed(order):
            for high_index in upper[i]:
                above[i] |= above[high_index]
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "_upper", tuple(map(tuple, map(sorted, upper))))
        object.__setattr__(self, "_lower", tuple(map(tuple, map(sorted, lower))))
        object.__setattr__(self, "below", tuple(below))
        object.__setattr__(self, "above", tuple(above))
        if list(self.covers) != sorted(set(self.covers)) or any(
            (below[index[high]] & above[index[low]]).bit_count() != 2 for low, high in self.covers
        ):
            raise DimensionRejected("covers must be sorted, distinct and without implied pairs")

    def __contains__(self, element: object) -> bool:
        return element in self._index

    def __len__(self) -> int:
        return len(self.elements)

    def leq(self, low: str, high: str) -> bool:
        """Whether `low <= high`; constant time but for the shift.

        Raises NotFound for an unknown element.
        """
        return bool(self.below[self._place(high)] >> self._place(low) & 1)

    def descendants(self, element: str) -> tuple[str, ...]:
        """Everything at or below `element`, sorted."""
        return self._labels(self.below[self._place(element)])

    def ancestors(self, element: str) -> tuple[str, ...]:
        """Everything at or above `element`, sorted."""
        return self._labels(self.above[self._place(element)])

    def children(self, element: str) -> tuple[str, ...]:
        """The elements that `element` covers, sorted."""
        return tuple(self.elements[i] for i in self._lower[self._place(element)])

    def parents(self, element: str) -> tuple[str, ...]:
        """The elements that cover `element`, sorted."""
        return tuple(self.elements[i] for i in self._upper[self._place(element)])

    def maximal(self, elements: Iterable[str] | None = None) -> tuple[str, ...]:
        """The maximal ones of `elements` (default: of all), sorted."""
        return self._labels(self._maximal_bits(self._bits(elements)))

    def minimal(self, elements: Iterable[str] | None = None) -> tuple[str, ...]:
        """The minimal ones of `elements` (default: of all), sorted."""
        return self._labels(self._minimal_bits(self._bits(elements)))

    def meet(self, elements: Iterable[str]) -> tuple[str, ...]:
        """The maximal common descendants of `elements`, sorted; of none: the maximal elements.

        One element where the meet exists, several where the order is ambiguous, none where nothing
        lies below all.
        """
        common = self._all
        for element in elements:
            common &= self.below[self._place(element)]
        return self._labels(self._maximal_bits(common))

    def join(self, elements: Iterable[str]) -> tuple[str, ...]:
        """The minimal common ancestors of `elements`, sorted; of none: the minimal elements."""
        common = self._all
        for element in elements:
            common &= self.above[self._place(element)]
        return self._labels(self._minimal_bits(common))

    def is_antichain(self, elements: Iterable[str]) -> bool:
        """Whether no two different ones of `elements` are comparable."""
        bits = self._bits(elements)
        return all(self.below[i] & bits == 1 << i for i in places(bits))

    def path(self, low: str, high: str) -> tuple[str, ...]:
        """A shortest chain of covers from `low` up to `high`, both included; () unless low <= high.

        Of several the lexicographically first.
        """
        if not self.leq(low, high):
            return ()
        paths: dict[str, tuple[str, ...]] = {low: (low,)}
        frontier = [low]
        while high not in paths:
            fresh: dict[str, tuple[str, ...]] = {}
            for element in frontier:
                for above in self.parents(element):
                    path = (*paths[element], above)
                    if above not in paths and (above not in fresh or path < fresh[above]):
                        fresh[above] = path
            paths |= fresh
            frontier = sorted(fresh)
        return paths[high]

    def ambiguous_pairs(self) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """Pairs with several maximal common descendants, with these; sorted.

        Looks only at elements with several parents: a tree costs nothing.
        """
        meets: dict[tuple[int, int], int] = {}
        for place, uppers in enumerate(self._upper):
            if len(uppers) < 2:
                continue
            marks: list[tuple[int, int]] = []
            for above in places(self.above[place] & ~(1 << place)):
                mark = sum(1 << k for k, p in enumerate(uppers) if self.below[above] >> p & 1)
                marks.append((above, mark))
            for i, (left, left_mark) in enumerate(marks):
                for right, right_mark in marks[i + 1 :]:
                    if not left_mark & right_mark:
                        meets[left, right] = meets.get((left, right), 0) | 1 << place
        return tuple(
            (self.elements[left], self.elements[right], self._labels(bits))
            for (left, right), bits in sorted(meets.items())
            if bits.bit_count() > 1
        )

    @property
    def _all(self) -> int:
        return (1 << len(self.elements)) - 1

    def _place(self, element: str) -> int:
        place = self._index.get(element)
        if place is None:
            near = get_close_matches(element, self.elements, 1)
            hint = f"; the nearest is {near[0]!r}" if near else ""
            raise NotFound(f"{element!r} is no element of this order{hint}")
        return place

    def _bits(self, elements: Iterable[str] | None) -> int:
        if elements is None:
            return self._all
        bits = 0
        for element in elements:
            bits |= 1 << self._place(element)
        return bits

    def _labels(self, bits: int) -> tuple[str, ...]:
        return tuple(self.elements[i] for i in places(bits))

    def _maximal_bits(self, bits: int) -> int:
        return sum(1 << i for i in places(bits) if self.above[i] & bits == 1 << i)

    def _minimal_bits(self, bits: int) -> int:
        return sum(1 << i for i in places(bits) if self.below[i] & bits == 1 << i)


def poset(pairs: Iterable[tuple[str, str]], elements: Iterable[str] = ()) -> Poset:
    """Make the smallest order in which `low <= high` for each pair (low, high).

    `elements` adds isolated ones. Implied and reflexive pairs are dropped. Raises DimensionRejected
    for a cycle, naming its elements.

    >>> kinds = poset([("liability", "insurance"), ("marine", "insurance")])
    >>> kinds.join(["liability", "marine"])
    ('insurance',)
    """
    given = {(low, high) for low, high in pairs if low != high}
    labels = sorted({label for pair in given for label in pair} | set(elements))
    index = {label: i for i, label in enumerate(labels)}
    upper: list[list[int]] = [[] for _ in labels]
    lower: list[list[int]] = [[] for _ in labels]
    for low, high in given:
        upper[index[low]].append(index[high])
        lower[index[high]].append(index[low])
    order = _upwards(upper, lower)
    if len(order) < len(labels):
        cycle = ", ".join(repr(labels[i]) for i in _left_over(order, len(labels)))
        raise DimensionRejected(f"the order has a cycle through {cycle}; expected none")
    above = [1 << i for i in range(len(labels))]
    covers: list[tuple[str, str]] = []
    for i in reversed(order):
        reached = 0
        for high_index in upper[i]:
            reached |= above[high_index] & ~(1 << high_index)
        for high_index in upper[i]:
            above[i] |= above[high_index]
            if not reached >> high_index & 1:
                covers.append((labels[i], labels[high_index]))
    return Poset(tuple(labels), tuple(sorted(covers)))


def cycles(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Groups of two or more elements that lie on common cycles; each sorted, and sorted.

    Source: Tarjan, Depth-first search and linear graph algorithms (1972), without recursion.
    """
    upper: dict[str, list[str]] = {}
    for low, high in sorted(set(pairs)):
        if low != high:
            upper.setdefault(low, []).append(high)
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    height: dict[str, int] = {}
    groups: list[tuple[str, ...]] = []
    for start in sorted(upper):
        if start in number:
            continue
        work: list[tuple[str, Iterator[str]]] = [(start, iter(upper[start]))]
        number[start] = lowest[start] = len(number)
        height[start] = len(stack)
        stack.append(start)
        while work:
            element, rest = work[-1]
            for above in rest:
                if above not in number:
                    number[above] = lowest[above] = len(number)
                    height[above] = len(stack)
                    stack.append(above)
                    work.append((above, iter(upper.get(above, ()))))
                    break
                if above in height:
                    lowest[element] = min(lowest[element], number[above])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[element])
                if lowest[element] == number[element]:
                    cut = height[element]
                    if len(stack) - cut > 1:
                        groups.append(tuple(sorted(stack[cut:])))
                    for member in stack[cut:]:
                        del height[member]
                    del stack[cut:]
    return tuple(sorted(groups))


def _upwards(upper: Sequence[Sequence[int]], lower: Sequence[Sequence[int]]) -> list[int]:
    """Places in an order that has the lower first; those on or above a cycle are left out."""
    waiting = [len(below) for below in lower]
    order = [i for i, count in enumerate(waiting) if not count]
    for i in order:
        for above in upper[i]:
            waiting[above] -= 1
            if not waiting[above]:
                order.append(above)
    return order


def _left_over(order: Iterable[int], count: int) -> list[int]:
    return sorted(set(range(count)) - set(order))


def places(bits: int) -> Iterator[int]:
    """The places of the bits that are set, lowest first."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
