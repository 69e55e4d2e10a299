"""A knowledge base in a directory: the log, its tables, the verdicts and the projections.

    knowledge.sqlite  knowledge.head     the knowledge log with its tables, and its anchor
    verdicts.sqlite   verdicts.head      the second chain
    projections/                         rebuildable from the log

Everything a document brings is written in one transaction, so a crash leaves all of it or nothing.
A large import is written in several, each whole, and marked incomplete until its last.
"""

from __future__ import annotations

import difflib
import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Self

from .database import open_database
from .dimension import Dimension, dimension_from_json, dimension_to_json
from .document import Document
from .errors import (
    AlreadyExists,
    DocumentRejected,
    NotFound,
    SourceErased,
    StatementRejected,
)
from .log import Event, Log
from .projections import Projections
from .rdf import RdfProjection
from .statement import Evidence, Statement
from .store import (
    DocumentRecord,
    EventKind,
    PolicyRecord,
    Row,
    Store,
    document_form,
    statement_row,
)
from .verdicts import SignOffRecord, VerdictLog, VerdictRecord

Grounded = tuple[Statement, Evidence]

_DATABASE = "knowledge.sqlite"
_WITH_CONTENT = frozenset(
    {EventKind.DOCUMENT_ADDED, EventKind.STATEMENTS_ASSERTED, EventKind.CANDIDATES_REJECTED}
)

