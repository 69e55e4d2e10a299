"""Three-valued comparison of terms (DESIGN section 4, Comparison)."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from fractions import Fraction

from kb import quantity
from kb.quantity import Comparable, Date, Quantity, Truth, in_unit

from .atom import Constant, Symbol
from .clause import Operator
from .verify import conversion

INFIMUM = Symbol("#inf")
SUPREMUM = Symbol("#sup")
UNKNOWN = Symbol("#undetermined")
"""Stands in bindings for a value that could not be computed; no source text can write it."""


def _truth(holds: bool) -> Truth:
    return Truth.TRUE if holds else Truth.FALSE


def magnitudes(left: Quantity, right: Quantity) -> tuple[Fraction, Fraction] | None:
    """Give both magnitudes in one unit; None where no exact conversion exists.

    A conversion that the checker of certificates does not know is none: it could not be shown.
    """
    if left.unit == right.unit:
        return left.magnitude, right.magnitude
    converted = in_unit(right, left.unit)
    if converted is None or conversion(right.unit, left.unit) is None:
        return None
    return left.magnitude, converted.magnitude


_ORDER: dict[Operator, Callable[[int, int], bool]] = {
    Operator.EQUAL: operators.eq,
    Operator.UNEQUAL: operators.ne,
    Operator.LESS: operators.lt,
    Operator.AT_MOST: operators.le,
    Operator.GREATER: operators.gt,
    Operator.AT_LEAST: operators.ge,
}

_NEGATION = {
    Truth.TRUE: Truth.FALSE,
    Truth.FALSE: Truth.TRUE,
    Truth.UNDETERMINED: Truth.UNDETERMINED,
}


def _like(zero: Comparable, other: Comparable) -> Comparable:
    """Give nothing the unit of a quantity: an empty sum has none, and it is nothing in each."""
    if isinstance(zero, Fraction) and isinstance(other, Quantity) and not zero:
        return Quantity(zero, other.unit)
    return zero


def compare(operator: Operator, left: Constant, right: Constant) -> Truth:
    """Compare two values.

    Numbers, dates and quantities compare as `kb.quantity.compare` does, and 0 with any quantity.
    Texts compare by code points. Values of two kinds are unequal and have no order. `#inf` and
    `#sup` lie below and above everything.
    """
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        pair = magnitudes(left, right)
        if pair is None:
            return Truth.UNDETERMINED
        left, right = pair
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        (a, over), (b, under) = left.as_integer_ratio(), right.as_integer_ratio()
        return _truth(_ORDER[operator](a * under, b * over))
    if UNKNOWN in (left, right):
        return Truth.UNDETERMINED
    if isinstance(left, (Fraction, Quantity, Date)) and isinstance(
        right, (Fraction, Quantity, Date)
    ):
        return quantity.compare(operator.value, _like(left, right), _like(right, left))
    match operator:
        case Operator.EQUAL:
            return _truth(left == right)
        case Operator.UNEQUAL:
            return _truth(left != right)
        case Operator.GREATER:
            return compare(Operator.LESS, right, left)
        case Operator.AT_LEAST:
            return compare(Operator.AT_MOST, right, left)
        case Operator.LESS:
            return _NEGATION[compare(Operator.AT_MOST, right, left)]
    if left in (right, INFIMUM) or right == SUPREMUM:
        return Truth.TRUE
    if left == SUPREMUM or right == INFIMUM:
        return Truth.FALSE
    if isinstance(left, str) and isinstance(right, str):
        return _truth(left <= right)
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        return _truth(left.name <= right.name)
    return Truth.UNDETERMINED
