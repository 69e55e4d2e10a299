"""The canonical certificate: what a verdict rests on, as JSON with one byte form.

The body is digested and equal for every engine, machine and thread count. Its format is described
in `docs/verifying.md` and `docs/certificate.schema.json`; `verify` checks it without this file.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb.statement import Evidence, value_to_json

from .atom import Atom, render_pattern
from .clause import (
    Clause,
    Policy,
)
from .retraction import Retraction
from .sources import Sources
from .steps import StepList
from .trees import Json, clause_tree
from .validity import interval_of_instance
from .verdict import AbstentionCode, OpenRequirement, Verdict
from .verify import day_after

FORMAT = "proofweave.certificate/1"


def canonical_bytes(certificate: Json) -> bytes:
    """Write RFC 8785. All keys of the format are ASCII and all numbers integers."""
    return _ENCODER.encode(certificate).encode()


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def digest_of(data: bytes) -> str:
    """Give the digest a certificate is addressed by: SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Witness:
    """Calls with their complete answers, as they stand in a certificate."""

    demands: tuple[Json, ...] = ()
    lookups: tuple[Json, ...] = ()
    contested: tuple[Json, ...] = ()
    patterns: tuple[Atom, ...] = ()


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What was decided, before it is written down. Answers are (atom, step id)."""

    verdict: Verdict
    code: AbstentionCode | None
    goal: Atom
    answers: tuple[tuple[Atom, str], ...] = ()
    refuted: tuple[tuple[Atom, str], ...] = ()
    open: tuple[OpenRequirement, ...] = ()
    assumptions: tuple[Atom, ...] = ()
    complete: bool = True
    question: str | None = None
    understood_as: str | None = None
    valid_on: datetime.date | None = None
    retractions: tuple[Retraction, ...] = ()


def build_certificate(
    conclusion: Conclusion,
    *,
    steps: StepList,
    witness: Witness,
    policies: Iterable[Policy],
    sources: Sources,
    cited_sources: Iterable[str] = (),
) -> Json:
    """Write a conclusion with its steps as the JSON of a certificate.

    `cited_sources` are sources a lookup re-reads, beside those that are quoted.
    """
    cited = dict.fromkeys(steps.statements)
    for requirement in conclusion.open:
        cited.update(dict.fromkeys(requirement.conflicting))
    statements = {name: _statement(name, sources) for name in sorted(cited)}
    source_names = set(cited_sources)
    for statement in statements.values():
        source_names.update(item["source_sha256"] for item in statement["evidence"])
    used = sorted(policies, key=lambda policy: policy.digest)
    retracted = sorted((item.statement, str(item.atom)) for item in set(conclusion.retractions))
    return {
        **({"retractions": [_retraction(*item) for item in retracted]} if retracted else {}),
        "format": FORMAT,
        "verdict": conclusion.verdict.value,
        "code": conclusion.code.value if conclusion.code else None,
        "question": conclusion.question,
        "understood_as": conclusion.understood_as,
        "goal": render_pattern(conclusion.goal),
        "valid_on": _day(conclusion.valid_on),
        "knowledge": hashlib.sha256("\n".join(statements).encode()).hexdigest(),
        "complete": conclusion.complete,
        "answers": _named(conclusion.answers),
        "refuted": _named(conclusion.refuted),
        "policies": [_policy(policy) for policy in used],
        "rules": {name: _rule(steps.clauses[name]) for name in steps.rules},
        "sources": {name: _source(name, sources) for name in sorted(source_names)},
        "statements": statements,
        "steps": steps.steps,
        "open": [_requirement(item) for item in conclusion.open],
        "assumptions": sorted(
            {str(atom) for atom in conclusion.assumptions}
            if conclusion.verdict is Verdict.ABSTAINED
            else steps.assumptions
        ),
        "witness": {
            "demands": list(witness.demands),
            "lookups": list(witness.lookups),
            "contested": list(witness.contested),
        },
        "validity": _validity(conclusion, statements, used, steps),
    }


def _day(day: datetime.date | None) -> str | None:
    return None if day is None else day.isoformat()


def _named(answers: Sequence[tuple[Atom, str]]) -> list[Json]:
    texts = sorted((str(atom), step) for atom, step in answers)
    return [{"atom": text, "step": step} for text, step in texts]


def _retraction(statement: str, atom: str) -> Json:
    return {"statement": statement, "atom": atom}


def effective_text(policy: Policy) -> str:
    """Write the effective interval: `2026-01-01/..`, the end not included."""
    start, end = (_day(day) or ".." for day in policy.effective)
    return f"{start}/{end}"


def _policy(policy: Policy) -> Json:
    return {
        "id": policy.id,
        "version": policy.version,
        "digest": policy.digest,
        "effective": effective_text(policy),
        "text": policy.text,
    }


def _rule(clause: Clause) -> Json:
    return {
        "clause": clause_tree(clause),
        "text": clause.text,
        "cite": clause.cite,
        "says": clause.says,
    }


def _source(name: str, sources: Sources) -> Json:
    record = sources.source(name)
    return {
        "media_type": record.media_type,
        "title": record.title,
        "decoder": record.decoder,
        "text_sha256": record.text_sha256,
    }


def _statement(name: str, sources: Sources) -> Json:
    record = sources.statement(name)
    evidence = [_evidence(item) for item in sorted(record.evidence, key=_evidence_order)]
    if record.statement is None:
        return {"atom": str(record.atom), "evidence": evidence}
    statement = record.statement
    return {
        "subject": statement.subject,
        "dimension": statement.dimension,
        "value": value_to_json(statement.value),
        "polarity": statement.polarity.value,
        "validity": {
            "start": _day(statement.validity.start),
            "end": _day(statement.validity.end),
        },
        "evidence": evidence,
    }


def _evidence_order(item: Evidence) -> tuple[str, int, int, str]:
    return (item.source_sha256, item.start, item.end, item.extractor)


def _evidence(item: Evidence) -> Json:
    return {
        "source_sha256": item.source_sha256,
        "text_sha256": item.text_sha256,
        "start": item.start,
        "end": item.end,
        "quote": item.quote,
        "extractor": item.extractor,
    }


def _requirement(item: OpenRequirement) -> Json:
    return {
        "id": item.id,
        "atom": item.atom,
        "code": item.code.value,
        "rule": item.rule,
        "query": item.query,
        "expected": item.expected,
        "entity_test": item.entity_test,
        "detail": item.detail,
        "rejected": list(item.rejected),
        "conflicting": list(item.conflicting),
    }


def _validity(
    conclusion: Conclusion,
    statements: Mapping[str, Json],
    policies: Sequence[Policy],
    steps: StepList,
) -> Json:
    """Give the interval in which the proof holds and the next day it can change.

    An abstention has no interval.
    """
    if conclusion.verdict is Verdict.ABSTAINED:
        return {"start": None, "end": None, "next_change": None}
    intervals = [item["validity"] for item in statements.values() if "validity" in item]
    intervals += [
        {"start": _day(policy.effective[0]), "end": _day(policy.effective[1])}
        for policy in policies
    ]
    day = conclusion.valid_on
    if day is not None:
        found = [interval_of_instance(steps.clauses[name], b, day) for name, b in steps.dated]
        if any(atom.signature == ("valid_on", 1) for atom, _ in conclusion.answers):
            found.append((day, day_after(day)))
        intervals += [{"start": _day(first), "end": _day(last)} for first, last in found]
    start = max((item["start"] for item in intervals if item["start"]), default=None)
    end = min((item["end"] for item in intervals if item["end"]), default=None)
    return {"start": start, "end": end, "next_change": end}
