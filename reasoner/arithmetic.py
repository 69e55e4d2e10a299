"""Exact arithmetic: operations, functions and aggregates over terms (DESIGN section 4).

No operation rounds unless it is asked to, and none raises: what has no value, such as 1/0, the sum
of euros and dollars or the year of 1952/1953, is undetermined and says why.
"""

from __future__ import annotations

import calendar
import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kb.quantity import Date, Quantity, Truth

from .atom import Constant, fold, render_term
from .clause import AggregateFunction, Operator
from .comparison import INFIMUM, SUPREMUM, UNKNOWN, compare, magnitudes
from .verify import LARGEST_BITS


@dataclass(frozen=True, slots=True)
class Undetermined:
    """No value, and why."""

    reason: str


Result = Constant | Undetermined


@dataclass(frozen=True, slots=True)
class Function:
    """A documented function: its least and greatest number of arguments, and how it applies."""

    arity: tuple[int, int]
    apply: Callable[..., Result]


def apply(name: str, arguments: Sequence[Result]) -> Result:
    """Apply an operation to values; undetermined if an argument is, or if it has no value."""
    for argument in arguments:
        if isinstance(argument, Undetermined):
            return argument
        if argument == UNKNOWN:
            return Undetermined("an argument is undetermined")
    function = OPERATIONS.get((name, len(arguments))) or FUNCTIONS[name].apply
    return _bounded(function(*arguments))


def _bounded(result: Result) -> Result:
    number = result.magnitude if isinstance(result, Quantity) else result
    if isinstance(number, Fraction):
        size = max(number.numerator.bit_length(), number.denominator.bit_length())
        if size > LARGEST_BITS:
            return Undetermined("the value is too large")
    return result


def _mismatch(verb: str, left: Constant, right: Constant) -> Undetermined:
    return Undetermined(f"cannot {verb} {render_term(left)} and {render_term(right)}")


def _add(left: Constant, right: Constant) -> Result:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left + right
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        pair = magnitudes(left, right)
        if pair is not None:
            return Quantity(pair[0] + pair[1], left.unit)
    if isinstance(left, Quantity) and right == 0:
        return left
    if isinstance(right, Quantity) and left == 0:
        return right
    return _mismatch("add", left, right)


def _negate(value: Constant) -> Result:
    if isinstance(value, Fraction):
        return -value
    if isinstance(value, Quantity):
        return Quantity(-value.magnitude, value.unit)
    return Undetermined(f"cannot negate {render_term(value)}")


def _subtract(left: Constant, right: Constant) -> Result:
    negated = _negate(right)
    if isinstance(negated, Undetermined):
        return _mismatch("subtract", left, right)
    return _add(left, negated)


def _multiply(left: Constant, right: Constant) -> Result:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left * right
    if isinstance(left, Quantity) and isinstance(right, Fraction):
        return Quantity(left.magnitude * right, left.unit)
    if isinstance(left, Fraction) and isinstance(right, Quantity):
        return Quantity(left * right.magnitude, right.unit)
    return _mismatch("multiply", left, right)


def _divide(left: Constant, right: Constant) -> Result:
    if isinstance(left, (Fraction, Quantity)) and isinstance(right, Fraction):
        if right == 0:
            return Undetermined(f"cannot divide {render_term(left)} by zero")
        if isinstance(left, Fraction):
            return left / right
        return Quantity(left.magnitude / right, left.unit)
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        pair = magnitudes(left, right)
        if pair is not None and pair[1] != 0:
            return pair[0] / pair[1]
    return _mismatch("divide", left, right)


OPERATIONS: dict[tuple[str, int], Callable[..., Result]] = {
    ("+", 2): _add,
    ("-", 2): _subtract,
    ("*", 2): _multiply,
    ("/", 2): _divide,
    ("-", 1): _negate,
}


def extremum(values: Sequence[Constant], *, greatest: bool) -> Result:
    """Give the least or greatest value; undetermined where the order of candidates is."""
    best = values[0]
    for value in values[1:]:
        low, high = (best, value) if greatest else (value, best)
        if value == best:
            continue
        match compare(Operator.AT_MOST, low, high):
            case Truth.TRUE:
                best = value
            case Truth.UNDETERMINED:
                # Equal magnitudes in one direction settle it: neither exceeds the other.
                if compare(Operator.AT_MOST, high, low) is not Truth.TRUE:
                    return _mismatch("order", best, value)
    return best


def _minimum(*values: Constant) -> Result:
    return extremum(values, greatest=False)


def _maximum(*values: Constant) -> Result:
    return extremum(values, greatest=True)


def _on_magnitude(name: str, change: Callable[[Fraction], Fraction]) -> Callable[..., Result]:
    def applied(value: Constant) -> Result:
        if isinstance(value, Fraction):
            return change(value)
        if isinstance(value, Quantity):
            return Quantity(change(value.magnitude), value.unit)
        return Undetermined(f"{name} needs a number; found {render_term(value)}")

    return applied


def _half_up(value: Fraction) -> Fraction:
    """Round to the nearest integer, halves away from zero."""
    size = Fraction(math.floor(abs(value) + Fraction(1, 2)))
    return size if value >= 0 else -size


def _part(name: str, read: Callable[[datetime.date], tuple[int, ...]]) -> Callable[..., Result]:
    """Read a part of a date; undetermined where its days differ in it."""

    def applied(value: Constant) -> Result:
        if not isinstance(value, Date):
            return Undetermined(f"{name} needs a date; found {render_term(value)}")
        first, last = read(value.first), read(value.last)
        if first != last or (value.last - value.first).days > 366:
            return Undetermined(f"the {name} of {value} is not known")
        return Fraction(first[-1])

    return applied


