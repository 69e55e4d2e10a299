"""Sentences and names hold where the tagger alone would go astray."""

from __future__ import annotations

from functools import lru_cache

import pytest
from spacy.language import Language

from extract.pipeline import DEFAULT_MODEL, load_model


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


@pytest.mark.parametrize("number", [5, 16, 97, 100])
def test_a_number_stays_with_its_name(number: int) -> None:
    doc = pipeline()(
        f"Hall {number} was inspected on 28 April 2025. Hall {number} has a sprinkler system."
    )
    assert [name.text for name in doc.user_data["names"]] == [f"Hall {number}"] * 2
