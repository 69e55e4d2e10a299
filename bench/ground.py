"""A theory grounded over its things, and its well-founded model: an independent reading of labels.

Grounds naively and closes by definition; shares nothing with the policy language or its evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from bench.projections import Flat, closure
from bench.theories import VARIABLES, Theory, TripleLiteral
from reasoner.hypergraph import Hyperedge

_NEVER = "(a negated literal fails)"


@dataclass(frozen=True, slots=True)
class GroundRule:
    """One instance of a rule; `absent` are the atoms that must not hold."""

    id: str
    head: str
    tail: tuple[str, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """What holds, and what is undefined: nothing is where negation runs through no cycle."""

    true: frozenset[str]
    undefined: frozenset[str]


@dataclass(frozen=True, slots=True)
class Ground:
    """Facts and all rule instances of a theory, in order of its rules."""

    facts: frozenset[str]
    rules: tuple[GroundRule, ...]

    def model(self) -> Model:
        """Give the well-founded model.

        Source: Van Gelder, The alternating fixpoint of logic programs with negation (1993).
        """
        true: frozenset[str] = frozenset()
        while True:
            possible = self._close(true)
            certain = self._close(possible)
            if certain == true:
                return Model(true, possible - true)
            true = certain

    def _close(self, holding: frozenset[str]) -> frozenset[str]:
        usable = [rule for rule in self.rules if holding.isdisjoint(rule.absent)]
        return closure(self.facts, [Hyperedge(rule.id, rule.tail, rule.head) for rule in usable])

    def flat(self, model: Model) -> Flat:
        """Give the instances as edges; one whose negated literal fails needs what never holds."""
        return Flat(
            tuple(
                Hyperedge(
                    rule.id,
                    rule.tail if model.true.isdisjoint(rule.absent) else (_NEVER,),
                    rule.head,
                )
                for rule in self.rules
            ),
            self.facts,
        )


def ground(theory: Theory) -> Ground:
    """Ground a theory over all its things."""
    rules = tuple(
        GroundRule(
            f"{rule.name} {' '.join(binding.values())}",
            atom_of(rule.head, binding),
            tuple(atom_of(each, binding) for each in rule.body if each.sign != "~"),
            tuple(atom_of(each, binding) for each in rule.body if each.sign == "~"),
        )
        for rule in theory.rules
        for binding in _bindings((*rule.body, rule.head), theory.things)
    )
    return Ground(frozenset(atom_of(fact, {}) for fact in theory.facts.values()), rules)


def _bindings(
    literals: Sequence[TripleLiteral], things: Sequence[str]
) -> Iterator[Mapping[str, str]]:
    terms = [term for literal in literals for term in (literal.subject, literal.object)]
    variables = [term for term in dict.fromkeys(terms) if term in VARIABLES]
    for values in product(things, repeat=len(variables)):
        yield dict(zip(variables, values, strict=True))


def atom_of(literal: TripleLiteral, binding: Mapping[str, str]) -> str:
    """Write a ground atom, with a leading `-` if it is denied."""
    sign = "-" if literal.sign == "-" else ""
    subject, other = (binding.get(term, term) for term in (literal.subject, literal.object))
    return f"{sign}{subject} {literal.relation} {other}"
