"""Values: how terms are read and written in their one form, and how values compare.

A term is text, such as `"Acme"`, `acme`, `12`, `@decimal("0.05")`, `@date("2026-01")` or
`@quantity("5 kg")`; a value is what it stands for.
"""

from __future__ import annotations

import calendar
import datetime
import functools
import json
import re
from fractions import Fraction
from typing import Any

from .units import converted

Value = tuple[Any, ...]
"""("number", n, unit), ("date", first, last), ("text", s) or ("symbol", s); plain numbers have the
unit "".
"""
Day = datetime.date

UNKNOWN = "#undetermined"
"""Stands in possible answers for a value that could not be computed."""
TERM = re.compile(
    r'"(?:[^"\\\n]|\\[^\n])*"|@(?:decimal|date|quantity)\("[^"\\\n]*"\)|-?[0-9]+'
    r"|_*[a-z][A-Za-z0-9_]*|#[a-z]+",
    re.ASCII,
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+|/[1-9]\d*)?", re.ASCII)
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)


def read_number(text: str) -> Fraction:
    """Read `12`, `-0.05` or `1/3`; like the other readers, raises ValueError for anything else."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is no exact number")
    return Fraction(text)


def write_number(number: Fraction) -> str:
    """Write `12`, `0.05`, or `1/3` where no finite decimal exists."""
    places, rest = 0, number.denominator
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        places = max(places, power)
    if rest != 1 or not places:
        return str(number)
    digits = f"{abs(number.numerator) * 10**places // number.denominator:0{places + 1}d}"
    return f"{'-' if number < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def read_date(text: str) -> tuple[Day, Day]:
    """Read `1952`, `1952-03`, `1952-03-04` or `FIRST/LAST` as first and last day."""
    if "/" in text:
        first, last = (read_date(part) for part in text.split("/", 1))
        if first[0] > last[1]:
            raise ValueError(f"{text!r} ends before it begins")
        return first[0], last[1]
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no date")
    year, month, day = match.groups()
    end = Day(int(year), int(month or 12), int(day or 1))
    if not day:
        end = end.replace(day=calendar.monthrange(end.year, end.month)[1])
    return Day(int(year), int(month or 1), int(day or 1)), end


def write_date(first: Day, last: Day) -> str:
    """Write a day, a month, a year, or `FIRST/LAST`."""
    iso = first.isoformat()
    whole = (text for text in (iso[:4], iso[:7], iso) if read_date(text) == (first, last))
    return next(whole, f"{iso}/{last.isoformat()}")


def constant(name: str, inner: str) -> Value:
    """Read the inside of `@decimal("..")`, `@date("..")` or `@quantity("..")`."""
    number, _, unit = inner.partition(" ")
    match name:
        case "date":
            return ("date", *read_date(inner))
        case "quantity" if unit and not re.search(r"\s", unit):
            return ("number", read_number(number), unit)
        case "decimal" if number == inner:
            return ("number", read_number(inner), "")
    raise ValueError(f"{inner!r} is no {name}")


def read_value(term: str) -> Value:
    """Read a ground term."""
    if not TERM.fullmatch(term) or (term[0] == "#" and term not in ("#inf", "#sup")):
        raise ValueError(f"{term} is no ground term")
    if term[0] == '"':
        return ("text", term[1:-1] if "\\" not in term else json.loads(term))
    if term[0] == "@":
        name, inner = term[1:].split("(", 1)
        return constant(name, inner[1:-2])
    if term[0] == "-" or term[0].isdigit():
        return ("number", Fraction(int(term)), "")
    return ("symbol", term)


value_of = functools.lru_cache(maxsize=65536)(read_value)
write_text = json.encoder.encode_basestring
"""Write a text as a term."""


def write_value(value: Value) -> str:
    """Write a ground term canonically."""
    match value:
        case ("number", number, ""):
            text = write_number(number)
            return text if number.denominator == 1 else f'@decimal("{text}")'
        case ("number", number, unit):
            return f'@quantity("{write_number(number)} {unit}")'
        case ("date", first, last):
            return f'@date("{write_date(first, last)}")'
        case ("text", text):
            return write_text(text)
    return str(value[1])


@functools.lru_cache(maxsize=1 << 18)
def in_form(term: str) -> str:
    """Give the canonical form of a ground term; ValueError where it is none."""
    return write_value(read_value(term))


def read_day(text: str | None) -> Day | None:
    """Read a day in its one form, or null."""
    return None if text is None else Day.fromisoformat(text)


def day_after(day: Day) -> Day | None:
    """Give the next day; None after the last of the calendar."""
    return None if day == Day.max else day + datetime.timedelta(days=1)


# ---------------------------------------------------------------- comparison

TRUE, FALSE, UNDETERMINED = "true", "false", "undetermined"
_NEGATION = {TRUE: FALSE, FALSE: TRUE, UNDETERMINED: UNDETERMINED}
LEAST, GREATEST = ("symbol", "#inf"), ("symbol", "#sup")


def on_scale_of(left: Value, right: Value) -> Fraction | None:
    """Give the magnitude of a number in the unit of another; nothing is nothing in every unit."""
    if left[2] and right[2]:
        return converted(left[1], left[2], right[2])
    zero = left[1] == 0 if right[2] else right[1] == 0
    return left[1] if zero or left[2] == right[2] else None


def compare(sign: str, left: Value, right: Value) -> str:
    """Compare two values three-valued: values are intervals, `<=` asks for the worst case.

    Values without a common unit are undetermined; values of two kinds are unequal, without order.
    """
    match sign:
        case ">":
            return compare("<", right, left)
        case ">=":
            return compare("<=", right, left)
        case "!=":
            return _NEGATION[compare("=", left, right)]
        case "<":
            return _NEGATION[compare("<=", right, left)]
    if left[0] == right[0] and left[0] in ("number", "date"):
        (least, greatest), (low, high) = left[1:], right[1:]
        if left[0] == "number":
            least = greatest = on_scale_of(left, right)
            low = high = right[1]
        if least is None:
            return UNDETERMINED
        if sign == "<=":
            return TRUE if greatest <= low else FALSE if least > high else UNDETERMINED
        if greatest < low or high < least:
            return FALSE
        return TRUE if least == greatest == low == high else UNDETERMINED
    if sign == "=":
        return TRUE if left == right else FALSE
    if left in (right, LEAST) or right == GREATEST:
        return TRUE
    if left == GREATEST or right == LEAST:
        return FALSE
    if left[0] == right[0] and left[0] in ("text", "symbol"):
        return TRUE if left[1] <= right[1] else FALSE
    return UNDETERMINED
