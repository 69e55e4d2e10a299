"""Sources: texts by digest, facts files and tables read again, and a folder of originals."""

from __future__ import annotations

import csv
import functools
import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .format import Rejected
from .language import Reader, Unreadable, without_comments
from .rules import Arguments, Ground, arguments, signature
from .values import TERM, UNKNOWN, in_form, read_value
from .walk import Rows

FACTS_DECODER = "facts/1"
"""Decoder of facts files; their lookups are read again from the file."""
TABLE_TYPES = ("text/csv", "text/tab-separated-values")
TABLE_ENDINGS = (".csv", ".tsv")
Span = tuple[int, int]
Record = Mapping[str, str]


def digest_of(data: str | bytes) -> str:
    """Give the SHA-256 of a text in UTF-8, or of bytes."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


# ---------------------------------------------------------------- facts

_PLAIN_ATOM = re.compile(
    rf"\s*(-?_*[a-z][A-Za-z0-9_]*)(?:\(\s*((?:{TERM.pattern})(?:\s*,\s*(?:{TERM.pattern}))*)\s*\))?"
    r"\s*",
    re.ASCII,
)
_FACT_END = re.compile(r"\.(?![.0-9])", re.ASCII)


def plain_atom(
    text: str, position: int = 0, *, unknown: bool = False
) -> tuple[int, int, str, Arguments] | None:
    """Read an atom of terms fast: start, stop, signature, arguments; None where it is no such.

    `unknown` values are taken if wanted.
    """
    found = _PLAIN_ATOM.match(text, position)
    if found is None:
        return None
    terms = TERM.findall(found[2] or "")
    try:
        row = [term if unknown and term == UNKNOWN else in_form(term) for term in terms]
    except ValueError:
        return None
    return found.start(1), found.end(), f"{found[1]}/{len(row)}", tuple(row)


class FactsFile(NamedTuple):
    """The facts of a file, and each by its span, its stop included."""

    rows: Rows
    places: dict[Span, Ground]

    def without(self, retracted: Sequence[Ground]) -> FactsFile:
        """Give the facts as if some did not stand there; quotes of others keep their places."""
        if not retracted:
            return self
        rows = Rows()
        for sign, row in self.places.values():
            if (sign, row) not in retracted:
                rows.add(sign, row)
        return FactsFile(rows, self.places)


def read_facts(text: str, source: str) -> FactsFile:
    """Read all facts of a text: plain ones fast, others by the full reader."""
    facts, end = FactsFile(Rows(), {}), 0
    try:
        shown, _ = without_comments(text)
        while True:
            plain = plain_atom(shown, end)
            if plain is not None and _FACT_END.match(shown, plain[1]):
                start, end, sign, row = plain
                end += 1
            else:
                reader = Reader(shown, end)
                if reader.kind == "end":
                    return facts
                start, tree = reader.start, reader.atom()
                sign, row = signature(tree), arguments(tree, {})
                if None in row:
                    raise Unreadable("it holds a variable", reader.start)
                reader.expect(".")
                end = reader.end
            facts.rows.add(sign, row)
            facts.places[start, end] = sign, row
    except Unreadable as error:
        message = f"line {text.count(chr(10), 0, error.position) + 1} is no fact: {error}"
        raise Rejected("SOURCE_MISMATCH", message, f"sources/{source}") from None


# ---------------------------------------------------------------- tables


class Table:
    """A table: the names in its header, and the stripped cells of each other row by its span.

    All rows are read only where all are needed: a quoted row is found by its own place.
    """

    def __init__(self, text: str, media_type: str = "text/csv") -> None:
        line = text.lstrip("\n").partition("\n")[0]
        guess = max((",", ";", "\t", "|"), key=line.count)
        self._text, self._delimiter = text, "\t" if media_type == TABLE_TYPES[1] else guess
        filled = (row for row in table_rows(text, self._delimiter) if any(row[2]))
        _, end, cells = next(filled, (0, 0, []))
        self._body = end + 1
        self.header = [_column_name(cell) for cell in cells]

    @functools.cached_property
    def rows(self) -> dict[Span, list[str]]:
        """All rows below the header by their spans."""
        found = table_rows(self._text, self._delimiter, self._body)
        return {(start, end): cells for start, end, cells in found if any(cells)}

    def row(self, start: int, end: int) -> list[str] | None:
        """Give the cells of the row below the header with a span; None where there is none."""
        if start < self._body or not is_row_start(self._text, self._delimiter, start):
            return None
        _, last, cells = next(table_rows(self._text, self._delimiter, start))
        return cells if last == end and any(cells) else None

    def spans(self, sign: str, call: Arguments) -> set[Span] | None:
        """Give the spans of the rows that answer a call to a dimension.

        The first column names the entity, the header the dimensions; an empty cell states nothing.
        None where the table cannot be read like this, or the call asks for more than names.
        """
        name, _, arity = sign.rpartition("/")
        values = [("text", None) if term is None else read_value(term) for term in call[:2]]
        only_names = all(kind == "text" for kind, *_ in values) and not any(call[2:])
        if name not in self.header[1:] or arity not in ("2", "3") or not only_names:
            return None
        column = self.header.index(name, 1)
        return {
            span
            for span, cells in self.rows.items()
            if len(cells) == len(self.header) and cells[0] and cells[column]
            if values[0][1] in (None, cells[0]) and values[1][1] in (None, cells[column])
        }

    def retracted(self, sign: str, retracted: Iterable[Ground]) -> set[Span]:
        """Give the spans of the rows that state what is retracted of a dimension."""
        name = f"{sign.rpartition('/')[0]}/2"
        found = [self.spans(name, row) for other, row in retracted if other == name]
        return set[Span]().union(*filter(None, found))


def table_spans(
    text: str, sign: str, call: Arguments, media_type: str = "text/csv"
) -> set[Span] | None:
    """Give the spans of the table rows that answer a call to a dimension, from the text alone."""
    return Table(text, media_type).spans(sign, call)


def retracted_spans(
    text: str, name: str, retracted: Iterable[Ground], media_type: str = "text/csv"
) -> set[Span]:
    """Give the spans of the rows that state what is retracted of a dimension, from the text."""
    found = [(f"{other}/2", row) for other, row in retracted if len(row) == 2]
    return Table(text, media_type).retracted(f"{name}/2", found)


def table_rows(
    text: str, delimiter: str, position: int = 0
) -> Iterator[tuple[int, int, list[str]]]:
    """Yield rows with their spans, without the line end; comma and semicolon quote as RFC 4180.

    `position` is where a row begins.
    """
    while position < len(text):
        end = text.find("\n", position) % (len(text) + 1)
        if delimiter in (",", ";"):
            while text.count('"', position, end) % 2 and end < len(text):
                end = text.find("\n", end + 1) % (len(text) + 1)
            try:
                cells = next(csv.reader([text[position:end]], delimiter=delimiter), [])
            except csv.Error:
                cells = []  # no row; it states nothing
        else:
            cells = text[position:end].split(delimiter)
        yield position, end, [cell.strip() for cell in cells]
        position = end + 1


def is_row_start(text: str, delimiter: str, position: int) -> bool:
    """Whether a row of a table begins there: on a new line that no quotation reaches over."""
    is_line = position < len(text) and text[max(position - 1, 0) : position] in ("", "\n")
    return is_line and (delimiter not in (",", ";") or text.count('"', 0, position) % 2 == 0)


def _column_name(header: str) -> str:
    is_name = re.fullmatch(r"[a-z][A-Za-z0-9_]*", header)
    return header if is_name else re.sub(r"[\W_]+", "_", header.lower()).strip("_")


def is_named(title: str, label: str) -> bool:
    """Whether a declaration means a table: by its title, or by its file name."""
    return label in (title, f"{title}.csv", f"{title}.tsv")


# ---------------------------------------------------------------- texts


class Texts:
    """Decoded texts by digest; what has been hashed or read once is kept.

    `tables` are tables at hand by file name, each with the digest of its source and its text:
    declarations that name one are held against it even where the certificate does not cite it.
    `originals` are the digests of sources whose bytes were decoded here, with the spans of their
    texts that Markdown does not show; `undecoded` the names of files that no decoder here reads.
    """

    def __init__(
        self,
        texts: Mapping[str, str],
        tables: Mapping[str, tuple[str, str]] | None = None,
        originals: Mapping[str, list[Span]] | None = None,
        undecoded: Mapping[str, str] | None = None,
    ) -> None:
        self.texts, self.tables, self.originals = texts, tables or {}, originals or {}
        self._undecoded = undecoded or {}
        self._checked: set[str] = set()
        self._read_facts = functools.cache(read_facts)
        self.table = functools.cache(Table)

    def text(self, source: str, record: Record) -> str:
        """Give the text of a source, which must have its digest."""
        digest, where = record["text_sha256"], f"sources/{source}"
        text = self.texts.get(digest)
        if text is None:
            name, message = self._undecoded.get(source), f"no text with the digest {digest}"
            if name is not None:
                message += f": {name} is there, but {record['decoder']} is not decoded here"
            raise Rejected("SOURCE_MISSING", message, where)
        if digest not in self._checked and digest_of(text) != digest:
            raise Rejected("SOURCE_MISMATCH", "the text has another digest", where)
        self._checked.add(digest)
        return text

    def facts(self, source: str, record: Record) -> FactsFile:
        """Read a facts file again, whole."""
        return self._read_facts(self.text(source, record), source)


# ---------------------------------------------------------------- decoding

_HIDDEN_MARKDOWN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<tag>del|s|strike|script|style|template)\b[^>]*>.*?(?:</(?P=tag)\s*>|\Z)"
    r"|~~(?=\S)(?:(?!\n\n).)+?~~"
    r"|^[ ]{0,3}\[(?://|comment)\]:.*?$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
NATIVE_DECODERS = ("text", "table", "facts", "markdown", "passages-json")
"""Decoders that the checker has itself."""
_DECODERS_BY_ENDING = {
    **dict.fromkeys((".csv", ".tsv", ".lp", ".facts"), ("text", "table", "facts")),
    **dict.fromkeys((".txt", ".text"), ("text", "table", "facts", "markdown")),
    **dict.fromkeys((".md", ".markdown"), ("markdown", "text")),
    ".json": ("passages-json", "text"),  # a hypergraph is read as its text
}
"""A name that says its kind is believed."""


def normalized(text: str) -> str:
    """Drop a byte order mark and write every line end as one line feed."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def decoded(data: bytes, decoder: str) -> str | None:
    """Decode a file as a decoder that needs no library does; None where this gives no text."""
    name = decoder.partition("/")[0]
    if name not in NATIVE_DECODERS:
        return None
    try:
        text = normalized((gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode())
        if name == "passages-json":
            items = json.loads(text)
            items = items if isinstance(items, list) else [items]
            parts = (normalized(f"{item['title']}\n{item['text']}") for item in items)
            return "".join(f"{part}\n\n" for part in parts)
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, RecursionError):
        return None
    return _HIDDEN_MARKDOWN.sub("\n\n", text) if name == "markdown" else text


