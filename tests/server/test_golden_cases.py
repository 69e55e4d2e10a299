"""Every golden case through the public command line: the same certificate, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run, runner
from golden import Case, golden_cases, summary

EXIT = {"CERTIFIED": 0, "ABSTAINED": 3, "REFUTED": 4}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case.name)
def test_a_case_is_decided_alike_from_the_command_line(
    case: Case, run: Run, tmp_path: Path
) -> None:
    """A request from the command line is always for a day, so that one is named where none was."""
    request, proof = case.request, tmp_path / "proof.json"
    options: list[object] = ["--policy", case.folder / "policy.lp"]
    options += ["--facts", case.folder / "facts.lp", "-o", proof]
    options += ["--valid-on", request.get("valid_on", "2026-01-01")]
    for option, name in (("--assume", "assumptions"), ("--retract", "retractions")):
        options += [part for fact in request.get(name, ()) for part in (option, fact)]
    done = run("prove", *options, "--", request["goal"])
    expected = json.loads((case.folder / "expected.json").read_text(encoding="utf-8"))
    assert done.code == EXIT[expected["verdict"]], done.err
    found = summary(proof.read_bytes())
    if "valid_on" not in request:
        del found["digest"], expected["digest"]
    assert found == expected
