"""Sorted, distinct strings in one block of bytes, looked up where they lie."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import overload
from zlib import crc32


class StringTable(Sequence[str]):
    """Strings in order of their code points, which is the order of their UTF-8 bytes.

    `ends[i]` is where string i ends in `text`. `slots`, if given, are places plus one by the CRC-32
    of the string, each in the first slot free: finding takes constant time instead of logarithmic.
    Nothing is copied but the strings asked for.
    """

    def __init__(
        self,
        text: bytes | memoryview,
        ends: bytes | memoryview,
        slots: bytes | memoryview = b"",
    ) -> None:
        self._text = memoryview(text)
        self._ends = memoryview(ends).cast("B").cast("Q")
        self._slots = memoryview(slots).cast("B").cast("I")
        self._mask = len(self._slots) - 1

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        return str(self._bytes(place), "utf-8")

    def __iter__(self) -> Iterator[str]:
        start = 0
        for end in self._ends:
            yield str(self._text[start:end], "utf-8")
            start = end

    def find(self, string: str) -> int | None:
        """Give the place of a string, or None."""
        wanted = string.encode()
        if self._mask >= 0:
            slot = crc32(wanted) & self._mask
            while place := self._slots[slot]:
                if self._bytes(place - 1) == wanted:
                    return place - 1
                slot = slot + 1 & self._mask
            return None
        place = self._bisect(wanted)
        return place if place < len(self) and self._bytes(place) == wanted else None

    def beginning_with(self, prefix: str) -> range:
        """Give the places of the strings that begin with a text that is not empty."""
        low = prefix.encode()
        return range(self._bisect(low), self._bisect(low[:-1] + bytes((low[-1] + 1,))))

    def _bytes(self, place: int) -> memoryview:
        return self._text[self._ends[place - 1] if place else 0 : self._ends[place]]

    def _bisect(self, wanted: bytes) -> int:
        return bisect_left(range(len(self)), wanted, key=lambda place: bytes(self._bytes(place)))


def table_of(strings: Iterable[str]) -> tuple[bytes, bytes]:
    """Give the two blocks of a table of sorted, distinct strings."""
    text = bytearray()
    ends = array("Q")
    for string in strings:
        text += string.encode()
        ends.append(len(text))
    return bytes(text), ends.tobytes()


def slots_of(strings: Sequence[str]) -> bytes:
    """Give the slots of a table of these strings; at most half of them are taken."""
    mask = (1 << (2 * len(strings)).bit_length()) - 1
    slots = array("I", bytes(4 * (mask + 1)))
    for place, string in enumerate(strings, start=1):
        slot = crc32(string.encode()) & mask
        while slots[slot]:
            slot = slot + 1 & mask
        slots[slot] = place
    return slots.tobytes()
