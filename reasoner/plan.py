"""Typed plans: chains of meet and compare steps that refer to earlier answers (DESIGN 4, Plan).

A plan is what a question was understood to mean. It holds no answer and no code path of its own:
`compile_plan` turns it into ordinary rules, a goal and facts, and those are proved like any policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kb.quantity import Date, Quantity

from .atom import Constant
from .clause import Operator
from .errors import PlanInvalid
from .hop import Definition, DimensionType, Direction, Hop, ValueKind


@dataclass(frozen=True, slots=True)
class Named:
    """An entity: as the question writes it, and the names it may have in the knowledge base.

    Where `readings` differ from `written`, each is an identity premise of the proof.
    """

    written: str
    readings: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.readings or list(self.readings) != sorted(set(self.readings)):
            raise PlanInvalid(f"the readings of {self.written!r} are not sorted, or there are none")


@dataclass(frozen=True, slots=True)
class Reference:
    """The answers of an earlier step, counted from 0."""

    step: int


@dataclass(frozen=True, slots=True)
class Given:
    """A value the question itself states: a number, a quantity, a date, a text or a class."""

    value: Constant


@dataclass(frozen=True, slots=True)
class Anything:
    """Whatever there is, in `d(_, X)` or `d(X, _)`."""


Operand = Named | Reference | Given | Anything


@dataclass(frozen=True, slots=True)
class Constraint:
    """X such that `d(operand, X)` (forward) or `d(X, operand)` (backward)."""

    hop: Hop
    operand: Operand


@dataclass(frozen=True, slots=True)
class Threshold:
    """A comparison with an operand: `> 5000000 EUR`."""

    operator: Operator
    operand: Reference | Given


@dataclass(frozen=True, slots=True)
class Bound:
    """X with a value of a dimension that passes every threshold."""

    dimension: str
    thresholds: tuple[Threshold, ...]

    def __post_init__(self) -> None:
        if not self.thresholds:
            raise PlanInvalid(f"the bound on {self.dimension!r} has no threshold")


@dataclass(frozen=True, slots=True)
class Exclusion:
    """X other than the operand."""

    operand: Operand


Condition = Constraint | Bound | Exclusion


@dataclass(frozen=True, slots=True)
class Meet:
    """The X that satisfy every condition: complete answer sets, intersected."""

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        if all(isinstance(condition, Exclusion) for condition in self.conditions):
            raise PlanInvalid("a meet step has no condition that yields its answers")


@dataclass(frozen=True, slots=True)
class Count:
    """How many answers an earlier step has; only what a named source is complete for is counted."""

    of: Reference


class Extreme(Enum):
    """Which end of an order is asked for."""

    LEAST = "least"
    GREATEST = "greatest"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity, named or answered by an earlier step, compared by the values of a later one."""

    entity: Named | Reference
    measure: Reference


@dataclass(frozen=True, slots=True)
class Extremum:
    """The candidates whose measure is least or greatest; equal ones are all answers."""

    candidates: tuple[Candidate, ...]
    extreme: Extreme

    def __post_init__(self) -> None:
        if len(self.candidates) < 2:
            raise PlanInvalid("an extremum compares two or more candidates")


@dataclass(frozen=True, slots=True)
class Same:
    """Whether the operands have a value in common: yes or no."""

    operands: tuple[Reference, ...]

    def __post_init__(self) -> None:
        if len(self.operands) < 2:
            raise PlanInvalid("a comparison for sameness needs two or more operands")


@dataclass(frozen=True, slots=True)
class Order:
    """Whether the values of a step pass every threshold: yes or no."""

    of: Reference
    thresholds: tuple[Threshold, ...]

    def __post_init__(self) -> None:
        if not self.thresholds:
            raise PlanInvalid("a comparison has no threshold")


@dataclass(frozen=True, slots=True)
class Superlative:
    """Those among the answers of a step, or among all, whose value in a dimension is extreme.

    Only where a named source is complete for everything that is compared.
    """

    of: Reference | None
    dimension: str
    extreme: Extreme


@dataclass(frozen=True, slots=True)
class Holds:
    """Whether the member is one of the values of an earlier step: yes or no."""

    member: Named | Given
    step: Reference


Step = Meet | Count | Extremum | Superlative | Same | Order | Holds


class Period(Enum):
    """Which statements a question is about: those valid on the asked day, or of any time."""

    VALID_ON = "valid_on"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Plan:
    """A question understood: steps in order, the last one answers.

    `dimensions` are the stored dimensions used and `definitions` the derived ones, both by name.
    `notes` tell people what was chosen for them or is not known, such as the readings of a name.
    """

    question: str
    steps: tuple[Step, ...]
    dimensions: tuple[DimensionType, ...]
    definitions: tuple[Definition, ...] = ()
    period: Period = Period.VALID_ON
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.steps:
            raise PlanInvalid("a plan has at least one step")
        for index, step in enumerate(self.steps):
            for operand in operands_of(step):
                if isinstance(operand, Reference) and not 0 <= operand.step < index:
                    raise PlanInvalid(
                        f"step {index} refers to step {operand.step}; expected an earlier step"
                    )
        if problems := type_problems(self):
            raise PlanInvalid("; ".join(problems))

    def type_of(self, dimension: str) -> DimensionType:
        """Give the type of a stored or derived dimension the plan declares."""
        for definition in self.definitions:
            if definition.type.name == dimension:
                return definition.type
        for known in self.dimensions:
            if known.name == dimension:
                return known
        raise PlanInvalid(f"the plan uses {dimension!r}, which it does not declare")

    @property
    def understood_as(self) -> str:
        """Say in words what the plan asks for."""
        from .plan_words import understood_as

        return understood_as(self)

    @property
    def is_yes_or_no(self) -> bool:
        """Whether the answer is yes or no rather than a set of values."""
        return isinstance(self.steps[-1], Same | Order | Holds)


