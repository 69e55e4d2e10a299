"""Gold chains of MetaQA over the imported films: answers, witnesses, and the time they take.

python -m bench.metaqa_hops --json
python -m bench.metaqa_hops --triples 10000 --every 20

The upstream dev questions with their gold chains (`qa_dev_qtype.txt`), 1 to 3 hops; nothing is
tuned on them. A chain becomes one rule a hop, and a chain of several hops never goes back to the
topic, as gold does not. Each answer has a witness: for every hop a statement, with its quote. On
all triples answers are held against gold; on a part of them, where gold does not hold, and on all,
against a walk over the lines that shares no code. Import, and the first question after opening from
disk, are measured in processes of their own.
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
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.plans import METAQA, SHARED
from bench.report import goal, publish
from kb.document import decode
from kb.knowledge_base import KnowledgeBase
from kb.statement import Evidence, Polarity, Statement
from kb.table_mapping import read_mapping
from kb.tables import import_table
from reasoner.atom import Atom, Constant, Variable
from reasoner.clause import Policy
from reasoner.evaluate import evaluate
from reasoner.facts import FactBase
from reasoner.policy import parse_policy
from reasoner.slice import AtomPremise, Slice

ROOT = Path(__file__).resolve().parents[1]
SIZES = (10_000, 100_000, 0)
LEVELS = ((1, 1), (2, 5), (6, 20), (21, None))

Row = dict[str, Any]  # figures of one line of the report
Table = dict[tuple[str, str], set[str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A topic, the relations from it (`-` against their direction), and the gold answers."""

    hops: int
    topic: str
    chain: tuple[str, ...]
    gold: frozenset[str]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print, or, with `--step`, do one step in this process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kb", type=Path, default=SHARED / "metaqa" / "kb.txt.gz")
    parser.add_argument("--questions", type=Path, default=SHARED / "metaqa", help="folder of 1-hop")
    parser.add_argument("--triples", type=int, action="append", help="first lines; 0: all of them")
    parser.add_argument("--every", type=int, default=1, help="ask each n-th question")
    parser.add_argument("--out", type=Path, help="write the report here too")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", choices=["import", "cold"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.step:
        step = {"import": import_films, "cold": first_answer}[options.step]
        print(json.dumps(step(options.folder)))
        return
    asked = [each for hops in (1, 2, 3) for each in questions(options.questions, hops)]
    asked = asked[:: options.every]
    rows: list[Row] = []
    for size in options.triples or SIZES:
        rows += _measure(options.kb, size, asked)
    report = {"bench": "metaqa_hops", "split": "upstream dev", "rows": rows, "goals": goals(rows)}
    publish(report, as_json=options.json, out=options.out)


def questions(folder: Path, hops: int) -> Iterator[Asked]:
    """Read the dev questions of some hops with their chains."""
    text = _text(folder / f"{hops}-hop" / "qa_dev.txt")
    kinds = _text(folder / f"{hops}-hop" / "qa_dev_qtype.txt")
    for line, kind in zip(text.splitlines(), kinds.splitlines(), strict=True):
        question, _, answers = line.partition("\t")
        topic = question.partition("[")[2].partition("]")[0]
        chain = tuple(
            METAQA[right] if left == "movie" else "-" + METAQA[left]
            for left, right in itertools.pairwise(kind.split("_to_"))
        )
        yield Asked(hops, topic, chain, frozenset(answers.split("|")))


def _text(file: Path) -> str:
    if file.exists() and file.suffix != ".gz":
        return file.read_text("utf-8")
    packed = file if file.suffix == ".gz" else file.with_name(f"{file.name}.gz")
    return gzip.decompress(packed.read_bytes()).decode()


