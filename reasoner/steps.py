"""The steps of a certificate: each fact, rule instance and test once, after what it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kb.quantity import Quantity, in_unit

from .atom import Atom, Constant, render_term
from .bodies import value_of
from .clause import (
    Absent,
    Aggregate,
    Clause,
    Comparison,
    Expression,
    Literal,
    Operation,
    Positive,
    render_literal,
    variables_of,
)
from .facts import Fact
from .slice import Instance
from .trees import Json


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
