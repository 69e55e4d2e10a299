"""Logs of games, or of any actions with preconditions and effects, as requirement hypergraphs.

A fact comes and goes, so an atom is a fact with the turn since which it holds: `open(c_1)@7`. Each
fact that a turn adds is a head, the turn's preconditions are its tail, and the turn is the unit
that witnesses the edge. A removal only ends what holds; it yields nothing.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from .errors import GameLogRejected, GoalRejected
from .hypergraph.graph import GraphAtom, Hyperedge, Hypergraph, Unit

_NAME_WITH_TYPE = re.compile(r"(\w+)(?:: ?\w+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Turn:
    """One action; removals come before additions. Turns are numbered upwards from 1."""

    number: int
    preconditions: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    command: str = ""


@dataclass(frozen=True, slots=True)
class GameLog:
    """What held at the start and what was done, in order; `names` says ids for people."""

    id: str
    initial_facts: tuple[str, ...]
    turns: tuple[Turn, ...]
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def unit_of(turn: int) -> str:
    """Give the unit that stands for a turn."""
    return f"turn {turn}"


def enabled(turn: int) -> str:
    """Give the atom that says that all preconditions of a turn's action hold."""
    return f"enabled({turn})"


def game_hypergraph(log: GameLog) -> Hypergraph:
    """Compile a log; its goals are `enabled(k)` for each turn k.

    A context that lacks a turn lacks what it added; what it removed stays removed, as the log says.
    A precondition that no earlier turn leaves true is an atom that nothing yields, `fact@?k`.

    Source: Certify (arXiv 2610.34684), section 3; there a fact is added once per interval, here a
    turn that adds a fact that holds already is one more way to it.
    """
    compiling = _Compiling(log)
    for fact in log.initial_facts:
        compiling.holding[fact] = compiling.atom(f"{fact}@0", fact, "from the start")
    given = tuple(sorted(compiling.holding.values()))
    for turn in log.turns:
        compiling.turn(turn)
    return Hypergraph(
        tuple(compiling.atoms[name] for name in sorted(compiling.atoms)),
        tuple(sorted(compiling.edges, key=lambda edge: edge.id)),
        tuple(sorted(compiling.units, key=lambda unit: unit.id)),
        given,
        tuple(sorted(enabled(turn.number) for turn in log.turns)),
    )


class _Compiling:
    """A log read so far: `holding` gives the atom of each fact that holds now."""

    def __init__(self, log: GameLog) -> None:
        self.log = log
        self.atoms: dict[str, GraphAtom] = {}
        self.edges: list[Hyperedge] = []
        self.units: list[Unit] = []
        self.holding: dict[str, str] = {}

    def atom(self, name: str, fact: str, when: str) -> str:
        said = _in_words(fact, self.log.names)
        self.atoms[name] = GraphAtom(name, f"{said}, {when}", said, "a turn that adds it")
        return name

    def turn(self, turn: Turn) -> None:
        number = turn.number
        for fact in turn.preconditions:
            if fact not in self.holding:
                when = f"before turn {number}, though nothing adds it"
                self.holding[fact] = self.atom(f"{fact}@?{number}", fact, when)
        tail = tuple(sorted({self.holding[fact] for fact in turn.preconditions}))
        goal = enabled(number)
        self.atoms[goal] = GraphAtom(goal, f"turn {number} can be taken: {turn.command}")
        self.edges.append(Hyperedge(f"turn {number} is enabled", tail, goal, text=turn.command))
        for fact in turn.removed:
            self.holding.pop(fact, None)
        witnessed = []
        for fact in sorted(set(turn.added)):
            head = self.atom(f"{fact}@{number}", fact, f"since turn {number}")
            edge = Hyperedge(f"turn {number} adds {fact}", tail, head, True, turn.command)
            self.edges.append(edge)
            witnessed.append(edge.id)
            earlier = self.holding.get(fact)
            if earlier is not None:
                self.edges.append(
                    Hyperedge(f"turn {number} leaves {fact}", (earlier,), head, text="still holds")
                )
            self.holding[fact] = head
        self.units.append(
            Unit(unit_of(number), (), tuple(witnessed), turn.command, source=self.log.id)
        )


def _in_words(fact: str, names: Mapping[str, str]) -> str:
    """Write a fact for people: names for ids, no types.

    >>> _in_words("at(P, r_0: r)", {"r_0": "kitchen"})
    'at(P, kitchen)'
    """
    head, bracket, arguments = fact.partition("(")
    if not bracket:
        return fact
    said = _NAME_WITH_TYPE.sub(lambda found: names.get(found[1], found[1]), arguments)
    return f"{head}({said}"


