"""Peers of the lattice index on the same world: SPARQL on Oxigraph, and SQL on DuckDB."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .meet_world import Wanted, World, class_name

Answer = Callable[[Wanted], set[int]]
_NS = "https://example.org/kb/"
_SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_LINES = 500_000


@contextmanager
def oxigraph(world: World, directory: Path) -> Iterator[Answer]:
    """Load triples into a store on disk; classes are climbed by a property path."""
    import pyoxigraph

    store = pyoxigraph.Store(str(directory / "oxigraph"))
    for piece in _triples(world):
        store.bulk_load(io.BytesIO(piece), pyoxigraph.RdfFormat.N_TRIPLES)

    def answer(wanted: Wanted) -> set[int]:
        patterns = "".join(
            f"?x <{_NS}d{dimension}> ?v{n} . "
            f"?v{n} <{_SUBCLASS}>* <{_NS}{class_name(dimension, value)}> . "
            for n, (dimension, value) in enumerate(wanted)
        )
        found: Any = store.query(f"SELECT DISTINCT ?x {{ {patterns} }}")
        return {int(row[0].value.rpartition("i")[2]) for row in found}

    yield answer


def _triples(world: World) -> Iterator[bytes]:
    lines = [
        f"<{_NS}{class_name(d, low)}> <{_SUBCLASS}> <{_NS}{class_name(d, high)}> .\n"
        for d, parents in enumerate(world.parents)
        for low, above in enumerate(parents)
        for high in above
    ]
    yield "".join(lines).encode()
    for start in range(0, len(world.owner), _LINES):
        piece = slice(start, start + _LINES)
        yield "".join(
            f"<{_NS}i{owner}> <{_NS}d{d}> <{_NS}{class_name(d, value)}> .\n"
            for owner, d, value in zip(
                world.owner[piece].tolist(),
                world.dimension[piece].tolist(),
                world.value[piece].tolist(),
                strict=True,
            )
        ).encode()


@contextmanager
def duckdb(world: World, directory: Path) -> Iterator[Answer]:
    """Load sorted pairs and the closure of the order; a meet is an INTERSECT."""
    library: Any = import_module("duckdb")  # a development dependency, imported where it is used
    connection = library.connect(str(directory / "meet.duckdb"))
    order = np.lexsort((world.owner, world.value, world.dimension))
    pairs = {
        "dimension": world.dimension[order],
        "value": world.value[order],
        "owner": world.owner[order],
    }
    closure = np.array(
        [
            (d, low, high)
            for d, parents in enumerate(world.parents)
            for low in range(len(parents))
            for high in sorted(world.ancestors(d, low))
        ],
        dtype=np.uint16,
    )
    below = {name: closure[:, place] for place, name in enumerate(("dimension", "low", "high"))}
    connection.register("given_pairs", pairs)
    connection.register("given_below", below)
    connection.execute("CREATE TABLE pair AS SELECT * FROM given_pairs")
    connection.execute("CREATE TABLE below AS SELECT * FROM given_below")
    connection.execute("CHECKPOINT")

    def answer(wanted: Wanted) -> set[int]:
        one = (
            "SELECT owner FROM pair WHERE dimension = ? AND value IN"
            " (SELECT low FROM below WHERE dimension = ? AND high = ?)"
        )
        text = " INTERSECT ".join([one] * len(wanted))
        given = [number for dimension, value in wanted for number in (dimension, dimension, value)]
        return {row[0] for row in connection.execute(text, given).fetchall()}

    yield answer
    connection.close()


PEERS: dict[str, Callable[[World, Path], AbstractContextManager[Answer]]] = {
    "oxigraph": oxigraph,
    "duckdb": duckdb,
}
