"""Plans a rule for a call: in which order its literals are taken, and what is known at each.

A *node* is a predicate with the set of its arguments known when it is called (its adornment). Each
literal is a call in turn, with what is known by then; so evaluation follows the constants of a
goal.

Source: Bancilhon, Maier, Sagiv, Ullman 1986, "Magic sets and other strange ways to implement logic
programs". We keep the demands as tables of calls (Tamaki and Sato 1986, OLD resolution with
tabulation) rather than as further rules: a call to a lower component is answered in full before it
is read, which lets demands depend on negation without spoiling stratification.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .atom import Atom, Variable, is_anonymous
from .clause import (
    Absent,
    Aggregate,
    Clause,
    Comparison,
    Expression,
    Literal,
    Operator,
    Positive,
    variables_of,
)
from .facts import Signature
from .prelude import UNDER

Positions = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A derived predicate called with the arguments at `bound` known; positions ascend."""

    signature: Signature
    bound: Positions


@dataclass(frozen=True, slots=True)
class Read:
    """Go through the rows of an atom; `index` is its place in the body, -1 for no premise."""

    index: int
    atom: Atom
    bound: Positions


@dataclass(frozen=True, slots=True)
class Test:
    """Compare two known values; `is_definition` as in `is_definition`."""

    index: int
    comparison: Comparison
    is_definition: bool


@dataclass(frozen=True, slots=True)
class Assign:
    """Compute a value for a variable."""

    index: int
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Refute:
    """Check that an atom has no row."""

    index: int
    atom: Atom
    bound: Positions


@dataclass(frozen=True, slots=True)
class Collect:
    """Aggregate what `steps` find; `result` is assigned if it is a variable in `assigned`."""

    index: int
    aggregate: Aggregate
    globals: tuple[Variable, ...]
    steps: tuple[Step, ...]
    assigned: Variable | None


Step = Read | Test | Assign | Refute | Collect


@dataclass(frozen=True, slots=True)
class RulePlan:
    """One clause for one node: its number in the list of clauses, and its steps in order."""

    number: int
    node: Node
    steps: tuple[Step, ...]


class Unsafe(Exception):
    """Variables that nothing binds, in order of name."""

    def __init__(self, variables: tuple[str, ...], literal: Literal | None) -> None:
        self.variables, self.literal = variables, literal
        super().__init__(", ".join(variables))


def names_of(atom: Atom) -> set[str]:
    """Give the names of the variables of an atom."""
    return {a.name for a in atom.arguments if isinstance(a, Variable)}


def expression_names(expression: Expression) -> set[str]:
    """Give the names of the variables of an expression."""
    return {variable.name for variable in variables_of(expression)}


def literal_names(literal: Literal) -> set[str]:
    """Give the names a literal shares with its clause; of an aggregate only those of its result."""
    match literal:
        case Positive(atom) | Absent(atom):
            return names_of(atom)
        case Comparison(_, left, right):
            return expression_names(left) | expression_names(right)
        case Aggregate():
            return expression_names(literal.result)


def inner_names(aggregate: Aggregate) -> set[str]:
    """Give the names of the variables inside the braces of an aggregate."""
    found = {t.name for t in aggregate.terms if isinstance(t, Variable)}
    return found.union(*(literal_names(condition) for condition in aggregate.conditions))


def positive_names(literals: Iterable[Literal]) -> frozenset[str]:
    """Give the names that positive atoms bind."""
    return frozenset().union(*(names_of(x.atom) for x in literals if isinstance(x, Positive)))


def is_definition(comparison: Comparison, bound_by_atoms: frozenset[str]) -> bool:
    """Whether `V = E` defines V: no positive atom of the body holds V.

    Then it is true if V *is* the value of E; elsewhere `=` compares, and two equal partial dates
    are undetermined.
    """
    return comparison.operator is Operator.EQUAL and any(
        isinstance(side, Variable) and side.name not in bound_by_atoms
        for side in (comparison.left, comparison.right)
    )


def bound_positions(atom: Atom, bound: set[str]) -> Positions:
    """Give the positions of constants and known variables."""
    return tuple(
        at
        for at, argument in enumerate(atom.arguments)
        if not isinstance(argument, Variable) or argument.name in bound
    )


def _assignable(comparison: Comparison, bound: set[str]) -> tuple[Variable, Expression] | None:
    if comparison.operator is not Operator.EQUAL:
        return None
    for side, other in (
        (comparison.left, comparison.right),
        (comparison.right, comparison.left),
    ):
        if (
            isinstance(side, Variable)
            and side.name not in bound
            and expression_names(other) <= bound
        ):
            return side, other
    return None


