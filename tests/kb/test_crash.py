"""What a process that is killed leaves behind: whole transactions, and nothing else."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kb.document import decode
from kb.knowledge_base import KnowledgeBase

ROOT = Path(__file__).parents[2]

WRITER = """
import sys
from pathlib import Path
from kb.document import decode
from kb.knowledge_base import KnowledgeBase
from kb.quantity import parse_number
from kb.statement import Evidence, Statement

def grounded(document):
    for passage in document.passages:
        quote = document.text[passage.start : passage.end]
        statement = Statement(quote.split(",")[0], "size", parse_number(quote.split(",")[1]))
        yield statement, Evidence(
            statement.id, document.source_sha256, document.text_sha256,
            passage.start, passage.end, quote, "test/1",
        )

base = KnowledgeBase.open(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    number = len(base.documents())
    data = "".join(f"d{number}n{row},{row}\\n" for row in range(40)).encode()
    document = decode(data, name=f"d{number}.csv")
    if sys.argv[2] == "admit":
        base.admit(document, data, list(grounded(document)), run="r")
    else:
        base.import_statements(document, data, grounded(document), run="r", chunk=7)
    base.search(f"d{number}n1", 1)
    base.record_verdict(data, {"number": number})
"""


def run_and_kill(directory: Path, how: str, seconds: float) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(directory), how],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("how", ["admit", "import"])
def test_killing_a_writer_leaves_whole_transactions(tmp_path: Path, how: str) -> None:
    directory = tmp_path / "kb"
    KnowledgeBase.create(directory, namespace="https://example.org/kb/").close()
    chance = random.Random(7)
    before = 0
    for _ in range(6):
        run_and_kill(directory, how, chance.uniform(0.02, 0.25))
        with KnowledgeBase.open(directory) as base:
            base.verify_log()
            assert base.revision >= before
            before = base.revision
            records = base.documents()
            for record in records:
                rows = list(base.every_statement(source_sha256=record.source_sha256))
                if how == "admit" or record.complete:
                    assert len(rows) == 40
                else:
                    assert len(rows) % 7 == 0
                assert base.document(record.source_sha256).text_sha256 == record.text_sha256
                (hit,) = base.search(f"{record.title}n3", 1)
                assert hit.text == f"{record.title}n3,3"
            incomplete = [record for record in records if not record.complete]
            assert len(incomplete) <= 6
    assert before > 10


def test_an_import_killed_on_the_way_is_resumed(tmp_path: Path) -> None:
    directory = tmp_path / "kb"
    KnowledgeBase.create(directory, namespace="https://example.org/kb/").close()
    data = "".join(f"n{row},{row}\n" for row in range(30)).encode()
    document = decode(data, name="n.csv")
    script = (
        WRITER[: WRITER.index("base = ")]
        + """
import os
base = KnowledgeBase.open(Path(sys.argv[1]))
data = "".join(f"n{row},{row}\\n" for row in range(30)).encode()
document = decode(data, name="n.csv")

def killed():
    for index, pair in enumerate(grounded(document)):
        if index == 17:
            os.kill(os.getpid(), 9)
        yield pair

print(base.import_statements(
    document, data, killed() if sys.argv[2] == "kill" else grounded(document), run="r", chunk=5
))
base.close()
"""
    )

    def run(how: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", script, str(directory), how],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("kill").returncode == -signal.SIGKILL
    with KnowledgeBase.open(directory) as base:
        base.verify_log()
        assert len(list(base.every_statement())) == 10
        assert not base.record(document.source_sha256).complete
    assert "inserted=20, already=10" in run("resume").stdout
    with KnowledgeBase.open(directory) as base:
        base.verify_log()
        assert len(list(base.every_statement())) == 30
        assert base.record(document.source_sha256).complete
