"""Clauses and policies as syntax trees; `policy` reads them, `evaluate` runs them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from .atom import Atom, Constant, Term, Variable, render_term


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


_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
_NOTHING: Mapping[str, Constant] = {}


def bind_term(term: Term, bindings: Mapping[str, Constant]) -> Term:
    """Replace a variable by its value; a variable without one stays."""
    return bindings.get(term.name, term) if isinstance(term, Variable) else term


def bind_atom(atom: Atom, bindings: Mapping[str, Constant]) -> Atom:
    """Replace the bound variables of an atom by their values."""
    return Atom(atom.predicate, tuple(bind_term(a, bindings) for a in atom.arguments), atom.negated)


def render_expression(
    expression: Expression, bindings: Mapping[str, Constant] = _NOTHING, *, level: int = 0
) -> str:
    """Write an expression canonically, with the fewest parentheses.

    `level` is the precedence of the surrounding operation.
    """
    if not isinstance(expression, Operation):
        return render_term(bind_term(expression, bindings))
    name, arguments = expression.name, expression.arguments
    own = _PRECEDENCE.get(name)
    if own is None:
        inner = ", ".join(render_expression(a, bindings) for a in arguments)
        return f"{name}({inner})"
    if len(arguments) == 1:
        return f"{name}{render_expression(arguments[0], bindings, level=3)}"
    left = render_expression(arguments[0], bindings, level=own)
    right = render_expression(arguments[1], bindings, level=own + 1)
    text = f"{left} {name} {right}"
    return f"({text})" if own < level else text


def render_literal(literal: Literal, bindings: Mapping[str, Constant] = _NOTHING) -> str:
    """Write a body literal canonically, its bound variables replaced by their values."""
    match literal:
        case Positive(atom):
            return str(bind_atom(atom, bindings))
        case Absent(atom):
            return f"not {bind_atom(atom, bindings)}"
        case Comparison(operator, left, right):
            texts = (render_expression(left, bindings), render_expression(right, bindings))
            return f"{texts[0]} {operator.value} {texts[1]}"
        case Aggregate(operator, result, function, terms, conditions):
            inner = ", ".join(render_term(bind_term(term, bindings)) for term in terms)
            where = ", ".join(render_literal(condition, bindings) for condition in conditions)
            return (
                f"{render_expression(result, bindings)} {operator.value} "
                f"#{function.value}{{{inner} : {where}}}"
            )


def render_clause(clause: Clause) -> str:
    """Write a clause canonically: `head :- literal, literal.`"""
    if not clause.body:
        return f"{clause.head}."
    return f"{clause.head} :- {', '.join(map(render_literal, clause.body))}."