def order_body(
    body: Sequence[Literal], bound: set[str], *, outer: frozenset[str]
) -> tuple[Step, ...]:
    """Order a body for a call that knows `bound`, which grows to all names bound.

    Whatever only checks or computes comes as soon as it can; of the atoms, the first one with a
    known variable, else the first with a constant, else the first. `outer` holds the names of the
    head or, within an aggregate, those it shares with its clause. Raises Unsafe.
    """
    by_atoms = positive_names(body)
    steps: list[Step] = []
    remaining = list(enumerate(body))
    while remaining:
        for place, (index, literal) in enumerate(remaining):
            step = _ready(index, literal, body, bound, by_atoms, outer)
            if step is not None:
                del remaining[place]
                steps.append(step)
                break
        else:
            place = _next_atom(remaining, bound)
            index, literal = remaining.pop(place)
            assert isinstance(literal, Positive), "only atoms are left to choose from"
            steps.append(Read(index, literal.atom, bound_positions(literal.atom, bound)))
            bound |= names_of(literal.atom)
    return tuple(steps)


def _ready(
    index: int,
    literal: Literal,
    body: Sequence[Literal],
    bound: set[str],
    by_atoms: frozenset[str],
    outer: frozenset[str],
) -> Step | None:
    match literal:
        case Comparison():
            if literal_names(literal) <= bound:
                return Test(index, literal, is_definition(literal, by_atoms))
            found = _assignable(literal, bound)
            if found is not None and found[0].name not in by_atoms:
                bound.add(found[0].name)
                return Assign(index, *found)
        case Absent(atom):
            named = {
                a.name for a in atom.arguments if isinstance(a, Variable) and not is_anonymous(a)
            }
            if named <= bound:
                return Refute(index, atom, bound_positions(atom, bound))
        case Aggregate():
            return _collect(index, literal, body, bound, by_atoms, outer)
        case Positive(atom) if names_of(atom) <= bound:
            return Read(index, atom, bound_positions(atom, bound))
    return None


def shared_names(index: int, body: Sequence[Literal], outer: frozenset[str]) -> set[str]:
    """Give the names an aggregate shares with its clause: those that also stand outside braces."""
    aggregate = body[index]
    assert isinstance(aggregate, Aggregate), "only an aggregate has names of its own"
    return inner_names(aggregate) & outer.union(*(literal_names(other) for other in body))


def _collect(
    index: int,
    literal: Aggregate,
    body: Sequence[Literal],
    bound: set[str],
    by_atoms: frozenset[str],
    outer: frozenset[str],
) -> Collect | None:
    needed = shared_names(index, body, outer)
    if not needed <= bound:
        return None
    assigned: Variable | None = None
    if not literal_names(literal) <= bound:
        result = literal.result
        if (
            literal.operator is not Operator.EQUAL
            or not isinstance(result, Variable)
            or result.name in by_atoms
        ):
            return None
        assigned = result
    local = set(needed)
    steps = order_body(literal.conditions, local, outer=frozenset(needed))
    loose = sorted({t.name for t in literal.terms if isinstance(t, Variable)} - local)
    if loose:
        raise Unsafe(tuple(loose), literal)
    if assigned is not None:
        bound.add(assigned.name)
    return Collect(
        index, literal, tuple(Variable(name) for name in sorted(needed)), steps, assigned
    )


def _next_atom(remaining: Sequence[tuple[int, Literal]], bound: set[str]) -> int:
    best: tuple[int, int] | None = None
    for place, (_, literal) in enumerate(remaining):
        if not isinstance(literal, Positive):
            continue
        atom = literal.atom
        if names_of(atom) & bound:
            rank = 0
        elif bound_positions(atom, bound):
            rank = 1
        else:
            # Everything lies under itself: such a call lists the classes only.
            rank = 3 if atom.signature == UNDER else 2
        if best is None or rank < best[0]:
            best = rank, place
    if best is None:
        literal = remaining[0][1]
        names = literal_names(literal)
        if isinstance(literal, Aggregate):
            names |= inner_names(literal)
        raise Unsafe(tuple(sorted(names - bound)), literal)
    return best[1]


def plan_rule(number: int, clause: Clause, node: Node) -> tuple[RulePlan, ...]:
    """Plan one clause for one node. Raises Unsafe."""
    head = clause.head
    bound = {
        argument.name for at in node.bound if isinstance(argument := head.arguments[at], Variable)
    }
    steps = order_body(clause.body, bound, outer=frozenset(names_of(head)))
    loose = names_of(head) - bound
    if not loose:
        return (RulePlan(number, node, steps),)
    if head.signature == UNDER and not clause.body:
        (name,) = loose
        ends = (Variable(name), Variable("_1")), (Variable("_1"), Variable(name))
        return tuple(
            RulePlan(number, node, (Read(-1, Atom("subclass_of", pair), ()),)) for pair in ends
        )
    raise Unsafe(tuple(sorted(loose)), None)


def clause_names(clause: Clause) -> tuple[str, ...]:
    """Give the names a rule instance binds, sorted: all but those inside aggregates and absences.

    What stands only inside an aggregate, or as `_` in `not`, is no binding of the rule.
    """
    found = names_of(clause.head)
    for literal in clause.body:
        found |= literal_names(literal)
    free = {
        a.name
        for literal in clause.body
        if isinstance(literal, Absent)
        for a in literal.atom.arguments
        if isinstance(a, Variable) and is_anonymous(a)
    }
    return tuple(sorted(found - free))
