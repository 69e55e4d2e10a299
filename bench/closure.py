"""Time the closure of large Horn programs by the linear engine, its twin and bare clingo beside it.

Each measurement runs in a fresh process that reads the program from disk. `cold` is the first
closure after reading, index included; loading the compiled kernel, once per process, is told apart.
`warm` is the best of several closures on the same index. Growth compares CPU seconds from file to
closure, best of several readings. Bare clingo gets the same arrays rule by rule through its Python
interface and is held against the cold closure; `clingo aspif` reads its own ground format, the
fastest way in there is, and `clingo text` parses and grounds a program text. `twin` is the same
algorithm in plain Python on lists. All must derive as many atoms on the same instance.

The smaller instances fit into the processor's cache, the largest do not: growth tells how well the
layout in memory hides that. The shuffled chain measures memory latency and nothing else; it has no
goals.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from reasoner.engines import linear
from reasoner.horn import HornProgram

from . import horn_programs
from .report import goal, publish

GOALS = {
    "closure with index": ("cold_s", 1.0),
    "closure repeated": ("warm_s", 0.3),
    "peak memory": ("peak_mb", 500.0),
}
SPEEDUP = 20.0
GROWTH = 12.0
WAYS = ("rules", "aspif", "text")
REPETITIONS = 5


def measure_linear(path: Path) -> dict[str, Any]:
    """Close the program at `path` in this process and report seconds and megabytes."""
    start = time.perf_counter()
    program = horn_programs.load(path)
    read = time.perf_counter() - start
    start = time.perf_counter()
    linear.warm()
    kernel = time.perf_counter() - start
    start = time.perf_counter()
    firing = linear.fire(program, form=linear.Form.ARRAYS)
    cold = time.perf_counter() - start
    warm = [_closed_again(program) for _ in range(REPETITIONS)]
    whole = []
    for _ in range(REPETITIONS):
        began = time.process_time()
        linear.fire(horn_programs.load(path), form=linear.Form.ARRAYS)
        whole.append(time.process_time() - began)
    return {
        "engine": "linear",
        "derived": len(firing.order),
        "read_s": read,
        "kernel_s": kernel,
        "cold_s": cold,
        "warm_s": min(warm),
        "file_to_closure_cpu_s": min(whole),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measure_twin(path: Path) -> dict[str, Any]:
    """Close the program at `path` in plain Python, on lists."""
    program = horn_programs.load(path)
    start = time.perf_counter()
    firing = linear.fire(program, form=linear.Form.LISTS)
    cold = time.perf_counter() - start
    start = time.perf_counter()
    linear.fire(program, form=linear.Form.LISTS)
    warm = time.perf_counter() - start
    return {"engine": "twin", "derived": len(firing.order), "cold_s": cold, "warm_s": warm}


def _closed_again(program: HornProgram) -> float:
    start = time.perf_counter()
    linear.fire(program, form=linear.Form.ARRAYS)
    return time.perf_counter() - start


def measure_clingo(path: Path, way: str) -> dict[str, Any]:
    """Let bare clingo find the least model in this process, given the program in one of WAYS."""
    from clingo import Control

    program = horn_programs.load(path)
    rows = program.rows
    tails = [rows.tails[a:b] for a, b in pairwise(rows.tail_starts)]
    clauses = list(zip(rows.heads, tails, strict=True))
    facts = program.given.tolist()
    atoms: Sequence[int] = []
    control = Control(["--seed=0", "--parallel-mode=1", "--warn=none"])
    if way == "text":
        lines = [f"a{atom}." for atom in facts]
        lines += [f"a{h} :- {', '.join(f'a{x}' for x in t)}." for h, t in clauses]
        text = "\n".join(lines)
        start = time.perf_counter()
        control.add("base", [], text)
        control.ground([("base", [])])
    elif way == "aspif":
        lines = ["asp 1 0 0", *(f"1 0 1 {atom + 1} 0 0" for atom in facts)]
        lines += [f"1 0 1 {h + 1} 0 {len(t)}{''.join(f' {x + 1}' for x in t)}" for h, t in clauses]
        file = path.with_suffix(".aspif")
        file.write_text("\n".join([*lines, "0\n"]), encoding="ascii")
        start = time.perf_counter()
        control.load_aspif([str(file)])
        atoms = range(1, program.atom_count + 1)
    else:
        start = time.perf_counter()
        with control.backend() as backend:
            atoms = [backend.add_atom() for _ in range(program.atom_count)]
            for atom in facts:
                backend.add_rule([atoms[atom]])
            for head, tail in clauses:
                backend.add_rule([atoms[head]], [atoms[atom] for atom in tail])
    with control.solve(yield_=True) as search:
        model = search.model()
        seconds = time.perf_counter() - start
        assert model is not None
        named = [atom.literal for atom in control.symbolic_atoms]  # a text has no other atoms
        derived = sum(map(model.is_true, atoms or named))
    name = "clingo" if way == "rules" else f"clingo {way}"
    return {"engine": name, "derived": derived, "cold_s": seconds}


_NEMO = """
import json, sys, time
from nmo_python import NemoEngine, load_string
start = time.perf_counter()
engine = NemoEngine(load_string(sys.stdin.read()))
read = time.perf_counter() - start
start = time.perf_counter()
engine.reason()
print(json.dumps({"engine": "nemo", "read_s": read, "cold_s": time.perf_counter() - start,
                  "derived": sum(1 for _ in engine.result("h"))}))