CHUNK = 20_000
"""Statements that an import writes in one transaction."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What admitting changed: evidence new and already there, and whether the document is new.

    Evidence of a statement that was retracted stays retracted and counts as already there.
    """

    inserted: int
    already: int
    document_is_new: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that matches a search; a higher score is better."""

    source_sha256: str
    title: str
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class _Reading:
    connection: sqlite3.Connection
    log: Log
    store: Store


class KnowledgeBase:
    """One knowledge base; safe for use by several threads, which write one after the other."""

    def __init__(self, directory: Path) -> None:
        """Use `create` or `open`."""
        self._directory = directory
        self._lock = threading.RLock()
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._projections: Projections | None = None
        self._text = lru_cache(maxsize=32)(self._read_text)
        self._connection = open_database(directory / _DATABASE)
        self._log = self._log_on(self._connection)
        self._log.create()
        self._store = Store(self._connection)
        self._store.create()
        self._verdicts = VerdictLog(directory)
        self._namespace = ""

    def _log_on(self, connection: sqlite3.Connection) -> Log:
        return Log(connection, name="knowledge", anchor=self._directory / "knowledge.head")

    # ---- life

    @classmethod
    def create(cls, directory: Path, *, namespace: str) -> Self:
        """Make a knowledge base in a directory that has none; `namespace` begins its data IRIs.

        Raises AlreadyExists if the directory holds one.
        """
        directory.mkdir(parents=True, exist_ok=True)
        base = cls(directory)
        with base._lock, base._log.transaction():
            if base._log.revision:
                raise AlreadyExists(f"{directory} holds a knowledge base; expected none")
            base._append(EventKind.CREATED, {"namespace": namespace, "format": 1})
        base._namespace = namespace
        return base

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open the knowledge base of a directory.

        Raises NotFound if there is none and LogCorrupt if its log does not reach its anchor.
        """
        if not (directory / _DATABASE).exists():
            raise NotFound(f"{directory} holds no knowledge base; make one with init")
        base = cls(directory)
        first = next(base._log.events(), None)
        if first is None or first.kind != EventKind.CREATED or first.payload is None:
            base.close()
            raise NotFound(f"{directory} holds no knowledge base; make one with init")
        base._namespace = str(first.payload["namespace"])
        base._log.check_anchor()
        return base

    def close(self) -> None:
        """Close every file. Threads must have stopped reading."""
        with self._lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()
            if self._projections is not None:
                self._projections.close()
            self._connection.close()
            self._verdicts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def directory(self) -> Path:
        """Where it lies."""
        return self._directory

    @property
    def namespace(self) -> str:
        """Beginning of the IRIs of its data."""
        return self._namespace

    @property
    def revision(self) -> int:
        """Number of the newest event of the knowledge log."""
        return self._reading.log.revision

    @property
    def head(self) -> str:
        """Link of the newest event of the knowledge log, in hex."""
        return self._reading.log.head

    # ---- writing

    def _append(self, kind: EventKind, payload: dict[str, object]) -> int:
        number = self._log.append(kind, payload)
        self._store.apply(Event(number, kind, payload))
        return number

    def admit(
        self,
        document: Document,
        data: bytes,
        grounded: Sequence[Grounded],
        *,
        run: str,
        rejected: Sequence[tuple[str, str]] = (),
    ) -> Admission:
        """Store a document with the statements taken from it, in one transaction; idempotent.

        `rejected` lists (reason, text) of candidates that were not grounded. Raises
        StatementRejected naming every quote that does not stand at its span, and DocumentRejected
        if the bytes are not those of the document or stored with another decoded text.
        """
        _check_bytes(document, data)
        _check_quotes(document, grounded)
        with self._lock, self._log.transaction():
            is_new = self._add_document(document, data, run=run, complete=True)
            inserted = self._assert(document, grounded, self._present(document, is_new), run)
            self._reject(document, rejected, run)
        return Admission(inserted, len(grounded) - inserted, is_new)

    def import_statements(
        self,
        document: Document,
        data: bytes,
        grounded: Iterable[Grounded],
        *,
        run: str,
        rejected: Sequence[tuple[str, str]] = (),
        chunk: int = CHUNK,
    ) -> Admission:
        """Store a table with its statements, `chunk` per transaction; run again to resume.

        `rejected` is read when `grounded` is exhausted, which may have filled it meanwhile.
        Until the last transaction the document is marked incomplete. Raises as `admit` does, and
        keeps the chunks before.
        """
        _check_bytes(document, data)
        total = inserted = 0
        begun = is_new = False
        present: set[tuple[str, int, int]] = set()
        pending = iter(grounded)
        batch = list(islice(pending, chunk))
        first = True
        while first or batch:
            _check_quotes(document, batch)
            following = list(islice(pending, chunk))
            with self._lock, self._log.transaction():
                if first:
                    is_new = self._add_document(document, data, run=run, complete=not following)
                    record = self._store.record(document.source_sha256)
                    begun = record is not None and not record.complete
                    present = self._present(document, is_new)
                    first = False
                source: dict[str, object] = {"source_sha256": document.source_sha256, "run": run}
                count = self._assert(document, batch, present, run)
                if count and following and not begun:
                    self._append(EventKind.IMPORT_BEGUN, source)
                    begun = True
                if not following:
                    self._reject(document, rejected, run)
                if begun and not following:
                    self._append(EventKind.IMPORT_COMPLETED, source)
            inserted += count
            total += len(batch)
            batch = following
        return Admission(inserted, total - inserted, is_new)

    def _add_document(self, document: Document, data: bytes, *, run: str, complete: bool) -> bool:
        record = self._store.record(document.source_sha256)
        if record is not None and record.retracted is None:
            if record.text_sha256 != document.text_sha256:
                raise DocumentRejected(
                    f"{document.name} is stored as decoded by {record.decoder}, with another text "
                    f"than {document.decoder} gives; retract it before decoding it anew"
                )
            return False
        self._store.put_document(document, data)
        form = document_form(document, complete=complete)
        self._append(EventKind.DOCUMENT_ADDED, {**form, "run": run})
        return True

    def _present(self, document: Document, is_new: bool) -> set[tuple[str, int, int]]:
        return set() if is_new else self._store.present(document.source_sha256)

    def _assert(
        self,
        document: Document,
        grounded: Sequence[Grounded],
        present: set[tuple[str, int, int]],
        run: str,
    ) -> int:
        """Append what is not present, and add it there; give how much it was."""
        rows = []
        for statement, evidence in grounded:
            place = (evidence.statement_id, evidence.start, evidence.end)
            if place not in present:
                present.add(place)
                rows.append(statement_row(evidence.statement_id, statement, evidence))
        if rows:
            self._append(
                EventKind.STATEMENTS_ASSERTED,
                {"source_sha256": document.source_sha256, "run": run, "statements": rows},
            )
        return len(rows)

    def _reject(self, document: Document, rejected: Sequence[tuple[str, str]], run: str) -> None:
        known = set(self._store.rejections(document.source_sha256))
        fresh = sorted({(reason, text) for reason, text in rejected} - known)
        if fresh:
            self._append(
                EventKind.CANDIDATES_REJECTED,
                {"source_sha256": document.source_sha256, "run": run, "rejected": fresh},
            )

    def retract_statement(self, statement_id: str) -> int:
        """Withdraw all evidence given so far for a statement; give the new revision.

        Admitting the same evidence again does not bring it back; evidence from elsewhere does.
        """
        self.statement(statement_id)
        with self._lock, self._log.transaction():
            return self._append(EventKind.STATEMENT_RETRACTED, {"statement_id": statement_id})

    def retract_document(self, source_sha256: str) -> int:
        """Withdraw a document with all it states; give the new revision."""
        self.record(source_sha256)
        with self._lock, self._log.transaction():
            return self._append(EventKind.DOCUMENT_RETRACTED, {"source_sha256": source_sha256})

    def erase_document(self, source_sha256: str, *, run: str) -> int:
        """Erase a document's bytes and text and all that was taken from it; give the new revision.

        The chain keeps the digests of what is erased. This cannot be undone.
        """
        with self._lock, self._log.transaction():
            if self._store.record(source_sha256) is None:
                raise self._no_document(source_sha256)
            numbers = [
                event.number
                for event in self._log.events()
                if event.kind in _WITH_CONTENT
                and event.payload is not None
                and event.payload["source_sha256"] == source_sha256
            ]
            about: dict[str, object] = {"source_sha256": source_sha256, "run": run}
            number = self._log.erase(numbers, about)
            self._store.apply(Event(number, EventKind.ERASED, about))
        self._text.cache_clear()
        self._projected.discard()
        self._connection.execute("VACUUM")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return number

    def publish_policy(self, id: str, version: str, text: str) -> PolicyRecord:
        """Store a policy version, which never changes afterwards.

        Raises AlreadyExists if that version is there with another text.
        """
        with self._lock, self._log.transaction():
            for policy in self._store.policies():
                if (policy.id, policy.version) == (id, version):
                    if policy.text != text:
                        raise AlreadyExists(
                            f"policy {id}@{version} is published with another text; "
                            "publish the change as a new version"
                        )
                    return policy
            number = self._append(
                EventKind.POLICY_PUBLISHED, {"id": id, "version": version, "text": text}
            )
        return PolicyRecord(id, version, text, number)

    # ---- reading

    @property
    def _reading(self) -> _Reading:
        """What this thread reads with."""
        reading: _Reading | None = getattr(self._local, "reading", None)
        if reading is None:
            connection = open_database(self._directory / _DATABASE)
            reading = _Reading(connection, self._log_on(connection), Store(connection))
            self._local.reading = reading
            with self._lock:
                self._opened.append(connection)
        return reading

    @property
    def _reader(self) -> Store:
        return self._reading.store

    def documents(self, *, as_of: int | None = None) -> tuple[DocumentRecord, ...]:
        """Give the documents, by digest; those that stood at revision `as_of`, if given."""
        return self._reader.documents(as_of=as_of)

    def record(self, source_sha256: str) -> DocumentRecord:
        """Give what is known of a document without reading it.

        Raises NotFound, or SourceErased.
        """
        record = self._reader.record(source_sha256)
        if record is None or record.retracted is not None:
            raise self._no_document(source_sha256)
        return record

    def document(self, source_sha256: str) -> Document:
        """Read a document.

        Raises NotFound, or SourceErased.
        """
        return self._reader.document(self.record(source_sha256))

    def source_bytes(self, source_sha256: str) -> bytes:
        """Give a document's bytes, also of a retracted one.

        Raises NotFound, or SourceErased.
        """
        data = self._reader.source(source_sha256)
        if data is None:
            raise self._no_document(source_sha256)
        return data

    def text(self, text_sha256: str) -> str:
        """Give a decoded text, also of a retracted document.

        Raises NotFound.
        """
        return self._text(text_sha256)

    def _read_text(self, text_sha256: str) -> str:
        text = self._reader.text(text_sha256)
        if text is None:
            raise NotFound(f"no stored text has the digest {text_sha256}")
        return text

    def rejections(self, source_sha256: str) -> tuple[tuple[str, str], ...]:
        """Give (reason, text) of the candidates not grounded in a document, sorted."""
        return self._reader.rejections(source_sha256)

    def _no_document(self, source_sha256: str) -> NotFound:
        if self._reader.is_erased(source_sha256):
            return SourceErased(f"the document {source_sha256} has been erased")
        return NotFound(f"no document has the digest {source_sha256}")

    def every_statement(
        self,
        *,
        subject: str | None = None,
        dimension: str | None = None,
        source_sha256: str | None = None,
        as_of: int | None = None,
    ) -> Iterator[Row]:
        """Yield (id, statement, evidence) of what stands and matches, by id.

        What stood at revision `as_of`, if given. Evidence is in order of (source, start, end).
        """
        return self._reader.statements(
            subject=subject, dimension=dimension, source_sha256=source_sha256, as_of=as_of
        )

    def statements(
        self, *, subject: str | None = None, dimension: str | None = None
    ) -> tuple[Statement, ...]:
        """Give the statements that stand and match, by id."""
        return tuple(row[1] for row in self.every_statement(subject=subject, dimension=dimension))

    def statement(self, statement_id: str) -> Statement:
        """Give a statement that stands.

        Raises NotFound.
        """
        return self._row(statement_id)[1]

    def evidence(self, statement_id: str) -> tuple[Evidence, ...]:
        """Give the evidence of a statement that stands, by (source, start, end).

        Raises NotFound.
        """
        return self._row(statement_id)[2]

    def _row(self, statement_id: str) -> Row:
        for row in self._reader.statements(id=statement_id):
            return row
        raise NotFound(f"no statement has the id {statement_id}")

    def entity_names(self) -> tuple[str, ...]:
        """Give the names that stand as subjects or entity values, sorted."""
        return tuple(self._reader.entity_names())

    def policies(self) -> tuple[PolicyRecord, ...]:
        """Give all policy versions, by id and then in order of publication."""
        return self._reader.policies()

    def policy(self, id: str, version: str | None = None) -> PolicyRecord:
        """Give a policy version, or the newest published.

        Raises NotFound naming the nearest.
        """
        policies = self.policies()
        found = [p for p in policies if p.id == id and version in (None, p.version)]
        if found:
            return found[-1]
        wanted = id if version is None else f"{id}@{version}"
        raise NotFound(f"no policy {wanted} is published{_nearest(wanted, policies)}")

    def define_dimension(self, dimension: Dimension) -> int:
        """Define a dimension, in place of an earlier one of that name; give the revision.

        Defining the same again changes nothing.
        """
        form = dimension_to_json(dimension)
        with self._lock, self._log.transaction():
            if form in self._store.dimensions():
                return self._log.revision
            return self._append(EventKind.DIMENSION_DEFINED, form)

    def dimensions(self) -> tuple[Dimension, ...]:
        """Give the defined dimensions, by name."""
        return tuple(map(dimension_from_json, self._reader.dimensions()))

    # ---- projections

    def search(self, query: str, limit: int) -> tuple[Hit, ...]:
        """Find the passages that best match the words of a text, best first.

        Equal scores are ordered by source and position.
        """
        reading = self._reading
        hits = []
        for place in self._projected.search(reading.log, reading.store, query, limit):
            record = self.record(place.source_sha256)
            text = self.text(record.text_sha256)[place.start : place.end]
            hits.append(
                Hit(place.source_sha256, place.title, place.start, place.end, text, place.score)
            )
        return tuple(hits)

    def rdf(self) -> RdfProjection:
        """Give the RDF projection, caught up with the log."""
        reading = self._reading
        return self._projected.rdf(reading.log, reading.store)

    def query(self, text: str, accept: str = "") -> tuple[str, bytes]:
        """Answer a SPARQL query over what stands, as (media type, body)."""
        return self.rdf().query(text, accept)

    @property
    def _projected(self) -> Projections:
        with self._lock:
            if self._projections is None:
                self._projections = Projections(self._directory / "projections", self._namespace)
            return self._projections

    # ---- verdicts

    def record_verdict(self, certificate: bytes, receipt: Mapping[str, object]) -> str:
        """Store a certificate with the receipt that went with it; give its digest."""
        with self._lock:
            return self._verdicts.record_verdict(certificate, receipt)

    def record_sign_off(self, digest: str, sign_off: Mapping[str, object]) -> int:
        """Record that somebody signed a stored certificate off; give its place in the chain."""
        with self._lock:
            return self._verdicts.record_sign_off(digest, sign_off)

    def certificate(self, digest: str) -> bytes:
        """Give a stored certificate.

        Raises NotFound.
        """
        with self._lock:
            return self._verdicts.certificate(digest)

    def certificates(self, digest: str | None = None) -> tuple[VerdictRecord, ...]:
        """Give each time a certificate, or this one, was given, oldest first."""
        with self._lock:
            return self._verdicts.verdicts(digest)

    def sign_offs(self, digest: str | None = None) -> tuple[SignOffRecord, ...]:
        """Give the sign-offs, of one certificate if given, oldest first."""
        with self._lock:
            return self._verdicts.sign_offs(digest)

    # ---- checking

    def verify_log(self) -> None:
        """Check both chains and that everything stored follows from them.

        Raises LogCorrupt naming the first thing that does not hold.
        """
        with self._lock:
            self._log.verify()
            self._verdicts.verify()
            replayed = sqlite3.connect(":memory:", isolation_level=None)
            try:
                twin = Store(replayed)
                twin.create()
                for event in self._log.events():
                    twin.apply(event)
                self._store.check_against(twin)
            finally:
                replayed.close()


