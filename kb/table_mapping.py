"""What the columns of a table mean.

The header names dimensions, or a mapping in YAML says what the columns mean:

    subject: Supplier                  the column that names the entity; else the first
    dimensions:                        what is not listed keeps its header as name
      Liability cover: {name: liability_cover, kind: quantity, unit: EUR}
      Certificates: {name: certified_for, kind: entity, split: ";"}
      Country: entity                  a kind alone
      Remarks: null                    not imported
    valid_from: From                   columns with the first and the last day of validity
    valid_until: Until

A table of triples names the columns of dimension and value instead; `delimiter` and `header` are
given where the file does not show them, `kind` for dimensions not listed:

    delimiter: "|"
    header: [subject, relation, object]
    dimension: relation
    value: object
    kind: entity
    dimensions: {release_year: time}
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from .dimension import DimensionKind
from .errors import MappingRejected
from .statement import BUILT_IN


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """What a column, or a name in a column of dimensions, stands for.

    An empty `name` means it is not imported; kind None that the dimension's definition or else the
    form of each value decides. `split` separates several values in one cell.
    """

    name: str
    kind: DimensionKind | None = None
    unit: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True)
class TableMapping:
    """What the columns of a table mean; see the module. `dimensions` is sorted by column."""

    delimiter: str | None = None
    header: tuple[str, ...] | None = None
    subject: str | None = None
    dimension: str | None = None
    value: str | None = None
    kind: DimensionKind | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    dimensions: tuple[tuple[str, ColumnMapping], ...] = ()

    def __post_init__(self) -> None:
        if (self.dimension is None) != (self.value is None):
            raise MappingRejected("a table of triples names both its dimension and value columns")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise MappingRejected(f"the delimiter is {self.delimiter!r}; expected one character")


_TEXTS = ("delimiter", "subject", "dimension", "value", "valid_from", "valid_until")
_KEYS = (*_TEXTS, "header", "kind", "dimensions")
_COLUMN_KEYS = ("name", "kind", "unit", "split")
_NOTHING = ("", "~", "null")


def read_mapping(text: str, *, name: str) -> TableMapping:
    """Read a mapping in YAML; every scalar in it is text.

    Raises MappingRejected naming every problem.
    """
    try:
        form = yaml.load(text, yaml.BaseLoader) or {}  # builds texts, lists, objects
    except yaml.YAMLError as error:
        raise MappingRejected(f"{name} is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(form, dict):
        raise MappingRejected(f"{name} holds no object; expected keys such as {', '.join(_KEYS)}")
    problems = [
        f"{key!r} is no key of a mapping{nearest(str(key), _KEYS)}"
        for key in form
        if key not in _KEYS
    ]
    for key in _TEXTS:
        if not isinstance(form.get(key, ""), str):
            problems.append(f"{key} is {form[key]!r}; expected a text")
    header = form.get("header")
    if header is not None and not (
        isinstance(header, list) and all(isinstance(column, str) for column in header)
    ):
        problems.append(f"header is {header!r}; expected a list of names")
    kind = _kind(form.get("kind"), "kind", problems)
    listed = form.get("dimensions") or {}
    if not isinstance(listed, dict):
        problems.append(f"dimensions is {listed!r}; expected an object")
        listed = {}
    columns = [(column, _column(column, given, problems)) for column, given in listed.items()]
    if problems:
        raise MappingRejected(f"{name}: " + "; ".join(problems))
    return TableMapping(
        **{key: form[key] for key in _TEXTS if key in form},
        header=None if header is None else tuple(header),
        kind=kind,
        dimensions=tuple(sorted(columns, key=lambda pair: pair[0])),
    )


def _column(column: str, given: object, problems: list[str]) -> ColumnMapping:
    match given:
        case str() if given in _NOTHING:
            return ColumnMapping("")
        case str():
            given = {"kind": given}
        case dict() if all(isinstance(value, str) and value for value in given.values()):
            pass
        case _:
            problems.append(f"{column} is {given!r}; expected a kind, an object of texts or null")
            return ColumnMapping("")
    problems += [
        f"{column}: {key!r} is no key{nearest(str(key), _COLUMN_KEYS)}"
        for key in given
        if key not in _COLUMN_KEYS
    ]
    wanted = given.get("name", column)
    name = dimension_name(wanted)
    if name is None:
        problems.append(f"{column}: {wanted!r} is no name of a dimension; give one as `name`")
    kind = _kind(given.get("kind"), column, problems)
    return ColumnMapping(name or "", kind, given.get("unit"), given.get("split"))


_KINDS = {"class": DimensionKind.TAXONOMIC, "date": DimensionKind.TIME} | {
    kind.value: kind for kind in DimensionKind
}


def _kind(given: object, where: str, problems: list[str]) -> DimensionKind | None:
    if given is None:
        return None
    if given not in _KINDS:
        problems.append(f"{where}: {given!r} is no kind{nearest(str(given), list(_KINDS))}")
        return None
    return _KINDS[str(given)]


def nearest(wanted: str, known: Sequence[str]) -> str:
    """Say which of the known names is meant, as the end of a sentence."""
    near = difflib.get_close_matches(wanted, known, n=1)
    return f"; the nearest is {near[0]}" if near else f"; expected one of {', '.join(known)}"


def dimension_name(header: str) -> str | None:
    """Give the name a header stands for, itself or its words joined by `_`; None if none.

    What is built in names no dimension.
    """
    name = header
    if not re.fullmatch(r"[a-z][A-Za-z0-9_]*", header):
        name = re.sub(r"[\W_]+", "_", header.lower()).strip("_")
    is_name = re.fullmatch(r"[a-z][A-Za-z0-9_]*", name) and name not in BUILT_IN
    return name if is_name else None
