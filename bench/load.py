"""Loading the RDF store, and two hops with their quotes, beside bare pyoxigraph on the same quads.

python -m bench.load --json
python -m bench.load --quads 10000 --quads 100000
python -m bench.load --kb triples.txt          # lines subject|relation|object, instead of made ones

Per size: a table is imported into a knowledge base (`import`), whose store is built from the log on
disk in a fresh process (`rebuild`); the same statements are loaded from memory onto disk and onto a
file system in memory (`load`), and the same quads by Oxigraph alone. Queries follow two relations
from an entity and give the quotes of both steps; the first of a fresh process is cold, the rest are
warm. Oxigraph alone answers within its process; the service asks a worker that can be ended, whose
processor time is counted in.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from bench.report import goal, publish
from kb import vocabulary
from kb.document import decode
from kb.knowledge_base import KnowledgeBase
from kb.rdf import RdfProjection
from kb.table_mapping import read_mapping
from kb.tables import import_table

SIZES = (10_000, 100_000, 1_000_000)
QUADS_EACH = 3
NAMESPACE = "https://example.org/kb/"
MAPPING = (
    "delimiter: '|'\nheader: [subject, relation, object]\n"
    "dimension: relation\nvalue: object\nkind: entity\n"
)
ASKED = 300
_QUERY = """SELECT ?one ?two ?first ?second {{
  GRAPH ?g {{ <{start}> <{relation}> ?one }} GRAPH ?h {{ ?one <{follows}> ?two }}
  ?g pw:quote ?first . ?h pw:quote ?second }}"""
MEMORY = Path("/dev/shm")  # a file system in memory, where there is one

Figures = dict[str, Any]  # what a step of its own process prints as JSON


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print, or, with `--step`, do one step in this process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quads", type=int, action="append", help="sizes; default 1e4, 1e5, 1e6")
    parser.add_argument("--kb", type=Path, help="lines subject|relation|object")
    parser.add_argument("--out", type=Path, help="write the report here too")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", choices=sorted(STEPS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.step:
        print(json.dumps(STEPS[options.step](options.folder)))
        return
    rows = [row for size in options.quads or SIZES for row in _measure(size, options.kb)]
    publish(
        {"bench": "load", "rows": rows, "goals": list(_goals(rows))},
        as_json=options.json,
        out=options.out,
    )


def _measure(quads: int, kb: Path | None) -> Iterator[Figures]:
    with tempfile.TemporaryDirectory(prefix="bench-load-") as name:
        folder = Path(name)
        lines = _made(quads // QUADS_EACH) if kb is None else _given(kb)
        table = list(itertools.islice(lines, quads // QUADS_EACH))
        (folder / "table.txt").write_text("".join(f"{line}\n" for line in table), "utf-8")
        (folder / "queries.json").write_text(json.dumps(_queries(table)), "utf-8")
        found = {step: _run(step, folder) for step in STEPS}
    for step, figures in found.items():
        yield {"quads": QUADS_EACH * len(table), "step": step, **figures}


def _run(step: str, folder: Path) -> Figures:
    """Do one step in a fresh process."""
    environment = dict(os.environ)
    if step.endswith("memory") and MEMORY.is_dir():
        environment["TMPDIR"] = str(MEMORY)
    command = [sys.executable, "-m", "bench.load", "--step", step, "--folder", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, env=environment)
    return dict(json.loads(done.stdout))


def _made(count: int) -> Iterator[str]:
    """Make a table: four relations of each entity, to entities all over."""
    entities = max(count // 4, 1)
    for number in range(count):
        other = (number * 7919 + 13) % entities
        yield f"Film {number // 4}|relation_{number % 4}|Film {other}"


def _given(file: Path) -> Iterator[str]:
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
    return (line for line in text.splitlines() if line.count("|") == 2)


def _queries(table: Sequence[str]) -> list[str]:
    """Choose entities all over the table and relations that lead on from them."""
    cells = [line.split("|") for line in table]
    onward = {subject: relation for subject, relation, _ in cells}
    chosen = [row for row in cells if row[2] in onward]
    step = max(len(chosen) // ASKED, 1)
    return [
        _QUERY.format(
            start=vocabulary.entity_iri(NAMESPACE, subject),
            relation=vocabulary.dimension_iri(NAMESPACE, relation),
            follows=vocabulary.dimension_iri(NAMESPACE, onward[value]),
        )
        for subject, relation, value in chosen[::step][:ASKED]
    ]


# ---- steps, each in a process of its own


def _import(folder: Path) -> Figures:
    data = (folder / "table.txt").read_bytes()
    mapping = read_mapping(MAPPING, name="load")
    with KnowledgeBase.create(folder / "kb", namespace=NAMESPACE) as base:
        document = decode(data, name="table.txt")
        timed = _timed(lambda: import_table(base, document, data, run="bench", mapping=mapping))
        stored = base.revision
    size = sum(file.stat().st_size for file in (folder / "kb").glob("knowledge*"))
    count = data.count(b"\n")
    return {**timed, "events": stored, "log_bytes_per_statement": round(size / count)}


def _rebuild(folder: Path) -> Figures:
    with KnowledgeBase.open(folder / "kb") as base:
        found: list[RdfProjection] = []
        timed = _timed(lambda: found.append(base.rdf()))
        (folder / "quads.nq").write_bytes(found[0].n_quads())
        count = len(found[0])
    size = _size(folder / "kb" / "projections" / "rdf" / "store")
    per = round(size / max(count / QUADS_EACH, 1))
    return {**_rate(timed, count), "store_bytes_per_statement": per}


def _load(folder: Path, *, into: Path | None) -> Figures:
    with KnowledgeBase.open(folder / "kb") as base:
        rows = list(base.every_statement())
    with RdfProjection(into, NAMESPACE) as projection:
        timed = _timed(lambda: projection.add_statements(rows))
        return _rate(timed, len(projection))


def _bare(folder: Path, *, into: Path | None) -> Figures:
    data = (folder / "quads.nq").read_bytes()
    store = ox.Store() if into is None else ox.Store(str(into))

    def load() -> None:
        store.bulk_load(data, ox.RdfFormat.N_QUADS)
        if into is not None:
            store.flush()

    figures = _rate(_timed(load), len(store))
    if into is not None:
        figures["store_bytes_per_statement"] = round(_size(into) / (len(store) / QUADS_EACH))
    return figures


def _ask(folder: Path) -> Figures:
    with KnowledgeBase.open(folder / "kb") as base:
        started = time.perf_counter()
        rdf = base.rdf()
        return _latencies(folder, lambda text: rdf.query(text)[1], started)


def _ask_bare(folder: Path) -> Figures:
    started = time.perf_counter()
    store = ox.Store.read_only(str(folder / "bare"))
    graphs: list[Any] = [ox.DefaultGraph(), ox.NamedNode(vocabulary.META_GRAPH)]

    def ask(text: str) -> bytes:
        results = store.query(text, prefixes=vocabulary.prefixes(NAMESPACE), default_graph=graphs)
        assert isinstance(results, ox.QuerySolutions)
        return results.serialize(format=ox.QueryResultsFormat.JSON) or b""

    return _latencies(folder, ask, started)


STEPS: dict[str, Callable[[Path], Figures]] = {
    "import": _import,
    "rebuild": _rebuild,
    "load": lambda folder: _load(folder, into=folder / "loaded"),
    "load in memory": lambda folder: _load(folder, into=None),
    "bare": lambda folder: _bare(folder, into=folder / "bare"),
    "bare in memory": lambda folder: _bare(folder, into=None),
    "two hops": _ask,
    "bare two hops": _ask_bare,
}


def _timed(work: Callable[[], object]) -> Figures:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {"cpu_s": round(cpu, 3), "wall_s": round(wall, 3)}


def _rate(timed: Figures, quads: int) -> Figures:
    return {**timed, "quads_per_cpu_s": round(quads / max(timed["cpu_s"], 0.001))}


def _latencies(folder: Path, ask: Callable[[str], bytes], started: float) -> Figures:
    """Time the first answer since `started`, and each of the others; milliseconds."""
    queries = json.loads((folder / "queries.json").read_text("utf-8"))
    rows = len(json.loads(ask(queries[0]))["results"]["bindings"])
    cold = time.perf_counter() - started
    times = []
    cpu = _cpu_seconds()
    for text in queries[1:]:
        begun = time.perf_counter()
        answer = ask(text)
        times.append(time.perf_counter() - begun)
        rows += len(json.loads(answer)["results"]["bindings"])
    cpu = (_cpu_seconds() - cpu) / max(len(times), 1)
    times.sort()
    return {
        "cold_ms": round(cold * 1000, 2),
        "p50_ms": round(times[len(times) // 2] * 1000, 3),
        "p95_ms": round(times[len(times) * 95 // 100] * 1000, 3),
        "cpu_ms": round(cpu * 1000, 3),
        "answers": rows,
    }


def _cpu_seconds() -> float:
    """Give the processor time of this process and, where the kernel tells it, of its workers."""
    total = time.process_time()
    for listed in Path("/proc/self/task").glob("*/children"):
        for child in listed.read_text().split():
            for each in Path(f"/proc/{child}/task").glob("*/schedstat"):
                total += int(each.read_text().split()[0]) / 1e9
    return total


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _goals(rows: Sequence[Figures]) -> Iterator[dict[str, Any]]:
    by = {(row["quads"], row["step"]): row for row in rows}
    for size in sorted({row["quads"] for row in rows}):
        for ours, bare, figure, limit in (
            ("load", "bare", "cpu_s", 1.5),
            ("load in memory", "bare in memory", "cpu_s", 1.5),
            ("two hops", "bare two hops", "cpu_ms", 2.0),
            ("two hops", "bare two hops", "p95_ms", 2.0),
        ):
            assert by[size, "two hops"]["answers"] == by[size, "bare two hops"]["answers"] > 0
            ratio = by[size, ours][figure] / max(by[size, bare][figure], 0.001)
            yield goal(f"{size} quads: {ours} by {bare}, {figure}", ratio, limit, at_most=True)


if __name__ == "__main__":
    main()
