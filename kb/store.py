"""The log's read model: what the tables say now, and what they said at a revision.

Replaying the log gives the tables again, and `check_against` compares.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from operator import itemgetter

from .document import Document, Passage
from .errors import LogCorrupt, NotFound, SourceErased
from .records import DocumentRecord, EventKind, PolicyRecord, Row
from .schema import DOCUMENT_COLUMNS, content, stands
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

_STATED = (
    "SELECT s.id, subject, dimension, kind, value, polarity, modality, valid_start, valid_end,"
    " d.source_sha256, d.text_sha256, e.start, e.end, quote, extractor, confidence"
    " FROM statement s JOIN evidence e ON e.statement = s.key JOIN document d ON d.key = e.document"
)
_STATED_ORDER = " ORDER BY s.id, d.source_sha256, e.start, e.end, e.asserted"


@dataclass(frozen=True, slots=True)
class Present:
    """Places (statement, start, end) with evidence, and places refused to an extractor."""

    places: set[tuple[str, int, int]] = field(default_factory=set)
    refused: frozenset[tuple[str, int, int, str]] = frozenset()

    def take(self, evidence: Evidence) -> bool:
        """Add a place; false where it is there or refused."""
        place = (evidence.statement_id, evidence.start, evidence.end)
        if place in self.places or (*place, evidence.extractor) in self.refused:
            return False
        self.places.add(place)
        return True


class Store:
    """The tables of one database; see the module."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @property
    def connection(self) -> sqlite3.Connection:
        """The database it reads and writes."""
        return self._connection

    def check_against(self, twin: Store) -> None:
        """Check the digests of sources and texts, and all rows against those of a replayed store.

        Raises LogCorrupt naming the first difference.
        """
        for kept, recorded in zip_longest(content(self._connection), content(twin.connection)):
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

    def documents(self, *, as_of: int | None = None) -> tuple[DocumentRecord, ...]:
        """Give the documents that stand, by digest."""
        rows = self._connection.execute(
            f"SELECT {DOCUMENT_COLUMNS} FROM document WHERE {stands('document', as_of)}"
            " ORDER BY source_sha256"
        )
        return tuple(map(_document_record, rows))

    def record(self, source_sha256: str, *, as_of: int | None = None) -> DocumentRecord | None:
        """Give the newest record of a document, retracted or not; with `as_of`, what stood then."""
        then = "TRUE" if as_of is None else stands("document", as_of)
        row = self._connection.execute(
            f"SELECT {DOCUMENT_COLUMNS} FROM document WHERE source_sha256 = ? AND {then}"
            " ORDER BY key DESC",
            (source_sha256,),
        ).fetchone()
        return None if row is None else _document_record(row)

    def record_added(self, number: int) -> DocumentRecord | None:
        """Give the record of the document that an event added, unless it has been erased."""
        row = self._connection.execute(
            f"SELECT {DOCUMENT_COLUMNS} FROM document WHERE key = ?", (number,)
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

    def is_evidence_erased(
        self, statement_id: str, source_sha256: str, start: int, end: int
    ) -> bool:
        """Whether evidence has been erased from a document, and not been given again."""
        place = (statement_id, source_sha256, start, end)
        here = "JOIN document d ON d.key = x.document WHERE {} = ? AND d.source_sha256 = ?"
        here += " AND x.start = ? AND x.end = ?"
        erased = self._connection.execute(
            f"SELECT 1 FROM erased_evidence x {here.format('x.statement_id')}", place
        )
        given = self._connection.execute(
            "SELECT 1 FROM evidence x JOIN statement s ON s.key = x.statement "
            + here.format("s.id"),
            place,
        )
        return erased.fetchone() is not None and given.fetchone() is None

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
            f"{_STATED} WHERE {standing}{''.join(f' AND {column} = ?' for column in given)}"
            f"{_STATED_ORDER}",
            tuple(given.values()),
        )
        for statement_id, same in groupby(rows, itemgetter(0)):
            evidence = list(same)
            yield (
                statement_id,
                statement_of_row(evidence[0]),
                tuple(Evidence(statement_id, *row[9:]) for row in evidence),
            )

    def mentions(
        self, names: Collection[str], *, as_of: int | None = None
    ) -> Iterator[tuple[Statement, Evidence]]:
        """Yield the standing statements with one of the names as subject or as entity value.

        In order of (id, source, start, end), once for each evidence.
        """
        given = json.dumps(sorted(names))
        rows = self._connection.execute(
            f"{_STATED} WHERE {stands('e', as_of)} AND"
            " (subject IN (SELECT value FROM json_each(?)) OR kind = 'entity'"
            f" AND s.value IN (SELECT value FROM json_each(?))){_STATED_ORDER}",
            (given, given),
        )
        for row in rows:
            yield statement_of_row(row), Evidence(row[0], *row[9:])

    def passage_titles(self, *, as_of: int | None = None) -> frozenset[str]:
        """Give the titles of the passages of all documents that stand."""
        titles: set[str] = set()
        for (packed,) in self._connection.execute(
            f"SELECT passages FROM document WHERE {stands('document', as_of)}"
        ):
            titles.update(json.loads(zlib.decompress(packed))[0])
        return frozenset(titles)

    def present(self, source_sha256: str) -> Present:
        """Give what evidence the standing document has, and what it must not be given again.

        What a link's own linker withdrew may be given again; what was retracted may not, except,
        after the retraction of a run, by another extractor.
        """
        standing: set[tuple[str, int, int]] = set()
        refused: set[tuple[str, int, int, str]] = set()
        rows = self._connection.execute(
            "SELECT s.id, e.start, e.end, e.extractor, e.retracted IS NULL,"
            " (SELECT kind FROM event WHERE number = e.retracted)"
            " FROM document d JOIN evidence e ON e.document = d.key"
            " JOIN statement s ON s.key = e.statement"
            " WHERE d.source_sha256 = ? AND d.retracted IS NULL",
            (source_sha256,),
        )
        for statement_id, start, end, extractor, stands_now, kind in rows:
            if kind == EventKind.RUN_RETRACTED:
                refused.add((statement_id, start, end, extractor))
            elif stands_now or kind != EventKind.LINKS_WITHDRAWN:
                standing.add((statement_id, start, end))
        for statement_id, start, end, extractor in self._connection.execute(
            "SELECT statement_id, x.start, x.end, extractor FROM erased_evidence x"
            " JOIN document d ON d.key = x.document"
            " WHERE d.source_sha256 = ? AND d.retracted IS NULL",
            (source_sha256,),
        ):
            if extractor:
                refused.add((statement_id, start, end, extractor))
            else:
                standing.add((statement_id, start, end))
        return Present(standing, frozenset(refused))

    def entity_names(self, *, as_of: int | None = None) -> Iterator[str]:
        """Yield the names of subjects and of entity values, sorted; documents left out."""
        standing = (
            "FROM statement s WHERE EXISTS"
            f" (SELECT 1 FROM evidence e WHERE e.statement = s.key AND {stands('e', as_of)})"
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

    def extractors(self, *, source_sha256: str | None = None) -> tuple[str, ...]:
        """Give the extractors of what stands, in one document if given, sorted."""
        rows = self._connection.execute(
            "SELECT DISTINCT extractor FROM evidence e JOIN document d ON d.key = e.document"
            f" WHERE {stands('e', None)} AND (? IS NULL OR d.source_sha256 = ?) ORDER BY extractor",
            (source_sha256, source_sha256),
        )
        return tuple(extractor for (extractor,) in rows)

    def refusals(
        self, dimension: str, name: str, limit: int, *, as_of: int | None = None
    ) -> tuple[tuple[str, str, str], ...]:
        """Give (document, reason, text) of rejected candidates of a dimension that name an entity.

        Those of standing documents, sorted; the reasons of extractors name the dimension.
        """
        return tuple(
            self._connection.execute(
                "SELECT r.source_sha256, r.reason, r.text FROM rejection r JOIN document d"
                f" ON d.source_sha256 = r.source_sha256 WHERE {stands('d', as_of)}"
                " AND instr(r.reason, ?) AND instr(r.text, ?)"
                " ORDER BY r.source_sha256, r.reason, r.text LIMIT ?",
                (dimension, name, limit),
            )
        )

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

    def policies(self, *, as_of: int | None = None) -> tuple[PolicyRecord, ...]:
        """Give all policy versions, by id and then in order of publication."""
        rows = self._connection.execute(
            "SELECT * FROM policy WHERE ? IS NULL OR published <= ? ORDER BY id, published",
            (as_of, as_of),
        )
        return tuple(PolicyRecord(*row) for row in rows)


def standing_record(store: Store, source_sha256: str) -> DocumentRecord:
    """Give the record of a document that stands.

    Raises NotFound, or SourceErased.
    """
    record = store.record(source_sha256)
    if record is None or record.retracted is not None:
        raise no_document(store, source_sha256)
    return record


def no_document(store: Store, source_sha256: str) -> NotFound:
    """Say why there is no such document."""
    if store.is_erased(source_sha256):
        return SourceErased(f"the document {source_sha256} has been erased")
    return NotFound(f"no document has the digest {source_sha256}")


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
