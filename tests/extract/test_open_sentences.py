"""Sentences that leave open what they name, and amounts that are no amounts, are no plain facts."""

from __future__ import annotations

import pytest

from extract.ingest import ingest_document
from extract.pack import Pack
from kb.document import decode
from kb.statement import Modality, Polarity, Statement, value_to_json


def read(pack: Pack, sentence: str) -> list[Statement]:
    """Read one sentence of a certificate."""
    text = f"Document: Certificate\nIssued by: Veritor AG\nDate: 2 January 2026\n\n{sentence}\n"
    found = ingest_document((), [pack], decode(text.encode(), name="note.txt"))
    return [statement for statement, _ in found.grounded]


@pytest.mark.parametrize(
    "sentence",
    [
        "Rumour has it that Birke Chemie AG is certified under ISO 9001.",
        "Granit AG is hardly certified under ISO 9001.",
        "Before Igel GmbH is certified under ISO 9001, it must pay the fee.",
        "Tau Optik AG is certified under ISO 9001 pending final review.",
        "Tau Optik AG is certified under ISO 9001 unless the review fails.",
        "Chi Optik AG is registered in Germany or Austria.",
        "Xenon AG is insured for liability of EUR 3,000,000 to EUR 8,000,000 by Rhein AG.",
        "Ural AG is insured for liability up to EUR 5,00,000 by Rhein AG.",
    ],
)
def test_what_is_left_open_is_not_asserted(supplier: Pack, sentence: str) -> None:
    wanted = ("certified_under", "registered_country", "liability_cover")
    asserted = [
        statement
        for statement in read(supplier, sentence)
        if statement.dimension in wanted and statement.modality is Modality.ASSERTED
    ]
    assert asserted == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Before the merger, Elm Holz AG was certified under ISO 9001.",
        "Elm Holz AG is certified under ISO 9001.",
        "Elm Holz AG is not only certified under ISO 14001 but also certified under ISO 9001.",
        "Elm Holz AG is not certified under ISO 14001 but certified under ISO 9001.",
    ],
)
def test_what_stands_beside_such_words_is_asserted(supplier: Pack, sentence: str) -> None:
    found = {
        (value_to_json(statement.value)["value"], statement.polarity)
        for statement in read(supplier, sentence)
        if statement.dimension == "certified_under" and statement.modality is Modality.ASSERTED
    }
    assert ("ISO 9001", Polarity.AFFIRMED) in found


def test_a_denial_reaches_no_further_than_but(supplier: Pack) -> None:
    sentence = "Pegasus AG is not certified under ISO 9001 but certified under ISO 14001."
    found = {
        value_to_json(statement.value)["value"]: statement.polarity
        for statement in read(supplier, sentence)
        if statement.dimension == "certified_under"
    }
    assert found == {"ISO 9001": Polarity.DENIED, "ISO 14001": Polarity.AFFIRMED}
