"""Complete answer sets: how many and who, named only where somebody looks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pyroaring import BitMap

from .string_table import StringTable


class Names:
    """Names of instances by number; those of a table first, numbered in order of name."""

    def __init__(self, table: StringTable | None = None) -> None:
        self._table = table
        self.first_fresh = len(table) if table else 0
        self._fresh: list[str] = []
        self._numbers: dict[str, int] = {}

    def __getitem__(self, number: int) -> str:
        if self._table is not None and number < self.first_fresh:
            return self._table[number]
        return self._fresh[number - self.first_fresh]

    def find(self, name: str) -> int | None:
        """Give the number of a name; None for an unknown one."""
        number = self._numbers.get(name)
        if number is None and self._table is not None:
            number = self._table.find(name)
        return number

    def number(self, name: str) -> int:
        """Give the number of a name, a new one if it has none."""
        found = self.find(name)
        if found is None:
            found = self._numbers[name] = self.first_fresh + len(self._fresh)
            self._fresh.append(name)
        return found


class Answers:
    """All instances that satisfy what was asked; iterates by name. Later changes do not show."""

    def __init__(self, names: Names, numbers: BitMap) -> None:
        self._names = names
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, name: object) -> bool:
        number = self._names.find(name) if isinstance(name, str) else None
        return number is not None and number in self._numbers

    def __iter__(self) -> Iterator[str]:
        names = self._names
        largest = self._numbers.max() if self._numbers else 0
        if largest < names.first_fresh:
            return (names[number] for number in self._numbers)
        return iter(sorted(names[number] for number in self._numbers))

    def page(self, count: int, *, after: str = "") -> tuple[str, ...]:
        """Give the first names in order after a name."""
        return tuple(islice((name for name in self if name > after), count))

    def __sub__(self, other: Answers) -> Answers:
        """Those that are not among the others, of the same index."""
        return Answers(self._names, self._numbers - other._numbers)

    def __and__(self, other: Answers) -> Answers:
        """Those that are among the others, too, of the same index."""
        return Answers(self._names, self._numbers & other._numbers)
