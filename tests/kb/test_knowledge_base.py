from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kb.dimension import Dimension, DimensionKind
from kb.document import Document, decode
from kb.errors import (
    AlreadyExists,
    DocumentRejected,
    IRIRejected,
    LogCorrupt,
    LogUnavailable,
    NotFound,
    SourceErased,
    StatementRejected,
)
from kb.knowledge_base import KnowledgeBase
from kb.quantity import parse_number
from kb.statement import Entity, Evidence, Modality, Polarity, Statement, Text

Grounded = tuple[Statement, Evidence]
Ground = Callable[..., Grounded]


def ids(base: KnowledgeBase, as_of: int | None = None) -> list[str]:
    reading = base if as_of is None else base.at(as_of)
    return [row[0] for row in reading.every_statement()]


def test_what_is_admitted_comes_back(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, cover: Grounded, seat: Grounded
) -> None:
    admission = base.admit(letter, letter_bytes, [cover, seat], run="r1")
    assert (admission.inserted, admission.already, admission.document_is_new) == (2, 0, True)
    assert base.document(letter.source_sha256) == letter
    assert base.source_bytes(letter.source_sha256) == letter_bytes
    assert base.text(letter.text_sha256) == letter.text
    assert [record.title for record in base.documents()] == ["Confirmation of cover"]
    assert list(base.every_statement()) == sorted(
        (statement.id, statement, (evidence,)) for statement, evidence in (cover, seat)
    )
    assert base.statement(seat[0].id) == seat[0]
    assert base.evidence(seat[0].id) == (seat[1],)
    assert base.statements(subject="Nordwind Logistik GmbH", dimension="seat") == (seat[0],)
    assert base.statements(dimension="nothing") == ()
    assert base.entity_names() == ("Bremen", "Nordwind Logistik GmbH")
    base.verify_log()


def test_admitting_again_changes_nothing(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, cover: Grounded, seat: Grounded
) -> None:
    base.admit(letter, letter_bytes, [cover], run="r1", rejected=[("no quote", "x")])
    head = base.head
    again = base.admit(letter, letter_bytes, [cover, cover], run="r2", rejected=[("no quote", "x")])
    assert (again.inserted, again.already, again.document_is_new) == (0, 2, False)
    assert base.head == head
    more = base.admit(letter, letter_bytes, [cover, seat], run="r3", rejected=[("hedged", "y")])
    assert (more.inserted, more.already) == (1, 1)
    assert base.rejections(letter.source_sha256) == (("hedged", "y"), ("no quote", "x"))
    base.verify_log()


def test_reopening_gives_the_same(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, cover: Grounded
) -> None:
    base.admit(letter, letter_bytes, [cover], run="r1")
    with KnowledgeBase.open(base.directory) as again:
        assert again.namespace == base.namespace
        assert (again.revision, again.head) == (base.revision, base.head)
        assert list(again.every_statement()) == list(base.every_statement())


@pytest.mark.parametrize(
    ("data", "quote"),
    [
        ("\ufeffÉmile sits in Orléans.\r\nEnd.\r\n".encode(), "Émile sits in Orléans."),
        ("E\u0301mile sits in Orle\u0301ans.".encode(), "E\u0301mile sits in Orle\u0301ans."),
        ("👩‍🔬👍🏽 𝔘 sits in 東京。".encode(), "𝔘 sits in 東京。"),
        (b"line one\rsits in\rTours\r", "line one\nsits in\nTours"),
    ],
)
def test_quotes_survive_in_every_script(
    base: KnowledgeBase, ground: Ground, data: bytes, quote: str
) -> None:
    document = decode(data, name="a.txt")
    pair = ground(document, quote, "Émile 👍🏽", "seat", Entity("Orle\u0301ans"))
    base.admit(document, data, [pair], run="r1")
    with KnowledgeBase.open(base.directory) as again:
        ((statement_id, statement, (evidence,)),) = again.every_statement()
        assert (statement_id, statement, evidence) == (pair[0].id, *pair)
        text = again.document(evidence.source_sha256).text
        assert text[evidence.start : evidence.end] == evidence.quote == quote
        again.verify_log()


def test_no_quote_no_fact(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, cover: Grounded, seat: Grounded
) -> None:
    statement, evidence = seat
    moved = replace(evidence, start=evidence.start + 1, end=evidence.end + 1)
    elsewhere = replace(evidence, source_sha256="0" * 64)
    other = replace(evidence, statement_id=cover[0].id)
    pairs = [(statement, moved), (statement, elsewhere), (statement, other), cover]
    with pytest.raises(StatementRejected) as caught:
        base.admit(letter, letter_bytes, pairs, run="r1")
    for problem in ("does not stand at", "another document", "another statement"):
        assert problem in str(caught.value)
    assert (base.documents(), base.revision) == ((), 1)


