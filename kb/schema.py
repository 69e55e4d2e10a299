"""The tables of a knowledge base: documents, statements and evidence, each row with its interval.

A row stands from the event that asserted it until, if ever, the event that retracted it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

_SCHEMA = """
CREATE TABLE IF NOT EXISTS source (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS text (sha256 TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS document (
    key INTEGER PRIMARY KEY, source_sha256 TEXT NOT NULL, text_sha256 TEXT NOT NULL,
    name TEXT NOT NULL, title TEXT NOT NULL, media_type TEXT NOT NULL, decoder TEXT NOT NULL,
    passages BLOB NOT NULL, complete INTEGER NOT NULL, asserted INTEGER NOT NULL, retracted INTEGER
);
CREATE UNIQUE INDEX IF NOT EXISTS document_live ON document (source_sha256) WHERE retracted IS NULL;
CREATE TABLE IF NOT EXISTS statement (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, subject TEXT NOT NULL,
    dimension TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL, polarity TEXT NOT NULL,
    modality TEXT NOT NULL, valid_start TEXT, valid_end TEXT
);
CREATE INDEX IF NOT EXISTS statement_subject ON statement (subject, dimension);
CREATE INDEX IF NOT EXISTS statement_dimension ON statement (dimension);
CREATE TABLE IF NOT EXISTS evidence (
    statement INTEGER NOT NULL, document INTEGER NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, quote TEXT NOT NULL, extractor TEXT NOT NULL, confidence TEXT NOT NULL,
    asserted INTEGER NOT NULL, retracted INTEGER,
    PRIMARY KEY (statement, document, start, end, asserted)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS evidence_document ON evidence (document);
CREATE INDEX IF NOT EXISTS evidence_asserted ON evidence (asserted);
CREATE INDEX IF NOT EXISTS evidence_retracted ON evidence (retracted) WHERE retracted NOT NULL;
CREATE INDEX IF NOT EXISTS evidence_doubtful ON evidence (statement) WHERE confidence <> '1';
CREATE TABLE IF NOT EXISTS rejection (
    source_sha256 TEXT NOT NULL, reason TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (source_sha256, reason, text)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS erased (
    source_sha256 TEXT PRIMARY KEY, number INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS erased_evidence (
    statement_id TEXT NOT NULL, document INTEGER NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, extractor TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (statement_id, document, start, end, extractor)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dimension (name TEXT PRIMARY KEY, form TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS policy (
    id TEXT NOT NULL, version TEXT NOT NULL, text TEXT NOT NULL, published INTEGER NOT NULL,
    PRIMARY KEY (id, version)
) WITHOUT ROWID;
"""

DOCUMENT_COLUMNS = (
    "source_sha256, text_sha256, name, title, media_type, decoder, complete, asserted, retracted"
)
"""Columns of a document's record, in the order of `DocumentRecord`."""

_CONTENT = (
    f"SELECT {DOCUMENT_COLUMNS}, passages FROM document ORDER BY key",
    "SELECT s.id, subject, dimension, kind, value, polarity, modality, valid_start, valid_end,"
    " document, start, end, quote, extractor, confidence, asserted, retracted"
    " FROM statement s LEFT JOIN evidence e ON e.statement = s.key"
    " ORDER BY s.id, document, start, end, asserted",
    "SELECT * FROM rejection ORDER BY source_sha256, reason, text",
    "SELECT * FROM erased ORDER BY source_sha256",
    "SELECT * FROM erased_evidence ORDER BY statement_id, document, start, end, extractor",
    "SELECT * FROM dimension ORDER BY name",
    "SELECT * FROM policy ORDER BY id, version",
)


VERSION = 3
"""Version of the tables; those of another one are made anew from the log."""

_DERIVED = (
    *("document", "statement", "evidence", "rejection", "erased", "erased_evidence"),
    *("dimension", "policy"),
)


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables where they do not exist."""
    for command in _SCHEMA.split(";"):  # not executescript, which would end a transaction
        connection.execute(command)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether the tables, if there are any, are of this version."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return (
        version == VERSION
        or not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'evidence'").fetchall()
    )


def drop_tables(connection: sqlite3.Connection) -> None:
    """Drop the tables that follow from the log; sources and texts do not."""
    for table in _DERIVED:
        connection.execute(f"DROP TABLE IF EXISTS {table}")


def content(connection: sqlite3.Connection) -> Iterator[tuple[object, ...]]:
    """Yield every row that follows from the log, in an order that does not depend on keys."""
    for query in _CONTENT:
        yield from connection.execute(query)


def stands(table: str, as_of: int | None) -> str:
    """Give the condition that a row of a table stands, or stood at a revision."""
    if as_of is None:
        return f"{table}.retracted IS NULL"
    return (
        f"{table}.asserted <= {int(as_of)}"
        f" AND ({table}.retracted IS NULL OR {table}.retracted > {int(as_of)})"
    )
