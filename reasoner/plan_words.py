"""Say in words what a plan asks for, so that people can see how a question was understood."""

from __future__ import annotations

from .atom import Constant, Symbol
from .clause import Operator
from .hop import Direction, ValueKind
from .plan import (
    Anything,
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
    Superlative,
    Threshold,
    extreme_word,
    value_kind,
)

_COMPARED = {
    Operator.EQUAL: "equal to",
    Operator.UNEQUAL: "other than",
    Operator.LESS: "less than",
    Operator.AT_MOST: "at most",
    Operator.GREATER: "more than",
    Operator.AT_LEAST: "at least",
}
_DATED = _COMPARED | {
    Operator.LESS: "before",
    Operator.AT_MOST: "not after",
    Operator.GREATER: "after",
    Operator.AT_LEAST: "not before",
}
_IT = "it"


def understood_as(plan: Plan) -> str:
    """Give one sentence for a plan, naming every entity as the knowledge base does.

    What was chosen for the asker or is not known follows in parentheses.
    """
    return "".join([_Words(plan, None).sentence(), *(f" ({note})" for note in plan.notes)])


class _Words:
    """Speaks about one plan; `it` is an operand that is spoken of as "it"."""

    def __init__(self, plan: Plan, it: Operand | None) -> None:
        self.plan = plan
        self.it = it

    def sentence(self) -> str:
        last = self.plan.steps[-1]
        match last:
            case Meet() | Count():
                return self.step(Reference(len(self.plan.steps) - 1))
            case Extremum(candidates, extreme):
                who = [self.operand(each.entity) for each in candidates]
                said = {_Words(self.plan, each.entity).step(each.measure) for each in candidates}
                if len(said) == 1:
                    end = extreme_word(self.plan, extreme, candidates[0].measure)
                    return f"which of {_and(who)} has the {end} value of: {said.pop()}"
                by = (
                    f"{name} by {self.step(each.measure)}"
                    for name, each in zip(who, candidates, strict=True)
                )
                return f"which has the {extreme.value} value: {'; '.join(by)}"
            case Superlative(among, dimension, extreme):
                label = self.plan.type_of(dimension).label
                whom = "" if among is None else f" among {self.step(among)}"
                return f"what has the {extreme.value} {label}{whom}"
            case Same(operands):
                roots = [_root(self.plan, operand) for operand in operands]
                said = {
                    _Words(self.plan, root).step(operand)
                    for root, operand in zip(roots, operands, strict=True)
                }
                if len(said) == 1 and None not in roots:
                    who = [self.operand(root) for root in roots if root is not None]
                    return f"whether {_and(who)} have in common: {said.pop()}"
                whole = "; ".join(self.step(operand) for operand in operands)
                return f"whether these have a value in common: {whole}"
            case Order(of, thresholds):
                bounds = self.thresholds(thresholds, value_kind(self.plan, of))
                return f"whether {self.step(of)} is {bounds}"
            case Holds(member, step):
                return f"whether {self.operand(member)} is {self.step(step)}"

    def operand(self, operand: Operand) -> str:
        if self.it is not None and operand == self.it:
            return _IT
        match operand:
            case Named(_, readings):
                return " or ".join(f"“{reading}”" for reading in readings)
            case Given(value):
                return _value(value)
            case Anything():
                return "anything"
            case Reference():
                return self.step(operand)

    def step(self, reference: Reference) -> str:
        if self.it is not None and reference == self.it:
            return _IT
        step = self.plan.steps[reference.step]
        if isinstance(step, Count):
            return f"the number of: {self.step(step.of)}"
        if not isinstance(step, Meet):
            return f"the answer of step {reference.step + 1}"
        said: list[str] = []
        whose: list[str] = []
        for condition in step.conditions:
            match condition:
                case Constraint(hop, operand):
                    label = self.plan.type_of(hop.dimension).label
                    if hop.direction is Direction.FORWARD:
                        said.append(f"the {label} of {self.operand(operand)}")
                    else:
                        whose.append(f"whose {label} is {self.operand(operand)}")
                case Bound(dimension, thresholds):
                    used = self.plan.type_of(dimension)
                    bounds = self.thresholds(thresholds, used.kind)
                    whose.append(f"whose {used.label} is {bounds}")
                case Exclusion():
                    pass
        if whose:
            said.append(f"that {' and '.join(whose)}")
        if len(said) > 1:
            said = [f"what is both {' and '.join(said)}"]
        said += (
            f"other than {self.operand(condition.operand)}"
            for condition in step.conditions
            if isinstance(condition, Exclusion)
        )
        return ", ".join(said)

    def thresholds(self, thresholds: tuple[Threshold, ...], kind: ValueKind) -> str:
        words = _DATED if kind is ValueKind.TIME else _COMPARED
        return " and ".join(
            f"{words[each.operator]} {self.operand(each.operand)}" for each in thresholds
        )


def _root(plan: Plan, operand: Operand) -> Operand | None:
    """Give the one named entity a chain starts from; None where it has several or none."""
    while isinstance(operand, Reference):
        step = plan.steps[operand.step]
        if not isinstance(step, Meet) or len(step.conditions) != 1:
            return None
        condition = step.conditions[0]
        if not isinstance(condition, Constraint):
            return None
        operand = condition.operand
    return operand


def _and(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


def _value(value: Constant) -> str:
    return value.name if isinstance(value, Symbol) else str(value)
