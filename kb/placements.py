"""What the lattice index reads of the tables: where each plain fact places its subject."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from .quantity import parse_number
from .statement import Evidence, Modality, Polarity, Statement
from .store import Store, statement_of_row

CERTAIN = Fraction(1)
"""The confidence of what a source asserts and no extractor doubts."""

_PLAIN = f"polarity = '{Polarity.AFFIRMED.value}' AND modality = '{Modality.ASSERTED.value}'"
_KEY = "length(CAST(dimension AS BLOB)) || ':' || dimension || kind || ':' || value"
_LASTING = f"{_PLAIN} AND valid_start IS NULL AND valid_end IS NULL AND key >= ? AND key < ?"
_BETWEEN = "\x1f"
_COLUMNS = "id, subject, dimension, kind, value, polarity, modality, valid_start, valid_end, s.key"
_STANDS = "EXISTS (SELECT 1 FROM evidence e WHERE e.statement = {} AND e.retracted IS NULL)"


class Placements:
    """Reads the tables of one store; only what is affirmed and asserted counts."""

    def __init__(self, store: Store) -> None:
        self._connection = store.connection

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Read one state of the database inside, whatever others write."""
        if self._connection.in_transaction:
            yield
            return
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def numbers(self) -> range:
        """Give the numbers among which those of all statements are."""
        first, last = self._connection.execute(
            "SELECT coalesce(min(key), 0), coalesce(max(key), -1) FROM statement"
        ).fetchone()
        return range(first, last + 1)

    def lasting(self, numbers: range) -> sqlite3.Cursor:
        """Give (subject, key of the point, number) of the statements that hold always.

        Those whose evidence was all retracted are among them: see `withdrawn`.
        """
        return self._connection.execute(
            f"SELECT subject, {_KEY}, key FROM statement WHERE {_LASTING}",
            (numbers.start, numbers.stop),
        )

    def lasting_columns(self, numbers: range) -> tuple[list[str], list[str]] | None:
        """Give subjects and keys of the points of the same statements, in the same order.

        Much faster than row by row: no row becomes an object of its own. None where a text holds
        the sign that stands between texts here.
        """
        count, *columns = self._connection.execute(
            f"SELECT count(*), group_concat(subject, char({ord(_BETWEEN)})),"
            f" group_concat({_KEY}, char({ord(_BETWEEN)})) FROM statement WHERE {_LASTING}",
            (numbers.start, numbers.stop),
        ).fetchone()
        if not count:
            return [], []
        subjects, keys = (column.split(_BETWEEN) for column in columns)
        return (subjects, keys) if len(subjects) == len(keys) == count else None

    def bounded(self) -> sqlite3.Cursor:
        """Give the same, first day and day after the last of the statements that do not."""
        return self._connection.execute(
            f"SELECT subject, {_KEY}, key, valid_start, valid_end FROM statement WHERE {_PLAIN}"
            " AND (valid_start IS NOT NULL OR valid_end IS NOT NULL)"
        )

    def dimension_forms(self) -> dict[str, str]:
        """Give the written form of each defined dimension, by name."""
        return dict(self._connection.execute("SELECT name, form FROM dimension ORDER BY name"))

    def withdrawn(self) -> frozenset[int]:
        """Give the numbers of the statements whose evidence was all retracted."""
        rows = self._connection.execute(
            "SELECT DISTINCT statement FROM evidence r WHERE retracted IS NOT NULL"
            f" AND NOT {_STANDS.format('r.statement')}"
        )
        return frozenset(number for (number,) in rows)

    def doubtful(self) -> dict[int, Fraction]:
        """Give the confidence of each statement of which it is not 1 by all its evidence."""
        rows = self._connection.execute(
            "SELECT statement, confidence FROM evidence WHERE retracted IS NULL AND statement IN"
            " (SELECT statement FROM evidence WHERE confidence <> '1')"
        )
        best: dict[int, Fraction] = {}
        for number, text in rows:
            best[number] = max(best.get(number, Fraction(0)), parse_number(text))
        return best

    def changed(self, after: int) -> Iterator[tuple[Statement, Fraction | None]]:
        """Yield each statement whose evidence changed after a revision, with its confidence now.

        None if it stands no more. In order of coming.
        """
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM statement s WHERE {_PLAIN} AND key IN"
            " (SELECT statement FROM evidence WHERE asserted > ?"
            " UNION SELECT statement FROM evidence WHERE retracted > ?) ORDER BY key",
            (after, after),
        ).fetchall()
        for row in rows:
            yield statement_of_row(row[:9]), self._confidence(row[9])

    def count_changed(self, after: int) -> int:
        """Count the pieces of evidence that came or went after a revision."""
        (count,) = self._connection.execute(
            "SELECT (SELECT count(*) FROM evidence WHERE asserted > ?)"
            " + (SELECT count(*) FROM evidence WHERE retracted > ?)",
            (after, after),
        ).fetchone()
        return int(count)

    def _confidence(self, number: int) -> Fraction | None:
        """Give the confidence of the surest evidence that stands."""
        rows = self._connection.execute(
            "SELECT DISTINCT confidence FROM evidence WHERE statement = ? AND retracted IS NULL",
            (number,),
        )
        return max((parse_number(text) for (text,) in rows), default=None)


def confidence_of(evidence: Iterable[Evidence]) -> Fraction:
    """Give the confidence of a statement: that of its surest evidence."""
    return max((parse_number(found.confidence) for found in evidence), default=CERTAIN)
