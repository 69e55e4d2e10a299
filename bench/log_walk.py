"""What a game log says by itself: enabling sets by walking it forwards, and replays.

Nothing here knows hypergraphs, so that it can judge what they give.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from reasoner.game_log import GameLog, Turn

Sets = frozenset[frozenset[int]]


def enabling_sets(log: GameLog) -> dict[int, Sets]:
    """Give for each turn all minimal sets of turns whose additions make its preconditions true.

    Removals count whether or not the turn that removes is in the set.
    """
    ways: dict[str, Sets] = {fact: frozenset({frozenset()}) for fact in log.initial_facts}
    found: dict[int, Sets] = {}
    for turn in log.turns:
        sets = {frozenset[int]()}
        for fact in turn.preconditions:
            joined = {one | other for one in sets for other in ways.get(fact, ())}
            sets = set(_minimal(joined))
        found[turn.number] = _minimal(sets)
        for fact in turn.removed:
            ways.pop(fact, None)
        for fact in turn.added:
            own = {one | {turn.number} for one in sets}
            ways[fact] = _minimal({*ways.get(fact, ()), *own})
    return found


def _minimal(sets: Iterable[frozenset[int]]) -> Sets:
    candidates = set(sets)
    return frozenset(one for one in candidates if not any(other < one for other in candidates))


def replays(log: GameLog, turns: Collection[int], target: int) -> bool:
    """Whether the game's own rules allow these turns alone, in order, and then the target."""
    facts = set(log.initial_facts)
    for turn in log.turns:
        if turn.number == target:
            return facts.issuperset(turn.preconditions)
        if turn.number in turns:
            if not facts.issuperset(turn.preconditions):
                return False
            _take(turn, facts)
    return False


def goes_on(log: GameLog, target: int) -> bool:
    """Whether the target can be taken by a player who skips every turn that cannot be."""
    facts = set(log.initial_facts)
    for turn in log.turns:
        possible = facts.issuperset(turn.preconditions)
        if turn.number == target:
            return possible
        if possible:
            _take(turn, facts)
    return False


def _take(turn: Turn, facts: set[str]) -> None:
    facts.difference_update(turn.removed)
    facts.update(turn.added)
