from __future__ import annotations

import datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import ValueUnreadable
from kb.quantity import (
    Comparable,
    Date,
    Quantity,
    Truth,
    compare,
    format_number,
    in_unit,
    parse_date,
    parse_number,
    parse_quantity,
)
from kb.units import CURRENCIES, IDENTITY, conversion, is_unit

NUMBERS = st.fractions()
DAYS = st.dates()
DATES = st.tuples(DAYS, DAYS).map(lambda pair: Date(min(pair), max(pair)))
UNITS = st.sampled_from(["EUR", "USD", "kg", "g", "lb", "km", "mile", "degC", "K", "%", "widgets"])
QUANTITIES = st.builds(Quantity, NUMBERS, UNITS)
VALUES = st.one_of(NUMBERS, DATES, QUANTITIES)
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


@given(NUMBERS)
def test_numbers_are_written_and_read_back(number: Fraction) -> None:
    text = format_number(number)
    assert parse_number(text) == number
    assert format_number(parse_number(text)) == text


@given(QUANTITIES)
def test_quantities_are_written_and_read_back(quantity: Quantity) -> None:
    assert parse_quantity(str(quantity)) == quantity


@given(DATES)
def test_dates_are_written_and_read_back(date: Date) -> None:
    assert parse_date(str(date)) == date


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1952", (1952, 1, 1), (1952, 12, 31)),
        ("1952-02", (1952, 2, 1), (1952, 2, 29)),
        ("1952-02-29", (1952, 2, 29), (1952, 2, 29)),
        ("1952-02/1953", (1952, 2, 1), (1953, 12, 31)),
    ],
)
def test_a_partial_date_is_the_interval_of_its_days(
    text: str, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    assert parse_date(text) == Date(datetime.date(*first), datetime.date(*last))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "52",
        "1952-2",
        "1951-02-29",
        "1952-13",
        "0000",
        "1953/1952",
        "1952/1953/1954",
        "1952-01-01 ",
        "/",
        "１９５２",
    ],
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueUnreadable):
        parse_date(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1,000",
        "1e3",
        ".5",
        "5.",
        "1/0",
        "1.5/2",
        "+-1",
        " 1",
        "1 ",
        "1\n",
        "٣",
        "inf",
        "9" * 5000,
    ],
)
def test_what_is_no_exact_number_is_refused(text: str) -> None:
    with pytest.raises(ValueUnreadable):
        parse_number(text)


@pytest.mark.parametrize("text", ["", "5", "EUR 5", "5 ", "5  EUR", "5 m s", "5 EUR\n"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueUnreadable):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("quantity", "unit", "expected"),
    [
        ("1 lb", "kg", "0.45359237 kg"),
        ("90 km/h", "m/s", "25 m/s"),
        ("0 degC", "K", "273.15 K"),
        ("100 degC", "degF", "212 degF"),
        ("1 m**2", "cm²", "10000 cm²"),
        ("5 %", "percent", "5 percent"),
        ("1 kWh", "J", "3600000 J"),
        ("3 year", "month", "36 month"),
        ("2 week", "hour", "336 hour"),
        ("1 GB", "byte", "1000000000 byte"),
        ("1 turn", "degree", "360 degree"),
        ("1/3 km", "m", "1000/3 m"),
        ("7 widgets", "widgets", "7 widgets"),
        ("7 EUR", "EUR", "7 EUR"),
    ],
)
def test_conversion_is_exact(quantity: str, unit: str, expected: str) -> None:
    assert in_unit(parse_quantity(quantity), unit) == parse_quantity(expected)


@pytest.mark.parametrize(
    ("unit", "target"),
    [
        ("EUR", "USD"),
        ("EUR", "kg"),
        ("kg", "m"),
        ("widgets", "pieces"),
        ("degree", "radian"),
        ("dBm", "mW"),
        ("year", "day"),
        ("month", "day"),
        ("eur", "EUR"),
        ("m**99999999", "m"),
        ("__import__", "m"),
        ("(m)", "m"),
    ],
)
def test_without_an_exact_conversion_there_is_none(unit: str, target: str) -> None:
    assert conversion(unit, target) is None
    assert conversion(target, unit) is None


def test_units_are_currencies_or_known_to_physics() -> None:
    assert {"EUR", "CHF", "JPY"} <= CURRENCIES
    assert all(map(is_unit, ["EUR", "kg", "m/s", "m²", "%", "°C", "degC", "byte", "mile"]))
    assert not any(map(is_unit, ["", "eur", "widgets", "5", "5 kg", "m**", "-", "m/", "kg\n"]))


