"""The rules every policy can use, and the identity rules that names of one entity call for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from importlib import resources

from .atom import Atom, Variable
from .clause import Absent, Aggregate, Clause, Literal, Policy, Positive, render_clause
from .facts import FactBase, Signature
from .policy_text import read_policy

COMPUTED = frozenset({("stated_in", 2), ("valid_on", 1), ("same_name", 2)})
"""Predicates whose facts come from the request or from evidence, never from a source."""
ALWAYS_CLOSED = COMPUTED - {("same_name", 2)}
"""Of these, the ones whose rows are all at hand; names alike are found only where asked for."""

ABOUT_SOURCES = frozenset({("document_kind", 2), ("issuer", 2), ("issued_on", 2)})
ABOUT_NAMES = frozenset({("same_as", 2), ("subclass_of", 2)})
UNDER: Signature = ("under", 2)
ALIAS: Signature = ("alias", 2)
SAME_AS: Signature = ("same_as", 2)
DECIDED_BY_ORDER = frozenset(
    {UNDER}
    | {(name, 2) for name in ("told_apart", "told_disjoint", "may_coincide")}
    | {("in_taxonomy", 1)}
)
"""What the order of values decides; no document is searched for it."""


@lru_cache(maxsize=1)
def prelude() -> Policy:
    """Give the prelude."""
    text = (resources.files(__package__) / "prelude.lp").read_text(encoding="utf-8")
    policy, findings = read_policy(text, name="prelude")
    assert not findings, f"the prelude is faulty: {findings}"
    return policy


@lru_cache(maxsize=1)
def built_in() -> frozenset[Signature]:
    """Give every predicate that a policy may read without defining it."""
    defined = {clause.head.signature for clause in prelude().clauses}
    return COMPUTED | ABOUT_SOURCES | ABOUT_NAMES | defined


def atoms_of(literals: Iterable[Literal]) -> Iterator[Atom]:
    """Give every atom of body literals, those inside aggregates included, in order."""
    for literal in literals:
        if isinstance(literal, (Positive, Absent)):
            yield literal.atom
        elif isinstance(literal, Aggregate):
            yield from atoms_of(literal.conditions)


@lru_cache(maxsize=1024)
def identity_clause(signature: Signature) -> Clause:
    """Give the rule by which what holds of one name holds of the entity's other names."""
    name, arity = signature
    others = tuple(Variable(f"V{n}") for n in range(1, arity))
    negated = name.startswith("-")
    predicate = name.removeprefix("-")
    head = Atom(predicate, (Variable("X"), *others), negated)
    body = (
        Positive(Atom("alias", (Variable("X"), Variable("Y")))),
        Positive(Atom(predicate, (Variable("Y"), *others), negated)),
    )
    clause = Clause(
        id=f"prelude.identity:{name}/{arity}",
        head=head,
        body=body,
        text="",
        cite="Proofweave prelude, identity",
        says="What is stated of {Y} holds of {X}: both name one entity",
    )
    return replace(clause, text=render_clause(clause))


class Declared(Enum):
    """What a declaration says of the values of a dimension, as the predicate of its fact."""

    FUNCTIONAL = "functional"
    DISJOINT = "disjoint"


DECLARATIONS: frozenset[Signature] = frozenset({("functional", 1), ("disjoint", 2)})
"""Predicates of what declarations say; no source states them."""

_VALUE_RULES = {
    "one_value": (
        Declared.FUNCTIONAL,
        '-{d}(X, V) :- {d}(X, W), functional("{d}"), told_apart(W, V).',
        "{{X}} has one {d}, which is {{W}}; nothing lies under both {{W}} and {{V}}",
    ),
    "one_value_named": (
        Declared.FUNCTIONAL,
        '-{d}(X, V) :- {d}(X, W), functional("{d}"), folded(W) != folded(V), '
        "not in_taxonomy(W), not in_taxonomy(V), not may_coincide(W, V).",
        "{{X}} has one {d}, which is {{W}} and not {{V}}",
    ),
    "disjoint_values": (
        Declared.DISJOINT,
        "-{d}(X, V) :- {d}(X, W), told_disjoint(W, V).",
        "the {d} of {{X}} is {{W}}, which excludes {{V}}",
    ),
}
VALUE_RULES = tuple(f"prelude.{name}:" for name in _VALUE_RULES)
"""Begin the names of the rules by which one value of a dimension excludes another."""


@lru_cache(maxsize=256)
def value_clauses(predicate: str, declared: frozenset[Declared]) -> tuple[Clause, ...]:
    """Give the rules by which a value of a dimension, or its denial, excludes another value."""
    if not declared:
        return ()
    dimension = predicate.removeprefix("-")
    clauses = []
    for name, (needed, text, says) in _VALUE_RULES.items():
        if needed in declared:
            read, findings = read_policy(text.format(d=dimension), name=name)
            assert not findings, f"the rule {name} is faulty: {findings}"
            clause = replace(
                read.clauses[0],
                id=f"prelude.{name}:{dimension}/2",
                cite="Proofweave prelude, meet",
                says=says.format(d=dimension),
            )
            clauses.append(replace(clause, text=render_clause(clause)))
    return tuple(clauses)


def declared_values(goal: Atom, facts: FactBase) -> frozenset[Declared]:
    """Give what is declared of the values of a ground goal's dimension."""
    if len(goal.arguments) != 2 or not goal.is_ground:
        return frozenset()
    stored = facts.signatures()
    found = set()
    if ("functional", 1) in stored and facts.match(Atom("functional", (goal.predicate,)), None):
        found.add(Declared.FUNCTIONAL)
    if ("disjoint", 2) in stored:
        found.add(Declared.DISJOINT)
    return frozenset(found)


def clauses_in_force(
    policy: Policy,
    goal: Signature,
    stored: frozenset[Signature],
    declared: frozenset[Declared] = frozenset(),
) -> tuple[Clause, ...]:
    """Give the clauses a goal is evaluated with: the policy's, the prelude's, values, identity.

    Identity rules exist only where `same_as` facts do, for each stored predicate that the policy or
    the goal reads, whether or not rules conclude it too. `declared` says what holds of the values
    of the goal's dimension.
    """
    clauses = (*policy.clauses, *prelude().clauses, *value_clauses(goal[0], declared))
    if SAME_AS not in stored:
        return clauses
    defined = {clause.head.signature for clause in prelude().clauses}
    read = {goal} | {atom.signature for clause in clauses for atom in atoms_of(clause.body)}
    read |= {_complement(signature) for signature in read}  # they contest what is read
    renamed = read & stored - defined - COMPUTED - ABOUT_SOURCES - ABOUT_NAMES
    return clauses + tuple(identity_clause(s) for s in sorted(renamed) if s[1] >= 1)


def _complement(signature: Signature) -> Signature:
    name, arity = signature
    return (name.removeprefix("-") if name.startswith("-") else f"-{name}"), arity


def rules_in_force(policy: Policy, goal: Atom, facts: FactBase) -> tuple[Clause, ...]:
    """Give the clauses that `evaluate` uses for a goal, in order; ids are unique."""
    return clauses_in_force(
        policy, goal.signature, facts.signatures(), declared_values(goal, facts)
    )
