"""Time the first minimal certificate, and the enumeration of supports, by number of units.

Each measurement runs in a fresh process that reads the program from disk. `first_ms` is the first
minimal certificate with its derivation, index included, as a request would get it; `warm_ms` is the
best of several. `supports` counts what one second of enumeration finds.
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

import numpy as np

from reasoner.derivation import certify
from reasoner.horn import HornProgram, horn_program
from reasoner.supports import each_support

from . import horn_programs
from .report import goal, publish

GOALS_MS = {20: 5.0, 200: 5.0, 2_000: 100.0, 20_000: 1_000.0}
REPETITIONS = 3
ENUMERATION_SECONDS = 1.0


def chain(units: int) -> HornProgram:
    """Each step needs the step before and a unit of its own: every unit is indispensable."""
    clauses = [(0, [units])] + [(step, [step - 1, units + step]) for step in range(1, units)]
    return horn_program(2 * units, clauses, range(units, 2 * units))


def overlapping(units: int) -> HornProgram:
    """A chain whose every step accepts either of two units, which other steps accept as well."""
    clauses = [(0, [units])]
    for step in range(1, units):
        clauses += [(step, [step - 1, units + way]) for way in (step, step * 7 % units)]
    return horn_program(2 * units, clauses, range(units, 2 * units))


def shared(units: int) -> HornProgram:
    """Steps that go two ways over the same unit: no unit stands on one path only."""
    clauses = []
    for step in range(units):
        left, right, unit = (part * units + 1 + step for part in (1, 2, 3))
        clauses += [(left, [step, unit]), (right, [step, unit])]
        clauses += [(step + 1, [left]), (step + 1, [right])]
    clauses.append((0, []))
    return horn_program(4 * units + 1, clauses, range(3 * units + 1, 4 * units + 1))


def woven(units: int) -> HornProgram:
    """Two ways to each atom, each from two of the thirty atoms below it; units state the lowest."""
    rng = np.random.default_rng(20260103)
    atoms = 2 * units
    clauses = [(atom, [atoms + atom]) for atom in range(units)]
    for atom in range(units, atoms):
        for _ in range(2):
            clauses.append((atom, rng.integers(max(0, atom - 30), atom, 2).tolist()))
    return horn_program(atoms + units, clauses, range(atoms, atoms + units))


KINDS = {"chain": chain, "overlapping": overlapping, "shared": shared, "woven": woven}
TOPS = {"shared": lambda units: units, "woven": lambda units: 2 * units - 1}


def top(kind: str, units: int) -> int:
    """Give the goal of a program of this kind."""
    return TOPS[kind](units) if kind in TOPS else units - 1


def measure(path: Path, target: int) -> dict[str, Any]:
    """Certify the goal of the program at `path` in this process."""
    times, processor = [], []
    size = steps = 0
    for _ in range(REPETITIONS):
        program = horn_programs.load(path)
        start, began = time.perf_counter(), time.process_time()
        found = certify(program, target)
        times.append((time.perf_counter() - start) * 1000)
        processor.append((time.process_time() - began) * 1000)
        assert found is not None
        size, steps = len(found.support), len(found.steps)
    start = time.perf_counter()
    search = each_support(
        program, target, expired=lambda: time.perf_counter() - start > ENUMERATION_SECONDS
    )
    count = sum(1 for _ in search)
    return {
        "certificate": size,
        "steps": steps,
        "first_ms": times[0],
        "first_cpu_ms": processor[0],
        "warm_ms": min(times),
        "supports": count,
        "enumeration_s": time.perf_counter() - start,
    }


def run(directory: Path, kinds: list[str], sizes: list[int]) -> dict[str, Any]:
    """Measure every kind at every size."""
    rows = []
    for kind in kinds:
        for units in sizes:
            path = directory / f"{kind}-{units}.npz"
            horn_programs.save(KINDS[kind](units), path)
            command = [sys.executable, "-m", "bench.supports", "--measure", str(path)]
            done = subprocess.run(
                [*command, str(top(kind, units))], capture_output=True, text=True, check=True
            )
            rows.append({"program": kind, "units": units, **json.loads(done.stdout)})
    goals = [
        goal(
            f"first certificate in ms, {row['program']} of {row['units']} units",
            row["first_ms"],
            GOALS_MS[row["units"]],
            at_most=True,
        )
        for row in rows
        if row["units"] in GOALS_MS
    ]
    return {"bench": "supports", "rows": rows, "goals": goals}


def main() -> None:
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--sizes", default="20,200,2000,20000", help="units, by commas")
    parser.add_argument("--dataset", choices=KINDS, help="only this kind of program")
    parser.add_argument("--out", type=Path, help="also write the object to this file")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        path, target = options.measure
        print(json.dumps(measure(Path(path), int(target))))
        return
    kinds = [options.dataset] if options.dataset else sorted(KINDS)
    with tempfile.TemporaryDirectory() as directory:
        report = run(Path(directory), kinds, [int(size) for size in options.sizes.split(",")])
    publish(report, as_json=options.json, out=options.out)


if __name__ == "__main__":
    main()
