"""The table of engines and the one way to close a program with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..horn import HornProgram, IntArray
from .linear import Firing, fire

Engine = Callable[[HornProgram, Sequence[int] | IntArray | None], Firing]

ENGINES: dict[str, Engine] = {"linear": lambda program, given: fire(program, given=given)}


def close(
    program: HornProgram,
    *,
    given: Sequence[int] | IntArray | None = None,
    engine: str = "auto",
) -> Firing:
    """Give the least set that holds the given atoms and is closed under the clauses."""
    return ENGINES["linear" if engine == "auto" else engine](program, given)
