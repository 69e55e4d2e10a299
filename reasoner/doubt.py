"""Says why a test came out undetermined, or a definition gave no value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .arithmetic import Undetermined
from .atom import Constant, render_term
from .bodies import value_of
from .clause import Clause, Comparison, render_literal
from .comparison import UNKNOWN
from .magic import expression_names
from .slice import Instance


def why_undetermined(instance: Instance, text: str, clauses: Iterable[Clause]) -> str:
    """Say why a test of a rule instance, given by its text, cannot be decided."""
    bindings = {name: value for name, value in instance.bindings if value != UNKNOWN}
    for clause in clauses:
        if clause.id != instance.rule_id:
            continue
        for literal in clause.body:
            if isinstance(literal, Comparison) and render_literal(literal, bindings) == text:
                return doubt_about(literal, bindings)
    return "what it is computed from is in doubt"


def doubt_about(comparison: Comparison, bindings: Mapping[str, Constant]) -> str:
    """Say why a comparison with such values cannot be decided, or what has no value in it."""
    values = []
    for side in (comparison.left, comparison.right):
        if expression_names(side) <= bindings.keys():
            value = value_of(side, bindings)
            if isinstance(value, Undetermined):
                return value.reason
            values.append(render_term(value))
    return f"{' and '.join(values)} overlap, or have no common unit"
