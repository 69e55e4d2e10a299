"""A server killed while it ingests, a few times; `bench.crashes` does it fifty times."""

from __future__ import annotations

from bench.crashes import run


def test_kills_lose_nothing_acknowledged_and_leave_the_same_state() -> None:
    report = run(kills=3, count=6, seed=11)
    assert [entry for entry in report["goals"] if not entry["met"]] == []
    (row,) = report["rows"]
    assert (row["kills"], row["lost"], row["different"]) == (3, 0, "nothing")
