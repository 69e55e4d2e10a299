"""Plain bottom-up evaluation of a policy: all instances of all rules, with no goal and no index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kb.quantity import Truth
from reasoner.arithmetic import aggregate
from reasoner.atom import Atom, Constant, Variable
from reasoner.clause import (
    Absent,
    Aggregate,
    Clause,
    Comparison,
    Literal,
    Operation,
    Positive,
    bind_atom,
)
from reasoner.comparison import compare

Bindings = dict[str, Constant]
Found = tuple[str, tuple[tuple[str, Constant], ...], Atom, tuple[Atom, ...]]
"""Rule id, bindings of the variables of head and positive atoms, head, positive premises."""


def _match(pattern: Atom, atom: Atom, bindings: Bindings) -> Bindings | None:
    if pattern.signature != atom.signature:
        return None
    grown = dict(bindings)
    for term, value in zip(pattern.arguments, atom.arguments, strict=True):
        assert not isinstance(value, Variable)
        if isinstance(term, Variable):
            if grown.setdefault(term.name, value) != value:
                return None
        elif term != value:
            return None
    return grown


def _value(expression: object, bindings: Bindings) -> Constant:
    assert not isinstance(expression, Operation)
    if isinstance(expression, Variable):
        return bindings[expression.name]
    return expression  # type: ignore[return-value]


def _holds(literal: Literal, atoms: set[Atom], bindings: Bindings) -> bool:
    match literal:
        case Absent(atom):
            return not any(_match(atom, other, bindings) is not None for other in atoms)
        case Comparison(operator, left, right):
            truth = compare(operator, _value(left, bindings), _value(right, bindings))
            return truth is Truth.TRUE
        case Aggregate():
            rows = {
                tuple(_value(term, found) for term in literal.terms)
                for found in _solutions(literal.conditions, atoms, bindings)
            }
            result = aggregate(literal.function, sorted(rows, key=str))
            found_value = _value(literal.result, bindings)
            return compare(literal.operator, found_value, result) is Truth.TRUE  # type: ignore[arg-type]
        case Positive():
            raise AssertionError("a positive literal is matched")


def _solutions(body: Sequence[Literal], atoms: set[Atom], bindings: Bindings) -> Iterator[Bindings]:
    positive = [literal for literal in body if isinstance(literal, Positive)]
    others = [literal for literal in body if not isinstance(literal, Positive)]
    found = [bindings]
    for literal in positive:
        found = [
            grown
            for one in found
            for atom in atoms
            if (grown := _match(literal.atom, atom, one)) is not None
        ]
    for one in found:
        if all(_holds(literal, atoms, one) for literal in others):
            yield one


def all_instances(
    clauses: Iterable[Clause], facts: Iterable[Atom], strata: Sequence[str]
) -> set[Found]:
    """Evaluate strata (predicate names) in order to their fixed points."""
    atoms = set(facts)
    instances: set[Found] = set()
    for name in strata:
        rules = [clause for clause in clauses if clause.head.predicate == name]
        while True:
            new: set[Found] = set()
            for clause in rules:
                for bindings in list(_solutions(clause.body, atoms, {})):
                    head = bind_atom(clause.head, bindings)
                    premises = tuple(
                        bind_atom(literal.atom, bindings)
                        for literal in clause.body
                        if isinstance(literal, Positive)
                    )
                    new.add((clause.id, tuple(sorted(bindings.items())), head, premises))
            if new <= instances:
                break
            instances |= new
            atoms |= {head for _, _, head, _ in new}
    return instances


def backward_slice(instances: Iterable[Found], goals: Iterable[Atom]) -> set[Found]:
    """Give the instances from which goals can be reached."""
    by_head: dict[Atom, list[Found]] = {}
    for instance in instances:
        by_head.setdefault(instance[2], []).append(instance)
    needed: set[Found] = set()
    waiting = list(goals)
    seen = set(waiting)
    while waiting:
        for instance in by_head.get(waiting.pop(), ()):
            needed.add(instance)
            fresh = set(instance[3]) - seen
            seen |= fresh
            waiting += fresh
    return needed
