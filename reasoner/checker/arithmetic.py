"""Exact arithmetic on values: a wrong kind, an inexact date or too large a number has no value."""

from __future__ import annotations

import calendar
import datetime
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .units import converted
from .values import (
    GREATEST,
    LEAST,
    TRUE,
    UNDETERMINED,
    UNKNOWN,
    Day,
    Value,
    compare,
    on_scale_of,
    value_of,
)

LARGEST_BITS = 4000
"""Size of numerator and denominator beyond which a computed number is no value."""
Tree = dict[str, Any]
"""A syntax tree as certificates hold it: plain JSON."""
ZERO: Value = ("number", Fraction(0), "")


class NoValue(Exception):
    """An operation has no exact value for these arguments."""


def evaluate(tree: Tree, bindings: Mapping[str, str]) -> Value | None:
    """Evaluate an expression exactly; None where it has no value.

    Raises KeyError for an unbound variable.
    """
    kind, content = next(iter(tree.items()))
    match kind:
        case "variable":
            term = bindings[content]
            return None if term == UNKNOWN else value_of(term)
        case "number":
            return ("number", Fraction(content), "")
        case "text" | "symbol":
            return (kind, content)
        case "date" | "quantity":
            return value_of(f'@{kind}("{content}")')
    values = [evaluate(item, bindings) for item in tree["arguments"]]
    name = tree["operation"] if len(values) > 1 or tree["operation"] != "-" else "-1"
    try:
        return None if None in values else bounded(_FUNCTIONS[name](*values))
    except (KeyError, TypeError, ValueError, OverflowError, ZeroDivisionError, NoValue):
        return None


def bounded(value: Value) -> Value:
    """Refuse a number that nobody could write."""
    if value[0] == "number":
        size = max(value[1].numerator.bit_length(), value[1].denominator.bit_length())
        if size > LARGEST_BITS:
            raise NoValue
    return value


# ---------------------------------------------------------------- numbers


def _of(kind: str, value: Value) -> Any:
    """Give magnitude and unit of a number, or first and last day of a date."""
    if value[0] != kind:
        raise NoValue
    return value[1:]


def _whole(value: Value) -> int:
    number, unit = _of("number", value)
    if unit or number.denominator != 1:
        raise NoValue
    return int(number)


def add(left: Value, right: Value, sign: int = 1) -> Value:
    """Add, or subtract with the sign -1; a sum has the unit of its left side."""
    (number, unit), (_, other) = _of("number", left), _of("number", right)
    magnitude = on_scale_of(right, left)
    if magnitude is None:
        raise NoValue
    return ("number", number + sign * magnitude, unit or other)


def _multiply(left: Value, right: Value) -> Value:
    (number, unit), (factor, other) = _of("number", left), _of("number", right)
    if unit and other:
        raise NoValue
    return ("number", number * factor, unit or other)


def _divide(left: Value, right: Value) -> Value:
    (number, unit), (divisor, other) = _of("number", left), _of("number", right)
    if not other:
        return ("number", number / divisor, unit)
    magnitude = converted(divisor, other, unit) if unit else None
    if magnitude is None:
        raise NoValue
    return ("number", number / magnitude, "")


def _on_magnitude(change: Callable[[Fraction], Any]) -> Callable[[Value], Value]:
    def changed(value: Value) -> Value:
        number, unit = _of("number", value)
        return ("number", Fraction(change(number)), unit)

    return changed


def _half_up(number: Fraction) -> int:
    size = (abs(number) + Fraction(1, 2)).__floor__()
    return size if number >= 0 else -size


def best_of(values: Sequence[Value], *, greatest: bool) -> Value:
    """Give the least or greatest of values whose order is determined."""
    best = values[0]
    for value in values[1:]:
        low, high = (best, value) if greatest else (value, best)
        truth = compare("<=", low, high)
        if truth == TRUE:
            best = value
        elif truth == UNDETERMINED and value != best and compare("<=", high, low) != TRUE:
            raise NoValue
    return best


