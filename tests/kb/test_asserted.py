"""What was asserted at a revision, and who is mentioned now."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from kb.document import Document, decode
from kb.knowledge_base import KnowledgeBase
from kb.statement import Entity, Evidence, Modality, Polarity, Statement

Grounded = tuple[Statement, Evidence]
NAME = "Nordwind Logistik GmbH"


def _as(pair: Grounded, **changes: object) -> Grounded:
    statement = replace(pair[0], **changes)  # type: ignore[arg-type]  # fields of a statement
    return statement, replace(pair[1], statement_id=statement.id)


def test_an_older_revision_keeps_what_it_knew(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, cover: Grounded, seat: Grounded
) -> None:
    base.admit(letter, letter_bytes, [cover], run="r")
    first = base.revision
    base.admit(letter, letter_bytes, [seat], run="r")
    second = base.revision
    base.retract_statement(cover[0].id)
    third = base.revision
    dimensions = {
        revision: [name for name, _ in base.at(revision).asserted().dimensions()]
        for revision in (first, second, third)
    }
    assert dimensions == {
        first: ["liability_cover"],
        second: ["liability_cover", "seat"],
        third: ["seat"],
    }
    old, new = base.at(second).asserted(), base.at(third).asserted()
    affirmed = Polarity.AFFIRMED
    assert list(old.statements("liability_cover", affirmed)) == [(cover[0].id, cover[0])]
    assert list(new.statements("liability_cover", affirmed)) == []
    assert list(base.at(first).asserted().statements("seat", affirmed)) == []
    assert list(new.provenance()) == [(seat[0].id, "seat", letter.source_sha256)]
    assert len(list(old.provenance())) == 2


def test_denials_are_apart_and_hedges_left_out(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, seat: Grounded
) -> None:
    denial = _as(seat, polarity=Polarity.DENIED)
    hedge = _as(seat, dimension="size", modality=Modality.HEDGED)
    base.admit(letter, letter_bytes, [seat, denial, hedge], run="r")
    asserted = base.asserted()
    assert asserted.dimensions() == (("seat", Polarity.AFFIRMED), ("seat", Polarity.DENIED))
    assert list(asserted.statements("seat", Polarity.DENIED)) == [(denial[0].id, denial[0])]
    assert list(asserted.statements("size", Polarity.AFFIRMED)) == []
    assert {row[1] for row in asserted.provenance()} == {"seat"}


def test_any_thread_may_read(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, seat: Grounded
) -> None:
    base.admit(letter, letter_bytes, [seat], run="r")
    asserted = base.asserted()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: asserted.dimensions(), range(8)))
    assert found == [(("seat", Polarity.AFFIRMED),)] * 8


def test_mentions_are_as_subject_or_entity_value_and_stand(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, cover: Grounded, seat: Grounded
) -> None:
    base.admit(letter, letter_bytes, [cover, seat], run="r")
    assert [s for s, _ in base.mentions(["Bremen"])] == [seat[0]]
    assert {s.id for s, _ in base.mentions([NAME, "Bremen"])} == {cover[0].id, seat[0].id}
    ((statement, evidence),) = base.mentions({"Bremen"})
    assert (statement.value, evidence) == (Entity("Bremen"), seat[1])
    assert list(base.mentions([])) == []
    base.retract_statement(seat[0].id)
    assert list(base.mentions(["Bremen"])) == []


def test_titles_are_those_of_standing_passages(base: KnowledgeBase) -> None:
    data = b'[{"title": "A (film)", "text": "x"}, {"title": "B", "text": "y"}]'
    document = decode(data, name="c.json")
    base.admit(document, data, [], run="r")
    assert base.passage_titles() == {"A (film)", "B"}
    base.retract_document(document.source_sha256)
    assert base.passage_titles() == frozenset()
