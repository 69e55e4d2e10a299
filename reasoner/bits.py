"""Sets of small numbers as the bits of one integer."""

from __future__ import annotations

from collections.abc import Iterator


def members(mask: int) -> Iterator[int]:
    """Give the numbers in a set, ascending.

    >>> list(members(0b1010))
    [1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
