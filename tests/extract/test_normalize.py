"""Dates keep the precision of their source; mending keeps every offset."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.normalize import end_certain, find_dates, first_day_certain, mend, read_date
from kb.errors import ValueUnreadable
from kb.quantity import parse_date


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("31 January 2026", "2026-01-31"),
        ("31st of January, 2026", "2026-01-31"),
        ("the 3rd day of May 2025", "2025-05-03"),
        ("January 31, 2026", "2026-01-31"),
        ("Jan. 5th, 2026", "2026-01-05"),
        ("12. März 2026", "2026-03-12"),
        ("31.01.2026", "2026-01-31"),
        ("3-Apr-2020", "2020-04-03"),
        ("2026-01-31", "2026-01-31"),
        ("January 2026", "2026-01"),
        ("2026", "2026"),
        ("13/04/1952", "1952-04-13"),
        ("04/13/1952", "1952-04-13"),
        ("03/04/1952", "1952"),
        ("05/05/1952", "1952-05-05"),
        ("17 or 19 December 844", "0844-12-17/0844-12-19"),
        ("March 27, 1969 or 1970", "1969-03-27/1970-03-27"),
        ("1549/1550", "1549-01-01/1550-12-31"),
        ("between 995 and 997", "0995-01-01/0997-12-31"),
        ("Q3 2025", "2025-07-01/2025-09-30"),
        ("1950s", "1950-01-01/1959-12-31"),
    ],
)
def test_a_date_keeps_the_precision_of_its_source(written: str, read: str) -> None:
    assert str(read_date(written)) == read


@pytest.mark.parametrize("written", ["31/02/2021", "30 February 2026", "soon", "12", "1923 BC"])
def test_what_is_no_date_is_unreadable(written: str) -> None:
    with pytest.raises(ValueUnreadable):
        read_date(written)


FORMS = ["%d %B %Y", "%B %d, %Y", "%Y-%m-%d", "%d.%m.%Y", "%d %b %Y", "%d. %B %Y"]


@given(
    st.dates(min_value=datetime.date(1000, 1, 1), max_value=datetime.date(2999, 12, 31)),
    st.sampled_from(FORMS),
)
def test_an_exact_day_is_read_from_every_form(day: datetime.date, form: str) -> None:
    date = read_date(day.strftime(form))
    assert (date.first, date.last) == (day, day)


@given(st.dates(min_value=datetime.date(1000, 1, 1), max_value=datetime.date(2999, 12, 31)))
def test_an_ambiguous_date_contains_both_readings(day: datetime.date) -> None:
    date = read_date(day.strftime("%d/%m/%Y"))
    assert date.first <= day <= date.last
    assert date.first.year == date.last.year == day.year


def test_dates_are_found_in_order_and_no_era_before_christ() -> None:
    text = "From 3 May 1920 to June 1921; founded in 44 BC, 753 BC and 1999 BC."
    assert [str(found.date) for found in find_dates(text)] == ["1920-05-03", "1921-06"]
    assert [text[found.start : found.end] for found in find_dates(text)][1] == "June 1921"


def test_only_certain_days_lie_inside_vague_bounds() -> None:
    assert first_day_certain(parse_date("2026-03")) == datetime.date(2026, 3, 31)
    assert end_certain(parse_date("2026-03")) == datetime.date(2026, 3, 1)
    assert end_certain(parse_date("2026-03-31")) == datetime.date(2026, 4, 1)


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("Teo( died 11 May 875) was", "Teo (died 11 May 875) was"),
        ("Ais- de- Mer", "Ais-de-Mer"),
        ('the film" Dusk"( 1981).', 'the film "Dusk" (1981).'),
        ('" Dusk" is a song', '"Dusk" is a song'),
        ("a  line\nand another", "a line and another"),
        ("child ’s play", "child’s play"),
    ],
)
def test_traces_of_typesetting_are_mended(source: str, read: str) -> None:
    assert mend(source).text == read


@given(st.text(alphabet='ab "(-\n’s.é', max_size=40))
def test_every_character_read_stands_in_the_source(source: str) -> None:
    mended = mend(source, start=7)
    assert len(mended.text) == len(mended.offsets)
    for character, offset in zip(mended.text, mended.offsets, strict=True):
        original = source[offset - 7]
        assert character == original or (character == " " and original.isspace())
