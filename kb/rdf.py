"""Projection to RDF: named graphs in Oxigraph, and SPARQL over them.

Each graph holds what one span states. An asserted, affirmed statement is one quad: entity,
dimension, value, in the graph of its evidence, which is named by the span's IRI. The default graph
of queries holds every such triple once, however many spans state it, so that counts are of facts;
the `meta` graph, read together with it, holds quotes and documents; a dimension and its classes
have a graph of their own. What a triple cannot say has a node in `meta`, a `pw:Statement` by its
id: polarity, modality, validity, spans, and the reading that found it. A denied, hedged, attributed
or planned statement is such a node alone and never a plain triple.

    GRAPH ?span { ?supplier d:liability_cover ?cover }   ?span pw:quote ?quote
    BIND(pw:document(?span) AS ?document)                ?document dcterms:title ?title

Rows of tables have no nodes, so that bulk loads cost three quads per statement: the triple in its
graph and in the default graph, and the quote.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

import pyoxigraph as ox

from . import vocabulary as iri
from .checkpoints import Checkpoints
from .dimension import Dimension, value_label
from .document import Document
from .errors import KnowledgeError
from .query_budget import DEFAULT_BUDGET, NO_OPTIONS, QueryBudget, QueryOptions
from .query_doubts import QueryDoubts
from .query_pool import QueryPool
from .rdf_loading import FEW, Grounded, lean_writer, load_lean, spans_with_nodes
from .rdf_quads import (
    GENERATED_BY,
    META,
    QUOTE,
    REVISION,
    STATED_IN,
    VALID_FROM,
    VALID_UNTIL,
    VERDICT_REVISION,
    VERDICTS,
    Triple,
    dimension_node,
    dimension_triples,
    document_triples,
    is_lean,
    node_triples,
    plain_triples,
    reading_node,
    reading_triples,
    source_node,
    span_node,
    statement_node,
)
from .rdf_removal import remove_source
from .rdf_terms import typed
from .statement import Evidence, Modality, Polarity, Statement

_DEFAULT = ox.DefaultGraph()
_BATCH = 100_000


class RdfProjection:
    """The statements of a knowledge base as RDF, in a directory or, without one, in memory.

    One process writes; queries run elsewhere on checkpoints. Adding what is there and removing what
    is not are harmless, so events may be replayed.
    """

    def __init__(
        self,
        directory: Path | None,
        namespace: str,
        *,
        budget: QueryBudget = DEFAULT_BUDGET,
        workers: int = 2,
    ) -> None:
        self.namespace = iri.check_namespace(namespace)
        self.budget = budget
        self._lock = threading.RLock()
        self._directory = Path(tempfile.mkdtemp(prefix="rdf-")) if directory is None else directory
        self._finalizer = (
            weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)
            if directory is None
            else None
        )
        self._directory.mkdir(parents=True, exist_ok=True)
        self._store = ox.Store() if directory is None else _open(self._directory / "store")
        self._checkpoints = Checkpoints(self._directory / "checkpoints", self._copy)
        self._pool = QueryPool(workers)
        self._doubts = QueryDoubts(self._store, self.namespace)
        self._changes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers and let go of the store."""
        with self._lock:
            self._pool.close()
            self._store.flush()
            del self._store, self._doubts  # both hold the files
            self._checkpoints.close()
            if self._finalizer is not None:
                self._finalizer()

    @property
    def revision(self) -> int:
        """The revision recorded last; 0 at first."""
        return self._followed(REVISION)

    def set_revision(self, revision: int) -> None:
        """Record how far the log has been followed; call it after the changes it stands for."""
        self._follow(REVISION, revision)

    @property
    def verdict_revision(self) -> int:
        """How far the chain of verdicts has been followed; 0 at first."""
        return self._followed(VERDICT_REVISION)

    def add_verdicts(self, triples: Iterable[Triple], *, revision: int) -> None:
        """Add what verdicts say, up to a place in their chain; see `verdict_quads`."""
        self._extend(ox.Quad(*triple, VERDICTS) for triple in triples)
        self._follow(VERDICT_REVISION, revision)

    def add_document(self, document: Document) -> None:
        """Add a source: its title, media type, file name, decoder and digest of decoded text."""
        self._extend(ox.Quad(*triple, META) for triple in document_triples(document))

    def remove_document(self, source_sha256: str) -> None:
        """Remove a source and all that stands in it; linear in the size of the store."""
        with self._lock:
            remove_source(self._store, source_sha256)
            self._changes += 1

    def add_dimension(self, dimension: Dimension) -> None:
        """Add a dimension, in place of what was known of it; its classes by `skos:broader` too."""
        node = dimension_node(self.namespace, dimension.name)
        with self._lock:
            for quad in list(self._store.quads_for_pattern(None, None, None, node)):
                self._drop(quad)
            triples = list(dimension_triples(self.namespace, dimension))
            self._extend(
                ox.Quad(*triple, graph) for triple in triples for graph in (node, _DEFAULT)
            )

    def add_statement(
        self, statement_id: str, statement: Statement, evidence: Sequence[Evidence]
    ) -> None:
        """Add a statement with the evidence given; evidence added earlier stays."""
        with self._lock:
            self._extend(self._quads(statement_id, statement, evidence))

    def add_statements(self, statements: Iterable[Grounded]) -> int:
        """Add many statements in batches; gives how many were read."""
        count = 0
        noded: set[str] | None = None
        pending = iter(statements)
        write = lean_writer(self.namespace)
        with self._lock:
            while batch := list(islice(pending, _BATCH)):
                count += len(batch)
                if len(batch) >= FEW:
                    noded = spans_with_nodes(self._store) if noded is None else noded
                    batch = load_lean(self._store, write, batch, noded)
                self._add_batch(batch)
        return count

    def remove_statement(
        self, statement_id: str, statement: Statement, evidence: Sequence[Evidence]
    ) -> None:
        """Remove a statement from the spans given; a span that states nothing more goes too."""
        node = statement_node(self.namespace, statement_id)
        triples = plain_triples(self.namespace, statement)
        with self._lock:
            for item in evidence:
                span = span_node(item)
                link = ox.Quad(node, STATED_IN, span, META)
                if link not in self._store and not is_lean(statement, item):
                    continue  # it is not there: it would have a node
                self._leave(link, item)
                others = self._nodes(triples[0], span) if triples else []
                if not others:
                    for triple in triples:
                        self._drop(ox.Quad(*triple, span))
                elif len(others) == 1 and self._is_bare(others[0]):
                    # what is left needs no node to be told from others
                    self._leave(ox.Quad(others[0], STATED_IN, span, META), item)
                self._forget_span(span)
            self._changes += 1

    def query(
        self,
        text: str,
        accept: str = "",
        *,
        budget: QueryBudget | None = None,
        options: QueryOptions = NO_OPTIONS,
    ) -> tuple[str, bytes]:
        """Answer a SPARQL query, with the media type chosen by an Accept header.

        Rows come sorted unless the query orders them; `options.warn` is told of names that nothing
        has. Safe to call from several threads. Raises
        QueryRejected, FormatUnavailable, ServiceFailed or QueryOverBudget.
        """
        change = self._changes
        with self._checkpoints.at(change) as path:
            answer = self._pool.query(
                text,
                accept,
                store=path,
                namespace=self.namespace,
                budget=budget or self.budget,
                options=options,
            )
        for doubt in self._doubts.of(text, options, change=change):
            options.warn(doubt)
        return answer

    def __len__(self) -> int:
        """How many quads there are."""
        return len(self._store)

    def n_quads(self) -> bytes:
        """Everything as N-Quads, one per line, sorted."""
        with self._lock:
            written = self._store.dump(format=ox.RdfFormat.N_QUADS) or b""
        return b"\n".join([*sorted(written.split(b"\n")[:-1]), b""])

    def _followed(self, predicate: ox.NamedNode) -> int:
        node = ox.NamedNode(self.namespace)
        with self._lock:
            for quad in self._store.quads_for_pattern(node, predicate, None, META):
                if isinstance(quad.object, ox.Literal):
                    return int(quad.object.value)
        return 0

    def _follow(self, predicate: ox.NamedNode, revision: int) -> None:
        node = ox.NamedNode(self.namespace)
        with self._lock:
            for quad in list(self._store.quads_for_pattern(node, predicate, None, META)):
                self._store.remove(quad)
            self._store.add(ox.Quad(node, predicate, typed(str(revision), "integer"), META))
            self._store.flush()
            self._changes += 1

    def _copy(self, path: Path) -> None:
        with self._lock:
            if self._finalizer is None:
                self._store.backup(str(path))  # by hard links
                return
            written = self._store.dump(format=ox.RdfFormat.N_QUADS) or b""
        copy = ox.Store(str(path))
        copy.bulk_load(written, ox.RdfFormat.N_QUADS)
        copy.flush()

    def _extend(self, quads: Iterable[ox.Quad]) -> None:
        with self._lock:
            self._store.extend(quads)
            self._changes += 1

    def _add_batch(self, batch: Sequence[Grounded]) -> None:
        with self._lock:
            pending: dict[ox.Quad, None] = {}
            places: set[tuple[str, int, int, str, str, str]] = set()
            for statement_id, statement, evidence in batch:
                what = (statement.subject, statement.dimension, value_label(statement.value))
                mine = {(item.source_sha256, item.start, item.end, *what) for item in evidence}
                if not places.isdisjoint(mine):  # twins find each other in the store
                    self._store.extend(pending)
                    pending.clear()
                    places.clear()
                places |= mine
                pending.update(dict.fromkeys(self._quads(statement_id, statement, evidence)))
            self._store.extend(pending)
            self._changes += 1

    def _quads(
        self, statement_id: str, statement: Statement, evidence: Sequence[Evidence]
    ) -> Iterator[ox.Quad]:
        """All quads of a statement, and a node for a twin that shares its triple and its span."""
        triples = plain_triples(self.namespace, statement)
        for item in evidence:
            span = span_node(item)
            yield ox.Quad(span, QUOTE, ox.Literal(item.quote), META)
            for triple in triples:
                yield ox.Quad(*triple, span)
                yield ox.Quad(*triple, _DEFAULT)
            twins = bool(triples) and bool(self._nodes(triples[0], span))
            lean = is_lean(statement, item)
            if lean and not twins:
                continue
            yield from self._node(statement_id, statement, span)
            if lean:
                continue
            node = statement_node(self.namespace, statement_id)
            yield ox.Quad(node, GENERATED_BY, reading_node(item), META)
            for reading in reading_triples(item):
                yield ox.Quad(*reading, META)
            if triples and not twins and ox.Quad(*triples[0], span) in self._store:
                # the triple is there without a node: a lean statement made it
                twin = Statement(statement.subject, statement.dimension, statement.value)
                if twin.id != statement_id:
                    yield from self._node(twin.id, twin, span)

    def _node(
        self, statement_id: str, statement: Statement, span: ox.NamedNode
    ) -> Iterator[ox.Quad]:
        for triple in node_triples(self.namespace, statement_id, statement, span):
            yield ox.Quad(*triple, META)

    def _nodes(self, triple: Triple, span: ox.NamedNode) -> list[ox.NamedNode]:
        """The nodes in `span` of asserted, affirmed statements with this triple."""
        found: list[ox.NamedNode] = []
        for quad in self._store.quads_for_pattern(None, STATED_IN, span, META):
            parts = {
                item.predicate.value: item.object
                for item in self._store.quads_for_pattern(quad.subject, None, None, META)
            }
            if (
                isinstance(quad.subject, ox.NamedNode)
                and tuple(parts[iri.RDF + part] for part in ("subject", "predicate", "object"))
                == triple
                and parts[iri.PROOFWEAVE + "polarity"] == ox.Literal(Polarity.AFFIRMED.value)
                and parts[iri.PROOFWEAVE + "modality"] == ox.Literal(Modality.ASSERTED.value)
            ):
                found.append(quad.subject)
        return found

    def _is_bare(self, node: ox.NamedNode) -> bool:
        """Whether a node was made for a lean statement: nobody read it, and it always holds."""
        said = {quad.predicate for quad in self._store.quads_for_pattern(node, None, None, META)}
        return said.isdisjoint({GENERATED_BY, VALID_FROM, VALID_UNTIL})

    def _drop(self, quad: ox.Quad) -> None:
        """Remove a quad, and its copy in the default graph if no other graph holds the triple."""
        self._store.remove(quad)
        for other in self._store.quads_for_pattern(quad.subject, quad.predicate, quad.object, None):
            if other.graph_name != _DEFAULT:
                return
        self._store.remove(ox.Quad(quad.subject, quad.predicate, quad.object, _DEFAULT))

    def _leave(self, stated_in: ox.Quad, evidence: Evidence) -> None:
        """Remove the link of a node to a span, the node with its last link, and idle readings."""
        store, node = self._store, stated_in.subject
        store.remove(stated_in)
        source = source_node(evidence).value + "#"
        spans = [quad.object for quad in store.quads_for_pattern(node, STATED_IN, None, META)]
        if not spans:
            for quad in list(store.quads_for_pattern(node, None, None, META)):
                store.remove(quad)
        elif not any(isinstance(s, ox.NamedNode) and s.value.startswith(source) for s in spans):
            for quad in list(store.quads_for_pattern(node, GENERATED_BY, None, META)):
                if isinstance(quad.object, ox.NamedNode) and quad.object.value.startswith(source):
                    store.remove(quad)
        reading = reading_node(evidence)
        if next(store.quads_for_pattern(None, GENERATED_BY, reading, META), None) is None:
            for triple in reading_triples(evidence):
                store.remove(ox.Quad(*triple, META))

    def _forget_span(self, span: ox.NamedNode) -> None:
        """Remove the quote of a span that states nothing."""
        store = self._store
        if next(store.quads_for_pattern(None, None, None, span), None) is not None:
            return
        store.remove_graph(span)
        if next(store.quads_for_pattern(None, STATED_IN, span, META), None) is None:
            for quad in list(store.quads_for_pattern(span, QUOTE, None, META)):
                store.remove(quad)


def _open(path: Path) -> ox.Store:
    try:
        return ox.Store(str(path))
    except OSError as error:
        raise KnowledgeError(
            f"the RDF store at {path} cannot be opened for writing; "
            f"expected no other process to hold it: {error}"
        ) from error
