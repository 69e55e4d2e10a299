"""Deadlines inside long loops: a check on the caller's clock, asked every so often."""

from __future__ import annotations

from collections.abc import Callable

from .errors import EngineTimedOut

Expired = Callable[[], bool]
"""Whether the deadline has passed, on the caller's clock; once true, it stays true."""

STRIDE = 1024
"""How many turns of a loop lie between two questions, a few milliseconds of work at most."""


def never() -> bool:
    """Say that there is no deadline."""
    return False


def stop_if(expired: Expired) -> None:
    """Raise EngineTimedOut if the deadline has passed; what was begun says nothing of the goal."""
    if expired():
        raise EngineTimedOut("the deadline passed before there was a minimal certificate")
