"""Width of an order: its largest antichain, with the chains that prove there is none larger."""

from __future__ import annotations

from dataclasses import dataclass

from .poset import Poset, places


@dataclass(frozen=True, slots=True)
class Width:
    """A largest antichain, sorted, and as many chains that cover the order.

    Each chain runs upwards; chains are sorted. That both have the same number proves both best.
    """

    antichain: tuple[str, ...]
    chains: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        """The number of elements of the antichain."""
        return len(self.antichain)


def width(order: Poset) -> Width:
    """Measure an order by a maximum matching of elements to strictly greater ones.

    Source: Dilworth, A decomposition theorem for partially ordered sets (1950), by Fulkerson's
    reduction to matching; the antichain by König's theorem. Augmenting paths are found breadth
    first, so the time is cubic at worst.
    """
    count = len(order)
    above = [order.above[i] & ~(1 << i) for i in range(count)]
    next_of: list[int | None] = [None] * count
    previous_of: list[int | None] = [None] * count
    for start in range(count):
        _augment(start, above, next_of, previous_of)
    reached_left = sum(1 << i for i in range(count) if next_of[i] is None)
    reached_right = 0
    frontier = reached_left
    while frontier:
        fresh = 0
        for left in places(frontier):
            fresh |= above[left]
        fresh &= ~reached_right
        reached_right |= fresh
        frontier = 0
        for right in places(fresh):
            owner = previous_of[right]
            if owner is not None:
                frontier |= 1 << owner
        frontier &= ~reached_left
        reached_left |= frontier
    antichain = tuple(order.elements[i] for i in places(reached_left & ~reached_right))
    chains: list[tuple[str, ...]] = []
    for start in range(count):
        if previous_of[start] is None:
            chain: list[str] = []
            place: int | None = start
            while place is not None:
                chain.append(order.elements[place])
                place = next_of[place]
            chains.append(tuple(chain))
    return Width(antichain, tuple(sorted(chains)))


def _augment(
    start: int, above: list[int], next_of: list[int | None], previous_of: list[int | None]
) -> None:
    """Match `start` too, if an augmenting path begins there."""
    unseen = ~0
    came_from: dict[int, int] = {}
    queue = [start]
    for left in queue:
        for right in places(above[left] & unseen):
            unseen &= ~(1 << right)
            came_from[right] = left
            owner = previous_of[right]
            if owner is not None:
                queue.append(owner)
                continue
            while True:
                left = came_from[right]
                freed = next_of[left]
                next_of[left], previous_of[right] = right, left
                if freed is None:
                    return
                right = freed
