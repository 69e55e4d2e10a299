"""Peers of the lattice index on the same world: SPARQL on Oxigraph, and SQL on DuckDB.

Each loads its data once, then opens them and answers. Neither can be interrupted, so both run in
processes of their own (see `meet_race`), as `python -m bench.meet_peers --job load|answer`.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .meet_world import Wanted, World, class_name, make_world

Answer = Callable[[Wanted], set[int]]


@dataclass(frozen=True, slots=True)
class Peer:
    """How a peer puts a world into a directory, and how it is opened to be asked."""

    load: Callable[[World, Path], None]
    opened: Callable[[Path], AbstractContextManager[Answer]]


_NS = "https://example.org/kb/"
_SUBCLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_LINES = 500_000


def _load_oxigraph(world: World, directory: Path) -> None:
    """Load triples into a store on disk, many at once."""
    import pyoxigraph

    store = pyoxigraph.Store(str(directory / "oxigraph"))
    for piece in _triples(world):
        store.bulk_load(io.BytesIO(piece), pyoxigraph.RdfFormat.N_TRIPLES)
    store.optimize()
    store.flush()


@contextmanager
def _oxigraph(directory: Path) -> Iterator[Answer]:
    """Climb classes by a property path."""
    import pyoxigraph

    store = pyoxigraph.Store.read_only(str(directory / "oxigraph"))

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


def _load_duckdb(world: World, directory: Path) -> None:
    """Load sorted pairs and the closure of the order."""
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
    connection.close()


@contextmanager
def _duckdb(directory: Path) -> Iterator[Answer]:
    """A meet is an INTERSECT."""
    library: Any = import_module("duckdb")
    connection = library.connect(str(directory / "meet.duckdb"), read_only=True)

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


PEERS = {
    "oxigraph": Peer(_load_oxigraph, _oxigraph),
    "duckdb": Peer(_load_duckdb, _duckdb),
}


def main() -> None:
    """Load, or answer the queries that come in, a line each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", choices=PEERS, required=True)
    parser.add_argument("--job", choices=("load", "answer"), required=True)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--instances", type=int, default=0)
    arguments = parser.parse_args()
    peer = PEERS[arguments.peer]
    if arguments.job == "load":
        world = make_world(arguments.instances)
        begun = time.perf_counter(), time.process_time()
        peer.load(world, arguments.directory)
        taken = time.perf_counter() - begun[0], time.process_time() - begun[1]
        print(json.dumps({"load_s": taken[0], "load_cpu_s": taken[1]}))
        return
    with peer.opened(arguments.directory) as answer:
        print(json.dumps("ready"), flush=True)
        for line in sys.stdin:
            wanted = tuple((dimension, value) for dimension, value in json.loads(line))
            start = time.perf_counter()
            found = answer(wanted)
            taken_ms = (time.perf_counter() - start) * 1000
            print(json.dumps({"ms": taken_ms, "found": sorted(found)}), flush=True)


if __name__ == "__main__":
    main()
