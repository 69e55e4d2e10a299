"""`prove --why-not`: the smallest sets of facts that would prove a goal, known values or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import Run, runner

POLICY = """\
%! policy: rooms
closed(paid/2, "ledger").
closed(barred/1, "list").
functional(floor).
open(X) :- key(X), light(X), guard(X).
open(X) :- holder(X, P).
warm(X) :- key(X), light(X).
warm(X) :- heater(X, H), works(H).
both(X) :- open(X), warm(X).
high(X) :- floor(X, F), F >= 5, key(X).
rich(X) :- room(X), #sum{A, I : paid(X, A, I)} > 5.
closed(paid/3, "ledger").
free(X) :- room(X), not barred(X).
"""
FACTS = """\
works(h1). works(h2). floor(low, 3). key(zoo). room(hall). barred(hall). holder(hut, tom).
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


def ask(run: Run, folder: Path, goal: str, *more: str) -> Any:  # the object of the command
    (folder / "p.lp").write_text(POLICY.replace('closed(paid/2, "ledger").\n', ""))
    (folder / "f.lp").write_text(FACTS)
    files = ("--policy", folder / "p.lp", "--facts", folder / "f.lp")
    return run("prove", *files, goal, "--why-not", *more)


@pytest.mark.parametrize(
    ("goal", "repairs", "optimality"),
    [
        ("open(bar)", [["holder(bar, P)"], ["guard(bar)", "key(bar)", "light(bar)"]], "best found"),
        ("warm(bar)", [["heater(bar, H)"], ["key(bar)", "light(bar)"]], "best found"),
        ("warm(zoo)", [["light(zoo)"], ["heater(zoo, H)"]], "optimal"),
        ("high(attic)", [["floor(attic, F)", "key(attic)"]], "best found"),
        ("high(low)", [], None),
        ("rich(hall)", [], None),
        ("free(hall)", [], None),
        ("free(bar)", [["room(bar)"]], "optimal"),
    ],
    ids=[
        "a value nobody knows is cheaper",
        "it joins with what is known",
        "a known one is as cheap",
        "a tested value and a fact",
        "no second value of a functional dimension",
        "no row of a complete source",
        "excluded",
        "ground",
    ],
)
def test_the_smallest_set_comes_first(
    run: Run, tmp_path: Path, goal: str, repairs: list[list[str]], optimality: str | None
) -> None:
    shown = ask(run, tmp_path, goal, "--json").json
    assert [sorted(facts) for facts in shown["repairs"]] == repairs
    assert shown["repairs_optimality"] == optimality
    assert shown["repairs_complete"] == all(
        not variable.isupper() for facts in repairs for fact in facts for variable in fact
    )


def test_a_fact_that_two_rules_lack_counts_once(run: Run, tmp_path: Path) -> None:
    shown = ask(run, tmp_path, "both(bar)", "--json").json
    first = shown["repairs"][0]
    assert sorted(first) == ["heater(bar, H)", "holder(bar, P)"]
    assert sorted(ask(run, tmp_path, "both(hut)", "--json").json["repairs"][0]) == [
        "heater(hut, H)"
    ]


def test_nothing_to_find_is_said(run: Run, tmp_path: Path) -> None:
    assert "no facts that a source may still state would prove it" in (
        ask(run, tmp_path, "free(hall)").out
    )
    assert "(for a variable, a value that fits), best found" in ask(run, tmp_path, "open(bar)").out
