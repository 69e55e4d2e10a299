"""The steps of a proof as an outline: each step once, below the first step that uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the outline.

    `depth` counts from 0; `closes` is how many levels end after this line. `repeats` marks a step
    that is drawn in full elsewhere, earlier or (where the tree grew too deep) later.
    """

    step: str
    depth: int
    closes: int
    repeats: bool


def outline(roots: Sequence[str], premises: Mapping[str, Sequence[str]]) -> tuple[Line, ...]:
    """Draw the proof below `roots` depth first, in the order of premises, without recursion.

    A branch deeper than `DEEPEST` ends in a reference, and goes on as a tree of its own after the
    others, so that long chains stay readable. Linear in the number of premises.
    """
    drawn: set[str] = set()
    flat: list[tuple[str, int, bool]] = []
    waiting = list(reversed(roots))
    while waiting:
        later: list[str] = []
        stack = [(step, 0) for step in waiting]
        while stack:
            step, depth = stack.pop()
            if step in drawn:
                if depth:
                    flat.append((step, depth, True))
                continue
            if depth > DEEPEST and premises[step]:
                flat.append((step, depth, True))
                later.append(step)
                continue
            drawn.add(step)
            flat.append((step, depth, False))
            stack.extend((premise, depth + 1) for premise in reversed(premises[step]))
        waiting = list(reversed(later))
    depths = [depth for _, depth, _ in flat] + [0]
    return tuple(
        Line(step, depth, max(0, depth - depths[place + 1] + 1), repeats)
        for place, (step, depth, repeats) in enumerate(flat)
    )
