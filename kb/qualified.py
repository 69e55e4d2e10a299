"""Statements that hold for a time only, or that their evidence doubts: rows beside the bitmaps."""

from __future__ import annotations

import datetime
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from .lattice_checkpoint import NEVER, LatticeCheckpoint, point_key
from .placements import CERTAIN
from .statement import Validity, Value

Point = tuple[str, Value]


@dataclass(frozen=True, slots=True)
class View:
    """Which statements count: those that hold on a day, with at least a confidence; None: all.

    What no evidence doubts has the confidence 1: a source asserts it.
    """

    valid_on: datetime.date | None = None
    min_confidence: Fraction | None = None

    def shows(self, validity: Validity, confidence: Fraction) -> bool:
        """Whether a statement of this validity and confidence counts."""
        return (self.valid_on is None or validity.holds_on(self.valid_on)) and (
            self.min_confidence is None or confidence >= self.min_confidence
        )


EVERYTHING = View()


class QualifiedRows:
    """Rows by point: instance, first day, day after the last, and place of the confidence.

    On top of those of a checkpoint, which are read where they lie until their point changes.
    """

    def __init__(self, base: LatticeCheckpoint | None) -> None:
        self._base = base
        self._dimensions = set(base.qualified_dimensions) if base else set()
        self._confidences = {
            confidence: place
            for place, confidence in enumerate(base.confidences if base else (CERTAIN,))
        }
        self._own: dict[Point, dict[tuple[int, int, int], int]] = {}
        self._joined: dict[tuple[Point, ...], NDArray[np.int32]] = {}

    def has(self, dimension: str) -> bool:
        """Whether a dimension may have rows."""
        return dimension in self._dimensions

    def forget(self, dimension: str) -> None:
        """Forget what was joined in a dimension."""
        self._joined = {key: rows for key, rows in self._joined.items() if key[0][0] != dimension}

    def put(self, point: Point, instance: int, validity: Validity, confidence: Fraction) -> None:
        """Put in a row, or another confidence in one that is there."""
        self._dimensions.add(point[0])
        place = self._confidences.setdefault(confidence, len(self._confidences))
        self._owned(point)[instance, *_days(validity)] = place
        self.forget(point[0])

    def remove(self, point: Point, instance: int, validity: Validity) -> None:
        """Take a row out, if there is one."""
        if self.has(point[0]):
            key = (instance, *_days(validity))
            if key in self._owned(point):
                del self._own[point][key]
                self.forget(point[0])

    def at(self, points: Iterable[Point], view: View) -> BitMap:
        """Give the instances of the rows at some points of one dimension, as far as they count."""
        wanted = tuple(points)
        if not wanted or not self.has(wanted[0][0]):
            return BitMap()
        rows = self._joined.get(wanted)
        if rows is None:
            parts = [self._rows(point) for point in wanted]
            rows = np.concatenate(parts) if len(parts) > 1 else parts[0]
            self._joined[wanted] = rows
        if view.valid_on is not None:
            day = view.valid_on.toordinal()
            rows = rows[(rows[:, 1] <= day) & (day < rows[:, 2])]
        if view.min_confidence is not None:
            enough = np.array([found >= view.min_confidence for found in self._confidences])
            rows = rows[enough[rows[:, 3]]]
        return BitMap(array("I", rows[:, 0].astype(np.uint32).tobytes()))

    def _owned(self, point: Point) -> dict[tuple[int, int, int], int]:
        if point not in self._own:
            self._own[point] = {
                (instance, begin, end): place
                for instance, begin, end, place in self._rows(point).tolist()
            }
        return self._own[point]

    def _rows(self, point: Point) -> NDArray[np.int32]:
        own = self._own.get(point)
        if own is not None:
            flat = np.array([(*key, place) for key, place in own.items()], dtype=np.int32)
            return flat.reshape(-1, 4)
        place = self._base.points.find(point_key(*point)) if self._base else None
        rows = self._base.qualified(place) if self._base and place is not None else None
        if not rows:
            return np.empty((0, 4), dtype=np.int32)
        return np.frombuffer(rows, dtype=np.int32).reshape(-1, 4)


def _days(validity: Validity) -> tuple[int, int]:
    return (
        validity.start.toordinal() if validity.start else 0,
        validity.end.toordinal() if validity.end else NEVER,
    )
