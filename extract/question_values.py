"""Values that questions state: dates, numbers and quantities, and what "in 2005" bounds."""

from __future__ import annotations

from kb.errors import ValueUnreadable
from kb.quantity import Date
from reasoner.atom import Constant
from reasoner.clause import Operator

from .amounts import read_amount, read_numeral
from .logical_form import Comparand, Value
from .normalize import read_date


def read_values(text: str) -> tuple[Value, ...]:
    """Give every value a text may be: `2005` is a year and a number; nothing where it is none."""
    if not any(character.isdigit() for character in text):
        return ()
    found: list[Constant] = []
    for reader in (read_date, read_amount, read_numeral):
        try:
            found.append(reader(text))
        except ValueUnreadable:
            continue
    return tuple(Value(value) for value in found)


def before(date: Date) -> tuple[Comparand, ...]:
    """Bound to the days before a date, month or year begins."""
    return (Comparand(Operator.LESS, Value(Date(date.first, date.first))),)


def after(date: Date) -> tuple[Comparand, ...]:
    """Bound to the days after a date, month or year has ended."""
    return (Comparand(Operator.GREATER, Value(Date(date.last, date.last))),)


def since(date: Date) -> tuple[Comparand, ...]:
    """Bound to the days from the first of a date, month or year."""
    return (Comparand(Operator.AT_LEAST, Value(Date(date.first, date.first))),)


def until(date: Date) -> tuple[Comparand, ...]:
    """Bound to the days up to the last of a date, month or year."""
    return (Comparand(Operator.AT_MOST, Value(Date(date.last, date.last))),)


def within(date: Date) -> tuple[Comparand, ...]:
    """Bound to the days of a date, month or year."""
    return since(date) + until(date)
