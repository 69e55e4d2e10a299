"""Documents: source bytes, their digest, decoded text, passages and spans (DESIGN section 2).

Decoding keeps text as it stands: only a byte order mark and the form of line ends are dropped, and
from Markdown and HTML what a reader does not see. Offsets count Unicode code points.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from .errors import DocumentRejected
from .visible_text import visible_html, visible_markdown


@dataclass(frozen=True, slots=True)
class Passage:
    """A titled half-open span `[start, end)` of a document's text, read as one unit."""

    title: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise DocumentRejected(
                f"passage {self.title!r} has the span [{self.start}, {self.end})"
            )


@dataclass(frozen=True, slots=True)
class Document:
    """An immutable source: what its bytes were and the text they decode to.

    `name` is the file name as given; `title` what people call it. Passages are in text order and do
    not overlap.
    """

    source_sha256: str
    name: str
    title: str
    media_type: str
    decoder: str
    text: str
    passages: tuple[Passage, ...]

    @property
    def text_sha256(self) -> str:
        """SHA-256 of the UTF-8 encoded decoded text, in hex."""
        return _digest(self.text)


@lru_cache(maxsize=8)
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


SIZE_LIMIT = 64 * 1024 * 1024
"""Default limit in bytes, of the source and of what it unpacks to."""

LONGEST_PASSAGE = 4000
"""Code points beyond which a paragraph is cut into several passages, at line ends."""

_MEDIA_TYPES = {
    "": "text/plain",
    "csv": "text/csv",
    "htm": "text/html",
    "html": "text/html",
    "json": "application/json",
    "jsonld": "application/ld+json",
    "markdown": "text/markdown",
    "md": "text/markdown",
    "nq": "application/n-quads",
    "nt": "application/n-triples",
    "owl": "application/rdf+xml",
    "rdf": "application/rdf+xml",
    "text": "text/plain",
    "trig": "application/trig",
    "tsv": "text/tab-separated-values",
    "ttl": "text/turtle",
    "txt": "text/plain",
}
RDF_TYPES = (
    "application/ld+json",
    "application/n-quads",
    "application/n-triples",
    "application/rdf+xml",
    "application/trig",
    "text/turtle",
)
"""Media types of RDF: imported, not read as prose."""

