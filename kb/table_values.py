"""Cells of tables as values."""

from __future__ import annotations

import re

from .class_labels import ClassLabels
from .dimension import DimensionKind
from .errors import ValueUnreadable
from .quantity import Quantity, parse_date, parse_number, parse_quantity
from .statement import Entity, TaxonClass, Text, Value
from .table_mapping import ColumnMapping


def read_cell(text: str, meaning: ColumnMapping, classes: ClassLabels | None) -> Value:
    """Read a cell, or a part of one, as a value; `classes` are those of the dimension.

    Raises ValueUnreadable.
    """
    match meaning.kind:
        case DimensionKind.ENTITY:
            return Entity(text)
        case DimensionKind.TAXONOMIC:
            return TaxonClass(classes.read(text) if classes else text)
        case DimensionKind.TEXT:
            return Text(text)
        case DimensionKind.NUMBER:
            return parse_number(text)
        case DimensionKind.TIME:
            return parse_date(text)
        case DimensionKind.QUANTITY:
            return _quantity(text, meaning.unit)
        case None:
            return guessed(text)


def _quantity(text: str, unit: str | None) -> Quantity:
    """Read `5000000 EUR`, `EUR 5000000`, or a bare number where the column has a unit."""
    first, space, second = text.partition(" ")
    if not space and unit is not None:
        return Quantity(parse_number(text), unit)
    return parse_quantity(f"{second} {first}" if first.isalpha() else text)


def guessed(text: str) -> Value:
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
