"""The vocabulary over HTTP: our terms, and the dimensions of a knowledge base, as OWL.

`Accept` chooses Turtle, N-Triples, RDF/XML or JSON-LD.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from kb.dimension import Dimension
from kb.owl import TURTLE, export_dimensions
from kb.rdf_terms import convert
from kb.sparql import QueryForm, negotiate
from kb.vocabulary import DCTERMS, OWL, PROOFWEAVE, PROV, RDF, RDFS, XSD

_PREFIXES = {
    "pw": PROOFWEAVE,
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "prov": PROV,
    "dcterms": DCTERMS,
    "sd": "http://www.w3.org/ns/sparql-service-description#",
}


def terms_document(accept: str) -> tuple[str, bytes]:
    """Give the definitions of our terms, as (media type, content).

    Raises FormatUnavailable where no RDF syntax fits.
    """
    media_type = negotiate(accept, QueryForm.CONSTRUCT)
    content = (files("kb") / "proofweave.ttl").read_bytes()
    if media_type == TURTLE:
        return media_type, content
    return media_type, convert(content, TURTLE, media_type, prefixes=_PREFIXES)


def dimensions_document(
    dimensions: Sequence[Dimension], namespace: str, accept: str
) -> tuple[str, bytes]:
    """Give dimensions and their classes as OWL, as (media type, content).

    Raises FormatUnavailable where no RDF syntax fits.
    """
    media_type = negotiate(accept, QueryForm.CONSTRUCT)
    return media_type, export_dimensions(dimensions, namespace=namespace, media_type=media_type)
