"""Tables as sources: each cell a statement, its row the quote, an empty cell a gap.

Comma and semicolon tables follow RFC 4180; in tables by tab or pipe a quotation mark is a character
like any other. See `table_mapping` for what columns mean.
"""

from __future__ import annotations

import csv
import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from .admission import Admission
from .dimension import Dimension, kind_of
from .document import Document
from .errors import KnowledgeError, MappingRejected, ValueUnreadable
from .knowledge_base import KnowledgeBase
from .quantity import format_number, parse_date, parse_number
from .statement import ALWAYS, Evidence, Statement, Validity
from .table_columns import Columns, parts_of
from .table_mapping import TableMapping

CERTAIN = "1"
EXTRACTOR = "table/1"


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row, or one cell of it, that gave no statement; `line` counts from 1."""

    line: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class TableReport:
    """What importing a table did; `rejected` in order of lines.

    `defined` are the names of the dimensions that it defined, sorted.
    """

    admission: Admission
    rejected: tuple[RejectedRow, ...]
    defined: tuple[str, ...] = ()


def import_table(
    base: KnowledgeBase,
    document: Document,
    data: bytes,
    *,
    run: str,
    mapping: TableMapping | None = None,
    reached: Callable[[int], None] | None = None,
) -> TableReport:
    """Import a table into a knowledge base, whose dimensions say the kinds of values.

    What its columns name and nobody has defined is defined first, by the mapping or else by what
    the cells hold; classes are not, for lack of an order. Idempotent; after a crash run it again.
    `reached` is told the position in the text after each statement; what it raises stops the
    import. Raises MappingRejected before anything is stored.
    """
    rejected: list[RejectedRow] = []
    reasons: list[tuple[str, str]] = []

    def accepted() -> Iterator[tuple[Statement, Evidence]]:
        for item in rows:
            if isinstance(item, RejectedRow):
                rejected.append(item)
                reasons.append((f"line {item.line}: {item.reason}", item.text))
            else:
                if reached is not None:
                    reached(item[1].end)
                yield item

    used = mapping or TableMapping()
    columns, rows_again = _opened(document, used, base.dimensions())
    defined = columns.undefined(
        row.cells
        for row in rows_again
        if not isinstance(row, RejectedRow) and len(row.cells) == columns.width
    )
    check_kinds(base, columns, defined, document.name)
    for dimension in defined:
        base.define_dimension(dimension)
    rows = read_table(document, mapping=used, dimensions=base.dimensions())
    admission = base.import_statements(document, data, accepted(), run=run, rejected=reasons)
    return TableReport(admission, tuple(rejected), tuple(each.name for each in defined))


def check_kinds(
    base: KnowledgeBase, columns: Columns, defined: Iterable[Dimension], where: str
) -> None:
    """Check that what nobody has defined is not stated with values of another kind.

    Raises MappingRejected naming every such column.
    """
    given = {each.name: each.kind for each in defined} | {
        meaning.name: meaning.kind
        for meaning in columns.meanings.values()
        if meaning.kind is not None and meaning.name not in columns.defined
    }
    problems: list[str] = []
    for name, kind in sorted(given.items()):
        stated = base.stated_value(name)
        if stated is not None and kind_of(stated) is not kind:
            standing = (row[1].value for row in base.every_statement(dimension=name))
            other = next((kind_of(value) for value in standing if kind_of(value) is not kind), None)
            if other is not None:
                problems.append(f"{name} is {kind.value} here, and {other.value} in what is stated")
    if problems:
        raise MappingRejected(f"{where}: " + "; ".join(problems))


def read_table(
    document: Document,
    *,
    mapping: TableMapping,
    dimensions: Iterable[Dimension] = (),
) -> Iterator[tuple[Statement, Evidence] | RejectedRow]:
    """Check the header at once, then yield what the rows state, in order.

    Raises MappingRejected naming every problem of header and mapping.
    """
    columns, rows = _opened(document, mapping, dimensions)
    return _statements(document, rows, columns)


def _opened(
    document: Document, mapping: TableMapping, dimensions: Iterable[Dimension]
) -> tuple[Columns, Iterator[_Row | RejectedRow]]:
    """Read the header; give what its columns mean, and the rows behind it."""
    delimiter = mapping.delimiter or _delimiter(document)
    rows = _rows(document.text, delimiter)
    header: Sequence[str] | None = mapping.header
    if header is None:
        first = next(rows, None)
        if first is None or isinstance(first, RejectedRow):
            raise MappingRejected(f"{document.name} has no header row")
        header = [cell.strip() for cell in first.cells]
    columns = Columns.of(header, mapping, {d.name: d for d in dimensions}, document.name)
    return columns, rows


def first_rows(
    document: Document, *, delimiter: str | None = None, count: int
) -> tuple[tuple[str, ...], ...]:
    """Give the cells of the first rows that can be read, at most `count`."""
    rows = _rows(document.text, delimiter or _delimiter(document))
    read = (tuple(row.cells) for row in rows if not isinstance(row, RejectedRow))
    return tuple(islice(read, count))


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    start: int
    end: int
    cells: Sequence[str]


_DELIMITERS = (",", ";", "\t", "|")
_QUOTING = (",", ";")
_LONGEST_ROW = 1000  # lines, beyond which a quotation mark was never closed


def _delimiter(document: Document) -> str:
    """Choose the delimiter that the first line holds most often, the first of equals."""
    if document.media_type == "text/tab-separated-values":
        return "\t"
    line = document.text.lstrip("\n").partition("\n")[0]
    return max(_DELIMITERS, key=line.count)


def _lines(text: str, position: int) -> Iterator[tuple[int, int]]:
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        yield position, end
        position = end


def _rows(text: str, delimiter: str) -> Iterator[_Row | RejectedRow]:
    """Yield the rows that are not blank, with their spans."""
    quoting = delimiter in _QUOTING and '"' in text
    reader = _quoted_rows(text, delimiter) if quoting else _plain_rows(text, delimiter)
    return (row for row in reader if isinstance(row, RejectedRow) or any(map(str.strip, row.cells)))


def _plain_rows(text: str, delimiter: str) -> Iterator[_Row]:
    for line, (start, end) in enumerate(_lines(text, 0), start=1):
        row = text[start:end].rstrip("\n")
        yield _Row(line, start, start + len(row), row.split(delimiter))


def _quoted_rows(text: str, delimiter: str) -> Iterator[_Row | RejectedRow]:
    """Read as RFC 4180 says; a line that breaks it is rejected and reading goes on after it."""
    position, line = 0, 1
    while position < len(text):
        taken: list[tuple[int, int]] = []
        reader = csv.reader(_feed(text, position, taken), delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                start, end = taken[0][0], taken[-1][1]
                end -= text.endswith("\n", start, end)
                yield _Row(line, start, end, cells)
                line += len(taken)
                position = taken[-1][1]
                taken.clear()
        except csv.Error as error:
            start, end = taken[0]
            yield RejectedRow(line, f"no row of a table: {error}", text[start:end].rstrip("\n"))
            position, line = end, line + 1


def _feed(text: str, position: int, taken: list[tuple[int, int]]) -> Iterator[str]:
    for span in _lines(text, position):
        if len(taken) == _LONGEST_ROW:
            raise csv.Error(f"a quotation mark is not closed within {_LONGEST_ROW} lines")
        taken.append(span)
        yield text[span[0] : span[1]]


def _statements(
    document: Document, rows: Iterator[_Row | RejectedRow], columns: Columns
) -> Iterator[tuple[Statement, Evidence] | RejectedRow]:
    source, text_sha256, text = document.source_sha256, document.text_sha256, document.text
    for row in rows:
        if isinstance(row, RejectedRow):
            yield row
            continue
        quote = text[row.start : row.end]
        cells = row.cells
        problem = None
        validity = ALWAYS
        confidence = CERTAIN
        if len(cells) != columns.width:
            problem = f"it has {len(cells)} cells; the header has {columns.width}"
        elif not (subject := cells[columns.subject].strip()):
            problem = "it names no subject"
        else:
            try:
                validity = _validity(cells, columns)
                confidence = _confidence(cells, columns)
            except KnowledgeError as error:
                problem = str(error)
        if problem is not None:
            yield RejectedRow(row.line, problem, quote)
            continue
        for name, meaning, cell in columns.pairs(cells):
            if meaning is None:
                yield RejectedRow(row.line, f"{name!r} names no dimension; map it to one", quote)
                continue
            if not meaning.name:
                continue
            for part in parts_of(cell, meaning):
                try:
                    value = columns.value(part, meaning)
                except ValueUnreadable as error:
                    told = "" if str(error).startswith(f"{name} ") else f"{meaning.name}: "
                    yield RejectedRow(row.line, f"{told}{error}", quote)
                    continue
                statement = Statement(subject, meaning.name, value, validity=validity)
                yield (
                    statement,
                    Evidence(
                        *(statement.id, source, text_sha256, row.start, row.end, quote),
                        extractor=EXTRACTOR,
                        confidence=confidence,
                    ),
                )


def _validity(cells: Sequence[str], columns: Columns) -> Validity:
    first, last = (
        cells[index].strip() if index is not None else ""
        for index in (columns.valid_from, columns.valid_until)
    )
    if not first and not last:
        return ALWAYS
    start = parse_date(first).first if first else None
    end = parse_date(last).last if last else None
    if end is not None:  # the last day is valid; no day follows the last of the calendar
        end = None if end == datetime.date.max else end + datetime.timedelta(days=1)
    return Validity(start, end)


def _confidence(cells: Sequence[str], columns: Columns) -> str:
    """Read the confidence of a row; where none is given the source asserts what it says."""
    text = cells[columns.confidence].strip() if columns.confidence is not None else ""
    if not text:
        return CERTAIN
    confidence = parse_number(text)
    if not 0 <= confidence <= 1:
        raise ValueUnreadable(f"the confidence is {text}; expected a number from 0 to 1")
    return format_number(confidence)
