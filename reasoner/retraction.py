"""Statements that a request leaves out, and the rows of a predicate without them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .atom import Atom
from .relation import Key, Lookup, Positions, Relation, Row, Stating


@dataclass(frozen=True, slots=True)
class Retraction:
    """A statement that does not count for one request; `atom` is what it states, ground."""

    statement: str
    atom: Atom


class ReducedRelation(Relation):
    """A relation without some of what states its rows; the relation itself is not touched.

    `left` gives, for each row that loses something, what still states it. A row that nothing states
    any more is gone. Indexes are those of the relation.
    """

    __slots__ = ("_left", "_relation", "_whole")

    def __init__(self, relation: Relation, left: Mapping[Row, tuple[Stating, ...]]) -> None:
        super().__init__(relation.arity)
        self._relation = relation
        self._left = dict(left)
        self._whole: dict[Row, tuple[Stating, ...]] | None = None

    @property
    def rows(self) -> dict[Row, tuple[Stating, ...]]:
        """Every row that is left with what states it, by leaf."""
        if self._whole is None:
            left = self._left
            together = ((row, left.get(row, at)) for row, at in self._relation.rows.items())
            self._whole = {row: statings for row, statings in together if statings}
        return self._whole

    def lookup(self, positions: Positions, day: datetime.date | None) -> Lookup:
        """Give the function from a key to the rows that are left and visible on `day`."""
        look, left = self._relation.lookup(positions, day), self._left

        def visible(key: Key) -> Sequence[Row]:
            rows = look(key)
            if not any(row in left for row in rows):
                return rows
            return [row for row in rows if row not in left or _is_visible(left[row], day)]

        return visible


def _is_visible(statings: Sequence[Stating], day: datetime.date | None) -> bool:
    return any(day is None or validity.holds_on(day) for _, validity in statings)
