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
    """What came of one question; `by` is proof, denial, absence or nothing.

    `holds` is what the naive model says of the atom.
    """

    file: str
    theory: str
    depth: int
    by: str
    right: bool
    holds: bool
    model_right: bool
    missed_first: bool
    missed_last: bool
    proved_pairwise: bool
    ms: float
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A theory that is no policy: negation runs through a cycle, or it cannot be written."""

    file: str
    theory: str
    undefined: int
    questions: int
    message: str


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--theories", type=Path, nargs="+", help="`meta` files, perhaps gzipped")
    parser.add_argument("--limit", type=int, help="only so many theories of each file")
    parser.add_argument("--out", type=Path, help="write one JSON line per question")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    outcomes: list[Asked | Unreadable] = []
    for path in options.theories or [SHARED / name for name in FILES]:
        name = f"{path.parent.name}/{path.name.partition('.')[0]}"
        for line in _text(path).splitlines()[: options.limit]:
            outcomes.extend(measure(read_theory(json.loads(line)), name))
    seconds = time.perf_counter() - started
    asked = [each for each in outcomes if isinstance(each, Asked)]
    rejected = [each for each in outcomes if isinstance(each, Unreadable)]
    if options.out is not None:
        lines = (json.dumps(each.record, ensure_ascii=False) + "\n" for each in asked)
        options.out.write_text("".join(lines), encoding="utf-8")
    publish(report(asked, rejected, seconds), as_json=options.json)


def _text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def measure(theory: Theory, file: str) -> Iterator[Asked | Unreadable]:
    """Ask all questions of a theory."""
    grounded = ground(theory)
    model = grounded.model()
    translation = translate(theory)
    try:
        policy = parse_policy(translation.policy, name=theory.id)
    except PolicyRejected as error:
        yield Unreadable(
            file, theory.id, len(model.undefined), len(theory.questions), str(error.findings[0])
        )
        return
    desk = _Desk(policy, *facts_file_sources((f"{theory.id}.lp", translation.facts)), translation)
    flat = grounded.flat(model)
    first, last, near = committed(flat), committed(flat, last=True), pairwise(flat)
    for question in theory.questions:
        began = time.perf_counter()
        by, decision = desk.answer(question)
        ms = (time.perf_counter() - began) * 1000
        affirmed = question.literal.sign == "+"
        found = (by == "proof") == affirmed if by != "nothing" else None
        atom = atom_of(replace(question.literal, sign="+"), {})
        holds = atom in model.true
        yield Asked(
            file,
            theory.id,
            question.depth,
            by,
            right=found == question.answer,
            holds=holds,
            model_right=(holds == affirmed) == question.answer,
            missed_first=holds and atom not in first,
            missed_last=holds and atom not in last,
            proved_pairwise=not holds and atom in near,
            ms=ms,
            record={
                "id": f"{theory.id}:{question.name}",
                "question": question.text,
                "plan": translation.goals[question.name],
                "verdict": decision.verdict.value,
                "answers": [] if found is None else [found],
                "open": [item.atom for item in decision.open],
                "certificate": decision.digest,
                "by": by,
                "ms": round(ms, 3),
            },
        )


@dataclass(frozen=True, slots=True)
class _Desk:
    """A theory, ready to be asked."""

    policy: Policy
    facts: FactBase
    sources: Sources
    translation: Translation

    def answer(self, question: Question) -> tuple[str, Decision]:
        """Give by what the atom of a question is settled, with the certificate that settles it."""
        decision = self._decide(self.translation.goals[question.name])
        if decision.verdict is Verdict.CERTIFIED:
            return "proof", decision
        if decision.verdict is Verdict.REFUTED:
            return "denial", decision
        absent = self._decide(f"not_proved({render_term(question.name)})")
        if absent.verdict is Verdict.CERTIFIED:
            return "absence", absent
        return "nothing", decision

    def _decide(self, goal_text: str) -> Decision:
        request = Request(parse_atom(goal_text), None)
        return decide(request, policy=self.policy, facts=self.facts, sources=self.sources)


def report(
    asked: Sequence[Asked], rejected: Sequence[Unreadable], seconds: float
) -> dict[str, Any]:
    """Sum up by file and depth."""
    rows: list[dict[str, Any]] = []
    goals = []
    for file in sorted({*(each.file for each in asked), *(each.file for each in rejected)}):
        own = [each for each in asked if each.file == file]
        for depth in sorted({each.depth for each in own}):
            rows.append(_row(file, str(depth), [e for e in own if e.depth == depth]))
        rows.append(_row(file, "all", own))
        without = [each for each in rejected if each.file == file]
        unread = sum(each.questions for each in without)
        rows.append(
            {
                "file": file,
                "theories": len({each.theory for each in own}) + len(without),
                "theories that are no policy": len(without),
                "of these, with undefined atoms": sum(each.undefined > 0 for each in without),
                "their questions": unread,
                "first finding": without[0].message if without else "",
            }
        )
        settled = sum(each.by != "nothing" for each in own)
        total = len(own) + unread
        right = sum(each.right for each in own)
        goals += [
            goal(f"{file}: labels right", right / max(total, 1), 1, at_most=False),
            goal(f"{file}: settled by a certificate", settled / max(total, 1), 1, at_most=False),
        ]
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
        **{name: by[name] for name in ("proof", "denial", "absence", "nothing")},
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
