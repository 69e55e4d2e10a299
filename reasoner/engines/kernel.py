"""The propagation loops compiled by numba; importing this module costs about a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

from . import propagation


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        return njit(cache=True)(function)
    except RuntimeError:  # nowhere to keep the cache, such as a read-only installation
        return njit(function)  # type: ignore[no-any-return]  # numba has no types


index_tails = _compile(propagation.index_tails)
propagate = _compile(propagation.propagate)
reach_back = _compile(propagation.reach_back)
