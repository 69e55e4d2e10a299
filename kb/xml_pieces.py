"""RDF/XML in pieces: each child of `rdf:RDF`, or what a long one says, property by property.

Source: W3C, RDF 1.1 XML Syntax (2014), section 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.parsers import expat

from .rdf_pieces import LONGEST_PIECE, LONGEST_QUOTE, BrokenPiece, LineCounter, Piece

_TAG = re.compile(r"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_ENCODING = re.compile(r"<\?xml[^>]*\bencoding\s*=\s*[\"']([A-Za-z0-9._-]+)")
_NODE_ID = re.compile(r"\bnodeID\s*=\s*[\"']([^\"']*)")
_NAMED = re.compile(r"\b(?:about|ID|nodeID)\s*=")
_COUNTED = re.compile(r"<(?:[\w.-]+:)?li[\s/>]")


@dataclass(slots=True)
class _Element:
    """An element of the first three levels, by code points; `end` is behind its last tag."""

    name: str
    start: int
    end: int
    children: list[_Element]


def xml_pieces(text: str) -> Iterator[Piece | BrokenPiece]:
    """Yield the pieces of an RDF/XML text in order; where it is no XML, nothing after that."""
    lines = LineCounter(text)
    declared = _ENCODING.match(text)
    if declared and declared[1].lower() not in ("utf-8", "us-ascii") and not text.isascii():
        yield BrokenPiece(1, 0, declared.end(), f"it declares {declared[1]}; expected UTF-8")
        return
    root, problem = _outline(text)
    if root is not None:
        for element, before, after in _nodes(root, text):
            yield from _pieces(text, lines, element, before, after)
    if problem is not None:
        yield problem


def _nodes(root: _Element, text: str) -> Iterator[tuple[_Element, str, str]]:
    """Yield each element that describes a subject, with what a parser needs around it."""
    if root.name.rpartition(":")[2] == "RDF":
        opening = text[: _tag_end(text, root.start)]
        for child in root.children:
            yield child, opening, f"</{root.name}>"
    elif root.end:
        yield root, text[: root.start], ""


def _pieces(
    text: str, lines: LineCounter, element: _Element, before: str, after: str
) -> Iterator[Piece | BrokenPiece]:
    start, end = element.start, element.end
    content = text[start:end]
    tag = text[start : _tag_end(text, start)]
    if len(content) <= LONGEST_QUOTE or not (
        element.children and _NAMED.search(tag) and not _COUNTED.search(content)
    ):
        if len(content) <= LONGEST_PIECE:
            labels = _labels(content)
            line = lines.line(start)
            yield Piece(line, start, end, "block", before + content + after, labels=labels)
        else:
            yield _too_long(lines.line(start), start, end)
        return
    close = f"</{element.name}>{after}"
    alone = f"{before}{tag}{close}"
    labels = _labels(tag)
    yield Piece(lines.line(start), start, start + len(tag), "part", alone, labels=labels)
    for child in element.children:
        part = text[child.start : child.end]
        line = lines.line(child.start)
        if len(part) > LONGEST_PIECE:
            yield _too_long(line, child.start, child.end)
            continue
        yield Piece(
            line,
            child.start,
            child.end,
            "part",
            f"{before}{tag}{part}{close}",
            known=alone,
            labels=labels | _labels(part),
        )


def _too_long(line: int, start: int, end: int) -> BrokenPiece:
    reason = f"an element of more than {LONGEST_PIECE} characters in one piece"
    return BrokenPiece(line, start, end, f"{reason}; write it as N-Triples")


def _labels(text: str) -> frozenset[str]:
    return frozenset(f"_:{label}" for label in _NODE_ID.findall(text))


def _tag_end(text: str, start: int) -> int:
    match = _TAG.match(text, start)
    return match.end() if match else len(text)


def _outline(text: str) -> tuple[_Element | None, BrokenPiece | None]:
    """Find the elements of three levels; those whole before the first fault, and the fault."""
    data = text.encode()
    parser = expat.ParserCreate("utf-8")
    path: list[_Element] = []
    found: list[_Element] = []
    depth = 0
    position = _Position(data)

    def begin(name: str, _: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth <= 3:
            path.append(_Element(name, position.point(parser.CurrentByteIndex), 0, []))
            if depth == 1:
                found.append(path[0])

    def finish(_: str) -> None:
        nonlocal depth
        if depth <= 3:
            element = path.pop()
            here = position.point(parser.CurrentByteIndex)
            own = _tag_end(text, element.start)  # of <a/> the end is told behind it
            element.end = own if text.endswith("/>", 0, own) else _tag_end(text, here)
            if path:
                path[-1].children.append(element)
        depth -= 1

    parser.StartElementHandler = begin
    parser.EndElementHandler = finish
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = f"no well-formed XML: {expat.ErrorString(error.code)}"
        start = position.point(parser.CurrentByteIndex)
        problem = BrokenPiece(error.lineno, start, len(text), reason)
        return (found[0] if found else None), problem
    return found[0], None


class _Position:
    """Code points of byte positions that grow."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._ascii = data.isascii()
        self._byte = self._point = 0

    def point(self, byte: int) -> int:
        """Give the code point at a byte, at or after the one asked for last."""
        if self._ascii:
            return byte
        self._point += len(self._data[self._byte : byte].decode())
        self._byte = byte
        return self._point
