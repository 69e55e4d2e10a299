"""Readers and writers at once: each answer is of one revision, whoever writes or leaves."""

from __future__ import annotations

import datetime
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from live_server import DOCUMENTS, POLICY, Live, send
from proofweave.v1 import (
    common_pb2,
    knowledge_pb2,
    policy_pb2,
    reasoning_pb2,
    reasoning_pb2_grpc,
)
from served import ENVIRONMENT, served

from server.calls import Desk
from server.knowledge import create_knowledge, open_knowledge
from server.reasoning_service import ReasoningService
from server.settings import Settings

COMPANIES = 12


def letter(number: int) -> tuple[str, bytes]:
    text = (
        f"# Certificates\n\nSupplier {number} GmbH is certified under ISO 9001.\n\n"
        f"Acme GmbH is certified under ISO {9001 if number % 2 else 14001}.\n"
    )
    return f"letter-{number}.md", text.encode()


def publish(live: Live) -> None:
    request = policy_pb2.CreatePolicyVersionRequest(text=POLICY, file_name="onboarding.lp")
    live.services.policy.CreatePolicyVersion(request)


def prove(live: Live, goal: str, at: str = "") -> common_pb2.Decision:
    request = reasoning_pb2.ProveGoalRequest(
        goal=reasoning_pb2.Goal(
            goal=goal, policy="policies/onboarding", at=at, valid_on="2026-03-01"
        )
    )
    return live.services.reasoning.ProveGoal(request).decision


def test_an_answer_given_while_documents_come_in_is_the_one_of_its_revision(empty: Live) -> None:
    """Also an abstention, which names the passages that stood then."""
    publish(empty)
    send(empty.services, {"acme-insurance.md": DOCUMENTS["acme-insurance.md"].encode()})
    written = threading.Event()

    def write() -> None:
        try:
            for number in range(COMPANIES):
                send(empty.services, dict([letter(number)]))
        finally:
            written.set()

    goals = ('eligible("Acme GmbH")', 'insured("Supplier 3 GmbH")', "eligible(S)")
    given: list[tuple[str, common_pb2.Decision]] = []
    writer = threading.Thread(target=write)
    writer.start()
    for goal in itertools.cycle(goals):
        given.append((goal, prove(empty, goal)))
        if written.is_set() and len(given) > len(goals):
            break
    writer.join()
    revisions = {decision.receipt.revision for _, decision in given}
    assert len(revisions) > 1
    for goal, decision in given:
        again = prove(empty, goal, decision.receipt.revision)
        assert again.certificate_content == decision.certificate_content
        assert again.receipt.log_head == decision.receipt.log_head


def test_a_client_that_leaves_keeps_what_was_acknowledged(empty: Live) -> None:
    knowledge = empty.services.knowledge
    blocked = threading.Event()

    def messages() -> Iterator[knowledge_pb2.IngestDocumentsRequest]:
        message = knowledge_pb2.IngestDocumentsRequest
        yield message(start=knowledge_pb2.IngestStart())
        for number in range(3):
            name, data = letter(number)
            yield message(document=common_pb2.FileHeader(file_name=name))
            yield message(chunk=data)
        blocked.wait(30)

    call = knowledge.IngestDocuments(messages())
    names = [next(call).outcome.file_name for _ in range(2)]
    call.cancel()
    blocked.set()
    listed = knowledge.ListDocuments(knowledge_pb2.ListDocumentsRequest(page_size=1000)).documents
    assert set(names) <= {document.file_name for document in listed}
    assert knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest()).log_head
    outcomes, _ = send(empty.services, dict(letter(number) for number in range(3)))
    assert [outcome.admitted.is_new for outcome in outcomes[:2]] == [False, False]


def test_several_writers_on_one_server_take_turns(empty: Live) -> None:
    with ThreadPoolExecutor(4) as pool:
        sent = list(pool.map(lambda number: send(empty.services, dict([letter(number)])), range(8)))
    assert all(outcomes[0].admitted.is_new for outcomes, _ in sent)
    knowledge = empty.services.knowledge
    assert knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest()).log_head
    request = knowledge_pb2.ListDocumentsRequest(page_size=1000)
    names = {document.file_name for document in knowledge.ListDocuments(request).documents}
    assert {letter(number)[0] for number in range(8)} <= names


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("supplier",))
    return tmp_path / "kb"


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "server", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )


def test_a_second_server_on_a_directory_is_refused_and_told_the_first(kb: Path) -> None:
    with served(kb) as first:
        for arguments in (
            ("serve", "--kb", kb, "--port", "0", "--http-port", "0"),
            ("statement", "list", "--kb", kb),
        ):
            done = command(*arguments)
            assert done.returncode == 1
            (line,) = done.stderr.splitlines()
            assert f"in use by the process {first.process.pid} at 127.0.0.1:" in line
            assert "use --server 127.0.0.1:" in line
        assert command("backup", kb, kb.parent / "b.tar.gz").returncode == 0
    assert command("statement", "list", "--kb", kb).returncode == 0


@pytest.mark.skipif(os.getuid() == 0, reason="the administrator may write anywhere")
def test_a_directory_that_may_not_be_written_is_named_in_one_line(kb: Path) -> None:
    kb.chmod(0o555)
    try:
        done = command("statement", "list", "--kb", kb)
    finally:
        kb.chmod(0o755)
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {kb} cannot be written: Permission denied")


def test_a_lock_that_cannot_be_had_is_named_in_one_line(kb: Path) -> None:
    (kb / "server.lock").mkdir()
    done = command("statement", "list", "--kb", kb)
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {kb} cannot be written: Is a directory")


def test_a_clock_that_goes_backwards_shows_in_receipts_alone(kb: Path) -> None:
    times = (datetime.datetime(2026, 3, day, tzinfo=datetime.UTC) for day in range(30, 0, -1))
    bases = open_knowledge({"kb": kb})
    server = grpc.server(ThreadPoolExecutor(2))
    desk = Desk(bases, Settings(), lambda: next(times), lambda _: None)
    reasoning_pb2_grpc.add_ReasoningServiceServicer_to_server(ReasoningService(desk), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = reasoning_pb2_grpc.ReasoningServiceStub(channel)
            goal = reasoning_pb2.Goal(
                goal='eligible("Acme GmbH")', policy_text=POLICY, valid_on="2026-03-01"
            )
            request = reasoning_pb2.ProveGoalRequest(goal=goal)
            first, second = (stub.ProveGoal(request).decision for _ in range(2))
    finally:
        server.stop(None).wait()
        bases.close()
    assert first.certificate_content == second.certificate_content
    assert first.receipt.time.ToDatetime() > second.receipt.time.ToDatetime()
    assert first.name != second.name
