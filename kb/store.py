"""The log's read model: tables of documents, statements and evidence, each row with its interval.

The tables are written in the transaction of the event they come from, by `Store.apply` alone. So
replaying the log gives them again, and `check_against` compares. A row stands from the event that
asserted it until, if ever, the event that retracted it.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import cast

from .document import Document, Passage
from .errors import LogCorrupt
from .log import Event
from .records import DocumentRecord, EventKind, PolicyRecord, Row
from .statement import (
    ALWAYS,
    Entity,
    Evidence,
    Modality,
    Polarity,
    Statement,
    Validity,
    Value,
    value_from_json,
)

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
    PRIMARY KEY (statement, document, start, end)
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
CREATE TABLE IF NOT EXISTS dimension (name TEXT PRIMARY KEY, form TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS policy (
    id TEXT NOT NULL, version TEXT NOT NULL, text TEXT NOT NULL, published INTEGER NOT NULL,
    PRIMARY KEY (id, version)
) WITHOUT ROWID;
"""


_DOCUMENT_COLUMNS = (
    "source_sha256, text_sha256, name, title, media_type, decoder, complete, asserted, retracted"
)
_THIS = "source_sha256 = ? AND retracted IS NULL"
_CONTENT = (
    f"SELECT {_DOCUMENT_COLUMNS}, passages FROM document ORDER BY key",
    "SELECT s.id, subject, dimension, kind, value, polarity, modality, valid_start, valid_end,"
    " document, start, end, quote, extractor, confidence, asserted, retracted"
    " FROM statement s LEFT JOIN evidence e ON e.statement = s.key"
    " ORDER BY s.id, document, start, end",
    "SELECT * FROM rejection ORDER BY source_sha256, reason, text",
    "SELECT * FROM erased ORDER BY source_sha256",
    "SELECT * FROM dimension ORDER BY name",
    "SELECT * FROM policy ORDER BY id, version",
)