def test_the_bytes_must_be_the_document_s(base: KnowledgeBase, letter: Document) -> None:
    with pytest.raises(DocumentRejected, match="not those it was decoded from"):
        base.admit(letter, b"other bytes", [], run="r1")


def test_a_document_is_not_decoded_in_two_ways(base: KnowledgeBase) -> None:
    data = b"seen <!-- hidden -->\n"
    base.admit(decode(data, name="a.md"), data, [], run="r1")
    as_text = decode(data, name="a.md", media_type="text/plain")
    with pytest.raises(DocumentRejected, match="stored as decoded by markdown/1"):
        base.admit(as_text, data, [], run="r1")
    base.retract_document(as_text.source_sha256)
    assert base.admit(as_text, data, [], run="r1").document_is_new
    base.verify_log()


def test_a_value_has_the_kind_of_its_dimension(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, ground: Ground, seat: Grounded
) -> None:
    base.define_dimension(Dimension("seat", DimensionKind.ENTITY))
    wrong = ground(letter, "Bremen", "Nordwind", "seat", Text("Bremen"))
    with pytest.raises(StatementRejected, match="of kind text; expected entity"):
        base.admit(letter, letter_bytes, [wrong], run="r1")
    assert base.admit(letter, letter_bytes, [seat], run="r1").inserted == 1


def test_denied_and_hedged_statements_keep_how_they_are_said(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, seat: Grounded
) -> None:
    said = replace(seat[0], polarity=Polarity.DENIED, modality=Modality.HEDGED)
    base.admit(letter, letter_bytes, [(said, replace(seat[1], statement_id=said.id))], run="r1")
    assert base.statement(said.id) == said


def test_a_retracted_statement_stays_away_until_stated_elsewhere(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, ground: Ground, seat: Grounded
) -> None:
    base.admit(letter, letter_bytes, [seat], run="r1")
    before = base.revision
    base.retract_statement(seat[0].id)
    assert ids(base) == []
    assert ids(base, as_of=before) == [seat[0].id]
    with pytest.raises(NotFound):
        base.statement(seat[0].id)
    with pytest.raises(NotFound):
        base.retract_statement(seat[0].id)
    assert base.admit(letter, letter_bytes, [seat], run="r2").already == 1
    assert ids(base) == []
    data = b"Its seat is Bremen."
    note = decode(data, name="note.txt")
    fresh = ground(note, "Bremen", seat[0].subject, "seat", Entity("Bremen"))
    base.admit(note, data, [fresh], run="r2")
    assert base.evidence(seat[0].id) == (fresh[1],)
    base.verify_log()


def test_a_retracted_document_takes_its_statements_along(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, cover: Grounded, seat: Grounded
) -> None:
    base.admit(letter, letter_bytes, [cover, seat], run="r1")
    first = base.revision
    base.retract_document(letter.source_sha256)
    assert (ids(base), base.documents(), base.entity_names()) == ([], (), ())
    with pytest.raises(NotFound):
        base.document(letter.source_sha256)
    with pytest.raises(NotFound):
        base.retract_document(letter.source_sha256)
    assert len(ids(base, as_of=first)) == len(base.at(first).documents()) + 1 == 2
    assert base.text(letter.text_sha256) == letter.text
    assert base.admit(letter, letter_bytes, [cover], run="r2").document_is_new
    assert ids(base) == [cover[0].id]
    assert len(ids(base, as_of=first)) == 2
    base.verify_log()


def test_an_erased_document_leaves_its_digests_and_nothing_else(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, ground: Ground, seat: Grounded
) -> None:
    data = b"The seat is Bremen; Hanse says so."
    note = decode(data, name="note.txt")
    same = ground(note, "The seat is Bremen", seat[0].subject, "seat", Entity("Bremen"))
    base.admit(letter, letter_bytes, [seat], run="r1")
    base.admit(note, data, [same], run="r1", rejected=[("attributed", "Hanse says so")])
    base.search("Hanse", 3)
    base.rdf()
    base.erase_document(note.source_sha256, run="r2")
    base.verify_log()
    assert base.evidence(seat[0].id) == (seat[1],)
    for read in (base.document, base.source_bytes, base.record):
        with pytest.raises(SourceErased):
            read(note.source_sha256)
    with pytest.raises(NotFound):
        base.text(note.text_sha256)
    with pytest.raises(NotFound):
        base.erase_document("0" * 64, run="r2")
    assert base.rejections(note.source_sha256) == ()
    base.close()
    for path in base.directory.rglob("*"):
        if path.is_file():
            assert b"Hanse says" not in path.read_bytes()
    with KnowledgeBase.open(base.directory) as again:
        assert {hit.source_sha256 for hit in again.search("Hanse says", 3)} == {
            letter.source_sha256
        }


