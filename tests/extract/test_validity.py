"""Intervals of validity are half-open and never longer than the source says."""

from __future__ import annotations

import pytest

from extract.validity import find_validity
from kb.statement import ALWAYS


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Valid from 1 January 2026 to 31 December 2026", "2026-01-01", "2027-01-01"),
        ("in force from 1 May 2025 until 30 April 2028", "2025-05-01", "2028-05-01"),
        ("is insured from January 5, 2026 through March 4, 2026.", "2026-01-05", "2026-03-05"),
        ("The policy expires on 30 June 2027.", None, "2027-07-01"),
        ("valid until 30.06.2027", None, "2027-07-01"),
        ("registered since 3 March 1998", "1998-03-03", None),
        ("valid until June 2027", None, "2027-06-01"),
        ("from 2024 to 2026", "2024-12-31", "2026-01-01"),
    ],
)
def test_stated_intervals(text: str, start: str | None, end: str | None) -> None:
    validity = find_validity(text)
    assert (validity.start and validity.start.isoformat()) == start
    assert (validity.end and validity.end.isoformat()) == end


def test_a_life_is_no_validity_but_a_period_in_a_table_is() -> None:
    assert find_validity("Ann Lee (4 May 1890 – 7 June 1970) was a painter") == ALWAYS
    assert find_validity("4 May 1990 – 7 June 1999", bare=True) != ALWAYS


def test_an_impossible_interval_bounds_nothing() -> None:
    assert find_validity("from 1 May 2026 to 1 May 2025") == ALWAYS
