"""Units of quantities: currency codes and, by Pint, physical units with exact conversion.

A currency compares with itself alone, since a rate is a fact of its own. A physical
conversion is affine, `factor * value + offset`, with exact fractions; where the factor rests on an
irrational constant (degree to radian) there is none, nor between months or years, whose days are
not all counted, and days.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

_CODES = (
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD "
    "BTN BWP BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP "
    "DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS "
    "INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD "
    "MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR "
    "PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS "
    "SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW "
    "UZS VED VES VND VUV WST XAF XAG XAU XCD XCG XDR XOF XPD XPF XPT XSU XUA YER ZAR ZMW ZWG "
    "ZWL"
)
CURRENCIES = frozenset(_CODES.split())
"""Codes of ISO 4217, with those withdrawn lately that older documents use."""

_NAME = r"(?:[^\W\d_]+(?:_[^\W\d_]+)*|[%°][^\W\d_]*)"
_POWER = r"(?:[²³]|(?:\*\*|\^)?-?\d)?"
_WRITTEN = re.compile(rf"{_NAME}{_POWER}(?:[*/·]{_NAME}{_POWER})*\Z")
_CALENDAR = re.compile(r"(?<!light_)year|month|decade|century|millennium")
_EXACT_BELOW = 10**40  # Pint writes irrational constants with some fifty digits


@dataclass(frozen=True, slots=True)
class Conversion:
    """An exact conversion of magnitudes: `factor * magnitude + offset`; `factor` is not zero."""

    factor: Fraction
    offset: Fraction

    def apply(self, magnitude: Fraction) -> Fraction:
        """Convert a magnitude."""
        return self.factor * magnitude + self.offset


IDENTITY = Conversion(Fraction(1), Fraction(0))


def is_unit(text: str) -> bool:
    """Whether a text is a currency code or a unit Pint knows."""
    return text in CURRENCIES or _known(text)


@lru_cache(maxsize=4096)
def conversion(unit: str, target: str) -> Conversion | None:
    """Give the exact conversion from one unit to another, or None if there is none.

    Any unit converts to itself, also an unknown one.
    """
    if unit == target:
        return IDENTITY
    if unit in CURRENCIES or target in CURRENCIES or not (_known(unit) and _known(target)):
        return None
    if _by_calendar(unit) != _by_calendar(target):
        return None
    registry, errors = _registry()
    points = []
    for magnitude in (0, 1, 2):
        try:
            quantity = registry.Quantity(Fraction(magnitude), unit)
            converted = quantity.to(target).magnitude
        except errors:
            return None
        if not isinstance(converted, int | Fraction):
            return None  # logarithmic units
        points.append(Fraction(converted))
    offset, factor = points[0], points[1] - points[0]
    exact = max(factor.numerator, factor.denominator, offset.denominator) < _EXACT_BELOW
    if not exact or not factor or points[2] - points[1] != factor:
        return None
    return Conversion(factor, offset)


@lru_cache(maxsize=4096)
def _known(text: str) -> bool:
    if not _WRITTEN.match(text):
        return False
    registry, errors = _registry()
    try:
        registry.Unit(text)
    except errors:
        return False
    return True


def is_alike(unit: str, other: str) -> bool:
    """Whether two units measure the same: both are currencies, or of one physical dimension."""
    if unit == other:
        return True
    if unit in CURRENCIES or other in CURRENCIES:
        return unit in CURRENCIES and other in CURRENCIES
    if not (_known(unit) and _known(other)):
        return False
    registry = _registry()[0]
    return bool(registry.Unit(unit).dimensionality == registry.Unit(other).dimensionality)


def _by_calendar(text: str) -> bool:
    names = dict(_registry()[0].Unit(text)._units)
    return any(_CALENDAR.search(name) for name in names)


@lru_cache(maxsize=1)
def _registry() -> tuple[Any, tuple[type[Exception], ...]]:  # Pint's registry is not typed usefully
    """Load Pint at first need, and name what its parser raises."""
    import tokenize

    import pint

    registry: Any = pint.UnitRegistry(non_int_type=Fraction)
    errors = (
        pint.errors.PintError,
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        SyntaxError,
        TypeError,
        ValueError,
        tokenize.TokenError,
    )
    return registry, errors
