"""What the pieces of an RDF document say, triple by triple; a broken piece is told, and passed by.

Blank nodes get names that depend on the source and on nothing else: on its bytes and on the label,
or where there is no label on the place of the piece and the order within it. Nothing is fetched.

What is said about a triple is told as refused: an annotation has no place in a statement, and a
triple that is only spoken about is not stated. Where a statement is annotated, it is read without.

Source: W3C, RDF 1.1 Concepts (2014), section 3.5, on replacing blank nodes with IRIs; RDF 1.2
Concepts, section 1.5, on triple terms and reification.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyoxigraph as ox

from .document import Document
from .json_pieces import json_pieces
from .rdf_pieces import BrokenPiece, Piece
from .turtle_pieces import turtle_pieces
from .xml_pieces import xml_pieces

_SYNTAXES = {
    "application/ld+json": ox.RdfFormat.JSON_LD,
    "application/n-quads": ox.RdfFormat.N_QUADS,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/trig": ox.RdfFormat.TURTLE,  # a piece of TriG is Turtle
    "text/turtle": ox.RdfFormat.TURTLE,
}
_REIFIES = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies")
_SAYS_ABOUT = re.compile(r"<<|\{\||~|reifies")

ANNOTATION = "said about a triple: an annotation is not imported"
SPOKEN_OF = "a triple is spoken about, not stated: it is imported where it is stated"

_LINES = ("application/n-quads", "application/n-triples")


@dataclass(frozen=True, slots=True)
class Read:
    """A triple and the span that states it; `form` is `line`, `block` or `part`.

    `subject` is an IRI or the name of a blank node, and so is `object` unless it is a literal;
    then it has a `datatype`, and perhaps a `language`.
    """

    line: int
    start: int
    end: int
    form: str
    subject: str
    predicate: str
    object: str
    datatype: str = ""
    language: str = ""


def read_rdf(document: Document) -> Iterator[Read | BrokenPiece]:
    """Yield the triples of a document in the order of its pieces, each with its span."""
    syntax = _SYNTAXES[document.media_type]
    names = f"_:{document.source_sha256[:16]}"
    reifiers = _reifiers(document, syntax) if _SAYS_ABOUT.search(document.text) else frozenset()
    for piece in _pieces(document):
        if isinstance(piece, BrokenPiece):
            yield piece
            continue
        try:
            triples = list(ox.parse(piece.content, syntax))
            known = {q.triple for q in ox.parse(piece.known, syntax)} if piece.known else set()
        except (SyntaxError, ValueError, OSError) as error:
            reason = f"no {document.media_type}: {_brief(str(error))}"
            yield BrokenPiece(piece.line, piece.start, piece.end, reason)
            continue
        anonymous: dict[str, str] = {}

        def blank(node: ox.BlankNode, piece: Piece, seen: dict[str, str]) -> str:
            if str(node) in piece.labels:
                return f"{names}.{node.value}"
            return seen.setdefault(node.value, f"{names}.{piece.start}-{len(seen) + 1}")

        own = {quad.subject for quad in triples if _is_reifier(quad)}
        stated = {quad.triple for quad in triples} if own else set()
        for quad in triples:
            subject, value = quad.subject, quad.object
            if quad.triple in known:
                continue
            reason = ""
            if _is_reifier(quad):
                if value in stated:
                    continue  # an annotated statement; its annotations are told one by one
                reason = SPOKEN_OF
            elif isinstance(value, ox.Triple):
                reason = "a triple about a triple; expected an IRI or a literal"
            elif {subject, value} & own or {_label(subject), _label(value)} & reifiers:
                reason = ANNOTATION
            if reason:
                yield BrokenPiece(piece.line, piece.start, piece.end, reason)
                continue
            named = blank(subject, piece, anonymous) if isinstance(subject, ox.BlankNode) else ""
            place = (piece.line, piece.start, piece.end, piece.form)
            about = (named or str(subject.value), quad.predicate.value)
            if isinstance(value, ox.Literal):
                kind = value.datatype.value
                yield Read(*place, *about, value.value, kind, value.language or "")
            elif isinstance(value, ox.BlankNode):
                yield Read(*place, *about, blank(value, piece, anonymous))
            else:
                yield Read(*place, *about, value.value)


def _reifiers(document: Document, syntax: ox.RdfFormat) -> frozenset[str]:
    """Give the names, over the whole document, of what stands for a triple."""
    found: set[str] = set()
    for piece in _pieces(document):
        if isinstance(piece, Piece) and _SAYS_ABOUT.search(piece.content):
            try:
                quads = list(ox.parse(piece.content, syntax))
            except (SyntaxError, ValueError, OSError):
                continue  # told when it is read
            found.update(_label(quad.subject) for quad in quads if _is_reifier(quad))
    return frozenset(found)


def _is_reifier(quad: ox.Quad) -> bool:
    return quad.predicate == _REIFIES and isinstance(quad.object, ox.Triple)


def _label(node: object) -> str:
    """Give an IRI or a label as it is written; anonymous nodes are met in one piece only."""
    return str(node) if isinstance(node, ox.NamedNode | ox.BlankNode) else ""


def _pieces(document: Document) -> Iterator[Piece | BrokenPiece]:
    match document.media_type:
        case "application/ld+json":
            return json_pieces(document.text)
        case "application/rdf+xml":
            return xml_pieces(document.text)
        case kind if kind in _LINES:
            return _line_pieces(document.text)
    return turtle_pieces(document.text)


_LABEL = re.compile(r"_:[\w:](?:[\w:.·-]*[\w:·-])?")


def _line_pieces(text: str) -> Iterator[Piece]:
    start, line = 0, 1
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        content = text[start:end]
        stripped = content.strip()
        if stripped and not stripped.startswith("#"):
            labels = frozenset(_LABEL.findall(content)) if "_:" in content else _NO_LABELS
            yield Piece(line, start, end, "line", content, labels=labels)
        start, line = end + 1, line + 1


_NO_LABELS: frozenset[str] = frozenset()
_PLACE = re.compile(r"^Parser error (?:at|between) line .*?: |^.*?on line \d+.*?: ", re.DOTALL)
_LINE = re.compile(r"\s*\((?:at )?line \d+(?:, column \d+)?\)\s*$")
_LONGEST_REASON = 300


def _brief(message: str) -> str:
    """Leave out where in the piece it is, since lines there are not those of the document."""
    text = " ".join(_LINE.sub("", _PLACE.sub("", message)).split())
    if "No scheme found" in text:
        return "a relative IRI without a base; add @base or xml:base"
    if "LoadDocumentCallback" in text:
        return "its context stands elsewhere, and nothing is fetched; write the context in the file"
    return text[:_LONGEST_REASON]
