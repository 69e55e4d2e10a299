"""The supplier pack reads the example and any other world of the same form."""

from __future__ import annotations

from collections import Counter

import pytest
from supplier_world import World, original_world, renamed_world

from extract.extractor import Extraction
from extract.ingest import ingest_document
from extract.pack import Pack
from extract.pack_tests import run_pack_tests
from kb.document import decode
from kb.statement import Modality, Polarity, Statement, value_to_json


def read(world: World, pack: Pack) -> dict[str, Extraction]:
    return {
        name: ingest_document((), [pack], decode(data, name=name)) for name, data in world.documents
    }


def statements(world: World, pack: Pack) -> list[Statement]:
    return [
        statement
        for extraction in read(world, pack).values()
        for statement, _ in extraction.grounded
    ]


def test_examples_of_the_pack_hold(supplier: Pack) -> None:
    report = run_pack_tests(supplier)
    assert [str(failure) for failure in report.failures] == []
    assert report.untested == ()
    assert report.examples > 50


def test_every_quote_stands_at_its_span(supplier: Pack) -> None:
    for name, data in original_world().documents:
        document = decode(data, name=name)
        extraction = ingest_document((), [supplier], document)
        assert extraction.grounded, name
        for statement, evidence in extraction.grounded:
            assert document.text[evidence.start : evidence.end] == evidence.quote
            assert evidence.statement_id == statement.id
        assert extraction.rejected == ()


def test_traps_of_the_example(supplier: Pack) -> None:
    found = statements(original_world(), supplier)
    certified = {
        (s.subject, value_to_json(s.value)["value"], s.polarity, s.modality)
        for s in found
        if s.dimension == "certified_under"
    }
    assert (
        "Kestrel Freight Ltd", "ISO 9001", Polarity.DENIED, Modality.ASSERTED
    ) in certified  # fmt: skip
    assert {
        modality for subject, value, _, modality in certified if value in ("ISO 45001", "ISO 27001")
    } == {Modality.ATTRIBUTED, Modality.HEDGED}
    assert not any(
        s.subject == "Ostwind Spedition GmbH" and s.dimension == "account_verified_on"
        for s in found
    )
    cover = {
        s.subject: (value_to_json(s.value)["value"], s.validity.start, s.validity.end)
        for s in found
        if s.dimension == "liability_cover"
    }
    assert cover["Tagus Carriers Lda"][0] == "8000000 USD"
    assert [str(day) for day in cover["Alpenglas Handels AG"][1:]] == ["2025-01-01", "2026-01-01"]
    assert any(s.dimension == "same_as" for s in found)


@pytest.mark.parametrize("seed", range(6))
def test_a_renamed_world_gives_as_much(supplier: Pack, seed: int) -> None:
    world = renamed_world(seed)
    shape = Counter(
        (world.name(s.subject), s.dimension, s.polarity, s.modality)
        for s in statements(original_world(), supplier)
        if not s.subject.startswith("doc:")
    )
    other = Counter(
        (s.subject, s.dimension, s.polarity, s.modality)
        for s in statements(world, supplier)
        if not s.subject.startswith("doc:")
    )
    assert other == shape


def test_reading_twice_gives_the_same(supplier: Pack) -> None:
    assert read(original_world(), supplier) == read(original_world(), supplier)
