"""What if, why not and what flipped for goals of hypergraphs, from the shell and over the wire."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import grpc
import pytest
from command_line import Run, runner
from live_server import Live
from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from server.status import failure_of

TRIP: dict[str, Any] = {
    "format": "proofweave.hypergraph/1",
    "atoms": [
        *("boarded(max)", "ticket(max)", "pass(max)"),
        *("boarded(eva)", "ticket(eva)", "pass(eva)", "paid(eva)"),
    ],
    "hyperedges": [
        {
            "id": "e1",
            "tail": ["pass(max)", "ticket(max)"],
            "head": "boarded(max)",
            "cite": "rule 4",
        },
        {"id": "e2", "tail": ["pass(eva)", "ticket(eva)"], "head": "boarded(eva)"},
        {"id": "e3", "tail": ["paid(eva)"], "head": "ticket(eva)"},
    ],
    "units": [
        {"id": "u1", "states": ["ticket(max)"], "text": "Max has a ticket.", "source": "list.txt"},
        {"id": "u2", "states": ["pass(max)"], "text": "Max shows his pass."},
        {"id": "u3", "states": ["pass(eva)"], "text": "Eva shows her pass."},
    ],
    "goals": ["boarded(max)"],
}
GAMES = [
    {
        "id": name,
        "initial_facts": facts,
        "turns": [
            {
                "turn": 1,
                "command": "open",
                "preconditions": ["shut"],
                "added": ["open"],
                "removed": [],
            },
            {
                "turn": 2,
                "command": "take",
                "preconditions": ["open", "key"],
                "added": ["has"],
                "removed": [],
            },
        ],
    }
    for name, facts in (("g1", ["shut", "key"]), ("g2", ["shut"]))
]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


@pytest.fixture
def trip(tmp_path: Path) -> Path:
    """A hypergraph file."""
    return written(tmp_path / "trip.json")


def written(path: Path, **changes: Any) -> Path:
    """Write the hypergraph with some fields changed."""
    path.write_text(json.dumps({**TRIP, **changes}))
    return path


def goal(text: str = "boarded(max)", **fields: Any) -> pb.Goal:
    """Give a goal in the hypergraph."""
    return pb.Goal(goal=text, hypergraph=json.dumps(TRIP).encode(), **fields)


def test_a_contrast_in_a_hypergraph_has_the_exit_code_of_the_other(trip: Path, run: Run) -> None:
    options = ("--hypergraph", trip)
    shown = run("contrast", "boarded(max)", "boarded(eva)", *options)
    assert shown.code == 3
    assert "CERTIFIED: boarded(max)" in shown.out
    assert "“Max has a ticket.”  list.txt" in shown.out
    assert "lacks  ticket(eva)  [GAP_IN_CORPUS]" in shown.out
    assert "boarded(eva) would be proved with (optimal):\n  1. paid(eva)" in shown.out
    found = run("contrast", "boarded(max)", "boarded(eva)", *options, "--json").json
    assert found["kind"] == "differs"
    assert [
        (one["requirement"], one["counterpart"], one["rule"], one["depth"], one["part_of"])
        for one in found["differences"]
    ] == [("ticket(max)", "ticket(eva)", "e2", 1, None), (None, "paid(eva)", "e3", 2, 0)]
    assert found["other"]["certificate"]["verdict"] == "ABSTAINED"
    both = run("contrast", "boarded(max)", "pass(eva)", *options)
    assert (both.code, "both are certified" in both.out) == (0, True)
    open_ = run("contrast", "boarded(eva)", "paid(eva)", *options)
    assert "boarded(eva) itself is not certified" in open_.out
    supposed = run("contrast", "boarded(max)", "boarded(eva)", *options, "--assume", "paid(eva)")
    assert supposed.code == 0
    wrong = run("contrast", "boarded(max)", "boarded(ev)", *options)
    assert (wrong.code, "did you mean 'boarded(eva)'" in wrong.err) == (2, True)


def test_two_hypergraphs_are_compared(trip: Path, tmp_path: Path, run: Run) -> None:
    changed = written(tmp_path / "new.json", hyperedges=TRIP["hyperedges"][1:])
    both = ("diff", "boarded(max)", "--hypergraph", trip, "--hypergraph", changed)
    shown = run(*both)
    assert shown.code == 0
    assert "flipped first, in the proof of the first: boarded(max)" in shown.out
    assert "its rule is another there; new.json has no hyperedge e1" in shown.out
    (flip,) = run(*both, "--json").json["flips"]
    assert (flip["cause"], flip["step"]["rule"], flip["step"]["cite"]) == ("rule", "e1", "rule 4")
    same = run("diff", "boarded(max)", "--hypergraph", trip, "--hypergraph", trip)
    assert "unchanged: the same certificate" in same.out


def test_units_are_left_out_and_atoms_assumed_on_the_second_side(trip: Path, run: Run) -> None:
    asked = ("diff", "boarded(max)", "--hypergraph", trip)
    found = run(*asked, "--without", "u1", "--json").json
    (flip,) = found["flips"]
    assert (flip["cause"], flip["side"], flip["step"]["conclusion"]) == (
        "request",
        1,
        "ticket(max)",
    )
    assert [step["conclusion"] for step in flip["chain"]] == ["ticket(max)", "boarded(max)"]
    assert flip["step"]["quotes"][0]["quote"] == "Max has a ticket."
    assert found["second"]["certificate"]["retractions"]
    back = run("diff", "boarded(eva)", "--hypergraph", trip, "--with", "paid(eva)", "--json").json
    (flip,) = back["flips"]
    assert (flip["side"], flip["step"]["kind"], flip["step"]["conclusion"]) == (
        2,
        "assumed",
        "paid(eva)",
    )
    undone = run(*asked, "--without", "u1", "--with", "ticket(max)", "--json").json
    assert undone["flips"] == []
    wrong = run(*asked, "--without", "u9", "--with", "tickets(max)")
    assert wrong.code == 2
    assert "'u9' cannot be left out" in wrong.err
    assert "did you mean 'ticket(max)'" in wrong.err


def test_two_games_of_a_log_are_compared_and_contrasted(tmp_path: Path, run: Run) -> None:
    log = tmp_path / "games.jsonl"
    log.write_text("\n".join(map(json.dumps, GAMES)))
    options = ("--game-log", log, "--game", "g1")
    found = run("diff", "enabled(2)", *options, "--game", "g2", "--json").json
    (flip,) = found["flips"]
    assert flip["step"]["conclusion"] == "key@0"
    outcome = run("contrast", "enabled(1)", "enabled(2)", "--game-log", log, "--game", "g2")
    assert (outcome.code, "lacks  key@?2" in outcome.out) == (3, True)


def test_a_policy_too_is_compared_with_what_if(tmp_path: Path, run: Run) -> None:
    (tmp_path / "p.lp").write_text("ok(X) :- a(X), b(X).\n")
    (tmp_path / "f.lp").write_text("a(x). b(x).\n")
    asked = ("diff", "ok(x)", "--policy", tmp_path / "p.lp", "--facts", tmp_path / "f.lp")
    (flip,) = run(*asked, "--without", "b(x)", "--json").json["flips"]
    assert (flip["cause"], flip["step"]["conclusion"]) == ("request", "b(x)")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "nothing is given twice"),
        (("--policy", "p.lp"), "expected one of them"),
        (("--hypergraph", "{trip}", "--hypergraph", "{trip}"), "more than twice"),
        (("--decision", "1", "--decision", "2"), "given twice and alone"),
        (("--game", "g1"), "--game is given without --game-log"),
    ],
)
def test_sides_of_hypergraphs_that_are_none_are_usage(
    trip: Path, run: Run, options: tuple[str, ...], words: str
) -> None:
    given = [option.format(trip=trip) for option in options]
    outcome = run("diff", "boarded(max)", "--hypergraph", trip, *given)
    assert outcome.code == 2
    assert words in outcome.err


def test_why_not_and_supports_see_what_is_supposed(trip: Path, run: Run) -> None:
    found = run("prove", "boarded(eva)", "--hypergraph", trip, "--why-not", "--json").json
    assert found["repairs"] == [["paid(eva)"]]
    options = ("--hypergraph", trip, "--assume", "paid(eva)")
    supports = run("supports", "boarded(eva)", *options, "--json").json["supports"]
    assert [[leaf["id"] for leaf in leaves] for leaves in supports] == [["u3", "assumed"]]
    shown = run("prove", "boarded(eva)", *options)
    assert (shown.code, "paid(eva)  assumed" in shown.out) == (0, True)


def test_the_same_over_the_wire(live: Live) -> None:
    reasoning = live.services.reasoning
    contrast = reasoning.ContrastGoals(pb.ContrastGoalsRequest(goal=goal(), other="boarded(eva)"))
    assert contrast.kind == pb.CONTRAST_KIND_DIFFERS
    assert [item.counterpart for item in contrast.differences] == ["ticket(eva)", "paid(eva)"]
    assert [list(repair.facts) for repair in contrast.repairs] == [["paid(eva)"]]
    request = pb.CompareVerdictsRequest(
        goal=goal(), first=pb.Standpoint(), second=pb.Standpoint(retractions=["u2"])
    )
    (flip,) = reasoning.CompareVerdicts(request).flips
    assert (flip.cause, flip.step.conclusion) == (pb.FLIP_CAUSE_REQUEST, "pass(max)")
    fewer = json.dumps({**TRIP, "units": TRIP["units"][1:]}).encode()
    request.second.CopyFrom(pb.Standpoint(hypergraph=fewer, policy_name="fewer.json"))
    (flip,) = reasoning.CompareVerdicts(request).flips
    assert flip.cause == pb.FLIP_CAUSE_STATEMENT_ABSENT
    assert "fewer.json has no unit u1" in flip.detail
    recorded = reasoning.ProveGoal(pb.ProveGoalRequest(goal=goal(retractions=["u1"]))).decision
    assert recorded.receipt.hypothetical
    assert recorded.verdict == common_pb2.VERDICT_ABSTAINED


def test_a_hypergraph_is_not_compared_with_a_policy(live: Live) -> None:
    request = pb.CompareVerdictsRequest(
        goal=goal(), second=pb.Standpoint(policy_text="a :- b.", policy_name="p.lp")
    )
    with pytest.raises(grpc.RpcError) as caught:
        live.services.reasoning.CompareVerdicts(request)
    failure = failure_of(caught.value)
    assert failure.reason == "REQUEST_REJECTED"
    assert "expected a hypergraph on both" in failure.message
