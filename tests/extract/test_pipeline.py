"""Sentences and names hold where the tagger alone would go astray."""

from __future__ import annotations

from functools import lru_cache

import pytest
from spacy.language import Language

from extract.ingest import ingest_document
from extract.pack import Pack
from extract.pipeline import DEFAULT_MODEL, load_model
from kb.document import decode
from kb.quantity import parse_date


@lru_cache(maxsize=1)
def pipeline() -> Language:
    """The pipeline with its default model."""
    return load_model(DEFAULT_MODEL)


@pytest.mark.parametrize("label", ["Colour: blue", "Permit number: 2024/117", "Note"])
def test_no_sentence_begins_behind_a_word(label: str) -> None:
    doc = pipeline()(f"{label}\nHarbour Mill is approved for residential use.")
    assert [sentence.text.strip() for sentence in doc.sents] == [
        label,
        "Harbour Mill is approved for residential use.",
    ]


@pytest.mark.parametrize("number", [5, 16, 97, 100, 999, 1000, 1950, 2026, 2999])
def test_a_number_stays_with_its_name(number: int) -> None:
    doc = pipeline()(
        f"Hall {number} was inspected on 28 April 2025. Hall {number} has a sprinkler system."
    )
    assert [name.text for name in doc.user_data["names"]] == [f"Hall {number}"] * 2


@pytest.mark.parametrize(
    "text",
    [
        "In 1950 the hall was built.",
        "Summer 1950 was hot.",
        "It opened in May 1950 and closed in 1960.",
        "Born 1950, she lives in Ulm.",
        "Since 2010 Ann Lee has lived there, from about 2012 alone.",
        "The film (Paris, 1950) is lost.",
    ],
)
def test_a_year_is_no_number_of_a_name(text: str) -> None:
    doc = pipeline()(text)
    assert doc.user_data["dates"]
    assert not any(
        character.isdigit() for name in doc.user_data["names"] for character in name.text
    )


def test_a_statement_about_a_numbered_name_is_read(wiki: Pack) -> None:
    for number in (999, 1000, 1950, 2999, 3000):
        text = f"Hall {number} was founded on 3 May 1926. The company was founded in 1930."
        document = decode(text.encode(), name="a.txt")
        stated = [each for each, _ in ingest_document([], [wiki], document).grounded]
        assert (f"Hall {number}", "inception", parse_date("1926-05-03")) in [
            (each.subject, each.dimension, each.value) for each in stated
        ]