def read_game_logs(data: bytes | str, *, name: str) -> tuple[GameLog, ...]:
    """Read logs, one JSON object per line; fields that are not described are left alone.

    Raises GameLogRejected with all problems, in the order of the file.
    """
    problems: list[str] = []
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"byte {error.start} is not UTF-8; expected JSON lines in UTF-8"
        raise GameLogRejected(name, (message,)) from error
    logs: dict[str, GameLog] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        reader = _Reader(f"line {number}", problems)
        log = reader.log(line)
        if log.id in logs:
            reader.fault("id", f"game {log.id!r} stands on an earlier line; expected it once")
        logs[log.id] = log
    if not logs:
        problems.append("no line holds a game; expected one JSON object per line")
    if problems:
        raise GameLogRejected(name, tuple(problems))
    return tuple(logs.values())


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one line and collects its problems."""

    place: str
    problems: list[str]

    def fault(self, field_name: str, message: str) -> None:
        self.problems.append(f"{self.place}: {field_name}{': ' if field_name else ''}{message}")

    def log(self, line: str) -> GameLog:
        try:
            entry = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            self.fault("", f"this is not JSON ({error}); expected one object")
            return GameLog(self.place, (), ())
        if not isinstance(entry, dict):
            self.fault("", f"found {_kind(entry)}; expected one object per line")
            return GameLog(self.place, (), ())
        identifier = entry.get("id")
        if not isinstance(identifier, str) or not identifier.strip():
            self.fault("id", f"found {_kind(identifier)}; expected the name of the game")
            identifier = self.place
        return GameLog(
            identifier,
            self._facts(entry, "initial_facts", "initial_facts"),
            self._turns(entry.get("turns")),
            MappingProxyType(self._names(entry.get("entity_names", {}))),
        )

    def _facts(self, entry: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
        found = entry.get(key)
        if not isinstance(found, list):
            self.fault(place, f"found {_kind(found)}; expected a list of facts")
            return ()
        for index, fact in enumerate(found):
            if not isinstance(fact, str) or not fact.strip():
                self.fault(f"{place}[{index}]", f"found {_kind(fact)}; expected a fact as text")
        return tuple(dict.fromkeys(fact for fact in found if isinstance(fact, str)))

    def _turns(self, entries: object) -> tuple[Turn, ...]:
        if not isinstance(entries, list):
            self.fault("turns", f"found {_kind(entries)}; expected a list of turns")
            return ()
        turns: list[Turn] = []
        last = 0
        for index, entry in enumerate(entries):
            place = f"turns[{index}]"
            if not isinstance(entry, dict):
                self.fault(place, f"found {_kind(entry)}; expected an object")
                continue
            number = entry.get("turn")
            if not isinstance(number, int) or isinstance(number, bool) or number <= last:
                expected = f"expected a whole number above {last}"
                self.fault(f"{place}.turn", f"found {_kind(number)}; {expected}")
                number = last + 1
            command = entry.get("command", "")
            if not isinstance(command, str):
                self.fault(f"{place}.command", f"found {_kind(command)}; expected text")
                command = ""
            parts = [
                self._facts(entry, key, f"{place}.{key}")
                for key in ("preconditions", "added", "removed")
            ]
            turns.append(Turn(number, parts[0], parts[1], parts[2], command))
            last = number
        return tuple(turns)

    def _names(self, entry: object) -> dict[str, str]:
        if isinstance(entry, dict) and all(isinstance(value, str) for value in entry.values()):
            return {str(key): value for key, value in sorted(entry.items())}
        self.fault("entity_names", f"found {_kind(entry)}; expected an object from ids to names")
        return {}


def find_game(logs: Sequence[GameLog], identifier: str | None, *, name: str) -> GameLog:
    """Choose a log by its id; without an id, the only one there is.

    Raises GoalRejected where there is no such log, or several and no id.
    """
    for log in logs:
        if identifier == log.id or (identifier is None and len(logs) == 1):
            return log
    ids = sorted(log.id for log in logs)
    if identifier is None:
        raise GoalRejected(
            f"{name} holds {len(ids)} games and none is chosen; "
            f"expected the id of one, such as {ids[0]!r}"
        )
    near = difflib.get_close_matches(identifier, ids, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise GoalRejected(f"{name} holds no game {identifier!r}{hint}")


def _kind(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return f"the text {value[:40]!r}"
        case int() | float():
            return f"the number {value}"
        case list():
            return f"a list of {len(value)}"
    return "an object"
