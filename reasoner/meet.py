"""Compile meet steps: complete answer sets, intersected, as the body of a rule (DESIGN 3, Meet)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .atom import Atom, Term, Variable
from .clause import Comparison, Literal, Operator, Positive
from .plan import (
    Bound,
    Constraint,
    Direction,
    Exclusion,
    Given,
    Meet,
    Named,
    Operand,
    Plan,
    Reference,
    ValueKind,
    is_same_name,
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


def step_predicate(step: int) -> str:
    """Name the predicate of a step's answers."""
    return f"step_{step + 1}"


def compile_meet(
    predicates: StepPredicates, step: Meet, body: Body, target: Term | None = None
) -> Term:
    """Add the conditions of a meet step to a body and give the term that satisfies them.

    `target` is the term to constrain where it is already known, as in a yes-or-no question.
    """
    constraints = [each for each in step.conditions if isinstance(each, Constraint)]
    operands = [predicates.operand(each.operand, body) for each in constraints]
    term = target
    for constraint, operand in zip(constraints, operands, strict=True):
        used = predicates.plan.type_of(constraint.hop.dimension)
        forward = constraint.hop.direction is Direction.FORWARD
        if term is None:
            subject = used.subject_types[0] if used.subject_types else "subject"
            term = body.fresh(used.name if forward else subject)
        subject_term, value_term = (operand, term) if forward else (term, operand)
        if used.kind is ValueKind.TAXONOMIC and not forward:
            value = body.fresh(used.name)
            body.add(
                Positive(Atom(used.name, (subject_term, value))),
                f"the {used.label} of {spoken(subject_term)} is {spoken(value)}",
            )
            body.add(
                Positive(Atom("under", (value, value_term))),
                f"{spoken(value)} is a kind of {spoken(value_term)}",
            )
            continue
        body.add(
            Positive(Atom(used.name, (subject_term, value_term))),
            f"the {used.label} of {spoken(subject_term)} is {spoken(value_term)}",
        )
    assert term is not None, "a meet step has a constraint"
    for condition in step.conditions:
        match condition:
            case Constraint():
                pass
            case Bound(dimension, operator, operand_):
                used = predicates.plan.type_of(dimension)
                right = predicates.operand(operand_, body)
                value = body.fresh(dimension)
                body.add(
                    Positive(Atom(dimension, (term, value))),
                    f"the {used.label} of {spoken(term)} is {spoken(value)}",
                )
                body.add(
                    Comparison(operator, value, right),
                    f"{spoken(value)} {operator.value} {spoken(right)}",
                )
            case Exclusion(operand_):
                other = predicates.operand(operand_, body)
                body.add(
                    Comparison(Operator.UNEQUAL, term, other),
                    f"{spoken(term)} is not {spoken(other)} itself",
                )
    return term


def spoken(term: Term) -> str:
    """Write a term for a sentence: a placeholder for a variable, the bare text otherwise."""
    if isinstance(term, Variable):
        return f"{{{term.name}}}"
    return str(term).replace("{", "(").replace("}", ")")
