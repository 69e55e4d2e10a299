"""One rule of exit codes: 2 for what was typed and is not there or unreadable, 1 for the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run, runner

POLICY = "%! policy: rooms\n%! version: 1\nok(X) :- room(X), size(X, S), S >= 10.\n"
FLAWED = f"{POLICY}big(X) :- siez(X, S), S > 1, 3 < 2.\nbad(X) :- room(Y).\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a knowledge base that holds one policy, and files beside it."""
    folder = tmp_path_factory.mktemp("codes")
    (folder / "p.lp").write_text(POLICY)
    (folder / "flawed.lp").write_text(FLAWED)
    (folder / "f.lp").write_text("room(a). size(a, 12).\n")
    (folder / "graph.json").write_text(
        '{"format": "proofweave.hypergraph/1", "atoms": ["enabled"], "hyperedges": [{"id": 1}]}'
    )
    for words in (["init", "kb"], ["policy", "publish", "p.lp", "--kb", "kb"]):
        command = [sys.executable, "-m", "server", *words]
        root = Path(__file__).parents[2]
        paths = os.pathsep.join([str(root), str(root / "protos")])
        environment = {**os.environ, "PYTHONPATH": paths}
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return folder


UNKNOWN = [
    "prove --kb kb --policy nope ok(a)",
    "prove --kb kb --policy rooms@9 ok(a)",
    "prove --kb kb --policy rooms okk(a)",
    "prove --kb kb --policy rooms ok(a",
    "prove --kb kb --policy rooms ok(a) --at 999",
    "prove --kb kb --policy rooms ok(a) --retract st:nope",
    "prove --kb none --policy rooms ok(a)",
    "prove --policy none.lp ok(a)",
    "supports --kb kb --policy nope ok(a)",
    "supports --kb kb --policy rooms okk(a)",
    "supports --policy p.lp --facts f.lp ok(a) --resume xx",
    "contrast --kb kb --policy rooms ok(a) okk(b)",
    "diff --kb kb --policy rooms --policy nope ok(a)",
    "diff --kb kb --decision 1 --decision 999",
    "dependents --kb kb nope.md",
    "dependents --kb kb policies/nope",
    "certificate get --kb kb abcdef0123456789",
    "retract document --kb kb nope.md",
    "retract statement --kb kb st:nope",
    "operation resume --kb kb 99",
    "lattice show --kb kb nope",
    "lattice compare --kb kb nope a b",
    "pack test nope",
    "restore none.tar.gz other",
    "log verify --kb none",
]
REFUSED = [
    "sparql --kb kb SELEC",
    "policy check flawed.lp",
    "prove --policy flawed.lp --facts f.lp ok(a)",
    "prove --hypergraph graph.json enabled",
    "init kb",
    "prove --server 127.0.0.1:1 --policy rooms ok(a)",
]


@pytest.mark.parametrize("words", [*UNKNOWN, *REFUSED])
def test_unknown_names_are_usage_and_refused_files_errors(
    run: Run, base: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(base)
    outcome = run(*words.split())
    assert outcome.code == (2 if words in UNKNOWN else 1), outcome.err
    assert outcome.err.startswith("error: ") or "warning: " in outcome.err
    assert "internal" not in outcome.err


def test_errors_do_not_hide_warnings(run: Run, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(base)
    expected = {
        "warning: flawed.lp:4:1: rule big.1: 3 < 2 is never true",
        "error: flawed.lp:5:1: rule bad.1: nothing binds X in the head bad(X); add an atom with it",
    }
    misspelt = (
        "warning: flawed.lp:4:11: rule big.1: no rule and no fact gives siez/2; did you mean size?"
    )
    alone = set(run("policy", "check", "flawed.lp").err.splitlines())
    assert expected <= alone
    assert misspelt not in alone
    beside = run("policy", "check", "flawed.lp", "--facts", "f.lp")
    assert expected | {misspelt} <= set(beside.err.splitlines())
    assert beside.code == 1
    found = run("policy", "check", "flawed.lp", "--facts", "f.lp", "--json").json["error"]
    assert {problem["severity"] for problem in found["problems"]} == {"error", "warning"}
    stored = run("policy", "check", "flawed.lp", "--kb", "kb")
    assert any("siez/2" in line for line in stored.err.splitlines())
    assert run("policy", "check", "p.lp", "--facts", "f.lp", "--kb", "kb").code == 2


def test_a_rule_that_cannot_be_read_is_not_said_to_be_missing(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "p.lp"
    file.write_text(
        "ok(X) :- certified(X).\ncertified(X) :- room(X), ,.\ncertifies(X) :- room(X).\n"
    )
    errors = run("policy", "check", file).err
    assert "error: p.lp:2:" in errors
    assert "did you mean" not in errors


def test_a_reader_that_leaves_gets_no_trace(base: Path) -> None:
    """An error as JSON, into a pipe that nobody reads."""
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), str(root / "protos")])
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "server", "policy", "check", "flawed.lp", "--json"],
            cwd=base,
            env={**os.environ, "PYTHONPATH": paths},
            stdout=write,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(write)
    assert b"Traceback" not in done.stderr
    assert done.returncode == 1


def test_each_problem_of_a_file_names_the_file(
    run: Run, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(base)
    (base / "games.jsonl").write_text('{"id": "a", "turns": []}\n[]\n')
    for words, file in (
        ("prove --hypergraph graph.json enabled", "graph.json"),
        ("prove --game-log games.jsonl enabled(1)", "games.jsonl"),
    ):
        outcome = run(*words.split())
        lines = outcome.err.splitlines()
        assert len(lines) >= 2
        assert all(line.startswith(f"error: {file}: ") for line in lines)
        shown = run(*words.split(), "--json").json["error"]["problems"]
        assert {problem["file"] for problem in shown} == {file}
