"""RDF text in pieces: each a part of the source that states something and can be read alone.

A piece is what is quoted. In the line formats it is the line; in the others the statement, element
or object that describes one subject. Where that is longer than `LONGEST_QUOTE`, it is cut into what
it says one by one: predicate and object, quoted without the subject, which stands before them.
"""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_QUOTE = 1000
"""Code points beyond which the description of a subject is cut."""

LONGEST_PIECE = 20_000
"""Code points beyond which a piece that cannot be cut is refused."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A span that states something; `content` is what a parser reads for it.

    `content` has around the span what it needs: prefixes, context, the subject. What `known` states
    besides is another piece's. `line` counts from 1; `labels` are the blank nodes that the document
    names itself.
    """

    line: int
    start: int
    end: int
    form: str
    content: str
    known: str = ""
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class BrokenPiece:
    """A span that is no RDF of its syntax, and why."""

    line: int
    start: int
    end: int
    reason: str


class LineCounter:
    """Lines of positions that are asked for in any order, quickly where they grow."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position, self._line = 0, 1

    def line(self, position: int) -> int:
        """Give the line, from 1, that a position is on."""
        if position < self._position:
            self._line -= self._text.count("\n", position, self._position)
        else:
            self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line
