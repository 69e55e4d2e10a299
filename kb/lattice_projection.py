"""The lattice index of a directory: opened from its checkpoint and caught up with the log.

A checkpoint that is missing, damaged or of another log is built anew, and so is one that the log
has left far behind; what came since then is followed statement by statement.
"""

from __future__ import annotations

import logging
from pathlib import Path

from .dimension import dimension_from_json
from .lattice import LatticeIndex
from .lattice_build import build_checkpoint
from .lattice_checkpoint import CheckpointUnusable, LatticeCheckpoint
from .log import Log
from .placements import Placements
from .records import EventKind
from .store import Store

_FOLLOWED_AT_MOST = 2_000
"""Changes that are followed after a checkpoint of any size; of a larger one a twentieth."""

_LOGGER = logging.getLogger(__name__)


class LatticeProjection:
    """The index and how far it has followed the log. For one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index: LatticeIndex | None = None
        self._revision = 0

    @property
    def path(self) -> Path:
        """Where its checkpoint lies."""
        return self._path

    def index(self, log: Log, store: Store) -> LatticeIndex:
        """Give the index, caught up."""
        if self._index is not None and self._revision == log.revision:
            return self._index
        placements = Placements(store)
        with placements.unchanged():
            if self._index is None:
                checkpoint = self._usable(log, placements) or self._built(log, store)
                self._index = LatticeIndex(base=checkpoint)
                self._revision = checkpoint.revision
            elif EventKind.ERASED in log.kinds(after=self._revision):
                self._index = LatticeIndex(base=self._built(log, store))
                self._revision = log.revision
            self._follow(self._index, log, placements)
            return self._index

    def _follow(self, index: LatticeIndex, log: Log, placements: Placements) -> None:
        revision = log.revision
        if revision == self._revision:
            return
        kinds = log.kinds(after=self._revision)
        if EventKind.DIMENSION_DEFINED in kinds:
            for event in log.events(after=self._revision):
                if event.kind == EventKind.DIMENSION_DEFINED:
                    index.define(dimension_from_json(event.payload))
        for statement, confidence in placements.changed(self._revision):
            if confidence is None:
                index.remove(statement)
            else:
                index.add(statement, confidence=confidence)
        self._revision = revision

    def _usable(self, log: Log, placements: Placements) -> LatticeCheckpoint | None:
        """Open the checkpoint, if it is of this log and not too far behind."""
        if not self._path.exists():
            return None
        try:
            checkpoint = LatticeCheckpoint.open(self._path)
        except CheckpointUnusable as error:
            _LOGGER.warning("the lattice index is built anew: %s", error)
            return None
        newest = log.revision
        if checkpoint.revision > newest or log.link(checkpoint.revision) != checkpoint.link:
            _LOGGER.warning("the lattice index is built anew: its checkpoint is of another log")
            return None
        behind = placements.count_changed(checkpoint.revision)
        if behind > max(_FOLLOWED_AT_MOST, checkpoint.statements // 20):
            return None
        return None if EventKind.ERASED in log.kinds(after=checkpoint.revision) else checkpoint

    def _built(self, log: Log, store: Store) -> LatticeCheckpoint:
        build_checkpoint(store, self._path, revision=log.revision, link=log.head)
        return LatticeCheckpoint.open(self._path)
