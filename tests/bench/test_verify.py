"""The benchmark of the checker measures what it says, at a small size."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bench.long_proofs import KINDS


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("count", [100, 1_000])
def test_proofs_have_the_steps_they_are_asked_to_have(kind: str, count: int) -> None:
    certificate = json.loads(KINDS[kind](count)[0])
    assert len(certificate["steps"]) == count


def test_every_proof_is_examined_in_a_fresh_process() -> None:
    command = [sys.executable, "-m", "bench.verify", "--json", "--sizes", "100,1000"]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert report["bench"] == "verify"
    rows = [(row["proof"], row["steps"]) for row in report["rows"]]
    assert rows == [(kind, count) for kind in sorted(KINDS) for count in (100, 1_000)]
    for row in report["rows"]:
        assert row["us"] > 0
        assert row["printed_lines"] > row["steps"]
    assert len(report["goals"]) == 2
