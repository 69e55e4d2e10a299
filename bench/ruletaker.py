"""Theories of RuleTaker, from their exact triples and rules: every label with its proof.

python -m bench.ruletaker --json [--theories F ...] [--out F]

A question asks an atom. If it is certified it is true; if its strong negation is, false; else it
must be certified that it cannot be proved from the theory, which is declared to be all there is.
Each certificate is examined by the checker before it leaves `decide`. Labels are also compared with
a naive well-founded model. The baselines flatten the ground rules (bench/projections.py).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.ground import atom_of, ground
from bench.projections import committed, pairwise
from bench.report import goal, publish
from bench.theories import Question, Theory, Translation, read_theory, translate
from reasoner.atom import render_term
from reasoner.clause import Policy
from reasoner.decide import Decision, Request, decide
from reasoner.errors import PolicyRejected
from reasoner.facts import FactBase
from reasoner.policy import parse_atom, parse_policy
from reasoner.sources import Sources, facts_file_sources
from reasoner.verdict import Verdict

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PROOFWEAVE_SHARED", ROOT.parent / "shared")) / "data" / "ruletaker"
FILES = ("NatLang/meta-dev.jsonl.gz", "birds-electricity/meta-test.jsonl")


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one question.

    `by` is proof, denial, absence, nothing, or rejected where negation runs through a cycle of
    the atoms at hand; `undefined` is then what the naive model cannot say.
    `holds` is what the naive model says of the atom, `gold` whether the proof is one of the gold
    proofs, which list all there are; None where there is none to compare.
    """

    file: str
    theory: str
    depth: int
    by: str
    right: bool
    holds: bool
    model_right: bool
    undefined: int
    gold: bool | None
    missed_first: bool
    missed_last: bool
    proved_pairwise: bool
    ms: float
    record: dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--theories", type=Path, nargs="+", help="`meta` files, perhaps gzipped")
    parser.add_argument("--limit", type=int, help="only so many theories of each file")
    parser.add_argument("--out", type=Path, help="write one JSON line per question")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    asked: list[Asked] = []
    for path in options.theories or [SHARED / name for name in FILES]:
        name = f"{path.parent.name}/{path.name.partition('.')[0]}"
        for line in _text(path).splitlines()[: options.limit]:
            asked.extend(measure(read_theory(json.loads(line)), name))
    seconds = time.perf_counter() - started
    if options.out is not None:
        lines = (json.dumps(each.record, ensure_ascii=False) + "\n" for each in asked)
        options.out.write_text("".join(lines), encoding="utf-8")
    publish(report(asked, seconds), as_json=options.json)


def _text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def measure(theory: Theory, file: str) -> Iterator[Asked]:
    """Ask all questions of a theory."""
    grounded = ground(theory)
    model = grounded.model()
    translation = translate(theory)
    policy = parse_policy(translation.policy, name=theory.id)
    facts, sources = facts_file_sources((f"{theory.id}.lp", translation.facts))
    desk = _Desk(policy, facts, sources, translation)
    flat = grounded.flat(model)
    first, last, near = committed(flat), committed(flat, last=True), pairwise(flat)
    for question in theory.questions:
        began = time.perf_counter()
        found = desk.answer(question)
        ms = (time.perf_counter() - began) * 1000
        affirmed = question.literal.sign == "+"
        label = (found.by == "proof") == affirmed if found.decision is not None else None
        atom = atom_of(replace(question.literal, sign="+"), {})
        holds = atom in model.true
        yield Asked(
            file,
            theory.id,
            question.depth,
            found.by,
            right=label == question.answer,
            holds=holds,
            model_right=(holds == affirmed) == question.answer,
            undefined=len(model.undefined),
            gold=found.used in question.proofs if found.by in ("proof", "denial") else None,
            missed_first=holds and atom not in first,
            missed_last=holds and atom not in last,
            proved_pairwise=not holds and atom in near,
            ms=ms,
            record={
                "id": f"{theory.id}:{question.name}",
                "question": question.text,
                "plan": translation.goals[question.name],
                "answers": [] if label is None else [label],
                **found.record(),
                "ms": round(ms, 3),
            },
        )


@dataclass(frozen=True, slots=True)
class _Settled:
    """By what an atom is settled, with the certificate that does it and the names it uses."""

    by: str
    decision: Decision | None = None
    used: frozenset[str] = frozenset()
    message: str = ""

    def record(self) -> dict[str, Any]:
        """Give the part of a question's record that says how it was settled."""
        decision = self.decision
        if decision is None:
            return {"verdict": "", "open": [self.message], "certificate": "", "by": self.by}
        return {
            "verdict": decision.verdict.value,
            "open": [item.atom for item in decision.open],
            "certificate": decision.digest,
            "by": self.by,
        }