def _measure(kb: Path, size: int, asked: Sequence[Asked]) -> Iterator[Row]:
    lines = _text(kb).splitlines()
    lines = lines[:size] if size else lines
    whole = not size
    with tempfile.TemporaryDirectory(prefix="bench-metaqa-") as name:
        folder = Path(name)
        (folder / "kb.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        first = next(each for each in asked if each.hops == 2)
        (folder / "first.json").write_text(json.dumps([first.topic, first.chain]), "utf-8")
        for step in ("import", "cold"):
            yield {"triples": len(lines), "step": step, **_run(step, folder)}
        with KnowledgeBase.open(folder / "base") as base:
            films = Films(base)
            walk = Walk(lines)
            begun = time.perf_counter()
            for each in {each.chain: each for each in reversed(asked)}.values():
                films.ask(each)  # reads the relations and compiles the chain
            seconds = time.perf_counter() - begun
            yield {"triples": len(lines), "step": "each chain once", "wall_s": round(seconds, 2)}
            answered = [(each, *films.ask(each), walk) for each in asked]
            results = [_result(*each, whole=whole) for each in answered]
            checked = films.check(answered[:: max(len(answered) // 300, 1)])
    for hops in (1, 2, 3):
        own = [each for each in results if each["hops"] == hops]
        if own:
            yield {"triples": len(lines), "step": f"{hops} hops", **_figures(own)}
    for least, most in LEVELS:
        own = [e for e in results if least <= e["size"] and (most is None or e["size"] <= most)]
        if own:
            label = f"{least} to {most} answers" if most else f"{least} answers and more"
            yield {"triples": len(lines), "step": label, **_figures(own)}
    yield {"triples": len(lines), "step": "all", **_figures(results), "witnesses": checked}


def _run(step: str, folder: Path) -> Row:
    command = [sys.executable, "-m", "bench.metaqa_hops", "--step", step, "--folder", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "protos")])}
    done = subprocess.run(command, check=True, capture_output=True, env=environment)
    return dict(json.loads(done.stdout))


def import_films(folder: Path) -> Row:
    """Import the lines below a folder as the pack's mapping says; times in seconds."""
    data = (folder / "kb.txt").read_bytes()
    mapping = read_mapping((ROOT / "packs/metaqa/kb.mapping.yaml").read_text("utf-8"), name="kb")
    cpu, wall = time.process_time(), time.perf_counter()
    with KnowledgeBase.create(folder / "base", namespace="https://example.org/kb/") as base:
        document = decode(data, name="kb.txt")
        report = import_table(base, document, data, run="bench", mapping=mapping)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    admission = report.admission
    return {
        "statements": admission.inserted,
        "refused": len(report.rejected),
        "cpu_s": round(cpu, 2),
        "wall_s": round(wall, 2),
    }


def first_answer(folder: Path) -> Row:
    """Open from disk and answer one question; milliseconds."""
    topic, chain = json.loads((folder / "first.json").read_text("utf-8"))
    started = time.perf_counter()
    with KnowledgeBase.open(folder / "base") as base:
        Films(base).ask(Asked(2, topic, tuple(chain), frozenset()))
        return {"cold_ms": round((time.perf_counter() - started) * 1000, 1)}


# ---- asking


class _Stated:
    """The statements of a base as facts of a program."""

    def __init__(self, base: KnowledgeBase) -> None:
        self._asserted = base.asserted()

    def predicates(self) -> Iterable[str]:
        return [name for name, _ in self._asserted.dimensions()]

    def statements(self, predicate: str) -> Iterable[tuple[str, Statement]]:
        return self._asserted.statements(predicate, Polarity.AFFIRMED)

    def provenance(self) -> Iterable[tuple[str, str]]:
        return ((leaf, source) for leaf, _, source in self._asserted.provenance())


Witness = tuple[str, ...]
"""Ids of the statements of a path, from the topic on."""


class Films:
    """Gold chains as rules over the statements of a knowledge base."""

    def __init__(self, base: KnowledgeBase) -> None:
        self._base = base
        self._facts = FactBase.of_statements(_Stated(base))
        self._rules: dict[tuple[str, ...], Policy] = {}

    def ask(self, asked: Asked) -> tuple[dict[str, Witness], float, float]:
        """Give a witness for each answer, and the milliseconds it took: wall and processor."""
        if asked.chain not in self._rules:
            self._rules[asked.chain] = parse_policy(rules(asked.chain), name="chain")
        rule = self._rules[asked.chain]
        started, cpu = time.perf_counter(), time.process_time()
        question = Atom(f"hop{len(asked.chain)}", (asked.topic, Variable("A")))
        found = evaluate(rule, question, self._facts, valid_on=None)
        witnesses = _witnesses(found)
        cpu = time.process_time() - cpu
        return witnesses, (time.perf_counter() - started) * 1000, cpu * 1000

    def check(
        self, answered: Iterable[tuple[Asked, dict[str, Witness], float, float, Walk]]
    ) -> dict[str, int]:
        """Hold witnesses against their quotes: each a line that leads on from the line before."""
        right = wrong = 0
        for asked, witnesses, *_ in answered:
            for answer, witness in witnesses.items():
                at = asked.topic
                for relation, leaf in zip(asked.chain, witness, strict=True):
                    evidence: Evidence = self._base.evidence(leaf)[0]
                    subject, name, value = evidence.quote.split("|")
                    if relation.startswith("-"):
                        subject, value = value, subject
                    at = value if (subject, name) == (at, relation.lstrip("-")) else ""
                right += at == answer
                wrong += at != answer
        return {"right": right, "wrong": wrong}


def rules(chain: Sequence[str]) -> str:
    """Write a chain as a policy: `hopN(T, A)`, never back at T in a chain of several hops."""
    lines = ["%! policy: chain", "%! version: 1"]
    for number, relation in enumerate(chain, start=1):
        name = relation.lstrip("-")
        before = "T" if number == 1 else "B"
        step = f"{name}(A, {before})" if relation.startswith("-") else f"{name}({before}, A)"
        body = [step] if number == 1 else [f"hop{number - 1}(T, B)", step]
        if len(chain) > 1:
            body.append("A != T")
        lines.append(f"hop{number}(T, A) :- {', '.join(body)}.")
    return "\n".join(lines) + "\n"


def _witnesses(found: Slice) -> dict[str, Witness]:
    """Follow from each answer, hop by hop, the first instance that derives it."""
    leaves: dict[Atom, str] = {}
    for fact in found.facts:
        leaves.setdefault(fact.atom, fact.leaf)
    derived: dict[Atom, tuple[Atom | None, str]] = {}
    for instance in found.instances:
        before: Atom | None = None
        leaf = ""
        for premise in instance.premises:
            if isinstance(premise, AtomPremise):
                if premise.atom in leaves:
                    leaf = leaves[premise.atom]
                else:
                    before = premise.atom
        derived.setdefault(instance.head, (before, leaf))
    witnesses: dict[str, Witness] = {}
    for answer in found.answers:
        path: list[str] = []
        at: Atom | None = answer
        while at is not None:
            at, leaf = derived[at]
            path.append(leaf)
        witnesses[_name(answer.arguments[1])] = tuple(reversed(path))
    return witnesses


def _name(constant: Constant | Variable) -> str:
    return str(constant)


# ---- judging


class Walk:
    """The lines themselves, followed without any of our code."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._values: Table = defaultdict(set)
        self._subjects: Table = defaultdict(set)
        for line in lines:
            subject, relation, value = line.split("|")
            self._values[subject, relation].add(value)
            self._subjects[value, relation].add(subject)

    def answers(self, asked: Asked, *, back: bool = False) -> frozenset[str]:
        """Follow a chain; with `back`, also to where it began."""
        found = {asked.topic}
        for relation in asked.chain:
            table = self._subjects if relation.startswith("-") else self._values
            name = relation.lstrip("-")
            found = {value for each in found for value in table.get((each, name), ())}
            if len(asked.chain) > 1 and not back:
                found.discard(asked.topic)
        return frozenset(found)


def _result(
    asked: Asked,
    witnesses: dict[str, Witness],
    ms: float,
    cpu_ms: float,
    walk: Walk,
    *,
    whole: bool,
) -> Row:
    found = frozenset(witnesses)
    plain = walk.answers(asked, back=True)
    result: Row = {
        "hops": asked.hops,
        "size": len(asked.gold) if whole else len(found),
        "ms": ms,
        "cpu_ms": cpu_ms,
        "answers": len(found),
        "as walked": found == walk.answers(asked),
        "witnessed": all(len(path) == asked.hops and all(path) for path in witnesses.values()),
    }
    if whole:
        result |= {
            "any hit": not found.isdisjoint(asked.gold),
            "equal": found == asked.gold,
            "superset": found > asked.gold,
            "equal with return": plain == asked.gold,
        }
    return result


def _figures(results: Sequence[Row]) -> Row:
    times = sorted(each["ms"] for each in results)
    cpu = sorted(each["cpu_ms"] for each in results)
    figures: Row = {
        "questions": len(results),
        "answers": sum(each["answers"] for each in results),
        "p50_ms": round(times[len(times) // 2], 2),
        "p95_ms": round(times[len(times) * 95 // 100], 2),
        "max_ms": round(times[-1], 1),
        "cpu_p95_ms": round(cpu[len(cpu) * 95 // 100], 2),
    }
    for share in ("as walked", "witnessed", "any hit", "equal", "superset", "equal with return"):
        if share in results[0]:
            figures[share] = round(sum(each[share] for each in results) / len(results), 4)
    return figures


def goals(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Hold the rows against the goals; those of gold only where all triples were there."""
    found = []
    for row in rows:
        what = f"{row['triples']} triples, {row['step']}"
        if row["step"] == "import":
            found.append(goal(f"{what}: wall seconds", row["wall_s"], 20, at_most=True))
        elif row["step"].endswith("hops"):
            found.append(goal(f"{what}: p95 ms", row["p95_ms"], 25, at_most=True))
        elif row["step"] == "all":
            found.append(goal(f"{what}: as walked", row["as walked"], 1.0, at_most=False))
            found.append(goal(f"{what}: witnessed", row["witnessed"], 1.0, at_most=False))
            if "equal" in row:
                found.append(goal(f"{what}: any hit", row["any hit"], 1.0, at_most=False))
                found.append(goal(f"{what}: equal to gold", row["equal"], 0.98, at_most=False))
    return found


if __name__ == "__main__":
    main()
