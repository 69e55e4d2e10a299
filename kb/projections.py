"""The projections of a knowledge base, opened at first use and caught up with the log before use.

Each records the revision it has followed after the changes up to it. So after a crash it follows
some events a second time, which changes nothing.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from .answers import Answers
from .constraint import Constraint, Range
from .dimension import dimension_from_json
from .embedding import Embedder
from .lattice import LatticeIndex
from .lattice_projection import LatticeProjection
from .log import Event, Log
from .meeting import Meeting, decide
from .qualified import EVERYTHING, View
from .rdf import RdfProjection
from .rdf_quads import Triple
from .records import RETRACTIONS, EventKind
from .search import Place, Reach, TextIndex
from .store import Store
from .vectors import WEIGHED, VectorIndex
from .verdict_quads import certificate_triples, decision_triples, sign_off_triples
from .verdicts import VerdictLog

PASSAGE_EVENTS = frozenset(
    {EventKind.DOCUMENT_ADDED, EventKind.DOCUMENT_RETRACTED, EventKind.ERASED}
)
"""Events that change which passages stand."""


class Projections:
    """RDF, text index, vectors and lattice index of one directory. `log` and `store` are only read.

    There are vectors only with an `embedder`.
    """

    def __init__(self, directory: Path, namespace: str, embedder: Embedder | None = None) -> None:
        self._directory = directory
        self._namespace = namespace
        self._lock = threading.RLock()
        self._rdf: RdfProjection | None = None
        self._text: TextIndex | None = None
        self._embedder = embedder
        self._vectors: VectorIndex | None = None
        self._lattice = self._new_lattice()

    def close(self) -> None:
        """Close what was opened."""
        with self._lock:
            if self._rdf is not None:
                self._rdf.close()
            if self._vectors is not None:
                self._vectors.close()
            self._rdf = self._text = self._vectors = None
            self._lattice = self._new_lattice()

    def search(
        self,
        log: Log,
        store: Store,
        query: str,
        limit: int,
        *,
        revision: int,
        reach: Reach,
        read: Callable[[Place], str],
        past: Callable[[], TextIndex],
    ) -> tuple[Place, ...]:
        """Search the passages that stood at a revision; `read` gives the text of one.

        `past` gives the index of the revision where the one here has left it behind.
        """
        with self._lock:
            index = self.text(log, store, revision=revision)
            changes = log.kinds(after=revision, until=index.revision) & PASSAGE_EVENTS
            searcher = index.earlier(revision) if changes else index.searcher()
            vectors = self.vectors(log, store)
        if searcher is None:
            index = past()
            searcher = index.searcher()
        wanted = limit if vectors is None else max(limit, WEIGHED)
        found = index.search(query, wanted, reach=reach, read=read, searcher=searcher)
        return found if vectors is None else vectors.weigh(query, found, limit, read=read)

    def vectors(self, log: Log, store: Store) -> VectorIndex | None:
        """Give the vectors, caught up; None without an embedder."""
        if self._embedder is None:
            return None
        with self._lock:
            if self._vectors is None:
                self._vectors = VectorIndex(self._directory / "vectors.sqlite", self._embedder)
            revision = log.revision
            if self._vectors.revision != revision:
                records = {record.asserted: record for record in store.documents(as_of=revision)}
                self._vectors.follow(
                    records.keys(), lambda added: store.document(records[added]), revision=revision
                )
            return self._vectors

    def text(self, log: Log, store: Store, *, revision: int | None = None) -> TextIndex:
        """Give the text index, caught up with a revision, the newest by default, or beyond it."""
        with self._lock:
            if self._text is None:
                self._text = TextIndex(self._directory / "text")
            index = self._text
            revision = log.revision if revision is None else revision
            if index.revision >= revision:
                return index
            kinds = log.kinds(after=index.revision, until=revision)
            if index.revision == 0 or kinds & {EventKind.DOCUMENT_RETRACTED, EventKind.ERASED}:
                index = self._text = TextIndex(self._directory / "text", anew=True)
            elif EventKind.DOCUMENT_ADDED not in kinds:
                index.follow(revision)
                return index
            index.add(
                (
                    store.document(record)
                    for record in store.documents(as_of=revision)
                    if record.asserted > index.revision
                ),
                revision=revision,
            )
            return index

    def rdf(self, log: Log, store: Store, verdicts: VerdictLog) -> RdfProjection:
        """Give the RDF projection, caught up."""
        with self._lock:
            if self._rdf is None:
                self._rdf = RdfProjection(self._directory / "rdf", self._namespace)
            if self._rdf.revision == 0 and len(self._rdf):  # its first load was not finished
                self._rdf.close()
                shutil.rmtree(self._directory / "rdf")
                self._rdf = RdfProjection(self._directory / "rdf", self._namespace)
            if self._rdf.revision and _lost_evidence(log, self._rdf.revision):
                self._rdf.close()
                shutil.rmtree(self._directory / "rdf")
                self._rdf = RdfProjection(self._directory / "rdf", self._namespace)
            rdf = self._rdf
            revision = log.revision
            if rdf.revision == 0:
                for form in store.dimensions():
                    rdf.add_dimension(dimension_from_json(form))
                for record in store.documents(as_of=revision):
                    rdf.add_document(store.document(record))
                rdf.add_statements(store.statements(as_of=revision))
            else:
                for event in log.events(after=rdf.revision):
                    _follow(rdf, event, store)
            if rdf.revision != revision:
                rdf.set_revision(revision)
            _follow_verdicts(rdf, verdicts)
            return rdf

    def answers(
        self,
        log: Log,
        store: Store,
        constraints: Iterable[Constraint | Range],
        *,
        view: View = EVERYTHING,
    ) -> Answers:
        """Ask the lattice index, which nobody changes meanwhile; answers may be read afterwards."""
        with self._lock:
            return self._lattice.index(log, store).answers(constraints, view=view)

    def meeting(
        self,
        log: Log,
        store: Store,
        constraints: Iterable[Constraint | Range],
        *,
        view: View,
        union: bool,
    ) -> Meeting:
        """Decide a meet: see the module `meeting`."""
        with self._lock:
            return decide(self._lattice.index(log, store), constraints, view=view, union=union)

    def lattice(self, log: Log, store: Store) -> LatticeIndex:
        """Give the lattice index, caught up."""
        with self._lock:
            return self._lattice.index(log, store)

    def _new_lattice(self) -> LatticeProjection:
        return LatticeProjection(self._directory / "lattice")

    def discard(self) -> None:
        """Delete all projections, to be built anew from the log."""
        with self._lock:
            self.close()
            shutil.rmtree(self._directory, ignore_errors=True)


_VERDICTS_AT_ONCE = 500


def _follow_verdicts(rdf: RdfProjection, verdicts: VerdictLog) -> None:
    newest = verdicts.revision
    while (followed := rdf.verdict_revision) < newest:
        until = min(followed + _VERDICTS_AT_ONCE, newest)
        triples: dict[Triple, None] = {}  # certificates share statements and policies
        recorded = verdicts.verdicts(after=followed, until=until)
        for digest in dict.fromkeys(record.digest for record in recorded):
            certificate = verdicts.certificate(digest)
            triples.update(dict.fromkeys(certificate_triples(rdf.namespace, digest, certificate)))
        for record in recorded:
            triples.update(dict.fromkeys(decision_triples(rdf.namespace, record)))
        for sign_off in verdicts.sign_offs(after=followed, until=until):
            triples.update(dict.fromkeys(sign_off_triples(rdf.namespace, sign_off)))
        rdf.add_verdicts(triples, revision=until)


def _lost_evidence(log: Log, revision: int) -> bool:
    """Whether evidence was erased from a document since, which cannot be followed."""
    kinds = log.kinds(after=revision)
    return EventKind.ERASED in kinds and any(
        event.kind == EventKind.ERASED and (event.payload is None or "restated" in event.payload)
        for event in log.events(after=revision)
    )


def _follow(rdf: RdfProjection, event: Event, store: Store) -> None:
    payload = event.payload or {}
    source = str(payload.get("source_sha256"))
    match event.kind:
        case EventKind.DOCUMENT_ADDED if payload:
            record = store.record_added(event.number)
            if record is not None:
                rdf.add_document(store.document(record))
        case EventKind.STATEMENTS_ASSERTED if payload:
            rdf.add_statements(store.statements(asserted_by=event.number))
        case kind if kind in RETRACTIONS - {EventKind.DOCUMENT_RETRACTED}:
            for statement_id, statement, evidence in store.statements(retracted_by=event.number):
                rdf.remove_statement(statement_id, statement, evidence)
        case EventKind.DOCUMENT_RETRACTED | EventKind.ERASED:
            rdf.remove_document(source)
        case EventKind.DIMENSION_DEFINED:
            rdf.add_dimension(dimension_from_json(payload))
