"""Projection to dense vectors, one for each passage, and the order they give to found passages.

A vector depends on its passage alone. The vectors lie in a database of their own with the revision
they have followed, which is written with the last of them; what a crash cut off is computed again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from .database import open_database, translated_errors
from .document import Document
from .embedding import SCALE, Embedder, likeness
from .search import Place, worth_finding

WEIGHED = 100
"""Passages that vectors bring into a new order: the best by words."""

_WEIGHT = 20.0
"""What full likeness counts against scores of words, where one rare word counts about that much."""

_AT_ONCE = 64

_TABLES = """
CREATE TABLE IF NOT EXISTS vectors (
    source TEXT NOT NULL, start INTEGER NOT NULL, added INTEGER NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (source, start)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS followed (model TEXT NOT NULL, revision INTEGER NOT NULL);
"""


class VectorIndex:
    """The vectors of the passages of the standing documents, in one file; for several threads."""

    def __init__(self, file: Path, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True)
        self._name = file.name
        self._connection = open_database(file)
        with translated_errors(self._name):
            for statement in _TABLES.split(";"):
                self._connection.execute(statement)
            found = self._connection.execute("SELECT model, revision FROM followed").fetchone()
            self.revision = int(found[1]) if found and found[0] == embedder.name else 0
            if found is None or found[0] != embedder.name:
                self._connection.execute("DELETE FROM vectors")
                self._connection.execute("DELETE FROM followed")
                self._connection.execute("INSERT INTO followed VALUES (?, 0)", (embedder.name,))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def follow(
        self, standing: Collection[int], read: Callable[[int], Document], *, revision: int
    ) -> None:
        """Hold the vectors of the standing documents and of no others, as of a revision.

        Documents go by the event that added them; `read` gives one. What is done is kept document
        by document.
        """
        with self._lock, translated_errors(self._name):
            rows = self._connection.execute("SELECT DISTINCT added FROM vectors")
            there = {int(added) for (added,) in rows}
            for added in sorted(there - set(standing)):
                self._connection.execute("DELETE FROM vectors WHERE added = ?", (added,))
            for added in sorted(set(standing) - there):
                self._add(added, read(added))
            self._connection.execute("UPDATE followed SET revision = ?", (revision,))
            self.revision = revision

    def _add(self, added: int, document: Document) -> None:
        passages = list(worth_finding(document))
        rows: list[tuple[str, int, int, bytes]] = []
        for first in range(0, len(passages), _AT_ONCE):
            some = passages[first : first + _AT_ONCE]
            texts = [f"{p.title}. {document.text[p.start : p.end]}" for p in some]
            for passage, vector in zip(some, self._embedder.embed(texts), strict=True):
                rows.append((document.source_sha256, passage.start, added, vector))
        self._connection.execute("BEGIN")
        try:
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def weigh(
        self, query: str, places: Sequence[Place], limit: int, *, read: Callable[[Place], str]
    ) -> tuple[Place, ...]:
        """Order found passages by words and likeness together: score plus weighted cosine.

        The first `WEIGHED` are weighed; `read` gives the text of one that stands no longer. Equal
        scores keep the order of the words. Reciprocal rank fusion, measured on training questions,
        pushes down passages that are found by the name another passage gives; adding scores does
        not.

        Source: Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval (2023), 4.
        """
        some = list(places[:WEIGHED])
        with self._lock, translated_errors(self._name):
            (sought,) = self._embedder.embed([query])
            vectors = [self._vector(place) for place in some]
            unknown = {i: read(some[i]) for i, vector in enumerate(vectors) if not vector}
            texts = {i: f"{some[i].title}. {text}" for i, text in unknown.items() if text}
            for i, vector in zip(texts, self._embedder.embed([*texts.values()]), strict=True):
                vectors[i] = vector
        known = [i for i, vector in enumerate(vectors) if vector]
        scores = [place.score for place in some]
        for i, alike in zip(known, likeness(sought, [vectors[i] for i in known]), strict=True):
            scores[i] += _WEIGHT * alike / SCALE**2
        order = sorted(range(len(some)), key=lambda i: (-scores[i], i))
        return tuple(replace(some[i], score=scores[i]) for i in order[:limit])

    def _vector(self, place: Place) -> bytes:
        found = self._connection.execute(
            "SELECT vector FROM vectors WHERE source = ? AND start = ?",
            (place.source_sha256, place.start),
        ).fetchone()
        return bytes(found[0]) if found else b""
