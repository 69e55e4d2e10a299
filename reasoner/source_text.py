"""Text of a policy or facts file: statements, comments, and what no parser should see.

The scan keeps every offset: comments are blanked, not removed, so that a position in a statement is
a position in the file. Lines and columns are 1-based and count code points.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from .errors import Finding


@dataclass(frozen=True, slots=True)
class StatementText:
    """One statement up to its full stop: half-open `[start, end)`; comments in it are blank."""

    text: str
    start: int
    end: int
    is_faulty: bool


@dataclass(frozen=True, slots=True)
class MetadataLine:
    """The text behind one `%!`, whose first character stands at `start`."""

    text: str
    start: int
    line: int


@dataclass(frozen=True, slots=True)
class SourceText:
    """A scanned file. Statements, metadata lines and findings are in text order."""

    text: str
    line_starts: tuple[int, ...]
    statements: tuple[StatementText, ...]
    metadata: tuple[MetadataLine, ...]
    findings: tuple[Finding, ...]

    def position(self, offset: int) -> tuple[int, int]:
        """Give line and column of an offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def finding(self, offset: int, code: str, message: str) -> Finding:
        """Make a finding at an offset."""
        return Finding(*self.position(offset), code, message)


_TOKEN = re.compile(
    r"""
      (?P<space>[\x20\t\f\n]+)
    | (?P<metadata>%![^\n]*)
    | (?P<block>%\*)
    | (?P<comment>%[^\n]*)
    | (?P<string>"(?:[^"\\\n]|\\[^\n])*")
    | (?P<unclosed>"[^\n]*)
    | (?P<decimal>[0-9]+\.[0-9]+)
    | (?P<interval>\.\.+)
    | (?P<stop>\.)
    | (?P<directive>\#[A-Za-z_]*)
    | (?P<word>[A-Za-z0-9_]+)
    | (?P<foreign>[^\x20-\x7e\t\f\n]+)
    | (?P<other>[\x21-\x7e])
    """,
    re.VERBOSE | re.ASCII,
)
_ALLOWED_DIRECTIVES = frozenset({"#count", "#sum", "#min", "#max", "#inf", "#sup"})
_BLOCK_EDGE = re.compile(r"%\*|\*%")


def normalize(text: str) -> str:
    """Drop a byte order mark and write every line end as one line feed."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _block_end(text: str, start: int) -> int:
    depth = 0
    for edge in _BLOCK_EDGE.finditer(text, start):
        depth += 1 if edge.group() == "%*" else -1
        if depth == 0:
            return edge.end()
    return -1


def scan(text: str) -> SourceText:
    """Cut normalized text into statements and metadata, reporting what no statement may hold."""
    line_starts = (0, *(match.end() for match in re.finditer("\n", text)))
    source = SourceText(text, line_starts, (), (), ())
    statements: list[StatementText] = []
    metadata: list[MetadataLine] = []
    findings: list[Finding] = []
    pieces: list[str] = []
    begin, faulty = -1, False
    offset, length = 0, len(text)

    def report(at: int, code: str, message: str) -> None:
        findings.append(source.finding(at, code, message))

    def finish(end: int) -> None:
        nonlocal begin, faulty
        statements.append(StatementText("".join(pieces), begin, end, faulty))
        pieces.clear()
        begin, faulty = -1, False

    while offset < length:
        match = _TOKEN.match(text, offset)
        assert match is not None, "every character belongs to a token"
        kind, token, at, offset = match.lastgroup, match.group(), offset, match.end()
        if kind == "block":
            offset = _block_end(text, at)
            if offset < 0:
                report(at, "unterminated", "the block comment is not closed; expected *%")
                offset = length
            if begin >= 0:
                pieces.append(" " * (offset - at))
            continue
        if kind in ("space", "comment", "metadata"):
            if kind == "metadata":
                metadata.append(MetadataLine(token[2:], at + 2, source.position(at)[0]))
            if begin >= 0:
                pieces.append(token if kind == "space" else " " * len(token))
            continue
        if begin < 0:
            begin = at
        pieces.append(token)
        match kind:
            case "stop":
                finish(offset)
            case "string" if "\0" in token:
                faulty = True
                report(at, "foreign_character", "the text holds a NUL character; write none")
            case "unclosed":
                faulty = True
                report(
                    at,
                    "unterminated",
                    'the text is not closed on its line; expected " '
                    "(write a line end within text as \\n)",
                )
                finish(offset)
            case "decimal":
                faulty = True
                report(at, "decimal", f'{token} is no literal; write @decimal("{token}")')
            case "interval":
                faulty = True
                report(at, "unsupported", f"{token} is not part of the language; list the values")
            case "directive" if token not in _ALLOWED_DIRECTIVES:
                faulty = True
                report(
                    at,
                    "unsupported",
                    f"{token} is not part of the language; expected one of "
                    "#count, #sum, #min, #max, #inf, #sup",
                )
            case "foreign":
                faulty = True
                report(
                    at,
                    "foreign_character",
                    f"{token!r} stands outside text and comments; "
                    'put names in quotation marks, such as "Müller"',
                )
    if begin >= 0:
        at = begin + len("".join(pieces).rstrip()) - 1
        if not faulty:
            report(at, "syntax", "the last statement does not end; expected a full stop")
        pieces[:] = ["".join(pieces).rstrip()]
        faulty = True
        finish(at + 1)
    return SourceText(text, line_starts, tuple(statements), tuple(metadata), tuple(findings))
