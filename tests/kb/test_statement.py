from __future__ import annotations

import datetime
import hashlib
from fractions import Fraction

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import StatementRejected
from kb.quantity import Date, Quantity
from kb.statement import (
    Entity,
    Evidence,
    Modality,
    Polarity,
    Statement,
    TaxonClass,
    Text,
    Validity,
    value_from_json,
    value_to_json,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
NAMES = TEXTS.filter(lambda name: bool(name.strip()))
DAYS = st.dates()
VALUES = st.one_of(
    st.builds(Entity, TEXTS),
    st.builds(TaxonClass, TEXTS),
    st.builds(Text, TEXTS),
    st.fractions(),
    st.builds(Quantity, st.fractions(), st.sampled_from(["EUR", "kg", "m²"])),
    DAYS.map(lambda day: Date(day, day)),
)
VALIDITIES = st.builds(
    lambda days: Validity(min(days), max(days)), st.sets(DAYS, min_size=2, max_size=2)
) | st.builds(Validity, st.none() | DAYS)
STATEMENTS = st.builds(
    Statement,
    NAMES,
    NAMES,
    VALUES,
    st.sampled_from(Polarity),
    st.sampled_from(Modality),
    VALIDITIES,
)


@given(STATEMENTS)
def test_the_id_is_the_digest_of_the_canonical_form(statement: Statement) -> None:
    form = rfc8785.dumps(statement.to_json())  # type: ignore[arg-type]  # texts, None, objects
    assert statement.id == f"st:{hashlib.sha256(form).hexdigest()[:32]}"


@given(VALUES)
def test_values_are_written_and_read_back(value: Fraction) -> None:
    assert value_from_json(value_to_json(value)) == value


def test_the_id_depends_on_everything_said() -> None:
    day = datetime.date(2026, 1, 1)
    said = [
        Statement("a", "d", Text("v")),
        Statement("b", "d", Text("v")),
        Statement("a", "e", Text("v")),
        Statement("a", "d", Text("w")),
        Statement("a", "d", Entity("v")),
        Statement("a", "d", TaxonClass("v")),
        Statement("a", "d", Text("v"), Polarity.DENIED),
        Statement("a", "d", Text("v"), modality=Modality.HEDGED),
        Statement("a", "d", Text("v"), validity=Validity(day)),
        Statement("a", "d", Text("v"), validity=Validity(None, day)),
    ]
    assert len({statement.id for statement in said}) == len(said)


def test_a_statement_has_a_subject_and_a_dimension() -> None:
    for subject, dimension in (("", "d"), (" ", "d"), ("a", "")):
        with pytest.raises(StatementRejected, match="one is empty"):
            Statement(subject, dimension, Text("v"))


@pytest.mark.parametrize(
    ("start", "end", "quote"), [(0, 0, ""), (-1, 1, "ab"), (2, 3, "ab"), (3, 2, "")]
)
def test_evidence_has_a_span_as_long_as_its_quote(start: int, end: int, quote: str) -> None:
    with pytest.raises(StatementRejected, match="code points"):
        Evidence("st:0", "0", "0", start, end, quote, "test/1")


def test_an_empty_validity_is_refused() -> None:
    day = datetime.date(2026, 1, 1)
    with pytest.raises(StatementRejected, match="end must follow start"):
        Validity(day, day)


def test_values_of_unknown_kind_are_refused() -> None:
    with pytest.raises(StatementRejected, match="'colour' is no kind of value"):
        value_from_json({"kind": "colour", "value": "red"})


@given(VALIDITIES, VALIDITIES, DAYS)
def test_validities_overlap_where_a_day_lies_in_both(
    left: Validity, right: Validity, day: datetime.date
) -> None:
    if left.holds_on(day) and right.holds_on(day):
        assert left.overlaps(right)
    assert left.overlaps(right) == right.overlaps(left)
    if left.overlaps(right):
        starts = [v.start for v in (left, right) if v.start is not None]
        common = max(starts, default=datetime.date.min)
        assert left.holds_on(common)
        assert right.holds_on(common)
