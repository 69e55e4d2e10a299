"""An amount that can be read in two ways is decided by its document or refused, never guessed."""

from __future__ import annotations

import pytest

from extract.extractor import Extraction
from extract.ingest import ingest_document
from extract.pack import Pack
from kb.document import decode

SENTENCE = "Nordwind Logistik GmbH has a liability cover of EUR 5.000."


def read(pack: Pack, text: str, name: str = "a.txt") -> Extraction:
    return ingest_document([], [pack], decode(text.encode(), name=name))


def covers(extraction: Extraction) -> list[str]:
    return [str(s.value) for s, _ in extraction.grounded if s.dimension == "liability_cover"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (SENTENCE, "a.txt"),
        ("Company: Nordwind Logistik GmbH\nLiability cover: EUR 5.000\n", "a.txt"),
        ("company,liability cover\nNordwind Logistik GmbH,EUR 5.000\n", "a.csv"),
    ],
)
def test_nothing_is_invented_and_the_refusal_says_why(supplier: Pack, text: str, name: str) -> None:
    extraction = read(supplier, text, name)
    assert covers(extraction) == []
    (refused,) = [r for r in extraction.rejected if "may be 5000 or 5" in r.reason]
    assert "liability_cover" in refused.reason
    assert "5.000" in refused.text


def test_other_numbers_of_the_document_decide(supplier: Pack) -> None:
    text = SENTENCE + "\n\nThe premium was {} last year."
    assert covers(read(supplier, text.format("EUR 1.250,50"))) == ["5000 EUR"]
    assert covers(read(supplier, text.format("EUR 1,250.50"))) == ["5 EUR"]
    assert covers(read(supplier, text.format("EUR 1,250.50, not EUR 1.250,50,"))) == []


def test_the_language_of_the_document_decides(supplier: Pack) -> None:
    german = "Die Deckung wird von der Versicherung mit dem Vertrag für das Jahr zugesagt."
    assert covers(read(supplier, f"{SENTENCE}\n\n{german} {german}")) == ["5000 EUR"]


def test_numbers_without_a_unit_of_their_own_decide_too(supplier: Pack) -> None:
    table = "company;liability cover (EUR)\nNordwind GmbH;5.000\nOstwind GmbH;{}\n"
    assert covers(read(supplier, table.format("1.250,50"), "a.csv")) == ["5000 EUR", "1250.5 EUR"]
    assert covers(read(supplier, table.format("1,250.50"), "a.csv")) == ["5 EUR", "1250.5 EUR"]
    assert covers(read(supplier, table.format("900"), "a.csv")) == ["900 EUR"]
