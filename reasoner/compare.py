"""Compile compare steps: extremum, sameness, order and membership, as rules (DESIGN 3, Compare).

No comparison is decided here. The evaluator compares with three values, so that an operand without
a value leaves an open requirement, and values that overlap leave the answer undetermined.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from .atom import Atom, Term
from .clause import Absent, Aggregate, AggregateFunction, Clause, Comparison, Operator, Positive
from .hop import DimensionType, Direction
from .meet import Body, StepPredicates, add_stated, spoken
from .plan import Constraint, Count, Extreme, Extremum, Holds, Meet, Order, Reference, Same

MEASURE = "measure"
COMMON = "in_common"

OPPOSITE = {
    Operator.EQUAL: Operator.UNEQUAL,
    Operator.UNEQUAL: Operator.EQUAL,
    Operator.LESS: Operator.AT_LEAST,
    Operator.AT_LEAST: Operator.LESS,
    Operator.GREATER: Operator.AT_MOST,
    Operator.AT_MOST: Operator.GREATER,
}

_SAID = {
    Operator.EQUAL: "is equal to",
    Operator.UNEQUAL: "differs from",
    Operator.LESS: "is less than",
    Operator.AT_MOST: "is at most",
    Operator.GREATER: "is greater than",
    Operator.AT_LEAST: "is at least",
}


def rule(head: Atom, body: Body, name: str, *, lead: str) -> Clause:
    """Close a body into a rule with its sentence: the lead, then what the literals say."""
    said = lead + (": " + "; ".join(body.sentences) if body.sentences else "")
    return Clause(
        id=f"plan.{name}", head=head, body=tuple(body.literals), text="", cite="question", says=said
    )


def compile_count(predicates: StepPredicates, step: Count, head: str) -> list[Clause]:
    """Give the rule that counts the distinct answers of a step."""
    counted = Body()
    term = predicates.answers(step.of, counted)
    conditions = tuple(each for each in counted.literals if not isinstance(each, Aggregate))
    body = Body()
    number = body.fresh("number")
    body.add(
        Aggregate(Operator.EQUAL, number, AggregateFunction.COUNT, (term,), conditions),
        f"{spoken(number)} are counted",
    )
    return [rule(Atom(head, (number,)), body, head, lead=spoken(number))]


def compile_extremum(predicates: StepPredicates, step: Extremum, head: str) -> list[Clause]:
    """Give a measure rule per candidate, and per candidate a rule under which it wins."""
    clauses: list[Clause] = []
    for number, candidate in enumerate(step.candidates, start=1):
        body = Body()
        entity = predicates.operand(candidate.entity, body)
        if isinstance(candidate.entity, Reference):
            body.bound[candidate.entity] = entity
        value = predicates.answers(candidate.measure, body)
        name = f"{MEASURE}_{number}"
        lead = f"{spoken(entity)} is compared by {spoken(value)}"
        clauses.append(rule(Atom(name, (entity, value)), body, name, lead=lead))
    operator = Operator.AT_MOST if step.extreme is Extreme.LEAST else Operator.AT_LEAST
    numbers = range(1, len(step.candidates) + 1)
    for number in numbers:
        body = Body()
        winner, own = body.fresh("winner"), body.fresh("own")
        body.add(Positive(Atom(f"{MEASURE}_{number}", (winner, own))))
        for rival in numbers:
            if rival != number:
                entity, other = body.fresh("rival"), body.fresh("other")
                body.add(Positive(Atom(f"{MEASURE}_{rival}", (entity, other))))
                body.add(
                    Comparison(operator, own, other),
                    f"{spoken(own)} {_SAID[operator]} {spoken(other)} of {spoken(entity)}",
                )
        lead = f"{spoken(winner)} has the {step.extreme.value} value"
        clauses.append(rule(Atom(head, (winner,)), body, f"{head}_{number}", lead=lead))
    return clauses


def compile_same(predicates: StepPredicates, step: Same, head: str) -> list[Clause]:
    """Give the rules for yes (a common value) and no.

    No is derived only where it follows: from different values of a functional dimension, or, where
    the dimension is closed by a named source, from the absence of a common value.
    """
    yes = Body()
    shared = predicates.answers(step.operands[0], yes)
    for operand in step.operands[1:]:
        predicates.answers(operand, yes, shared)
    clauses = [rule(Atom(head), yes, head, lead=f"Yes, {spoken(shared)} is common to all")]
    pairs = list(combinations(range(len(step.operands)), 2))
    for first, second in pairs:
        suffix = f"_{first + 1}_{second + 1}" if len(pairs) > 1 else ""
        no = Body()
        left = _last_hop(predicates, step.operands[first], no)
        right = _last_hop(predicates, step.operands[second], no)
        if left is None or right is None:
            continue
        lead = f"No, {spoken(left.value)} and {spoken(right.value)} differ"
        if left.dimension.functional and right.dimension.functional:
            no.add(Comparison(Operator.UNEQUAL, left.value, right.value))
        elif left.dimension.closed_by and right.dimension.closed_by:
            both = Body()
            one, other, value = both.fresh("one"), both.fresh("other"), both.fresh("value")
            for hop, subject in ((left, one), (right, other)):
                add_stated(both, hop.dimension, subject, value)
            common = Atom(COMMON + suffix, (one, other))
            clauses.append(rule(common, both, common.predicate, lead="They have a value in common"))
            no.add(
                Absent(Atom(common.predicate, (left.subject, right.subject))),
                f"{spoken(left.subject)} and {spoken(right.subject)} have no value in common",
            )
            lead = "No"
        else:
            continue
        clauses.append(rule(Atom(head, (), negated=True), no, f"not_{head}{suffix}", lead=lead))
    return clauses


@dataclass(frozen=True, slots=True)
class _LastHop:
    """The end of a chain: whose value in which dimension."""

    subject: Term
    dimension: DimensionType
    value: Term


def _last_hop(predicates: StepPredicates, reference: Reference, body: Body) -> _LastHop | None:
    step = predicates.plan.steps[reference.step]
    if not isinstance(step, Meet) or len(step.conditions) != 1:
        return None
    (condition,) = step.conditions
    if not isinstance(condition, Constraint) or condition.hop.direction is Direction.BACKWARD:
        return None
    dimension = predicates.plan.type_of(condition.hop.dimension)
    subject = predicates.operand(condition.operand, body)
    value = body.fresh(dimension.name)
    add_stated(body, dimension, subject, value)
    return _LastHop(subject, dimension, value)


def compile_order(predicates: StepPredicates, step: Order, head: str) -> list[Clause]:
    """Give the rule for yes, with the comparison asked for, and for no, with its opposite."""
    clauses = []
    for operator, negated in ((step.operator, False), (OPPOSITE[step.operator], True)):
        body = Body()
        left = predicates.answers(step.left, body)
        right = predicates.operand(step.right, body)
        body.add(Comparison(operator, left, right))
        clauses.append(
            rule(
                Atom(head, (), negated),
                body,
                f"not_{head}" if negated else head,
                lead=f"{'No' if negated else 'Yes'}, "
                f"{spoken(left)} {_SAID[operator]} {spoken(right)}",
            )
        )
    return clauses


def compile_holds(predicates: StepPredicates, step: Holds, head: str) -> list[Clause]:
    """Give the rule for yes and those for no: a stated denial, or another functional value."""
    yes = Body()
    member = predicates.operand(step.member, yes)
    predicates.answers(step.step, yes, member)
    clauses = [rule(Atom(head), yes, head, lead="Yes")]
    meet = predicates.plan.steps[step.step.step]
    if not isinstance(meet, Meet) or len(meet.conditions) != 1:
        return clauses
    (condition,) = meet.conditions
    if not isinstance(condition, Constraint):
        return clauses
    no_head = Atom(head, (), negated=True)
    dimension = predicates.plan.type_of(condition.hop.dimension)
    denied = Body()
    member = predicates.operand(step.member, denied)
    other = predicates.operand(condition.operand, denied)
    forward = condition.hop.direction is Direction.FORWARD
    subject, value = (other, member) if forward else (member, other)
    if dimension.name not in {each.type.name for each in predicates.plan.definitions}:
        denied.add(
            Positive(Atom(dimension.name, (subject, value), negated=True)),
            f"the {dimension.label} of {spoken(subject)} is stated not to be {spoken(value)}",
        )
        clauses.append(rule(no_head, denied, f"not_{head}_denied", lead="No"))
    if dimension.functional:
        differs = Body()
        member = predicates.operand(step.member, differs)
        other = predicates.operand(condition.operand, differs)
        subject, value = (other, member) if forward else (member, other)
        stated = differs.fresh(dimension.name)
        add_stated(differs, dimension, subject, stated)
        differs.add(Comparison(Operator.UNEQUAL, stated, value))
        clauses.append(rule(no_head, differs, f"not_{head}_other", lead=f"No, not {spoken(value)}"))
    return clauses
