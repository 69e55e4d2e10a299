"""Writing: each method appends events and, in the same transaction, the rows that follow from them.

Everything a document brings is one transaction, so a crash leaves all of it or nothing. A large
import is several, each whole, and its document is marked incomplete until the last.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from .admission import Admission, Grounded, check_bytes, check_grounded, value_kinds
from .applying import apply_event, put_document
from .database import translated_errors
from .dimension import Dimension, dimension_to_json
from .document import Document
from .erasing import Selection, erasure, of_document
from .errors import AlreadyExists, DocumentRejected, NotFound
from .group_commit import GroupCommit
from .log import Event, Log
from .records import (
    DocumentRecord,
    EventKind,
    PolicyRecord,
    document_form,
    is_run_of,
    statement_row,
)
from .schema import create_tables, drop_tables, is_current
from .store import Present, Store, no_document, standing_record

CHUNK = 20_000
"""Statements that an import writes in one transaction."""

_WITH_CONTENT = frozenset(
    {EventKind.DOCUMENT_ADDED, EventKind.STATEMENTS_ASSERTED, EventKind.CANDIDATES_REJECTED}
)


class Journal:
    """The log and the tables of one database; threads write one after the other."""

    def __init__(self, connection: sqlite3.Connection, log: Log) -> None:
        self._connection = connection
        self._group = GroupCommit(connection, log)
        self._lock = self._group.lock
        self._log = log
        self._store = Store(connection)
        with translated_errors("the knowledge log"):
            log.create()
            if is_current(connection):
                create_tables(connection)
            else:
                self._make_anew()

    def create(self, namespace: str) -> None:
        """Begin the log.

        Raises AlreadyExists if it has begun.
        """
        with self._transaction():
            if self._log.revision:
                raise AlreadyExists("there is a knowledge base; expected none")
            self._append(EventKind.CREATED, {"namespace": namespace, "format": 1})

    def verify(self) -> None:
        """Check the chain, and that the tables follow from it.

        Raises LogCorrupt naming the first thing that does not hold.
        """
        with self._lock, translated_errors("the knowledge log"):
            self._log.verify()
            replayed = sqlite3.connect(":memory:", isolation_level=None)
            try:
                create_tables(replayed)
                for event in self._log.events():
                    apply_event(replayed, event)
                self._store.check_against(Store(replayed))
            finally:
                replayed.close()

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._connection.close()

    def _make_anew(self) -> None:
        """Replay the log into tables of the current version."""
        with self._log.transaction():
            drop_tables(self._connection)
            create_tables(self._connection)
            for event in self._log.events():
                apply_event(self._connection, event)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, translated_errors("the log"), self._log.transaction():
            yield

    def _append(self, kind: EventKind, payload: dict[str, object]) -> int:
        number = self._log.append(kind, payload)
        apply_event(self._connection, Event(number, kind, payload))
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
        """Store a document with the statements taken from it, all or nothing; idempotent.

        `rejected` lists (reason, text) of candidates that were not grounded. Raises
        StatementRejected naming every quote that does not stand at its span, and DocumentRejected
        if the bytes are not those of the document or stored with another decoded text.
        """
        check_bytes(document, data)
        check_grounded(document, grounded, self._kinds())

        def write() -> Admission:
            is_new = self._add_document(document, data, run=run, complete=True)
            present = Present() if is_new else self._store.present(document.source_sha256)
            inserted = self._assert(document, grounded, present, run)
            self._reject(document, rejected, run)
            return Admission(inserted, len(grounded) - inserted, is_new)

        return self._group.write(write)

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
        check_bytes(document, data)
        kinds = self._kinds()
        source: dict[str, object] = {"source_sha256": document.source_sha256, "run": run}
        total = inserted = 0
        begun = is_new = False
        present = Present()
        standing: DocumentRecord | None = None
        revision = 0
        pending = iter(grounded)
        batch = list(islice(pending, chunk))
        while standing is None or batch:
            check_grounded(document, batch, kinds)
            following = list(islice(pending, chunk))
            with self._transaction():
                if standing is None:
                    is_new = self._add_document(document, data, run=run, complete=not following)
                    standing = standing_record(self._store, document.source_sha256)
                    begun = not standing.complete
                if self._log.revision != revision:  # first, or somebody else has written
                    now = self._store.record(document.source_sha256)
                    if now is None or (now.asserted, now.retracted) != (standing.asserted, None):
                        raise DocumentRejected(f"{document.name} was retracted while imported")
                    present = self._store.present(document.source_sha256)
                count = self._assert(document, batch, present, run)
                if count and following and not begun:
                    self._append(EventKind.IMPORT_BEGUN, source)
                    begun = True
                if not following:
                    self._reject(document, rejected, run)
                    if begun:
                        self._append(EventKind.IMPORT_COMPLETED, source)
                revision = self._log.revision
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
        put_document(self._connection, document, data)
        form = document_form(document, complete=complete)
        self._append(EventKind.DOCUMENT_ADDED, {**form, "run": run})
        return True

    def _assert(
        self,
        document: Document,
        grounded: Sequence[Grounded],
        present: Present,
        run: str,
    ) -> int:
        """Append what is not present, and add it there; give how much it was."""
        rows = []
        for statement, evidence in grounded:
            if present.take(evidence):
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
        with self._transaction():
            if next(self._store.statements(id=statement_id), None) is None:
                raise NotFound(f"no statement has the id {statement_id}")
            return self._append(EventKind.STATEMENT_RETRACTED, {"statement_id": statement_id})

    def retract_span(self, source_sha256: str, start: int, end: int) -> int:
        """Withdraw all evidence given so far that quotes any of a span; give the new revision.

        The span is half-open, in code points. Raises NotFound where nothing rests on it.
        """
        with self._transaction():
            record = standing_record(self._store, source_sha256)
            rows = self._store.statements(source_sha256=source_sha256)
            if not any(
                max(item.start, start) < min(item.end, end)
                for _, _, evidence in rows
                for item in evidence
                if item.source_sha256 == source_sha256
            ):
                raise NotFound(f"no statement rests on [{start}, {end}) of {record.name}")
            return self._append(
                EventKind.SPAN_RETRACTED,
                {"source_sha256": source_sha256, "start": start, "end": end},
            )

    def retract_run(self, extractor: str, *, source_sha256: str | None = None) -> int:
        """Withdraw all that an extractor has read so far, in one document if given.

        Its id stands for it whatever model and packs it read with, see `is_run_of`.
        Reading again with that extractor does not bring it back; another one may read the same.
        Raises NotFound, naming the extractors there are, where it has read nothing.
        """
        with self._transaction():
            self.check_run(extractor, source_sha256=source_sha256)
            return self._append(
                EventKind.RUN_RETRACTED,
                {"extractor": extractor, "source_sha256": source_sha256},
            )

    def check_run(self, extractor: str, *, source_sha256: str | None = None) -> None:
        """Raise NotFound, naming those there are, where an extractor has read nothing."""
        with self._lock:
            if source_sha256 is not None:
                standing_record(self._store, source_sha256)
            extractors = self._store.extractors(source_sha256=source_sha256)
        if not any(is_run_of(found, extractor) for found in extractors):
            raise NotFound(
                f"no extractor {extractor!r} has read what stands; "
                f"expected one of: {'; '.join(extractors) or '(none)'}"
            )

    def withdraw_links(self, statement_ids: Sequence[str], *, extractor: str) -> int:
        """Withdraw what an extractor says of statements, which it may say again later.

        Evidence of others for them stays.
        """
        with self._transaction():
            return self._append(
                EventKind.LINKS_WITHDRAWN,
                {"extractor": extractor, "statements": sorted(statement_ids)},
            )

    def retract_document(self, source_sha256: str) -> int:
        """Withdraw a document with all it states; give the new revision."""
        with self._transaction():
            standing_record(self._store, source_sha256)
            return self._append(EventKind.DOCUMENT_RETRACTED, {"source_sha256": source_sha256})

    def erase_document(self, source_sha256: str, *, run: str) -> int:
        """Erase a document's bytes and text and all that was taken from it; give the new revision.

        The chain keeps the digests of what is erased. This cannot be undone.
        """
        with self._transaction():
            if self._store.record(source_sha256) is None:
                raise no_document(self._store, source_sha256)
            if self._is_restated(source_sha256):
                self._erase(of_document(source_sha256), run)
            numbers = [
                event.number
                for event in self._log.events()
                if event.kind in _WITH_CONTENT
                and event.payload is not None
                and event.payload["source_sha256"] == source_sha256
            ]
            about: dict[str, object] = {"source_sha256": source_sha256, "run": run}
            number = self._log.erase(numbers, about)
            apply_event(self._connection, Event(number, EventKind.ERASED, about))
        self._compact()
        return number

    def erase_evidence(self, selection: Selection, *, run: str) -> int:
        """Erase evidence, withdrawn or not, from the log; give the new revision.

        Documents keep their bytes. What else was asserted with it stays, at every revision. The
        same is not taken from the same document again. This cannot be undone. Raises NotFound where
        no evidence is selected.
        """
        with self._transaction():
            number = self._erase(selection, run)
        self._compact()
        return number

    def _erase(self, selection: Selection, run: str) -> int:
        numbers, about = erasure(self._connection, self._log, selection)
        number = self._log.erase(numbers, {**about, "run": run})
        apply_event(self._connection, Event(number, EventKind.ERASED, {**about, "events": numbers}))
        return number

    def _is_restated(self, source_sha256: str) -> bool:
        """Whether a tombstone says something of a document again."""
        found = self._connection.execute(
            "SELECT 1 FROM evidence e JOIN document d ON d.key = e.document"
            " JOIN event v ON v.number = e.asserted"
            " WHERE d.source_sha256 = ? AND v.payload IS NULL LIMIT 1",
            (source_sha256,),
        )
        return found.fetchone() is not None

    def _compact(self) -> None:
        """Leave nothing of what was erased in the file."""
        with self._lock:
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def define_dimension(self, dimension: Dimension) -> int:
        """Define a dimension, in place of an earlier one of that name; give the revision.

        Defining the same again changes nothing.
        """
        form = dimension_to_json(dimension)
        with self._transaction():
            if form == self._store.dimension(dimension.name):
                return self._log.revision
            return self._append(EventKind.DIMENSION_DEFINED, form)

    def publish_policy(self, id: str, version: str, text: str) -> PolicyRecord:
        """Store a policy version, which never changes afterwards.

        Raises AlreadyExists if that version is there with another text.
        """
        with self._transaction():
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

    def _kinds(self) -> dict[str, str]:
        """What values the defined dimensions have, by the dimension's name."""
        with self._lock:
            return value_kinds(self._store.dimension_kinds())
