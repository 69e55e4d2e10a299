"""RDF terms of others as values: the dimension's kind decides, or else the term's own type.

A time of day, a time zone and a language have no place in a value; they stand in the quote.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from urllib.parse import unquote

from . import vocabulary as iri
from .class_labels import ClassLabels
from .dimension import DimensionKind
from .errors import IRIRejected, ValueUnreadable
from .quantity import Date, Quantity, parse_date, parse_number, parse_quantity
from .rdf_reading import Read
from .statement import Entity, TaxonClass, Text, Value

_INTEGERS = frozenset(
    iri.XSD + name
    for name in (
        *("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger"),
        *("nonPositiveInteger", "negativeInteger"),
        *("unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte"),
    )
)
_NUMBERS = _INTEGERS | {
    iri.XSD + "decimal",
    iri.XSD + "double",
    iri.XSD + "float",
    iri.PROOFWEAVE + "rational",
}
_DATES = frozenset(
    {iri.EDTF, *(iri.XSD + name for name in ("date", "dateTime", "gYear", "gYearMonth"))}
)
_QUANTITY = iri.PROOFWEAVE + "quantity"
_LARGEST_EXPONENT = 400
_ZONE = re.compile(r"(?:Z|[+-]\d\d:\d\d)\Z")


class Names:
    """Names of what IRIs stand for; `prefixes` are beginnings behind which a name stands."""

    def __init__(self, namespace: str, prefixes: tuple[str, ...] = ()) -> None:
        self._namespace = namespace
        self._prefixes = tuple(sorted(prefixes, key=lambda prefix: (-len(prefix), prefix)))

    def name(self, term: str) -> str:
        """Give the name: of the knowledge base, or what stands behind a prefix, or the IRI."""
        if term.startswith(("_:", "urn:")):
            return term
        for prefix in self._prefixes:
            if term.startswith(prefix) and term != prefix:
                return unquote(term.removeprefix(prefix)).replace("_", " ").strip() or term
        try:
            return iri.entity_name(self._namespace, term)
        except IRIRejected:
            return term


def kind_of(read: Read) -> DimensionKind:
    """Tell the kind of value a term is by itself."""
    if not read.datatype:
        return DimensionKind.ENTITY
    if read.datatype in _NUMBERS:
        return DimensionKind.NUMBER
    if read.datatype in _DATES:
        return DimensionKind.TIME
    if read.datatype == _QUANTITY:
        return DimensionKind.QUANTITY
    return DimensionKind.TEXT


def value_of(
    read: Read,
    kind: DimensionKind | None,
    unit: str | None,
    names: Names,
    classes: ClassLabels | None = None,
) -> Value:
    """Read the object of a triple as a value of a kind; `classes` are those of the dimension.

    Raises ValueUnreadable where it is none.
    """
    text = read.object
    match kind or kind_of(read):
        case DimensionKind.ENTITY:
            return Entity(_named(read, names))
        case DimensionKind.TAXONOMIC:
            return TaxonClass(_class(read, names, classes))
        case DimensionKind.TEXT:
            if not read.datatype:
                raise ValueUnreadable(f"<{text}> is an IRI; expected a text")
            return Text(text)
        case DimensionKind.NUMBER:
            return _number(read)
        case DimensionKind.TIME:
            return _date(read)
        case DimensionKind.QUANTITY:
            if read.datatype in _NUMBERS and unit is not None:
                return Quantity(_number(read), unit)
            return parse_quantity(text)


def _named(read: Read, names: Names) -> str:
    name = names.name(read.object) if not read.datatype else read.object.strip()
    if not name:
        raise ValueUnreadable("an empty text names nothing")
    if read.datatype and kind_of(read) is not DimensionKind.TEXT:
        raise ValueUnreadable(f"{read.object!r} is a {_local(read.datatype)}; expected a name")
    return name


def _class(read: Read, names: Names, classes: ClassLabels | None) -> str:
    name = _named(read, names)
    if classes is None:
        return name
    try:
        return classes.read(name)
    except ValueUnreadable as error:
        local = _local(name)
        if read.datatype or local == name:
            raise
        try:
            meant = classes.read(unquote(local).replace("_", " "))
        except ValueUnreadable:
            raise error from None
        before = read.object.removesuffix(local)
        raise ValueUnreadable(
            f"{error}; with `--entities {before}` it would be {meant!r}"
        ) from None


def _number(read: Read) -> Fraction:
    text = read.object.strip()
    if not read.datatype:
        raise ValueUnreadable(f"<{text}> is an IRI; expected a number")
    if "/" in text:
        return parse_number(text)
    try:
        number = Decimal(text)
    except InvalidOperation:
        return parse_number(text)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > _LARGEST_EXPONENT:
        raise ValueUnreadable(f"{text!r} is no number of a size that is kept exactly")
    return Fraction(number)


def _date(read: Read) -> Date:
    text = read.object.strip()
    if not read.datatype:
        raise ValueUnreadable(f"<{text}> is an IRI; expected a date")
    if "/" not in text:
        text = _ZONE.sub("", text) if len(text) > len("2026-01") else text.removesuffix("Z")
        text = text.partition("T")[0]
    return parse_date(text)


def _local(datatype: str) -> str:
    return re.split(r"[#/]", datatype)[-1]
