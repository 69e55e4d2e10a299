"""Projections of earlier revisions, built from the tables when they are asked for, and few kept.

A graph may besides be of the statements valid on one day.
Verdicts belong to no revision of the knowledge log, so the graph of an earlier one holds none.
"""

from __future__ import annotations

import datetime
import shutil
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from .answers import Answers
from .constraint import Constraint, Range
from .dimension import dimension_from_json
from .lattice import LatticeIndex
from .meeting import Meeting, decide
from .placements import confidence_of
from .qualified import View
from .query_budget import QueryOptions
from .rdf import RdfProjection
from .search import TextIndex
from .store import Store

Key = TypeVar("Key")
Kept = TypeVar("Kept")

Moment = tuple[int, datetime.date | None]
"""A revision, and the day for which statements are chosen by their validity; None chooses all."""

KEPT = 2
"""Revisions whose projections are kept, of each kind."""


class PastProjections:
    """Projections by revision, in a directory that is emptied at first and at the end."""

    def __init__(self, directory: Path, namespace: str) -> None:
        self._directory = directory
        self._namespace = namespace
        self._lock = threading.RLock()
        self._querying = threading.RLock()
        self._texts: dict[int, TextIndex] = {}
        self._lattices: dict[int, LatticeIndex] = {}
        self._graphs: dict[Moment, RdfProjection] = {}
        self._emptied = False

    def close(self) -> None:
        """Close and delete all of them."""
        with self._querying, self._lock:
            for graph in self._graphs.values():
                graph.close()
            self._texts, self._lattices, self._graphs = {}, {}, {}
            if self._emptied:
                shutil.rmtree(self._directory, ignore_errors=True)

    def text(self, store: Store, revision: int) -> TextIndex:
        """Give the text index of a revision."""
        with self._lock:
            index = _take(self._texts, revision)
            if index is None:
                index = TextIndex(self._place("text", str(revision)), anew=True)
                documents = (store.document(found) for found in store.documents(as_of=revision))
                index.add(documents, revision=revision)
                for old in _keep(self._texts, revision, index):
                    shutil.rmtree(self._place("text", str(old)), ignore_errors=True)
            return index

    def lattice(
        self, store: Store, revision: int, dimensions: Sequence[Mapping[str, object]]
    ) -> LatticeIndex:
        """Give the lattice index of a revision with the dimensions of it."""
        with self._lock:
            index = _take(self._lattices, revision)
            if index is None:
                index = LatticeIndex(map(dimension_from_json, dimensions))
                for _, statement, evidence in store.statements(as_of=revision):
                    index.add(statement, confidence=confidence_of(evidence))
                _keep(self._lattices, revision, index)
            return index

    def answers(
        self,
        store: Store,
        revision: int,
        dimensions: Sequence[Mapping[str, object]],
        constraints: Iterable[Constraint | Range],
        *,
        view: View,
    ) -> Answers:
        """Ask the lattice index of a revision."""
        with self._lock:
            return self.lattice(store, revision, dimensions).answers(constraints, view=view)

    def meeting(
        self,
        store: Store,
        revision: int,
        dimensions: Sequence[Mapping[str, object]],
        constraints: Iterable[Constraint | Range],
        *,
        view: View,
        union: bool,
    ) -> Meeting:
        """Decide a meet by the lattice index of a revision."""
        with self._lock:
            index = self.lattice(store, revision, dimensions)
            return decide(index, constraints, view=view, union=union)

    def rdf(
        self, store: Store, moment: Moment, dimensions: Sequence[Mapping[str, object]]
    ) -> RdfProjection:
        """Give the graph of a moment, open until the next call; `query` is safe for threads."""
        with self._querying:
            graph = _take(self._graphs, moment)
            if graph is None:
                revision, day = moment
                place = self._place("rdf", f"{revision}-{day}")
                graph = RdfProjection(place, self._namespace, workers=1)
                for form in dimensions:
                    graph.add_dimension(dimension_from_json(form))
                for record in store.documents(as_of=revision):
                    graph.add_document(store.document(record))
                graph.add_statements(
                    row
                    for row in store.statements(as_of=revision)
                    if day is None or row[1].validity.holds_on(day)
                )
                graph.set_revision(revision)
                for old, gone in _keep(self._graphs, moment, graph).items():
                    gone.close()
                    shutil.rmtree(self._place("rdf", f"{old[0]}-{old[1]}"), ignore_errors=True)
            return graph

    def query(
        self,
        store: Store,
        moment: Moment,
        dimensions: Sequence[Mapping[str, object]],
        text: str,
        accept: str,
        *,
        options: QueryOptions,
    ) -> tuple[str, bytes]:
        """Query the graph of a moment; one query at a time."""
        with self._querying:
            return self.rdf(store, moment, dimensions).query(text, accept, options=options)

    def _place(self, kind: str, name: str) -> Path:
        with self._lock:
            if not self._emptied:
                shutil.rmtree(self._directory, ignore_errors=True)
                self._emptied = True
        place = self._directory / kind / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


def _take(kept: dict[Key, Kept], key: Key) -> Kept | None:
    """Give what is kept of a key, now the youngest."""
    found = kept.pop(key, None)
    if found is not None:
        kept[key] = found
    return found


def _keep(kept: dict[Key, Kept], key: Key, fresh: Kept) -> dict[Key, Kept]:
    """Keep one more; give what had to go, by key."""
    kept[key] = fresh
    gone = list(kept)[:-KEPT]
    return {old: kept.pop(old) for old in gone}
