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
    inner = [evaluate(item, bindings) for item in tree["arguments"]]
    values = [value for value in inner if value is not None]
    name = tree["operation"] if len(values) > 1 or tree["operation"] != "-" else "-1"
    try:
        return bounded(_applied(name, values)) if len(values) == len(inner) else None
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


def _later(day: Day, months: int) -> Day:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return Day(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _months(start: Day, end: Day) -> int:
    if start > end:
        return -_months(end, start)
    months = (end.year - start.year) * 12 + end.month - start.month
    return months - (_later(start, months) > end)


# ---------------------------------------------------------------- names


def _folded(value: Value) -> Value:
    """Give the form under which names are the same: NFC, case folded, white space collapsed."""
    if value[0] != "text":
        return value
    return ("text", " ".join(unicodedata.normalize("NFC", value[1]).casefold().split()))


def same_name(left: Value, right: Value) -> bool:
    """Whether two texts are one name but for case, spaces and composition."""
    return _folded(left) == _folded(right)


# ---------------------------------------------------------------- functions

_ON_VALUES: dict[str, Callable[..., Value]] = {
    "+": add,
    "-": lambda left, right: add(left, right, -1),
    "-1": lambda value: add(ZERO, value, -1),
    "*": _multiply,
    "/": _divide,
    "min": lambda *values: best_of(values, greatest=False),
    "max": lambda *values: best_of(values, greatest=True),
    "folded": _folded,
}
_ON_MAGNITUDES: dict[str, Callable[[Fraction], Any]] = {
    "abs": abs,
    "floor": Fraction.__floor__,
    "ceil": Fraction.__ceil__,
    "round": _half_up,
}
_PARTS: dict[str, Callable[[Day], tuple[int, ...]]] = {
    "year": lambda day: (day.year,),
    "month": lambda day: (day.year, day.month),
    "day": lambda day: (day.year, day.month, day.day),
    "week": lambda day: tuple(day.isocalendar())[:2],
}
"""Parts of a date, each with what must be the same for all its days."""
_BETWEEN: dict[str, Callable[[Day, Day], int]] = {
    "days": lambda start, end: (end - start).days,
    "months": _months,
    "years": lambda start, end: int(_months(start, end) / 12),
}
_MOVED: dict[str, Callable[[Day, int], Day]] = {
    "add_days": lambda day, number: day + datetime.timedelta(number),
    "add_months": _later,
    "add_years": lambda day, number: _later(day, 12 * number),
}
_EDGES: dict[str, Callable[[Day, Day], Day]] = {"earliest": min, "latest": max}
_IN_YEAR = {"first_day": (1, 1), "last_day": (12, 31)}


def _applied(name: str, values: Sequence[Value]) -> Value:
    """Apply a function to its values."""
    if name in _ON_VALUES:
        return _ON_VALUES[name](*values)
    value, other = values[0], values[-1]
    if len(values) != (2 if name in _MOVED or name in _BETWEEN else 1):
        raise NoValue
    if name in _ON_MAGNITUDES:
        number, unit = _of("number", value)
        return ("number", Fraction(_ON_MAGNITUDES[name](number)), unit)
    if name in _IN_YEAR:
        day = Day(_whole(value), *_IN_YEAR[name])
        return ("date", day, day)
    first, last = _of("date", value)
    if name in _EDGES:
        day = _EDGES[name](first, last)
        return ("date", day, day)
    if name in _MOVED:
        return ("date", *(_MOVED[name](day, _whole(other)) for day in (first, last)))
    if name in _PARTS:
        part = _PARTS[name](first)
        is_exact = part == _PARTS[name](last) and (last - first).days <= 366
        result = part[-1]
    else:
        other_first, other_last = _of("date", other)
        result = _BETWEEN[name](last, other_first)
        is_exact = result == _BETWEEN[name](first, other_last)
    if not is_exact:
        raise NoValue
    return ("number", Fraction(result), "")
