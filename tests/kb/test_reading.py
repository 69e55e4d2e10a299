"""A reading of an earlier revision gives what was given then, whatever came since."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from kb.dimension import Dimension, DimensionKind
from kb.document import Document, decode
from kb.errors import LogCorrupt, NotFound, RevisionUnknown
from kb.knowledge_base import KnowledgeBase
from kb.reading import Reading
from kb.statement import Entity, Evidence, Statement

NAMESPACE = "https://example.org/kb/"
NAMES = ("Ada", "Björn", "株式会社", "Dora")
Grounded = tuple[Statement, Evidence]


def document(number: int) -> tuple[Document, bytes]:
    data = "".join(f"{name} likes {NAMES[(number + 1) % 4]}.\n" for name in NAMES[number % 3 :])
    packed = f"Note {number}\n\n{data}".encode()
    return decode(packed, name=f"{number}.txt"), packed


def grounded(found: Document, extractor: str = "reader/1") -> Iterator[Grounded]:
    position = 0
    for line in found.text.splitlines(keepends=True):
        quote = line.rstrip("\n")
        subject, _, value = quote.rstrip(".").partition(" likes ")
        if value:
            statement = Statement(subject, "likes", Entity(value))
            yield (
                statement,
                Evidence(
                    statement.id,
                    found.source_sha256,
                    found.text_sha256,
                    position,
                    position + len(quote),
                    quote,
                    extractor,
                ),
            )
        position += len(line)


def state(known: Reading) -> dict[str, object]:
    """Give everything that can be read."""
    return {
        "head": known.head,
        "documents": known.documents(),
        "statements": list(known.every_statement()),
        "asserted": [
            (name, list(known.asserted().statements(name, polarity)))
            for name, polarity in known.asserted().dimensions()
        ],
        "names": known.entity_names(),
        "titles": known.passage_titles(),
        "dimensions": known.dimensions(),
        "policies": known.policies(),
        "found": [(hit.text, hit.score) for hit in known.search("Ada likes Dora Note", 20)],
        "values": known.lattice().values("likes"),
    }


def step(base: KnowledgeBase, chance: random.Random, number: int) -> None:
    """Change the knowledge base in one of all ways, or find nothing to change."""
    standing = base.documents()
    some = chance.choice(standing) if standing else None
    rows = list(base.every_statement())
    match chance.randrange(10):
        case 0 | 1 | 2:
            found, data = document(chance.randrange(6))
            if chance.random() < 0.8 or base.is_erased(found.source_sha256):
                base.admit(found, data, list(grounded(found)), run="r")
        case 3:
            found, data = document(chance.randrange(6))
            stopped = grounded(found)

            def cut() -> Iterator[Grounded]:
                for index, pair in enumerate(stopped):
                    if index == 2:
                        raise InterruptedError
                    yield pair

            with suppress(InterruptedError):
                base.import_statements(found, data, cut(), run="r", chunk=1)
        case 4 if rows:
            base.retract_statement(chance.choice(rows)[0])
        case 5 if some is not None:
            start = chance.randrange(30)
            with suppress(NotFound):
                base.retract_span(some.source_sha256, start, start + 5)
        case 6 if rows:
            base.retract_run("reader/1", source_sha256=chance.choice(rows)[2][0].source_sha256)
        case 7 if some is not None:
            base.retract_document(some.source_sha256)
        case 8 if rows:
            base.withdraw_links([chance.choice(rows)[0]], extractor="reader/1")
        case _:
            functional = number % 2 == 0
            base.define_dimension(Dimension("likes", DimensionKind.ENTITY, functional=functional))
            base.publish_policy("p", str(number), f"% {number}")


@pytest.mark.parametrize("seed", range(6))
def test_every_revision_reads_as_it_did(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    KnowledgeBase.create(tmp_path / "kb", namespace=NAMESPACE).close()
    then: dict[int, dict[str, object]] = {}
    graphs: dict[int, bytes] = {}
    base = KnowledgeBase.open(tmp_path / "kb")
    try:
        for number in range(25):
            step(base, chance, number)
            then[base.revision] = state(base)
            if number % 8 == 3:
                graphs[base.revision] = base.rdf().n_quads()
            if chance.random() < 0.1:
                base.close()
                base = KnowledgeBase.open(tmp_path / "kb")
        base.verify_log()
        for revision in sorted(then, key=lambda _: chance.random()):
            assert state(base.at(revision)) == then[revision], revision
        for revision, graph in graphs.items():
            assert triples(base.at(revision).rdf().n_quads()) == triples(graph), revision
    finally:
        base.close()


def triples(graph: bytes) -> list[bytes]:
    """Leave out how far the chain of verdicts was followed."""
    return [line for line in graph.splitlines() if b"verdictRevision" not in line]


def test_a_revision_that_has_not_been_is_unknown(base: KnowledgeBase) -> None:
    assert base.at(1).revision == 1
    for revision in (0, -1, 2, 10**9):
        with pytest.raises(RevisionUnknown, match="expected one from 1 to 1"):
            base.at(revision)


def test_what_was_erased_is_in_no_earlier_revision_either(base: KnowledgeBase) -> None:
    for number in range(2):
        found, data = document(number)
        base.admit(found, data, list(grounded(found)), run="r")
    before = base.revision
    text = document(0)[0]
    base.erase_document(text.source_sha256, run="r")
    earlier = base.at(before)
    assert text.source_sha256 not in {record.source_sha256 for record in earlier.documents()}
    for _, _, evidence in earlier.every_statement():
        assert text.source_sha256 not in {item.source_sha256 for item in evidence}
    with pytest.raises(NotFound, match="has been erased"):
        earlier.document(text.source_sha256)
    assert base.is_erased(text.source_sha256)


def test_an_erased_document_may_be_given_again(base: KnowledgeBase) -> None:
    found, data = document(0)
    base.admit(found, data, list(grounded(found)), run="r")
    base.erase_document(found.source_sha256, run="r")
    base.admit(found, data, list(grounded(found)), run="r")
    assert not base.is_erased(found.source_sha256)
    assert len(list(base.every_statement())) == 4
    base.verify_log()


def test_tables_of_an_earlier_version_are_made_anew_from_the_log(tmp_path: Path) -> None:
    with KnowledgeBase.create(tmp_path / "kb", namespace=NAMESPACE) as base:
        for number in range(3):
            found, data = document(number)
            base.admit(found, data, list(grounded(found)), run="r")
        base.retract_document(document(1)[0].source_sha256)
        before = state(base)
    with closing(sqlite3.connect(tmp_path / "kb" / "knowledge.sqlite")) as connection:
        connection.execute("DELETE FROM evidence WHERE retracted IS NULL")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    with KnowledgeBase.open(tmp_path / "kb") as again:
        assert state(again) == before
        again.verify_log()


def test_a_receipt_betrays_a_tail_cut_with_its_anchor(tmp_path: Path) -> None:
    """The anchor can be rewritten by whoever cuts the log; a head noted elsewhere cannot."""
    directory = tmp_path / "kb"
    with KnowledgeBase.create(directory, namespace=NAMESPACE) as base:
        heads = []
        for number in range(3):
            base.publish_policy("p", str(number), "%")
            heads.append((base.revision, base.head))
        base.verify_log(expect=dict(heads))
        base.record_verdict(b"{}", {"revision": str(heads[-1][0]), "log_head": heads[-1][1]})
        base.verify_log()
    with closing(sqlite3.connect(directory / "knowledge.sqlite")) as connection:
        connection.execute("DELETE FROM event WHERE number = ?", (heads[-1][0],))
        connection.execute("DELETE FROM policy WHERE version = '2'")
        connection.commit()
    number, link = heads[-2]
    (directory / "knowledge.head").write_text(f"{number} {link}\n")
    with KnowledgeBase.open(directory) as cut:
        with pytest.raises(LogCorrupt, match="a receipt names event 4: the tail is cut"):
            cut.verify_log()
        cut.publish_policy("p", "other", "%")
        with pytest.raises(LogCorrupt, match="event 4 has another link than a receipt says"):
            cut.verify_log()
        with pytest.raises(LogCorrupt, match="a receipt says"):
            cut.verify_log(expect=dict(heads[:1]))
