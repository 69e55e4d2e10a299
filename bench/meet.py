"""Meets over many instances: build, ready, cold, warm, update, memory; beside SPARQL and DuckDB.

python -m bench.meet --json [--instances 10000,100000,1200000] [--queries 1000] [--keep DIR]

For each size a world is made (see `meet_world`) and put into the log of a knowledge base. Then new
processes build the lattice index from the log's tables; open its checkpoint and answer queries that
nobody asked before, first with nothing read (cold), then others with the classes of the dimensions
read by different queries (warm); and take in one new statement. An answer is timed until it is
complete and counted, as a bitmap; making the names of all of it is timed apart. Every answer is
held against sets of pairs. Peers answer some of the same queries from data of their own on disk:
Oxigraph by SPARQL with `rdfs:subClassOf*`, and DuckDB, a development dependency, by a join with the
closure of the order; within caps of time, and a row says how many queries had not ended by then.
LatWeave reports p50 18.7 ms and p95 50 ms at 1.2 million instances
(arXiv 2609.27225, on its authors' machine).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kb.document import decode
from kb.knowledge_base import KnowledgeBase
from kb.statement import Evidence, Statement, TaxonClass

from .meet_peers import PEERS
from .meet_race import Caps, race
from .meet_world import (
    Wanted,
    class_name,
    constraints_of,
    fill,
    instance_name,
    make_queries,
    make_world,
    oracle,
)
from .report import goal, publish

SIZES = "10000,100000,1200000"
_LATWEAVE = {"p50_ms": 18.7, "p95_ms": 50.0}
_PEER_QUERIES = 20
_CHECKED = 300
_NAMED = 20


def measure(
    instances: int, queries: int, directory: Path, peers: list[str], caps: Caps
) -> Iterator[Any]:
    """Give the rows of one size."""
    base = directory / f"kb-{instances}"
    world = make_world(instances)
    wanted = make_queries(world, 3 * queries)
    if not (base / "knowledge.sqlite").exists():
        with KnowledgeBase.create(base, namespace="https://example.org/kb/") as created:
            fill(created, world)
    (base / "projections" / "lattice").unlink(missing_ok=True)
    built = _in_new_process("build", base)
    answered = _in_new_process("answer", base, wanted)
    print(json.dumps({**built, **answered, "counts": 0, "names": 0}), file=sys.stderr)
    counts = answered.pop("counts")
    names = answered.pop("names")
    checked = wanted[queries : queries + _CHECKED]
    expected = [oracle(world, query) for query in checked]
    equal = all(
        counts[queries + place] == len(answer)
        and (place >= _NAMED or names[place] == [instance_name(i) for i in sorted(answer)])
        for place, answer in enumerate(expected)
    )
    yield {
        "engine": "lattice index",
        "instances": instances,
        "pairs": len(world.owner),
        **{f"build_{key}": value for key, value in built.items()},
        **answered,
        "equal_to_oracle": equal,
        "checked": len(checked),
    }
    for name in peers:
        some = wanted[queries : queries + _PEER_QUERIES]
        row = race(name, instances, some, expected, caps)
        yield {"engine": name, "instances": instances, **row}


def _percentiles(name: str, milliseconds: list[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    return {
        f"{name}p50_ms": ordered[len(ordered) // 2],
        f"{name}p95_ms": ordered[len(ordered) * 95 // 100],
        f"{name}max_ms": ordered[-1],
    }


# ---- in a new process


def _in_new_process(job: str, base: Path, wanted: tuple[Wanted, ...] = ()) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "bench.meet", "--job", job, "--kb", str(base)],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@contextmanager
def _timed(result: dict[str, Any], name: str) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    result[f"{name}_s"] = time.perf_counter() - wall
    result[f"{name}_cpu_s"] = time.process_time() - cpu


def _build(base: Path) -> dict[str, Any]:
    result: dict[str, Any] = {}
    with KnowledgeBase.open(base) as knowledge, _timed(result, "index"):
        knowledge.lattice()
    result["file_mb"] = (base / "projections" / "lattice").stat().st_size / 1e6
    return {**result, "memory_mb": _memory()}


def _answer(base: Path) -> dict[str, Any]:
    wanted = [tuple(map(tuple, query)) for query in json.load(sys.stdin)]
    constraints = [constraints_of(query) for query in wanted]
    third = len(wanted) // 3
    result: dict[str, Any] = {}
    at_rest = _memory()
    with _timed(result, "ready"):
        knowledge = KnowledgeBase.open(base)
        knowledge.lattice()
    counts, times = [], []
    for asked in constraints:
        begun = time.perf_counter()
        counts.append(len(knowledge.answers(asked)))
        times.append((time.perf_counter() - begun) * 1000)
    result |= {"first_query_ms": times[0]}
    result |= _percentiles("cold_", times[:third])
    result |= _percentiles("", times[2 * third :])
    sizes = sorted(counts[2 * third :])
    result |= {"queries": third, "answers_p50": sizes[third // 2], "answers_max": sizes[-1]}
    named: list[float] = []
    first: list[list[str]] = []
    for asked in constraints[third : third + _NAMED]:
        first.append(list(knowledge.answers(asked)))
    for asked in constraints[2 * third :]:
        answers = knowledge.answers(asked)
        begun = time.perf_counter()
        list(answers)
        named.append((time.perf_counter() - begun) * 1000)
    result |= _percentiles("names_", named)
    result["memory_mb"] = _memory()
    result["memory_at_rest_mb"] = at_rest
    result |= _update(knowledge)
    knowledge.close()
    return {**result, "counts": counts, "names": first}


def _update(knowledge: KnowledgeBase) -> dict[str, Any]:
    """Take in one new statement, look, and take it back."""
    times, commits = [], []
    for number in range(21):
        statement = Statement(f"new {number}", "d0", TaxonClass(class_name(0, number % 8)))
        text = f"new {number} {time.time_ns()}"
        document = decode(text.encode(), name=f"{number}.txt")
        place = (document.source_sha256, document.text_sha256, 0, 3, text[:3])
        evidence = Evidence(statement.id, *place, extractor="bench/1")
        begun = time.perf_counter()
        knowledge.admit(document, text.encode(), [(statement, evidence)], run="bench")
        committed = time.perf_counter()
        seen = statement.subject in knowledge.answers(constraints_of(((0, number % 8),)))
        times.append((time.perf_counter() - committed) * 1000)
        commits.append((committed - begun) * 1000)
        assert seen
    times.sort()
    commits.sort()
    return {"visible_ms": times[10], "visible_max_ms": times[-1], "commit_ms": commits[10]}


def _memory() -> float:
    """Most memory resident so far, in MB, with what was read of the mapped file."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count the process that started this one, too
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


