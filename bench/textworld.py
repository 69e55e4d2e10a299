"""Which turns of a game enable each turn, against a walk through the log.

python -m bench.textworld --json [--logs F] [--out F]

Every turn is asked. A *twin* is the same question without one turn that every enabling set holds:
it must abstain and name what that turn added. A *cut log* is the log with a turn deleted, its
removals too: the question must be answered as the walk answers it, enabled or not. The baselines
flatten the hypergraph (bench/projections.py): a pairwise one errs where it proves a twin, a
committed one where it misses what is enabled.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.log_walk import Sets, enabling_sets, goes_on, replays
from bench.projections import (
    Flat,
    ancestors,
    committed,
    in_context,
    pairwise,
    two_section,
    without_turns,
)
from bench.report import goal, publish
from reasoner.game_log import GameLog, enabled, game_hypergraph, read_game_logs, unit_of
from reasoner.hypergraph import (
    CompiledHypergraph,
    GoalDecision,
    Hypergraph,
    compile_hypergraph,
    decide_hypergraph,
    read_hypergraph,
    write_hypergraph,
)
from reasoner.supports import supports
from reasoner.verdict import Verdict

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PROOFWEAVE_SHARED", ROOT.parent / "shared")) / "data"


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one question; `group` is questions, twins or cut logs."""

    group: str
    kind: str
    turn: str
    expected: bool
    right: bool
    exact: bool
    named: bool
    ms: float
    flat: dict[str, bool]
    record: dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--logs", type=Path, default=SHARED / "textworld" / "logs.jsonl")
    parser.add_argument("--out", type=Path, help="write one JSON line per question and twin")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    data = options.logs.read_bytes()
    logs = read_game_logs(data, name=options.logs.name)
    entries = [json.loads(line) for line in data.decode().splitlines() if line.strip()]
    kinds = {entry["id"]: str(entry.get("kind", "game")) for entry in entries}
    asked = [each for log in logs for each in measure(log, kinds[log.id])]
    seconds = time.perf_counter() - started
    if options.out is not None:
        lines = (json.dumps(each.record, ensure_ascii=False) + "\n" for each in asked)
        options.out.write_text("".join(lines), encoding="utf-8")
    publish(report(asked, games=len(logs), seconds=seconds), as_json=options.json)


def measure(log: GameLog, kind: str) -> Iterator[Asked]:
    """Ask every turn of a log, its twins, and the log with each enabling turn deleted."""
    graph = read_hypergraph(write_hypergraph(game_hypergraph(log)), name=log.id)
    flat, unordered = in_context(graph), without_turns(graph)
    walked = enabling_sets(log)
    for turn in log.turns:
        number = turn.number
        found = _ask(graph, flat, log, number, walked[number], ("question", kind, log.id))
        found.flat["facts without turns exact"] = _sets(unordered, number) == walked[number]
        latest = committed(in_context(unordered), last=True)
        found.flat["facts without turns committed"] = enabled(number) in latest
        yield found
        needed = frozenset.intersection(*walked[number]) if walked[number] else frozenset()
        for left_out in sorted(needed):
            yield _twin(graph, log, number, left_out, kind)
        for left_out in sorted(frozenset().union(*walked[number])):
            kept = tuple(each for each in log.turns if each.number != left_out)
            yield _cut(replace(log, turns=kept), number, left_out, kind)


def _ask(
    graph: Hypergraph,
    flat: Flat,
    log: GameLog,
    turn: int,
    walked: Sets,
    names: tuple[str, str, str],
) -> Asked:
    """Ask one turn, with all its enabling sets."""
    group, kind, identifier = names
    began = time.perf_counter()
    (decision,) = decide_hypergraph(graph, goals=[enabled(turn)])
    sets = _sets(graph, turn)
    ms = (time.perf_counter() - began) * 1000
    certified = decision.verdict is Verdict.CERTIFIED
    chosen = frozenset(map(_number, decision.units))
    played = all(replays(log, turns, turn) for turns in sets)
    target = enabled(turn)
    by_edge = {edge: _number(unit.id) for unit in graph.units for edge in unit.witnesses}
    before = {by_edge[edge] for edge in ancestors(flat, target) if edge in by_edge}
    return Asked(
        group,
        kind,
        f"{log.id}:{turn}",
        bool(walked),
        right=certified == bool(walked) and (not certified or chosen in walked),
        exact=sets == walked and played,
        named=certified or bool(decision.open),
        ms=ms,
        flat={
            **_flattened(flat, target),
            "pairwise ancestors exact": frozenset({frozenset(before)}) == walked,
            "player goes on": goes_on(log, turn),
        },
        record=_record(f"{identifier}:{turn}", log, turn, decision, sets, ms),
    )


def _twin(graph: Hypergraph, log: GameLog, turn: int, left_out: int, kind: str) -> Asked:
    """Ask without a unit that every support holds."""
    context = frozenset(unit.id for unit in graph.units) - {unit_of(left_out)}
    began = time.perf_counter()
    (decision,) = decide_hypergraph(graph, goals=[enabled(turn)], context=context)
    ms = (time.perf_counter() - began) * 1000
    missing = {found.atom for found in decision.open}
    (added,) = (each.added for each in log.turns if each.number == left_out)
    flat, target = in_context(graph, context), enabled(turn)
    identifier = f"{log.id}:{turn} without turn {left_out}"
    return Asked(
        "twin",
        kind,
        f"{log.id}:{turn}",
        expected=False,
        right=decision.verdict is Verdict.ABSTAINED,
        exact=True,
        named=any(f"{fact}@{left_out}" in missing for fact in added),
        ms=ms,
        flat=_flattened(flat, target),
        record=_record(identifier, log, turn, decision, frozenset(), ms),
    )