@dataclass(frozen=True, slots=True)
class _Desk:
    """A theory, ready to be asked."""

    policy: Policy
    facts: FactBase
    sources: Sources
    translation: Translation

    def answer(self, question: Question) -> _Settled:
        """Settle the atom of a question: proved, denied, or certainly not provable."""
        try:
            decision = self._decide(self.translation.goals[question.name])
            if decision.verdict is Verdict.CERTIFIED:
                return _Settled("proof", decision, self._used(decision))
            if decision.verdict is Verdict.REFUTED:
                return _Settled("denial", decision, self._used(decision))
            absent = self._decide(f"not_proved({render_term(question.name)})")
        except PolicyRejected as error:
            return _Settled("rejected", message=str(error.findings[0]))
        if absent.verdict is Verdict.CERTIFIED:
            return _Settled("absence", absent)
        return _Settled("nothing", message=", ".join(item.atom for item in decision.open))

    def _decide(self, goal_text: str) -> Decision:
        request = Request(parse_atom(goal_text), None)
        return decide(request, policy=self.policy, facts=self.facts, sources=self.sources)

    def _used(self, decision: Decision) -> frozenset[str]:
        """Give the triples and rules in a certificate."""
        certificate = json.loads(decision.certificate)
        atoms = [statement["atom"] for statement in certificate["statements"].values()]
        rules = [step["rule"] for step in certificate["steps"] if "rule" in step]
        triples = self.translation.triples
        return frozenset([triples[atom] for atom in atoms if atom in triples] + rules)


def report(asked: Sequence[Asked], seconds: float) -> dict[str, Any]:
    """Sum up by file and depth."""
    rows: list[dict[str, Any]] = []
    goals: list[dict[str, Any]] = []
    for file in sorted({each.file for each in asked}):
        own = [each for each in asked if each.file == file]
        for depth in sorted({each.depth for each in own}):
            rows.append(_row(file, str(depth), [e for e in own if e.depth == depth]))
        rows.append(_row(file, "all", own))
        rejected = [each for each in own if each.by == "rejected"]
        rows.append(
            {
                "file": file,
                "theories": len({each.theory for each in own}),
                "theories with negation through a cycle": len({e.theory for e in rejected}),
                "their questions without an answer": len(rejected),
                "theories whose model is partial": len({e.theory for e in own if e.undefined}),
            }
        )
        settled = [each.by in ("proof", "denial", "absence") for each in own]
        gold = [each.gold for each in own if each.gold is not None]
        goals += [
            goal(f"{file}: labels right", _share([e.right for e in own]), 1, at_most=False),
            goal(f"{file}: settled by a certificate", _share(settled), 1, at_most=False),
        ]
        if gold:
            name = f"{file}: proofs among the gold ones"
            goals.append(goal(name, _share(gold), 1, at_most=False))
    for depth in sorted({each.depth for each in asked if each.holds}):
        rows.append(_baseline(str(depth), [each for each in asked if each.depth == depth]))
    rows.append(_baseline("all", asked))
    cold = round(asked[0].ms, 2) if asked else 0.0
    rows.append({"seconds in all": round(seconds, 2), "cold ms": cold})
    return {"bench": "ruletaker", "rows": rows, "goals": goals}


def _row(file: str, depth: str, asked: Sequence[Asked]) -> dict[str, Any]:
    by = Counter(each.by for each in asked)
    return {
        "file": file,
        "depth": depth,
        "questions": len(asked),
        "right": _share([each.right for each in asked]),
        "naive model right": _share([each.model_right for each in asked]),
        "proof among the gold": _share([each.gold for each in asked if each.gold is not None]),
        **{name: by[name] for name in ("proof", "denial", "absence", "nothing", "rejected")},
        "ms_p50": round(statistics.median(each.ms for each in asked), 2),
    }


def _baseline(depth: str, asked: Sequence[Asked]) -> dict[str, Any]:
    provable = [each for each in asked if each.holds]
    others = [each for each in asked if not each.holds]
    return {
        "baseline at depth": depth,
        "provable": len(provable),
        "missed, committed to the first rule": _share([e.missed_first for e in provable]),
        "missed, committed to the last rule": _share([e.missed_last for e in provable]),
        "not provable": len(others),
        "proved by the pairwise projection": _share([e.proved_pairwise for e in others]),
    }


def _share(values: Sequence[bool]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


if __name__ == "__main__":
    main()
