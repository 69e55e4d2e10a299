"""Constants by id and ids by constant."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .atom import Atom, Constant


class Terms:
    """A table of constants that only grows; several threads may use it.

    Equal constants have one id, for as long as the table lives, whoever brings them. `strange`
    counts those that did not come with facts that are kept, about.
    """

    __slots__ = ("_ids", "_kept", "_lock", "_values")

    def __init__(self) -> None:
        self._ids: dict[Constant, int] = {}
        self._values: list[Constant] = []
        self._kept = 0
        self._lock = threading.Lock()

    @property
    def strange(self) -> int:
        """About how many constants came from evaluations and their requests."""
        return len(self._values) - self._kept

    @contextmanager
    def kept(self) -> Iterator[Callable[[Constant], int]]:
        """Give `intern` for facts that are kept."""
        before = len(self._values)
        yield self.intern
        self._kept += len(self._values) - before

    def intern(self, value: Constant) -> int:
        """Give the id of a constant, adding it if it is new."""
        number = self._ids.get(value)
        if number is None:
            with self._lock:
                number = self._ids.get(value)
                if number is None:
                    number = len(self._values)
                    # An id that others can find must have its value.
                    self._values.append(value)
                    self._ids[value] = number
        return number

    def number(self, value: Constant) -> int | None:
        """Give the id of a constant, None where the table does not hold it."""
        return self._ids.get(value)

    def value(self, number: int) -> Constant:
        """Give the constant of an id."""
        return self._values[number]

    def atom(self, signature: tuple[str, int], row: tuple[int, ...]) -> Atom:
        """Give the atom of a row."""
        name, values = signature[0], self._values
        negated = name[0] == "-"
        arguments = tuple([values[number] for number in row])
        return Atom(name[1:] if negated else name, arguments, negated)
