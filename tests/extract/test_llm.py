"""A language model only proposes; its replies are recorded and replayed byte for byte."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from extract.errors import ReplyRejected
from extract.extractor import Extraction, extract
from extract.ingest import PatternExtractor, ingest_document
from extract.llm import LanguageModelExtractor, Windows
from extract.model_client import ModelRequest, RecordingClient, ReplayClient
from extract.pack import Pack
from extract.pack_tests import example_document
from kb.statement import Modality, Polarity, value_to_json

TEXT = "Elm Ltd is incorporated in Ireland. It has cover of EUR 5 million. Issued by Oak AG."


def entry(**changes: str) -> dict[str, str]:
    return {
        "subject": "Elm Ltd",
        "dimension": "registered_country",
        "value": "Ireland",
        "quote": "Elm Ltd is incorporated in Ireland.",
        "polarity": "affirmed",
        "modality": "asserted",
    } | changes


class Scripted:
    """Gives one reply to every request and counts the requests."""

    def __init__(self, reply: bytes) -> None:
        self.bytes = reply
        self.requests: list[ModelRequest] = []

    def reply(self, request: ModelRequest) -> bytes:
        self.requests.append(request)
        return self.bytes


def statements_json(*entries: dict[str, str]) -> bytes:
    return json.dumps({"statements": list(entries)}).encode()


def run(pack: Pack, reply: bytes) -> Extraction:
    extractor = LanguageModelExtractor(Scripted(reply), model="m", packs=[pack])
    return extract(example_document(TEXT), [extractor])


def test_grounded_proposals_are_admitted(supplier: Pack) -> None:
    reply = statements_json(
        entry(),
        entry(
            subject="this document", dimension="issuer", value="Oak AG", quote="Issued by Oak AG."
        ),
        entry(
            dimension="liability_cover", value="EUR 5 million", polarity="denied",
            quote="It has cover of EUR 5 million.", modality="hedged",
        ),
    )  # fmt: skip
    grounded = run(supplier, reply).grounded
    assert [(s.dimension, value_to_json(s.value)["value"]) for s, _ in grounded] == [
        ("registered_country", "Ireland"),
        ("liability_cover", "5000000 EUR"),
        ("issuer", "Oak AG"),
    ]
    assert grounded[1][0].polarity is Polarity.DENIED
    assert grounded[1][0].modality is Modality.HEDGED
    assert grounded[2][0].subject.startswith("doc:")
    assert all(evidence.extractor.startswith("llm/1 m prompt@") for _, evidence in grounded)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"quote": "Elm Ltd is established in Ireland."}, "does not stand in the source"),
        ({"quote": "E"}, "more than once"),
        ({"value": "France"}, "does not stand in the quote"),
        ({"value": "Irland"}, "nearest is 'ireland'"),
        ({"subject": "Ash Ltd"}, "the subject 'Ash Ltd' does not stand"),
        ({"dimension": "registered_contry"}, "nearest is 'registered_country'"),
    ],
)
def test_what_the_source_does_not_say_is_rejected(
    supplier: Pack, changes: dict[str, str], reason: str
) -> None:
    extraction = run(supplier, statements_json(entry(**changes)))
    assert extraction.grounded == ()
    (rejection,) = extraction.rejected
    assert reason in rejection.reason


@pytest.mark.parametrize(
    "reply",
    [
        b"Sure! Here you are.",
        b"[]",
        b'{"statements": {}}',
        b'{"statements": [{"subject": "Elm Ltd"}]}',
        statements_json(entry(polarity="maybe")),
    ],
)
def test_a_reply_that_breaks_the_schema_is_an_error(supplier: Pack, reply: bytes) -> None:
    with pytest.raises(ReplyRejected):
        run(supplier, reply)


def test_replies_are_recorded_once_and_replayed_byte_for_byte(
    supplier: Pack, tmp_path: Path
) -> None:
    scripted = Scripted(b' {"statements" : [' + json.dumps(entry()).encode() + b"]}\n")
    document = example_document(TEXT)
    recording = RecordingClient(scripted, tmp_path)
    first = extract(document, [LanguageModelExtractor(recording, model="m", packs=[supplier])])
    again = extract(document, [LanguageModelExtractor(recording, model="m", packs=[supplier])])
    replay = ReplayClient(tmp_path)
    replayed = extract(document, [LanguageModelExtractor(replay, model="m", packs=[supplier])])
    assert first == again == replayed
    assert len(scripted.requests) == 1
    assert replay.reply(scripted.requests[0]) == scripted.bytes
    with pytest.raises(ReplyRejected, match="is recorded"):
        extract(
            example_document("Other text."),
            [LanguageModelExtractor(replay, model="m", packs=[supplier])],
        )


@pytest.mark.parametrize("length", [1, 99, 100, 101, 250, 1000])
def test_windows_cover_the_text_and_overlap(length: int) -> None:
    spans = Windows(size=100, overlap=20).over(length)
    assert spans[0][0] == 0
    assert spans[-1][1] == length
    for (_, end), (start, _) in itertools.pairwise(spans):
        assert start == end - 20


def test_a_model_stands_beside_the_patterns(supplier: Pack) -> None:
    document = example_document(TEXT)
    extractor = LanguageModelExtractor(
        Scripted(statements_json(entry())), model="m", packs=[supplier]
    )
    both = ingest_document((), [supplier], document, others=[extractor])
    alone = extract(document, [PatternExtractor([supplier])])
    ids = {statement.id for statement, _ in alone.grounded}
    assert ids <= {statement.id for statement, _ in both.grounded}
