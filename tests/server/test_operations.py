"""Imports over a server in a process of its own: killed on the way, found interrupted, resumed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from proofweave.v1 import common_pb2, knowledge_pb2
from served import Served, served

from server.cli.connection import Services
from server.knowledge import create_knowledge
from server.status import failure_of

Operation = knowledge_pb2.Operation
ROWS = 60_000
"""Three transactions, so that there is time to kill between them."""


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("supplier",))
    return tmp_path / "kb"


def table(rows: int) -> bytes:
    lines = (f"Company {number},HRB {number}" for number in range(rows))
    return "\n".join(("company,registration_number", *lines)).encode()


def begin(found: Services, data: bytes) -> Operation:
    def messages() -> Iterator[knowledge_pb2.ImportStatementsRequest]:
        header = common_pb2.FileHeader(file_name="register.csv")
        start = knowledge_pb2.ImportStart(file=header)
        yield knowledge_pb2.ImportStatementsRequest(start=start)
        for at in range(0, len(data), 500_000):
            yield knowledge_pb2.ImportStatementsRequest(chunk=data[at : at + 500_000])

    return found.knowledge.ImportStatements(messages()).operation


def ended(found: Services, operation: Operation) -> Operation:
    while operation.state == Operation.STATE_RUNNING:
        request = knowledge_pb2.GetOperationRequest(name=operation.name, wait_ms=5_000)
        operation = found.knowledge.GetOperation(request).operation
    return operation


def kill_between_transactions(found: Served, revision: int) -> None:
    """Kill the server when part of the import is in the log."""
    watch = found.services.knowledge.WatchRevisions(knowledge_pb2.WatchRevisionsRequest())
    for response in watch:
        if int(response.revision) >= revision + 2:
            break
    found.process.send_signal(signal.SIGKILL)
    found.process.wait(timeout=30)
    watch.cancel()


def test_an_import_whose_server_is_killed_is_interrupted_and_resumed(kb: Path) -> None:
    data = table(ROWS)
    with served(kb) as first:
        log = first.services.knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest())
        begun = begin(first.services, data)
        assert begun.state == Operation.STATE_RUNNING
        kill_between_transactions(first, int(log.revision))
    with served(kb) as second:
        knowledge = second.services.knowledge
        (found,) = knowledge.ListOperations(knowledge_pb2.ListOperationsRequest()).operations
        assert found.name == begun.name
        assert found.state == Operation.STATE_INTERRUPTED
        assert found.file_name == "register.csv"
        request = knowledge_pb2.ResumeOperationRequest(name=found.name)
        done = ended(second.services, knowledge.ResumeOperation(request).operation)
        assert done.state == Operation.STATE_SUCCEEDED, done.problem
        admitted = done.outcome.admitted
        assert admitted.statements_known > 0
        assert admitted.statements_known + admitted.statements_inserted == ROWS
        with pytest.raises(grpc.RpcError) as again:
            knowledge.ResumeOperation(request)
        assert "is succeeded" in failure_of(again.value).message
        assert knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest()).log_head


def test_a_stopped_server_leaves_an_import_to_be_resumed(kb: Path) -> None:
    with served(kb) as first:
        begun = begin(first.services, table(ROWS))
    with served(kb) as second:
        knowledge = second.services.knowledge
        get = knowledge_pb2.GetOperationRequest(name=begun.name)
        state = knowledge.GetOperation(get).operation.state
        assert state in (Operation.STATE_INTERRUPTED, Operation.STATE_SUCCEEDED)
        if state == Operation.STATE_INTERRUPTED:
            request = knowledge_pb2.ResumeOperationRequest(name=begun.name)
            done = ended(second.services, knowledge.ResumeOperation(request).operation)
            assert done.state == Operation.STATE_SUCCEEDED
        listed = knowledge.ListDocuments(knowledge_pb2.ListDocumentsRequest(page_size=1000))
        assert "register.csv" in {document.file_name for document in listed.documents}


def test_an_import_that_failed_says_why_after_a_restart(kb: Path) -> None:
    with served(kb) as first:
        failed = ended(first.services, begin(first.services, b"company\nAcme GmbH\n"))
        assert failed.state == Operation.STATE_FAILED
    with served(kb) as second:
        get = knowledge_pb2.GetOperationRequest(name=failed.name)
        found = second.services.knowledge.GetOperation(get).operation
        assert (found.state, found.problem) == (failed.state, failed.problem)
