"""Sequences that are made when they are first read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

Item = TypeVar("Item", covariant=True)


class Later(Sequence[Item]):
    """A sequence that `make` gives when it is first read; equal to any sequence of equal items.

    >>> numbers = Later(lambda: (1, 2))
    >>> len(numbers), list(numbers), numbers == (1, 2)
    (2, [1, 2], True)
    """

    __slots__ = ("_items", "_make")

    def __init__(self, make: Callable[[], tuple[Item, ...]]) -> None:
        self._make: Callable[[], tuple[Item, ...]] | None = make
        self._items: tuple[Item, ...] = ()

    def _all(self) -> tuple[Item, ...]:
        if self._make is not None:
            self._items, self._make = self._make(), None
        return self._items

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Item]:
        return iter(self._all())

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, place: int | slice) -> Item | tuple[Item, ...]:
        return self._all()[place]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Later, tuple)):
            return NotImplemented
        return self is other or self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())
