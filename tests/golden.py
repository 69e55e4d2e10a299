"""Golden cases: folders with a policy, facts and a request, and what is expected."""

from __future__ import annotations

import datetime
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from reasoner.decide import Decision, Request, decide
from reasoner.facts import FactBase, fact_id
from reasoner.policy import parse_atom, parse_facts, parse_policy
from reasoner.retraction import Retraction
from reasoner.sources import FactsFiles, facts_file_sources

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """One folder."""

    folder: Path
    request: dict[str, Any]

    @property
    def name(self) -> str:
        """Topic and case."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def policy(self) -> str:
        """Text of the policy."""
        return (self.folder / "policy.lp").read_text(encoding="utf-8")

    @property
    def facts(self) -> str:
        """Text of the facts file."""
        return (self.folder / "facts.lp").read_text(encoding="utf-8")


def golden_cases() -> list[Case]:
    """Walk the folders."""
    return [
        Case(path.parent, yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in sorted(CASES.glob("*/*/request.yaml"))
    ]


def load(facts: str) -> tuple[FactBase, FactsFiles]:
    """Read a facts file."""
    return facts_file_sources(("facts.lp", facts))


def decide_case(case: Case, *, facts: str | None = None, engine: str = "linear") -> Decision:
    """Decide the goal of a case, perhaps with other facts."""
    base, sources = load(case.facts if facts is None else facts)
    day = case.request.get("valid_on")
    assert day is None or isinstance(day, datetime.date)
    request = Request(
        parse_atom(case.request["goal"]),
        day,
        assumptions=tuple(map(parse_atom, case.request.get("assumptions", ()))),
        retractions=tuple(
            Retraction(fact_id(atom), atom)
            for atom in map(parse_atom, case.request.get("retractions", ()))
        ),
    )
    policy = parse_policy(case.policy, name="policy.lp")
    return decide(request, policy=policy, facts=base, sources=sources, engine=engine)


def summary(data: bytes) -> dict[str, Any]:
    """Give what a golden file holds of a certificate."""
    certificate = json.loads(data)
    return {
        "verdict": certificate["verdict"],
        "code": certificate["code"],
        "answers": [item["atom"] for item in certificate["answers"]],
        "refuted": [item["atom"] for item in certificate["refuted"]],
        "open": [
            {key: item[key] for key in ("atom", "code", "rule", "query", "expected", "detail")}
            for item in certificate["open"]
        ],
        "steps": [
            " ".join(
                [
                    step["id"],
                    step["kind"],
                    step.get("rule", ""),
                    step["conclusion"],
                    "<-",
                    *step["premises"],
                ]
            )
            for step in certificate["steps"]
        ],
        "demands": [item["pattern"] for item in certificate["witness"]["demands"]],
        "lookups": [item["pattern"] for item in certificate["witness"]["lookups"]],
        "contested": [item["reason"] for item in certificate["witness"]["contested"]],
        "digest": hashlib.sha256(data).hexdigest(),
    }


def without(facts: str, dropped: str | list[str]) -> str:
    """Take facts out of a facts file."""
    wanted = {
        str(parse_atom(text)) for text in ([dropped] if isinstance(dropped, str) else dropped)
    }
    lines = parse_facts(facts, name="facts.lp")
    assert wanted <= {str(line.atom) for line in lines}, "a twin drops facts that are there"
    for line in reversed(lines):
        if str(line.atom) in wanted:
            facts = facts[: line.start] + facts[line.end :]
    return facts