"""


def measure_nemo(python: str, path: Path) -> dict[str, Any]:
    """Let nemo close the program, its hyperedges as facts by length of tail."""
    program = horn_programs.load(path)
    lines = [f"h({atom}) ." for atom in program.given.tolist()]
    longest = 0
    for clause, head in enumerate(program.heads.tolist()):
        tail = program.tail(clause)
        longest = max(longest, len(tail))
        lines.append(f"e{len(tail)}({', '.join(map(str, [head, *tail]))}) .")
    for length in range(1, longest + 1):
        names = [f"?a{place}" for place in range(length)]
        body = ", ".join([f"e{length}(?h, {', '.join(names)})", *(f"h({name})" for name in names)])
        lines.append(f"h(?h) :- {body} .")
    text = "\n".join([*lines, "@export h :- csv {}."])
    done = subprocess.run(
        [python, "-c", _NEMO], input=text, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(
    paths: dict[tuple[str, int], Path], *, ways: Sequence[str], nemo: str | None
) -> dict[str, Any]:
    """Measure every program and hold the results against the goals."""
    rows: list[dict[str, Any]] = []
    for (kind, size), path in sorted(paths.items(), key=lambda item: (item[0][1], item[0][0])):
        found = [_fresh(path, way) for way in ("linear", "twin", *ways)]
        if nemo is not None:
            found.append(measure_nemo(nemo, path))
        counts = {row["engine"]: row["derived"] for row in found}
        if len(set(counts.values())) > 1:
            raise SystemExit(f"{kind} {size}: engines derive different numbers of atoms: {counts}")
        rows.extend({"program": kind, "edges": size, **row} for row in found)
    return {"bench": "closure", "rows": rows, "goals": _goals(rows)}


def _fresh(path: Path, what: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.closure", "--measure", what, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _goals(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    largest = max(row["edges"] for row in rows)
    ours = {(r["program"], r["edges"]): r for r in rows if r["engine"] == "linear"}
    goals = []
    for (kind, size), row in ours.items():
        if size != largest or kind == "shuffled":
            continue
        for name, (field, limit) in GOALS.items():
            goals.append(goal(f"{name}, {kind} {size}", row[field], limit, at_most=True))
        for other in rows:
            if (other["program"], other["edges"], other["engine"]) == (kind, size, "clingo"):
                factor = other["cold_s"] / row["cold_s"]
                name = f"times faster than bare clingo, {kind} {size}"
                goals.append(goal(name, factor, SPEEDUP, at_most=False))
        small = ours.get((kind, size // 10))
        if small is not None:
            growth = row["file_to_closure_cpu_s"] / small["file_to_closure_cpu_s"]
            name = f"growth from file to closure, {kind} {size // 10} to {size}"
            goals.append(goal(name, growth, GROWTH, at_most=True))
    return goals


def main() -> None:
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--sizes", default="1000,10000,100000,1000000", help="hyperedges, by commas"
    )
    parser.add_argument("--dataset", choices=horn_programs.KINDS, help="only this kind of program")
    parser.add_argument("--hypergraph", type=Path, help="measure this JSON or .npz file instead")
    parser.add_argument("--clingo", default="rules,aspif,text", help="ways in, by commas; or none")
    parser.add_argument("--nemo", help="a Python that has nemo-python, to measure it as well")
    parser.add_argument("--out", type=Path, help="also write the object to this file")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        what, path = options.measure[0], Path(options.measure[1])
        own = {"linear": measure_linear, "twin": measure_twin}
        print(json.dumps(own[what](path) if what in own else measure_clingo(path, what)))
        return
    ways = [way for way in options.clingo.split(",") if way in WAYS]
    with tempfile.TemporaryDirectory() as directory:
        paths: dict[tuple[str, int], Path] = {}
        if options.hypergraph is not None:
            size = horn_programs.load(options.hypergraph).clause_count
            paths[options.hypergraph.stem, size] = options.hypergraph
        else:
            kinds = [options.dataset] if options.dataset else sorted(horn_programs.KINDS)
            for size in map(int, options.sizes.split(",")):
                for kind in kinds:
                    path = Path(directory) / f"{kind}-{size}.npz"
                    horn_programs.save(horn_programs.KINDS[kind](size), path)
                    paths[kind, size] = path
        report = run(paths, ways=ways, nemo=options.nemo)
    publish(report, as_json=options.json, out=options.out)


if __name__ == "__main__":
    main()
