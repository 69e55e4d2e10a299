"""Clauses of one predicate, found by the first argument of a call."""

from __future__ import annotations

from collections.abc import Sequence

from .atom import Atom, Constant, Variable
from .clause import Clause


class Heads:
    """The clauses of one predicate, by the constant that their heads begin with.

    A policy written out over single atoms has thousands of clauses of one predicate, of which a
    call meets a few.
    """

    __slots__ = ("_by_first", "_clauses", "_others")

    def __init__(self, clauses: Sequence[Clause]) -> None:
        self._clauses = clauses
        self._by_first: dict[Constant, list[int]] = {}
        self._others: list[int] = []
        for place, clause in enumerate(clauses):
            arguments = clause.head.arguments
            if arguments and not isinstance(arguments[0], Variable):
                self._by_first.setdefault(arguments[0], []).append(place)
            else:
                self._others.append(place)

    def meeting(self, pattern: Atom) -> Sequence[Clause]:
        """Give the clauses whose heads may unify with a call, in order."""
        if not pattern.arguments or isinstance(pattern.arguments[0], Variable):
            return self._clauses
        places = self._by_first.get(pattern.arguments[0], [])
        if self._others:
            places = sorted([*places, *self._others])
        return [self._clauses[place] for place in places]