def operands_of(step: Step) -> tuple[Operand, ...]:
    """Give the operands of a step, in order."""
    match step:
        case Meet(conditions):
            return tuple(operand for condition in conditions for operand in _operands(condition))
        case Extremum(candidates):
            return tuple(
                operand
                for candidate in candidates
                for operand in (candidate.entity, candidate.measure)
            )
        case Count(of):
            return (of,)
        case Same(operands):
            return operands
        case Order(of, thresholds):
            return (of, *(threshold.operand for threshold in thresholds))
        case Superlative(among):
            return () if among is None else (among,)
        case Holds(member, reference):
            return (member, reference)


def _operands(condition: Condition) -> tuple[Operand, ...]:
    if isinstance(condition, Bound):
        return tuple(threshold.operand for threshold in condition.thresholds)
    return (condition.operand,)


def value_kind(plan: Plan, reference: Reference) -> ValueKind:
    """Give the kind of the values a step answers with."""
    step = plan.steps[reference.step]
    if isinstance(step, Meet):
        for condition in step.conditions:
            if isinstance(condition, Constraint):
                if condition.hop.direction is Direction.FORWARD:
                    return plan.type_of(condition.hop.dimension).kind
                return ValueKind.ENTITY
    if isinstance(step, Count):
        return ValueKind.NUMBER
    return ValueKind.ENTITY


def extreme_word(plan: Plan, extreme: Extreme, measure: Reference) -> str:
    """Name an end of the order of a step's values: `earliest`, `greatest`."""
    if value_kind(plan, measure) is ValueKind.TIME:
        return "earliest" if extreme is Extreme.LEAST else "latest"
    return extreme.value


def type_problems(plan: Plan) -> tuple[str, ...]:
    """List what does not fit: unknown dimensions, values without order or of the wrong kind."""
    problems: list[str] = []
    for definition in plan.definitions:
        for name in definition.uses:
            if name not in {known.name for known in plan.dimensions}:
                problems.append(
                    f"the derived dimension {definition.type.name!r} uses {name!r}, "
                    "which the plan does not declare"
                )
    for index, step in enumerate(plan.steps):
        try:
            problems += _step_problems(plan, step)
        except PlanInvalid as error:
            problems.append(f"step {index}: {error}")
    return tuple(dict.fromkeys(problems))


def _step_problems(plan: Plan, step: Step) -> list[str]:
    problems: list[str] = []
    match step:
        case Meet(conditions):
            for condition in conditions:
                if isinstance(condition, Bound):
                    bounded = plan.type_of(condition.dimension)
                    if not bounded.kind.is_ordered and _needs_order(condition.thresholds):
                        problems.append(f"{bounded.label} has no order to compare by")
                if isinstance(condition, Constraint):
                    problems += _constraint_problems(plan, condition)
        case Extremum(candidates):
            for candidate in candidates:
                if not value_kind(plan, candidate.measure).is_ordered:
                    problems.append("candidates are compared by values that have no order")
                    break
        case Order(of, thresholds):
            if _needs_order(thresholds) and not value_kind(plan, of).is_ordered:
                problems.append("the compared values have no order")
        case Superlative(of, dimension):
            compared = plan.type_of(dimension)
            if not compared.kind.is_ordered:
                problems.append(f"{compared.label} has no order to compare by")
            behind = () if of is None else _dimensions_behind(plan, of)
            problems += _not_closed(plan, (*behind, dimension), "compared with all others")
        case Count(of):
            problems += _not_closed(plan, _dimensions_behind(plan, of), "counted")
        case Same() | Holds():
            pass
    return problems


def _needs_order(thresholds: tuple[Threshold, ...]) -> bool:
    return any(
        threshold.operator not in (Operator.EQUAL, Operator.UNEQUAL) for threshold in thresholds
    )


def _not_closed(plan: Plan, dimensions: tuple[str, ...], verb: str) -> list[str]:
    return [
        f"what has a {plan.type_of(name).label} cannot be {verb}, "
        "because no source is declared complete for it"
        for name in dimensions
        if not plan.type_of(name).closed_by
    ]


def _dimensions_behind(plan: Plan, reference: Reference) -> tuple[str, ...]:
    """Give the dimensions a step reads, by itself and through earlier steps."""
    found: dict[str, None] = {}
    step = plan.steps[reference.step]
    if isinstance(step, Meet):
        for condition in step.conditions:
            if isinstance(condition, Constraint):
                found[condition.hop.dimension] = None
            if isinstance(condition, Bound):
                found[condition.dimension] = None
    for operand in operands_of(step):
        if isinstance(operand, Reference):
            found.update(dict.fromkeys(_dimensions_behind(plan, operand)))
    return tuple(found)


def _constraint_problems(plan: Plan, constraint: Constraint) -> list[str]:
    used = plan.type_of(constraint.hop.dimension)
    forward = constraint.hop.direction is Direction.FORWARD
    operand = constraint.operand
    if isinstance(operand, Given) and forward:
        return [f"a stated value has no {used.label}; only an entity has"]
    if isinstance(operand, Given) and not forward:
        expected: dict[ValueKind, type | tuple[type, ...]] = {ValueKind.TIME: Date}
        expected[ValueKind.QUANTITY] = Quantity
        wanted = expected.get(used.kind)
        if wanted is not None and not isinstance(operand.value, wanted):
            return [f"{used.label} is no {type(operand.value).__name__}"]
    if isinstance(operand, Reference) and forward:
        kind = value_kind(plan, operand)
        if kind.is_ordered:
            return [f"a {kind.value} has no {used.label}; only an entity has"]
    return []