def _shift_months(day: datetime.date, months: int) -> datetime.date:
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return datetime.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _add_days(day: datetime.date, count: int) -> datetime.date:
    return day + datetime.timedelta(days=count)


def _add_years(day: datetime.date, count: int) -> datetime.date:
    return _shift_months(day, 12 * count)


def _shifted(name: str, shift: Callable[[datetime.date, int], datetime.date]) -> Function:
    """Move both ends of a date; a day that does not exist becomes the last of its month."""

    def applied(value: Constant, count: Constant) -> Result:
        if not isinstance(value, Date) or not isinstance(count, Fraction):
            return Undetermined(
                f"{name} needs a date and a whole number; "
                f"found {render_term(value)} and {render_term(count)}"
            )
        if count.denominator != 1:
            return Undetermined(f"{name} needs a whole number; found {render_term(count)}")
        try:
            whole = int(count)
            return Date(shift(value.first, whole), shift(value.last, whole))
        except (ValueError, OverflowError):
            return Undetermined(f"{name} leaves the calendar at {value}")

    return Function((2, 2), applied)


def _whole_months(start: datetime.date, end: datetime.date) -> int:
    if start > end:
        return -_whole_months(end, start)
    months = (end.year - start.year) * 12 + end.month - start.month
    return months if _shift_months(start, months) <= end else months - 1


def _whole_years(start: datetime.date, end: datetime.date) -> int:
    months = _whole_months(start, end)
    return months // 12 if months >= 0 else -(-months // 12)


def _days(start: datetime.date, end: datetime.date) -> int:
    return (end - start).days


def _elapsed(name: str, count: Callable[[datetime.date, datetime.date], int]) -> Function:
    """Count from one date to another; undetermined where precision leaves several counts."""

    def applied(start: Constant, end: Constant) -> Result:
        if not isinstance(start, Date) or not isinstance(end, Date):
            return Undetermined(
                f"{name} needs two dates; found {render_term(start)} and {render_term(end)}"
            )
        least, most = count(start.last, end.first), count(start.first, end.last)
        if least != most:
            return Undetermined(f"{name} from {start} to {end} lie between {least} and {most}")
        return Fraction(least)

    return Function((2, 2), applied)


def _end_of(name: str, pick: Callable[[Date], datetime.date]) -> Function:
    def applied(value: Constant) -> Result:
        if not isinstance(value, Date):
            return Undetermined(f"{name} needs a date; found {render_term(value)}")
        day = pick(value)
        return Date(day, day)

    return Function((1, 1), applied)


def _year_end(name: str, month: int, day: int) -> Function:
    def applied(year: Constant) -> Result:
        if not isinstance(year, Fraction) or year.denominator != 1 or not 1 <= year <= 9999:
            return Undetermined(f"{name} needs a year; found {render_term(year)}")
        found = datetime.date(int(year), month, day)
        return Date(found, found)

    return Function((1, 1), applied)


def _folded(value: Constant) -> Result:
    """Give the form under which names are the same; what is no text stays as it is."""
    return fold(value) if isinstance(value, str) else value


FUNCTIONS: dict[str, Function] = {
    "min": Function((1, 99), _minimum),
    "max": Function((1, 99), _maximum),
    "abs": Function((1, 1), _on_magnitude("abs", abs)),
    "floor": Function((1, 1), _on_magnitude("floor", lambda v: Fraction(math.floor(v)))),
    "ceil": Function((1, 1), _on_magnitude("ceil", lambda v: Fraction(math.ceil(v)))),
    "round": Function((1, 1), _on_magnitude("round", _half_up)),
    "year": Function((1, 1), _part("year", lambda d: (d.year,))),
    "month": Function((1, 1), _part("month", lambda d: (d.year, d.month))),
    "day": Function((1, 1), _part("day", lambda d: (d.year, d.month, d.day))),
    "week": Function((1, 1), _part("week", lambda d: d.isocalendar()[:2])),
    "days": _elapsed("days", _days),
    "months": _elapsed("months", _whole_months),
    "years": _elapsed("years", _whole_years),
    "add_days": _shifted("add_days", _add_days),
    "add_months": _shifted("add_months", _shift_months),
    "add_years": _shifted("add_years", _add_years),
    "folded": Function((1, 1), _folded),
    "earliest": _end_of("earliest", lambda date: date.first),
    "latest": _end_of("latest", lambda date: date.last),
    "first_day": _year_end("first_day", 1, 1),
    "last_day": _year_end("last_day", 12, 31),
}


def aggregate(function: AggregateFunction, rows: Sequence[tuple[Constant, ...]]) -> Result:
    """Aggregate distinct rows; the first term is what is summed or compared.

    The sum of nothing is 0, the least of nothing `#sup`, the greatest of nothing `#inf`.
    """
    if function is AggregateFunction.COUNT:
        return Fraction(len(rows))
    values = [row[0] for row in rows]
    if UNKNOWN in values:
        return Undetermined("a value is undetermined")
    if function is AggregateFunction.SUM:
        total: Result = Fraction(0)
        for value in values:
            total = apply("+", (total, value))
        return total
    if not values:
        return SUPREMUM if function is AggregateFunction.MIN else INFIMUM
    return extremum(values, greatest=function is AggregateFunction.MAX)
