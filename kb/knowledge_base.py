"""A knowledge base in a directory: the log, its tables, the verdicts and the projections.

knowledge.sqlite  knowledge.head     the knowledge log with its tables, and its anchor
verdicts.sqlite   verdicts.head      the second chain
projections/                         rebuildable from the log
"""

from __future__ import annotations

import datetime
import difflib
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

from .asserted import Asserted
from .database import open_database
from .dimension import Dimension, dimension_from_json
from .document import Document
from .errors import AlreadyExists, LogCorrupt, NotFound
from .journal import CHUNK, Admission, Grounded, Journal, no_document, standing_record
from .lattice import Constraint, LatticeIndex
from .log import Log
from .projections import Projections
from .rdf import RdfProjection
from .records import DocumentRecord, EventKind, PolicyRecord, Row
from .statement import Evidence, Statement
from .store import Store
from .verdicts import SignOffRecord, VerdictLog, VerdictRecord
from .vocabulary import check_namespace

_DATABASE = "knowledge.sqlite"


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
    log: Log
    store: Store


class KnowledgeBase:
    """One knowledge base; safe for use by several threads, which write one after the other.

    Each reading sees what was committed when it began, and waits for no writer.
    """

    def __init__(self, directory: Path, namespace: str, journal: Journal) -> None:
        """Use `create` or `open`."""
        self._directory = directory
        self._namespace = namespace
        self._journal = journal
        self._verdicts = VerdictLog(directory)
        self._projections = Projections(directory / "projections", namespace)
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._text = lru_cache(maxsize=16)(self._read_text)

    # ---- life

    @classmethod
    def create(cls, directory: Path, *, namespace: str) -> Self:
        """Make a knowledge base in a directory that has none; `namespace` begins its data IRIs.

        Raises AlreadyExists if the directory holds one, and IRIRejected.
        """
        check_namespace(namespace)
        directory.mkdir(parents=True, exist_ok=True)
        connection = open_database(directory / _DATABASE)
        journal = Journal(connection, _log(connection, directory))
        try:
            journal.create(namespace)
        except AlreadyExists as error:
            journal.close()
            raise AlreadyExists(f"{directory} holds a knowledge base; expected none") from error
        return cls(directory, namespace, journal)

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open the knowledge base of a directory.

        Raises NotFound if there is none and LogCorrupt if its log does not reach its anchor.
        """
        if not (directory / _DATABASE).exists():
            raise NotFound(f"{directory} holds no knowledge base; make one with init")
        connection = open_database(directory / _DATABASE)
        try:
            log = _log(connection, directory)
            journal = Journal(connection, log)
            log.check_anchor()
            log.renew_anchor()
            first = next(log.events(), None)
            if first is None:
                raise NotFound(f"{directory} holds no knowledge base; make one with init")
            if first.kind != EventKind.CREATED or first.payload is None:
                raise LogCorrupt(f"event 1 is {first.kind}; expected {EventKind.CREATED}")
        except Exception:
            connection.close()
            raise
        return cls(directory, str(first.payload["namespace"]), journal)

    def close(self) -> None:
        """Close every file. Threads must have stopped reading."""
        while self._opened:
            self._opened.pop().close()
        self._projections.close()
        self._verdicts.close()
        self._journal.close()

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

    def kinds_since(self, revision: int) -> frozenset[str]:
        """Give the kinds of the events after a revision."""
        return self._reading.log.kinds(after=revision)

    # ---- writing

    def admit(
        self,
        document: Document,
        data: bytes,
        grounded: Sequence[Grounded],
        *,
        run: str,
        rejected: Sequence[tuple[str, str]] = (),
    ) -> Admission:
        """Store a document with what was taken from it, in one transaction: see `Journal.admit`."""
        return self._journal.admit(document, data, grounded, run=run, rejected=rejected)

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
        """Store a table with its statements: see `Journal.import_statements`."""
        return self._journal.import_statements(
            document, data, grounded, run=run, rejected=rejected, chunk=chunk
        )

    def retract_statement(self, statement_id: str) -> int:
        """Withdraw all evidence given so far for a statement: see `Journal.retract_statement`."""
        return self._journal.retract_statement(statement_id)

    def retract_document(self, source_sha256: str) -> int:
        """Withdraw a document with all it states; give the new revision."""
        return self._journal.retract_document(source_sha256)

    def erase_document(self, source_sha256: str, *, run: str) -> int:
        """Erase a document's bytes and all that was taken from it: see `Journal.erase_document`.

        Certificates that quote it stay, and can no longer be checked against it.
        """
        revision = self._journal.erase_document(source_sha256, run=run)
        self._text.cache_clear()
        self._projections.discard()
        return revision

    def define_dimension(self, dimension: Dimension) -> int:
        """Define a dimension, in place of an earlier one of that name; give the revision."""
        return self._journal.define_dimension(dimension)

    def publish_policy(self, id: str, version: str, text: str) -> PolicyRecord:
        """Store a policy version, which never changes afterwards: see `Journal.publish_policy`."""
        return self._journal.publish_policy(id, version, text)

    # ---- reading

    @property
    def _reading(self) -> _Reading:
        """What this thread reads with."""
        reading: _Reading | None = getattr(self._local, "reading", None)
        if reading is None:
            connection = open_database(self._directory / _DATABASE)
            self._opened.append(connection)
            reading = _Reading(_log(connection, self._directory), Store(connection))
            self._local.reading = reading
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
        return standing_record(self._reader, source_sha256)

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
            raise no_document(self._reader, source_sha256)
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

    def asserted(self, *, revision: int) -> Asserted:
        """Give what was asserted at a revision, to be read by dimension."""
        return Asserted(lambda: self._reader.connection, revision=revision)

    def mentions(self, names: Collection[str]) -> Iterator[tuple[Statement, Evidence]]:
        """Yield what stands with one of the names as subject or entity value; see the store."""
        return self._reader.mentions(names)

    def passage_titles(self) -> frozenset[str]:
        """Give the titles of the passages of all documents that stand."""
        return self._reader.passage_titles()

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
        for place in self._projections.search(reading.log, reading.store, query, limit):
            record = reading.store.record(place.source_sha256)
            if record is None:  # erased since
                continue
            text = self.text(record.text_sha256)[place.start : place.end]
            hits.append(
                Hit(place.source_sha256, place.title, place.start, place.end, text, place.score)
            )
        return tuple(hits)

    def meet(
        self, constraints: Iterable[Constraint], *, valid_on: datetime.date | None = None
    ) -> tuple[str, ...]:
        """Give the names of all instances that satisfy every constraint, sorted."""
        reading = self._reading
        return self._projections.meet(reading.log, reading.store, constraints, valid_on)

    def lattice(self) -> LatticeIndex:
        """Give the lattice index, caught up with the log.

        It is for one thread, and until the next call only; `meet` is safe for several.
        """
        reading = self._reading
        return self._projections.lattice(reading.log, reading.store)

    def rdf(self) -> RdfProjection:
        """Give the RDF projection, caught up with the log and with the verdicts."""
        reading = self._reading
        return self._projections.rdf(reading.log, reading.store, self._verdicts)

    def query(self, text: str, accept: str = "") -> tuple[str, bytes]:
        """Answer a SPARQL query over what stands, as (media type, body)."""
        return self.rdf().query(text, accept)

    # ---- verdicts

    def record_verdict(self, certificate: bytes, receipt: Mapping[str, object]) -> VerdictRecord:
        """Store a certificate with the receipt that went with it, and give the record."""
        return self._verdicts.record_verdict(certificate, receipt)

    def record_sign_off(self, digest: str, sign_off: Mapping[str, object]) -> int:
        """Record that somebody signed a stored certificate off; give its place in the chain."""
        return self._verdicts.record_sign_off(digest, sign_off)

    def certificate(self, digest: str) -> bytes:
        """Give a stored certificate.

        Raises NotFound.
        """
        return self._verdicts.certificate(digest)

    def certificates(self, digest: str | None = None) -> tuple[VerdictRecord, ...]:
        """Give each time a certificate, or this one, was given, oldest first."""
        return self._verdicts.verdicts(digest)

    def sign_offs(self, digest: str | None = None) -> tuple[SignOffRecord, ...]:
        """Give the sign-offs, of one certificate if given, oldest first."""
        return self._verdicts.sign_offs(digest)

    # ---- checking

    def verify_log(self) -> None:
        """Check both chains and that everything stored follows from them.

        Raises LogCorrupt naming the first thing that does not hold.
        """
        self._journal.verify()
        self._verdicts.verify()


def _log(connection: sqlite3.Connection, directory: Path) -> Log:
    return Log(connection, name="knowledge", anchor=directory / "knowledge.head")


def _nearest(wanted: str, policies: Iterable[PolicyRecord]) -> str:
    names = sorted({name for p in policies for name in (p.id, f"{p.id}@{p.version}")})
    near = difflib.get_close_matches(wanted, names, n=1)
    return f"; the nearest is {near[0]}" if near else ""
