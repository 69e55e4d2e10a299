"""Clauses and policies as syntax trees; `policy` reads them, `evaluate` runs them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from enum import Enum

from .atom import Atom, Term, Variable


class Operator(Enum):
    """Comparison operators."""

    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True)
class Operation:
    """Exact arithmetic or a documented function: `+ - * /`, `min`, `max`, `year`, `days`, ..."""

    name: str
    arguments: tuple[Expression, ...]


Expression = Term | Operation


@dataclass(frozen=True, slots=True)
class Positive:
    """A body atom that must be derived (its own strong negation sign included)."""

    atom: Atom


@dataclass(frozen=True, slots=True)
class Absent:
    """`not p(..)`: negation as failure over a closed predicate."""

    atom: Atom


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right`; with `=` and one unbound variable side, an assignment."""

    operator: Operator
    left: Expression
    right: Expression


class AggregateFunction(Enum):
    """Aggregates over closed predicates, over distinct tuples."""

    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`result op #f{ terms : conditions }`; the first term is what is summed or compared."""

    operator: Operator
    result: Expression
    function: AggregateFunction
    terms: tuple[Term, ...]
    conditions: tuple[Positive | Absent | Comparison, ...]


Literal = Positive | Absent | Comparison | Aggregate


@dataclass(frozen=True, slots=True)
class Clause:
    """One rule with where it comes from. `line` and `column` are 1-based, in code points."""

    id: str
    head: Atom
    body: tuple[Literal, ...]
    text: str
    cite: str = ""
    says: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class ClosedDeclaration:
    """`closed(p/n, "source").`: the named source is complete for stored predicate p/n."""

    predicate: str
    arity: int
    source: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy: header, declarations and clauses, in source order.

    `digest` is the SHA-256 of the canonical policy text; `effective` is half-open `[start, end)`.
    `functional` holds dimension names; `disjoint` pairs of class labels; `precedence` orders kinds
    of sources, the stronger first.
    """

    id: str
    version: str
    effective: tuple[datetime.date | None, datetime.date | None]
    clauses: tuple[Clause, ...]
    closed: tuple[ClosedDeclaration, ...] = ()
    functional: tuple[str, ...] = ()
    disjoint: tuple[tuple[str, str], ...] = ()
    precedence: tuple[tuple[str, str], ...] = ()
    text: str = ""
    digest: str = ""


def variables_of(expression: Expression) -> tuple[Variable, ...]:
    """Give the variables of an expression, in order of first occurrence."""
    if isinstance(expression, Variable):
        return (expression,)
    if isinstance(expression, Operation):
        found: dict[Variable, None] = {}
        for argument in expression.arguments:
            found.update(dict.fromkeys(variables_of(argument)))
        return tuple(found)
    return ()