_JOBS: dict[str, Callable[[Path], dict[str, Any]]] = {"build": _build, "answer": _answer}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Verbatim)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--instances", default=SIZES, help=f"sizes, by comma ({SIZES})")
    parser.add_argument("--queries", type=int, default=1000, help="timed cold, and warm")
    parser.add_argument("--peers", default=",".join(PEERS), help="peers to run, by comma; or none")
    parser.add_argument(
        "--peer-seconds",
        default="180,5,40",
        metavar="LOAD,QUERY,QUERIES",
        help="most seconds of a peer for loading, one query, all queries of a size (180,5,40)",
    )
    parser.add_argument("--keep", type=Path, help="keep the knowledge bases here, to use again")
    parser.add_argument("--out", type=Path, help="write the report here, too")
    parser.add_argument("--job", choices=sorted(_JOBS), help=argparse.SUPPRESS)
    parser.add_argument("--kb", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(_JOBS[arguments.job](arguments.kb)))
        return
    peers = [name for name in arguments.peers.split(",") if name in PEERS]
    caps = Caps(*(float(seconds) for seconds in arguments.peer_seconds.split(",")))
    if "duckdb" in peers and find_spec("duckdb") is None:
        parser.error("duckdb is not installed (pip install duckdb); or give --peers oxigraph")
    with TemporaryDirectory() as place:
        directory = arguments.keep or Path(place)
        directory.mkdir(parents=True, exist_ok=True)
        rows = [
            row
            for size in arguments.instances.split(",")
            for row in measure(int(size), arguments.queries, directory, peers, caps)
        ]
    largest = max(row["instances"] for row in rows)
    (ours,) = (row for row in rows if row["instances"] == largest and "pairs" in row)
    limits = {
        "p50_ms": 0.05,
        "p95_ms": 0.5,
        "cold_p50_ms": 0.05,
        "cold_p95_ms": 0.5,
        "build_index_s": 20,
        "ready_s": 5,
        "memory_mb": 500,
        "visible_ms": 1,
    }
    goals = [goal(name, ours[name], limit, at_most=True) for name, limit in limits.items()]
    equal = [row["equal_to_oracle"] for row in rows if row["equal_to_oracle"] is not None]
    goals.append(
        goal(
            "answers that equal the oracle's",
            sum(equal) / len(equal),
            1,
            at_most=False,
        )
    )
    reported = {"system": "LatWeave, as reported", **_LATWEAVE}
    publish(
        {"bench": "meet", "rows": rows, "reported": reported, "goals": goals},
        as_json=arguments.json,
        out=arguments.out,
    )


class _Verbatim(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of the description."""


if __name__ == "__main__":
    main()