class Store:
    """The tables of one database; see the module."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @property
    def connection(self) -> sqlite3.Connection:
        """The database it reads and writes."""
        return self._connection

    def create(self) -> None:
        """Make the tables where they do not exist."""
        self._connection.executescript(_SCHEMA)

    # ---- writing: only from events

    def put_document(self, document: Document, data: bytes) -> None:
        """Keep the bytes and the text that a coming `document_added` event names by digest."""
        self._connection.execute(
            "INSERT OR IGNORE INTO source VALUES (?, ?)", (document.source_sha256, data)
        )
        self._connection.execute(
            "INSERT OR IGNORE INTO text VALUES (?, ?)",
            (document.text_sha256, zlib.compress(document.text.encode(), 1)),
        )

    def apply(self, event: Event) -> None:
        """Write what the event says. An erased event says nothing."""
        if event.payload is None:
            return
        payload = cast("dict[str, str]", event.payload)
        execute = self._connection.execute
        match event.kind:
            case EventKind.DOCUMENT_ADDED:
                execute(
                    "INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                    (
                        event.number,
                        *(
                            payload[key]
                            for key in ("source_sha256", "text_sha256", "name", "title")
                        ),
                        payload["media_type"],
                        payload["decoder"],
                        zlib.compress(json.dumps(payload["passages"]).encode(), 1),
                        int(bool(payload["complete"])),
                        event.number,
                    ),
                )
            case EventKind.STATEMENTS_ASSERTED:
                self._assert(event)
            case EventKind.CANDIDATES_REJECTED:
                self._connection.executemany(
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
            case EventKind.DOCUMENT_RETRACTED:
                execute(
                    "UPDATE evidence SET retracted = ? WHERE retracted IS NULL AND document ="
                    f" (SELECT key FROM document WHERE {_THIS})",
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
            case EventKind.ERASED:
                self._erase(payload["source_sha256"], event.number)
            case EventKind.CREATED:
                pass
            case _:
                raise LogCorrupt(f"event {event.number} is of the unknown kind {event.kind!r}")

    def _assert(self, event: Event) -> None:
        payload = cast("dict[str, str]", event.payload)
        rows = cast("list[list[str]]", payload["statements"])
        document = self._connection.execute(
            f"SELECT key FROM document WHERE {_THIS}",
            (payload["source_sha256"],),
        ).fetchone()
        if document is None:
            raise LogCorrupt(f"event {event.number} gives statements of a document never added")
        self._connection.executemany(
            "INSERT OR IGNORE INTO statement VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row[:9] for row in rows),
        )
        self._connection.executemany(
            "INSERT INTO evidence VALUES"
            " ((SELECT key FROM statement WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, NULL)",
            ((row[0], document[0], *row[9:], event.number) for row in rows),
        )

    def _erase(self, source_sha256: str, number: int) -> None:
        execute = self._connection.execute
        keys = "(SELECT key FROM document WHERE source_sha256 = ?)"
        texts = "SELECT text_sha256 FROM document WHERE source_sha256"
        execute(f"DELETE FROM evidence WHERE document IN {keys}", (source_sha256,))
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

    def check_against(self, twin: Store) -> None:
        """Check the digests of sources and texts, and all rows against those of a replayed store.

        Raises LogCorrupt naming the first difference.
        """
        for kept, recorded in zip_longest(self.content(), twin.content()):
            if kept != recorded:
                where = (kept or recorded or ("",))[0]
                raise LogCorrupt(f"a stored row about {where} does not follow from the log")
        for (digest,) in self._connection.execute(
            "SELECT DISTINCT source_sha256 FROM document ORDER BY 1"
        ):
            data = self.source(digest)
            if data is None or hashlib.sha256(data).hexdigest() != digest:
                raise LogCorrupt(f"the bytes of document {digest} are not those recorded")
        for (digest,) in self._connection.execute(
            "SELECT DISTINCT text_sha256 FROM document ORDER BY 1"
        ):
            try:
                text = self.text(digest)
            except (zlib.error, UnicodeDecodeError):
                text = None
            if text is None or hashlib.sha256(text.encode()).hexdigest() != digest:
                raise LogCorrupt(f"the text {digest} is not the one recorded")

    def content(self) -> Iterator[tuple[object, ...]]:
        """Yield every row that follows from the log, in an order that does not depend on keys."""
        for query in _CONTENT:
            yield from self._connection.execute(query)

    # ---- reading

    def documents(self, *, as_of: int | None = None) -> tuple[DocumentRecord, ...]:
        """Give the documents that stand, by digest."""
        rows = self._connection.execute(
            f"SELECT {_DOCUMENT_COLUMNS} FROM document WHERE {stands('document', as_of)}"
            " ORDER BY source_sha256"
        )
        return tuple(map(_document_record, rows))

    def record(self, source_sha256: str) -> DocumentRecord | None:
        """Give the newest record of a document, retracted or not."""
        row = self._connection.execute(
            f"SELECT {_DOCUMENT_COLUMNS} FROM document WHERE source_sha256 = ? ORDER BY key DESC",
            (source_sha256,),
        ).fetchone()
        return None if row is None else _document_record(row)

    def record_added(self, number: int) -> DocumentRecord | None:
        """Give the record of the document that an event added, unless it has been erased."""
        row = self._connection.execute(
            f"SELECT {_DOCUMENT_COLUMNS} FROM document WHERE key = ?", (number,)
        ).fetchone()
        return None if row is None else _document_record(row)

    def document(self, record: DocumentRecord) -> Document:
        """Read a recorded document."""
        (packed,) = self._connection.execute(
            "SELECT passages FROM document WHERE key = ?", (record.asserted,)
        ).fetchone()
        titles, flat = json.loads(zlib.decompress(packed))
        return Document(
            record.source_sha256,
            record.name,
            record.title,
            record.media_type,
            record.decoder,
            self.text(record.text_sha256) or "",
            tuple(
                Passage(titles[title], start, end)
                for title, start, end in zip(flat[::3], flat[1::3], flat[2::3], strict=True)
            ),
        )

    def is_erased(self, source_sha256: str) -> bool:
        """Whether a document was stored once and its bytes have been erased."""
        found = self._connection.execute(
            "SELECT 1 FROM erased WHERE source_sha256 = ?", (source_sha256,)
        )
        return found.fetchone() is not None

    def text(self, text_sha256: str) -> str | None:
        """Give a decoded text by its digest."""
        row = self._connection.execute(
            "SELECT body FROM text WHERE sha256 = ?", (text_sha256,)
        ).fetchone()
        return None if row is None else zlib.decompress(row[0]).decode()

    def source(self, source_sha256: str) -> bytes | None:
        """Give a document's bytes."""
        row = self._connection.execute(
            "SELECT data FROM source WHERE sha256 = ?", (source_sha256,)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def statements(
        self,
        *,
        id: str | None = None,
        subject: str | None = None,
        dimension: str | None = None,
        source_sha256: str | None = None,
        as_of: int | None = None,
        asserted_by: int | None = None,
        retracted_by: int | None = None,
    ) -> Iterator[Row]:
        """Yield the statements that match, by id: those that stand, or stood at `as_of`.

        With the number of an event: the evidence it asserted or retracted, standing or not.
        """
        wanted = {
            "s.id": id,
            "s.subject": subject,
            "s.dimension": dimension,
            "d.source_sha256": source_sha256,
            "e.asserted": asserted_by,
            "e.retracted": retracted_by,
        }
        given = {column: value for column, value in wanted.items() if value is not None}
        by_event = asserted_by is not None or retracted_by is not None
        standing = "TRUE" if by_event else stands("e", as_of)
        rows = self._connection.execute(
            "SELECT s.id, subject, dimension, kind, value, polarity, modality, valid_start,"
            " valid_end, d.source_sha256, d.text_sha256, e.start, e.end, quote, extractor,"
            " confidence FROM statement s JOIN evidence e ON e.statement = s.key"
            f" JOIN document d ON d.key = e.document WHERE {standing}"
            f"{''.join(f' AND {column} = ?' for column in given)}"
            " ORDER BY s.id, d.source_sha256, e.start, e.end",
            tuple(given.values()),
        )
        for statement_id, same in groupby(rows, itemgetter(0)):
            evidence = list(same)
            yield (
                statement_id,
                statement_of_row(evidence[0]),
                tuple(Evidence(statement_id, *row[9:]) for row in evidence),
            )

    def mentions(self, names: Collection[str]) -> Iterator[tuple[Statement, Evidence]]:
        """Yield the standing statements with one of the names as subject or as entity value.

        In order of (id, source, start, end), once for each evidence.
        """
        given = json.dumps(sorted(names))
        rows = self._connection.execute(
            "SELECT s.id, subject, dimension, kind, value, polarity, modality, valid_start,"
            " valid_end, d.source_sha256, d.text_sha256, e.start, e.end, quote, extractor,"
            " confidence FROM statement s JOIN evidence e ON e.statement = s.key"
            f" JOIN document d ON d.key = e.document WHERE {stands('e', None)} AND"
            " (subject IN (SELECT value FROM json_each(?)) OR kind = 'entity'"
            " AND s.value IN (SELECT value FROM json_each(?)))"
            " ORDER BY s.id, d.source_sha256, e.start, e.end",
            (given, given),
        )
        for row in rows:
            yield statement_of_row(row), Evidence(row[0], *row[9:])

    def passage_titles(self) -> frozenset[str]:
        """Give the titles of the passages of all documents that stand."""
        titles: set[str] = set()
        for (packed,) in self._connection.execute(
            f"SELECT passages FROM document WHERE {stands('document', None)}"
        ):
            titles.update(json.loads(zlib.decompress(packed))[0])
        return frozenset(titles)

    def present(self, source_sha256: str) -> set[tuple[str, int, int]]:
        """Give (statement id, start, end) of all evidence ever taken from the standing document."""
        return set(
            self._connection.execute(
                "SELECT s.id, e.start, e.end FROM document d JOIN evidence e ON e.document = d.key"
                " JOIN statement s ON s.key = e.statement"
                " WHERE d.source_sha256 = ? AND d.retracted IS NULL",
                (source_sha256,),
            )
        )

    def entity_names(self) -> Iterator[str]:
        """Yield the names of subjects and of entity values, sorted; documents left out."""
        standing = (
            "FROM statement s WHERE EXISTS"
            " (SELECT 1 FROM evidence e WHERE e.statement = s.key AND e.retracted IS NULL)"
        )
        for (name,) in self._connection.execute(
            f"SELECT subject AS name {standing} AND subject NOT GLOB 'doc:*'"
            f" UNION SELECT value {standing} AND kind = 'entity' ORDER BY name"
        ):
            yield name

    def stated_dimensions(self) -> tuple[str, ...]:
        """Give the dimensions of all statements, also of those withdrawn, sorted."""
        rows = self._connection.execute("SELECT DISTINCT dimension FROM statement ORDER BY 1")
        return tuple(name for (name,) in rows)

    def stated_value(self, dimension: str) -> Value | None:
        """Give the value of the first statement in a dimension."""
        row = self._connection.execute(
            "SELECT kind, value FROM statement WHERE dimension = ? ORDER BY key LIMIT 1",
            (dimension,),
        ).fetchone()
        return None if row is None else value_from_json({"kind": row[0], "value": row[1]})

    def rejections(self, source_sha256: str) -> tuple[tuple[str, str], ...]:
        """Give (reason, text) of candidates that extraction rejected, sorted."""
        return tuple(
            self._connection.execute(
                "SELECT reason, text FROM rejection WHERE source_sha256 = ? ORDER BY reason, text",
                (source_sha256,),
            )
        )

    def dimensions(self) -> tuple[dict[str, object], ...]:
        """Give the forms of the defined dimensions, by name."""
        rows = self._connection.execute("SELECT form FROM dimension ORDER BY name")
        return tuple(json.loads(form) for (form,) in rows)

    def dimension(self, name: str) -> dict[str, object] | None:
        """Give the form of a defined dimension."""
        row = self._connection.execute(
            "SELECT form FROM dimension WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def dimension_kinds(self) -> dict[str, str]:
        """Give the kind of each defined dimension, by name."""
        return dict(
            self._connection.execute("SELECT name, json_extract(form, '$.kind') FROM dimension")
        )

    def policies(self) -> tuple[PolicyRecord, ...]:
        """Give all policy versions, by id and then in order of publication."""
        rows = self._connection.execute("SELECT * FROM policy ORDER BY id, published")
        return tuple(PolicyRecord(*row) for row in rows)


def stands(table: str, as_of: int | None) -> str:
    """Give the condition that a row of a table stands, or stood at a revision."""
    if as_of is None:
        return f"{table}.retracted IS NULL"
    return (
        f"{table}.asserted <= {int(as_of)}"
        f" AND ({table}.retracted IS NULL OR {table}.retracted > {int(as_of)})"
    )


def _document_record(
    row: tuple[str, str, str, str, str, str, int, int, int | None],
) -> DocumentRecord:
    source_sha256, text_sha256, name, title, media_type, decoder, complete, begun, ended = row
    return DocumentRecord(
        source_sha256, text_sha256, name, title, media_type, decoder, bool(complete), begun, ended
    )


_POLARITIES = {polarity.value: polarity for polarity in Polarity}
_MODALITIES = {modality.value: modality for modality in Modality}


def statement_of_row(row: tuple[str, ...]) -> Statement:
    """Read a statement from columns `id` to `valid_end`, in the order of the table."""
    _, subject, dimension, kind, value, polarity, modality, start, end = row[:9]
    return Statement(
        subject,
        dimension,
        Entity(value) if kind == "entity" else value_from_json({"kind": kind, "value": value}),
        _POLARITIES[polarity],
        _MODALITIES[modality],
        ALWAYS if start is None and end is None else Validity(_day(start), _day(end)),
    )


def _day(text: str | None) -> datetime.date | None:
    return None if text is None else datetime.date.fromisoformat(text)
