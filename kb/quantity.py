"""Exact numbers, quantities with units and dates with precision; three-valued comparison.

Every value is exact: numbers are fractions, dates are closed intervals of days. An answer is never
more precise than its source, so a comparison may be undetermined (DESIGN section 4, Comparison).
"""

from __future__ import annotations

import calendar
import datetime
import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from .errors import ValueUnreadable
from .units import conversion


class Truth(Enum):
    """Outcome of a comparison."""

    TRUE = "true"
    FALSE = "false"
    UNDETERMINED = "undetermined"


_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:/[1-9]\d*)?\Z", re.ASCII)


def parse_number(text: str) -> Fraction:
    """Read `12`, `-0.05` or `1/3` exactly.

    Raises ValueUnreadable for anything else.
    """
    if not _NUMBER.match(text) or ("." in text and "/" in text):
        raise ValueUnreadable(
            f"{text!r} is no exact number; expected digits such as 12, 0.05 or 1/3"
        )
    try:
        return Fraction(text)
    except ValueError as error:  # thousands of digits
        raise ValueUnreadable(f"a number of {len(text)} characters is too long") from error


def format_number(number: Fraction) -> str:
    """Write the one canonical form: `12`, `0.05`, or `1/3` where no finite decimal exists."""
    denominator = number.denominator
    if denominator == 1:
        return str(number.numerator)
    twos = fives = 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    if denominator != 1:
        return f"{number.numerator}/{number.denominator}"
    places = max(twos, fives)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact magnitude with a unit: a currency code (`EUR`) or a unit Pint knows (`kg`)."""

    magnitude: Fraction
    unit: str

    def __post_init__(self) -> None:
        if not self.unit or self.unit != self.unit.strip() or " " in self.unit:
            raise ValueUnreadable(f"{self.unit!r} is no unit; expected one word such as EUR or kg")

    def __str__(self) -> str:
        return f"{format_number(self.magnitude)} {self.unit}"


def parse_quantity(text: str) -> Quantity:
    """Read the canonical form `5000000 EUR`.

    Raises ValueUnreadable for anything else.
    """
    number, separator, unit = text.partition(" ")
    if not separator:
        raise ValueUnreadable(
            f"{text!r} is no quantity; expected a number and a unit: '5000000 EUR'"
        )
    return Quantity(parse_number(number), unit)


@dataclass(frozen=True, slots=True)
class Date:
    """A date known to some precision: the closed interval of days `[first, last]` it may be.

    `text` is its canonical form: `1952-03-04`, `1952-03`, `1952`, or `FIRST/LAST`.
    """

    first: datetime.date
    last: datetime.date

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise ValueUnreadable(
                f"the date interval {self.first}/{self.last} ends before it begins"
            )

    @property
    def is_exact(self) -> bool:
        """Whether the day is known."""
        return self.first == self.last

    def __str__(self) -> str:
        first, last = self.first, self.last
        if first == last:
            return first.isoformat()
        if first.year == last.year and (first.month, first.day, last.month, last.day) == (
            1,
            1,
            12,
            31,
        ):
            return f"{first.year:04d}"
        month_end = calendar.monthrange(first.year, first.month)[1]
        if (first.year, first.month, first.day) == (
            last.year,
            last.month,
            1,
        ) and last.day == month_end:
            return f"{first.year:04d}-{first.month:02d}"
        return f"{first.isoformat()}/{last.isoformat()}"


def in_unit(quantity: Quantity, unit: str) -> Quantity | None:
    """Give the quantity in another unit, exactly; None if no exact conversion exists.

    >>> str(in_unit(parse_quantity("90 km/h"), "m/s"))
    '25 m/s'
    >>> in_unit(parse_quantity("90 EUR"), "USD") is None
    True
    """
    found = conversion(quantity.unit, unit)
    return None if found is None else Quantity(found.apply(quantity.magnitude), unit)


_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?\Z", re.ASCII)


def parse_date(text: str) -> Date:
    """Read `1952`, `1952-03`, `1952-03-04` or `1952-03-04/1953-01-01`.

    Raises ValueUnreadable for anything else, including days that do not exist.
    """
    if "/" in text:
        first, _, last = text.partition("/")
        if "/" in last:
            raise ValueUnreadable(f"{text!r} is no date; expected at most one slash")
        return Date(parse_date(first).first, parse_date(last).last)
    match = _DATE.match(text)
    if match is None:
        raise ValueUnreadable(f"{text!r} is no date; expected YYYY, YYYY-MM or YYYY-MM-DD")
    year, month, day = match.groups()
    try:
        if month is None:
            return Date(datetime.date(int(year), 1, 1), datetime.date(int(year), 12, 31))
        if day is None:
            end = calendar.monthrange(int(year), int(month))[1]
            return Date(
                datetime.date(int(year), int(month), 1), datetime.date(int(year), int(month), end)
            )
        exact = datetime.date(int(year), int(month), int(day))
    except (ValueError, calendar.IllegalMonthError) as error:
        raise ValueUnreadable(f"{text!r} is no date: {error}") from error
    return Date(exact, exact)


Comparable = Fraction | Quantity | Date
"""Values that have an order."""


def compare(operator: str, left: Comparable, right: Comparable) -> Truth:
    """Compare two values by `=`, `!=`, `<`, `<=`, `>` or `>=`.

    Each value is the closed interval it may be. `A <= B` is true if the greatest A is at most the
    least B, false if the least A exceeds the greatest B, else undetermined; so is `=` of two equal
    partial dates. Without an exact conversion between their units, quantities are undetermined
    under every operator, and so are a quantity and a number. A date is never equal to either.

    >>> compare("<", parse_date("1952"), parse_date("1953-01"))
    <Truth.TRUE: 'true'>
    >>> compare("=", parse_date("1952"), parse_date("1952"))
    <Truth.UNDETERMINED: 'undetermined'>
    """
    match operator:
        case "!=":
            return _negated(compare("=", left, right))
        case ">":
            return compare("<", right, left)
        case ">=":
            return compare("<=", right, left)
        case "<":
            return _negated(compare("<=", right, left))
        case "=" | "<=":
            pass
        case _:
            raise ValueUnreadable(f"{operator!r} is no comparison; expected =, !=, <, <=, > or >=")
    if isinstance(left, Date) and isinstance(right, Date):
        low, high = (left.first, left.last), (right.first, right.last)
        return _equal(low, high) if operator == "=" else _at_most(low, high)
    if isinstance(left, Date) or isinstance(right, Date):
        return Truth.FALSE if operator == "=" else Truth.UNDETERMINED
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        converted = in_unit(right, left.unit)
        if converted is None:
            return Truth.UNDETERMINED
        a, b = left.magnitude, converted.magnitude
    elif isinstance(left, Fraction) and isinstance(right, Fraction):
        a, b = left, right
    else:
        return Truth.UNDETERMINED
    return Truth.TRUE if (a == b if operator == "=" else a <= b) else Truth.FALSE


_Days = tuple[datetime.date, datetime.date]


def _negated(truth: Truth) -> Truth:
    match truth:
        case Truth.TRUE:
            return Truth.FALSE
        case Truth.FALSE:
            return Truth.TRUE
        case Truth.UNDETERMINED:
            return Truth.UNDETERMINED


def _at_most(left: _Days, right: _Days) -> Truth:
    if left[1] <= right[0]:
        return Truth.TRUE
    return Truth.FALSE if left[0] > right[1] else Truth.UNDETERMINED


def _equal(left: _Days, right: _Days) -> Truth:
    if left[1] < right[0] or right[1] < left[0]:
        return Truth.FALSE
    return Truth.TRUE if left[0] == left[1] == right[0] == right[1] else Truth.UNDETERMINED