def test_a_file_that_an_erased_statement_shared_keeps_its_own(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, seat: Grounded
) -> None:
    base.admit(letter, letter_bytes, [seat], run="r1")
    base.erase_document(letter.source_sha256, run="r2")
    assert ids(base) == []
    assert base.admit(letter, letter_bytes, [seat], run="r3").inserted == 1
    assert base.document(letter.source_sha256) == letter
    base.verify_log()


def test_dimensions_are_redefined_in_place(base: KnowledgeBase) -> None:
    seat = Dimension("seat", DimensionKind.ENTITY)
    base.define_dimension(seat)
    revision = base.define_dimension(seat)
    assert revision == base.revision == 2
    base.define_dimension(replace(seat, functional=True))
    base.define_dimension(Dimension("age", DimensionKind.NUMBER))
    assert [(d.name, d.functional) for d in base.dimensions()] == [("age", False), ("seat", True)]
    base.verify_log()


def test_policy_versions_never_change(base: KnowledgeBase) -> None:
    first = base.publish_policy("onboarding", "1", "ok(S) :- insured(S).")
    assert base.publish_policy("onboarding", "1", first.text) == first
    with pytest.raises(AlreadyExists, match="onboarding@1"):
        base.publish_policy("onboarding", "1", "ok(S).")
    second = base.publish_policy("onboarding", "2", "ok(S).")
    assert base.policy("onboarding") == second
    assert base.policy("onboarding", "1") == first
    assert base.policies() == (first, second)
    with pytest.raises(NotFound, match="the nearest is onboarding@2"):
        base.policy("onboarding", "3")
    with pytest.raises(NotFound, match=r"the nearest is onboarding$"):
        base.policy("onbording")


def test_verdicts_have_a_chain_of_their_own(base: KnowledgeBase) -> None:
    head = base.head
    digest = base.record_verdict(b'{"verdict":"CERTIFIED"}', {"who": "ada", "ms": 1.5}).digest
    again = base.record_verdict(b'{"verdict":"CERTIFIED"}', {"who": "bob"})
    assert again == base.certificates(digest)[-1]
    assert digest == hashlib.sha256(b'{"verdict":"CERTIFIED"}').hexdigest()
    assert base.certificate(digest) == b'{"verdict":"CERTIFIED"}'
    assert [record.receipt["who"] for record in base.certificates(digest)] == ["ada", "bob"]
    assert base.certificates("0" * 64) == ()
    assert base.record_sign_off(digest, {"by": "eve"}) == 3
    assert [record.sign_off for record in base.sign_offs()] == [{"by": "eve"}]
    with pytest.raises(NotFound):
        base.record_sign_off("0" * 64, {})
    assert base.head == head
    base.verify_log()


KNOWLEDGE_TAMPERINGS = [
    "UPDATE statement SET value = 'Kiel' WHERE dimension = 'seat'",
    "UPDATE statement SET polarity = 'denied'",
    "DELETE FROM evidence",
    "UPDATE evidence SET retracted = 2",
    "UPDATE evidence SET quote = quote || '!'",
    "UPDATE document SET complete = 0",
    "UPDATE document SET title = 'x'",
    "UPDATE source SET data = x'41'",
    "UPDATE text SET body = x'41'",
    "DELETE FROM text",
    "UPDATE policy SET text = 'ok(S).'",
    "INSERT INTO policy VALUES ('p', '9', 'ok(S).', 1)",
    "DELETE FROM dimension",
    "UPDATE rejection SET reason = 'none'",
    "UPDATE event SET payload = NULL WHERE kind = 'statements_asserted'",
    "UPDATE event SET payload = x'41' WHERE kind = 'policy_published'",
]


