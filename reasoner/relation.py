"""The rows of one predicate, and indexes over them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence

from kb.statement import ALWAYS, Validity

from .collection import paused_collection

SCANS = 3
"""How many look-ups read all rows before an index is built, which costs about ten of them."""

SCAN_FROM = 1_000
"""Number of rows from which this is worth it."""

Row = tuple[int, ...]
Key = int | Row
Positions = tuple[int, ...]
Lookup = Callable[[Key], Sequence[Row]]

Stating = tuple[str, Validity]
"""What states a row: a leaf, and when it holds."""

Read = Callable[[], Iterable[tuple[Row, Stating]]]
"""Gives rows with what states them, one such thing at a time."""


class Relation:
    """The rows of one signature, with indexes that are built when first asked for.

    Rows are in the order they came. A row is `bounded` if everything that states it is. Where there
    is something to `read`, that is done when rows are first asked for. A first goal over many rows
    reads them a few times instead of waiting for an index that later goals use.
    """

    __slots__ = ("_bounded", "_indexes", "_read", "_rows", "_scans", "arity")

    def __init__(self, arity: int, read: Read | None = None) -> None:
        self.arity = arity
        self._read = read
        self._rows: dict[Row, tuple[Stating, ...]] = {}
        self._bounded: dict[Row, tuple[Stating, ...]] = {}
        self._indexes: dict[Positions, dict[Key, Sequence[Row]]] = {}
        self._scans: dict[Positions, int] = {}

    def add(self, row: Row, leaf: str, validity: Validity) -> None:
        """Add what states a row."""
        _add_row(self._rows, self._bounded, row, (leaf, validity))

    def _fill(self) -> None:
        read = self._read
        if read is None:
            return
        rows: dict[Row, tuple[Stating, ...]] = {}
        bounded: dict[Row, tuple[Stating, ...]] = {}
        with paused_collection():
            for row, stating in read():
                _add_row(rows, bounded, row, stating)
        # Published in one step each, the mark last: another thread fills again or finds all.
        self._rows, self._bounded = rows, bounded
        self._read = None

    @property
    def rows(self) -> dict[Row, tuple[Stating, ...]]:
        """Every row with what states it, by leaf."""
        if self._read is not None:
            self._fill()
        return self._rows

    def index(self, positions: Positions) -> dict[Key, Sequence[Row]]:
        """Give rows by their values at `positions`: a bare id for one position, else a tuple."""
        found = self._indexes.get(positions)
        if found is None:
            grouped: dict[Key, list[Row]] = {}
            with paused_collection():
                if not positions:
                    grouped[()] = list(self.rows)
                elif len(positions) == 1:
                    (at,) = positions
                    for row in self.rows:
                        grouped.setdefault(row[at], []).append(row)
                else:
                    for row in self.rows:
                        grouped.setdefault(tuple([row[at] for at in positions]), []).append(row)
            # Published in one step: another thread sees no index or all of it.
            found = self._indexes[positions] = dict(grouped)
        return found

    def lookup(self, positions: Positions, day: datetime.date | None) -> Lookup:
        """Give the function from a key to the rows that are visible on `day`.

        The index it needs is built when it is first called.
        """
        look = self._look(positions)
        if day is None or (self._read is None and not self._bounded):
            return look

        def visible(key: Key) -> Sequence[Row]:
            rows = look(key)
            bounded = self._bounded
            if not bounded or not any(row in bounded for row in rows):
                return rows
            return [
                row
                for row in rows
                if row not in bounded or any(validity.holds_on(day) for _, validity in bounded[row])
            ]

        return visible

    def _look(self, positions: Positions) -> Lookup:
        if len(positions) == self.arity:
            if self.arity == 1:
                return lambda key: ((key,),) if isinstance(key, int) and (key,) in self.rows else ()
            return lambda key: (key,) if isinstance(key, tuple) and key in self.rows else ()
        index = self._indexes.get(positions)
        if index is not None:
            find = index.get
            return lambda key: find(key, ())
        return lambda key: self._find(positions, key)

    def _find(self, positions: Positions, key: Key) -> Sequence[Row]:
        """Give the rows with a key, in the order of rows, from the index or from a scan."""
        index = self._indexes.get(positions)
        if index is None:
            scans = self._scans.get(positions, 0)
            if positions and scans < SCANS and len(self.rows) >= SCAN_FROM:
                self._scans[positions] = scans + 1
                return self._scan(positions, key)
            index = self.index(positions)
        return index.get(key, ())

    def _scan(self, positions: Positions, key: Key) -> Sequence[Row]:
        if isinstance(key, int):
            (at,) = positions
            return [row for row in self.rows if row[at] == key]
        first, *others = positions
        value = key[0]
        found = [row for row in self.rows if row[first] == value]
        return [row for row in found if all(row[at] == key[k] for k, at in enumerate(others, 1))]


def _add_row(
    rows: dict[Row, tuple[Stating, ...]],
    bounded: dict[Row, tuple[Stating, ...]],
    row: Row,
    stating: Stating,
) -> None:
    others = rows.get(row)
    if others is None:
        rows[row] = (stating,)
        if stating[1] is not ALWAYS:
            bounded[row] = (stating,)
    elif stating not in others:
        together = tuple(sorted((*others, stating), key=leaf_order))
        rows[row] = together
        if any(validity is ALWAYS for _, validity in together):
            bounded.pop(row, None)
        else:
            bounded[row] = together


def leaf_order(stating: Stating) -> tuple[str, str, str]:
    """Key by which statings of one row are sorted."""
    leaf, validity = stating
    return leaf, str(validity.start or ""), str(validity.end or "")
