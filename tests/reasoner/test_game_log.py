"""Game logs: atoms are facts since a turn, turns are units, and removals yield nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.errors import GameLogRejected, GoalRejected
from reasoner.game_log import (
    GameLog,
    Turn,
    enabled,
    find_game,
    game_hypergraph,
    read_game_logs,
    unit_of,
)
from reasoner.hypergraph import (
    GoalDecision,
    compile_hypergraph,
    decide_hypergraph,
    read_hypergraph,
    write_hypergraph,
)
from reasoner.supports import supports
from reasoner.verdict import Verdict

DOCS = Path(__file__).parents[2] / "docs"

DRAWER: dict[str, Any] = {
    "id": "drawer",
    "objective": "left alone",
    "entity_names": {"k": "key", "c": "drawer"},
    "initial_facts": ["closed(c: c)", "in(k: k, c: c)"],
    "turns": [
        {
            "turn": 1,
            "command": "open drawer",
            "preconditions": ["closed(c: c)"],
            "added": ["open(c: c)"],
            "removed": ["closed(c: c)"],
        },
        {
            "turn": 2,
            "command": "close drawer",
            "preconditions": ["open(c: c)"],
            "added": ["closed(c: c)"],
            "removed": ["open(c: c)"],
        },
        {
            "turn": 3,
            "command": "open drawer",
            "preconditions": ["closed(c: c)"],
            "added": ["open(c: c)"],
            "removed": ["closed(c: c)"],
        },
        {
            "turn": 4,
            "command": "take key",
            "preconditions": ["open(c: c)", "in(k: k, c: c)"],
            "added": ["in(k: k, I)"],
            "removed": ["in(k: k, c: c)"],
        },
    ],
}


def _log(**changes: Any) -> GameLog:
    (log,) = read_game_logs(json.dumps({**DRAWER, **changes}), name="games.jsonl")
    return log


def _decide(log: GameLog, turn: int, *, without: int | None = None) -> GoalDecision:
    graph = game_hypergraph(log)
    context = None if without is None else [u.id for u in graph.units if u.id != unit_of(without)]
    (decision,) = decide_hypergraph(graph, goals=[enabled(turn)], context=context)
    return decision


def _enabling_sets(log: GameLog, turn: int) -> set[frozenset[int]]:
    graph = game_hypergraph(log)
    compiled = compile_hypergraph(graph)
    goal = compiled.number(enabled(turn))
    found = supports(compiled.program, goal, compiled.unit_numbers)
    assert found.complete
    names = [[compiled.name(number) for number in support] for support in found.found]
    return {frozenset(int(name.removeprefix("turn ")) for name in units) for units in names}


def test_an_added_fact_is_the_head_and_the_preconditions_are_the_tail() -> None:
    graph = game_hypergraph(_log())
    edges = {edge.id: edge for edge in graph.hyperedges}
    taken = edges["turn 4 adds in(k: k, I)"]
    assert taken.tail == ("in(k: k, c: c)@0", "open(c: c)@3")
    assert taken.head == "in(k: k, I)@4"
    assert taken.witness
    units = {unit.id: unit.witnesses for unit in graph.units}
    assert units["turn 4"] == ("turn 4 adds in(k: k, I)",)
    texts = {atom.id: atom.text for atom in graph.atoms}
    assert texts["in(k: k, I)@4"] == "in(key, I), since turn 4"


def test_a_removal_yields_no_edge() -> None:
    graph = game_hypergraph(_log())
    assert len(graph.hyperedges) == 8  # four additions, four turns to enable


def test_a_fact_that_comes_back_is_another_atom() -> None:
    decision = _decide(_log(), 4)
    assert decision.verdict is Verdict.CERTIFIED
    assert decision.units == ("turn 1", "turn 2", "turn 3")


def test_the_twin_without_an_enabling_turn_abstains_and_names_what_it_added() -> None:
    decision = _decide(_log(), 4, without=3)
    assert decision.verdict is Verdict.ABSTAINED
    assert decision.open[0].atom == "open(c: c)@3"
    assert decision.cheapest == ('witnessed("turn 3 adds open(c: c)")',)


def test_a_fact_added_while_it_holds_has_two_ways_to_it() -> None:
    light: dict[str, Any] = {"preconditions": [], "added": ["lit"], "removed": []}
    log = _log(
        initial_facts=[],
        turns=[
            {"turn": 1, **light},
            {"turn": 2, "preconditions": ["lit"], "added": [], "removed": []},
            {"turn": 3, **light},
            {"turn": 4, "preconditions": ["lit"], "added": [], "removed": []},
        ],
    )
    assert _enabling_sets(log, 2) == {frozenset({1})}
    assert _enabling_sets(log, 4) == {frozenset({1}), frozenset({3})}
    assert _decide(log, 4, without=1).verdict is Verdict.CERTIFIED
    assert _decide(log, 2, without=1).verdict is Verdict.ABSTAINED


def test_a_turn_deleted_from_the_log_takes_its_removals_along() -> None:
    turns = DRAWER["turns"]
    never_closed = _log(turns=[turns[0], turns[2], turns[3]])
    assert _enabling_sets(never_closed, 4) == {frozenset({1})}
    never_opened_again = _log(turns=[turns[0], turns[1], turns[3]])
    decision = _decide(never_opened_again, 4)
    assert decision.verdict is Verdict.ABSTAINED
    assert [found.atom for found in decision.open] == ["open(c: c)@?4"]
    assert decision.open[0].query == "open(drawer)"


def test_it_reads_back_from_its_json() -> None:
    graph = game_hypergraph(_log())
    text = write_hypergraph(graph)
    assert read_hypergraph(text, name="drawer.json") == graph
    schema = json.loads((DOCS / "hypergraph.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(text), schema)


def test_the_documented_log_is_read() -> None:
    text = (DOCS / "hypergraph.md").read_text(encoding="utf-8")
    start = text.index('{"id": "kitchen-1"')
    example = " ".join(text[start : text.index("```", start)].splitlines())
    log = find_game(read_game_logs(example, name="docs"), "kitchen-1", name="docs")
    assert _decide(log, 2).units == ("turn 1",)


def test_all_problems_come_together_with_their_places() -> None:
    lines = [
        json.dumps({**DRAWER, "turns": [{**DRAWER["turns"][0], "turn": 0, "added": "open"}]}),
        json.dumps({**DRAWER, "id": "", "initial_facts": [3], "entity_names": []}),
        "{",
        json.dumps(DRAWER),
        "[]",
    ]
    with pytest.raises(GameLogRejected) as caught:
        read_game_logs("\n".join(lines), name="games.jsonl")
    assert [problem.rpartition("; ")[0] for problem in caught.value.problems] == [
        "line 1: turns[0].turn: found the number 0",
        "line 1: turns[0].added: found the text 'open'",
        "line 2: id: found the text ''",
        "line 2: initial_facts[0]: found the number 3",
        "line 2: entity_names: found a list of 0",
        "line 3: this is not JSON (Expecting property name enclosed in double quotes: "
        "line 1 column 2 (char 1))",
        "line 4: id: game 'drawer' stands on an earlier line",
        "line 5: found a list of 0",
    ]


@pytest.mark.parametrize("data", [b"", b" \n", b"\xff"])
def test_a_file_without_games_is_rejected(data: bytes) -> None:
    with pytest.raises(GameLogRejected, match="expected"):
        read_game_logs(data, name="games.jsonl")


def test_a_game_is_chosen_by_its_id() -> None:
    one, other = _log(), _log(id="cellar")
    assert find_game([one], None, name="games.jsonl") is one
    assert find_game([one, other], "cellar", name="games.jsonl") is other
    with pytest.raises(GoalRejected, match="holds 2 games"):
        find_game([one, other], None, name="games.jsonl")
    with pytest.raises(GoalRejected, match="did you mean 'cellar'"):
        find_game([one, other], "celar", name="games.jsonl")


@dataclass(frozen=True, slots=True)
class _Forward:
    """Enabling sets by walking the log forwards: the definition, with no hypergraph."""

    log: GameLog

    def of(self, turn: int) -> set[frozenset[int]]:
        ways: dict[str, set[frozenset[int]]] = {
            fact: {frozenset()} for fact in self.log.initial_facts
        }
        for each in self.log.turns:
            sets = {frozenset[int]()}
            for fact in each.preconditions:
                sets = {one | other for one in sets for other in ways.get(fact, ())}
            sets = {one for one in sets if not any(other < one for other in sets)}
            if each.number == turn:
                return sets
            for fact in each.removed:
                ways.pop(fact, None)
            for fact in each.added:
                all_sets = ways.get(fact, set()) | {one | {each.number} for one in sets}
                ways[fact] = {s for s in all_sets if not any(other < s for other in all_sets)}
        raise AssertionError("no such turn")


_FACTS = st.lists(st.sampled_from("abcde"), max_size=2, unique=True).map(tuple)


@st.composite
def _logs(draw: st.DrawFn) -> GameLog:
    turns = tuple(
        Turn(number, draw(_FACTS), draw(_FACTS), draw(_FACTS))
        for number in range(1, draw(st.integers(2, 8)))
    )
    return GameLog("drawn", draw(_FACTS), turns)


@given(_logs())
def test_enabling_sets_are_those_of_a_walk_through_the_log(log: GameLog) -> None:
    for turn in log.turns:
        assert _enabling_sets(log, turn.number) == _Forward(log).of(turn.number)
