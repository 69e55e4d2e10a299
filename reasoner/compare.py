"""Compile compare steps: extremum, sameness, order and membership, as rules (DESIGN 3, Compare).

No comparison is decided here. The evaluator compares with three values, so that an operand without
a value leaves an open requirement, and values that overlap leave the answer undetermined.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations

from .atom import Atom, Term
from .clause import (
    Absent,
    Aggregate,
    AggregateFunction,
    Clause,
    Comparison,
    Operation,
    Operator,
    Positive,
)
from .hop import DimensionType, Direction, ValueKind
from .meet import SAID, Body, StepPredicates, add_stated, add_threshold, kind_of, spoken
from .plan import (
    Condition,
    Constraint,
    Count,
    Extreme,
    Extremum,
    Holds,
    Meet,
    Order,
    Reference,
    Same,
    Superlative,
    Threshold,
    extreme_word,
)

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
    """Give a measure rule per candidate, a rule under which each wins, and rules to refuse it.

    A candidate of several values that both wins and loses by them is in conflict with itself.
    """
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
    best = _best(predicates, step)
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
                    f"{spoken(own)} {SAID[operator]} {spoken(other)} of {spoken(entity)}",
                )
        lead = f"{spoken(winner)} has the {best}"
        clauses.append(rule(Atom(head, (winner,)), body, f"{head}_{number}", lead=lead))
    for number, rival in permutations(numbers, 2):
        body = Body()
        loser, own = body.fresh("loser"), body.fresh("own")
        entity, other = body.fresh("rival"), body.fresh("other")
        body.add(Positive(Atom(f"{MEASURE}_{number}", (loser, own))))
        body.add(Positive(Atom(f"{MEASURE}_{rival}", (entity, other))))
        body.add(
            Comparison(OPPOSITE[operator], own, other),
            f"{spoken(own)} {SAID[OPPOSITE[operator]]} {spoken(other)} of {spoken(entity)}",
        )
        lead = f"{spoken(loser)} has not the {best}"
        name = f"not_{head}_{number}_{rival}"
        clauses.append(rule(Atom(head, (loser,), negated=True), body, name, lead=lead))
    return clauses


def _best(predicates: StepPredicates, step: Extremum) -> str:
    """Say what the winner has: "earliest date of birth"."""
    measure = predicates.plan.steps[step.candidates[0].measure.step]
    last = measure.conditions[0] if isinstance(measure, Meet) else None
    if not isinstance(last, Constraint):
        return f"{step.extreme.value} number"
    label = predicates.plan.type_of(last.hop.dimension).label
    return f"{extreme_word(predicates.plan, step.extreme, step.candidates[0].measure)} {label}"


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
    """Give the rule for yes, with every threshold, and per threshold one for no."""
    yes = Body()
    value = predicates.answers(step.of, yes)
    for threshold in step.thresholds:
        add_threshold(predicates, yes, value, threshold)
    clauses = [rule(Atom(head), yes, head, lead="Yes")]
    for number, threshold in enumerate(step.thresholds, start=1):
        no = Body()
        value = predicates.answers(step.of, no)
        add_threshold(
            predicates, no, value, Threshold(OPPOSITE[threshold.operator], threshold.operand)
        )
        name = f"not_{head}_{number}" if len(step.thresholds) > 1 else f"not_{head}"
        clauses.append(rule(Atom(head, (), negated=True), no, name, lead="No"))
    return clauses


def compile_superlative(predicates: StepPredicates, step: Superlative, head: str) -> list[Clause]:
    """Give the rule for those whose value is the least or greatest of all that are compared."""
    dimension = predicates.plan.type_of(step.dimension)

    def compared(body: Body, subject: str, value: str) -> tuple[Term, Term]:
        if step.of is None:
            who: Term = body.fresh(subject)
        else:
            who = predicates.answers(step.of, body)
        what = body.fresh(value)
        add_stated(body, dimension, who, what)
        return who, what

    function = AggregateFunction.MIN if step.extreme is Extreme.LEAST else AggregateFunction.MAX
    body = Body()
    winner, own = compared(body, "winner", dimension.name)
    first = len(body.literals)
    _, other = compared(body, "other", "other_value")
    conditions = tuple(each for each in body.literals[first:] if not isinstance(each, Aggregate))
    del body.literals[first:]
    del body.sentences[len(body.sentences) - 1 :]
    body.add(
        Aggregate(Operator.EQUAL, own, function, (other,), conditions),
        f"{spoken(own)} is the {step.extreme.value} of all",
    )
    return [rule(Atom(head, (winner,)), body, head, lead=spoken(winner))]


def compile_holds(predicates: StepPredicates, step: Holds, head: str) -> list[Clause]:
    """Give the rule for yes and those for no: a stated denial, or another functional value."""
    meet = predicates.plan.steps[step.step.step]
    last = meet.conditions[-1] if isinstance(meet, Meet) else None
    yes = Body()
    member = predicates.operand(step.member, yes)
    if _is_class(predicates, last):
        value = predicates.answers(step.step, yes)
        yes.add(Positive(Atom("under", (value, member))), kind_of(value, member))
    else:
        predicates.answers(step.step, yes, member)
    clauses = [rule(Atom(head), yes, head, lead="Yes")]
    if not isinstance(meet, Meet) or len(meet.conditions) > 1 or not isinstance(last, Constraint):
        return clauses
    dimension = predicates.plan.type_of(last.hop.dimension)

    def pair(body: Body) -> tuple[Term, Term]:
        """Give subject and value of the question, binding them in a body."""
        one = predicates.operand(step.member, body)
        other = predicates.operand(last.operand, body)
        return (other, one) if last.hop.direction is Direction.FORWARD else (one, other)

    no = Atom(head, (), negated=True)
    if dimension.name not in {each.type.name for each in predicates.plan.definitions}:
        denied = Body()
        subject, value = pair(denied)
        denied.add(
            Positive(Atom(dimension.name, (subject, value), negated=True)),
            f"the {dimension.label} of {spoken(subject)} is stated not to be {spoken(value)}",
        )
        clauses.append(rule(no, denied, f"not_{head}_denied", lead="No"))
    if dimension.functional:
        differs = Body()
        subject, value = pair(differs)
        stated = differs.fresh(dimension.name)
        add_stated(differs, dimension, subject, stated)
        _tell_apart(differs, dimension, stated, value)
        clauses.append(rule(no, differs, f"not_{head}_other", lead=f"No, not {spoken(value)}"))
    return clauses


def _tell_apart(body: Body, dimension: DimensionType, stated: Term, value: Term) -> None:
    """Add that a functional dimension, which has one value, does not have another as well.

    Values of a taxonomy exclude each other if nothing lies under both, entities if they differ and
    no source names them as one, and all others if they compare as different.
    """
    body.add(
        Positive(Atom("functional", (dimension.name,))),
        f"there is one {dimension.label} at a time",
    )
    match dimension.kind:
        case ValueKind.TAXONOMIC:
            body.add(
                Positive(Atom("told_apart", (stated, value))),
                f"nothing lies under both {spoken(stated)} and {spoken(value)}",
            )
        case ValueKind.ENTITY:
            names = [Operation("folded", (name,)) for name in (stated, value)]
            body.add(Comparison(Operator.UNEQUAL, *names))
            body.add(
                Absent(Atom("may_coincide", (stated, value))),
                f"no source names {spoken(stated)} and {spoken(value)} as one",
            )
        case _:
            body.add(Comparison(Operator.UNEQUAL, stated, value))


def _is_class(predicates: StepPredicates, condition: Condition | None) -> bool:
    """Whether a condition yields values of a taxonomic dimension, which lie under classes."""
    return (
        isinstance(condition, Constraint)
        and condition.hop.direction is Direction.FORWARD
        and predicates.plan.type_of(condition.hop.dimension).kind is ValueKind.TAXONOMIC
    )
