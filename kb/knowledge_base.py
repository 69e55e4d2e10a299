"""A knowledge base in a directory: the log, its tables, the verdicts and the projections.

knowledge.sqlite  knowledge.head     the knowledge log with its tables, and its anchor
verdicts.sqlite   verdicts.head      the second chain
projections/                         rebuildable from the log
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from .admission import Admission, Grounded
from .database import open_database
from .dimension import Dimension
from .document import Document
from .embedding import Embedder
from .erasing import of_run, of_span, of_statement
from .errors import AlreadyExists, LogCorrupt, NotFound
from .journal import CHUNK, Journal
from .past import PastProjections
from .projections import Projections
from .readers import DATABASE, Readers, knowledge_log
from .reading import Hit, Reading
from .records import EventKind, PolicyRecord
from .verdicts import SignOffRecord, VerdictLog, VerdictRecord
from .vocabulary import check_namespace

__all__ = ["Hit", "KnowledgeBase"]


class KnowledgeBase(Reading):
    """One knowledge base: the reading of its newest revision, and writing.

    Safe for use by several threads, which write one after the other. Each reading sees what was
    committed when it began, and waits for no writer.
    """

    def __init__(
        self,
        directory: Path,
        namespace: str,
        journal: Journal,
        embedder: Embedder | None = None,
    ) -> None:
        """Use `create` or `open`."""
        super().__init__(
            Readers(directory),
            Projections(directory / "projections", namespace, embedder),
            PastProjections(directory / "projections" / "past", namespace),
            VerdictLog(directory),
            namespace,
        )
        self._directory = directory
        self._journal = journal

    # ---- life

    @classmethod
    def create(cls, directory: Path, *, namespace: str) -> Self:
        """Make a knowledge base in a directory that has none; `namespace` begins its data IRIs.

        Raises AlreadyExists if the directory holds one, and IRIRejected.
        """
        check_namespace(namespace)
        directory.mkdir(parents=True, exist_ok=True)
        connection = open_database(directory / DATABASE)
        journal = Journal(connection, knowledge_log(connection, directory))
        try:
            journal.create(namespace)
        except AlreadyExists as error:
            journal.close()
            raise AlreadyExists(f"{directory} holds a knowledge base; expected none") from error
        return cls(directory, namespace, journal)

    @classmethod
    def open(cls, directory: Path, *, embedder: Embedder | None = None) -> Self:
        """Open the knowledge base of a directory; with an `embedder`, searches weigh vectors.

        Raises NotFound if there is none and LogCorrupt if its log does not reach its anchor.
        """
        if not (directory / DATABASE).exists():
            raise NotFound(f"{directory} holds no knowledge base; make one with init")
        connection = open_database(directory / DATABASE)
        try:
            log = knowledge_log(connection, directory)
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
        return cls(directory, str(first.payload["namespace"]), journal, embedder)

    def close(self) -> None:
        """Close every file. Threads must have stopped reading."""
        self._past.close()
        self._projections.close()
        self._readers.close()
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

    def retract_span(self, source_sha256: str, start: int, end: int) -> int:
        """Withdraw what rests on a span of a document: see `Journal.retract_span`."""
        return self._journal.retract_span(source_sha256, start, end)

    def retract_run(self, extractor: str, *, source_sha256: str | None = None) -> int:
        """Withdraw what an extractor read, in one document if given; see `Journal.retract_run`."""
        return self._journal.retract_run(extractor, source_sha256=source_sha256)

    def check_run(self, extractor: str, *, source_sha256: str | None = None) -> None:
        """Raise NotFound where an extractor has read nothing: see `Journal.check_run`."""
        self._journal.check_run(extractor, source_sha256=source_sha256)

    def withdraw_links(self, statement_ids: Sequence[str], *, extractor: str) -> int:
        """Withdraw what an extractor says of statements: see `Journal.withdraw_links`."""
        return self._journal.withdraw_links(statement_ids, extractor=extractor)

    def retract_document(self, source_sha256: str) -> int:
        """Withdraw a document with all it states; give the new revision."""
        return self._journal.retract_document(source_sha256)

    def erase_document(self, source_sha256: str, *, run: str) -> int:
        """Erase a document's bytes and all that was taken from it: see `Journal.erase_document`.

        Certificates that quote it stay, and can no longer be checked against it.
        """
        return self._forget(self._journal.erase_document(source_sha256, run=run))

    def erase_statement(self, statement_id: str, *, run: str) -> int:
        """Erase all evidence of a statement from the log: see `Journal.erase_evidence`."""
        return self._forget(self._journal.erase_evidence(of_statement(statement_id), run=run))

    def erase_span(self, source_sha256: str, start: int, end: int, *, run: str) -> int:
        """Erase what quotes any of a span of a document from the log."""
        selection = of_span(source_sha256, start, end)
        return self._forget(self._journal.erase_evidence(selection, run=run))

    def erase_run(self, extractor: str, *, source_sha256: str | None = None, run: str) -> int:
        """Erase what an extractor has read from the log, in one document if given."""
        selection = of_run(extractor, source_sha256)
        return self._forget(self._journal.erase_evidence(selection, run=run))

    def _forget(self, revision: int) -> int:
        """Make nothing of what was erased outlive it."""
        self._readers.text.cache_clear()
        self._past.close()
        self._projections.discard()
        return revision

    def define_dimension(self, dimension: Dimension) -> int:
        """Define a dimension, in place of an earlier one of that name; give the revision."""
        return self._journal.define_dimension(dimension)

    def publish_policy(self, id: str, version: str, text: str) -> PolicyRecord:
        """Store a policy version, which never changes afterwards: see `Journal.publish_policy`."""
        return self._journal.publish_policy(id, version, text)

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

    def verify_log(self, *, expect: Mapping[int, str] | None = None) -> None:
        """Check both chains, that everything stored follows from them, and each receipt's head.

        `expect` has links of events that were noted elsewhere. A receipt betrays a log whose tail
        was cut together with its anchor. Raises LogCorrupt naming the first thing that does not
        hold.
        """
        self._journal.verify()
        self._verdicts.verify()
        noted = {
            int(str(record.receipt["revision"])): str(record.receipt["log_head"])
            for record in self._verdicts.verdicts()
            if str(record.receipt.get("revision", "")).isdecimal() and "log_head" in record.receipt
        }
        log = self._readers.log
        newest = log.revision
        for given, where in ((noted, "a receipt"), (expect or {}, "what was noted elsewhere")):
            for revision, head in sorted(given.items()):
                if revision > newest:
                    raise LogCorrupt(
                        f"the log ends at event {newest}, but {where} names event {revision}: "
                        "the tail is cut"
                    )
                if log.link(revision) != head:
                    raise LogCorrupt(
                        f"event {revision} has another link than {where} says: the log was altered"
                    )
