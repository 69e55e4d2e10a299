"""What a knowledge base says: now, or as of a revision of its log.

A reading of an earlier revision gives what was given then, except for what has been erased since.
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from .answers import Answers
from .asserted import Asserted
from .constraint import Constraint, Range
from .dimension import Dimension, dimension_from_json
from .document import Document
from .errors import NotFound, RevisionUnknown
from .lattice import LatticeIndex
from .meeting import Meeting
from .past import PastProjections
from .projections import Projections
from .qualified import EVERYTHING, View
from .query_budget import NO_OPTIONS, QueryOptions
from .rdf import RdfProjection
from .readers import Readers
from .records import DocumentRecord, EventKind, PolicyRecord, Row
from .search import Place, Reach
from .statement import Evidence, Statement, Value
from .store import no_document, standing_record
from .verdicts import VerdictLog


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that matches a search; a higher score is better."""

    source_sha256: str
    title: str
    start: int
    end: int
    text: str
    score: float


class Reading:
    """What is known at one revision, or always at the newest where `at` is None.

    Safe for use by several threads; waits for no writer.
    """

    def __init__(
        self,
        readers: Readers,
        projections: Projections,
        past: PastProjections,
        verdicts: VerdictLog,
        namespace: str,
        *,
        at: int | None = None,
    ) -> None:
        self._readers = readers
        self._projections = projections
        self._past = past
        self._verdicts = verdicts
        self._namespace = namespace
        self._at = at

    @property
    def namespace(self) -> str:
        """Beginning of the IRIs of its data."""
        return self._namespace

    @property
    def revision(self) -> int:
        """The revision read, as the number of an event of the knowledge log."""
        return self._readers.log.revision if self._at is None else self._at

    @property
    def head(self) -> str:
        """Link of that event, in hex."""
        log = self._readers.log
        return log.head if self._at is None else log.link(self._at)

    def at(self, revision: int) -> Reading:
        """Give what was known at a revision.

        Raises RevisionUnknown for one that has not been.
        """
        newest = self._readers.log.revision
        if not 1 <= revision <= newest:
            raise RevisionUnknown(
                f"there is no revision {revision}; expected one from 1 to {newest}, the newest"
            )
        return Reading(
            self._readers,
            self._projections,
            self._past,
            self._verdicts,
            self._namespace,
            at=revision,
        )

    def kinds_since(self, revision: int) -> frozenset[str]:
        """Give the kinds of the events after a revision, up to the newest."""
        return self._readers.log.kinds(after=revision)

    # ---- documents

    def documents(self) -> tuple[DocumentRecord, ...]:
        """Give the documents, by digest."""
        return self._as_then(self._readers.store.documents(as_of=self._at))

    def record(self, source_sha256: str) -> DocumentRecord:
        """Give what is known of a document without reading it.

        Raises NotFound, or SourceErased.
        """
        store = self._readers.store
        if self._at is None:
            return standing_record(store, source_sha256)
        record = store.record(source_sha256, as_of=self._at)
        if record is None:
            raise no_document(store, source_sha256)
        return self._as_then((record,))[0]

    def document(self, source_sha256: str) -> Document:
        """Read a document.

        Raises NotFound, or SourceErased.
        """
        return self._readers.store.document(self.record(source_sha256))

    def source_bytes(self, source_sha256: str) -> bytes:
        """Give a document's bytes, also of a retracted one.

        Raises NotFound, or SourceErased.
        """
        data = self._readers.store.source(source_sha256)
        if data is None:
            raise no_document(self._readers.store, source_sha256)
        return data

    def is_erased(self, source_sha256: str) -> bool:
        """Whether a document was stored once, and its bytes are erased and not given again."""
        store = self._readers.store
        return store.is_erased(source_sha256) and store.source(source_sha256) is None

    def is_evidence_erased(
        self, statement_id: str, source_sha256: str, start: int, end: int
    ) -> bool:
        """Whether evidence has been erased from a document, and not been given again."""
        return self._readers.store.is_evidence_erased(statement_id, source_sha256, start, end)

    def text(self, text_sha256: str) -> str:
        """Give a decoded text by its digest.

        Raises NotFound.
        """
        return self._readers.text(text_sha256)

    def rejections(self, source_sha256: str) -> tuple[tuple[str, str], ...]:
        """Give (reason, text) of the candidates not grounded in a document, sorted; as of now."""
        return self._readers.store.rejections(source_sha256)

    def refusals(self, dimension: str, name: str, limit: int) -> tuple[tuple[str, str, str], ...]:
        """Give (document, reason, text) of rejected candidates of a dimension that name an entity.

        Those of standing documents, sorted.
        """
        return self._readers.store.refusals(dimension, name, limit, as_of=self._at)

    def passage_titles(self) -> frozenset[str]:
        """Give the titles of the passages of all documents."""
        return self._readers.store.passage_titles(as_of=self._at)

    def _as_then(self, records: tuple[DocumentRecord, ...]) -> tuple[DocumentRecord, ...]:
        """Leave out what came later: that a document was retracted, or its import went on."""
        if self._at is None:
            return records
        log = self._readers.log
        imports = {EventKind.IMPORT_BEGUN, EventKind.IMPORT_COMPLETED}
        states: dict[str, list[tuple[int, bool]]] = {}
        if log.kinds(after=self._at) & imports:
            for event in log.of_kinds(imports):
                if event.payload is not None:
                    source = str(event.payload["source_sha256"])
                    complete = event.kind == EventKind.IMPORT_COMPLETED
                    states.setdefault(source, []).append((event.number, complete))
        found = []
        for record in records:
            end = record.retracted or log.revision + 1
            its = [
                state
                for state in states.get(record.source_sha256, ())
                if record.asserted < state[0] < end
            ]
            before = [complete for number, complete in its if number <= self._at]
            # an import that is begun later was complete, one that is completed was not
            otherwise = not its[0][1] if its else record.complete
            complete = before[-1] if before else otherwise
            found.append(replace(record, complete=complete, retracted=None))
        return tuple(found)

    # ---- statements

    def every_statement(
        self,
        *,
        subject: str | None = None,
        dimension: str | None = None,
        source_sha256: str | None = None,
    ) -> Iterator[Row]:
        """Yield (id, statement, evidence) of what stands and matches, by id.

        Evidence is in order of (source, start, end).
        """
        return self._readers.store.statements(
            subject=subject, dimension=dimension, source_sha256=source_sha256, as_of=self._at
        )

    def states_on(self, source_sha256: str, day: datetime.date) -> bool:
        """Whether a document states something that is valid on a day."""
        return any(
            statement.validity.holds_on(day)
            for _, statement, _ in self.every_statement(source_sha256=source_sha256)
        )

    def asserted(self) -> Asserted:
        """Give what is asserted, to be read by dimension."""
        return Asserted(lambda: self._readers.store.connection, revision=self.revision)

    def mentions(self, names: Collection[str]) -> Iterator[tuple[Statement, Evidence]]:
        """Yield what stands with one of the names as subject or entity value; see the store."""
        return self._readers.store.mentions(names, as_of=self._at)

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
        for row in self._readers.store.statements(id=statement_id, as_of=self._at):
            return row
        raise NotFound(f"no statement has the id {statement_id}")

    def entity_names(self) -> tuple[str, ...]:
        """Give the names that stand as subjects or entity values, sorted."""
        return tuple(self._readers.store.entity_names(as_of=self._at))

    # ---- policies and dimensions

    def stated_dimensions(self) -> tuple[str, ...]:
        """Give the dimensions in which something was stated, sorted."""
        return self._readers.store.stated_dimensions()

    def stated_value(self, dimension: str) -> Value | None:
        """Give a value that was stated in a dimension, the first there was; None if none was."""
        return self._readers.store.stated_value(dimension)

    def policies(self) -> tuple[PolicyRecord, ...]:
        """Give all policy versions, by id and then in order of publication."""
        return self._readers.store.policies(as_of=self._at)

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
        return tuple(map(dimension_from_json, self._dimension_forms()))

    def _dimension_forms(self) -> tuple[dict[str, object], ...]:
        log = self._readers.log
        defined = {EventKind.DIMENSION_DEFINED}
        if self._at is None or not log.kinds(after=self._at) & defined:
            return self._readers.store.dimensions()
        forms = {
            str(event.payload["name"]): event.payload
            for event in log.of_kinds(defined, until=self._at)
            if event.payload is not None
        }
        return tuple(forms[name] for name in sorted(forms))

    # ---- projections

    def search(self, query: str, limit: int, *, reach: Reach = Reach.NAMED) -> tuple[Hit, ...]:
        """Find the passages that best match a text, best first.

        Equal scores are ordered by source and position.
        """
        log, store = self._readers.log, self._readers.store
        revision = self.revision
        texts: dict[str, str] = {}

        def read(place: Place) -> str:
            record = store.record(place.source_sha256, as_of=revision)
            if record is None:  # erased since
                return ""
            text = texts.get(record.text_sha256)
            if text is None:
                text = texts[record.text_sha256] = self.text(record.text_sha256)
            return text[place.start : place.end]

        places = self._projections.search(
            log,
            store,
            query,
            limit,
            revision=revision,
            reach=reach,
            read=read,
            past=lambda: self._past.text(store, revision),
        )
        return tuple(
            Hit(place.source_sha256, place.title, place.start, place.end, text, place.score)
            for place in places
            if (text := read(place))
        )

    def meet(
        self, constraints: Iterable[Constraint | Range], *, valid_on: datetime.date | None = None
    ) -> tuple[str, ...]:
        """Give the names of all instances that satisfy every constraint, sorted."""
        return tuple(self.answers(constraints, view=View(valid_on)))

    def answers(
        self, constraints: Iterable[Constraint | Range], *, view: View = EVERYTHING
    ) -> Answers:
        """Give all instances that satisfy every constraint, as a set that is named when read."""
        log, store = self._readers.log, self._readers.store
        if self._at is None:
            return self._projections.answers(log, store, constraints, view=view)
        return self._past.answers(store, self._at, self._dimension_forms(), constraints, view=view)

    def meeting(
        self,
        constraints: Iterable[Constraint | Range],
        *,
        view: View = EVERYTHING,
        union: bool = False,
    ) -> Meeting:
        """Decide a meet: its answers, or why there are none."""
        log, store = self._readers.log, self._readers.store
        if self._at is None:
            return self._projections.meeting(log, store, constraints, view=view, union=union)
        return self._past.meeting(
            store, self._at, self._dimension_forms(), constraints, view=view, union=union
        )

    def lattice(self) -> LatticeIndex:
        """Give the lattice index, caught up with the log.

        It is for one thread, and until the next call only; `meet` is safe for several.
        """
        log, store = self._readers.log, self._readers.store
        if self._at is None:
            return self._projections.lattice(log, store)
        return self._past.lattice(store, self._at, self._dimension_forms())

    def rdf(self) -> RdfProjection:
        """Give the RDF projection, caught up with the log and, of the newest, with the verdicts."""
        log, store = self._readers.log, self._readers.store
        if self._at is None:
            return self._projections.rdf(log, store, self._verdicts)
        return self._past.rdf(store, (self._at, None), self._dimension_forms())

    def query(
        self,
        text: str,
        accept: str = "",
        *,
        valid_on: datetime.date | None = None,
        options: QueryOptions = NO_OPTIONS,
    ) -> tuple[str, bytes]:
        """Answer a SPARQL query over what stands, as (media type, body).

        With `valid_on`, over the statements that are valid on that day.
        """
        if self._at is not None or valid_on is not None:
            return self._past.query(
                self._readers.store,
                (self.revision, valid_on),
                self._dimension_forms(),
                text,
                accept,
                options=options,
            )
        return self.rdf().query(text, accept, options=options)


def _nearest(wanted: str, policies: Iterable[PolicyRecord]) -> str:
    names = sorted({name for p in policies for name in (p.id, f"{p.id}@{p.version}")})
    near = difflib.get_close_matches(wanted, names, n=1)
    return f"; the nearest is {near[0]}" if near else ""
