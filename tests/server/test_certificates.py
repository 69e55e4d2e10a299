"""Certificates over the wire: stored, read, checked, exported, compared, signed off."""

from __future__ import annotations

import hashlib
import json

import grpc
import pytest
from live_server import Live
from proofweave.v1 import certificate_pb2 as pb
from proofweave.v1 import common_pb2, reasoning_pb2

from server.status import failure_of

GOALS = ('eligible("Acme GmbH")', 'eligible("Tiny Ltd")', 'insured("Nobody Ltd")')


def prove(live: Live, goal: str, valid_on: str = "2026-03-01") -> common_pb2.Decision:
    """Prove a goal under the published policy."""
    request = reasoning_pb2.Goal(goal=goal, policy="onboarding", valid_on=valid_on)
    call = reasoning_pb2.ProveGoalRequest(goal=request)
    return live.services.reasoning.ProveGoal(call).decision


def read(live: Live, name: str) -> bytes:
    """Read a certificate in pieces."""
    pieces = live.services.certificate.ReadCertificate(pb.ReadCertificateRequest(name=name))
    return b"".join(piece.chunk for piece in pieces)


@pytest.mark.parametrize("goal", GOALS)
def test_a_stored_certificate_is_addressed_by_its_digest(live: Live, goal: str) -> None:
    decision = prove(live, goal)
    data = read(live, decision.certificate)
    assert hashlib.sha256(data).hexdigest() == decision.certificate_sha256
    summary = live.services.certificate.GetCertificate(
        pb.GetCertificateRequest(name=decision.certificate)
    ).certificate
    assert summary.verdict == decision.verdict
    assert summary.goal == goal
    assert summary.policies == ["policies/onboarding@1"]


@pytest.mark.parametrize("goal", GOALS)
def test_every_verdict_is_accepted_by_the_checker(live: Live, goal: str) -> None:
    decision = prove(live, goal)
    request = pb.VerifyCertificateRequest(name=decision.certificate, expect_goal=goal)
    response = live.services.certificate.VerifyCertificate(request)
    assert response.accepted, response.message
    assert response.checked


def test_a_changed_quote_is_rejected(live: Live) -> None:
    certificate = json.loads(read(live, prove(live, GOALS[0]).certificate))
    statement = next(iter(certificate["statements"].values()))
    quote = statement["evidence"][0]["quote"]
    statement["evidence"][0]["quote"] = "X" + quote[1:]
    data = json.dumps(certificate, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    response = live.services.certificate.VerifyCertificate(
        pb.VerifyCertificateRequest(content=data.encode())
    )
    assert not response.accepted
    assert response.rejection == "QUOTE_MISMATCH"


def test_another_goal_is_rejected(live: Live) -> None:
    name = prove(live, GOALS[0]).certificate
    request = pb.VerifyCertificateRequest(name=name, expect_goal='eligible("Other")')
    response = live.services.certificate.VerifyCertificate(request)
    assert response.rejection == "GOAL_MISMATCH"


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"sources": 1}'])
def test_what_is_no_certificate_is_rejected(live: Live, content: bytes) -> None:
    request = pb.VerifyCertificateRequest(content=content)
    response = live.services.certificate.VerifyCertificate(request)
    assert not response.accepted
    assert response.rejection


@pytest.mark.parametrize("goal", GOALS)
def test_the_page_is_self_contained_and_holds_the_quotes(live: Live, goal: str) -> None:
    decision = prove(live, goal)
    request = pb.ExportCertificateRequest(name=decision.certificate, format=pb.EXPORT_FORMAT_HTML)
    first, *rest = live.services.certificate.ExportCertificate(request)
    page = b"".join(piece.chunk for piece in rest).decode()
    assert first.media_type.startswith("text/html")
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    for answer in decision.answers:
        for quote in answer.quotes:
            assert f"<mark>{quote.quote}</mark>" in page
    for requirement in decision.open:
        assert f'id="{requirement.id}"' in page


def test_exports_have_their_forms(live: Live) -> None:
    decision = prove(live, GOALS[0])
    for form, expected in (
        (pb.EXPORT_FORMAT_JSON, "application/json"),
        (pb.EXPORT_FORMAT_TEXT, "text/plain"),
    ):
        request = pb.ExportCertificateRequest(name=decision.certificate, format=form)
        first, *rest = live.services.certificate.ExportCertificate(request)
        assert first.media_type.startswith(expected)
        assert b"".join(piece.chunk for piece in rest)


def test_a_certificate_is_found_by_the_beginning_of_its_digest(live: Live) -> None:
    digest = prove(live, GOALS[0]).certificate_sha256
    request = pb.GetCertificateRequest(name=digest[:12])
    assert live.services.certificate.GetCertificate(request).certificate.sha256 == digest
    for name, status in (
        ("0" * 64, grpc.StatusCode.NOT_FOUND),
        ("0" * 12, grpc.StatusCode.NOT_FOUND),
        ("0", grpc.StatusCode.INVALID_ARGUMENT),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            live.services.certificate.GetCertificate(pb.GetCertificateRequest(name=name))
        assert failure_of(caught.value).status is status


def test_two_certificates_are_compared_part_by_part(live: Live) -> None:
    first, second = prove(live, GOALS[0]), prove(live, GOALS[1])
    compare = live.services.certificate.CompareCertificates
    same = compare(pb.CompareCertificatesRequest(first=first.certificate, second=first.certificate))
    assert same.equal
    assert not same.changes
    other = compare(
        pb.CompareCertificatesRequest(first=first.certificate, second=second.certificate)
    )
    assert not other.equal
    changed = {(change.part, change.kind) for change in other.changes}
    assert ("verdict", pb.CHANGE_KIND_CHANGED) in changed
    assert ("statement", pb.CHANGE_KIND_REMOVED) in changed
    assert ("rule", pb.CHANGE_KIND_REMOVED) in changed


def test_decisions_are_listed_in_order_and_signed_off(live: Live) -> None:
    decision = prove(live, GOALS[0])
    certificates = live.services.certificate
    seen: list[pb.RecordedDecision] = []
    request = pb.ListDecisionsRequest(page_size=3)
    while True:
        response = certificates.ListDecisions(request)
        seen += response.decisions
        if not response.next_page_token:
            break
        request.page_token = response.next_page_token
    names = [found.name for found in seen]
    assert names[-1] == decision.name
    assert len(names) == len(set(names))
    one = certificates.GetDecision(pb.GetDecisionRequest(name=decision.name)).decision
    assert one.receipt.requester == "anonymous"
    assert one.receipt.time.seconds > 0
    sign_off = certificates.CreateSignOff(
        pb.CreateSignOffRequest(name=decision.name, comment="seen")
    )
    (review,) = sign_off.decision.sign_offs
    assert (review.reviewer, review.comment) == ("anonymous", "seen")
    again = certificates.GetDecision(pb.GetDecisionRequest(name=decision.name)).decision
    assert again == sign_off.decision
