"""What a SPARQL query asks for, told from its tokens, and the formats its results come in.

Nothing here evaluates a query. The tokens decide what never reaches the store: updates, and
SERVICE, which would open a connection to elsewhere: it is refused, or its clauses are found, for
others to ask (see `federation`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from .errors import FormatUnavailable, QueryRejected


class QueryForm(Enum):
    """The four forms of a query."""

    SELECT = "SELECT"
    ASK = "ASK"
    CONSTRUCT = "CONSTRUCT"
    DESCRIBE = "DESCRIBE"


@dataclass(frozen=True, slots=True)
class QueryTraits:
    """What the tokens tell: the form, whether it names its own graphs, whether it orders rows."""

    form: QueryForm
    names_graphs: bool = False
    orders: bool = False
    uses_service: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a query and where it starts; `kind` is None for white space, strings and signs."""

    kind: str | None
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the next one starts."""
        return self.start + len(self.text)


SOLUTION_FORMATS = {
    "application/sparql-results+json": ("application/json", "text/json"),
    "application/sparql-results+xml": ("application/xml", "text/xml"),
    "text/csv": (),
    "text/tab-separated-values": (),
}
"""Formats of SELECT and ASK, the preferred first, with other names that clients ask for."""

GRAPH_FORMATS = {
    "text/turtle": ("application/x-turtle", "text/plain"),
    "application/n-triples": (),
    "application/trig": ("application/x-trig",),
    "application/rdf+xml": ("application/xml", "text/xml"),
    "application/ld+json": ("application/json",),
}
"""Formats of CONSTRUCT and DESCRIBE, the preferred first, with other names."""

DEEPEST = 500
"""Depth of brackets beyond which a query is refused."""

_UPDATES = frozenset(
    {"INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH"}
)

_TOKEN = re.compile(
    r"""
      (?P<space>(?:\s+|\#[^\r\n]*)+)                            # and comments
    | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)                       # then strings
    | (?:\"{3}(?:\"{0,2}(?:[^"\\]|\\.))*\"{3} | '{3}(?:'{0,2}(?:[^'\\]|\\.))*'{3}
        | "(?:[^"\\\r\n]|\\.)*" | '(?:[^'\\\r\n]|\\.)*')
    | (?P<variable>[?$]\w+)
    | (?P<name>(?:[^\W\d_](?:[\w.-]{0,99}[\w-])?|_)?:
        (?:(?:[\w:]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])
           (?:[\w:.·-]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])*)?)
    | (?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*)                        # languages
    | (?P<word>[A-Za-z_]\w*)
    | (?P<opening>[{\[(]) | (?P<closing>[}\])]) | .
    """,
    re.VERBOSE | re.DOTALL,
)
# A prefix is looked for in 101 characters, so that no text is read again and again; of a longer one
# the words are told apart, which refuses more and lets nothing through.
_FORM = re.compile(r"\s*(SELECT|ASK|CONSTRUCT|DESCRIBE)\b", re.IGNORECASE)
_TELLING = ("\\", "from", "order", "service")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


def read_query(text: str) -> QueryTraits:
    """Tell the traits of a query.

    Raises QueryRejected for an update, for brackets nested deeper than `DEEPEST`, and where no form
    is found.
    """
    first_word = _FORM.match(text)
    lower = text.lower()
    if (
        first_word is not None
        and not any(telling in lower for telling in _TELLING)
        and text.count("{") + text.count("[") + text.count("(") <= DEEPEST
    ):
        return QueryTraits(QueryForm(first_word[1].upper()))  # there is nothing else to tell
    words: list[str] = []
    depth = 0
    for match in _TOKEN.finditer(_unescape(text)):
        match match.lastgroup:
            case "word":
                words.append(match[0].upper())
            case "opening":
                depth += 1
                if depth > DEEPEST:
                    raise QueryRejected(
                        f"the query nests brackets more than {DEEPEST} deep; expected a flatter one"
                    )
            case "closing":
                depth -= 1
    forms = {form.value: form for form in QueryForm}
    first = next((word for word in words if word in forms or word in _UPDATES), None)
    if first in _UPDATES:
        raise QueryRejected(
            f"the text begins with {first}, an update; expected SELECT, ASK, CONSTRUCT or DESCRIBE"
            ", since what is known changes only through documents and statements"
        )
    if first is None:
        raise QueryRejected("the query has no form; expected SELECT, ASK, CONSTRUCT or DESCRIBE")
    return QueryTraits(
        forms[first],
        names_graphs="FROM" in words,
        orders="ORDER" in words,
        uses_service="SERVICE" in words,
    )


def tokens(text: str) -> Iterator[Token]:
    """Give the tokens of a query as it is written, without escapes of characters resolved."""
    return (Token(each.lastgroup, each[0], each.start()) for each in _TOKEN.finditer(text))


@lru_cache(maxsize=256)
def negotiate(accept: str, form: QueryForm) -> str:
    """Choose the media type of a result: the one the Accept header wants most.

    Ranges are weighed by their `q`; of equal ones the more specific, then ours preferred first. An
    empty header accepts everything. Raises FormatUnavailable where nothing fits.
    """
    formats = SOLUTION_FORMATS if form in (QueryForm.SELECT, QueryForm.ASK) else GRAPH_FORMATS
    ranges = _accept_ranges(accept)
    best: tuple[float, int, int] | None = None
    chosen = ""
    for place, (media_type, others) in enumerate(formats.items()):
        offers = [_quality(media_type, ranges)]
        offers += [(quality, 2) for name, quality in ranges if name in others]
        for quality, specificity in offers:
            rank = (quality, specificity, -place)
            if quality > 0 and (best is None or rank > best):
                best, chosen = rank, media_type
    if best is None:
        raise FormatUnavailable(
            f"no result format fits {accept!r}; expected one of {', '.join(formats)}"
        )
    return chosen


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        point = int(match[1] or match[2], 16)
        return chr(point) if point <= 0x10FFFF else "\ufffd"

    return _ESCAPE.sub(character, text)


def _accept_ranges(accept: str) -> list[tuple[str, float]]:
    ranges: list[tuple[str, float]] = []
    for part in accept.split(","):
        name, *parameters = [piece.strip().lower() for piece in part.split(";")]
        if not name:
            continue
        quality = 1.0
        for parameter in parameters:
            if re.fullmatch(r"q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)", parameter):
                quality = float(parameter[2:])
            elif parameter.startswith("q="):
                quality = 0.0
        ranges.append(("*/*" if name == "*" else name, quality))
    return ranges or [("*/*", 1.0)]


def _quality(media_type: str, ranges: list[tuple[str, float]]) -> tuple[float, int]:
    """Weight of a type by the most specific range that covers it, and how specific that is."""
    major = media_type.partition("/")[0]
    for specificity, wanted in ((2, media_type), (1, f"{major}/*"), (0, "*/*")):
        weights = [quality for name, quality in ranges if name == wanted]
        if weights:
            return max(weights), specificity
    return 0.0, 0
