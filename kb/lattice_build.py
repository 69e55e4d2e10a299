"""Build the lattice index of a whole store in one pass, into a checkpoint."""

from __future__ import annotations

import datetime
import json
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from .dimension import DimensionKind, dimension_from_json
from .lattice_checkpoint import NEVER, CheckpointWriter, dimension_prefix, point_key, split_key
from .placements import CERTAIN, Placements
from .quantity import format_number
from .statement import TaxonClass
from .store import Store
from .string_table import slots_of, table_of

_AT_ONCE = 10_000
_TAXONOMIC = DimensionKind.TAXONOMIC.value


@dataclass(slots=True)
class _Read:
    """What is stated, with subjects and points numbered as they came."""

    subjects: defaultdict[str, int] = field(default_factory=lambda: defaultdict(count().__next__))
    keys: defaultdict[str, int] = field(default_factory=lambda: defaultdict(count().__next__))
    instances: array[int] = field(default_factory=lambda: array("I"))
    points: array[int] = field(default_factory=lambda: array("I"))
    qualified: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    confidences: dict[Fraction, int] = field(default_factory=lambda: {CERTAIN: 0})

    def qualify(self, subject: str, key: str, begin: int, end: int, confidence: Fraction) -> None:
        """Note a statement that holds for a time only, or is doubted."""
        place = self.confidences.setdefault(confidence, len(self.confidences))
        row = (self.keys[key], self.subjects[subject], begin, end, place)
        self.qualified.append(row)


def build_checkpoint(store: Store, path: Path, *, revision: int, link: str) -> None:
    """Index what the store holds; it must not change meanwhile.

    Time and memory are linear in statements, instances and points, and in what lies below each
    class.
    """
    placements = Placements(store)
    read = _read(placements)
    forms = placements.dimension_forms()
    statements = len(read.instances) + len(read.qualified)
    names = sorted(read.subjects)
    rank = _ranks(read.subjects, names)
    read.subjects.clear()
    qualified: dict[int, list[tuple[int, ...]]] = {}
    for point, instance, *rest in read.qualified:
        qualified.setdefault(point, []).append((int(rank[instance]), *rest))
    pairs = np.frombuffer(read.points, dtype=np.uint32).astype(np.uint64)
    pairs <<= np.uint64(32)
    pairs |= rank[np.frombuffer(read.instances, dtype=np.uint32)].astype(np.uint64)
    read.instances, read.points = array("I"), array("I")
    pairs.sort()
    starts = np.searchsorted(
        pairs, np.arange(len(read.keys) + 1, dtype=np.uint64) << np.uint64(32)
    ).tolist()
    placed = array("I", pairs.astype(np.uint32).tobytes())  # the lower half of each
    del pairs
    taxonomic = {name for name, form in forms.items() if json.loads(form)["kind"] == _TAXONOMIC}
    lower = _lower_classes(read.keys, {name: forms[name] for name in taxonomic})
    keys = sorted({*read.keys, *lower})

    def stated(key: str) -> BitMap:
        number = read.keys.get(key)
        if number is None:
            return BitMap()
        found = BitMap(placed[starts[number] : starts[number + 1]])
        found.run_optimize()
        return found

    nearby: dict[str, BitMap] = {}  # of one dimension: the keys of its points are neighbours

    def below(key: str) -> bytes:
        if len(lower.get(key, ())) < 2 and key in read.keys:
            return b""
        if not nearby.keys() >= set(lower[key]):
            nearby.clear()
            prefix = dimension_prefix(split_key(key)[0])
            at = bisect_left(keys, prefix)
            while at < len(keys) and keys[at].startswith(prefix):
                nearby[keys[at]] = stated(keys[at])
                at += 1
        found = BitMap.union(*(nearby[other] for other in lower[key]))
        found.run_optimize()
        return found.serialize()

    def rows(key: str) -> bytes:
        if not qualified:
            return b""
        number = read.keys.get(key)
        found = sorted(qualified.get(number, ())) if number is not None else ()
        return array("i", (item for row in found for item in row)).tobytes()

    with CheckpointWriter(path) as writer:
        for name, strings in (("points", keys), ("names", names)):
            text, ends = table_of(strings)
            writer.section(name, [text])
            writer.section(f"{name} ends", [ends])
        writer.section("points slots", [slots_of(keys)])
        writer.table("stated", (_bytes_of(stated(key)) for key in keys))
        writer.table("below", map(below, keys))
        writer.table("qualified", map(rows, keys))
        writer.finish(
            {
                "revision": revision,
                "link": link,
                "statements": statements,
                "confidences": list(map(format_number, read.confidences)),
                "qualified_dimensions": sorted(
                    {split_key(key)[0] for key, number in read.keys.items() if number in qualified}
                ),
                "dimensions": forms,
                "taxonomic": sorted(taxonomic),
            }
        )


def _bytes_of(bitmap: BitMap) -> bytes:
    return bitmap.serialize() if bitmap else b""


def _read(placements: Placements) -> _Read:
    read = _Read()
    gone = placements.withdrawn()
    doubtful = placements.doubtful()
    special = gone | doubtful.keys()
    numbers = placements.numbers()
    for start in range(numbers.start, numbers.stop, _AT_ONCE):
        some = range(start, min(start + _AT_ONCE, numbers.stop))
        is_plain = not special or special.isdisjoint(some)
        columns = placements.lasting_columns(some) if is_plain else None
        if columns is not None:
            subjects, keys = columns
            read.instances.extend(map(read.subjects.__getitem__, subjects))
            read.points.extend(map(read.keys.__getitem__, keys))
            continue
        for subject, key, number in placements.lasting(some):
            if number in doubtful and doubtful[number] != CERTAIN:
                read.qualify(subject, key, 0, NEVER, doubtful[number])
            elif number not in gone:
                read.instances.append(read.subjects[subject])
                read.points.append(read.keys[key])
    for subject, key, number, begin, end in placements.bounded():
        if number not in gone:
            days = day_number(begin, 0), day_number(end, NEVER)
            read.qualify(subject, key, *days, doubtful.get(number, CERTAIN))
    return read


def day_number(day: str | datetime.date | None, otherwise: int) -> int:
    """Give the ordinal of a day; `otherwise` if there is none."""
    if day is None:
        return otherwise
    return (datetime.date.fromisoformat(day) if isinstance(day, str) else day).toordinal()


def _ranks(numbers: Mapping[str, int], names: list[str]) -> NDArray[np.uint32]:
    """Give the place among the sorted names of each subject, by its number."""
    order = np.fromiter(map(numbers.__getitem__, names), dtype=np.uint32, count=len(names))
    rank = np.empty(len(names), dtype=np.uint32)
    rank[order] = np.arange(len(names), dtype=np.uint32)
    return rank


def _lower_classes(keys: Iterable[str], forms: Mapping[str, str]) -> dict[str, list[str]]:
    """Give, for each class with something stated at or below it, the keys of what is."""
    stated: dict[str, list[str]] = {}
    for key in keys:
        dimension, kind, label = split_key(key)
        if kind == "class" and dimension in forms:
            stated.setdefault(dimension, []).append(label)
    lower: dict[str, list[str]] = {}
    for name, labels in stated.items():
        taxonomy = dimension_from_json(json.loads(forms[name])).taxonomy
        assert taxonomy is not None
        beginning = point_key(name, TaxonClass(""))
        for label in labels:
            for up in taxonomy.ancestors(label) if label in taxonomy else ():
                lower.setdefault(beginning + up, []).append(beginning + label)
    return lower
