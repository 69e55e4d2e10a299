"""What an abstention says of absences and of values that nobody can compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Outcome, Run, runner

GAME = 'closed(move/2, "board").\nwin(X) :- move(X, Y), not win(Y).\n'
LATE = """\
closed(due/2, "ledger").
late(X) :- due(X, D), D < @date("2024-06-01").
sound(X) :- due(X, _), not late(X).
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


def prove(run: Run, folder: Path, rules: str, facts: str, goal: str) -> Outcome:
    (folder / "p.lp").write_text(rules)
    (folder / "f.lp").write_text(facts)
    return run("prove", "--policy", folder / "p.lp", "--facts", folder / "f.lp", goal, "--json")


CYCLE = "move(a, b). move(b, a). move(c, d). move(e, c)."


@pytest.mark.parametrize(
    ("goal", "code", "missing"),
    [
        ("win(c)", 0, []),
        ("win(d)", 3, ["move(d, Y)"]),
        ("win(e)", 3, ["not win(c)"]),
        ("win(a)", 1, None),
    ],
)
def test_a_goal_beside_a_cycle_of_negations_is_decided(
    run: Run, tmp_path: Path, goal: str, code: int, missing: list[str] | None
) -> None:
    outcome = prove(run, tmp_path, GAME, CYCLE, goal)
    assert outcome.code == code
    if missing is None:
        assert "make the negation of win/1 depend on itself" in outcome.err
    else:
        assert [item["atom"] for item in outcome.json["open"]] == missing


def test_what_may_hold_is_not_said_to_hold(run: Run, tmp_path: Path) -> None:
    facts = 'due(a, @date("2024")). due(b, @date("2023")).'
    shown = prove(run, tmp_path, LATE, facts, "sound(a)").json
    assert shown["code"] == "UNDETERMINED"
    (excluded,) = [item for item in shown["open"] if item["code"] == "EXCLUDED"]
    assert excluded["detail"].endswith("late(a) may hold")
    shown = prove(run, tmp_path, LATE, facts, "sound(b)").json
    (excluded,) = shown["open"]
    assert excluded["detail"].endswith("late(b) holds")


VALUES = """\
share(X, V) :- total(X, S), parts(X, N), V = S / N.
next(X, D) :- born(X, B), D = add_years(B, 1).
sum(X, V) :- paid(X, A), fee(X, B), V = A + B.
"""
STATED = """\
total(a, 5). parts(a, 0). born(b, @date("9999-12-31")).
paid(c, @quantity("5 EUR")). fee(c, @quantity("5 USD")).
"""


@pytest.mark.parametrize(
    ("goal", "open_text", "reason"),
    [
        ("share(a, V)", "V = 5 / 0", "cannot divide 5 by zero"),
        ("next(b, D)", 'D = add_years(@date("9999-12-31"), 1)', "add_years leaves the calendar"),
        (
            "sum(c, V)",
            'V = @quantity("5 EUR") + @quantity("5 USD")',
            'cannot add @quantity("5 EUR") and @quantity("5 USD")',
        ),
    ],
)
def test_what_has_no_value_says_why_and_is_all_that_is_open(
    run: Run, tmp_path: Path, goal: str, open_text: str, reason: str
) -> None:
    shown = prove(run, tmp_path, VALUES, STATED, goal).json
    (requirement,) = shown["open"]
    assert (requirement["atom"], requirement["code"]) == (open_text, "UNDETERMINED")
    assert reason in requirement["detail"]


def test_a_doubtful_test_below_names_both_values(run: Run, tmp_path: Path) -> None:
    facts = 'due(a, @date("2024")). due(b, @date("2023")).'
    shown = prove(run, tmp_path, LATE, facts, "sound(a)").json
    assert shown["open"][0]["detail"] == (
        '@date("2024") and @date("2024-06-01") overlap, or have no common unit'
    )