def _nearest(wanted: str, policies: Iterable[PolicyRecord]) -> str:
    names = sorted({name for p in policies for name in (p.id, f"{p.id}@{p.version}")})
    near = difflib.get_close_matches(wanted, names, n=1)
    return f"; the nearest is {near[0]}" if near else ""


def _check_bytes(document: Document, data: bytes) -> None:
    if hashlib.sha256(data).hexdigest() != document.source_sha256:
        raise DocumentRejected(
            f"the bytes given for {document.name} are not those it was decoded from"
        )


def _check_quotes(document: Document, grounded: Sequence[Grounded]) -> None:
    problems = []
    text, text_sha256 = document.text, document.text_sha256
    for statement, evidence in grounded:
        if text[evidence.start : evidence.end] != evidence.quote:
            problem = f"its quote does not stand at [{evidence.start}, {evidence.end})"
        elif (evidence.source_sha256, evidence.text_sha256) != (
            document.source_sha256,
            text_sha256,
        ):
            problem = "its evidence names another document"
        elif evidence.statement_id != statement.id:
            problem = "its evidence is of another statement"
        else:
            continue
        problems.append(f"{statement.subject} {statement.dimension}: {problem}")
    if problems:
        raise StatementRejected(f"{document.name}: " + "; ".join(problems))
