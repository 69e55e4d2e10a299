"""Ranks what calls lack: for each call, the way to close it that lacks the least.

Calls are vertices, each way through a rule body a hyperedge from what it lacks to the call. The
cost of a way is the sum of the costs of what it lacks, and a call costs what its cheapest way does:
the least fixed point, whatever the order of rules and facts. Equal ways are told apart by the text
of the rule and of what they lack.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from .missing import Derived, Missing, Need

Cost = tuple[int, int, int, int]
"""What no fact can help, what is sought in another place, what is missing, rules applied."""

_ELSEWHERE: Cost = (0, 1, 1, 0)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to conclude a call: the rule's text and all that is lacking."""

    rule: str
    needs: tuple[Need, ...]

    @property
    def text(self) -> tuple[str, ...]:
        """What tells it apart from the other ways of its call."""
        return (self.rule, *map(_text, self.needs))


@dataclass(frozen=True, slots=True)
class Ranked:
    """The calls with their ways, cheapest first; `costs` holds the calls that can be closed."""

    ways: Mapping[str, Sequence[Way]]
    costs: Mapping[str, Cost]
    best: Mapping[str, Way]

    def cost(self, way: Way) -> Cost | None:
        """Give what a way costs, None if it cannot be closed."""
        return _sum(way.needs, self.costs)

    def of_rules(self, call: str) -> list[Way]:
        """Give the cheapest way of each rule of a call that can be closed, the cheapest first."""
        found: dict[str, tuple[Cost, Way]] = {}
        for way in self.ways.get(call, ()):
            cost = self.cost(way)
            if cost is not None and (way.rule not in found or cost < found[way.rule][0]):
                found[way.rule] = (cost, way)
        ordered = sorted(found.values(), key=lambda item: (item[0], item[1].text))
        return [way for _, way in ordered]

    def spread(self, way: Way) -> tuple[tuple[Missing, ...], tuple[str, ...]]:
        """Give all that is missing along the cheapest ways below a way, and the calls met."""
        missing: dict[Missing, None] = {}
        met: dict[str, None] = {}
        waiting: list[Need] = list(reversed(way.needs))
        while waiting:
            need = waiting.pop()
            if isinstance(need, Missing):
                missing[need] = None
            elif self._is_elsewhere(need):
                assert need.instead is not None, "what is sought elsewhere says where"
                missing[need.instead] = None
            elif need.key not in met:
                met[need.key] = None
                waiting.extend(reversed(self.best[need.key].needs))
        return tuple(missing), tuple(met)

    def _is_elsewhere(self, need: Derived) -> bool:
        return need.instead is not None and (
            need.key not in self.costs or self.costs[need.key] > _ELSEWHERE
        )


def rank(goal: str, ways: Mapping[str, Iterable[Way]], names: Mapping[str, Missing]) -> Ranked:
    """Rank the calls below a goal.

    A call that no chain of rules can close counts as missing itself, as `names` has it; the goal
    only where nothing else is left. Linear in the size of all ways, up to the queue.

    Source: Knuth, A generalization of Dijkstra's algorithm (1977); a hypergraph reading is in
    Gallo, Longo, Pallottino and Nguyen, Directed hypergraphs and applications (1993), section 5.
    """
    search = _Search({call: sorted(found, key=lambda w: w.text) for call, found in ways.items()})
    search.run()
    for call in sorted(search.ways):
        if call not in search.costs and call != goal:
            search.offer(call, Way("", (names[call],)))
    search.run()
    if goal not in search.costs:
        search.offer(goal, Way("", (names[goal],)))
        search.run()
    return Ranked(search.ways, search.costs, search.best)


@dataclass(slots=True)
class _Search:
    ways: dict[str, list[Way]]
    costs: dict[str, Cost] = field(default_factory=dict)
    best: dict[str, Way] = field(default_factory=dict)
    _queue: list[tuple[Cost, str, tuple[str, ...], int, Way]] = field(default_factory=list)
    _places: Iterator[int] = field(default_factory=count)
    """Tell apart ways of one text, which come in a fixed order."""
    _users: dict[str, list[tuple[str, Way]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for call, found in self.ways.items():
            for way in found:
                for need in way.needs:
                    if isinstance(need, Derived):
                        self._users.setdefault(need.key, []).append((call, way))
                self._queue_way(call, way)

    def offer(self, call: str, way: Way) -> None:
        """Add a way to a call."""
        self.ways[call] = [*self.ways[call], way]
        self._queue_way(call, way)

    def run(self) -> None:
        """Settle calls, the cheapest first."""
        while self._queue:
            cost, call, _, _, way = heapq.heappop(self._queue)
            if call in self.costs:
                continue
            self.costs[call], self.best[call] = cost, way
            for user, using in self._users.get(call, ()):
                if user not in self.costs:
                    self._queue_way(user, using)

    def _queue_way(self, call: str, way: Way) -> None:
        cost = _sum(way.needs, self.costs)
        if cost is not None:
            heapq.heappush(self._queue, (cost, call, way.text, next(self._places), way))


def _sum(needs: Iterable[Need], costs: Mapping[str, Cost]) -> Cost | None:
    """Add what needs cost, and one rule; None where one of them cannot be closed (yet)."""
    total = [0, 0, 0, 1]
    for need in needs:
        if isinstance(need, Missing):
            cost: Cost | None = _own(need)
        else:
            cost = costs.get(need.key)
            if need.instead is not None:
                cost = _ELSEWHERE if cost is None else min(cost, _ELSEWHERE)
        if cost is None:
            return None
        total = [mine + part for mine, part in zip(total, cost, strict=True)]
    return total[0], total[1], total[2], total[3]


def _own(missing: Missing) -> Cost:
    return (1, 0, 0, 0) if missing.is_final else (0, 0, 1, 0)


def _text(need: Need) -> str:
    return f"{need.text} {need.detail}" if isinstance(need, Missing) else need.key
