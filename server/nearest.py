"""The nearest valid name, for messages about a wrong one."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import process

MOST_NAMES = 20
"""Names that a message lists; more are only counted."""


def nearest(wanted: str, names: Iterable[str], *, count: int = 3) -> str:
    """Give `; nearest: a, b`, the best first, or the empty string where nothing is near."""
    found = process.extract(wanted, sorted(set(names)), limit=count, score_cutoff=60)
    return f"; nearest: {', '.join(name for name, _, _ in found)}" if found else ""


def unknown_dimensions(unknown: Iterable[str], known: Iterable[str]) -> str:
    """Say of each name that there is no such dimension, and which is meant."""
    names = sorted(known)
    everything = f"; known: {', '.join(names)}"
    if len(names) > MOST_NAMES:
        everything = f"; {len(names)} are known, and `lattice show` lists them"
    return "; ".join(
        f"there is no dimension {name!r}{nearest(name, names) or everything}" for name in unknown
    )
