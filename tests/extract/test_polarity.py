"""Denials, doubts, plans and reports are told from facts."""

from __future__ import annotations

import pytest

from extract.polarity import (
    denied_value,
    says_nothing,
    sentence_modality,
    sentence_polarity,
    value_modality,
)
from kb.statement import Modality, Polarity


def span(sentence: str, words: str) -> tuple[int, int]:
    start = sentence.index(words)
    return start, start + len(words)


@pytest.mark.parametrize(
    ("sentence", "polarity"),
    [
        ("Elm Ltd is certified under ISO 9001.", Polarity.AFFIRMED),
        ("Elm Ltd is not certified under ISO 9001.", Polarity.DENIED),
        ("Elm Ltd is no longer certified under ISO 9001.", Polarity.DENIED),
        ("Elm Ltd was never certified under ISO 9001.", Polarity.DENIED),
        ("Elm Ltd isn't certified under ISO 9001.", Polarity.DENIED),
        ("Elm Ltd holds no paper but is certified under ISO 9001.", Polarity.AFFIRMED),
        ("Elm Ltd is not only certified under ISO 9001.", Polarity.AFFIRMED),
        (
            "Elm Ltd, not to be confused with Elk Ltd, is certified under ISO 9001.",
            Polarity.AFFIRMED,
        ),
        ("Elm Ltd is certified under ISO 9001, but it is not insured.", Polarity.AFFIRMED),
    ],
)
def test_denial_reaches_as_far_as_its_clause(sentence: str, polarity: Polarity) -> None:
    assert sentence_polarity(sentence, *span(sentence, "certified under ISO 9001")) is polarity


@pytest.mark.parametrize(
    ("sentence", "modality"),
    [
        ("Elm Ltd is certified under ISO 9001.", Modality.ASSERTED),
        ("In May 2024 Elm Ltd was certified under ISO 9001.", Modality.ASSERTED),
        ("May Limited is certified under ISO 9001.", Modality.ASSERTED),
        ("Elm Ltd may be certified under ISO 9001.", Modality.HEDGED),
        ("Possibly Elm Ltd is certified under ISO 9001.", Modality.HEDGED),
        ("If Elm Ltd is certified under ISO 9001, call us.", Modality.HEDGED),
        ("Is Elm Ltd certified under ISO 9001?", Modality.HEDGED),
        ("Elm Ltd will be certified under ISO 9001.", Modality.PLANNED),
        ("Elm Ltd plans to be certified under ISO 9001.", Modality.PLANNED),
        ("According to its agent, Elm Ltd is certified under ISO 9001.", Modality.ATTRIBUTED),
        ("A newspaper claims that Elm Ltd is certified under ISO 9001.", Modality.ATTRIBUTED),
        ("Elm Ltd is said to be certified under ISO 9001.", Modality.ATTRIBUTED),
    ],
)
def test_modality_of_sentences(sentence: str, modality: Modality) -> None:
    assert sentence_modality(sentence, *span(sentence, "certified under ISO 9001")) is modality


def test_values_of_lines_may_be_open_denied_or_doubtful() -> None:
    assert [says_nothing(v) for v in ("n/a", "-", "", "not assessed", "Good")] == [
        True, True, True, True, False,
    ]  # fmt: skip
    assert denied_value("not ISO 9001") == "ISO 9001"
    assert denied_value("Notting Hill") is None
    assert value_modality("approx. EUR 5 million") is Modality.HEDGED
    assert value_modality("EUR 5 million (planned)") is Modality.PLANNED
    assert value_modality("EUR 5 million") is Modality.ASSERTED
