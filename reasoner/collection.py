"""Pausing garbage collection while very many values that stay are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """Make no search for cycles inside; it would go through all that is made, again and again.

    Whoever finds it paused leaves it so, so that the first to pause is the one to resume.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
