"""The benchmarks of closure and supports measure what they say, at a small size."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import closure, horn_programs, supports
from bench.report import goal
from reasoner.engines.linear import fire


@pytest.mark.parametrize("kind", sorted(horn_programs.KINDS))
def test_linear_and_bare_clingo_close_the_same_file(kind: str, tmp_path: Path) -> None:
    program = horn_programs.KINDS[kind](500)
    path = tmp_path / f"{kind}.npz"
    horn_programs.save(program, path)
    row = closure.measure_linear(path)
    assert row["derived"] == len(fire(program).order) > 1
    assert row["cold_s"] > 0
    for way in closure.WAYS:
        assert closure.measure_clingo(path, way)["cold_s"] > 0


@pytest.mark.parametrize("kind", sorted(supports.KINDS))
def test_goals_of_the_supports_benchmark_are_provable(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"{kind}.npz"
    horn_programs.save(supports.KINDS[kind](20), path)
    row = supports.measure(path, supports.top(kind, 20))
    assert 0 < row["certificate"] <= 20
    assert row["supports"] >= 1


def test_goals_say_whether_they_are_met() -> None:
    assert goal("x", 1.0, 2.0, at_most=True)["met"]
    assert not goal("x", 1.0, 2.0, at_most=False)["met"]
