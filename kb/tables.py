"""Tables as sources: each cell a statement, its row the quote, an empty cell a gap.

Comma and semicolon tables follow RFC 4180; in tables by tab or pipe a quotation mark is a character
like any other. See `table_mapping` for what columns mean.
"""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from .admission import Admission
from .dimension import Dimension, DimensionKind
from .document import Document
from .errors import KnowledgeError, MappingRejected, ValueUnreadable
from .knowledge_base import KnowledgeBase
from .quantity import Quantity, format_number, parse_date, parse_number, parse_quantity
from .statement import ALWAYS, Entity, Evidence, Statement, TaxonClass, Text, Validity, Value
from .table_mapping import ColumnMapping, TableMapping, dimension_name, nearest

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
    """What importing a table did; `rejected` in order of lines."""

    admission: Admission
    rejected: tuple[RejectedRow, ...]


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

    Idempotent; after a crash run it again. `reached` is told the position in the text after each
    statement; what it raises stops the import. Raises MappingRejected before anything is stored.
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

    rows = read_table(document, mapping=mapping or TableMapping(), dimensions=base.dimensions())
    admission = base.import_statements(document, data, accepted(), run=run, rejected=reasons)
    return TableReport(admission, tuple(rejected))


def read_table(
    document: Document,
    *,
    mapping: TableMapping,
    dimensions: Iterable[Dimension] = (),
) -> Iterator[tuple[Statement, Evidence] | RejectedRow]:
    """Check the header at once, then yield what the rows state, in order.

    Raises MappingRejected naming every problem of header and mapping.
    """
    delimiter = mapping.delimiter or _delimiter(document)
    rows = _rows(document.text, delimiter)
    header: Sequence[str] | None = mapping.header
    if header is None:
        first = next(rows, None)
        if first is None or isinstance(first, RejectedRow):
            raise MappingRejected(f"{document.name} has no header row")
        header = [cell.strip() for cell in first.cells]
    columns = _Columns.of(header, mapping, {d.name: d for d in dimensions}, document.name)
    return _statements(document, rows, columns)


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


@dataclass(frozen=True, slots=True)
class _Columns:
    """What each column of a header means, by index."""

    width: int
    subject: int
    valid_from: int | None
    valid_until: int | None
    confidence: int | None
    triple: tuple[int, int] | None
    meanings: dict[int, ColumnMapping]
    mapping: TableMapping
    defined: dict[str, Dimension]
    listed: dict[str, ColumnMapping]

    @classmethod
    def of(
        cls,
        header: Sequence[str],
        mapping: TableMapping,
        defined: dict[str, Dimension],
        where: str,
    ) -> _Columns:
        """Resolve a header, or raise MappingRejected with all that is wrong."""
        problems = [
            f"column {index} has no name" for index, name in enumerate(header, 1) if not name
        ]
        problems += [
            f"the column {name!r} stands twice"
            for name in sorted({name for name in header if name and header.count(name) > 1})
        ]

        def find(name: str | None) -> int | None:
            if name is None or name in header:
                return None if name is None else header.index(name)
            problems.append(f"there is no column {name!r}{nearest(name, header)}")
            return None

        subject = find(mapping.subject)
        valid_from, valid_until = find(mapping.valid_from), find(mapping.valid_until)
        confidence = find(mapping.confidence)
        apart = (subject or 0, valid_from, valid_until, confidence)
        listed = dict(mapping.dimensions)
        triple = None
        meanings = {}
        if mapping.dimension is not None:
            triple = (find(mapping.dimension) or 0, find(mapping.value) or 0)
        else:
            for column in listed:
                find(column)
            for index, name in enumerate(header):
                if name and index not in apart:
                    meaning = listed.get(name) or ColumnMapping(dimension_name(name) or "")
                    if not meaning.name and name not in listed:
                        problems.append(f"the column {name!r} names no dimension; map it to one")
                    elif meaning.name:
                        meanings[index] = _resolved(meaning, mapping, defined)
        for meaning in listed.values():
            dimension = defined.get(meaning.name)
            if dimension is not None and meaning.kind not in (None, dimension.kind):
                problems.append(f"{meaning.name} is defined as {dimension.kind.value}")
        if triple is None and not meanings and not problems:
            problems.append("no column but the subject's is imported")
        if problems:
            raise MappingRejected(f"{where}: " + "; ".join(problems))
        return cls(
            width=len(header),
            subject=subject or 0,
            valid_from=valid_from,
            valid_until=valid_until,
            confidence=confidence,
            triple=triple,
            meanings=meanings,
            mapping=mapping,
            defined=defined,
            listed=listed,
        )

    def meaning(self, name: str) -> ColumnMapping | None:
        """Give what a name in the dimension column of a triple stands for."""
        meaning = self.listed.get(name) or ColumnMapping(dimension_name(name) or "")
        if not meaning.name and name not in self.listed:
            return None
        return _resolved(meaning, self.mapping, self.defined)


