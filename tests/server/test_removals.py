"""Retraction and erasure over a live server: what falls, what keeps other evidence, and proofs."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from typing import Any

import grpc
import pytest
from command_line import runner
from live_server import DOCUMENTS, POLICY, Live, send
from proofweave.v1 import certificate_pb2, common_pb2, knowledge_pb2, policy_pb2, reasoning_pb2

from server.status import failure_of

CERTIFIED = common_pb2.VERDICT_CERTIFIED
ABSTAINED = common_pb2.VERDICT_ABSTAINED
SECOND = (
    "# Audit\n\nAcme GmbH is certified under ISO 9001.\n\nTiny Ltd is certified under ISO 27001.\n"
)


@pytest.fixture
def known(empty: Live) -> Live:
    """Two documents that both state a certificate of Acme, one of them more, and its insurance."""
    files = {name: text.encode() for name, text in DOCUMENTS.items()}
    send(empty.services, {**files, "audit.md": SECOND.encode()})
    request = policy_pb2.CreatePolicyVersionRequest(text=POLICY, file_name="onboarding.lp")
    empty.services.policy.CreatePolicyVersion(request)
    return empty


def prove(live: Live, goal: str = 'eligible("Acme GmbH")', *, at: str = "") -> common_pb2.Decision:
    request = reasoning_pb2.ProveGoalRequest(
        goal=reasoning_pb2.Goal(
            goal=goal, policy="policies/onboarding", valid_on="2026-03-01", at=at
        )
    )
    return live.services.reasoning.ProveGoal(request).decision


def named(live: Live, file_name: str) -> str:
    request = knowledge_pb2.ListDocumentsRequest(page_size=1000)
    listed = live.services.knowledge.ListDocuments(request).documents
    return next(d.name for d in listed if d.file_name == file_name)


def stated(live: Live, subject: str, dimension: str) -> list[common_pb2.Statement]:
    request = knowledge_pb2.ListStatementsRequest(subject=subject, dimension=dimension)
    return list(live.services.knowledge.ListStatements(request).statements)


def dimensions(statements: Iterable[common_pb2.Statement]) -> list[str]:
    return sorted(s.dimension for s in statements)


def test_a_dry_run_says_what_falls_and_changes_nothing(known: Live) -> None:
    proof = prove(known)
    assert proof.verdict == CERTIFIED
    knowledge = known.services.knowledge
    name = named(known, "acme-insurance.md")
    before = knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest())
    dry = knowledge.RetractDocument(knowledge_pb2.RetractDocumentRequest(name=name, dry_run=True))
    assert knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest()) == before
    assert "liability_cover" in dimensions(dry.removal.fallen)
    assert dry.removal.kept_count == 0
    assert list(dry.removal.certificates) == [proof.certificate_sha256]
    assert prove(known).verdict == CERTIFIED
    done = knowledge.RetractDocument(knowledge_pb2.RetractDocumentRequest(name=name))
    assert done.removal == dry.removal
    assert int(done.revision) > int(before.revision)
    fallen = {s.name for s in done.removal.fallen}
    for statement in fallen:
        with pytest.raises(grpc.RpcError) as gone:
            knowledge.GetStatement(knowledge_pb2.GetStatementRequest(name=statement))
        assert failure_of(gone.value).reason == "NOT_FOUND"
    assert prove(known).verdict == ABSTAINED


def test_what_another_document_states_keeps_its_proof(known: Live) -> None:
    knowledge = known.services.knowledge
    first = knowledge.RetractDocument(
        knowledge_pb2.RetractDocumentRequest(name=named(known, "certificates.md"))
    )
    assert [s.subject for s in first.removal.kept] == ["Acme GmbH"]
    (left,) = first.removal.kept[0].evidence
    assert left.document == named(known, "audit.md")
    about = [s.subject for s in first.removal.fallen if not s.subject.startswith("doc:")]
    assert about == ["Tiny Ltd"]
    assert prove(known).verdict == CERTIFIED
    second = knowledge.RetractDocument(
        knowledge_pb2.RetractDocumentRequest(name=named(known, "audit.md"))
    )
    assert second.removal.kept_count == 0
    assert {"Acme GmbH", "Tiny Ltd"} <= {s.subject for s in second.removal.fallen}
    assert prove(known).verdict == ABSTAINED
    assert knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest()).log_head


def test_a_span_takes_what_quotes_any_of_it(known: Live) -> None:
    knowledge = known.services.knowledge
    name = named(known, "audit.md")
    at = SECOND.index("Tiny")
    request = knowledge_pb2.RetractSpanRequest(name=name, start=at + 1, end=at + 2)
    done = knowledge.RetractSpan(request)
    assert [(s.subject, s.dimension) for s in done.removal.fallen] == [
        ("Tiny Ltd", "certified_under")
    ]
    assert len(stated(known, "Acme GmbH", "certified_under")[0].evidence) == 2
    with pytest.raises(grpc.RpcError) as nothing:
        knowledge.RetractSpan(request)
    assert "rests on" in failure_of(nothing.value).message
    for dry_run in (True, False):
        backwards = knowledge_pb2.RetractSpanRequest(
            name=name, start=at - 4, end=at - 9, dry_run=dry_run
        )
        with pytest.raises(grpc.RpcError) as empty:
            knowledge.RetractSpan(backwards)
        assert "is empty" in failure_of(empty.value).message
    assert len(stated(known, "Acme GmbH", "certified_under")[0].evidence) == 2
    outcomes, _ = send(known.services, {"audit.md": SECOND.encode()})
    assert outcomes[0].admitted.statements_inserted == 0


def test_the_work_of_an_extractor_goes_and_another_one_may_read_it_again(known: Live) -> None:
    knowledge = known.services.knowledge
    (statement,) = stated(known, "Acme GmbH", "liability_cover")
    extractor, _, _ = statement.evidence[0].extractor.partition(" ")
    for dry_run in (True, False):
        request = knowledge_pb2.RetractRunRequest(extractor="patterns/0", dry_run=dry_run)
        with pytest.raises(grpc.RpcError) as unknown:
            knowledge.RetractRun(request)
        assert extractor in failure_of(unknown.value).message
    request = knowledge_pb2.RetractRunRequest(
        extractor=extractor, document=named(known, "acme-insurance.md")
    )
    done = knowledge.RetractRun(request)
    assert "liability_cover" in dimensions(done.removal.fallen)
    assert not stated(known, "Acme GmbH", "liability_cover")
    assert stated(known, "Tiny Ltd", "liability_cover")
    outcomes, _ = send(
        known.services, {"acme-insurance.md": DOCUMENTS["acme-insurance.md"].encode()}
    )
    assert outcomes[0].admitted.statements_inserted == 0
    assert not stated(known, "Acme GmbH", "liability_cover")


def test_a_proof_on_an_erased_source_verifies_as_erased(known: Live) -> None:
    proof = prove(known)
    other = prove(known, '-eligible("Tiny Ltd")')
    assert (proof.verdict, other.verdict) == (CERTIFIED, CERTIFIED)
    knowledge = known.services.knowledge
    name = named(known, "acme-insurance.md")
    dry = knowledge.EraseDocument(knowledge_pb2.EraseDocumentRequest(name=name, dry_run=True))
    assert proof.certificate_sha256 in dry.removal.certificates
    assert other.certificate_sha256 not in dry.removal.certificates
    at = proof.receipt.revision
    assert prove(known, at=at).certificate_content == proof.certificate_content
    knowledge.EraseDocument(knowledge_pb2.EraseDocumentRequest(name=name))
    assert prove(known, at=at).verdict == ABSTAINED

    def verify(decision: common_pb2.Decision) -> certificate_pb2.VerifyCertificateResponse:
        request = certificate_pb2.VerifyCertificateRequest(name=decision.certificate)
        return known.services.certificate.VerifyCertificate(request)

    erased = verify(proof)
    assert (erased.accepted, erased.rejection) == (False, "ERASED")
    assert "has been erased" in erased.message
    assert verify(other).accepted
    assert prove(known).verdict == ABSTAINED
    assert knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest()).log_head
    send(known.services, {"acme-insurance.md": DOCUMENTS["acme-insurance.md"].encode()})
    assert verify(proof).accepted
    assert prove(known).certificate_content == proof.certificate_content


def test_erased_evidence_is_gone_from_what_was_read_of_earlier_revisions(known: Live) -> None:
    knowledge = known.services.knowledge
    at = knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest()).revision
    assert prove(known).verdict == CERTIFIED
    (cover,) = stated(known, "Acme GmbH", "liability_cover")
    knowledge.RetractStatement(knowledge_pb2.RetractStatementRequest(name=cover.name))
    proof = prove(known, at=at)
    assert proof.verdict == CERTIFIED
    request = knowledge_pb2.RetractStatementRequest(name=cover.name, erase=True)
    assert knowledge.RetractStatement(request).removal.fallen_count == 0
    assert prove(known, at=at).verdict == ABSTAINED
    verify = certificate_pb2.VerifyCertificateRequest(name=proof.certificate)
    assert known.services.certificate.VerifyCertificate(verify).rejection == "ERASED"


def test_nothing_of_an_erased_document_is_left_in_the_files(known: Live) -> None:
    """But for stored certificates, which are listed when it is erased."""
    knowledge = known.services.knowledge
    knowledge.SearchPassages(knowledge_pb2.SearchPassagesRequest(query="HV-1"))
    list(knowledge.QueryGraph(knowledge_pb2.QueryGraphRequest(query="ASK {}")))
    name = named(known, "acme-insurance.md")
    knowledge.EraseDocument(knowledge_pb2.EraseDocumentRequest(name=name))
    found = []
    for path in sorted(known.directory.rglob("*")):
        if path.is_file() and b"HV-1" in path.read_bytes():
            found.append(path.relative_to(known.directory))
    assert found == []
    with sqlite3.connect(known.directory / "knowledge.sqlite") as connection:
        for (packed,) in connection.execute("SELECT payload FROM event WHERE payload NOT NULL"):
            assert b"HV-1" not in zlib.decompress(packed)


def test_the_commands_list_and_remove(
    known: Live, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    command_line = runner(monkeypatch, capfdbinary)

    def run(*arguments: str) -> tuple[int, Any]:  # what the command printed
        done = command_line(*arguments, "--server", known.address, "--json")
        return done.code, done.json

    code, listed = run("statement", "list", "--subject", "Tiny Ltd", "--document", "audit.md")
    assert code == 0
    (statement,) = listed["statements"]
    assert statement["value"]["value"] == "ISO 27001"
    code, dry = run("retract", "statement", statement["id"], "--dry-run")
    assert (code, dry["dry_run"], dry["fallen_count"]) == (0, True, 1)
    code, done = run("retract", "statement", statement["id"])
    assert (code, done["fallen"]) == (0, dry["fallen"])
    assert run("statement", "get", statement["id"])[0] == 2
    code, then = run("statement", "get", statement["id"], "--at", str(dry["revision"]))
    assert (code, then["id"]) == (0, statement["id"])
    assert run("statement", "get", statement["id"], "--at", "99999")[0] == 2
    missing = run("statement", "list", "--document", "audits.md")[1]["error"]["message"]
    assert "; nearest: audit.md" in missing
    titles = {d["file_name"]: d["title"] for d in run("document", "list")[1]["documents"]}
    dry = run("erase", titles["audit.md"], "--dry-run")[1]
    assert dry == run("erase", "audit.md", "--dry-run")[1]
    assert dry["kept_count"] == 1
    code, erased = run("erase", "audit.md")
    assert (code, erased["kept_count"]) == (0, 1)
    assert run("erase", "audit.md")[0] == 2
    code, documents = run("document", "list")
    assert "audit.md" not in {d["file_name"] for d in documents["documents"]}
    assert run("retract", "document", "certificates.md")[0] == 0
    assert run("retract", "run", "nobody/1")[0] == 2
    assert run("retract", "span", "small-insurance.md", "0", "30")[0] == 0


LISTED = """
closed(certified_under/2, "listed.csv").
clear(S) :- liability_cover(S, _), not certified_under(S, "ISO 9001").
"""


def test_nothing_follows_from_what_a_table_does_not_state_once_it_is_gone(empty: Live) -> None:
    table = b"company,certified_under\nOther Ltd,ISO 9001\n"
    files = {name: text.encode() for name, text in DOCUMENTS.items() if "insurance" in name}
    send(empty.services, {**files, "listed.csv": table})
    goal = reasoning_pb2.Goal(
        goal='clear("Acme GmbH")', policy_text=LISTED, policy_name="l.lp", valid_on="2026-03-01"
    )
    request = reasoning_pb2.ProveGoalRequest(goal=goal)
    prove_goal = empty.services.reasoning.ProveGoal
    proved = prove_goal(request).decision
    assert proved.verdict == CERTIFIED
    then = proved.receipt.revision
    gone = knowledge_pb2.RetractDocumentRequest(name=named(empty, "listed.csv"))
    empty.services.knowledge.RetractDocument(gone)
    decision = prove_goal(request).decision
    assert decision.code == common_pb2.ABSTENTION_CODE_GAP_IN_CORPUS
    assert [item.atom for item in decision.open] == ['not certified_under("Acme GmbH", "ISO 9001")']
    assert "listed.csv" in decision.open[0].detail
    verify = empty.services.certificate.VerifyCertificate
    found = verify(certificate_pb2.VerifyCertificateRequest(content=decision.certificate_content))
    assert found.accepted
    flip = reasoning_pb2.CompareVerdictsRequest(
        goal=goal, first=reasoning_pb2.Standpoint(revision=then), second=reasoning_pb2.Standpoint()
    )
    (lost,) = empty.services.reasoning.CompareVerdicts(flip).flips
    assert (lost.cause, lost.step.kind) == (reasoning_pb2.FLIP_CAUSE_ABSENCE, "closed")
    assert "listed.csv" in lost.detail
