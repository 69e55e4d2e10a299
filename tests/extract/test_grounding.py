"""No quote, no fact."""

from __future__ import annotations

import dataclasses

import pytest

from extract.candidate import Candidate, Rejection
from extract.extractor import admit
from extract.grounding import ground, locate
from extract.pack_tests import example_document
from kb.statement import Entity, Validity

DOCUMENT = example_document("Elm Ltd is registered in Ireland. Oak Ltd is registered in Spain.")
QUOTE = "Elm Ltd is registered in Ireland."
CANDIDATE = Candidate(
    "Elm Ltd", "country", Entity("Ireland"), "Ireland", QUOTE, 0, len(QUOTE), "test/1"
)


def test_a_verbatim_quote_is_admitted_with_its_span() -> None:
    outcome = ground(CANDIDATE, DOCUMENT)
    assert not isinstance(outcome, Rejection)
    statement, evidence = outcome
    assert evidence.statement_id == statement.id
    assert (evidence.start, evidence.end, evidence.quote) == (0, len(QUOTE), QUOTE)
    assert evidence.text_sha256 == DOCUMENT.text_sha256
    assert evidence.extractor == "test/1"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"quote": QUOTE.replace("Ireland", "France"), "written": "France"}, "does not stand at"),
        ({"start": 1, "end": len(QUOTE) + 1}, "does not stand at"),
        ({"start": 500, "end": 600}, "lies outside the text"),
        ({"quote": " ", "start": 7, "end": 8}, "the quote is empty"),
        ({"written": "Spain"}, "does not stand in the quote"),
        ({"written": ""}, "does not stand in the quote"),
        ({"subject": " "}, "the subject is empty"),
    ],
)
def test_rejections_keep_their_reason(changes: dict[str, object], reason: str) -> None:
    outcome = ground(dataclasses.replace(CANDIDATE, **changes), DOCUMENT)  # type: ignore[arg-type]
    assert isinstance(outcome, Rejection)
    assert reason in outcome.reason


def test_a_quote_without_a_span_must_stand_once() -> None:
    whole = (0, len(DOCUMENT.text))
    assert locate(QUOTE, DOCUMENT, start=whole[0], end=whole[1]) == (0, len(QUOTE))
    twice = locate("is registered in", DOCUMENT, start=whole[0], end=whole[1])
    assert isinstance(twice, Rejection)
    assert "more than once" in twice.reason
    missing = locate("Ash Ltd", DOCUMENT, start=whole[0], end=whole[1])
    assert isinstance(missing, Rejection)
    assert "does not stand" in missing.reason
    assert isinstance(locate(QUOTE, DOCUMENT, start=5, end=whole[1]), Rejection)


def test_the_same_statement_with_the_same_span_is_kept_once() -> None:
    other = dataclasses.replace(CANDIDATE, extractor="test/2")
    bounded = dataclasses.replace(CANDIDATE, validity=Validity(None, None))
    extraction = admit([CANDIDATE, other, bounded], DOCUMENT)
    assert [evidence.extractor for _, evidence in extraction.grounded] == ["test/1"]
    assert extraction.rejected == ()
