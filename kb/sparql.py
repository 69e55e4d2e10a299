"""What a SPARQL query asks for, told from its tokens, and the formats its results come in.

Nothing here evaluates a query. The tokens decide what never reaches the store: updates, and
SERVICE, which would open a connection to elsewhere.
"""

from __future__ import annotations

import re
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
    names_graphs: bool
    orders: bool


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
      (?P<space>\s+|\#[^\r\n]*)
    | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
    | (?P<string>\"{3}(?:\"{0,2}(?:[^"\\]|\\.))*\"{3} | '{3}(?:'{0,2}(?:[^'\\]|\\.))*'{3}
        | "(?:[^"\\\r\n]|\\.)*" | '(?:[^'\\\r\n]|\\.)*')
    | (?P<variable>[?$]\w+)
    | (?P<name>(?:[^\W\d_](?:[\w.-]{0,99}[\w-])?|_)?:
        (?:(?:[\w:]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])
           (?:[\w:.·-]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])*)?)
    | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# A prefix is looked for in 101 characters, so that no text is read again and again; of a longer one
# the words are told apart, which refuses more and lets nothing through.
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


def read_query(text: str) -> QueryTraits:
    """Tell the traits of a query.

    Raises QueryRejected for an update, for SERVICE anywhere, for brackets nested deeper than
    `DEEPEST`, and where no form is found.
    """
    words = [word.upper() for word in _words(_unescape(text))]
    if "SERVICE" in words:
        raise QueryRejected(
            "the query uses SERVICE, which would ask another server; expected a query over this "
            "knowledge base alone"
        )
    forms = {form.value: form for form in QueryForm}
    first = next((word for word in words if word in forms or word in _UPDATES), None)
    if first in _UPDATES:
        raise QueryRejected(
            f"the text begins with {first}, an update; expected SELECT, ASK, CONSTRUCT or DESCRIBE"
            ", since what is known changes only through documents and statements"
        )
    if first is None:
        raise QueryRejected("the query has no form; expected SELECT, ASK, CONSTRUCT or DESCRIBE")
    return QueryTraits(forms[first], names_graphs="FROM" in words, orders="ORDER" in words)


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


def _words(text: str) -> list[str]:
    """Bare words of a query: neither in strings, IRIs and comments nor parts of names.

    Raises QueryRejected for brackets that are nested too deeply.
    """
    words: list[str] = []
    depth = 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "word":
            words.append(token["word"])
        elif token.lastgroup == "other":
            depth += (token["other"] in "{[(") - (token["other"] in "}])")
            if depth > DEEPEST:
                raise QueryRejected(
                    f"the query nests brackets more than {DEEPEST} deep; expected a flatter one"
                )
    return words


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
