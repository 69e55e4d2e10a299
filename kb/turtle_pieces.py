"""Turtle and TriG in pieces, told from their tokens; what they mean is left to the parser.

A statement ends at its `.`, which stands nowhere inside one; so reading goes on after a broken
statement at the next. In TriG each statement within braces is a piece, without the graph's name.

Source: W3C, RDF 1.1 Turtle (2014), section 6.5; RDF 1.1 TriG (2014), section 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .rdf_pieces import LONGEST_PIECE, LONGEST_QUOTE, BrokenPiece, LineCounter, Piece

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|\#[^\n]*)
    | (?P<iri><(?:[^\x00-\x20<>"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>)
    | (?P<string>\"{3}(?:\"{0,2}(?:[^"\\]|\\.))*\"{3} | '{3}(?:'{0,2}(?:[^'\\]|\\.))*'{3}
        | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
    | (?P<blank>_:[\w:](?:[\w:.·-]*[\w:·-])?)
    | (?P<directive>@(?:prefix|base|version)\b)
    | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+ | [+-]?\d*\.\d+ | [+-]?\d+(?!\w))
    | (?P<name>(?:[^\W\d_](?:[\w.·-]{0,99}[\w·-])?)?:
        (?:(?:[\w:]|%[0-9A-Fa-f]{2}|\\.)(?:(?:[\w:.·-]|%[0-9A-Fa-f]{2}|\\.)*
           (?:[\w:·-]|%[0-9A-Fa-f]{2}|\\.))?)?)
    | (?P<word>[A-Za-z]\w*)
    | (?P<type>\^\^)
    | (?P<annotation>\{\||\|\})                              # an RDF 1.2 annotation begins, ends
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# a prefix of at most 101 characters, so that no text is looked at again and again
_TERMS = ("iri", "blank", "name")
_KEYWORDS = ("PREFIX", "BASE", "VERSION")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    start: int
    end: int
    text: str


def turtle_pieces(text: str) -> Iterator[Piece | BrokenPiece]:
    """Yield the pieces of a Turtle or TriG text in order."""
    reader = _Reader(text)
    statement: list[_Token] = []
    for token in _tokens(text):
        is_mark = token.kind == "mark"
        if reader.ends_directive(statement, token):
            reader.take_directive(statement)
            statement = []
        if is_mark and token.text == ".":
            yield from reader.statement(statement, token.end)
            statement = []
        elif is_mark and token.text in "{}":
            if token.text == "}":  # the last statement of a graph needs no dot
                yield from reader.statement(statement, token.start)
            elif statement and not _names_graph(statement):
                yield reader.broken(statement, "a brace within a statement; expected its end")
            statement = []
        else:
            statement.append(token)
    if reader.ends_directive(statement, None):
        reader.take_directive(statement)
    elif statement:
        yield reader.broken(statement, "the last statement has no end")


def _names_graph(tokens: list[_Token]) -> bool:
    """Whether the tokens before a brace are the name of a graph, with or without `GRAPH`."""
    named = tokens[1:] if tokens[0].text.upper() == "GRAPH" else tokens
    return [token.text for token in named] == ["[", "]"] or (
        len(named) == 1 and named[0].kind in _TERMS
    )


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "mark"
        if kind != "space":
            yield _Token(kind, match.start(), match.end(), match[0])


class _Reader:
    """The directives in force, and the statements as pieces."""

    def __init__(self, text: str) -> None:
        self.lines = LineCounter(text)
        self._text = text
        self._directives: dict[str, None] = {}

    def ends_directive(self, tokens: list[_Token], following: _Token | None) -> bool:
        """Whether the tokens are a directive in the form of SPARQL, which no dot ends."""
        if not tokens or tokens[0].kind != "word":
            return False
        length = {"PREFIX": 3, "BASE": 2, "VERSION": 2}.get(tokens[0].text.upper())
        return length == len(tokens) and (following is None or following.text != ".")

    def take_directive(self, tokens: list[_Token]) -> None:
        """Keep a directive for what follows."""
        text = self._text[tokens[0].start : tokens[-1].end]
        dot = " .\n" if tokens[0].kind == "directive" else "\n"
        self._directives.pop(text + dot, None)  # again, after others
        self._directives[text + dot] = None

    def statement(self, tokens: list[_Token], end: int) -> Iterator[Piece | BrokenPiece]:
        """Yield the pieces of a statement that ends at `end`, dot included if there is one."""
        if not tokens:
            return
        if tokens[0].kind == "directive":
            self.take_directive(tokens)
            return
        start, last = tokens[0].start, tokens[-1].end
        before = "".join(self._directives)
        if end - start <= LONGEST_QUOTE:
            yield self._piece("block", start, end, before, tokens, self._text[start:last])
            return
        parts = _parts(tokens)
        for part in parts:
            first, final = part.tokens[0], part.tokens[-1]
            if final.end - part.verb.start > LONGEST_QUOTE:
                opening = first.start  # far from its predicate, or long: quoted alone
            else:
                opening = part.verb.start
            content = (
                f"{self._text[tokens[0].start : tokens[0].end]} {part.verb.text} "
                f"{self._text[first.start : final.end]}"
            )
            if final.end - opening <= LONGEST_PIECE:
                yield self._piece("part", opening, final.end, before, part.tokens, content)
            else:
                yield self._too_long(opening, final.end)
        if not parts:
            if end - start <= LONGEST_PIECE:
                yield self._piece("block", start, end, before, tokens, self._text[start:last])
            else:
                yield self._too_long(start, end)

    def _piece(
        self, form: str, start: int, end: int, before: str, tokens: list[_Token], content: str
    ) -> Piece:
        labels = frozenset(token.text for token in tokens if token.kind == "blank")
        if form == "part" and content.startswith("_:"):
            labels |= {content.partition(" ")[0]}
        line = self.lines.line(start)
        return Piece(line, start, end, form, f"{before}{content} .", labels=labels)

    def broken(self, tokens: list[_Token], reason: str) -> BrokenPiece:
        """Give the tokens as a piece that is refused."""
        start, end = tokens[0].start, tokens[-1].end
        return BrokenPiece(self.lines.line(start), start, end, reason)

    def _too_long(self, start: int, end: int) -> BrokenPiece:
        return BrokenPiece(
            self.lines.line(start),
            start,
            end,
            f"a statement of more than {LONGEST_PIECE} characters in one piece; "
            "write it as N-Triples",
        )


@dataclass(frozen=True, slots=True)
class _Part:
    verb: _Token
    tokens: list[_Token]


def _parts(tokens: list[_Token]) -> list[_Part]:
    """Cut a statement at its outer `;` and `,`; nothing where its subject has no name."""
    if len(tokens) < 3 or tokens[0].kind not in _TERMS:
        return []
    parts: list[_Part] = []
    verb: _Token | None = None
    own: list[_Token] = []
    depth = 0
    for token in tokens[1:]:
        mark = token.text if token.kind == "mark" else ""
        if depth == 0 and mark in (",", ";") and mark:
            if verb is not None and own:
                parts.append(_Part(verb, own))
            own = []
            verb = None if mark == ";" else verb
            continue
        if token.kind == "annotation":
            depth += 1 if token.text == "{|" else -1
        depth += (mark in ("[", "(") and bool(mark)) - (mark in ("]", ")") and bool(mark))
        if verb is None:
            verb = token
        else:
            own.append(token)
    if verb is not None and own:
        parts.append(_Part(verb, own))
    return parts