def aggregate_value(function: str, values: Sequence[Value]) -> Value | None:
    """Compute an aggregate over the first terms of distinct tuples."""
    try:
        match function:
            case "count":
                return ("number", Fraction(len(values)), "")
            case "sum":
                total = ZERO
                for value in values:
                    total = bounded(add(total, value))
                return total
        if not values:
            return GREATEST if function == "min" else LEAST
        return best_of(values, greatest=function == "max")
    except NoValue:
        return None


# ---------------------------------------------------------------- dates


def _part(read: Callable[[Day], tuple[int, ...]]) -> Callable[[Value], Value]:
    """Read a part of a date that is the same for all its days."""

    def part(value: Value) -> Value:
        first, last = _of("date", value)
        if read(first) != read(last) or (last - first).days > 366:
            raise NoValue
        return ("number", Fraction(read(first)[-1]), "")

    return part


def _later(day: Day, months: int) -> Day:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return Day(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _moved(move: Callable[[Day, int], Day]) -> Callable[[Value, Value], Value]:
    def moved(value: Value, by: Value) -> Value:
        first, last = _of("date", value)
        return ("date", move(first, _whole(by)), move(last, _whole(by)))

    return moved


def _months(start: Day, end: Day) -> int:
    if start > end:
        return -_months(end, start)
    months = (end.year - start.year) * 12 + end.month - start.month
    return months - (_later(start, months) > end)


def _between(count: Callable[[Day, Day], int]) -> Callable[[Value, Value], Value]:
    def between(start: Value, end: Value) -> Value:
        (first, last), (other_first, other_last) = _of("date", start), _of("date", end)
        least = count(last, other_first)
        if least != count(first, other_last):
            raise NoValue
        return ("number", Fraction(least), "")

    return between


def _edge(value: Value, at: int) -> Value:
    day = _of("date", value)[at]
    return ("date", day, day)


def _in_year(month: int, day: int) -> Callable[[Value], Value]:
    return lambda year: ("date", *(Day(_whole(year), month, day),) * 2)


# ---------------------------------------------------------------- names


def _folded(value: Value) -> Value:
    """Give the form under which names are the same: NFC, case folded, white space collapsed."""
    if value[0] != "text":
        return value
    return ("text", " ".join(unicodedata.normalize("NFC", value[1]).casefold().split()))


def same_name(left: Value, right: Value) -> bool:
    """Whether two texts are one name but for case, spaces and composition."""
    return _folded(left) == _folded(right)


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "+": add,
    "-": lambda left, right: add(left, right, -1),
    "-1": lambda value: add(ZERO, value, -1),
    "*": _multiply,
    "/": _divide,
    "min": lambda *values: best_of(values, greatest=False),
    "max": lambda *values: best_of(values, greatest=True),
    "abs": _on_magnitude(abs),
    "floor": _on_magnitude(Fraction.__floor__),
    "ceil": _on_magnitude(Fraction.__ceil__),
    "round": _on_magnitude(_half_up),
    "year": _part(lambda day: (day.year,)),
    "month": _part(lambda day: (day.year, day.month)),
    "day": _part(lambda day: (day.year, day.month, day.day)),
    "week": _part(lambda day: tuple(day.isocalendar())[:2]),
    "days": _between(lambda start, end: (end - start).days),
    "months": _between(_months),
    "years": _between(lambda start, end: int(_months(start, end) / 12)),
    "add_days": _moved(lambda day, number: day + datetime.timedelta(number)),
    "add_months": _moved(_later),
    "add_years": _moved(lambda day, number: _later(day, 12 * number)),
    "folded": _folded,
    "earliest": lambda value: _edge(value, 0),
    "latest": lambda value: _edge(value, 1),
    "first_day": _in_year(1, 1),
    "last_day": _in_year(12, 31),
}
