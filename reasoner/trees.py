"""Clauses as syntax trees, as certificates hold them beside their text."""

from __future__ import annotations

from typing import Any

from kb.quantity import Date, Quantity, format_number

from .atom import Atom, Symbol, Variable
from .clause import (
    Absent,
    Aggregate,
    Clause,
    Comparison,
    Expression,
    Literal,
    Operation,
    Positive,
)

Json = dict[str, Any]
"""Plain JSON of the format; its shape is the schema's."""


def expression_tree(expression: Expression) -> Json:
    """Give a term or an operation as syntax tree."""
    match expression:
        case Variable(name):
            return {"variable": name}
        case Symbol(name):
            return {"symbol": name}
        case str():
            return {"text": expression}
        case Date():
            return {"date": str(expression)}
        case Quantity():
            return {"quantity": str(expression)}
        case Operation(name, arguments):
            return {"operation": name, "arguments": [expression_tree(item) for item in arguments]}
        case number:
            return {"number": format_number(number)}


def atom_tree(atom: Atom) -> Json:
    """Give an atom as syntax tree."""
    return {
        "predicate": atom.predicate,
        "negated": atom.negated,
        "arguments": [expression_tree(item) for item in atom.arguments],
    }


def literal_tree(literal: Literal) -> Json:
    """Give a body literal as syntax tree."""
    match literal:
        case Positive(atom):
            return {"positive": atom_tree(atom)}
        case Absent(atom):
            return {"absent": atom_tree(atom)}
        case Comparison(operator, left, right):
            return {
                "comparison": {
                    "operator": operator.value,
                    "left": expression_tree(left),
                    "right": expression_tree(right),
                }
            }
        case Aggregate(operator, result, function, terms, conditions):
            return {
                "aggregate": {
                    "operator": operator.value,
                    "result": expression_tree(result),
                    "function": function.value,
                    "terms": [expression_tree(item) for item in terms],
                    "conditions": [literal_tree(item) for item in conditions],
                }
            }


def clause_tree(clause: Clause) -> Json:
    """Give a clause as syntax tree."""
    return {"head": atom_tree(clause.head), "body": [literal_tree(item) for item in clause.body]}
