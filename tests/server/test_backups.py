"""Backups of a knowledge base that is written to meanwhile."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest
from command_line import runner

from kb.document import decode
from kb.knowledge_base import KnowledgeBase
from kb.statement import Evidence, Statement, Text
from server.backups import back_up, bring_back


def admit(base: KnowledgeBase, number: int) -> None:
    """Add a document with one statement."""
    data = f"Company {number} has the number N{number}.".encode()
    document = decode(data, name=f"{number}.txt")
    statement = Statement(f"Company {number}", "registration_number", Text(f"N{number}"))
    digest = hashlib.sha256(data).hexdigest()
    evidence = Evidence(
        statement.id, digest, document.text_sha256, 0, len(document.text), document.text, "test/1"
    )
    base.admit(document, data, [(statement, evidence)], run="test")


def test_a_backup_taken_while_goals_are_decided_holds_what_its_receipts_name(
    tmp_path: Path,
) -> None:
    base = KnowledgeBase.create(tmp_path / "kb", namespace="https://example.org/kb/")
    with base:
        stopped = threading.Event()

        def write() -> None:
            number = 0
            while not stopped.is_set():
                admit(base, number)
                receipt = {"revision": str(base.revision), "log_head": base.head}
                base.record_verdict(f'{{"number":{number}}}'.encode(), receipt)
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            taken = [back_up(tmp_path / "kb", tmp_path / f"{n}.tar.gz") for n in range(4)]
        finally:
            stopped.set()
            writer.join()
    for number, told in enumerate(taken):
        place = tmp_path / f"restored-{number}"
        assert bring_back(tmp_path / f"{number}.tar.gz", place)["revision"] == told["revision"]


@pytest.mark.parametrize("kept", [0.2, 0.6, 0.99])
def test_a_backup_that_is_not_whole_leaves_nothing_behind(
    tmp_path: Path,
    kept: float,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    with KnowledgeBase.create(tmp_path / "kb", namespace="https://example.org/kb/") as base:
        for number in range(20):
            admit(base, number)
    back_up(tmp_path / "kb", tmp_path / "whole.tar.gz")
    data = (tmp_path / "whole.tar.gz").read_bytes()
    (tmp_path / "part.tar.gz").write_bytes(data[: int(len(data) * kept)])
    run = runner(monkeypatch, capfdbinary)
    result = run("restore", tmp_path / "part.tar.gz", tmp_path / "kb2", "--json")
    assert result.code == 2
    assert "no whole backup" in result.json["error"]["message"]
    assert not (tmp_path / "kb2").exists()


def test_backups_taken_while_documents_come_in_can_all_be_restored(tmp_path: Path) -> None:
    base = KnowledgeBase.create(tmp_path / "kb", namespace="https://example.org/kb/")
    with base:
        stopped = threading.Event()
        count = 0

        def write() -> None:
            nonlocal count
            while not stopped.is_set():
                admit(base, count)
                count += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(4):
                back_up(tmp_path / "kb", tmp_path / f"{number}.tar.gz")
        finally:
            stopped.set()
            writer.join()
    assert count > 4
    with KnowledgeBase.open(tmp_path / "kb") as original:
        for number in range(4):
            place = tmp_path / f"restored-{number}"
            restored = bring_back(tmp_path / f"{number}.tar.gz", place)
            with KnowledgeBase.open(place) as copy:
                then = original.at(copy.revision)
                assert restored["revision"] == copy.revision <= original.revision
                assert copy.head == then.head
                assert copy.documents() == then.documents()
                assert list(copy.every_statement()) == list(then.every_statement())
