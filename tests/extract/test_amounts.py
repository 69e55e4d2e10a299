"""Amounts are read exactly, in the forms people write."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.amounts import find_amounts, find_notation, read_amount, read_numeral
from extract.notation import ENGLISH, GERMAN, UNDECIDED
from kb.errors import ValueUnreadable


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("EUR 5 million", "5000000 EUR"),
        ("€5,000,000.00", "5000000 EUR"),
        ("€ 8.5 million", "8500000 EUR"),
        ("5 Mio. EUR", "5000000 EUR"),
        ("5.000.000,00 €", "5000000 EUR"),
        ("EUR5m", "5000000 EUR"),
        ("five million euros", "5000000 EUR"),
        ("2 000 000 euros", "2000000 EUR"),
        ("CHF 5'000'000", "5000000 CHF"),
        ("US$ 2.5bn", "2500000000 USD"),
        ("£1.50", "1.5 GBP"),
        ("12 kg", "12 kg"),
        ("1.234 kg", "1.234 kg"),
        ("15%", "15 percent"),
        ("24 months", "24 month"),
        ("12 m", "12 m"),
        ("12.5m", "12.5 m"),
        ("EUR 12 m", "12000000 EUR"),
    ],
)
def test_forms_of_amounts(written: str, read: str) -> None:
    assert str(read_amount(written)) == read


@pytest.mark.parametrize(
    "written", ["5 million", "EUR", "many euros", "5 EUR or 6 EUR", "EUR 1,2,3"]
)
def test_what_is_no_single_amount_is_unreadable(written: str) -> None:
    with pytest.raises(ValueUnreadable):
        read_amount(written)


MONEY, MEASURE = "EUR 5.000", "5,000 kg"


@pytest.mark.parametrize(
    ("rest", "money", "measure"),
    [
        ("The cover is as stated.", None, "5000 kg"),
        ("Die Deckung ist mit der Police vereinbart.", "5000 EUR", "5 kg"),
        ("The fee is EUR 1,250.50.", "5 EUR", "5000 kg"),
        ("The fee is EUR 1.250,50.", "5000 EUR", "5 kg"),
        ("The fee is EUR 12,5.", "5000 EUR", "5 kg"),
        ("The fee is EUR 1.250.000.", "5000 EUR", "5 kg"),
        ("The fee is EUR 1.250,50 or GBP 1,250.50.", None, None),
        ("Section 4.2 of 03.05.2026 is the rule.", None, "5000 kg"),
    ],
)
def test_the_document_decides_what_a_mark_before_three_digits_is(
    rest: str, money: str | None, measure: str | None
) -> None:
    for written, expected in ((MONEY, money), (MEASURE, measure)):
        notation = find_notation(f"It is {written}. {rest}")
        if expected is None:
            with pytest.raises(ValueUnreadable, match="may be 5000 or 5"):
                read_amount(written, notation=notation)
        else:
            assert str(read_amount(written, notation=notation)) == expected


def test_what_can_be_read_in_one_way_needs_no_document() -> None:
    for written, expected in (
        ("0.125 kg", "0.125 kg"),
        ("0,125 kg", "0.125 kg"),
        ("1234.567 kg", "1234.567 kg"),
        ("EUR 5.000 million", None),
    ):
        for notation in (ENGLISH, GERMAN, UNDECIDED):
            if expected is not None:
                assert str(read_amount(written, notation=notation)) == expected
    with pytest.raises(ValueUnreadable):
        read_amount("EUR 5.000 million", notation=UNDECIDED)


@given(st.integers(min_value=0, max_value=10**12), st.integers(min_value=0, max_value=99))
def test_grouping_and_decimals_of_both_customs_agree(units: int, cents: int) -> None:
    english = f"{units:,}.{cents:02d}"
    german = english.replace(",", " ").replace(".", ",").replace(" ", ".")
    exact = Fraction(units * 100 + cents, 100)
    assert read_amount(f"EUR {english}").magnitude == exact
    assert read_amount(f"{german} EUR").magnitude == exact


@given(st.integers(min_value=0, max_value=10**15))
def test_a_grouped_number_is_its_digits(number: int) -> None:
    for mark in (",", "'", " ", "\u202f"):
        assert read_numeral(f"{number:,}".replace(",", mark)) == number


def test_amounts_are_found_inside_sentences() -> None:
    text = "insured up to EUR 6,000,000 per claim and USD 1.5m in total, item 7"
    assert [str(found.amount) for found in find_amounts(text)] == ["6000000 EUR", "1500000 USD"]
