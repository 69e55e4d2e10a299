"""A rule gated by a class, through the command line, and its twin that abstains."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import runner

CASE = Path(__file__).parents[1] / "cases" / "gate" / "under"
VERIFY = Path(__file__).parents[2] / "reasoner" / "verify.py"
GOAL = 'carriage_insured("Acme GmbH")'

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process: exit code and output."""
    run = runner(monkeypatch, capfdbinary)
    return lambda *arguments: run(*arguments)[:2]


def test_the_class_is_a_premise_that_the_verifier_checks(run: Run, tmp_path: Path) -> None:
    policy, facts, proof = CASE / "policy.lp", CASE / "facts.lp", tmp_path / "proof.json"
    code, _ = run("prove", "--policy", policy, "--facts", facts, GOAL, "-o", proof)
    certificate = json.loads(proof.read_text())
    assert (code, certificate["verdict"]) == (0, "CERTIFIED")
    conclusions = [step["conclusion"] for step in certificate["steps"]]
    assert 'under("bulk haulage", "road transport")' in conclusions
    assert 'activity("Acme GmbH", "bulk haulage")' in conclusions
    checked = subprocess.run(
        [sys.executable, "-I", VERIFY, proof, "--sources", CASE, "--expect-goal", GOAL],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    _, text = run("prove", "--policy", policy, "--facts", facts, GOAL)
    assert "activity" in text


def test_elsewhere_the_rule_neither_proves_nor_refutes(run: Run, tmp_path: Path) -> None:
    facts = (CASE / "facts.lp").read_text().replace("bulk haulage", "storage", 1)
    (tmp_path / "facts.lp").write_text(facts)
    given = ("--policy", CASE / "policy.lp", "--facts", tmp_path / "facts.lp")
    code, out = run("prove", *given, GOAL, "--json")
    assert code == 3
    (missing,) = json.loads(out)["open"]
    assert (missing["atom"], missing["rule"]) == (
        'activity("Acme GmbH", Activity)',
        "carriage_insured",
    )
    assert 'under(Activity, "road transport")' in missing["detail"]
    assert '"storage"' in missing["detail"]
