"""Rows of tables and triples of RDF into the store, many at once and as text.

They have no nodes (see `rdf_quads.is_lean`), so nothing in the store needs to be looked at but the
spans that have some. Text, since the store reads it several times faster than it takes quads one by
one; and written by hand, since writing should cost little beside the reading: what is the same for
many statements is looked up, and only what needs an escape is searched for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import pyoxigraph as ox

from . import vocabulary as iri
from .rdf_quads import ALSO, META, QUOTE, ROW_READERS, STATED_IN, span_node
from .rdf_terms import term
from .statement import Entity, Evidence, Modality, Polarity, Statement, TaxonClass

Grounded = tuple[str, Statement, Sequence[Evidence]]
"""A statement id, the statement, and where it stands."""

FEW = 500
"""Statements below which they are added one by one."""

_REMEMBERED = 1 << 17
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_QUOTE, _IN_META = f' {QUOTE} "', f'" {META} .'
_AFFIRMED, _ASSERTED = Polarity.AFFIRMED, Modality.ASSERTED

Write = Callable[[Statement, Sequence[Evidence]], str | None]


def spans_with_nodes(store: ox.Store) -> set[str]:
    """Give the IRIs of the spans of all statement nodes."""
    quads = store.quads_for_pattern(None, STATED_IN, None, META)
    return {quad.object.value for quad in quads if isinstance(quad.object, ox.NamedNode)}


def load_lean(
    store: ox.Store, write: Write, batch: Sequence[Grounded], noded: set[str]
) -> list[Grounded]:
    """Load the lean statements that share no span with a node; give the others.

    `write` is that of `lean_writer`. `noded` are the spans with nodes; those of the statements
    given back are added to it.
    """
    texts: list[str] = []
    others: list[Grounded] = []
    for each in batch:
        _, statement, evidence = each
        text = write(statement, evidence)
        if text is not None and (
            not noded or noded.isdisjoint(span_node(item).value for item in evidence)
        ):
            texts.append(text)
            continue
        noded.update(span_node(item).value for item in evidence)
        others.append(each)
    if texts:
        store.bulk_load("\n".join(texts).encode(), ox.RdfFormat.N_QUADS)
    return others


def lean_writer(namespace: str) -> Write:
    """Give a function that writes as N-Quads what a lean statement is; None for another.

    That is its triples by span and in the default graph, and the quotes.
    """
    entity = lru_cache(maxsize=_REMEMBERED)(lambda name: f"<{iri.entity_iri(namespace, name)}>")
    dimension = lru_cache(maxsize=1 << 10)(lambda name: f"<{iri.dimension_iri(namespace, name)}>")
    source = lru_cache(maxsize=1 << 10)(lambda digest: f"<{iri.source_iri(digest)}#char=")
    is_row_reader = lru_cache(maxsize=1 << 10)(lambda name: name.startswith(ROW_READERS))

    def write(statement: Statement, evidence: Sequence[Evidence]) -> str | None:
        validity = statement.validity
        if (
            statement.polarity is not _AFFIRMED
            or statement.modality is not _ASSERTED
            or validity.start is not None
            or validity.end is not None
        ):
            return None
        value = statement.value
        if isinstance(value, Entity):
            written = entity(value.name)
        elif isinstance(value, TaxonClass):
            written = entity(value.label)
        else:
            written = str(term(namespace, value))
        name = statement.dimension
        subject = entity(statement.subject)
        triple = f"{subject} {dimension(name)} {written}"
        text = f"{triple} ."
        also = ALSO.get(name, ())
        for predicate in also:
            text += f"\n{subject} {predicate} {written} ."
        for item in evidence:
            if not is_row_reader(item.extractor):
                return None
            span = f"{source(item.source_sha256)}{item.start},{item.end}>"
            quote = item.quote
            if "\\" in quote or '"' in quote or "\n" in quote or "\r" in quote:
                quote = quote.translate(_ESCAPES)
            text += f"\n{span}{_QUOTE}{quote}{_IN_META}\n{triple} {span} ."
            for predicate in also:
                text += f"\n{subject} {predicate} {written} {span} ."
        return text

    return write