@pytest.mark.parametrize("tampering", KNOWLEDGE_TAMPERINGS)
def test_no_table_can_be_edited_unseen(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes, seat: Grounded, tampering: str
) -> None:
    base.admit(letter, letter_bytes, [seat], run="r1", rejected=[("hedged", "x")])
    base.define_dimension(Dimension("seat", DimensionKind.ENTITY))
    base.publish_policy("p", "1", "ok(S) :- insured(S).")
    base.verify_log()
    with closing(
        sqlite3.connect(base.directory / "knowledge.sqlite", isolation_level=None)
    ) as file:
        file.execute(tampering)
    with pytest.raises(LogCorrupt):
        base.verify_log()


@pytest.mark.parametrize(
    "tampering",
    [
        "DELETE FROM certificate",
        "UPDATE certificate SET body = x'41'",
        "UPDATE entry SET form = '{}' WHERE number = 1",
        "UPDATE entry SET digest = 'x' WHERE number = 1",
        "DELETE FROM entry WHERE number = 2",
        "INSERT INTO entry VALUES (3, 'signed_off', 'x', '{}')",
        "DELETE FROM event WHERE number = 2; DELETE FROM entry WHERE number = 2",
    ],
)
def test_no_verdict_can_be_edited_unseen(base: KnowledgeBase, tampering: str) -> None:
    digest = base.record_verdict(b"{}", {"who": "ada"}).digest
    base.record_sign_off(digest, {"by": "eve"})
    base.verify_log()
    with closing(sqlite3.connect(base.directory / "verdicts.sqlite", isolation_level=None)) as file:
        file.executescript(tampering)
    with pytest.raises(LogCorrupt):
        base.verify_log()


def test_a_cut_tail_is_seen_at_opening(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes
) -> None:
    base.admit(letter, letter_bytes, [], run="r1")
    base.close()
    with closing(
        sqlite3.connect(base.directory / "knowledge.sqlite", isolation_level=None)
    ) as file:
        file.execute("DELETE FROM event WHERE number = 2")
    with pytest.raises(LogCorrupt, match="the tail is cut"):
        KnowledgeBase.open(base.directory)


def test_opening_anchors_what_a_crash_left_unanchored(
    base: KnowledgeBase, letter: Document, letter_bytes: bytes
) -> None:
    anchor = base.directory / "knowledge.head"
    behind = anchor.read_bytes()
    base.admit(letter, letter_bytes, [], run="r1")
    newest = anchor.read_bytes()
    base.close()
    anchor.write_bytes(behind)
    KnowledgeBase.open(base.directory).close()
    assert anchor.read_bytes() == newest != behind


def test_opening_what_is_no_knowledge_base(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="make one with init"):
        KnowledgeBase.open(tmp_path)
    (tmp_path / "knowledge.sqlite").write_bytes(
        b"no database at all, but long enough to be read" * 99
    )
    with pytest.raises(LogCorrupt, match="damaged"):
        KnowledgeBase.open(tmp_path)
    (tmp_path / "knowledge.sqlite").unlink()
    (tmp_path / "knowledge.sqlite").mkdir()
    with pytest.raises(LogUnavailable):
        KnowledgeBase.open(tmp_path)


def test_creating_twice_is_refused(base: KnowledgeBase) -> None:
    with pytest.raises(AlreadyExists, match="holds a knowledge base"):
        KnowledgeBase.create(base.directory, namespace="https://example.org/other/")
    with pytest.raises(IRIRejected):
        KnowledgeBase.create(base.directory / "sub", namespace="no iri")
    assert not (base.directory / "sub").exists()


def test_creating_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "knowledge.sqlite")) as file:
        file.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(NotFound):
        KnowledgeBase.open(tmp_path)
    with KnowledgeBase.create(tmp_path, namespace="https://example.org/kb/") as base:
        assert base.revision == 1


def numbers(count: int) -> tuple[Document, bytes, list[Grounded]]:
    """A table of so many numbers, and its statements."""
    data = "".join(f"n{number},{number}\n" for number in range(count)).encode()
    document = decode(data, name="numbers.csv")
    grounded = []
    for number, passage in enumerate(document.passages):
        statement = Statement(f"n{number}", "size", parse_number(str(number)))
        quote = document.text[passage.start : passage.end]
        evidence = Evidence(
            statement.id,
            document.source_sha256,
            document.text_sha256,
            passage.start,
            passage.end,
            quote,
            "test/1",
        )
        grounded.append((statement, evidence))
    return document, data, grounded


def test_an_import_is_incomplete_until_its_last_chunk(base: KnowledgeBase) -> None:
    document, data, grounded = numbers(25)
    seen = []

    def watched() -> Iterator[Grounded]:
        for index, pair in enumerate(grounded):
            if index and index % 10 == 5 and base.documents():
                seen.append((base.documents()[0].complete, len(ids(base))))
            yield pair

    admission = base.import_statements(document, data, watched(), run="r1", chunk=5)
    assert seen
    assert not any(complete for complete, _ in seen)
    assert (admission.inserted, admission.document_is_new) == (25, True)
    assert base.documents()[0].complete
    base.verify_log()


