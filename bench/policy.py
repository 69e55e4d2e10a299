"""Supplier policy of twelve rules over many suppliers: one goal cold, warm, and all goals.

python -m bench.policy --json [--suppliers 10000,100000]

Each size is measured in a fresh process that reads policy and facts from files. `cold` is the first
goal after loading: it compiles the policy for its pattern and meets facts without an index; the
first ten goals, each of another supplier, show what still comes later. Bare clingo solves the same
rules over the same facts, as text, with money in whole euros, dates as day numbers and the share of
debt multiplied out, since it has no exact values; it gives neither instances nor what was looked
up. All goals are asked three times, and the median counts: evaluated, every rule instance written
out with bindings and premises; and beside it, evaluated and compiled for an engine, which is what a
verdict reads. Times are of the wall clock and of the processor, memory is the most the process had.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from kb.quantity import Date, Quantity
from reasoner.atom import Atom, Constant
from reasoner.clause import Policy
from reasoner.compiled_slice import compile_slice
from reasoner.evaluate import evaluate
from reasoner.facts import Fact, FactBase, fact_id
from reasoner.policy import parse_atom, parse_facts, parse_policy
from reasoner.slice import Slice

from .report import goal, publish

Result = TypeVar("Result")

COLD_MS, WARM_MS, TIMES_CLINGO = 20.0, 3.0, 3.0
GOALS_ASKED = 1_000
FIRST = 10
TIMES = 3

POLICY = """
%! policy: supplier_onboarding
%! version: 3
closed(sanctions_entry/1, "sanctions list").
closed(owner/2, "company register").
closed(exemption/2, "exemption register").

%! rule: approved
approved(S) :- supplier(S), insured(S), certified(S), solvent(S), reachable(S), not blocked(S).
insured(S) :- liability_cover(S, C), required_cover(M), C >= M.
required_cover(@quantity("1000000 EUR")).
certified(S) :- certificate(S, V), under(V, "quality management"), expires(S, V, E),
    valid_on(D), E >= D.
solvent(S) :- revenue(S, R), debt(S, O), O <= R * @decimal("0.4").
reachable(S) :- site(S, P), region(P, R), served(R).
controls(O, S) :- owner(S, O).
controls(O, S) :- controls(O, M), owner(S, M).
blocked(S) :- sanctions_entry(S), not exempt(S).
blocked(S) :- owner(S, _), controls(O, S), sanctions_entry(O), not exempt(S).
exempt(S) :- exemption(S, Kind), waives(Kind).
waives("humanitarian").
"""
DAY = datetime.date(2026, 11, 30)


def supplier_facts(count: int) -> Iterator[Atom]:
    """Give about nine facts per supplier, the same on every run."""
    random_source = random.Random(7)

    def euros(amount: int) -> Quantity:
        return Quantity(Fraction(amount), "EUR")

    def atom(name: str, *arguments: Constant) -> Atom:
        return Atom(name, arguments)

    certificates = [f"ISO {9000 + n}" for n in range(40)]
    for at, certificate in enumerate(certificates):
        family = "quality management" if at % 3 else "environmental management"
        yield atom("subclass_of", certificate, f"family {at % 7}")
        yield atom("subclass_of", certificate, family)
    for region in range(20):
        if region % 5:
            yield atom("served", f"region {region}")
    for place in range(200):
        yield atom("region", f"place {place}", f"region {place % 20}")
    for number in range(count):
        name = f"Supplier {number} GmbH"
        yield atom("supplier", name)
        yield atom("liability_cover", name, euros(random_source.randrange(500_000, 9_000_000)))
        certificate = random_source.choice(certificates)
        expiry = DAY + datetime.timedelta(days=random_source.randrange(-100, 900))
        yield atom("certificate", name, certificate)
        yield atom("expires", name, certificate, Date(expiry, expiry))
        yield atom("revenue", name, euros(random_source.randrange(1_000_000, 90_000_000)))
        yield atom("debt", name, euros(random_source.randrange(0, 30_000_000)))
        yield atom("site", name, f"place {random_source.randrange(200)}")
        if number % 2:
            yield atom("owner", name, f"Supplier {number // 2} GmbH")
        if number % 97 == 0:
            yield atom("sanctions_entry", name)
        if number % 194 == 0:
            yield atom("exemption", name, "humanitarian")


CLINGO = """
approved(S) :- supplier(S), insured(S), certified(S), solvent(S), reachable(S), not blocked(S).
insured(S) :- liability_cover(S, C), required_cover(M), C >= M.
required_cover(1000000).
certified(S) :- certificate(S, V), under(V, "quality management"), expires(S, V, E),
    valid_on(D), E >= D.
