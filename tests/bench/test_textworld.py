"""The benchmark of game logs: its report, its goals, and its baselines on a log of five turns."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bench.textworld import main

SHARED = Path(os.environ.get("PROOFWEAVE_SHARED", Path(__file__).parents[3] / "shared")) / "data"


def _turn(number: int, before: list[str], added: list[str], removed: list[str]) -> dict[str, Any]:
    return {"turn": number, "preconditions": before, "added": added, "removed": removed}


LOG = {
    "id": "door",
    "kind": "made up",
    "initial_facts": ["shut", "here"],
    "turns": [
        _turn(1, ["shut", "here"], ["open"], ["shut"]),
        _turn(2, ["open", "here"], ["shut"], ["open"]),
        _turn(3, ["shut", "here"], ["open"], ["shut"]),
        _turn(4, ["open", "here"], ["there"], ["here"]),
        _turn(5, ["there"], [], []),
    ],
}


def _report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main(["--json", *arguments])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_a_log_is_asked_with_its_twins_and_cuts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs, out = tmp_path / "logs.jsonl", tmp_path / "out.jsonl"
    logs.write_text(json.dumps(LOG) + "\n")
    report = _report(capsys, "--logs", str(logs), "--out", str(out))
    assert [entry["met"] for entry in report["goals"]] == [True] * 5
    every = {row["asked"]: row for row in report["rows"] if row.get("kind") == "all"}
    assert every["question"]["count"] == 5
    assert every["twin"]["count"] == 0 + 1 + 2 + 3 + 4
    records = {record["id"]: record for record in map(json.loads, out.read_text().splitlines())}
    assert records["door:5"]["answers"] == [[1, 2, 3, 4]]
    assert records["door:5 without turn 4"]["verdict"] == "ABSTAINED"
    baselines = {row["baseline"]: row for row in report["rows"] if "baseline" in row}
    assert baselines["pairwise"]["twins proved"] > 0
    # Without turn 2 the door is open since turn 1, and turn 3 opens it again.
    assert baselines["committed to the latest"]["cut logs, enabled: missed"] > 0


@pytest.mark.shared
def test_games_of_each_kind_meet_the_goals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = SHARED / "textworld" / "logs.jsonl"
    if not source.is_file():
        pytest.skip(f"no shared data at {source}")
    kinds: dict[str, str] = {}
    for line in sorted(source.read_text(encoding="utf-8").splitlines(), key=len):
        kinds.setdefault(json.loads(line)["kind"], line)
    (tmp_path / "logs.jsonl").write_text("\n".join(kinds.values()), encoding="utf-8")
    report = _report(capsys, "--logs", str(tmp_path / "logs.jsonl"))
    assert [entry["met"] for entry in report["goals"]] == [True] * 5
