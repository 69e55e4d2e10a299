"""What documents, dimensions and statements say in RDF, as triples."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pyoxigraph as ox

from . import vocabulary as iri
from .dimension import Dimension, DimensionKind
from .document import Document
from .rdf_terms import term, typed
from .statement import ALWAYS, Evidence, Modality, Polarity, Statement

Triple = tuple[ox.NamedNode, ox.NamedNode, ox.NamedNode | ox.Literal]

META = ox.NamedNode(iri.META_GRAPH)
VERDICTS = ox.NamedNode(iri.VERDICTS_GRAPH)
TYPE = ox.NamedNode(iri.RDF + "type")
QUOTE = ox.NamedNode(iri.PROOFWEAVE + "quote")
STATED_IN = ox.NamedNode(iri.PROOFWEAVE + "statedIn")
GENERATED_BY = ox.NamedNode(iri.PROV + "wasGeneratedBy")
VALID_FROM = ox.NamedNode(iri.PROOFWEAVE + "validFrom")
VALID_UNTIL = ox.NamedNode(iri.PROOFWEAVE + "validUntil")
REVISION = ox.NamedNode(iri.PROOFWEAVE + "revision")
VERDICT_REVISION = ox.NamedNode(iri.PROOFWEAVE + "verdictRevision")

_BROADER = (ox.NamedNode(iri.SKOS + "broader"), ox.NamedNode(iri.RDFS + "subClassOf"))
ALSO = {"subclass_of": _BROADER, "same_as": (ox.NamedNode(iri.OWL + "sameAs"),)}
"""Standard properties that a statement of these dimensions implies."""

ROW_READERS = ("table/", "rdf/")
"""How the names of extractors begin that read rows of tables and triples of RDF."""


def is_plain(statement: Statement) -> bool:
    """Whether a statement may be a plain triple: only what a source asserts and affirms."""
    return (statement.polarity, statement.modality) == (Polarity.AFFIRMED, Modality.ASSERTED)


def is_lean(statement: Statement, evidence: Evidence) -> bool:
    """Whether a plain triple and its quote say it all, without a node.

    So it is with what always holds and was read off a row of a table: there are many, and the
    reader of a table is its importer.
    """
    return (
        evidence.extractor.startswith(ROW_READERS)
        and is_plain(statement)
        and statement.validity == ALWAYS
    )


def span_node(evidence: Evidence) -> ox.NamedNode:
    """The graph of the evidence: its span."""
    return ox.NamedNode(iri.span_iri(evidence.source_sha256, evidence.start, evidence.end))


def source_node(evidence: Evidence) -> ox.NamedNode:
    """The source that the evidence stands in."""
    return ox.NamedNode(iri.source_iri(evidence.source_sha256))


def statement_node(namespace: str, statement_id: str) -> ox.NamedNode:
    """The node of a statement that a triple cannot say."""
    return ox.NamedNode(iri.statement_iri(namespace, statement_id))


def dimension_node(namespace: str, name: str) -> ox.NamedNode:
    """The property that a dimension is, and the graph that describes it."""
    return ox.NamedNode(iri.dimension_iri(namespace, name))


def core_triple(namespace: str, statement: Statement) -> Triple:
    """Subject, dimension and value, whether or not the source affirms them."""
    return (
        ox.NamedNode(iri.entity_iri(namespace, statement.subject)),
        dimension_node(namespace, statement.dimension),
        term(namespace, statement.value),
    )


def plain_triples(namespace: str, statement: Statement) -> list[Triple]:
    """The core triple first, then what it says in standard properties; none unless plain."""
    if not is_plain(statement):
        return []
    triple = core_triple(namespace, statement)
    subject, _, value = triple
    also = ALSO.get(statement.dimension, ())
    return [triple, *((subject, predicate, value) for predicate in also)]


def node_triples(
    namespace: str, statement_id: str, statement: Statement, span: ox.NamedNode
) -> Iterator[Triple]:
    """A statement as a node; a plain denial also as OWL's negative property assertion."""
    node = statement_node(namespace, statement_id)
    subject, predicate, value = core_triple(namespace, statement)
    yield node, TYPE, pw("Statement")
    yield node, ox.NamedNode(iri.RDF + "subject"), subject
    yield node, ox.NamedNode(iri.RDF + "predicate"), predicate
    yield node, ox.NamedNode(iri.RDF + "object"), value
    yield node, pw("polarity"), ox.Literal(statement.polarity.value)
    yield node, pw("modality"), ox.Literal(statement.modality.value)
    yield node, STATED_IN, span
    if statement.validity.start is not None:
        yield node, VALID_FROM, typed(statement.validity.start.isoformat(), "date")
    if statement.validity.end is not None:
        yield node, VALID_UNTIL, typed(statement.validity.end.isoformat(), "date")
    if (statement.polarity, statement.modality) == (Polarity.DENIED, Modality.ASSERTED):
        target = "targetIndividual" if isinstance(value, ox.NamedNode) else "targetValue"
        yield node, TYPE, ox.NamedNode(iri.OWL + "NegativePropertyAssertion")
        yield node, ox.NamedNode(iri.OWL + "sourceIndividual"), subject
        yield node, ox.NamedNode(iri.OWL + "assertionProperty"), predicate
        yield node, ox.NamedNode(iri.OWL + target), value


