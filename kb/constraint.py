"""What a meet asks for: values to lie at or below, and ranges to lie in; and what cannot be."""

from __future__ import annotations

from dataclasses import dataclass

from .dimension import Dimension, value_label
from .errors import ValueUnreadable
from .quantity import Comparable, Date, Truth, compare
from .statement import Value

Test = tuple[str, Comparable]
"""An operator, one of `=`, `<`, `<=`, `>`, `>=`, and what a value is compared with."""

OPERATORS = ("<=", ">=", "=", "<", ">")


@dataclass(frozen=True, slots=True)
class Constraint:
    """Asks for a value at or below `value` in `dimension`.

    Below a date lie the dates within it; a number or quantity lies below its equals only.
    """

    dimension: str
    value: Value


@dataclass(frozen=True, slots=True)
class Range:
    """Asks for one value in `dimension` that passes every test, by three-valued comparison."""

    dimension: str
    tests: tuple[Test, ...]

    def __post_init__(self) -> None:
        wrong = [operator for operator, _ in self.tests if operator not in OPERATORS]
        if wrong or not self.tests:
            found = repr(wrong[0]) if wrong else "no test"
            raise ValueUnreadable(f"{found} bounds no range; expected {', '.join(OPERATORS)}")

    def __str__(self) -> str:
        return " and ".join(f"{operator} {bound}" for operator, bound in self.tests)

    def truth(self, value: Comparable) -> Truth:
        """Whether a value lies in the range: false if one test is, true if all are."""
        found = {compare(operator, value, bound) for operator, bound in self.tests}
        if Truth.FALSE in found:
            return Truth.FALSE
        return Truth.UNDETERMINED if Truth.UNDETERMINED in found else Truth.TRUE

    def excludes(self, other: Range) -> bool:
        """Whether no single value can lie in both."""
        return any(
            _apart(lower, upper)
            for lows, highs in ((self, other), (other, self))
            for lower in lows.tests
            if lower[0] in ("=", ">", ">=")
            for upper in highs.tests
            if upper[0] in ("=", "<", "<=")
        )


def within(low: Comparable, high: Comparable, *, dimension: str) -> Range:
    """Give the closed range from `low` to `high`; of dates, with all their days."""
    if isinstance(low, Date):
        low = Date(low.first, low.first)
    if isinstance(high, Date):
        high = Date(high.last, high.last)
    return Range(dimension, ((">=", low), ("<=", high)))


def range_of(constraint: Constraint | Range) -> Range | None:
    """Read a constraint on a number, quantity or date as the range it is; None for any other."""
    if isinstance(constraint, Range):
        return constraint
    value = constraint.value
    if isinstance(value, Date):
        return within(value, value, dimension=constraint.dimension)
    if isinstance(value, Comparable):
        return Range(constraint.dimension, (("=", value),))
    return None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two constraints that nothing can satisfy together, and why; localised to a dimension."""

    dimension: str
    left: Value | Range
    right: Value | Range
    reason: str


def _apart(lower: Test, upper: Test) -> bool:
    """Whether nothing is on the far side of both bounds."""
    strict = lower[0] == ">" or upper[0] == "<"
    return compare("<=" if strict else "<", upper[1], lower[1]) is Truth.TRUE


def asked_for(asked: Constraint | Range) -> Value | Range:
    """Give the value a constraint asks for, or the range."""
    return asked.value if isinstance(asked, Constraint) else asked


def label_of(asked: Constraint | Range) -> str:
    """Give the text a constraint is sorted by within its dimension."""
    return value_label(asked.value) if isinstance(asked, Constraint) else str(asked)


def exclusion(
    dimension: Dimension, left: Constraint | Range, right: Constraint | Range
) -> str | None:
    """Say why nothing can satisfy both of two constraints on a dimension; None if it can."""
    if isinstance(left, Constraint) and isinstance(right, Constraint):
        return dimension.conflict(left.value, right.value)
    one, other = range_of(left), range_of(right)
    if dimension.functional and one is not None and other is not None and one.excludes(other):
        return f"{dimension.name} has at most one value"
    return None
