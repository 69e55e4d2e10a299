"""Read-only copies of the RDF store for queries, made when something has changed and is asked."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class Checkpoints:
    """The latest copy and those still read, in a directory that is emptied at first.

    `copy` writes one into a directory that does not exist yet; with hard links it costs little.
    """

    def __init__(self, directory: Path, copy: Callable[[Path], None]) -> None:
        self._directory = directory
        self._copy = copy
        self._lock = threading.Lock()
        self._latest: tuple[int, Path] | None = None
        self._readers: dict[Path, int] = {}
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)

    def close(self) -> None:
        """Delete all copies."""
        shutil.rmtree(self._directory, ignore_errors=True)

    @contextmanager
    def at(self, change: int) -> Iterator[Path]:
        """Give the copy that shows `change`, a number that grows; it stays while it is read."""
        path = self._take(change)
        try:
            yield path
        finally:
            self._let_go(path)

    def _take(self, change: int) -> Path:
        with self._lock:
            if self._latest is None or self._latest[0] < change:
                path = self._directory / str(change)
                self._copy(path)
                old, self._latest = self._latest, (change, path)
                if old is not None and old[1] not in self._readers:
                    shutil.rmtree(old[1], ignore_errors=True)
            path = self._latest[1]
            self._readers[path] = self._readers.get(path, 0) + 1
            return path

    def _let_go(self, path: Path) -> None:
        with self._lock:
            self._readers[path] -= 1
            if not self._readers[path]:
                del self._readers[path]
                if self._latest is None or self._latest[1] != path:
                    shutil.rmtree(path, ignore_errors=True)