def reading_node(evidence: Evidence) -> ox.NamedNode:
    """The activity of the evidence: the reading of its source by its extractor."""
    reader = quote(evidence.extractor, safe="")
    return ox.NamedNode(f"{iri.source_iri(evidence.source_sha256)}#reading={reader}")


def reading_triples(evidence: Evidence) -> Iterator[Triple]:
    """What a reading used, and which extractor it was."""
    reading = reading_node(evidence)
    yield reading, TYPE, ox.NamedNode(iri.PROV + "Activity")
    yield reading, ox.NamedNode(iri.PROV + "used"), source_node(evidence)
    yield reading, pw("extractor"), ox.Literal(evidence.extractor)


def document_triples(document: Document) -> Iterator[Triple]:
    """A source: title, media type, file name, decoder, and the digest of its decoded text."""
    node = ox.NamedNode(iri.source_iri(document.source_sha256))
    text = ox.NamedNode(iri.source_iri(document.text_sha256))
    yield node, TYPE, pw("Document")
    yield node, TYPE, ox.NamedNode(iri.PROV + "Entity")
    yield node, ox.NamedNode(iri.DCTERMS + "title"), ox.Literal(document.title)
    yield node, ox.NamedNode(iri.DCTERMS + "format"), ox.Literal(document.media_type)
    yield node, pw("fileName"), ox.Literal(document.name)
    yield node, pw("decoder"), ox.Literal(document.decoder)
    yield node, pw("text"), text
    yield text, ox.NamedNode(iri.PROV + "wasDerivedFrom"), node


def dimension_triples(namespace: str, dimension: Dimension) -> Iterator[Triple]:
    """A property and, for a taxonomy, its classes by `skos:broader` and `rdfs:subClassOf`."""

    def entity(name: str) -> ox.NamedNode:
        return ox.NamedNode(iri.entity_iri(namespace, name))

    node = dimension_node(namespace, dimension.name)
    of_entities = dimension.kind in (DimensionKind.ENTITY, DimensionKind.TAXONOMIC)
    yield node, TYPE, pw("Dimension")
    yield (
        node,
        TYPE,
        ox.NamedNode(iri.OWL + ("ObjectProperty" if of_entities else "DatatypeProperty")),
    )
    yield node, ox.NamedNode(iri.RDFS + "label"), ox.Literal(dimension.label)
    yield node, pw("kind"), ox.Literal(dimension.kind.value)
    if dimension.functional:
        yield node, TYPE, ox.NamedNode(iri.OWL + "FunctionalProperty")
    if dimension.unit is not None:
        yield node, pw("unit"), ox.Literal(dimension.unit)
    if dimension.inverse is not None:
        inverse = dimension_node(namespace, dimension.inverse)
        yield node, ox.NamedNode(iri.OWL + "inverseOf"), inverse
    if dimension.taxonomy is None:
        return
    yield node, pw("root"), entity(dimension.root or "")
    for label in dimension.taxonomy.elements:
        yield entity(label), TYPE, ox.NamedNode(iri.SKOS + "Concept")
        yield entity(label), ox.NamedNode(iri.SKOS + "prefLabel"), ox.Literal(label)
    for low, high in dimension.taxonomy.covers:
        for predicate in _BROADER:
            yield entity(low), predicate, entity(high)
    for label, other in dimension.alternatives:
        yield entity(label), ox.NamedNode(iri.SKOS + "altLabel"), ox.Literal(other)
    for label, other in dimension.equivalents:
        yield entity(label), ox.NamedNode(iri.OWL + "equivalentClass"), entity(other)
    for low, high in dimension.disjoint:
        yield entity(low), ox.NamedNode(iri.OWL + "disjointWith"), entity(high)


def pw(name: str) -> ox.NamedNode:
    """One of our own terms."""
    return ox.NamedNode(iri.PROOFWEAVE + name)