under(V, C) :- subclass_of(V, C).
under(V, C) :- under(V, B), subclass_of(B, C).
solvent(S) :- revenue(S, R), debt(S, O), O * 10 <= R * 4.
reachable(S) :- site(S, P), region(P, R), served(R).
controls(O, S) :- owner(S, O).
controls(O, S) :- controls(O, M), owner(S, M).
blocked(S) :- sanctions_entry(S), not exempt(S).
blocked(S) :- owner(S, _), controls(O, S), sanctions_entry(O), not exempt(S).
exempt(S) :- exemption(S, Kind), waives(Kind).
waives("humanitarian").
#show approved/1.
"""


def clingo_fact(atom: Atom) -> str:
    """Write a fact for clingo."""
    shown = []
    for argument in atom.arguments:
        match argument:
            case Quantity(amount):
                shown.append(str(amount))
            case Date(earliest):
                shown.append(str(earliest.toordinal()))
            case _:
                shown.append(json.dumps(argument, ensure_ascii=False))
    return f"{atom.predicate}({', '.join(shown)})."


def measure_clingo(suppliers: int) -> dict[str, Any]:
    """Let clingo approve all suppliers in this process."""
    from clingo import Control

    facts = [clingo_fact(atom) for atom in supplier_facts(suppliers)]
    text = "\n".join([CLINGO, f"valid_on({DAY.toordinal()}).", *facts])

    def approve() -> int:
        control = Control(["--warn=none"])
        control.add("base", [], text)
        control.ground([("base", [])])
        found: list[int] = []
        control.solve(on_model=lambda model: found.append(len(model.symbols(shown=True))))
        return found[0]

    approved, wall, processor = _median(approve)
    return {
        "suppliers": suppliers,
        "engine": "clingo",
        "approved": approved,
        "all_ms": wall,
        "all_cpu_ms": processor,
        "peak_mb": _peak_mb(),
    }


def _timed(work: Callable[[], Result]) -> tuple[Result, float, float]:
    """Give a result with wall and processor milliseconds."""
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return (
        result,
        (time.perf_counter() - wall) * 1000,
        (time.process_time() - processor) * 1000,
    )


def _median(work: Callable[[], Result]) -> tuple[Result, float, float]:
    """Do work several times; give its result with the medians of its times."""
    result, *times = _timed(work)
    rows = [times]
    for _ in range(TIMES - 1):
        del result  # what was done before takes no memory beside it
        result, *times = _timed(work)
        rows.append(times)
    wall, processor = (statistics.median(column) for column in zip(*rows, strict=True))
    return result, wall, processor


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(directory: Path, suppliers: int) -> dict[str, Any]:
    """Measure from a policy file and a facts file, in this process."""

    def load() -> tuple[Policy, FactBase]:
        lines = parse_facts((directory / "facts.lp").read_text(encoding="utf-8"), name="facts")
        text = (directory / "policy.lp").read_text(encoding="utf-8")
        base = FactBase(Fact(line.atom, fact_id(line.atom)) for line in lines)
        return parse_policy(text, name="policy"), base

    (policy, facts), load_ms, _ = _timed(load)

    def captured(wanted: Atom) -> Slice:
        """Evaluate and write every instance; calls are written where a certificate needs them."""
        found = evaluate(policy, wanted, facts, valid_on=DAY)
        tuple(found.instances)
        return found

    def compiled(wanted: Atom) -> int:
        """Evaluate and compile the slice of an answer's proof."""
        found = evaluate(policy, wanted, facts, valid_on=DAY)
        return compile_slice(found.grounded())[0].clause_count

    def ask(number: int) -> tuple[Slice, float, float]:
        wanted = parse_atom(f'approved("Supplier {number} GmbH")')
        return _timed(lambda: captured(wanted))

    first = [ask(77 + number) for number in range(FIRST)]
    step = max(suppliers // GOALS_ASKED, 1)
    warm = [ask(number) for number in range(0, suppliers, step)]
    loaded_mb = _peak_mb()
    _, compiled_ms, compiled_cpu_ms = _median(lambda: compiled(parse_atom("approved(S)")))
    everything, all_ms, all_cpu_ms = _median(lambda: captured(parse_atom("approved(S)")))
    walls = sorted(wall for _, wall, _ in warm)
    return {
        "suppliers": suppliers,
        "engine": "ours",
        "approved": len(everything.answers),
        "facts": len(facts),
        "load_ms": load_ms,
        "cold_ms": first[0][1],
        "cold_cpu_ms": first[0][2],
        "slowest_of_first_ten_ms": max(wall for _, wall, _ in first),
        "slowest_of_first_ten_cpu_ms": max(processor for _, _, processor in first),
        "warm_ms": statistics.median(walls),
        "warm_p95_ms": walls[len(walls) * 95 // 100],
        "warm_cpu_ms": statistics.median(processor for _, _, processor in warm),
        "instances_of_a_goal": statistics.median(len(found.instances) for found, _, _ in warm),
        "all_ms": all_ms,
        "all_cpu_ms": all_cpu_ms,
        "all_compiled_ms": compiled_ms,
        "all_compiled_cpu_ms": compiled_cpu_ms,
        "all_instances": len(everything.instances),
        "loaded_mb": loaded_mb,
        "peak_mb": _peak_mb(),
    }


def run(sizes: list[int], directory: Path) -> dict[str, Any]:
    """Measure every size, each engine in a process of its own."""
    rows: list[dict[str, Any]] = []
    goals = []
    (directory / "policy.lp").write_text(POLICY, encoding="utf-8")
    for size in sizes:
        facts = "\n".join(f"{atom}." for atom in supplier_facts(size))
        (directory / "facts.lp").write_text(facts, encoding="utf-8")
        ours, clingo = (_fresh(what, directory, size) for what in ("ours", "clingo"))
        if ours["approved"] != clingo["approved"]:
            raise SystemExit(f"{size} suppliers: approved {ours['approved']}, by clingo {clingo}")
        rows += [ours, clingo]
        written = ours["all_cpu_ms"] / clingo["all_cpu_ms"]
        compiled = ours["all_compiled_cpu_ms"] / clingo["all_cpu_ms"]
        for name, value, limit in (
            ("one goal cold, ms", ours["cold_ms"], COLD_MS),
            ("one goal warm, ms (median)", ours["warm_ms"], WARM_MS),
            ("one goal warm, ms (p95)", ours["warm_p95_ms"], WARM_MS),
            ("all goals, every instance written, times bare clingo (CPU)", written, TIMES_CLINGO),
            ("all goals, compiled for a verdict, times bare clingo (CPU)", compiled, TIMES_CLINGO),
        ):
            goals.append(goal(f"{name}, {size} suppliers", value, limit, at_most=True))
    return {"bench": "policy", "rows": rows, "goals": goals}


def _fresh(what: str, directory: Path, size: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.policy", "--measure", what, str(directory), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--suppliers", default="10000,100000", help="how many, by commas")
    parser.add_argument("--out", type=Path, help="also write the object to this file")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        what, place, size = options.measure
        found = measure_clingo(int(size)) if what == "clingo" else measure(Path(place), int(size))
        print(json.dumps(found))
        return
    with TemporaryDirectory() as directory:
        report = run([int(size) for size in options.suppliers.split(",")], Path(directory))
    publish(report, as_json=options.json, out=options.out)


if __name__ == "__main__":
    main()
