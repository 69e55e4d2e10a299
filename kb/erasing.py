"""Erasing evidence from the log: single places of it, where the document itself stays.

An event holds the statements of a whole document or of a part of a table, and its payload can only
be erased as a whole. What else it says is said again by the tombstone, with the events that
asserted and withdrew it, so that every revision reads as before but for what is erased. A tombstone
that said something again is erased in its turn when that is, and a later one says all that is left.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any, cast

from .errors import NotFound
from .log import Log
from .records import EventKind

_RESTATED = (
    "SELECT e.asserted, e.retracted, e.document, s.id, subject, dimension, kind, value, polarity,"
    " modality, valid_start, valid_end, start, end, quote, extractor, confidence"
    " FROM evidence e JOIN statement s ON s.key = e.statement"
    " WHERE e.asserted IN (SELECT value FROM json_each(?))"
    " ORDER BY s.id, e.document, start, end, e.asserted"
)


@dataclass(frozen=True, slots=True)
class Selection:
    """Evidence by a condition of SQL on `evidence e`.

    `extractor` is the one that may not read it again; empty where nobody may.
    """

    condition: str
    parameters: tuple[object, ...]
    extractor: str = ""


def of_statement(statement_id: str) -> Selection:
    """Select all evidence of a statement."""
    return Selection("e.statement = (SELECT key FROM statement WHERE id = ?)", (statement_id,))


def of_span(source_sha256: str, start: int, end: int) -> Selection:
    """Select what quotes any of a span of a document that stands."""
    return Selection(
        "e.document = (SELECT key FROM document WHERE source_sha256 = ? AND retracted IS NULL)"
        " AND e.start < ? AND e.end > ?",
        (source_sha256, end, start),
    )


def of_run(extractor: str, source_sha256: str | None) -> Selection:
    """Select what an extractor has read, in one document if given."""
    return Selection(
        "(e.extractor = ?1 OR substr(e.extractor, 1, length(?1) + 1) = ?1 || ' ')"
        " AND (?2 IS NULL OR e.document IN (SELECT key FROM document WHERE source_sha256 = ?2))",
        (extractor, source_sha256),
        extractor,
    )


def of_document(source_sha256: str) -> Selection:
    """Select all evidence in a document."""
    return Selection(
        "e.document IN (SELECT key FROM document WHERE source_sha256 = ?)", (source_sha256,)
    )


def erasure(
    connection: sqlite3.Connection, log: Log, selection: Selection
) -> tuple[list[int], dict[str, object]]:
    """Give the events whose payloads go, and what the tombstone says.

    Raises NotFound where no evidence is selected.
    """
    chosen = connection.execute(
        "SELECT s.id, e.document, e.start, e.end, e.asserted, e.extractor FROM evidence e"
        f" JOIN statement s ON s.key = e.statement WHERE {selection.condition}"
        " ORDER BY s.id, e.document, e.start, e.end, e.asserted",
        selection.parameters,
    ).fetchall()
    if not chosen:
        raise NotFound("no evidence is known of what is to be erased")
    events = {row[4] for row in chosen}
    erased = [
        [row[0], row[1], row[2], row[3], row[5] if selection.extractor else ""] for row in chosen
    ]
    earlier = [
        (event.number, cast("dict[str, Any]", event.payload))  # as `erasure` wrote it
        for event in log.of_kinds({EventKind.ERASED})
        if event.payload is not None and "restated" in event.payload
    ]
    taken: set[int] = set()
    while fresh := [
        (number, payload)
        for number, payload in earlier
        if number not in taken and not events.isdisjoint(row[0] for row in payload["restated"])
    ]:
        for number, payload in fresh:
            taken.add(number)
            events |= {row[0] for row in payload["restated"]} | set(payload["events"]) | {number}
            erased += payload["erased"]
    gone = {tuple(row[:5]) for row in chosen}
    restated = [
        list(row)
        for row in connection.execute(_RESTATED, (json.dumps(sorted(events)),))
        if (row[3], row[2], row[12], row[13], row[0]) not in gone
    ]
    return sorted(events), {"restated": restated, "erased": sorted(erased)}


def apply_erasure(connection: sqlite3.Connection, payload: dict[str, Any], number: int) -> None:
    """Write what a tombstone says: what is left of the events, and what may not come again."""
    connection.execute(
        "DELETE FROM evidence WHERE asserted IN (SELECT value FROM json_each(?))",
        (json.dumps(payload["events"]),),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO statement VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (row[3:12] for row in payload["restated"]),
    )
    connection.executemany(
        "INSERT INTO evidence VALUES"
        " ((SELECT key FROM statement WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?)",
        ((row[3], row[2], *row[12:], row[0], row[1]) for row in payload["restated"]),
    )
    connection.execute("DELETE FROM statement WHERE key NOT IN (SELECT statement FROM evidence)")
    connection.executemany(  # of a document that is there, and not erased by a later event
        "INSERT OR REPLACE INTO erased_evidence SELECT ?1, ?2, ?3, ?4, ?5, ?6"
        " WHERE EXISTS (SELECT 1 FROM document WHERE key = ?2)",
        ((*row, number) for row in payload["erased"]),
    )
