"""The shape of the clauses that a goal reaches: what is left when their constants are taken out.

Code for a goal depends on the shape alone; so questions that differ in the names they ask for share
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .atom import Atom, Constant, Symbol, Term, Variable
from .clause import (
    Absent,
    Aggregate,
    Clause,
    Comparison,
    Expression,
    Literal,
    Operation,
    Positive,
)
from .facts import Signature
from .prelude import atoms_of

Shape = tuple[Clause, ...]
"""Clauses with marks for constants, without ids, citations and places."""


def reached(clauses: Sequence[Clause], goal: Signature) -> tuple[Clause, ...]:
    """Give the clauses that a goal can depend on, in order."""
    by_head: dict[Signature, list[int]] = {}
    for number, clause in enumerate(clauses):
        by_head.setdefault(clause.head.signature, []).append(number)
    seen, waiting, found = {goal}, [goal], []
    while waiting:
        for number in by_head.get(waiting.pop(), ()):
            found.append(number)
            for atom in atoms_of(clauses[number].body):
                signature = atom.signature
                if signature not in seen:
                    seen.add(signature)
                    waiting.append(signature)
    return tuple([clauses[number] for number in sorted(found)])


def shape_of(clauses: Sequence[Clause]) -> tuple[Shape, tuple[Constant, ...]]:
    """Give the shape of clauses, and the constant behind each mark, by its number.

    Equal constants have one mark: which rules meet which heads is part of the shape.
    """
    marks = _Marks()
    shape = tuple([Clause("", marks.atom(c.head), marks.body(c.body), "") for c in clauses])
    return shape, tuple(marks.of)


def constant_of(mark: Constant, constants: Sequence[Constant]) -> Constant:
    """Give the constant behind a mark."""
    assert isinstance(mark, Symbol), "a shape holds no constants but marks"
    return constants[int(mark.name[1:])]


@dataclass(slots=True)
class _Marks:
    """Marks by constant, in the order of first mention; no source text can write one."""

    of: dict[Constant, Symbol] = field(default_factory=dict)

    def term(self, term: Term) -> Term:
        if isinstance(term, Variable):
            return term
        found = self.of.get(term)
        if found is None:
            found = self.of[term] = Symbol(f"#{len(self.of)}")
        return found

    def terms(self, terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple([self.term(term) for term in terms])

    def atom(self, atom: Atom) -> Atom:
        return Atom(atom.predicate, self.terms(atom.arguments), atom.negated)

    def expression(self, expression: Expression) -> Expression:
        if isinstance(expression, Operation):
            return Operation(expression.name, tuple(map(self.expression, expression.arguments)))
        return self.term(expression)

    def body(self, literals: tuple[Literal, ...]) -> tuple[Literal, ...]:
        return tuple([self.literal(literal) for literal in literals])

    def literal(self, literal: Literal) -> Literal:
        match literal:
            case Positive(atom):
                return Positive(self.atom(atom))
            case Absent(atom):
                return Absent(self.atom(atom))
            case Comparison(operator, left, right):
                return Comparison(operator, self.expression(left), self.expression(right))
            case Aggregate(operator, result, function, terms, conditions):
                inner = tuple([self.condition(condition) for condition in conditions])
                return Aggregate(
                    operator, self.expression(result), function, self.terms(terms), inner
                )

    def condition(self, literal: Positive | Absent | Comparison) -> Positive | Absent | Comparison:
        found = self.literal(literal)
        assert not isinstance(found, Aggregate), "conditions of an aggregate hold no other"
        return found