@given(QUANTITIES, UNITS)
def test_converting_there_and_back_gives_the_same(quantity: Quantity, unit: str) -> None:
    there = in_unit(quantity, unit)
    if there is not None:
        assert in_unit(there, quantity.unit) == quantity
    assert conversion(unit, unit) == IDENTITY


@pytest.mark.parametrize(
    ("left", "operator", "right", "truth"),
    [
        ("1952", "<", "1953", Truth.TRUE),
        ("1952", "<=", "1952-12-31", Truth.TRUE),
        ("1952", "<", "1952-12-31", Truth.UNDETERMINED),
        ("1952-06", "<", "1952", Truth.UNDETERMINED),
        ("1952", "=", "1952", Truth.UNDETERMINED),
        ("1952", "!=", "1952", Truth.UNDETERMINED),
        ("1952-03-04", "=", "1952-03-04", Truth.TRUE),
        ("1952-03-04", "!=", "1952-03-04", Truth.FALSE),
        ("1952", "=", "1953-01", Truth.FALSE),
        ("1952", "!=", "1953-01", Truth.TRUE),
        ("1953", ">", "1952", Truth.TRUE),
        ("1953", "<=", "1952", Truth.FALSE),
        ("1952/1953", ">=", "1952-01-01", Truth.TRUE),
    ],
)
def test_dates_compare_as_intervals(left: str, operator: str, right: str, truth: Truth) -> None:
    assert compare(operator, parse_date(left), parse_date(right)) is truth


@pytest.mark.parametrize(
    ("left", "operator", "right", "truth"),
    [
        ("5 EUR", "<=", "5 EUR", Truth.TRUE),
        ("5 EUR", "!=", "6 EUR", Truth.TRUE),
        ("5 EUR", "<", "6 USD", Truth.UNDETERMINED),
        ("5 EUR", "=", "5 USD", Truth.UNDETERMINED),
        ("5 EUR", "!=", "6 USD", Truth.UNDETERMINED),
        ("1 kg", "=", "1000 g", Truth.TRUE),
        ("1 mile", "<", "1609 m", Truth.FALSE),
        ("0 degC", ">", "0 K", Truth.TRUE),
        ("1 kg", "!=", "1 m", Truth.UNDETERMINED),
        ("2 widgets", ">", "1 widgets", Truth.TRUE),
        ("12 month", "=", "1 year", Truth.TRUE),
        ("365 day", "<", "1 year", Truth.UNDETERMINED),
    ],
)
def test_quantities_compare_in_one_unit(left: str, operator: str, right: str, truth: Truth) -> None:
    assert compare(operator, parse_quantity(left), parse_quantity(right)) is truth


def test_values_of_different_kinds_are_not_ordered() -> None:
    five, euros, year = Fraction(5), parse_quantity("5 EUR"), parse_date("1952")
    assert {compare(operator, five, euros) for operator in OPERATORS} == {Truth.UNDETERMINED}
    assert compare("=", five, year) is Truth.FALSE
    assert compare("!=", year, euros) is Truth.TRUE
    assert compare("<", five, year) is compare(">=", euros, year) is Truth.UNDETERMINED


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(ValueUnreadable, match="'=<' is no comparison"):
        compare("=<", Fraction(1), Fraction(1))


NOT = {
    Truth.TRUE: Truth.FALSE,
    Truth.FALSE: Truth.TRUE,
    Truth.UNDETERMINED: Truth.UNDETERMINED,
}


@given(VALUES, VALUES)
def test_operators_agree_with_their_converse_and_their_negation(
    left: Comparable, right: Comparable
) -> None:
    for operator, converse, negation in (
        ("=", "=", "!="),
        ("<", ">", ">="),
        ("<=", ">=", ">"),
    ):
        truth = compare(operator, left, right)
        assert compare(converse, right, left) is truth
        assert compare(negation, left, right) is NOT[truth]


@given(DATES, DATES, st.data())
def test_a_determined_comparison_holds_for_every_day_the_dates_may_be(
    left: Date, right: Date, data: st.DataObject
) -> None:
    a = data.draw(st.dates(left.first, left.last))
    b = data.draw(st.dates(right.first, right.last))
    exact = {"=": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
    for operator, holds in exact.items():
        truth = compare(operator, left, right)
        if truth is not Truth.UNDETERMINED:
            assert (truth is Truth.TRUE) is holds
        if left.is_exact and right.is_exact:
            assert truth is not Truth.UNDETERMINED