def read_folder(path: Path, sources: Mapping[str, Record]) -> Texts:
    """Take texts from a folder with original files, or decoded texts under any name.

    Every file is hashed; names do not matter. Originals win only through their own digest.
    """
    found, undecoded = dict[str, str](), dict[str, str]()
    tables, originals = dict[str, tuple[str, str]](), dict[str, list[Span]]()
    wanted = {record["text_sha256"] for record in sources.values()}
    for file in sorted(item for item in path.rglob("*") if item.is_file()):
        try:
            data = file.read_bytes()
        except OSError:
            continue  # a source that is needed will be missed
        digest = digest_of(data)
        ending = Path(file.name.lower().removesuffix(".gz")).suffix
        record = sources.get(digest)
        text = None if record is None else _original(file.name, data, ending, digest, record)
        if record is not None and text is None:
            undecoded[digest] = file.name
        elif record is not None and text is not None:
            is_source = ending in (".md", ".markdown") and record["decoder"].startswith("text/")
            hidden = _HIDDEN_MARKDOWN.finditer(text) if is_source else ()
            originals[digest] = [item.span() for item in hidden]
            found[record["text_sha256"]] = text
        if digest in wanted - found.keys():
            try:
                found[digest] = data.decode()
            except UnicodeDecodeError:
                continue  # no text, so nothing is quoted from it
        table = decoded(data, "table/1") if ending in (".csv", ".tsv") else None
        if table is not None:
            tables.setdefault(file.name, (digest, table))
    return Texts(found, tables, originals, undecoded)


def _original(name: str, data: bytes, ending: str, digest: str, record: Record) -> str | None:
    """Decode an original as the certificate says; None if the checker does not know how."""
    decoder, message = record["decoder"].partition("/")[0], ""
    text = decoded(data, decoder)
    if decoder not in _DECODERS_BY_ENDING.get(ending, (decoder,)):
        message = f"{name} is not read by {record['decoder']}"
    elif decoder in NATIVE_DECODERS and (text is None or digest_of(text) != record["text_sha256"]):
        message = "the original decodes to another text"
    if message:
        raise Rejected("SOURCE_MISMATCH", message, f"sources/{digest}")
    return text
