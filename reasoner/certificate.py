"""The canonical certificate: what a verdict rests on, as JSON with one byte form.

The body is digested and equal for every engine, machine and thread count. Its format is described
in `docs/verifying.md` and `docs/certificate.schema.json`; `verify` checks it without this file.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kb.quantity import Date, Quantity, format_number, in_unit
from kb.statement import Evidence, value_to_json

from .atom import Atom, Constant, Symbol, Variable, render_pattern, render_term
from .bodies import value_of
from .clause import (
    Absent,
    Aggregate,
    Clause,
    Comparison,
    Expression,
    Literal,
    Operation,
    Policy,
    Positive,
    render_literal,
    variables_of,
)
from .facts import Fact
from .retraction import Retraction
from .slice import Instance
from .sources import Sources
from .validity import interval_of_instance
from .verdict import AbstentionCode, OpenRequirement, Verdict
from .verify import day_after

FORMAT = "proofweave.certificate/1"

Json = dict[str, Any]
"""Plain JSON of the format; its shape is the schema's."""


def canonical_bytes(certificate: Json) -> bytes:
    """Write RFC 8785. All keys of the format are ASCII and all numbers integers."""
    return _ENCODER.encode(certificate).encode()


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def digest_of(data: bytes) -> str:
    """Give the digest a certificate is addressed by: SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


# Syntax trees


def expression_tree(expression: Expression) -> Json:
    """Give a term or an operation as syntax tree."""
    match expression:
        case Variable(name):
            return {"variable": name}
        case Symbol(name):
            return {"symbol": name}
        case str():
            return {"text": expression}
        case Date():
            return {"date": str(expression)}
        case Quantity():
            return {"quantity": str(expression)}
        case Operation(name, arguments):
            return {"operation": name, "arguments": [expression_tree(item) for item in arguments]}
        case number:
            return {"number": format_number(number)}


def atom_tree(atom: Atom) -> Json:
    """Give an atom as syntax tree."""
    return {
        "predicate": atom.predicate,
        "negated": atom.negated,
        "arguments": [expression_tree(item) for item in atom.arguments],
    }


def literal_tree(literal: Literal) -> Json:
    """Give a body literal as syntax tree."""
    match literal:
        case Positive(atom):
            return {"positive": atom_tree(atom)}
        case Absent(atom):
            return {"absent": atom_tree(atom)}
        case Comparison(operator, left, right):
            return {
                "comparison": {
                    "operator": operator.value,
                    "left": expression_tree(left),
                    "right": expression_tree(right),
                }
            }
        case Aggregate(operator, result, function, terms, conditions):
            return {
                "aggregate": {
                    "operator": operator.value,
                    "result": expression_tree(result),
                    "function": function.value,
                    "terms": [expression_tree(item) for item in terms],
                    "conditions": [literal_tree(item) for item in conditions],
                }
            }


def clause_tree(clause: Clause) -> Json:
    """Give a clause as syntax tree."""
    return {"head": atom_tree(clause.head), "body": [literal_tree(item) for item in clause.body]}


def binding_variables(clause: Clause) -> tuple[str, ...]:
    """Give the names of the variables an instance binds, sorted.

    Variables that stand only in a `not` or inside an aggregate are local to it.
    """
    names: set[str] = set()
    for argument in clause.head.arguments:
        names.update(variable.name for variable in variables_of(argument))
    for literal in clause.body:
        match literal:
            case Positive(atom):
                parts: tuple[Expression, ...] = atom.arguments
            case Comparison(_, left, right):
                parts = (left, right)
            case Aggregate():
                parts = (literal.result,)
            case Absent():
                parts = ()
        for part in parts:
            names.update(variable.name for variable in variables_of(part))
    return tuple(sorted(names))


# Steps


@dataclass(frozen=True, slots=True)
class Proof:
    """A derivation of `atom`: atoms with the rule instance or fact each comes from, in order."""

    atom: Atom
    steps: tuple[tuple[Atom, Instance | Fact], ...]


@dataclass(frozen=True, slots=True)
class _Ready:
    """A clause with what its steps need again and again."""

    clause: Clause
    kind: str
    names: tuple[str, ...]
    tests: tuple[tuple[int, str, Literal], ...]
    """Body positions that are no atoms, with the kind of their step."""
    reads_day: bool


@dataclass(slots=True)
class StepList:
    """The steps of a certificate; equal steps are added once. Grows while it is built."""

    clauses: Mapping[str, Clause]
    steps: list[Json] = field(default_factory=list)
    statements: dict[str, None] = field(default_factory=dict)
    rules: dict[str, None] = field(default_factory=dict)
    assumptions: dict[str, None] = field(default_factory=dict)
    closed: dict[str, tuple[str, int, Mapping[str, Constant]]] = field(default_factory=dict)
    """Absences and aggregates by their text, with rule, body position and bindings: what a
    witness must show."""
    dated: list[tuple[str, Mapping[str, Constant]]] = field(default_factory=list)
    """Rule instances that read the day of the request: rule id and bindings."""
    _known: dict[tuple[str, ...], str] = field(default_factory=dict)
    _ready: dict[str, _Ready] = field(default_factory=dict)

    def add(self, proof: Proof, names: dict[Atom, str] | None = None) -> str:
        """Add the steps of a proof and give the id of its last.

        `names` are the ids of atoms that the proof goes on from; those of its own are added.
        """
        names = {} if names is None else names
        for atom, origin in proof.steps:
            if atom not in names:
                names[atom] = (
                    self.add_fact(origin)
                    if isinstance(origin, Fact)
                    else self._add_instance(origin, names)
                )
        return names[proof.atom]

    def _put(self, key: tuple[str, ...], step: Json) -> str:
        name = f"s{len(self.steps) + 1}"
        self.steps.append({"id": name, **step})
        self._known[key] = name
        return name

    def add_fact(self, fact: Fact) -> str:
        """Add a leaf."""
        conclusion = str(fact.atom)
        key = (fact.leaf, conclusion)
        known = self._known.get(key)
        if known is not None:
            return known
        step: Json = {"kind": fact.leaf, "conclusion": conclusion, "premises": []}
        if fact.leaf == "provenance":
            step["statement"] = str(fact.atom.arguments[0])
        elif fact.leaf == "assumed":
            self.assumptions[conclusion] = None
        elif fact.leaf.startswith("st:"):
            step["kind"], step["statement"] = "stated", fact.leaf
        if "statement" in step:
            self.statements[step["statement"]] = None
        return self._put(key, step)

    def _add_instance(self, instance: Instance, names: Mapping[Atom, str]) -> str:
        ready = self._ready.get(instance.rule_id) or self._prepare(instance.rule_id)
        values = dict(instance.bindings)
        bindings = {name: render_term(values[name]) for name in ready.names}
        premises = [
            names[premise.atom] if hasattr(premise, "atom") and premise.atom in names else ""
            for premise in instance.premises
        ]
        for position, kind, literal in ready.tests:
            text = render_literal(literal, values)
            if kind == "closed":
                self.closed[text] = (instance.rule_id, position, values)
            premises[position] = self._add_test(kind, text, self._conversions(literal, values))
        key = (instance.rule_id, *bindings.values(), *premises)
        known = self._known.get(key)
        if known is not None:
            return known
        self.rules[instance.rule_id] = None
        if ready.reads_day:
            self.dated.append((instance.rule_id, values))
        return self._put(
            key,
            {
                "kind": ready.kind,
                "conclusion": str(instance.head),
                "premises": premises,
                "rule": instance.rule_id,
                "bindings": bindings,
            },
        )

    def _prepare(self, rule_id: str) -> _Ready:
        clause = self.clauses[rule_id]
        tests = tuple(
            (position, _test_kind(literal), literal)
            for position, literal in enumerate(clause.body)
            if not isinstance(literal, Positive)
        )
        reads_day = any(
            isinstance(literal, Positive) and literal.atom.signature == ("valid_on", 1)
            for literal in clause.body
        )
        kind = _rule_kind(rule_id)
        ready = _Ready(clause, kind, binding_variables(clause), tests, reads_day)
        self._ready[rule_id] = ready
        return ready

    def _conversions(self, literal: Literal, values: Mapping[str, Constant]) -> list[str]:
        """Add what a comparison of two quantities in different units converts."""
        if not isinstance(literal, Comparison):
            return []
        left, right = value_of(literal.left, values), value_of(literal.right, values)
        if not isinstance(left, Quantity) or not isinstance(right, Quantity):
            return []
        converted = in_unit(right, left.unit)
        if converted is None or left.unit == right.unit:
            return []
        text = f"{render_term(right)} = {render_term(converted)}"
        return [self._add_test("conversion", text, [])]

    def _add_test(self, kind: str, text: str, premises: list[str]) -> str:
        key = (kind, text)
        known = self._known.get(key)
        if known is not None:
            return known
        return self._put(key, {"kind": kind, "conclusion": text, "premises": premises})


def _rule_kind(rule_id: str) -> str:
    if rule_id.startswith("prelude.under"):
        return "subsumption"
    if rule_id.startswith("prelude.told_"):
        return "meet"
    if rule_id.startswith(("prelude.alias", "prelude.identity")):
        return "identity"
    return "rule"


def _test_kind(literal: Literal) -> str:
    match literal:
        case Comparison(_, left, right):
            computed = isinstance(left, Operation) or isinstance(right, Operation)
            return "arithmetic" if computed else "comparison"
    return "closed"


# The whole


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
