"""Walks rule bodies over calls with complete answers: what a witness lists, and what is missing.

This is the engine's side of what the checker does again by itself: every way a body can hold, in
the order in which the evaluator makes its calls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kb.quantity import Truth

from . import arithmetic
from .arithmetic import Result, Undetermined
from .atom import Atom, Constant, Variable, render_term
from .clause import Aggregate, Clause, Comparison, Expression, Operation, bind_atom
from .comparison import UNKNOWN, compare
from .facts import Signature
from .magic import (
    Assign,
    Collect,
    Node,
    Read,
    Refute,
    Step,
    Test,
    literal_names,
    names_of,
    order_body,
    plan_rule,
)
from .slice import Call

Bindings = dict[str, Constant]


def value_of(expression: Expression, bindings: Mapping[str, Constant]) -> Result:
    """Evaluate an expression whose variables are bound."""
    match expression:
        case Operation(name, arguments):
            return arithmetic.apply(name, [value_of(item, bindings) for item in arguments])
        case Variable(name):
            return bindings[name]
        case constant:
            return constant


def compare_literal(
    comparison: Comparison, bindings: Mapping[str, Constant], *, defines: bool = False
) -> Truth:
    """Judge a comparison whose variables are bound; a definition is true of the same value."""
    left, right = value_of(comparison.left, bindings), value_of(comparison.right, bindings)
    if (
        isinstance(left, Undetermined)
        or isinstance(right, Undetermined)
        or UNKNOWN in (left, right)
    ):
        return Truth.UNDETERMINED
    if defines and left == right:
        return Truth.TRUE
    return compare(comparison.operator, left, right)


def unify_head(head: Atom, pattern: Atom) -> Bindings | None:
    """Bind the variables of a head to the constants of a call; None where they disagree."""
    bindings: Bindings = {}
    for own, given in zip(head.arguments, pattern.arguments, strict=True):
        if isinstance(given, Variable):
            continue
        if isinstance(own, Variable):
            if bindings.setdefault(own.name, given) != given:
                return None
        elif own != given:
            return None
    return bindings


def match_row(atom: Atom, row: Atom, bindings: Bindings) -> Bindings | None:
    """Bind the variables of an atom to a row; None where they disagree."""
    extended = dict(bindings)
    for own, given in zip(atom.arguments, row.arguments, strict=True):
        assert not isinstance(given, Variable), "rows are ground"
        if isinstance(own, Variable):
            if extended.setdefault(own.name, given) != given:
                return None
        elif own != given:
            return None
    return extended


def without_statement(atom: Atom) -> Atom:
    """Give `d(S, V)` for `d(S, V, "st:...")`, else the atom itself."""
    if len(atom.arguments) == 3:
        last = atom.arguments[2]
        if isinstance(last, str) and last.startswith("st:"):
            return Atom(atom.predicate, atom.arguments[:2], atom.negated)
    return atom


def bound_positions(atom: Atom) -> tuple[int, ...]:
    """Give the positions that hold constants."""
    return tuple(
        at for at, argument in enumerate(atom.arguments) if not isinstance(argument, Variable)
    )


@lru_cache(maxsize=4096)
def planned(clause: Clause, bound: tuple[int, ...]) -> tuple[Step, ...]:
    """Order a body for a call that knows the given positions of the head."""
    if not clause.body:
        return ()
    (plan,) = plan_rule(0, clause, Node(clause.head.signature, bound))
    return plan.steps


class NotCovered(Exception):
    """A call that no call of the slice covers: the slice was cut."""

    def __init__(self, pattern: Atom) -> None:
        super().__init__(str(pattern))
        self.pattern = pattern


_Pair = list[Call | None]
"""The demand and the lookup with one pattern."""


@dataclass(slots=True)
class Answers:
    """The calls of a slice, found by what they cover.

    Predicates with rules and facts have a demand and a lookup with one pattern; both are listed,
    and the demand answers for both. `used` collects the calls that were read. What rows support
    that are `contested` (in their two-place form) is possible; nothing is absent because of them.
    Where entities are `renamed`, aggregates read the other names of what they count.
    """

    demands: Sequence[Call]
    lookups: Sequence[Call]
    uncertain: Collection[Atom] = ()
    contested: Collection[Atom] = ()
    renamed: bool = False
    used: dict[tuple[bool, Atom], Call] = field(default_factory=dict)
    _calls: dict[Signature, dict[tuple[int, ...], dict[tuple[Constant, ...], _Pair]]] = field(
        default_factory=dict
    )
    _indexes: dict[tuple[bool, Atom, tuple[int, ...]], dict[tuple[object, ...], list[Atom]]] = (
        field(default_factory=dict)
    )

    def __post_init__(self) -> None:
        self.extend(self.demands, self.lookups)

    def extend(self, demands: Iterable[Call], lookups: Iterable[Call]) -> None:
        """Take in further calls; those that are there already are passed over."""
        widened: set[Signature] = set()
        for place, calls in ((0, demands), (1, lookups)):
            for call in calls:
                pattern = call.pattern
                signature, bound = pattern.signature, bound_positions(pattern)
                groups = self._calls.setdefault(signature, {})
                if bound not in groups:
                    widened.add(signature)
                pair = groups.setdefault(bound, {}).setdefault(_key(pattern, bound), [None, None])
                if pair[place] is None:
                    pair[place] = call
        for signature in widened:  # the closest call covers first
            groups = self._calls[signature]
            closest = sorted(groups, key=lambda bound: (-len(bound), bound))
            self._calls[signature] = {bound: groups[bound] for bound in closest}

    def rows(self, pattern: Atom) -> Sequence[Atom]:
        """Give the answers to a call; none to one for a value nobody knows. Raises NotCovered."""
        if UNKNOWN in pattern.arguments:
            return ()
        bound = bound_positions(pattern)
        for other, group in self._calls.get(pattern.signature, {}).items():
            if not set(other) <= set(bound):
                continue
            pair = group.get(_key(pattern, other))
            if pair is None:
                continue
            demand, lookup = pair
            if demand is not None:
                self.used[True, demand.pattern] = demand
            if lookup is not None:
                self.used[False, lookup.pattern] = lookup
            call = demand or lookup
            assert call is not None, "a pair holds a call"
            if other == bound:
                return call.answers
            key = (demand is not None, call.pattern, bound)
            index = self._indexes.get(key)
            if index is None:
                index = {}
                for row in call.answers:
                    index.setdefault(_key(row, bound), []).append(row)
                self._indexes[key] = index
            return index.get(_key(pattern, bound), ())
        raise NotCovered(pattern)


def _key(atom: Atom, positions: tuple[int, ...]) -> tuple[Constant, ...]:
    return tuple([atom.arguments[at] for at in positions])  # type: ignore[misc]  # constants


def solutions(
    steps: Sequence[Step], bindings: Bindings, answers: Answers, *, frozen: bool = False
) -> Iterator[tuple[Bindings, bool]]:
    """Yield every way a body can hold over the answers, with whether that is certain.

    `frozen` bodies, those of aggregates, read contested rows as well.
    """
    stack: list[tuple[int, Bindings, bool]] = [(0, bindings, True)]
    while stack:
        at, known, certain = stack.pop()
        if at == len(steps):
            yield known, certain
            continue
        for extended, sure in _advance(steps[at], known, answers, frozen=frozen):
            stack.append((at + 1, extended, certain and sure))


def _advance(
    step: Step, known: Bindings, answers: Answers, *, frozen: bool
) -> Iterable[tuple[Bindings, bool]]:
    match step:
        case Read(_, atom, _):
            return _read(atom, known, answers, frozen=frozen)
        case Test(_, literal, defines):
            truth = compare_literal(literal, known, defines=defines)
            return [] if truth is Truth.FALSE else [(known, truth is Truth.TRUE)]
        case Assign(_, variable, expression):
            value = value_of(expression, known)
            if isinstance(value, Undetermined):
                return [({**known, variable.name: UNKNOWN}, False)]
            return [({**known, variable.name: value}, True)]
        case Refute(_, atom, _):
            rows = answers.rows(bind_atom(atom, known))
            if any(answers.contested or row not in answers.uncertain for row in rows):
                return []
            return [(known, not rows)]
        case Collect():
            return _collect(step, known, answers)


def _read(
    atom: Atom, known: Bindings, answers: Answers, *, frozen: bool
) -> Iterator[tuple[Bindings, bool]]:
    for row in answers.rows(bind_atom(atom, known)):
        contested = not frozen and without_statement(row) in answers.contested
        extended = match_row(atom, row, known)
        if extended is not None:
            yield extended, row not in answers.uncertain and not contested


def collect(step: Collect, known: Bindings, answers: Answers) -> tuple[Result, bool]:
    """Compute an aggregate over the answers, and whether all its rows are certain."""
    literal = step.aggregate
    start = {variable.name: known[variable.name] for variable in step.globals}
    rows: dict[tuple[Constant, ...], None] = {}
    certain = True
    for inner, sure in solutions(step.steps, start, answers, frozen=True):
        certain = certain and sure
        row = tuple(inner[t.name] if isinstance(t, Variable) else t for t in literal.terms)
        rows[tuple(_first_name(term, answers) for term in row)] = None
    ordered = sorted(rows, key=lambda row: [render_term(term) for term in row])
    return arithmetic.aggregate(literal.function, ordered), certain


def _first_name(term: Constant, answers: Answers) -> Constant:
    """Give one name, first by text, that stands for all names of an entity."""
    if not answers.renamed or not isinstance(term, str):
        return term
    rows = answers.rows(Atom("alias", (term, Variable("_1"))))
    return min([term, *(str(row.arguments[1]) for row in rows)], key=render_term)


def _collect(step: Collect, known: Bindings, answers: Answers) -> list[tuple[Bindings, bool]]:
    literal: Aggregate = step.aggregate
    value, certain = collect(step, known, answers)
    if isinstance(value, Undetermined) or not certain:
        unknown = {} if step.assigned is None else {step.assigned.name: UNKNOWN}
        return [({**known, **unknown}, False)]
    if step.assigned is not None:
        return [({**known, step.assigned.name: value}, True)]
    result = value_of(literal.result, known)
    if isinstance(result, Undetermined):
        return [(known, False)]
    truth = compare(literal.operator, result, value)
    return [] if truth is Truth.FALSE else [(known, truth is Truth.TRUE)]


def absence_steps(clause: Clause, position: int) -> Sequence[Step]:
    """Give the step of a `not` or an aggregate in a body whose other names are all bound."""
    outer = frozenset(names_of(clause.head))
    bound = set(outer).union(*(literal_names(literal) for literal in clause.body))
    steps = order_body(clause.body, bound, outer=outer)
    return [step for step in steps if step.index == position]
