"""What the columns of an uploaded table mean, where the request does not say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import process

from kb.dimension import Dimension
from kb.document import Document
from kb.errors import MappingRejected
from kb.table_mapping import ColumnMapping, TableMapping, dimension_name, read_mapping
from kb.tables import first_rows

from .nearest import nearest
from .pack_files import ChosenPacks

MAPPINGS = "*.mapping.yaml"
"""Files of a pack that say what the columns of a table are."""

LOOKED_AT = 20
"""Rows by which a mapping is tried."""


MISSPELT = 85
"""Likeness, in percent, from which a column is taken for a misspelt dimension."""


@dataclass(frozen=True, slots=True)
class TableReading:
    """How a table is read.

    `mapping_name` is empty where its own header says it; `undefined` are the columns that give
    dimensions which nobody has defined.
    """

    mapping: TableMapping
    mapping_name: str = ""
    undefined: tuple[str, ...] = ()


def read_columns(
    document: Document, packs: ChosenPacks, dimensions: Sequence[Dimension]
) -> TableReading:
    """Read the header by the names and labels of dimensions, else find the mapping that fits.

    Raises MappingRejected for a header that names no dimension, or misspells one, naming each such
    column with the nearest; and where several mappings fit.
    """
    from extract.tables import FROM, UNTIL, column_dimension  # loads the language pipeline

    defined = {found.name: found for found in dimensions}
    words = {word: found for found in dimensions for word in (found.name, found.label) if word}
    rows = first_rows(document, count=LOOKED_AT)
    header = [cell.strip() for cell in rows[0]] if rows else []
    named: dict[str, ColumnMapping] = {}
    unknown: list[str] = []
    valid_from = valid_until = None
    for index, column in enumerate(header[1:], start=1):
        below = {row[index].strip() for row in rows[1:] if index < len(row)}
        adopted = words.get(column) or defined.get(dimension_name(column) or "")
        if column.casefold() in FROM:
            valid_from = column
        elif column.casefold() in UNTIL:
            valid_until = column
        elif not below.isdisjoint(defined):  # a column of names of dimensions, without a header
            unknown.append(column)
        elif adopted is not None:
            named[column] = ColumnMapping(adopted.name, adopted.kind, adopted.unit)
        elif (found := column_dimension(column, packs.packs, dimensions)) is not None:
            named[column] = ColumnMapping(found.name, found.kind, found.unit)
        elif column:  # one without a name is refused with the rest of the header
            unknown.append(column)
    if unknown or not named:
        fitting = [each for each in shipped(packs) if _fits(each.mapping, document, set(defined))]
        if len(fitting) > 1:
            names = ", ".join(reading.mapping_name for reading in fitting)
            raise MappingRejected(f"{document.name} fits several mappings; name one: {names}")
        if fitting:
            return replace(fitting[0], mapping=_headless(fitting[0].mapping, header))
        if not named or any(_is_misspelt(column, words) for column in unknown):
            near = {
                word for word in words if word in defined or dimension_name(word) not in defined
            }
            raise MappingRejected(
                f"{document.name}: its first line, read as the header, names no dimension in "
                + (", ".join(_with_nearest(column, near) for column in unknown) or "its one column")
                + "; expected names of dimensions, or a mapping that says what the columns are"
            )
    mapping = TableMapping(
        dimensions=tuple(sorted(named.items(), key=lambda pair: pair[0])),
        valid_from=valid_from,
        valid_until=valid_until,
    )
    return TableReading(mapping, undefined=tuple(unknown))


def _with_nearest(column: str, words: set[str]) -> str:
    near = nearest(column, words, count=1).removeprefix("; ")
    return f"{column!r} ({near})" if near else repr(column)


def _is_misspelt(column: str, words: Iterable[str]) -> bool:
    found = process.extractOne(column, list(words), score_cutoff=MISSPELT, processor=str.casefold)
    return found is not None


def shipped(packs: ChosenPacks) -> Iterator[TableReading]:
    """Give the mappings of the packs, in the order of the packs and then by name."""
    for folder in packs.folders:
        for file in sorted(folder.glob(MAPPINGS)):
            name = f"{folder.name}/{file.name}"
            yield TableReading(read_mapping(file.read_text("utf-8"), name=name), name)


def _fits(mapping: TableMapping, document: Document, known: set[str]) -> bool:
    """Whether most of the first rows have the columns, and a dimension that is listed or known."""
    rows = first_rows(document, delimiter=mapping.delimiter, count=LOOKED_AT)
    if not rows:
        return False
    header = mapping.header or [cell.strip() for cell in rows[0]]
    wanted = (mapping.subject, mapping.dimension, mapping.value)
    columns = {column for column in wanted if column is not None}
    if mapping.dimension is None:
        columns |= {column for column, _ in mapping.dimensions}
    if len(header) < 2 or not columns <= set(header):
        return False
    body = [row for row in rows if [cell.strip() for cell in row] != list(header)]
    names = known | {name for name, _ in mapping.dimensions}
    at = None if mapping.dimension is None else header.index(mapping.dimension)
    fitting = [
        row for row in body if len(row) == len(header) and (at is None or row[at].strip() in names)
    ]
    return 2 * len(fitting) > len(body) if body else mapping.header is None


def _headless(mapping: TableMapping, first: Sequence[str]) -> TableMapping:
    """Let the file's own header be read as such where it has the one of the mapping."""
    if mapping.header is not None and tuple(first) == mapping.header:
        return replace(mapping, header=None)
    return mapping
