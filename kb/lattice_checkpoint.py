"""The lattice index as one file: written once, checked by its digests, mapped and read in place.

The file begins with a mark; then come the sections, each at a multiple of eight bytes, then a
directory in JSON with their places and SHA-256, then the SHA-256 and the length of the directory.
Numbers are little-endian. A point is a dimension with a value in it; instances are numbered by
name.

points, points ends           keys of the points, sorted
points slots                  their places by hash: see `string_table`
names, names ends             names of the instances, sorted
stated, stated ends           per point the Roaring bitmap of the instances it is stated of
below, below ends             per point the bitmap of the instances at or below it; empty: as stated
qualified, qualified ends     per point rows of four numbers, for what is not plain: instance, first
                              day, day after the last, place in `confidences` (of the directory)
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from pyroaring import BitMap

from .quantity import parse_number
from .statement import Value, value_from_json, value_to_json
from .string_table import StringTable

_MARK = b"PWLATT2\n"
_TABLES = ("stated", "below", "qualified")

NEVER = 2**31 - 1
"""The day after the last of what holds without end."""


class CheckpointUnusable(Exception):
    """A checkpoint is missing, damaged, or of another format or machine; it is built anew."""


def point_key(dimension: str, value: Value) -> str:
    """Give the text a point is sorted and found by."""
    form = value_to_json(value)
    return f"{dimension_prefix(dimension)}{form['kind']}:{form['value']}"


def dimension_prefix(dimension: str) -> str:
    """Give what the keys of a dimension's points begin with, and no others."""
    return f"{len(dimension.encode())}:{dimension}"


def split_key(key: str) -> tuple[str, str, str]:
    """Give the dimension of a point's key, and kind and text of its value."""
    length, _, rest = key.partition(":")
    size = int(length)
    if key.isascii():
        dimension, rest = rest[:size], rest[size:]
    else:
        raw = rest.encode()
        dimension, rest = raw[:size].decode(), raw[size:].decode()
    kind, _, value = rest.partition(":")
    return dimension, kind, value


def point_of(key: str) -> tuple[str, Value]:
    """Read the key of a point."""
    dimension, kind, value = split_key(key)
    return dimension, value_from_json({"kind": kind, "value": value})


class LatticeCheckpoint:
    """A checkpoint that was read and found whole; what it holds is looked up when asked for."""

    def __init__(self, directory: Mapping[str, object], sections: Mapping[str, memoryview]) -> None:
        self.revision = int(str(directory["revision"]))
        self.link = str(directory["link"])
        self.statements = int(str(directory["statements"]))
        self.confidences = tuple(
            parse_number(text) for text in cast("list[str]", directory["confidences"])
        )
        self.qualified_dimensions = frozenset(cast("list[str]", directory["qualified_dimensions"]))
        self.taxonomic = frozenset(cast("list[str]", directory["taxonomic"]))
        self.forms = dict(cast("dict[str, str]", directory["dimensions"]))
        self.points = StringTable(
            sections["points"], sections["points ends"], sections["points slots"]
        )
        self.names = StringTable(sections["names"], sections["names ends"])
        self._blocks = {name: sections[name] for name in _TABLES}
        self._ends = {name: sections[f"{name} ends"].cast("Q") for name in _TABLES}

    @classmethod
    def open(cls, path: Path) -> Self:
        """Map a file and check every digest.

        Raises CheckpointUnusable, saying what is wrong.
        """
        try:
            with path.open("rb") as file:
                mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            raise CheckpointUnusable(f"{path.name} cannot be read: {error}") from error
        end = len(mapped) - 40
        start = end - int.from_bytes(mapped[-8:], "little")
        if mapped[: len(_MARK)] != _MARK or sys.byteorder != "little" or start < len(_MARK):
            raise CheckpointUnusable(f"{path.name} is no checkpoint of this format")
        written = bytes(mapped[start:end])
        if hashlib.sha256(written).digest() != mapped[end:-8]:
            raise CheckpointUnusable(f"{path.name} is damaged in its directory")
        directory = json.loads(written)
        sections: dict[str, memoryview] = {}
        for name, (at, size, digest) in directory["sections"].items():
            section = mapped[at : at + size]
            if hashlib.sha256(section).hexdigest() != digest:
                raise CheckpointUnusable(f"{path.name} is damaged in its section {name!r}")
            sections[name] = section
        return cls(directory, sections)

    def dimensions(self) -> frozenset[str]:
        """Give the names of the dimensions in which something is stated; looks at every point."""
        return frozenset(split_key(key)[0] for key in self.points)

    def stated(self, place: int) -> BitMap:
        """Give a copy of the bitmap of what is stated at a point."""
        return _bitmap(self._block("stated", place))

    def below(self, place: int) -> BitMap:
        """Give a copy of the bitmap of what lies at or below a point."""
        block = self._block("below", place)
        return _bitmap(block) if block else self.stated(place)

    def qualified(self, place: int) -> memoryview:
        """Give the rows of four numbers at a point."""
        return self._block("qualified", place).cast("i")

    def _block(self, table: str, place: int) -> memoryview:
        ends = self._ends[table]
        return self._blocks[table][ends[place - 1] if place else 0 : ends[place]]


class CheckpointWriter:
    """Writes a checkpoint beside its place and moves it there when it is on disk; or nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._beside = path.with_name(f"{path.name}.{os.getpid()}.new")
        self._sections: dict[str, tuple[int, int, str]] = {}

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = self._beside.open("wb")
        self._file.write(_MARK)
        return self

    def section(self, name: str, data: Iterable[bytes]) -> None:
        """Write one section."""
        self._file.write(b"\0" * (-self._file.tell() % 8))
        start = self._file.tell()
        digest = hashlib.sha256()
        for piece in data:
            self._file.write(piece)
            digest.update(piece)
        self._sections[name] = (start, self._file.tell() - start, digest.hexdigest())

    def table(self, name: str, blocks: Iterable[bytes]) -> None:
        """Write a section of one block per point, and where each ends."""
        ends = array("Q")

        def counted() -> Iterator[bytes]:
            total = 0
            for block in blocks:
                total += len(block)
                ends.append(total)
                yield block

        self.section(name, counted())
        self.section(f"{name} ends", [ends.tobytes()])

    def finish(self, directory: Mapping[str, object]) -> None:
        """Write the directory and put the file in its place."""
        written = json.dumps({**directory, "sections": self._sections}, sort_keys=True).encode()
        self._file.write(written)
        self._file.write(hashlib.sha256(written).digest() + len(written).to_bytes(8, "little"))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._beside.replace(self._path)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._beside.unlink(missing_ok=True)


def _bitmap(block: memoryview) -> BitMap:
    if not block:
        return BitMap()
    return BitMap.deserialize(cast("bytes", block))  # it takes any buffer
