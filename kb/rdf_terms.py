"""Values as RDF terms, and RDF in its syntaxes.

Exact values keep their exact form: a number with a finite decimal is an `xsd:decimal`, another a
`pw:rational` such as "1/3"; a quantity is a `pw:quantity` such as "5000000 EUR"; a date has the
datatype of its precision, and an interval is EDTF.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import pyoxigraph as ox

from . import vocabulary as iri
from .errors import FormatUnavailable, KnowledgeError
from .quantity import Date, Quantity, format_number, parse_date, parse_number, parse_quantity
from .statement import Entity, TaxonClass, Text, Value

SYNTAXES = {
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/ld+json": ox.RdfFormat.JSON_LD,
    "application/trig": ox.RdfFormat.TRIG,
}
"""Media types that are read and written."""

_DATES = {10: "date", 7: "gYearMonth", 4: "gYear"}


@dataclass(frozen=True, slots=True, order=True)
class Triple:
    """A triple as text; `subject` and an `object` of kind `blank` are labels such as `_:b1`.

    `kind` is `iri`, `blank` or `literal`; `language` is empty where there is none.
    """

    subject: str
    predicate: str
    object: str
    kind: str
    language: str = ""


def term(namespace: str, value: Value) -> ox.NamedNode | ox.Literal:
    """Give the term of a value; entities and classes are IRIs."""
    match value:
        case Entity(name) | TaxonClass(name):
            return ox.NamedNode(iri.entity_iri(namespace, name))
        case Text(text):
            return ox.Literal(text)
        case Fraction():
            text = format_number(value)
            if "/" in text:
                return ox.Literal(text, datatype=ox.NamedNode(iri.PROOFWEAVE + "rational"))
            return typed(text, "decimal" if "." in text else "integer")
        case Quantity():
            return ox.Literal(str(value), datatype=ox.NamedNode(iri.PROOFWEAVE + "quantity"))
        case Date():
            text = str(value)
            if "/" in text:
                return ox.Literal(text, datatype=ox.NamedNode(iri.EDTF))
            return typed(text, _DATES[len(text)])


def typed(text: str, kind: str) -> ox.Literal:
    """Give a literal of the datatype `xsd:` + `kind`."""
    return ox.Literal(text, datatype=ox.NamedNode(iri.XSD + kind))


def value_of(namespace: str, found: ox.NamedNode | ox.Literal) -> Value:
    """Read a term that `term` wrote; IRIs are read as entities, since classes look the same.

    Raises IRIRejected or ValueUnreadable for other IRIs and for text that is not of its datatype.
    """
    if isinstance(found, ox.NamedNode):
        return Entity(iri.entity_name(namespace, found.value))
    datatype = found.datatype.value
    if datatype in (iri.XSD + "integer", iri.XSD + "decimal", iri.PROOFWEAVE + "rational"):
        return parse_number(found.value)
    if datatype == iri.PROOFWEAVE + "quantity":
        return parse_quantity(found.value)
    if datatype in (iri.EDTF, *(iri.XSD + name for name in _DATES.values())):
        return parse_date(found.value)
    return Text(found.value)


def term_text(namespace: str, value: Value) -> str:
    """Give the term of a value as N-Triples writes it."""
    return str(term(namespace, value))


def read_triples(content: bytes, media_type: str) -> tuple[Triple, ...]:
    """Read RDF in any of `SYNTAXES`, sorted; nothing is fetched.

    Raises FormatUnavailable for another media type and KnowledgeError for content that is not RDF.
    """
    return tuple(sorted(_triple(quad) for quad in _parse(content, media_type)))


def convert(
    content: bytes, source: str, target: str, *, prefixes: Mapping[str, str] | None = None
) -> bytes:
    """Write RDF in another syntax, its triples sorted.

    Raises FormatUnavailable for other media types and KnowledgeError for content that is not RDF.
    """
    quads = sorted({quad.triple for quad in _parse(content, source)}, key=str)
    written = ox.serialize(quads, format=_syntax(target), prefixes=dict(prefixes or {}))
    return written or b""


def _syntax(media_type: str) -> ox.RdfFormat:
    if media_type not in SYNTAXES:
        raise FormatUnavailable(
            f"{media_type!r} is no RDF syntax here; expected one of {', '.join(SYNTAXES)}"
        )
    return SYNTAXES[media_type]


def _parse(content: bytes, media_type: str) -> Iterable[ox.Quad]:
    syntax = _syntax(media_type)
    try:
        # blank nodes keep their labels, so that the same content gives the same bytes
        return list(ox.parse(content, syntax, without_named_graphs=True))
    except (SyntaxError, ValueError, OSError) as error:
        raise KnowledgeError(f"the content is not {media_type}: {error}") from error


def _triple(quad: ox.Quad) -> Triple:
    found = quad.object
    match found:
        case ox.NamedNode():
            text, kind, language = found.value, "iri", ""
        case ox.Literal():
            text, kind, language = found.value, "literal", found.language or ""
        case _:
            text, kind, language = str(found), "blank", ""
    subject = quad.subject
    named = subject.value if isinstance(subject, ox.NamedNode) else str(subject)
    return Triple(named, quad.predicate.value, text, kind, language)
