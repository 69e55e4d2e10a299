"""Ranges over ordered values: bisection and blocks against comparing every value."""

from __future__ import annotations

import datetime
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kb.constraint import OPERATORS, Constraint, Range, range_of, within
from kb.errors import ValueUnreadable
from kb.quantity import Comparable, Date, Quantity, Truth, parse_date, parse_quantity
from kb.ranges import BLOCK, OrderedValues
from kb.statement import Entity

numbers = st.fractions(-5, 5, max_denominator=4)
quantities = st.builds(Quantity, numbers, st.sampled_from(["kg", "g", "EUR", "m"]))
days = st.dates(datetime.date(1999, 12, 28), datetime.date(2000, 1, 8))
dates = st.one_of(
    st.builds(lambda a, b: Date(min(a, b), max(a, b)), days, days),
    days.map(lambda day: Date(day, day)),
    st.sampled_from(["1999", "2000", "2000-01"]).map(parse_date),
)
comparables = st.one_of(numbers, quantities, dates)
tests = st.tuples(st.sampled_from(OPERATORS), comparables)


def _found(ordered: OrderedValues, wanted: Range) -> list[Comparable]:
    run = ordered.certain(wanted)
    inside = [value for place in run.blocks for value in ordered.block(*place)]
    return [*run.values, *inside]


@example({parse_quantity("7 kg"), parse_quantity("5000 g")}, [("=", parse_quantity("5 kg"))])
@given(st.sets(comparables, max_size=20), st.lists(tests, min_size=1, max_size=3))
def test_what_is_found_is_what_passes_every_test(
    values: set[Comparable], asked: list[tuple[str, Comparable]]
) -> None:
    wanted = Range("d", tuple(asked))
    found = _found(OrderedValues(values), wanted)
    assert len(found) == len(set(found))
    assert set(found) == {value for value in values if wanted.truth(value) is Truth.TRUE}
    possible = OrderedValues(values).possible(wanted)
    assert set(possible) == {v for v in values if wanted.truth(v) is not Truth.FALSE}


@given(st.integers(-10, 900), st.integers(-10, 900), st.sampled_from([("<", ">"), ("<=", ">=")]))
def test_blocks_hold_what_lies_between(low: int, high: int, operators: tuple[str, str]) -> None:
    values = [Fraction(n, 2) for n in range(5 * BLOCK)]
    wanted = Range("d", ((operators[1], Fraction(low, 3)), (operators[0], Fraction(high, 3))))
    found = _found(OrderedValues(values), wanted)
    assert sorted(found) == [v for v in values if wanted.truth(v) is Truth.TRUE]  # type: ignore[type-var]


@given(
    st.lists(tests, min_size=1, max_size=2), st.lists(tests, min_size=1, max_size=2), comparables
)
def test_ranges_that_exclude_each_other_share_no_value(
    left: list[tuple[str, Comparable]], right: list[tuple[str, Comparable]], value: Comparable
) -> None:
    one, other = Range("d", tuple(left)), Range("d", tuple(right))
    if one.excludes(other):
        assert not (one.truth(value) is Truth.TRUE and other.truth(value) is Truth.TRUE)


def test_a_date_lies_within_another_and_a_quantity_equals_itself_in_any_unit() -> None:
    year = range_of(Constraint("d", parse_date("1990")))
    assert year is not None
    assert year.truth(parse_date("1990-05")) is Truth.TRUE
    assert year.truth(parse_date("1989-12/1990-01")) is Truth.UNDETERMINED
    assert year.truth(parse_date("1991")) is Truth.FALSE
    mass = range_of(Constraint("d", parse_quantity("2 kg")))
    assert mass is not None
    assert mass.truth(parse_quantity("2000 g")) is Truth.TRUE
    assert mass.truth(parse_quantity("2000 EUR")) is Truth.UNDETERMINED
    decade = within(parse_date("1980"), parse_date("1989"), dimension="d")
    assert decade.truth(parse_date("1989-12-31")) is Truth.TRUE
    assert range_of(Constraint("d", Entity("x"))) is None


def test_a_range_is_bounded_by_known_operators() -> None:
    for tests_ in ((), (("!=", Fraction(1)),)):
        with pytest.raises(ValueUnreadable):
            Range("d", tests_)