_DECODERS = {
    **dict.fromkeys(RDF_TYPES, "text/1"),
    "application/json": "passages-json/1",
    "text/csv": "table/1",
    "text/html": "html/1",
    "text/markdown": "markdown/1",
    "text/plain": "text/1",
    "text/tab-separated-values": "table/1",
}
_SIGNATURES = (
    (b"%PDF", "a PDF file"),
    (b"PK\x03\x04", "a ZIP or Office file"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"\x89PNG", "a PNG image"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def decode(
    data: bytes, *, name: str, media_type: str | None = None, limit: int = SIZE_LIMIT
) -> Document:
    """Decode UTF-8 bytes into a document, by `media_type` or else by the ending of `name`.

    Endings: txt, md, csv, tsv, html, json (a list of {"title", "text"}), and those of RDF, whose
    text stands as it is: nt, nq, ttl, trig, rdf, owl, jsonld; each also with `.gz`.
    Raises DocumentRejected for empty, binary, wrongly encoded or too large input.
    """
    plain = _unpack(data, name, limit)
    kind = _media_type(name, media_type)
    text = _read_text(plain, name)
    file_title = _stem(name)
    match kind:
        case "application/json":
            text, passages = _read_passages(text, name)
            title = file_title
        case "text/csv" | "text/tab-separated-values":
            title = file_title
            passages = tuple(Passage(title, start, end) for start, end in _lines(text))
        case _ if kind in RDF_TYPES:
            title = file_title
            passages = tuple(Passage(title, start, end) for start, end in _paragraphs(text))
        case "text/html":
            title, text, headings = visible_html(text)
            title = title or _first_line(text) or file_title
            passages = tuple(_titled(title, text, headings))
        case "text/markdown":
            text = visible_markdown(text)
            headings = _headings(text)
            title = headings[0][1] if headings else _first_line(text) or file_title
            passages = tuple(_titled(title, text, headings))
        case _:
            title = _first_line(text) or file_title
            passages = tuple(Passage(title, start, end) for start, end in _paragraphs(text))
    if not text.strip():
        raise DocumentRejected(f"{name} is empty; expected text")
    return Document(
        hashlib.sha256(data).hexdigest(), name, title, kind, _DECODERS[kind], text, passages
    )


def _unpack(data: bytes, name: str, limit: int) -> bytes:
    if len(data) > limit:
        raise DocumentRejected(f"{name} has {len(data)} bytes; the limit is {limit}")
    if not name.lower().endswith(".gz"):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            plain = packed.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DocumentRejected(f"{name} is no whole gzip file: {error}") from error
    if len(plain) > limit:
        raise DocumentRejected(f"{name} unpacks to more than the limit of {limit} bytes")
    return plain


def _endings(name: str) -> tuple[str, str]:
    base = re.split(r"[/\\]", name)[-1]
    if base.lower().endswith(".gz"):
        base = base[:-3]
    stem, dot, ending = base.rpartition(".")
    return (stem, ending.lower()) if dot and stem else (base, "")


def _stem(name: str) -> str:
    return _endings(name)[0] or name


def _media_type(name: str, given: str | None) -> str:
    if given is not None:
        given = given.partition(";")[0].strip().lower()
        if given in _DECODERS:
            return given
        raise DocumentRejected(
            f"{name} has the media type {given!r}; expected one of {', '.join(_DECODERS)}"
        )
    ending = _endings(name)[1]
    if ending in _MEDIA_TYPES:
        return _MEDIA_TYPES[ending]
    raise DocumentRejected(
        f"{name} ends in .{ending}; expected one of .{', .'.join(filter(None, _MEDIA_TYPES))}"
    )


def _read_text(data: bytes, name: str) -> str:
    if not data.strip():
        raise DocumentRejected(f"{name} is empty; expected text")
    for signature, what in _SIGNATURES:
        if data.startswith(signature):
            raise DocumentRejected(f"{name} is {what}; expected UTF-8 text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentRejected(
            f"{name} is not UTF-8 at byte {error.start}; expected UTF-8 text"
        ) from error
    control = _CONTROL.search(text)
    if control is not None:
        raise DocumentRejected(
            f"{name} is binary: control character {control[0]!r} at position {control.start()}; "
            "expected UTF-8 text"
        )
    return _unix_lines(text)


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if text[start:end].strip():
            yield start, end
        start = end + 1


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of lines, very long ones cut at spaces."""
    for start, end in _lines(text):
        while end - start > LONGEST_PASSAGE:
            cut = text.rfind(" ", start + 1, start + LONGEST_PASSAGE)
            cut = start + LONGEST_PASSAGE if cut < 0 else cut
            yield start, cut
            start = cut
        yield start, end


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans of lines between blank lines; headings and long runs are cut apart."""
    start = last = -1
    for piece, end in _pieces(text):
        heading = _HEADING.match(text, piece, end) is not None
        if start >= 0:
            apart = text.count("\n", last, piece) > 1
            if apart or heading or end - start > LONGEST_PASSAGE:
                yield start, last
                start = -1
        start, last = (piece if start < 0 else start), end
        if heading:
            yield start, last
            start = -1
    if start >= 0:
        yield start, last


_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)[ \t#]*\Z")
_HEADINGS = re.compile(
    r"^#{1,6}[ \t]+(?P<marked>.*?)[ \t#]*$|^(?P<underlined>\S.*)\n(?:=+|-{2,})[ \t]*$", re.MULTILINE
)
_TITLE_LENGTH = 120


def _headings(text: str) -> list[tuple[int, str]]:
    found = (
        (match.start(), match["marked"] or match["underlined"])
        for match in _HEADINGS.finditer(text)
    )
    return [(start, title.strip()) for start, title in found if title and title.strip()]


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0].strip()
    heading = _HEADING.match(line)
    line = heading[1] if heading else line
    return line if len(line) <= _TITLE_LENGTH else ""


def _titled(title: str, text: str, headings: list[tuple[int, str]]) -> Iterator[Passage]:
    """Yield the paragraphs, each under the nearest heading before it."""
    ahead = headings[::-1]
    for start, end in _paragraphs(text):
        while ahead and ahead[-1][0] <= start:
            title = ahead.pop()[1]
        yield Passage(title, start, end)


def _read_passages(text: str, name: str) -> tuple[str, tuple[Passage, ...]]:
    try:
        elements = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentRejected(f"{name} is no JSON: {error}") from error
    parts: list[str] = []
    passages: list[Passage] = []
    position = 0
    for index, element in enumerate(elements if isinstance(elements, list) else [elements]):
        match element:
            case {"title": str(title), "text": str(body)}:
                part = _unix_lines(f"{title}\n{body}")
            case _:
                raise DocumentRejected(
                    f'{name} has no {{"title", "text"}} as its element {index}; '
                    "expected a list of such objects"
                )
        parts += part, "\n\n"
        passages.append(Passage(title, position, position + len(part)))
        position += len(part) + 2
    whole = "".join(parts)
    if not whole.isascii():
        try:
            whole.encode()
        except UnicodeEncodeError as error:
            raise DocumentRejected(f"{name} has half a surrogate pair: {error}") from error
    return whole, tuple(passages)
