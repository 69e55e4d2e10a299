"""Sequences that are made when they are first read: as a whole, or item by item."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

Item = TypeVar("Item", covariant=True)


class Deferred(Sequence[Item]):
    """A sequence that is equal to any sequence of equal items."""

    __slots__ = ()

    @abstractmethod
    def all(self) -> tuple[Item, ...]:
        """Give every item."""

    def __len__(self) -> int:
        return len(self.all())

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, place: int | slice) -> Item | tuple[Item, ...]:
        return self.all()[place]

    def __iter__(self) -> Iterator[Item]:
        return iter(self.all())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Deferred, tuple)):
            return NotImplemented
        return self is other or self.all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self.all())

    def __repr__(self) -> str:
        return repr(self.all())


class Later(Deferred[Item]):
    """A sequence that `make` gives when it is first read.

    >>> numbers = Later(lambda: (1, 2))
    >>> len(numbers), list(numbers), numbers == (1, 2)
    (2, [1, 2], True)
    """

    __slots__ = ("_items", "_make")

    def __init__(self, make: Callable[[], tuple[Item, ...]]) -> None:
        self._make: Callable[[], tuple[Item, ...]] | None = make
        self._items: tuple[Item, ...] = ()

    def all(self) -> tuple[Item, ...]:
        """Give every item."""
        if self._make is not None:
            self._items, self._make = self._make(), None
        return self._items


class Each(Deferred[Item]):
    """A sequence of `count` items, of which `make` gives that at a place when it is first read.

    >>> squares = Each(1_000, lambda place: place * place)
    >>> len(squares), squares[7], squares[-1], squares[:3]
    (1000, 49, 998001, (0, 1, 4))
    """

    __slots__ = ("_made", "_make", "_places")

    def __init__(self, count: int, make: Callable[[int], Item]) -> None:
        self._places = range(count)
        self._make = make
        self._made: dict[int, Item] = {}

    def all(self) -> tuple[Item, ...]:
        """Give every item."""
        return tuple(map(self.__getitem__, self._places))

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, place: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(place, slice):
            return tuple(map(self.__getitem__, self._places[place]))
        at = self._places[place]
        if at not in self._made:
            self._made[at] = self._make(at)
        return self._made[at]
