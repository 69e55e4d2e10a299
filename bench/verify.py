"""Time the checker on long proofs, in microseconds a step, and the search for spare leaves apart.

Each measurement runs in a fresh process that reads the certificate and its facts file from disk, as
a reviewer would. `us` is the CPU time of everything but minimality, by step: reading, digests,
shape, policy, facts file, quotes, steps, conclusion; `minimality_us` that of minimality, both the
best of several; `first_wall_us` is the wall time of the first examination, all in all. Proofs are
examined and printed with a recursion limit that no recursion over their steps would survive.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from reasoner.checker.sources import read_folder
from reasoner.render import render_text
from reasoner.verify import verify_bytes

from .long_proofs import KINDS
from .report import goal, publish

GOAL_US = 30.0
GOAL_SIZES = (1_000, 10_000, 50_000)
SIZES = (*GOAL_SIZES, 100_000)
SHALLOW = 200
"""Frames that may stand on each other while a proof is examined and printed."""
REPETITIONS = 3


def measure(folder: Path) -> dict[str, Any]:
    """Examine and print the certificate in a folder, in this process."""
    began = time.perf_counter()
    data = (folder / "certificate.json").read_bytes()
    first = verify_bytes(data, folder / "sources")
    wall = time.perf_counter() - began
    assert first.valid, f"{first.rejection}: {first.message}"
    assert "each answer needs every leaf of its proof" in first.checked, "its check was cut"
    sys.setrecursionlimit(SHALLOW)
    best = {True: float("inf"), False: float("inf")}
    for _ in range(REPETITIONS):
        for minimality in (True, False):
            start = time.process_time()
            report = verify_bytes(data, folder / "sources", minimality=minimality)
            best[minimality] = min(best[minimality], time.process_time() - start)
            assert report.valid, f"{report.rejection}: {report.message}"
    certificate = json.loads(data)
    (record,) = certificate["sources"].values()
    text = read_folder(folder / "sources", certificate["sources"]).text("", record)
    start = time.process_time()
    printed = render_text(certificate, {record["text_sha256"]: text})
    count = len(certificate["steps"])
    by_step = 1_000_000 / count
    return {
        "steps": count,
        "us": best[False] * by_step,
        "minimality_us": (best[True] - best[False]) * by_step,
        "first_wall_us": wall * by_step,
        "print_us": (time.process_time() - start) * by_step,
        "printed_lines": printed.count("\n"),
        "megabytes": len(data) / 1_000_000,
    }


def run(directory: Path, kinds: list[str], sizes: list[int]) -> dict[str, Any]:
    """Write every proof at every size and measure it."""
    rows = []
    for kind in kinds:
        for size in sizes:
            folder = directory / f"{kind}-{size}"
            (folder / "sources").mkdir(parents=True)
            data, facts = KINDS[kind](size)
            (folder / "certificate.json").write_bytes(data)
            (folder / "sources" / "facts.lp").write_text(facts, encoding="utf-8")
            command = [sys.executable, "-m", "bench.verify", "--measure", str(folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append({"proof": kind, **json.loads(done.stdout)})
    goals = [
        goal(
            f"microseconds of CPU a step, {row['proof']} of {row['steps']} steps",
            row["us"],
            GOAL_US,
            at_most=True,
        )
        for row in rows
        if row["steps"] in GOAL_SIZES
    ]
    return {"bench": "verify", "rows": rows, "goals": goals}


def main() -> None:
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="steps, by commas")
    parser.add_argument("--dataset", choices=KINDS, help="only this kind of proof")
    parser.add_argument("--out", type=Path, help="also write the object to this file")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(measure(options.measure)))
        return
    kinds = [options.dataset] if options.dataset else sorted(KINDS)
    with tempfile.TemporaryDirectory() as directory:
        report = run(Path(directory), kinds, [int(size) for size in options.sizes.split(",")])
    publish(report, as_json=options.json, out=options.out)


if __name__ == "__main__":
    main()
