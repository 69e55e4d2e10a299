"""The cheapest sets of what a goal lacks, with variables where a value is not known."""

from __future__ import annotations

from collections.abc import Callable

from .abduction import abduce
from .atom import Atom
from .expiry import Expired
from .horn import horn_program
from .missing import Missing, Need, call_text
from .ranking import Ranked


def cheapest_lacks(
    ranked: Ranked,
    goal: Atom,
    *,
    is_findable: Callable[[Missing], bool],
    limit: int,
    expired: Expired,
) -> tuple[tuple[str, ...], ...]:
    """Give the `limit` smallest sets of missing atoms that close a goal, each sorted by text.

    A set counts every atom once, wherever it is lacking; none of a set can be left out. What is
    not `is_findable` is in no set.
    """
    numbers: dict[str, int] = {}
    clauses: list[tuple[int, list[int]]] = []
    candidates: dict[int, str] = {}

    def number(kind: str, text: str) -> int:
        return numbers.setdefault(f"{kind} {text}", len(numbers))

    def lacking(missing: Missing) -> int | None:
        if not is_findable(missing):
            return None
        found = number("missing", missing.text)
        candidates[found] = missing.text
        return found

    def vertex(need: Need) -> int | None:
        if isinstance(need, Missing):
            return lacking(need)
        call = number("call", need.key)
        other = lacking(need.instead) if need.instead is not None else None
        if other is None:
            return call
        either = number("either", f"{need.key} {candidates[other]}")
        clauses.extend([(either, [call]), (either, [other])])
        return either

    start = number("call", call_text(goal))
    for call, ways in sorted(ranked.ways.items()):
        for way in ways:
            tail = [vertex(need) for need in way.needs]
            if None not in tail:
                clauses.append((number("call", call), [item for item in tail if item is not None]))
    program = horn_program(len(numbers), clauses)
    found = abduce(program, start, dict.fromkeys(candidates, 1), limit=limit, expired=expired)
    return tuple(tuple(sorted(candidates[atom] for atom in each.atoms)) for each in found.sets)
