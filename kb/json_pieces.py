"""JSON-LD in pieces: each object of the outermost list or graph, or what a long one says by key.

Source: W3C, JSON-LD 1.1 (2020), section 9.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .rdf_pieces import LONGEST_PIECE, LONGEST_QUOTE, BrokenPiece, LineCounter, Piece

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_BLANK = re.compile(r'"(_:[^"\\\s]+)"')
_APART = ("@id", "@context")
"""Keys that every part of an object needs."""


@dataclass(frozen=True, slots=True)
class _Member:
    key: str
    start: int
    value: int
    end: int


class _Broken(Exception):
    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position


def json_pieces(text: str) -> Iterator[Piece | BrokenPiece]:
    """Yield the pieces of a JSON-LD text in order; where it is no JSON, nothing after that."""
    lines = LineCounter(text)
    start = _skip(text, 0)
    try:
        if text[start : start + 1] == "[":
            for element, end in _elements(text, start):
                yield from _object(text, lines, element, end, "")
            return
        members = list(_members(text, start))
        context = next((text[m.value : m.end] for m in members if m.key == "@context"), "")
        graph = next((m for m in members if m.key == "@graph" and text[m.value] == "["), None)
        if graph is None:
            end = members[-1].end if members else start + 1
            yield from _object(text, lines, start, text.index("}", end) + 1, "")
            return
        for element, end in _elements(text, graph.value):
            yield from _object(text, lines, element, end, context)
        for member in members:
            if member.key not in (*_APART, "@graph"):
                reason = "it stands beside @graph and describes the graph itself; not imported"
                line = lines.line(member.start)
                yield BrokenPiece(line, member.start, member.end, reason)
    except _Broken as broken:
        at = broken.position
        yield BrokenPiece(lines.line(at), at, min(at + 80, len(text)), f"no JSON: {broken}")
    except RecursionError:
        yield BrokenPiece(1, 0, 1, "it is nested too deeply")


def _object(
    text: str, lines: LineCounter, start: int, end: int, context: str
) -> Iterator[Piece | BrokenPiece]:
    """Yield an object as one piece, or by its keys where it is long and has an `@id`."""
    content = text[start:end]
    line = lines.line(start)
    if not content.startswith("{"):
        yield BrokenPiece(line, start, end, "no object that describes something")
        return
    members = {member.key: member for member in _members(text, start)}
    around = f'{{"@context": {context}, "@graph": [' if context else ""
    after = "]}" if context else ""
    names = frozenset(_BLANK.findall(content))
    if len(content) > LONGEST_QUOTE and "@id" in members and "@graph" not in members:
        needed = "".join(
            f"{text[members[key].start : members[key].end]}, " for key in _APART if key in members
        )
        for key, member in members.items():
            if key in _APART:
                continue
            part = text[member.start : member.end]
            line = lines.line(member.start)
            if len(part) > LONGEST_PIECE:
                yield _too_long(line, member.start, member.end)
                continue
            inner = f"{around}{{{needed}{part}}}{after}"
            yield Piece(line, member.start, member.end, "part", inner, labels=names)
    elif len(content) > LONGEST_PIECE:
        yield _too_long(line, start, end)
    else:
        yield Piece(line, start, end, "block", f"{around}{content}{after}", labels=names)


def _too_long(line: int, start: int, end: int) -> BrokenPiece:
    reason = f"an object of more than {LONGEST_PIECE} characters in one piece"
    return BrokenPiece(line, start, end, f"{reason}; write it as N-Triples")


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _value(text: str, position: int) -> int:
    try:
        return _DECODER.raw_decode(text, position)[1]
    except json.JSONDecodeError as error:
        raise _Broken(error.pos, error.msg) from error
    except ValueError as error:  # a number of thousands of digits
        raise _Broken(position, "a number is too long") from error


def _elements(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the elements of a list."""
    position = _skip(text, start + 1)
    if text[position : position + 1] == "]":
        return
    while True:
        end = _value(text, position)
        yield position, end
        position = _skip(text, end)
        if text[position : position + 1] == "]":
            return
        if text[position : position + 1] != ",":
            raise _Broken(position, "expected , or ] in a list")
        position = _skip(text, position + 1)


def _members(text: str, start: int) -> Iterator[_Member]:
    """Yield the members of an object; a key that stands twice is a fault."""
    if text[start : start + 1] != "{":
        raise _Broken(start, "expected an object or a list of objects")
    position = _skip(text, start + 1)
    seen: set[str] = set()
    while text[position : position + 1] != "}":
        if text[position : position + 1] != '"':
            raise _Broken(position, "expected a key in quotation marks")
        key, end = _DECODER.raw_decode(text, position) if _value(text, position) else ("", 0)
        colon = _skip(text, end)
        if text[colon : colon + 1] != ":":
            raise _Broken(colon, "expected : after a key")
        value = _skip(text, colon + 1)
        final = _value(text, value)
        if key in seen:
            raise _Broken(position, f"the key {key!r} stands twice")
        seen.add(key)
        yield _Member(key, position, value, final)
        position = _skip(text, final)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
            if text[position : position + 1] == "}":
                raise _Broken(position, "expected a key after ,")
        elif text[position : position + 1] != "}":
            raise _Broken(position, "expected , or } in an object")
