"""Reads the value of a dimension from the words it is written in."""

from __future__ import annotations

import re

from kb.dimension import DimensionKind
from kb.errors import ValueUnreadable
from kb.quantity import Quantity
from kb.statement import Entity, TaxonClass, Text, Value
from kb.units import CURRENCIES, is_alike

from .amounts import AMOUNT_PATTERN, read_amount, read_numeral
from .normalize import DATE_PATTERN, read_date
from .notation import ENGLISH, Notation
from .pack import PackDimension

_TRAILING = re.compile(r"\s*(?:\([^()]*\)|[.;,])\s*\Z")
_LEADING = re.compile(
    r"(?:up to|at least|a maximum of|maximum|max\.|limit of|of)\s+", re.IGNORECASE
)
_PER = re.compile(
    r"\s+(?:per|each|any one|in the aggregate|in aggregate|and in)\b.*\Z", re.IGNORECASE | re.DOTALL
)
_UNIT_IN_LABEL = re.compile(r"[(\[]\s*(?:in\s+)?(?P<unit>[^()\[\]]{1,12}?)\s*[)\]]\s*\Z")
_ONE_DATE = re.compile(rf"(?:on\s+|in\s+|the\s+)?(?P<date>(?i:{DATE_PATTERN}))\Z", re.IGNORECASE)
_ONE_AMOUNT = re.compile(rf"(?P<amount>(?i:{AMOUNT_PATTERN}))\Z")


def read_value(
    dimension: PackDimension, text: str, *, label: str = "", notation: Notation = ENGLISH
) -> Value:
    """Read a whole text as a value of a dimension; a unit may stand in the label: `Cover (EUR)`.

    `notation` is how the document writes numbers.

    Trailing brackets, a full stop and words such as "up to" or "per claim" are passed over. Raises
    ValueUnreadable when what remains is not exactly one value; its message names the dimension, by
    which a refusal is found again.
    """
    try:
        return _read(dimension, text, label=label, notation=notation)
    except ValueUnreadable as error:
        if dimension.name in str(error):
            raise
        raise ValueUnreadable(f"{dimension.name}: {error}") from error


def _read(dimension: PackDimension, text: str, *, label: str, notation: Notation) -> Value:
    trimmed = text.strip()
    match dimension.kind:
        case DimensionKind.ENTITY:
            return Entity(_name(trimmed))
        case DimensionKind.TEXT:
            return Text(" ".join(trimmed.split()))
        case DimensionKind.TAXONOMIC:
            return _read_class(dimension, trimmed)
        case DimensionKind.TIME:
            found = _ONE_DATE.match(_bare(trimmed))
            if found is None:
                raise ValueUnreadable(
                    f"{text!r} is no date of {dimension.name}; "
                    "expected a form such as 31 January 2026"
                )
            return read_date(found["date"])
        case DimensionKind.QUANTITY:
            return _read_quantity(dimension, trimmed, label, notation)
        case DimensionKind.NUMBER:
            return read_numeral(_bare(trimmed), notation=notation)


def _bare(text: str) -> str:
    previous = None
    while previous != text:
        previous, text = text, _TRAILING.sub("", text)
    return text.strip()


def _name(text: str) -> str:
    name = " ".join(text.split()).strip('"“”„* ')
    if name.endswith(".") and not re.search(r"\b(?:[A-Za-z]{1,4}\.|[A-Z]\.)+\Z", name):
        name = name[:-1]
    if not name:
        raise ValueUnreadable(f"{text!r} names nothing")
    return name


def _read_class(dimension: PackDimension, text: str) -> TaxonClass:
    taxonomy = dimension.taxonomy
    if taxonomy is None:
        raise ValueUnreadable(f"{dimension.name} has no taxonomy")
    for form in (text, text.rstrip("."), _bare(text)):
        name = taxonomy.read(form)
        if name is not None:
            return TaxonClass(name)
    near = taxonomy.nearest(text)
    raise ValueUnreadable(
        f"{text!r} is no class of {dimension.name}" + (f"; nearest is {near!r}" if near else "")
    )


def _read_quantity(dimension: PackDimension, text: str, label: str, notation: Notation) -> Value:
    bare = _LEADING.sub("", _bare(_PER.sub("", text)))
    unit = _UNIT_IN_LABEL.search(label)
    for form in (bare, f"{bare} {unit['unit']}") if unit is not None else (bare,):
        try:
            found = read_amount(form, unit=dimension.unit, notation=notation)
        except ValueUnreadable as error:
            if _ONE_AMOUNT.match(form):  # an amount, and why it cannot be read
                raise ValueUnreadable(f"{error} ({dimension.name})") from error
            continue
        if has_unit_of(dimension, found):
            return found
    known = dimension.unit or "EUR"
    example = f"{known} 5 million" if known in CURRENCIES else f"12 {known}"
    raise ValueUnreadable(
        f"{text!r} is no quantity of {dimension.name}; "
        f"expected a number and a unit such as {example}"
    )


def has_unit_of(dimension: PackDimension, quantity: Quantity) -> bool:
    """Whether a quantity measures what the dimension does: metres are no liability cover."""
    return dimension.unit is None or is_alike(quantity.unit, dimension.unit)