def test_an_interrupted_import_is_resumed(base: KnowledgeBase) -> None:
    document, data, grounded = numbers(25)

    def interrupted() -> Iterator[Grounded]:
        yield from grounded[:17]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        base.import_statements(document, data, interrupted(), run="r1", chunk=5)
    assert len(ids(base)) == 10
    assert not base.record(document.source_sha256).complete
    admission = base.import_statements(document, data, grounded, run="r2", chunk=5)
    assert (admission.inserted, admission.already) == (15, 10)
    assert base.record(document.source_sha256).complete
    head = base.head
    assert base.import_statements(document, data, grounded, run="r3", chunk=5).inserted == 0
    assert base.head == head
    base.verify_log()


def test_importing_more_of_a_complete_document_opens_it_meanwhile(base: KnowledgeBase) -> None:
    document, data, grounded = numbers(25)
    base.admit(document, data, [], run="r1")
    assert base.record(document.source_sha256).complete
    states = []

    def watched() -> Iterator[Grounded]:
        for pair in grounded:
            states.append(base.record(document.source_sha256).complete)
            yield pair

    base.import_statements(document, data, watched(), run="r1", chunk=5)
    assert states[-1] is False
    assert base.record(document.source_sha256).complete


def test_an_import_with_a_false_quote_keeps_the_chunks_before(base: KnowledgeBase) -> None:
    document, data, grounded = numbers(12)
    grounded[7] = (grounded[7][0], grounded[6][1])
    with pytest.raises(StatementRejected, match="n7 size"):
        base.import_statements(document, data, grounded, run="r1", chunk=5)
    assert len(ids(base)) == 5


def test_chunks_and_one_transaction_give_the_same_statements(
    base: KnowledgeBase, tmp_path: Path
) -> None:
    document, data, grounded = numbers(25)
    base.import_statements(document, data, reversed(grounded), run="r1", chunk=4)
    with KnowledgeBase.create(tmp_path / "other", namespace=base.namespace) as other:
        other.admit(document, data, grounded, run="r1")
        assert list(other.every_statement()) == list(base.every_statement())


def test_two_imports_of_one_table_at_a_time_store_it_once(base: KnowledgeBase) -> None:
    document, data, grounded = numbers(60)
    other = iter(grounded)

    def interleaved() -> Iterator[Grounded]:
        for index, pair in enumerate(grounded):
            if index % 7 == 0:
                base.admit(document, data, [next(other), next(other)], run="r2")
            yield pair

    admission = base.import_statements(document, data, interleaved(), run="r1", chunk=5)
    assert 0 < admission.inserted < 60
    assert len(ids(base)) == 60
    base.verify_log()


def test_an_import_ends_when_its_document_is_retracted(base: KnowledgeBase) -> None:
    document, data, grounded = numbers(60)

    def interleaved() -> Iterator[Grounded]:
        for index, pair in enumerate(grounded):
            if index == 30:
                base.retract_document(document.source_sha256)
            yield pair

    with pytest.raises(DocumentRejected, match="retracted while imported"):
        base.import_statements(document, data, interleaved(), run="r1", chunk=5)
    assert ids(base) == []
    base.verify_log()


def test_reading_goes_on_while_threads_write(base: KnowledgeBase) -> None:
    document, data, grounded = numbers(60)
    failures: list[BaseException] = []

    def write(part: int) -> None:
        try:
            base.import_statements(document, data, grounded[part::3], run="r1", chunk=3)
        except BaseException as failure:  # reported by the main thread
            failures.append(failure)

    threads = [threading.Thread(target=write, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        revision = base.revision
        assert ids(base, as_of=revision) == sorted(ids(base, as_of=revision))
    for thread in threads:
        thread.join()
    assert not failures
    assert len(ids(base)) == 60
    base.verify_log()


def test_two_openings_write_into_one_log(base: KnowledgeBase) -> None:
    document, data, grounded = numbers(4)
    with KnowledgeBase.open(base.directory) as other:
        base.admit(document, data, grounded[:2], run="r1")
        assert other.admit(document, data, grounded[1:], run="r2").inserted == 2
        base.publish_policy("p", "1", "ok(S).")
        assert base.head == other.head
    base.verify_log()
