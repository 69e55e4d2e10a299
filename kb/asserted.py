"""What was asserted at a revision, read from the tables by dimension when it is asked for."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from .schema import stands
from .statement import Modality, Polarity, Statement
from .store import statement_of_row

_ASSERTED = f"modality = '{Modality.ASSERTED.value}'"


class Asserted:
    """The asserted statements that stood at one revision; what was erased since is not among them.

    `connection` gives the connection to read with, which may differ between threads.
    """

    def __init__(self, connection: Callable[[], sqlite3.Connection], *, revision: int) -> None:
        self._connection = connection
        self._has_evidence = (
            "EXISTS (SELECT 1 FROM evidence e WHERE e.statement = s.key"
            f" AND {stands('e', revision)})"
        )
        self._revision = revision

    def dimensions(self) -> tuple[tuple[str, Polarity], ...]:
        """Give the dimensions in which something is asserted, with each polarity, sorted."""
        connection = self._connection()
        pairs = connection.execute(
            f"SELECT DISTINCT dimension, polarity FROM statement WHERE {_ASSERTED}"
            " ORDER BY dimension, polarity"
        ).fetchall()
        return tuple(
            (dimension, Polarity(polarity))
            for dimension, polarity in pairs
            if connection.execute(
                f"SELECT 1 FROM statement s WHERE dimension = ? AND polarity = ? AND {_ASSERTED}"
                f" AND {self._has_evidence} LIMIT 1",
                (dimension, polarity),
            ).fetchone()
        )

    def statements(self, dimension: str, polarity: Polarity) -> Iterator[tuple[str, Statement]]:
        """Yield the statements of a dimension with their ids, by id; their evidence is not read."""
        rows = self._connection().execute(
            "SELECT id, subject, dimension, kind, value, polarity, modality, valid_start,"
            " valid_end FROM statement s WHERE dimension = ? AND polarity = ?"
            f" AND {_ASSERTED} AND {self._has_evidence} ORDER BY id",
            (dimension, polarity.value),
        )
        for row in rows:
            yield row[0], statement_of_row(row)

    def provenance(self) -> Iterator[tuple[str, str, str]]:
        """Yield (id, dimension, source) of every statement, for each source, by id and source."""
        yield from self._connection().execute(
            "SELECT DISTINCT s.id, dimension, d.source_sha256 FROM statement s"
            " JOIN evidence e ON e.statement = s.key JOIN document d ON d.key = e.document"
            f" WHERE {_ASSERTED} AND {stands('e', self._revision)}"
            " ORDER BY s.id, d.source_sha256"
        )