def _flattened(flat: Flat, target: str) -> dict[str, bool]:
    """Say by which baseline the target is proved; the edge that adds comes before one that leaves.

    So the first edge of a fact is its latest addition, the last an earlier one.
    """
    return {
        "pairwise": target in pairwise(flat),
        "two-section": target in two_section(flat),
        "committed to the latest": target in committed(flat),
        "committed to the earlier": target in committed(flat, last=True),
    }


def _cut(log: GameLog, turn: int, left_out: int, kind: str) -> Asked:
    """Ask a log from which a turn was deleted; where nothing enables it, it must say what lacks."""
    graph = game_hypergraph(log)
    walked = enabling_sets(log)[turn]
    names = ("cut log", kind, f"{log.id} without turn {left_out}")
    return _ask(graph, in_context(graph), log, turn, walked, names)


def _sets(graph: Hypergraph, turn: int) -> Sets:
    compiled: CompiledHypergraph = compile_hypergraph(graph)
    goal_number = compiled.number(enabled(turn))
    found = supports(compiled.program, goal_number, compiled.unit_numbers)
    return frozenset(
        frozenset(_number(compiled.name(unit)) for unit in support) for support in found.found
    )


def _number(unit: str) -> int:
    return int(unit.rpartition(" ")[2])


def _record(
    identifier: str, log: GameLog, turn: int, decision: GoalDecision, sets: Sets, ms: float
) -> dict[str, Any]:
    (command,) = (each.command for each in log.turns if each.number == turn)
    return {
        "id": identifier,
        "question": f"which turns enable turn {turn} ({command})?",
        "plan": enabled(turn),
        "verdict": decision.verdict.value,
        "answers": sorted(sorted(turns) for turns in sets),
        "open": [found.atom for found in decision.open],
        "certificate": list(decision.units),
        "ms": round(ms, 3),
    }


def report(asked: Sequence[Asked], *, games: int, seconds: float) -> dict[str, Any]:
    """Sum up by kind of game, then the baselines."""
    rows: list[dict[str, Any]] = []
    for kind in [*sorted({each.kind for each in asked}), "all"]:
        own = [each for each in asked if kind in ("all", each.kind)]
        rows.extend(_row(kind, group, own) for group in ("question", "twin", "cut log"))
    questions, twins, cut = (
        [each for each in asked if each.group == group] for group in ("question", "twin", "cut log")
    )
    still = [each for each in cut if each.expected]
    rows += [
        {
            "baseline": name,
            "questions missed": _share(not each.flat[name] for each in questions),
            "twins proved": _share(each.flat[name] for each in twins),
            "cut logs, enabled: missed": _share(not each.flat[name] for each in still),
            "cut logs, not enabled: proved": _share(
                each.flat[name] for each in cut if not each.expected
            ),
        }
        for name in _flattened(Flat((), frozenset()), "")
    ]
    rows += [
        {
            "baseline": "pairwise ancestors as the enabling set",
            "questions wrong": _share(not e.flat["pairwise ancestors exact"] for e in questions),
            "cut logs, enabled: wrong": _share(
                not e.flat["pairwise ancestors exact"] for e in still
            ),
        },
        {
            "baseline": "facts without their turns as atoms",
            "questions wrong": _share(not e.flat["facts without turns exact"] for e in questions),
            "missed when committed": _share(
                not e.flat["facts without turns committed"] for e in questions
            ),
        },
        {
            "alternatives": "deleting an enabling turn from the log",
            "deletions that leave the turn enabled": _share(each.expected for each in cut),
            "turns with such a deletion": _share_of(still, questions),
            "player could go on where the log does not say so": _share(
                each.flat["player goes on"] for each in cut if not each.expected
            ),
        },
        {"games": games, "seconds in all": round(seconds, 2), "cold ms": round(asked[0].ms, 2)},
    ]
    named = [each for each in [*twins, *cut] if not each.expected]
    goals = [
        goal("enabling sets exact, replayed", _share(e.exact for e in questions), 1, at_most=False),
        goal("certificates minimal", _share(e.right for e in questions), 1, at_most=False),
        goal("twins abstain", _share(e.right for e in twins), 1, at_most=False),
        goal("twins name what is missing", _share(e.named for e in named), 1, at_most=False),
        goal(
            "cut logs answered as walked",
            _share(e.right and e.exact for e in cut),
            1,
            at_most=False,
        ),
    ]
    return {"bench": "textworld", "rows": rows, "goals": goals}


def _row(kind: str, group: str, asked: Sequence[Asked]) -> dict[str, Any]:
    own = [each for each in asked if each.group == group]
    times = [each.ms for each in own]
    return {
        "kind": kind,
        "asked": group,
        "count": len(own),
        "expected enabled": sum(each.expected for each in own),
        "verdict right": _share(each.right for each in own),
        "sets exact": _share(each.exact for each in own),
        "missing named": _share(each.named for each in own if not each.expected),
        "ms_p50": round(statistics.median(times), 3) if times else 0.0,
    }


def _share(values: Iterable[bool]) -> float:
    found = list(values)
    return round(sum(found) / len(found), 4) if found else 1.0


def _share_of(some: Iterable[Asked], all_asked: Sequence[Asked]) -> float:
    return round(len({each.turn for each in some}) / max(len(all_asked), 1), 4)


if __name__ == "__main__":
    main()
