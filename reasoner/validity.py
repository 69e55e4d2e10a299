"""How long a proof holds: the days on which its tests against the day of the request stay true.

A rule may read the day, `valid_on(T)`, and compare it. Where the day goes into tests only, and each
test can change just once as days go by, the first and last day on which it is true are found by
bisection. Everywhere else a proof holds on its own day only.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from kb.quantity import Date, Quantity, Truth

from .arithmetic import Undetermined
from .atom import Constant, Variable
from .bodies import Bindings, compare_literal, value_of
from .clause import (
    Aggregate,
    Clause,
    Comparison,
    Expression,
    Literal,
    Operation,
    Operator,
    Positive,
)
from .magic import (
    Assign,
    Test,
    expression_names,
    inner_names,
    literal_names,
    names_of,
    order_body,
    positive_names,
)

Interval = tuple[datetime.date | None, datetime.date | None]
"""Half-open `[start, end)`; None is unbounded."""

_DAY = datetime.timedelta(days=1)
_FOLLOWING = {
    *("min", "max", "floor", "ceil", "round", "year", "earliest", "latest"),
    *("first_day", "last_day", "add_days", "add_months", "add_years", "+"),
}
"""Operations that grow, or stay, as any of their arguments grows."""
_ELAPSED = {"days", "months", "years"}


def interval_of_instance(
    clause: Clause, bindings: Mapping[str, Constant], day: datetime.date
) -> Interval:
    """Give the days around `day` on which a rule instance that reads the day holds as it does."""
    own: Interval = (day, day + _DAY)
    days = _day_variables(clause)
    if days is None:
        return own
    depends = dict.fromkeys(days, 1)
    tests: list[Comparison] = []
    definitions: list[Assign] = []
    for step in _comparison_steps(clause):
        if isinstance(step, Test):
            if literal_names(step.comparison) & depends.keys():
                tests.append(step.comparison)
        elif expression_names(step.expression) & depends.keys():
            direction = _direction(step.expression, depends, bindings)
            if direction is None:
                return own
            depends[step.variable.name] = direction
            definitions.append(step)
    if names_of(clause.head) & depends.keys() or any(
        not isinstance(literal, Comparison)
        and not _reads_day(literal)
        and _all_names(literal) & depends.keys()
        for literal in clause.body
    ):
        return own
    start: datetime.date | None = None
    end: datetime.date | None = None
    for test in tests:
        left = _direction(test.left, depends, bindings)
        right = _direction(test.right, depends, bindings)
        later = _holds_later(test.operator, left, right)
        if later is None:
            return own

        def holds(at: datetime.date, test: Comparison = test) -> bool:
            changed: Bindings = {**bindings, **dict.fromkeys(days, Date(at, at))}
            for step in definitions:
                value = value_of(step.expression, changed)
                if isinstance(value, Undetermined):
                    return False
                changed[step.variable.name] = value
            return compare_literal(test, changed) is Truth.TRUE

        if later:
            first = _bisect(holds, day, datetime.date.min)
            start = first if start is None or (first is not None and first > start) else start
        else:
            last = _bisect(holds, day, datetime.date.max)
            if last is not None and (end is None or last + _DAY < end):
                end = last + _DAY
    return start, end


def _bisect(
    holds: Callable[[datetime.date], bool], day: datetime.date, limit: datetime.date
) -> datetime.date | None:
    """Give the last day from `day` to `limit` on which a test holds; None if it always does."""
    if holds(limit):
        return None
    near, far = day.toordinal(), limit.toordinal()
    while abs(far - near) > 1:
        middle = (near + far) // 2
        if holds(datetime.date.fromordinal(middle)):
            near = middle
        else:
            far = middle
    return datetime.date.fromordinal(near)


def _reads_day(literal: Literal) -> bool:
    return isinstance(literal, Positive) and literal.atom.signature == ("valid_on", 1)


def _day_variables(clause: Clause) -> set[str] | None:
    """Give the variables that `valid_on` binds; None if it stands with a constant."""
    found: set[str] = set()
    for literal in clause.body:
        if isinstance(literal, Positive) and _reads_day(literal):
            argument = literal.atom.arguments[0]
            if not isinstance(argument, Variable):
                return None
            found.add(argument.name)
    return found


def _all_names(literal: Literal) -> set[str]:
    names = literal_names(literal)
    return names | inner_names(literal) if isinstance(literal, Aggregate) else names


def _comparison_steps(clause: Clause) -> list[Test | Assign]:
    """Give tests and definitions of a body in the order in which they can be computed."""
    bound = set(positive_names(clause.body))
    for literal in clause.body:
        if isinstance(literal, Aggregate):
            bound |= literal_names(literal)
    comparisons = tuple(literal for literal in clause.body if isinstance(literal, Comparison))
    steps = order_body(comparisons, bound, outer=frozenset(names_of(clause.head)))
    return [step for step in steps if isinstance(step, (Test, Assign))]


def _direction(
    expression: Expression, depends: Mapping[str, int], bindings: Mapping[str, Constant]
) -> int | None:
    """Tell whether a value grows (1), shrinks (-1) or stays (0) as days go by; None if unknown."""
    if isinstance(expression, Variable):
        return depends.get(expression.name, 0)
    if not isinstance(expression, Operation):
        return 0
    if not expression_names(expression) & depends.keys():
        return 0
    name, arguments = expression.name, expression.arguments
    inner = [_direction(item, depends, bindings) for item in arguments]
    if name in _FOLLOWING:
        if name == "year" and not _are_exact(arguments, depends, bindings):
            return None
        return _together(inner)
    if name == "-":
        return _together([*inner[:-1], _opposite(inner[-1])])
    if name in _ELAPSED:
        if not _are_exact(arguments, depends, bindings):
            return None
        return _together([_opposite(inner[0]), inner[1]])
    if name in ("*", "/") and inner[1] == 0:
        sign = _sign(arguments[1], bindings)
        return inner[0] if sign == 1 else _opposite(inner[0]) if sign == -1 else None
    if name == "*" and inner[0] == 0:
        sign = _sign(arguments[0], bindings)
        return inner[1] if sign == 1 else _opposite(inner[1]) if sign == -1 else None
    return None


def _together(directions: Iterable[int | None]) -> int | None:
    found = {direction for direction in directions if direction != 0}
    if not found:
        return 0
    return found.pop() if len(found) == 1 else None


def _opposite(direction: int | None) -> int | None:
    return None if direction is None else -direction


def _are_exact(
    arguments: Iterable[Expression], depends: Mapping[str, int], bindings: Mapping[str, Constant]
) -> bool:
    """Whether dates among arguments that do not move are known to the day."""
    for argument in arguments:
        if expression_names(argument) & depends.keys():
            continue
        value = value_of(argument, bindings)
        if isinstance(value, Date) and not value.is_exact:
            return False
    return True


def _sign(expression: Expression, bindings: Mapping[str, Constant]) -> int:
    value = value_of(expression, bindings)
    number = value.magnitude if isinstance(value, Quantity) else value
    return (number > 0) - (number < 0) if isinstance(number, Fraction) else 0


def _holds_later(operator: Operator, left: int | None, right: int | None) -> bool | None:
    """Tell whether a test, once true, stays true as days go by; None if it may change both ways.

    False: it was true before.
    """
    if left is None or right is None:
        return None
    if operator in (Operator.GREATER, Operator.AT_LEAST):
        left, right = right, left
    elif operator not in (Operator.LESS, Operator.AT_MOST):
        return None
    if left <= 0 <= right:
        return True
    return False if right <= 0 <= left else None
