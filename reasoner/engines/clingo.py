"""The clingo engine: closure, minimal supports and cheapest additions in a warm worker process.

An independent solver over the same integers; its answers are sorted before use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ..errors import EngineTimedOut
from ..horn import HornProgram, IntArray
from .worker import Worker

LARGEST_COST = 2**31 - 1
"""Weights of clingo are 32-bit and wrap; dearer additions must not get there."""


@cache
def worker() -> Worker:
    """Give the one worker of this process; it starts with the first request."""
    return Worker("clingo_process")


def closure(
    program: HornProgram, given: Sequence[int] | IntArray, *, seconds: float | None
) -> list[int]:
    """Give the atoms of the least model, ascending.

    Raises EngineTimedOut and EngineFailed.
    """
    derived: list[int] = worker().ask(("close", _request(program, given)), seconds=seconds)
    return derived


def supports(
    program: HornProgram,
    goal: int,
    loose: Collection[int],
    *,
    known: Sequence[Sequence[int]] = (),
    limit: int | None = None,
    seconds: float | None = None,
) -> tuple[list[tuple[int, ...]], bool]:
    """Give subset-minimal sets of `loose` that derive `goal` with the other given atoms.

    None is a superset of one in `known`. Sorted by size, then atoms; with whether these are all.
    """
    given = set(program.given.tolist())
    order = sorted(given.intersection(loose))
    request = (
        "supports",
        _request(program, sorted(given.difference(loose))),
        goal,
        order,
        [list(support) for support in known],
        limit,
        seconds,
    )
    found: list[tuple[int, ...]] = []
    complete = False
    for reply in _until_timeout(request, seconds):
        if isinstance(reply, bool):
            complete = reply
        else:
            found.append(tuple(reply))
    return sorted(found, key=lambda support: (len(support), support)), complete


def cheapest(
    program: HornProgram, goal: int, costs: Mapping[int, int], *, seconds: float | None = None
) -> tuple[tuple[int, ...] | None, bool]:
    """Give a cheapest set of atoms whose addition derives `goal`, and whether none is cheaper.

    Costs are non-negative and together at most LARGEST_COST. None where nothing was found.
    """
    if sum(costs.values()) > LARGEST_COST or min(costs.values(), default=0) < 0:
        raise ValueError(
            f"costs run from {min(costs.values())} to a sum of {sum(costs.values())}; "
            f"expected non-negative costs whose sum is at most {LARGEST_COST}"
        )
    request = (
        "cheapest",
        _request(program, program.given),
        goal,
        {atom: costs[atom] for atom in sorted(costs)},
        seconds,
    )
    best: tuple[int, ...] | None = None
    optimal = False
    for reply in _until_timeout(request, seconds):
        if isinstance(reply, bool):
            optimal = reply
        else:
            best = tuple(reply)
    return best, optimal


def _until_timeout(request: tuple[Any, ...], seconds: float | None) -> Iterator[Any]:
    try:
        yield from worker().replies(request, seconds=seconds)
    except EngineTimedOut:
        return


def _request(program: HornProgram, given: Sequence[int] | IntArray) -> tuple[Any, ...]:
    rows = program.rows
    return (
        program.atom_count,
        rows.heads,
        rows.tail_starts,
        rows.tails,
        [int(atom) for atom in given],
    )
