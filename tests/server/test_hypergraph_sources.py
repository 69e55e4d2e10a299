"""The certificate of a hypergraph goal, checked against the file it was proved from."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run, runner

GRAPH = {
    "format": "proofweave.hypergraph/1",
    "atoms": ["wet", "regen – مطر", "-wet"],
    "hyperedges": [{"id": "e1", "tail": ["regen – مطر"], "head": "wet"}],
    "units": [{"id": "u1", "states": ["regen – مطر"], "text": "Es regnete.", "source": "a.txt"}],
}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


@pytest.mark.parametrize("name", ["graph.json", "graph.JSON", "graph"])
def test_the_file_is_a_source_of_its_certificate(run: Run, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / name).write_text(json.dumps(GRAPH, ensure_ascii=False, indent=1))
    proof = tmp_path / "proof"
    assert run("prove", "--hypergraph", folder / name, "wet", "-o", proof).code == 0
    checked = run("verify", proof, "--sources", folder)
    assert checked.code == 0, checked.out
    assert "the quotes of 1 statements stand in their sources" in checked.out
    alone = [sys.executable, "-I", Path(__file__).parents[2] / "reasoner" / "verify.py"]
    done = subprocess.run(
        [*map(str, alone), str(proof), "--sources", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / name).write_text(json.dumps(GRAPH, ensure_ascii=False))
    assert run("verify", proof, "--sources", folder).code == 5
