"""A small checker of a slice's calls: every sub-call covered, every head among the answers.

It takes literals in any order in which the next call is covered, which suffices: if some order of
calls is covered, then after any prefix of it, and more, its next call still is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kb.quantity import Truth
from reasoner.arithmetic import aggregate
from reasoner.atom import Atom, Constant, Variable
from reasoner.clause import (
    Absent,
    Aggregate,
    Clause,
    Comparison,
    Literal,
    Positive,
    bind_atom,
    bind_term,
    variables_of,
)
from reasoner.comparison import compare
from reasoner.slice import Call

Bindings = dict[str, Constant]


def _covers(pattern: Atom, call: Atom) -> bool:
    return pattern.signature == call.signature and all(
        isinstance(mine, Variable) or mine == theirs
        for mine, theirs in zip(pattern.arguments, call.arguments, strict=True)
    )


def _match(call: Atom, answer: Atom, bindings: Bindings) -> Bindings | None:
    grown = dict(bindings)
    for term, value in zip(call.arguments, answer.arguments, strict=True):
        assert not isinstance(value, Variable)
        if isinstance(term, Variable):
            if grown.setdefault(term.name, value) != value:
                return None
        elif term != value:
            return None
    return grown


def _answers(atom: Atom, bindings: Bindings, calls: Sequence[Call]) -> list[Bindings] | None:
    """Give the solutions of a covered call; None if nothing covers it."""
    pattern = bind_atom(atom, bindings)
    covering = [call for call in calls if _covers(call.pattern, pattern)]
    if not covering:
        return None
    return [
        grown
        for answer in covering[0].answers
        if (grown := _match(pattern, answer, bindings)) is not None
    ]


def _compare(literal: Comparison, bindings: Bindings) -> bool:
    left, right = (bind_term(side, bindings) for side in (literal.left, literal.right))  # type: ignore[arg-type]
    assert not isinstance(left, Variable)
    assert not isinstance(right, Variable)
    return compare(literal.operator, left, right) is Truth.TRUE


def _step(literal: Literal, bindings: Bindings, calls: Sequence[Call]) -> list[Bindings] | None:
    match literal:
        case Positive(atom):
            return _answers(atom, bindings, calls)
        case Absent(atom):
            free = [v for a in atom.arguments for v in variables_of(a) if v.name not in bindings]
            if any(not v.name.startswith("_") for v in free):
                return None
            found = _answers(atom, bindings, calls)
            return None if found is None else ([] if found else [bindings])
        case Comparison():
            names = {v.name for s in (literal.left, literal.right) for v in variables_of(s)}
            if not names <= set(bindings):
                return None
            return [bindings] if _compare(literal, bindings) else []
        case Aggregate():
            try:
                rows = {
                    tuple(bind_term(term, found) for term in literal.terms)
                    for found in solutions(literal.conditions, bindings, calls)
                }
            except LookupError:
                return None
            result = aggregate(literal.function, sorted(rows, key=str))  # type: ignore[arg-type]
            truth = compare(literal.operator, literal.result, result)  # type: ignore[arg-type]
            return [bindings] if truth is Truth.TRUE else []


def solutions(
    body: Sequence[Literal], bindings: Bindings, calls: Sequence[Call]
) -> Iterator[Bindings]:
    """Enumerate a body over answers. Raises LookupError where no remaining literal is covered."""
    if not body:
        yield bindings
        return
    for at, literal in enumerate(body):
        found = _step(literal, bindings, calls)
        if found is not None:
            rest = (*body[:at], *body[at + 1 :])
            for grown in found:
                yield from solutions(rest, grown, calls)
            return
    raise LookupError(f"nothing covers {body} under {bindings}")


def check_calls(clause: Clause, demand: Atom, calls: Sequence[Call]) -> Iterator[Atom]:
    """Give the heads of a clause that match a demand."""
    if clause.head.signature != demand.signature:
        return
    bindings: Bindings = {}
    for term, value in zip(clause.head.arguments, demand.arguments, strict=True):
        if isinstance(value, Variable):
            continue
        if isinstance(term, Variable):
            if bindings.setdefault(term.name, value) != value:
                return
        elif term != value:
            return
    for found in solutions(clause.body, bindings, calls):
        yield bind_atom(clause.head, found)
