"""Bare names and titled passages over a live server: linked, withdrawn, or listed as candidates."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_server import Live, running, send
from proofweave.v1 import common_pb2, knowledge_pb2, reasoning_pb2

from kb.document import decode
from kb.knowledge_base import KnowledgeBase
from reasoner.verify import verify_bytes
from server.ingestion import Upload, ingest_upload
from server.knowledge import Knowledge, create_knowledge
from server.pack_files import choose_packs
from server.settings import Settings

FILM = ("Salt Roads", "Salt Roads is a 1999 British drama film directed by Walter Moss.")
DIRECTOR = (
    "Walter Moss (director)",
    "Walter Moss (3 May 1950 – 2 June 2001) was a British film director.",
)
FILMMAKER = ("Walter Moss (filmmaker)", "Walter Moss (born 1 May 1940) is a Canadian filmmaker.")
POLITICIAN = ("Walter Moss (politician)", "Walter Moss (born 1960) is a Canadian politician.")
QUESTION = "When was the director of Salt Roads born?"


@pytest.fixture
def wiki(tmp_path: Path) -> Iterator[Live]:
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("wiki",))
    with running(tmp_path / "kb", Settings()) as live:
        yield live


def corpus(*passages: tuple[str, str]) -> bytes:
    return json.dumps([{"title": title, "text": text} for title, text in passages]).encode()


def ask(live: Live) -> common_pb2.Decision:
    request = reasoning_pb2.AskQuestionRequest(question=QUESTION)
    (reading,) = live.services.reasoning.AskQuestion(request).readings
    return reading.decision


def test_a_link_is_a_premise_with_a_quote(wiki: Live) -> None:
    data = corpus(FILM, DIRECTOR, POLITICIAN)
    _, summary = send(wiki.services, {"c.json": data})
    assert (summary.links_asserted, summary.links_withdrawn) == (1, 0)
    decision = ask(wiki)
    assert decision.verdict == common_pb2.VERDICT_CERTIFIED
    certificate = json.loads(decision.certificate_content)
    assert [answer["atom"] for answer in certificate["answers"]] == ['answer(@date("1950-05-03"))']
    (link,) = [
        statement
        for statement in certificate["statements"].values()
        if statement["dimension"] == "same_as"
    ]
    assert (link["subject"], link["value"]["value"]) == ("Walter Moss (director)", "Walter Moss")
    assert link["evidence"][0]["quote"] == "\n".join(DIRECTOR)
    document = decode(data, name="c.json")
    report = verify_bytes(decision.certificate_content, {document.text_sha256: document.text})
    assert report.valid, report.message


def test_links_do_not_wait_for_the_end_of_a_long_upload(wiki: Live) -> None:
    message, header = knowledge_pb2.IngestDocumentsRequest, common_pb2.FileHeader
    files = [corpus(FILM, DIRECTOR)] + [
        corpus((f"Place {number}", f"Place {number} is a village.")) for number in range(9)
    ]
    go_on = threading.Event()

    def messages() -> Iterator[knowledge_pb2.IngestDocumentsRequest]:
        yield message(start=knowledge_pb2.IngestStart())
        for number, data in enumerate(files):
            if number == 9:
                assert go_on.wait(timeout=60)
            yield message(document=header(file_name=f"{number}.json", size=len(data)))
            yield message(chunk=data)

    responses = wiki.services.knowledge.IngestDocuments(messages())
    for _ in range(8):
        assert next(responses).outcome.admitted.is_new
    stated = knowledge_pb2.ListStatementsRequest(dimension="same_as")
    for _ in range(300):
        if wiki.services.knowledge.ListStatements(stated).statements:
            break
        time.sleep(0.1)
    assert ask(wiki).verdict == common_pb2.VERDICT_CERTIFIED
    go_on.set()
    assert list(responses)[-1].summary.links_asserted == 1


def test_ingesting_again_asserts_no_link_twice(wiki: Live) -> None:
    files = {"c.json": corpus(FILM, DIRECTOR)}
    _, first = send(wiki.services, files)
    _, second = send(wiki.services, files)
    assert (first.links_asserted, second.links_asserted) == (1, 0)
    assert first.revision == second.revision


def test_a_namesake_withdraws_a_link_and_both_are_listed(wiki: Live) -> None:
    send(wiki.services, {"c.json": corpus(FILM, DIRECTOR)})
    _, summary = send(wiki.services, {"d.json": corpus(FILMMAKER)})
    assert (summary.links_asserted, summary.links_withdrawn) == (0, 1)
    decision = ask(wiki)
    assert decision.verdict == common_pb2.VERDICT_ABSTAINED
    assert decision.code == common_pb2.ABSTENTION_CODE_UNVERIFIED_ENTITY
    (needed,) = [item for item in decision.open if item.rejected]
    assert list(needed.rejected) == ["Walter Moss (director)", "Walter Moss (filmmaker)"]


def test_somebody_else_of_that_name_is_not_linked(wiki: Live) -> None:
    _, summary = send(wiki.services, {"c.json": corpus(FILM, POLITICIAN)})
    assert summary.links_asserted == 0
    decision = ask(wiki)
    assert decision.code == common_pb2.ABSTENTION_CODE_UNVERIFIED_ENTITY
    assert "Walter Moss (politician)" in {name for item in decision.open for name in item.rejected}


def test_a_link_goes_with_its_document(wiki: Live) -> None:
    send(wiki.services, {"c.json": corpus(FILM)})
    outcomes, _ = send(wiki.services, {"d.json": corpus(DIRECTOR)})
    assert ask(wiki).verdict == common_pb2.VERDICT_CERTIFIED
    name = outcomes[0].admitted.document.name
    wiki.services.knowledge.RetractDocument(knowledge_pb2.RetractDocumentRequest(name=name))
    assert ask(wiki).verdict == common_pb2.VERDICT_ABSTAINED
    request = knowledge_pb2.ListStatementsRequest(dimension="same_as")
    assert not wiki.services.knowledge.ListStatements(request).statements


def test_a_link_is_withdrawn_when_the_use_that_agreed_is(wiki: Live) -> None:
    outcomes, _ = send(wiki.services, {"c.json": corpus(FILM), "d.json": corpus(DIRECTOR)})
    name = outcomes[0].admitted.document.name
    wiki.services.knowledge.RetractDocument(knowledge_pb2.RetractDocumentRequest(name=name))
    request = knowledge_pb2.ListStatementsRequest(dimension="same_as")
    assert not wiki.services.knowledge.ListStatements(request).statements


def test_a_withdrawn_link_returns_with_what_it_needs(wiki: Live) -> None:
    """Withdrawn because of a namesake, or of the use that agreed: it comes back when that goes."""
    send(wiki.services, {"c.json": corpus(FILM), "d.json": corpus(DIRECTOR)})
    proof = ask(wiki)
    assert proof.verdict == common_pb2.VERDICT_CERTIFIED
    outcomes, withdrawn = send(wiki.services, {"e.json": corpus(FILMMAKER)})
    assert withdrawn.links_withdrawn == 1
    assert ask(wiki).verdict == common_pb2.VERDICT_ABSTAINED
    knowledge = wiki.services.knowledge
    name = outcomes[0].admitted.document.name
    knowledge.RetractDocument(knowledge_pb2.RetractDocumentRequest(name=name))
    assert ask(wiki).certificate_content == proof.certificate_content
    outcomes, _ = send(wiki.services, {"c.json": corpus(FILM)})
    film = outcomes[0].admitted.document.name
    knowledge.RetractDocument(knowledge_pb2.RetractDocumentRequest(name=film))
    assert ask(wiki).verdict == common_pb2.VERDICT_ABSTAINED
    _, again = send(wiki.services, {"c.json": corpus(FILM)})
    assert again.links_asserted == 1
    assert ask(wiki).certificate_content == proof.certificate_content
    assert knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest()).log_head


def test_a_link_that_somebody_retracted_does_not_return(wiki: Live) -> None:
    send(wiki.services, {"c.json": corpus(FILM, DIRECTOR)})
    request = knowledge_pb2.ListStatementsRequest(dimension="same_as")
    (link,) = wiki.services.knowledge.ListStatements(request).statements
    wiki.services.knowledge.RetractStatement(knowledge_pb2.RetractStatementRequest(name=link.name))
    send(wiki.services, {"c.json": corpus(FILM, DIRECTOR)})
    assert not wiki.services.knowledge.ListStatements(request).statements
    assert ask(wiki).verdict == common_pb2.VERDICT_ABSTAINED


def test_a_namesake_that_came_before_a_crash_withdraws_the_link_at_the_next_start(
    tmp_path: Path,
) -> None:
    """The document is in the log, and the server ended before it looked at the links."""
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("wiki",))
    with running(tmp_path / "kb", Settings()) as live:
        send(live.services, {"c.json": corpus(FILM, DIRECTOR)})
        assert ask(live).verdict == common_pb2.VERDICT_CERTIFIED
    with KnowledgeBase.open(tmp_path / "kb") as base:
        knowledge = Knowledge("kb", base, choose_packs(["wiki"]))
        data = corpus(FILMMAKER)
        header = common_pb2.FileHeader(file_name="d.json")
        upload = Upload(header, len(data), bytearray(data), len(data))
        *_, last = ingest_upload(
            knowledge, upload, index=0, run="test", extraction=Settings().extraction
        )
        assert last.outcome.admitted.is_new
    with running(tmp_path / "kb", Settings()) as live:
        assert ask(live).code == common_pb2.ABSTENTION_CODE_UNVERIFIED_ENTITY
