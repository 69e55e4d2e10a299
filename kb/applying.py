"""What each event of the log does to the tables; replaying the log gives them again.

Every row is written in the transaction of the event it comes from, by `apply_event` alone.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from typing import cast

from .document import Document
from .erasing import apply_erasure
from .errors import LogCorrupt
from .log import Event
from .records import EventKind

_THIS = "source_sha256 = ? AND retracted IS NULL"
_IN_DOCUMENT = f"document = (SELECT key FROM document WHERE {_THIS})"


def put_document(connection: sqlite3.Connection, document: Document, data: bytes) -> None:
    """Keep the bytes and the text that a coming `document_added` event names by digest."""
    connection.execute("INSERT OR IGNORE INTO source VALUES (?, ?)", (document.source_sha256, data))
    connection.execute(
        "INSERT OR IGNORE INTO text VALUES (?, ?)",
        (document.text_sha256, zlib.compress(document.text.encode(), 1)),
    )


def apply_event(connection: sqlite3.Connection, event: Event) -> None:
    """Write what the event says. An erased event says nothing."""
    if event.payload is None:
        return
    payload = cast("dict[str, str]", event.payload)
    execute = connection.execute
    match event.kind:
        case EventKind.DOCUMENT_ADDED:
            execute(
                "INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                (
                    event.number,
                    *(payload[key] for key in ("source_sha256", "text_sha256", "name", "title")),
                    payload["media_type"],
                    payload["decoder"],
                    zlib.compress(json.dumps(payload["passages"]).encode(), 1),
                    int(bool(payload["complete"])),
                    event.number,
                ),
            )
        case EventKind.STATEMENTS_ASSERTED:
            _assert(connection, event)
        case EventKind.CANDIDATES_REJECTED:
            connection.executemany(
                "INSERT OR IGNORE INTO rejection VALUES (?, ?, ?)",
                ((payload["source_sha256"], *pair) for pair in payload["rejected"]),
            )
        case EventKind.IMPORT_BEGUN | EventKind.IMPORT_COMPLETED:
            execute(
                f"UPDATE document SET complete = ? WHERE {_THIS}",
                (int(event.kind == EventKind.IMPORT_COMPLETED), payload["source_sha256"]),
            )
        case EventKind.STATEMENT_RETRACTED:
            execute(
                "UPDATE evidence SET retracted = ? WHERE retracted IS NULL"
                " AND statement = (SELECT key FROM statement WHERE id = ?)",
                (event.number, payload["statement_id"]),
            )
        case EventKind.SPAN_RETRACTED:
            execute(
                f"UPDATE evidence SET retracted = ? WHERE retracted IS NULL AND {_IN_DOCUMENT}"
                " AND start < ? AND end > ?",
                (event.number, payload["source_sha256"], payload["end"], payload["start"]),
            )
        case EventKind.RUN_RETRACTED:
            source = payload["source_sha256"]
            execute(
                "UPDATE evidence SET retracted = ?1 WHERE retracted IS NULL AND"
                " (extractor = ?2 OR substr(extractor, 1, length(?2) + 1) = ?2 || ' ')"
                " AND (?3 IS NULL OR document ="
                " (SELECT key FROM document WHERE source_sha256 = ?3 AND retracted IS NULL))",
                (event.number, payload["extractor"], source),
            )
        case EventKind.LINKS_WITHDRAWN:
            connection.executemany(
                "UPDATE evidence SET retracted = ? WHERE retracted IS NULL AND extractor = ?"
                " AND statement = (SELECT key FROM statement WHERE id = ?)",
                (
                    (event.number, payload["extractor"], statement_id)
                    for statement_id in payload["statements"]
                ),
            )
        case EventKind.DOCUMENT_RETRACTED:
            execute(
                f"UPDATE evidence SET retracted = ? WHERE retracted IS NULL AND {_IN_DOCUMENT}",
                (event.number, payload["source_sha256"]),
            )
            execute(
                f"UPDATE document SET retracted = ? WHERE {_THIS}",
                (event.number, payload["source_sha256"]),
            )
        case EventKind.DIMENSION_DEFINED:
            execute(
                "INSERT OR REPLACE INTO dimension VALUES (?, ?)",
                (payload["name"], json.dumps(event.payload, sort_keys=True)),
            )
        case EventKind.POLICY_PUBLISHED:
            execute(
                "INSERT INTO policy VALUES (?, ?, ?, ?)",
                (payload["id"], payload["version"], payload["text"], event.number),
            )
        case EventKind.ERASED if "restated" in payload:
            apply_erasure(connection, event.payload, event.number)
        case EventKind.ERASED:
            _erase(connection, payload["source_sha256"], event.number)
        case EventKind.CREATED:
            pass
        case _:
            raise LogCorrupt(f"event {event.number} is of the unknown kind {event.kind!r}")


def _assert(connection: sqlite3.Connection, event: Event) -> None:
    payload = cast("dict[str, str]", event.payload)
    rows = cast("list[list[str]]", payload["statements"])
    document = connection.execute(
        f"SELECT key FROM document WHERE {_THIS}",
        (payload["source_sha256"],),
    ).fetchone()
    if document is None:
        raise LogCorrupt(f"event {event.number} gives statements of a document never added")
    connection.executemany(
        "INSERT OR IGNORE INTO statement VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (row[:9] for row in rows),
    )
    connection.executemany(
        "INSERT INTO evidence VALUES"
        " ((SELECT key FROM statement WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, NULL)",
        ((row[0], document[0], *row[9:], event.number) for row in rows),
    )


def _erase(connection: sqlite3.Connection, source_sha256: str, number: int) -> None:
    execute = connection.execute
    keys = "(SELECT key FROM document WHERE source_sha256 = ?)"
    texts = "SELECT text_sha256 FROM document WHERE source_sha256"
    for table in ("evidence", "erased_evidence"):
        execute(f"DELETE FROM {table} WHERE document IN {keys}", (source_sha256,))
    execute("DELETE FROM statement WHERE key NOT IN (SELECT statement FROM evidence)")
    execute(
        f"DELETE FROM text WHERE sha256 IN ({texts} = ?) AND sha256 NOT IN ({texts} <> ?)",
        (source_sha256, source_sha256),
    )
    for table, column in (
        ("source", "sha256"),
        ("document", "source_sha256"),
        ("rejection", "source_sha256"),
    ):
        execute(f"DELETE FROM {table} WHERE {column} = ?", (source_sha256,))
    execute("INSERT OR REPLACE INTO erased VALUES (?, ?)", (source_sha256, number))