def _resolved(
    meaning: ColumnMapping, mapping: TableMapping, defined: dict[str, Dimension]
) -> ColumnMapping:
    dimension = defined.get(meaning.name)
    return ColumnMapping(
        meaning.name,
        meaning.kind or (dimension.kind if dimension else mapping.kind),
        meaning.unit or (dimension.unit if dimension else None),
        meaning.split,
    )


def _statements(
    document: Document, rows: Iterator[_Row | RejectedRow], columns: _Columns
) -> Iterator[tuple[Statement, Evidence] | RejectedRow]:
    source, text_sha256, text = document.source_sha256, document.text_sha256, document.text
    names: dict[str, ColumnMapping | None] = {}
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
        pairs: Iterable[tuple[ColumnMapping | None, str]]
        if columns.triple is not None:
            name = cells[columns.triple[0]].strip()
            if name not in names:
                names[name] = columns.meaning(name)
            pairs = [(names[name], cells[columns.triple[1]])]
        else:
            pairs = [(meaning, cells[index]) for index, meaning in columns.meanings.items()]
        for meaning, cell in pairs:
            if meaning is None:
                yield RejectedRow(row.line, f"{name!r} names no dimension; map it to one", quote)
                continue
            if not meaning.name:
                continue
            for part in cell.split(meaning.split) if meaning.split else (cell,):
                if not (part := part.strip()):
                    continue
                try:
                    value = _value(part, meaning)
                except ValueUnreadable as error:
                    yield RejectedRow(row.line, f"{meaning.name}: {error}", quote)
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


def _validity(cells: Sequence[str], columns: _Columns) -> Validity:
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


def _confidence(cells: Sequence[str], columns: _Columns) -> str:
    """Read the confidence of a row; where none is given the source asserts what it says."""
    text = cells[columns.confidence].strip() if columns.confidence is not None else ""
    if not text:
        return CERTAIN
    confidence = parse_number(text)
    if not 0 <= confidence <= 1:
        raise ValueUnreadable(f"the confidence is {text}; expected a number from 0 to 1")
    return format_number(confidence)


def _value(text: str, meaning: ColumnMapping) -> Value:
    match meaning.kind:
        case DimensionKind.ENTITY:
            return Entity(text)
        case DimensionKind.TAXONOMIC:
            return TaxonClass(text)
        case DimensionKind.TEXT:
            return Text(text)
        case DimensionKind.NUMBER:
            return parse_number(text)
        case DimensionKind.TIME:
            return parse_date(text)
        case DimensionKind.QUANTITY:
            return _quantity(text, meaning.unit)
        case None:
            return _guessed(text)


def _quantity(text: str, unit: str | None) -> Quantity:
    """Read `5000000 EUR`, `EUR 5000000`, or a bare number where the column has a unit."""
    first, space, second = text.partition(" ")
    if not space and unit is not None:
        return Quantity(parse_number(text), unit)
    return parse_quantity(f"{second} {first}" if first.isalpha() else text)


def _guessed(text: str) -> Value:
    """Read a number, a full date or a quantity in canonical form, else text."""
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return parse_date(text)
        if re.fullmatch(r"[+-]?\d[\d.]*", text):
            return parse_number(text)
        if re.fullmatch(r"[+-]?\d[\d.]* [A-Z]{3}", text):
            return parse_quantity(text)
    except ValueUnreadable:
        pass
    return Text(text)
