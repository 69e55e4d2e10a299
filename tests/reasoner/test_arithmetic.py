"""Exact arithmetic and three-valued comparison."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.quantity import Date, Quantity, Truth
from reasoner.arithmetic import FUNCTIONS, Undetermined, aggregate, apply
from reasoner.atom import Constant, Symbol
from reasoner.clause import AggregateFunction, Operator
from reasoner.comparison import INFIMUM, SUPREMUM, UNKNOWN, compare
from reasoner.policy import parse_atom

T, F, U = Truth.TRUE, Truth.FALSE, Truth.UNDETERMINED


def _value(text: str) -> Constant:
    (value,) = parse_atom(f"p({text})").arguments
    return value  # type: ignore[return-value]  # ground by construction


def _compare(left: str, operator: str, right: str) -> Truth:
    return compare(Operator(operator), _value(left), _value(right))


@pytest.mark.parametrize(
    ("left", "operator", "right", "truth"),
    [
        ("2147483648", ">", "2147483647", T),
        ('@decimal("0.1")', "<", '@decimal("1/3")', T),
        ('@quantity("5 EUR")', ">=", '@quantity("5 EUR")', T),
        ('@quantity("5 EUR")', ">=", '@quantity("6 EUR")', F),
        ('@quantity("5 EUR")', ">=", '@quantity("5 USD")', U),
        ('@quantity("5 EUR")', "!=", '@quantity("5 USD")', U),
        ('@quantity("5 EUR")', "<", '@quantity("5 kg")', U),
        ('@quantity("1 kg")', "=", '@quantity("1000 g")', T),
        ('@quantity("90 km/h")', "<", '@quantity("26 m/s")', T),
        ('@quantity("5 EUR")', "<", "7", U),
        ('@quantity("0 EUR")', "=", "0", T),
        ('@date("1952")', "<", '@date("1953")', T),
        ('@date("1952")', "<=", '@date("1952-06")', U),
        ('@date("1952")', "=", '@date("1952")', U),
        ('@date("1952")', "!=", '@date("1952")', U),
        ('@date("1952")', "=", '@date("1953")', F),
        ('@date("1952-03-04")', "=", '@date("1952-03-04")', T),
        ('@date("1952-03")', ">=", '@date("1952-03-01")', T),
        ('"a"', "<", '"b"', T),
        ("acme", "=", '"acme"', F),
        ("acme", "!=", '"acme"', T),
        ("acme", "<", '"acme"', U),
        ("3", "=", '"3"', F),
        ('@date("2020-01-01")', "<", "3", U),
        ("#inf", "<", "-5", T),
        ('"z"', "<", "#sup", T),
        ("#sup", "<=", "#inf", F),
        ("#inf", "<=", "#inf", T),
    ],
)
def test_comparison(left: str, operator: str, right: str, truth: Truth) -> None:
    assert _compare(left, operator, right) is truth


_DATES = st.builds(lambda a, b: Date(min(a, b), max(a, b)), st.dates(), st.dates())
_VALUES = st.one_of(
    st.fractions(),
    _DATES,
    st.builds(Quantity, st.fractions(), st.sampled_from(["EUR", "USD", "kg", "g"])),
    st.text(max_size=2),
    st.builds(Symbol, st.sampled_from("ab")),
    st.just(INFIMUM),
    st.just(SUPREMUM),
)
_OPPOSITE = {
    Operator.EQUAL: Operator.UNEQUAL,
    Operator.LESS: Operator.AT_LEAST,
    Operator.GREATER: Operator.AT_MOST,
}


@given(_VALUES, _VALUES)
def test_an_operator_and_its_opposite_disagree_or_are_both_undetermined(
    left: Constant, right: Constant
) -> None:
    for operator, opposite in _OPPOSITE.items():
        truths = {compare(operator, left, right), compare(opposite, left, right)}
        assert truths in ({T, F}, {U})


@given(_VALUES, _VALUES)
def test_comparison_can_be_turned_round(left: Constant, right: Constant) -> None:
    assert compare(Operator.LESS, left, right) is compare(Operator.GREATER, right, left)
    assert compare(Operator.EQUAL, left, right) is compare(Operator.EQUAL, right, left)


@given(_DATES, _DATES, st.data())
def test_a_decided_comparison_of_dates_holds_for_every_day(
    left: Date, right: Date, data: st.DataObject
) -> None:
    a = data.draw(st.dates(left.first, left.last))
    b = data.draw(st.dates(right.first, right.last))
    for operator, holds in (
        (Operator.LESS, a < b),
        (Operator.AT_MOST, a <= b),
        (Operator.EQUAL, a == b),
    ):
        truth = compare(operator, left, right)
        assert truth in (U, T if holds else F)


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("+", ["2147483647", "1"], "2147483648"),
        ("+", ['@decimal("0.1")', '@decimal("0.2")'], '@decimal("0.3")'),
        ("+", ['@quantity("1 kg")', '@quantity("500 g")'], '@quantity("1.5 kg")'),
        ("-", ['@quantity("1 EUR")', "0"], '@quantity("1 EUR")'),
        ("*", ['@quantity("3 EUR")', '@decimal("0.5")'], '@quantity("1.5 EUR")'),
        ("/", ["1", "3"], '@decimal("1/3")'),
        ("/", ['@quantity("1 kg")', '@quantity("250 g")'], "4"),
        ("min", ["3", "1", "2"], "1"),
        ("max", ['@date("2020")', '@date("2021-05")'], '@date("2021-05")'),
        ("round", ['@decimal("2599.50")'], "2600"),
        ("round", ['@decimal("-0.5")'], "-1"),
        ("floor", ['@decimal("-0.5")'], "-1"),
        ("ceil", ['@quantity("1.2 EUR")'], '@quantity("2 EUR")'),
        ("abs", ["-3"], "3"),
        ("year", ['@date("1952-03")'], "1952"),
        ("month", ['@date("1952-03")'], "3"),
        ("day", ['@date("1952-03-04")'], "4"),
        ("week", ['@date("2026-01-01")'], "1"),
        ("days", ['@date("2024-02-28")', '@date("2024-03-01")'], "2"),
        ("months", ['@date("2024-01-31")', '@date("2024-03-30")'], "1"),
        ("years", ['@date("1990-06-15")', '@date("2026-06-14")'], "35"),
        ("years", ['@date("1990-05")', '@date("2026-06")'], "36"),
        ("years", ['@date("2026-06-14")', '@date("1990-06-15")'], "-35"),
        ("add_days", ['@date("2024-02-28")', "2"], '@date("2024-03-01")'),
        ("add_months", ['@date("2024-01-31")', "1"], '@date("2024-02-29")'),
        ("add_years", ['@date("2024-02-29")', "1"], '@date("2025-02-28")'),
        ("earliest", ['@date("1952")'], '@date("1952-01-01")'),
        ("latest", ['@date("1952")'], '@date("1952-12-31")'),
        ("first_day", ["2017"], '@date("2017-01-01")'),
        ("last_day", ["2017"], '@date("2017-12-31")'),
    ],
)
def test_functions_are_exact(name: str, arguments: list[str], result: str) -> None:
    assert apply(name, [_value(text) for text in arguments]) == _value(result)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("/", ["1", "0"]),
        ("+", ['@quantity("1 EUR")', '@quantity("1 USD")']),
        ("+", ['@quantity("1 EUR")', "2"]),
        ("+", ['"a"', "1"]),
        ("*", ['@quantity("1 EUR")', '@quantity("1 EUR")']),
        ("min", ['@date("1952")', '@date("1952-06")']),
        ("min", ['"a"', "1"]),
        ("year", ['@date("1952-12-31/1953-01-01")']),
        ("month", ['@date("1952")']),
        ("year", ["1952"]),
        ("years", ['@date("1990")', '@date("2026-06-14")']),
        ("add_days", ['@date("2024-01-01")', '@decimal("0.5")']),
        ("add_years", ['@date("2024-01-01")', "99999"]),
        ("add_days", ['@date("2024-01-01")', "9999999999999"]),
        ("first_day", ["0"]),
    ],
)
def test_what_has_no_value_is_undetermined_and_says_why(name: str, arguments: list[str]) -> None:
    result = apply(name, [_value(text) for text in arguments])
    assert isinstance(result, Undetermined)
    assert result.reason


def test_undetermined_arguments_pass_through() -> None:
    first = Undetermined("no rate")
    assert apply("+", [Fraction(1), first]) is first
    assert isinstance(apply("+", [Fraction(1), UNKNOWN]), Undetermined)
    assert compare(Operator.EQUAL, UNKNOWN, UNKNOWN) is U


@given(st.lists(_VALUES, min_size=2, max_size=2))
def test_no_function_raises(values: list[Constant]) -> None:
    for name, function in FUNCTIONS.items():
        apply(name, values[: function.arity[0]])
    for name in "+-*/":
        apply(name, values)


@given(st.lists(st.fractions(), min_size=1))
def test_aggregates_of_numbers(numbers: list[Fraction]) -> None:
    rows = [(number, Symbol(f"e{at}")) for at, number in enumerate(numbers)]
    assert aggregate(AggregateFunction.COUNT, rows) == len(numbers)
    assert aggregate(AggregateFunction.SUM, rows) == sum(numbers)
    assert aggregate(AggregateFunction.MIN, rows) == min(numbers)
    assert aggregate(AggregateFunction.MAX, rows) == max(numbers)


def test_aggregates_of_nothing() -> None:
    assert aggregate(AggregateFunction.COUNT, []) == 0
    assert aggregate(AggregateFunction.SUM, []) == 0
    assert aggregate(AggregateFunction.MIN, []) == SUPREMUM
    assert aggregate(AggregateFunction.MAX, []) == INFIMUM


def test_a_sum_over_two_currencies_is_undetermined() -> None:
    rows = [(_value('@quantity("1 EUR")'),), (_value('@quantity("1 USD")'),)]
    assert isinstance(aggregate(AggregateFunction.SUM, rows), Undetermined)
