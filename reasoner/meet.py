"""Compile meet steps: complete answer sets, intersected, as the body of a rule (DESIGN 3, Meet)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .atom import Atom, Term, Variable, render_term
from .clause import Comparison, Literal, Operator, Positive
from .hop import DimensionType, Direction, ValueKind, is_same_name
from .plan import (
    Anything,
    Bound,
    Constraint,
    Exclusion,
    Given,
    Meet,
    Named,
    Operand,
    Plan,
    Reference,
    Threshold,
)


@dataclass(slots=True)
class Body:
    """The body of one rule while it is built: literals, the sentences they say, names taken.

    `bound` holds earlier steps whose answer is one and the same wherever the rule reads them.
    """

    literals: list[Literal] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    bound: dict[Reference, Term] = field(default_factory=dict)
    _taken: dict[str, int] = field(default_factory=dict)
    _names: dict[Named, Term] = field(default_factory=dict)

    def fresh(self, stem: str) -> Variable:
        """Give a variable that is new in this rule, named after `stem`: `PlaceOfBirth`."""
        name = "".join(part[:1].upper() + part[1:] for part in stem.split("_") if part) or "X"
        self._taken[name] = count = self._taken.get(name, 0) + 1
        return Variable(name if count == 1 else f"{name}{count}")

    def add(self, literal: Literal, sentence: str = "") -> None:
        """Append a literal and what it says."""
        self.literals.append(literal)
        if sentence:
            self.sentences.append(sentence)

    def name(self, named: Named) -> Term:
        """Give the term of a named entity, with an identity premise where it is written otherwise.

        One mention is one term in a rule, so that all its literals speak of the same reading.
        """
        if len(named.readings) == 1 and not is_same_name(named.written, named.readings[0]):
            return named.readings[0]
        if named.readings == (named.written,):
            return named.written
        if named not in self._names:
            variable = self.fresh("named")
            self._names[named] = variable
            self.add(Positive(Atom("same_name", (named.written, variable))))
        return self._names[named]


@dataclass(frozen=True, slots=True)
class StepPredicates:
    """Which steps have a rule of their own, because more than one later step reads them."""

    plan: Plan
    shared: frozenset[int]

    def answers(self, reference: Reference, body: Body, target: Term | None = None) -> Term:
        """Add what makes a term an answer of a step, and give that term."""
        if reference in body.bound:
            return body.bound[reference]
        step = self.plan.steps[reference.step]
        if reference.step in self.shared or not isinstance(step, Meet):
            term = target if target is not None else body.fresh("answer")
            body.add(Positive(Atom(step_predicate(reference.step), (term,))))
            return term
        return compile_meet(self, step, body, target)

    def operand(self, operand: Operand, body: Body) -> Term:
        """Give the term of an operand, adding the literals that bind it."""
        match operand:
            case Named():
                return body.name(operand)
            case Reference():
                return self.answers(operand, body)
            case Given(value):
                return value
            case Anything():
                return body.fresh("anything")


def step_predicate(step: int) -> str:
    """Name the predicate of a step's answers."""
    return f"step_{step + 1}"


def compile_meet(
    predicates: StepPredicates, step: Meet, body: Body, target: Term | None = None
) -> Term:
    """Add the conditions of a meet step to a body and give the term that satisfies them.

    `target` is the term to constrain where it is already known, as in a yes-or-no question.
    """
    operands = {
        condition: predicates.operand(condition.operand, body)
        for condition in step.conditions
        if isinstance(condition, Constraint)
    }
    term = target if target is not None else _answer_of(predicates.plan, step, body)
    for condition in step.conditions:
        match condition:
            case Constraint(hop):
                used = predicates.plan.type_of(hop.dimension)
                if hop.direction is Direction.FORWARD:
                    add_stated(body, used, operands[condition], term)
                elif used.kind is ValueKind.TAXONOMIC:
                    value = body.fresh(used.name)
                    add_stated(body, used, term, value)
                    body.add(
                        Positive(Atom("under", (value, operands[condition]))),
                        kind_of(value, operands[condition]),
                    )
                else:
                    add_stated(body, used, term, operands[condition])
            case Bound(dimension, thresholds):
                value = body.fresh(dimension)
                add_stated(body, predicates.plan.type_of(dimension), term, value)
                for threshold in thresholds:
                    add_threshold(predicates, body, value, threshold)
            case Exclusion(operand):
                other = predicates.operand(operand, body)
                body.add(
                    Comparison(Operator.UNEQUAL, term, other),
                    f"{spoken(term)} is not {spoken(other)} itself",
                )
    return term


def _answer_of(plan: Plan, step: Meet, body: Body) -> Term:
    """Give a variable for the answers, named after what the first condition says they are."""
    for condition in step.conditions:
        if isinstance(condition, Constraint) and condition.hop.direction is Direction.FORWARD:
            return body.fresh(condition.hop.dimension)
        if not isinstance(condition, Exclusion):
            name = (
                condition.hop.dimension
                if isinstance(condition, Constraint)
                else condition.dimension
            )
            subjects = plan.type_of(name).subject_types
            return body.fresh(subjects[0] if subjects else "subject")
    raise AssertionError("a meet step has a condition that yields its answers")


SAID = {
    Operator.EQUAL: "is equal to",
    Operator.UNEQUAL: "differs from",
    Operator.LESS: "is less than",
    Operator.AT_MOST: "is at most",
    Operator.GREATER: "is greater than",
    Operator.AT_LEAST: "is at least",
}


def add_threshold(
    predicates: StepPredicates, body: Body, value: Term, threshold: Threshold
) -> None:
    """Add that a value compares with the operand of a threshold."""
    right = predicates.operand(threshold.operand, body)
    body.add(
        Comparison(threshold.operator, value, right),
        f"{spoken(value)} {SAID[threshold.operator]} {spoken(right)}",
    )


def add_stated(body: Body, dimension: DimensionType, subject: Term, value: Term) -> None:
    """Add that a dimension of a subject has a value."""
    body.add(
        Positive(Atom(dimension.name, (subject, value))),
        f"the {dimension.label} of {spoken(subject)} is {spoken(value)}",
    )


def kind_of(value: Term, above: Term) -> str:
    """Say that a value lies under a class."""
    return f"{spoken(value)} is a kind of {spoken(above)}"


def spoken(term: Term) -> str:
    """Write a term for a sentence: a placeholder for a variable, the bare text otherwise."""
    if isinstance(term, Variable):
        return f"{{{term.name}}}"
    text = term if isinstance(term, str) else render_term(term)
    return text.replace("{", "(").replace("}", ")")
