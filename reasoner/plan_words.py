"""Say in words what a plan asks for, so that people can see how a question was understood."""

from __future__ import annotations

from .atom import render_term
from .clause import Operator
from .hop import Direction
from .plan import (
    Bound,
    Constraint,
    Count,
    Exclusion,
    Extremum,
    Given,
    Holds,
    Meet,
    Named,
    Operand,
    Order,
    Plan,
    Reference,
    Same,
)

_COMPARED = {
    Operator.EQUAL: "equal to",
    Operator.UNEQUAL: "other than",
    Operator.LESS: "less than",
    Operator.AT_MOST: "at most",
    Operator.GREATER: "more than",
    Operator.AT_LEAST: "at least",
}


def understood_as(plan: Plan) -> str:
    """Give one sentence for a plan, naming every entity as the knowledge base does."""
    last = plan.steps[-1]
    match last:
        case Meet() | Count():
            return _step(plan, Reference(len(plan.steps) - 1))
        case Extremum(candidates, extreme):
            parts = [
                f"{_operand(plan, each.entity)} by {_step(plan, each.measure)}"
                for each in candidates
            ]
            return f"which has the {extreme.value} value: {'; '.join(parts)}"
        case Same(operands):
            return "whether these have a value in common: " + "; ".join(
                _step(plan, operand) for operand in operands
            )
        case Order(left, operator, right):
            compared = _COMPARED[operator]
            return f"whether {_step(plan, left)} is {compared} {_operand(plan, right)}"
        case Holds(member, step):
            return f"whether {_operand(plan, member)} is {_step(plan, step)}"


def _operand(plan: Plan, operand: Operand) -> str:
    match operand:
        case Named(_, readings):
            return " or ".join(f"“{reading}”" for reading in readings)
        case Given(value):
            return value if isinstance(value, str) else render_term(value)
        case Reference():
            return _step(plan, operand)


def _step(plan: Plan, reference: Reference) -> str:
    step = plan.steps[reference.step]
    if isinstance(step, Count):
        return f"the number of: {_step(plan, step.of)}"
    if not isinstance(step, Meet):
        return f"the answer of step {reference.step + 1}"
    said: list[str] = []
    for condition in step.conditions:
        other = _operand(plan, condition.operand)
        match condition:
            case Constraint(hop):
                label = plan.type_of(hop.dimension).label
                if hop.direction is Direction.FORWARD:
                    said.append(f"the {label} of {other}")
                else:
                    said.append(f"what has as {label} {other}")
            case Bound(dimension, operator):
                label = plan.type_of(dimension).label
                said.append(f"with a {label} {_COMPARED[operator]} {other}")
            case Exclusion():
                said.append(f"other than {other}")
    return ", ".join(said)
