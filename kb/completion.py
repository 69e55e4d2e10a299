"""Completing an order to a lattice, and telling whether that lattice is distributive."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from .errors import DimensionRejected
from .poset import Poset, places, poset

MAX_CUTS = 20_000
"""Largest completion that is built; an order on n elements may need 2**n."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The smallest lattice that an order embeds into.

    `lattice` holds the elements of `order` under their labels, and the cuts between them that the
    order lacks, the `artificial` ones, labelled by the meet that they are, such as `a & b`;
    `bottom` is the artificial least element, if there is one.
    """

    order: Poset
    lattice: Poset
    artificial: tuple[str, ...]
    bottom: str | None


class Shape(Enum):
    """The two lattices that no distributive lattice contains."""

    M3 = "M3"
    N5 = "N5"


@dataclass(frozen=True, slots=True)
class Witness:
    """A sublattice that proves a lattice not distributive.

    M3: `middle` are three elements of which any two meet in `bottom` and join in `top`. N5: the
    first two of `middle` are lower < upper, and each with the third meets in `bottom` and joins in
    `top`.
    """

    shape: Shape
    bottom: str
    middle: tuple[str, str, str]
    top: str


def complete(order: Poset, *, limit: int = MAX_CUTS) -> Completion:
    """Give the Dedekind-MacNeille completion: sets that hold the lower bounds of their upper ones.

    Raises DimensionRejected past `limit` cuts. An order that is a lattice already comes back as it
    is. Source: Davey and Priestley, Introduction to Lattices and Order, 7.36-7.42.
    """
    everything = (1 << len(order)) - 1
    cuts = {everything}
    for down_set in order.below:
        cuts |= {cut & down_set for cut in cuts}
        if len(cuts) > limit:
            raise DimensionRejected(
                f"the completion of this order has more than {limit} cuts; expected fewer"
            )
    principal = {down_set: order.elements[i] for i, down_set in enumerate(order.below)}
    bottom = min(cuts, key=int.bit_count)
    names: dict[int, str] = {}
    for cut in cuts:
        if cut in principal:
            names[cut] = principal[cut]
            continue
        name = _cut_name(order, cut)
        while name in order:
            name += "'"
        names[cut] = name
    pairs = [
        (names[cut], names[above]) for cut in sorted(cuts) for above in _upper_covers(order, cut)
    ]
    artificial = sorted(name for cut, name in names.items() if cut not in principal)
    return Completion(
        order,
        poset(pairs, names.values()),
        tuple(artificial),
        None if bottom in principal else names[bottom],
    )


def distributivity_witness(completion: Completion) -> Witness | None:
    """Find an M3 or N5 in a completion; None if it is distributive.

    Sublattices that need the artificial bottom are ignored: with it every tree with three leaves
    would hold one. Quadratic for the test. Source: Birkhoff, Lattice Theory, ch. II: a finite
    lattice is distributive iff each join-irreducible j is prime, that is, iff the elements that j
    is not below have a greatest; the sublattices by Davey and Priestley, 4.10.
    """
    lattice = completion.lattice
    real = (1 << len(lattice)) - 1
    if completion.bottom is not None:
        real &= ~(1 << lattice.elements.index(completion.bottom))
    algebra = _Algebra(lattice)
    for low in places(real):
        if lattice.below[low] & real != 1 << low:
            continue
        triple = _violation(lattice, low)
        if triple is not None:
            return _witness(algebra, triple)
    return None


class _Algebra:
    """Meet and join of a lattice on places."""

    def __init__(self, lattice: Poset) -> None:
        self.lattice = lattice
        self._by_below = {bits: place for place, bits in enumerate(lattice.below)}
        self._by_above = {bits: place for place, bits in enumerate(lattice.above)}

    def meet(self, left: int, right: int) -> int:
        return self._by_below[self.lattice.below[left] & self.lattice.below[right]]

    def join(self, left: int, right: int) -> int:
        return self._by_above[self.lattice.above[left] & self.lattice.above[right]]

    def generated(self, generators: Iterable[int]) -> list[int]:
        """The sublattice that `generators` generate, sorted."""
        found = sorted(set(generators))
        known = set(found)
        for index, left in enumerate(found):
            for right in found[: index + 1]:
                for element in (self.meet(left, right), self.join(left, right)):
                    if element not in known:
                        known.add(element)
                        found.append(element)
        return sorted(found)


def _cut_name(order: Poset, cut: int) -> str:
    """What an artificial cut is the meet of; `top` or `bottom` where it is that."""
    uppers = (1 << len(order)) - 1
    for place in places(cut):
        uppers &= order.above[place]
    least = [order.elements[i] for i in places(uppers) if order.below[i] & uppers == 1 << i]
    if not cut:
        return "bottom"
    return " & ".join(least) if least else "top"


def _upper_covers(order: Poset, cut: int) -> list[int]:
    """The cuts right above a cut."""
    everything = (1 << len(order)) - 1
    uppers = everything
    for place in places(cut):
        uppers &= order.above[place]
    candidates: set[int] = set()
    for place in places(everything & ~cut):
        closed = everything
        for upper in places(uppers & order.above[place]):
            closed &= order.below[upper]
        candidates.add(closed)
    return [
        candidate
        for candidate in sorted(candidates)
        if not any(other != candidate and other & candidate == other for other in candidates)
    ]


def _violation(lattice: Poset, low: int) -> tuple[int, int, int] | None:
    """j, x, y above `low` where j <= x v y but below neither; None if there are none."""
    scope = lattice.above[low]
    for j in places(scope & ~(1 << low)):
        lower = lattice.below[j] & scope & ~(1 << j)
        if sum(1 for i in places(lower) if lattice.above[i] & lower == 1 << i) != 1:
            continue
        apart = scope & ~lattice.above[j]
        greatest = [i for i in places(apart) if lattice.above[i] & apart == 1 << i]
        if len(greatest) > 1:
            return j, greatest[0], greatest[1]
    return None


def _witness(algebra: _Algebra, triple: tuple[int, int, int]) -> Witness:
    """An N5 in the sublattice of three elements that do not distribute, else the M3 of them."""
    meet, join, lattice = algebra.meet, algebra.join, algebra.lattice
    inside = algebra.generated(triple)

    def made(shape: Shape, bottom: int, middle: tuple[int, int, int], top: int) -> Witness:
        a, b, c = (lattice.elements[i] for i in middle)
        return Witness(shape, lattice.elements[bottom], (a, b, c), lattice.elements[top])

    for third in inside:
        seen: dict[tuple[int, int], list[int]] = {}
        for element in inside:
            key = (meet(element, third), join(element, third))
            for other in seen.setdefault(key, []):
                if lattice.below[element] >> other & 1:
                    return made(Shape.N5, key[0], (other, element, third), key[1])
                if lattice.below[other] >> element & 1:
                    return made(Shape.N5, key[0], (element, other, third), key[1])
            seen[key].append(element)
    x, y, z = triple
    low = join(join(meet(x, y), meet(y, z)), meet(z, x))
    high = meet(meet(join(x, y), join(y, z)), join(z, x))
    a, b, c = sorted(join(meet(element, high), low) for element in triple)
    return made(Shape.M3, low, (a, b, c), high)
