"""What the columns of one table mean, by its header, a mapping and the dimensions that are defined.

The first column names the entity unless the mapping says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .class_labels import ClassLabels
from .dimension import Dimension, DimensionKind, kind_of
from .errors import MappingRejected
from .statement import Value
from .table_mapping import ColumnMapping, TableMapping, dimension_name, nearest
from .table_values import guessed, read_cell

OF_NAMES = frozenset({"same_as", "subclass_of"})
"""Dimensions that have a meaning without being defined."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What each column of a header means, by index; `known` are names met in a column of them."""

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
    classes: dict[str, ClassLabels]
    known: dict[str, ColumnMapping | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        header: Sequence[str],
        mapping: TableMapping,
        defined: dict[str, Dimension],
        where: str,
    ) -> Columns:
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
            classes={
                name: ClassLabels(dimension)
                for name, dimension in defined.items()
                if dimension.taxonomy is not None
            },
        )

    def pairs(self, cells: Sequence[str]) -> Iterator[tuple[str, ColumnMapping | None, str]]:
        """Give what a row states: names of columns or dimensions, what they mean, and cells."""
        if self.triple is None:
            for index, meaning in self.meanings.items():
                yield meaning.name, meaning, cells[index]
        else:
            name = cells[self.triple[0]].strip()
            if name not in self.known:
                self.known[name] = self._meaning(name)
            yield name, self.known[name], cells[self.triple[1]]

    def value(self, text: str, meaning: ColumnMapping) -> Value:
        """Read a cell, or a part of one.

        Raises ValueUnreadable.
        """
        return read_cell(text, meaning, self.classes.get(meaning.name))

    def undefined(self, rows: Iterable[Sequence[str]]) -> tuple[Dimension, ...]:
        """Give definitions, by name, of what the columns name and nobody has defined.

        The kind is that of the mapping, or else the one that all cells have; where they have
        several, text. Classes need an order, so that a column of them defines nothing.
        """
        kinds: dict[str, set[DimensionKind]] = {}
        units: dict[str, str] = {}
        found = [meaning for meaning in self.meanings.values() if self._is_undefined(meaning)]
        if self.triple is not None or any(meaning.kind is None for meaning in found):
            found = []
            for cells in rows:
                for _, meaning, cell in self.pairs(cells):
                    if meaning is None or not self._is_undefined(meaning):
                        continue
                    parts = parts_of(cell, meaning)
                    if meaning.kind is None:
                        kinds.setdefault(meaning.name, set()).update(
                            kind_of(guessed(part)) for part in parts
                        )
                    elif parts:
                        found.append(meaning)
        for meaning in found:
            assert meaning.kind is not None
            kinds.setdefault(meaning.name, set()).add(meaning.kind)
            if meaning.kind is DimensionKind.QUANTITY and meaning.unit:
                units[meaning.name] = meaning.unit
        return tuple(
            Dimension(name, kind, unit=units.get(name))
            for name, given in sorted(kinds.items())
            if given and DimensionKind.TAXONOMIC not in given
            for kind in (next(iter(given)) if len(given) == 1 else DimensionKind.TEXT,)
        )

    def _is_undefined(self, meaning: ColumnMapping) -> bool:
        return bool(meaning.name) and meaning.name not in {*self.defined, *OF_NAMES}

    def _meaning(self, name: str) -> ColumnMapping | None:
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


def parts_of(cell: str, meaning: ColumnMapping) -> list[str]:
    """Give the texts in a cell that are values."""
    parts = cell.split(meaning.split) if meaning.split else (cell,)
    return [stripped for part in parts if (stripped := part.strip())]
