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
    return Fraction(text)


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


_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?\Z", re.ASCII)


def parse_date(text: str) -> Date:
    """Read `1952`, `1952-03`, `1952-03-04` or `1952-03-04/1953-01-01`.

    Raises ValueUnreadable for anything else, including days that do not exist.
    """
    if "/" in text:
        first, _, last = text.partition("/")
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
