"""Removing a source from the RDF store, by one update."""

from __future__ import annotations

import pyoxigraph as ox

from . import vocabulary as iri

_REMOVE_SOURCE = """
DELETE { GRAPH ?span { ?s ?p ?o } }
WHERE { GRAPH ?span { ?s ?p ?o } FILTER(STRSTARTS(STR(?span), "SOURCE#")) } ;
DELETE { GRAPH pw:meta { ?s ?p ?o } }
WHERE {
  GRAPH pw:meta { ?s ?p ?o }
  FILTER(?s = <SOURCE> || STRSTARTS(STR(?s), "SOURCE#")
    || ?p IN (pw:statedIn, prov:wasGeneratedBy) && STRSTARTS(STR(?o), "SOURCE#")
    || ?p = prov:wasDerivedFrom && ?o = <SOURCE>)
} ;
DELETE { GRAPH pw:meta { ?s ?p ?o } }
WHERE {
  GRAPH pw:meta { ?s a pw:Statement . FILTER NOT EXISTS { ?s pw:statedIn ?span } ?s ?p ?o }
} ;
DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER NOT EXISTS { GRAPH ?graph { ?s ?p ?o } } }
"""
"""Ends what the spans of a source state, what is said of it, nodes stated nowhere any more, and
triples that no graph holds any more."""


def remove_source(store: ox.Store, source_sha256: str) -> None:
    """Remove a source and all that stands in it; linear in the size of the store."""
    source = iri.source_iri(source_sha256)
    store.update(
        _REMOVE_SOURCE.replace("SOURCE", source),
        prefixes={"pw": iri.PROOFWEAVE, "prov": iri.PROV},
    )
