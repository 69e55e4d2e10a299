"""Tables: the header names dimensions, the first column the entity, the row is the quote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kb.dimension import Dimension
from kb.document import Document
from kb.errors import ProofweaveError, ValueUnreadable
from kb.statement import ALWAYS, Validity

from .amounts import find_notation
from .candidate import Candidate, Rejection
from .layout import Cell, Row, Table
from .normalize import end_certain, first_day_certain, fold, read_date
from .pack import Pack, PackDimension
from .pipeline import Reader
from .polarity import says_nothing, value_modality
from .taxonomy import taxonomy_of
from .values import read_value

FROM = frozenset({"valid from", "start", "start date", "from", "effective from", "valid since"})
UNTIL = frozenset(
    {"valid until", "valid to", "end", "end date", "until", "expires on", "expiry date"}
)


@dataclass(frozen=True, slots=True)
class TableReading:
    """What a table gives."""

    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejection, ...]


def column_dimension(
    header: str, packs: Sequence[Pack], kb_dimensions: Sequence[Dimension]
) -> PackDimension | None:
    """Give the dimension a header names, by a pack's map, its name or a label."""
    folded = fold(header)
    bare = folded.split("(")[0].split("[")[0].strip()
    for pack in packs:
        mapped = {fold(name): dimension for name, dimension in pack.headers.items()}
        for form in (folded, bare):
            if form in mapped:
                return pack.dimension_of[mapped[form]]
            for dimension in pack.dimensions:
                if form in (fold(dimension.name), fold(dimension.label)):
                    return dimension
            for relation in pack.relations_by_label.get(form, ()):
                if not relation.about_document:
                    return pack.dimension_of[relation.dimension]
    for known in kb_dimensions:
        if folded in (fold(known.name), fold(known.label)):
            return _adopted(known)
    return None


def _adopted(known: Dimension) -> PackDimension:
    """Read a dimension of the knowledge base without a pack."""
    return PackDimension(
        name=known.name,
        kind=known.kind,
        label=known.label,
        functional=known.functional,
        unit=known.unit,
        inverse=known.inverse,
        taxonomy=taxonomy_of(known),
        subject_types=(),
        value_types=(),
        ambiguities=(),
    )


def read_table(
    table: Table, document: Document, reader: Reader, kb_dimensions: Sequence[Dimension]
) -> TableReading:
    """Read each row as statements about the entity in its first cell; an empty cell is a gap."""
    header = [fold(cell.text) for cell in table.header]
    columns: dict[int, PackDimension] = {}
    rejected: list[Rejection] = []
    for index, cell in enumerate(table.header[1:], start=1):
        if header[index] in FROM | UNTIL:
            continue
        dimension = column_dimension(cell.text, reader.packs, kb_dimensions)
        if dimension is None:
            rejected.append(Rejection(f"the column {cell.text!r} names no dimension", cell.text))
        else:
            columns[index] = dimension
    candidates: list[Candidate] = []
    if columns:
        for row in table.rows:
            candidates.extend(_read_row(row, header, columns, document, reader, rejected))
    return TableReading(tuple(candidates), tuple(rejected))


def _read_row(
    row: Row,
    header: Sequence[str],
    columns: Mapping[int, PackDimension],
    document: Document,
    reader: Reader,
    rejected: list[Rejection],
) -> list[Candidate]:
    quote = document.text[row.start : row.end]
    if len(row.cells) != len(header):
        reason = f"the row has {len(row.cells)} cells; the header has {len(header)}"
        rejected.append(Rejection(reason, quote))
        return []
    subject = row.cells[0].text
    if says_nothing(subject):
        rejected.append(Rejection("the row names no entity in its first cell", quote))
        return []
    try:
        validity = _row_validity(row.cells, header)
    except ProofweaveError as error:
        rejected.append(Rejection(str(error), quote))
        return []
    candidates = []
    for index, dimension in columns.items():
        written = row.cells[index].text
        if says_nothing(written):
            continue
        try:
            notation = find_notation(document.text)
            value = read_value(dimension, written, label=header[index], notation=notation)
        except ValueUnreadable as error:
            rejected.append(Rejection(str(error), quote))
            continue
        candidates.append(
            Candidate(
                subject=" ".join(subject.split()),
                dimension=dimension.name,
                value=value,
                written=document.text[row.cells[index].start : row.cells[index].end],
                quote=quote,
                start=row.start,
                end=row.end,
                extractor=reader.table_extractor,
                modality=value_modality(written),
                validity=validity,
            )
        )
    return candidates


def _row_validity(cells: Sequence[Cell], header: Sequence[str]) -> Validity:
    start = end = None
    for name, cell in zip(header, cells, strict=True):
        if says_nothing(cell.text):
            continue
        if name in FROM:
            start = first_day_certain(read_date(cell.text))
        elif name in UNTIL:
            end = end_certain(read_date(cell.text))
    return Validity(start, end) if start or end else ALWAYS
