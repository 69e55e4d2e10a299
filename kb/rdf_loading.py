"""Rows of tables and triples of RDF into the store, many at once and as text.

They have no nodes (see `rdf_quads.is_lean`), so nothing in the store needs to be looked at but the
spans that have some.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph as ox

from .rdf_quads import META, STATED_IN, is_lean, lean_lines, span_node
from .statement import Evidence, Statement

Grounded = tuple[str, Statement, Sequence[Evidence]]
"""A statement id, the statement, and where it stands."""

FEW = 500
"""Statements below which they are added one by one."""


def spans_with_nodes(store: ox.Store) -> set[str]:
    """Give the IRIs of the spans of all statement nodes."""
    quads = store.quads_for_pattern(None, STATED_IN, None, META)
    return {quad.object.value for quad in quads if isinstance(quad.object, ox.NamedNode)}


def load_lean(
    store: ox.Store, namespace: str, batch: Sequence[Grounded], noded: set[str]
) -> list[Grounded]:
    """Load the lean statements that share no span with a node; give the others.

    `noded` are the spans with nodes; those of the statements given back are added to it.
    """
    lines: list[str] = []
    others: list[Grounded] = []
    for statement_id, statement, evidence in batch:
        spans = {span_node(item).value for item in evidence} if noded else set()
        if noded.isdisjoint(spans) and all(is_lean(statement, item) for item in evidence):
            lines.append(lean_lines(namespace, statement, evidence))
            continue
        noded.update(span_node(item).value for item in evidence)
        others.append((statement_id, statement, evidence))
    if lines:
        store.bulk_load("\n".join(lines).encode(), ox.RdfFormat.N_QUADS)
    return others
