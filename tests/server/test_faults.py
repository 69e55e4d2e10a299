"""What goes wrong around a served knowledge base: full disks, killed servers, files too large."""

from __future__ import annotations

import json
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import grpc
import pytest
from live_server import DOCUMENTS, send, upload
from proofweave.v1 import common_pb2, knowledge_pb2
from served import ENVIRONMENT, Served, served

from server.cli.connection import Services
from server.knowledge import create_knowledge

MEBIBYTE = 1024 * 1024


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("supplier",))
    return tmp_path / "kb"


def titles(found: Services) -> set[str]:
    listed = found.knowledge.ListDocuments(knowledge_pb2.ListDocumentsRequest(page_size=100))
    return {document.file_name for document in listed.documents}


def holds(found: Services) -> bool:
    """Whether the log is whole."""
    return bool(found.knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest()).log_head)


def test_a_full_disk_refuses_a_document_and_the_rest_goes_on(kb: Path) -> None:
    """The size of files is limited, so that writing fails in the middle of a transaction."""
    noise = "".join(f"{number:x}" for number in range(600_000))
    page = f"<html><body><p>Acme GmbH.</p><script>{noise}</script></body></html>"
    files = {
        "before.md": DOCUMENTS["acme-insurance.md"].encode(),
        "large.html": page.encode(),
        "after.md": DOCUMENTS["certificates.md"].encode(),
    }

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (MEBIBYTE, MEBIBYTE))

    with served(kb, limit) as full:
        outcomes, summary = send(full.services, files)
        assert [outcome.WhichOneof("result") for outcome in outcomes] == [
            "admitted",
            "rejected",
            "admitted",
        ]
        assert outcomes[1].rejected.reason == "LOG_UNAVAILABLE"
        assert "log cannot be used" in outcomes[1].rejected.message
        assert (summary.documents_admitted, summary.documents_rejected) == (2, 1)
        assert {"before.md", "after.md"} <= titles(full.services)
        assert "large.html" not in titles(full.services)
        assert holds(full.services)
    with served(kb) as roomy:
        assert holds(roomy.services)
        outcomes, _ = send(roomy.services, files)
        assert [outcome.admitted.is_new for outcome in outcomes] == [False, True, False]


def test_a_server_killed_while_it_reads_leaves_nothing_of_the_document(kb: Path) -> None:
    passages = [
        {"title": f"Acme {number}", "text": f"Acme {number} is based in Hamburg. " * 3}
        for number in range(130)
    ]
    data = json.dumps(passages).encode()
    small = DOCUMENTS["acme-insurance.md"].encode()
    with served(kb) as first:
        send(first.services, {"small.md": small})
        with pytest.raises(grpc.RpcError) as broken:
            kill_at_progress(first, {"corpus.json": data})
        assert broken.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN)
        assert first.process.wait(timeout=30) == -signal.SIGKILL
    with served(kb) as second:
        assert holds(second.services)
        assert "small.md" in titles(second.services)
        assert "corpus.json" not in titles(second.services)
        outcomes, _ = send(second.services, {"small.md": small, "corpus.json": data})
        assert [outcome.admitted.is_new for outcome in outcomes] == [False, True]
        _, again = send(second.services, {"corpus.json": data})
        assert again.statements_inserted == 0
        assert holds(second.services)


def kill_at_progress(found: Served, files: dict[str, bytes]) -> None:
    """Ingest files, and kill the server when it has read some sections, so that this fails."""
    messages = upload(files.items())
    next(messages)
    start = knowledge_pb2.IngestStart(progress=True)
    first = knowledge_pb2.IngestDocumentsRequest(start=start)
    for response in found.services.knowledge.IngestDocuments(chain([first], messages)):
        assert response.WhichOneof("content") == "progress"
        if response.progress.done > 0:
            found.process.send_signal(signal.SIGKILL)


def test_a_file_of_100_mb_is_refused_without_being_kept(kb: Path) -> None:
    def messages() -> Iterator[knowledge_pb2.IngestDocumentsRequest]:
        message = knowledge_pb2.IngestDocumentsRequest
        yield message(start=knowledge_pb2.IngestStart())
        yield message(document=common_pb2.FileHeader(file_name="large.txt"))
        chunk = b"Acme GmbH is based in Hamburg.\n" * (MEBIBYTE // 31)
        for _ in range(101):
            yield message(chunk=chunk)
        yield message(document=common_pb2.FileHeader(file_name="good.md"))
        yield message(chunk=DOCUMENTS["acme-insurance.md"].encode())

    with served(kb) as found:
        send(found.services, {"first.md": DOCUMENTS["certificates.md"].encode()})
        before = found.peak_bytes
        refused, good, last = found.services.knowledge.IngestDocuments(messages())
        assert refused.outcome.rejected.reason == "UPLOAD_TOO_LARGE"
        assert "large.txt" in refused.outcome.rejected.message
        assert good.outcome.admitted.is_new
        assert last.summary.documents_rejected == 1
        assert found.peak_bytes - before < 160 * MEBIBYTE


def test_a_batch_on_the_command_line_goes_on_past_bad_files(kb: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    good = DOCUMENTS["acme-insurance.md"].encode()
    for name, data in {
        "a-empty.txt": b"",
        "b-binary.txt": bytes(range(256)) * 4,
        "c-latin.txt": "Gew\xe4hr".encode("latin-1"),
        "d-good.md": good,
        "e-same.md": good,
    }.items():
        (folder / name).write_bytes(data)
    with (folder / "f-large.txt").open("wb") as large:
        large.truncate(100 * MEBIBYTE)
    command = [sys.executable, "-m", "server", "ingest", "--kb", str(kb), "--json"]
    with socket.socket(socket.AF_UNIX) as unreadable:
        unreadable.bind(str(tmp_path / "socket"))
        done = subprocess.run(
            [*command, str(tmp_path / "socket"), str(folder)],
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            check=False,
        )
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    rejected = {
        one["file"]: one["rejected"]["reason"] for one in report["documents"] if "rejected" in one
    }
    assert rejected == {
        "socket": "FILE_UNREADABLE",
        "a-empty.txt": "DOCUMENT_REJECTED",
        "b-binary.txt": "DOCUMENT_REJECTED",
        "c-latin.txt": "DOCUMENT_REJECTED",
        "f-large.txt": "UPLOAD_TOO_LARGE",
    }
    assert (report["admitted"], report["new"], report["rejected"]) == (2, 1, 5)
