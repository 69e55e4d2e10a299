"""Checks of one clause: what binds its variables, what can never hold, what its sentence says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from rapidfuzz import fuzz, process

from kb.quantity import Quantity, Truth
from kb.units import is_unit

from .atom import Atom, Variable, is_anonymous
from .clause import (
    Absent,
    Aggregate,
    Clause,
    Comparison,
    Expression,
    Literal,
    Operation,
    Operator,
    Positive,
    render_literal,
    variables_of,
)
from .comparison import compare
from .errors import Finding, Severity
from .facts import Signature
from .magic import (
    Collect,
    Positions,
    Read,
    Step,
    Unsafe,
    expression_names,
    literal_names,
    names_of,
    order_body,
    positive_names,
    shared_names,
)
from .prelude import UNDER

_AT_ONCE = 128
"""How many names are compared with all others at once; bounds the memory."""


def nearest_name(name: str, choices: Iterable[str], *, least: int = 70) -> str | None:
    """Give the most similar name, or None if none scores at least `least` of 100."""
    found = process.extractOne(
        name, sorted(set(choices) - {name}), scorer=fuzz.ratio, score_cutoff=least
    )
    return found[0] if found else None


Place = tuple[int, int]
"""Line and column, 1-based, in code points."""


def nearest_names(
    wanted: Sequence[str], choices: Iterable[str], *, least: int
) -> Iterator[tuple[str, str]]:
    """Give what `nearest_name` gives for each of many names that has a similar one, with it."""
    known = sorted(set(choices))
    places = {name: place for place, name in enumerate(known)}
    for start in range(0, len(wanted) if known else 0, _AT_ONCE):
        names = wanted[start : start + _AT_ONCE]
        scores = process.cdist(
            names, known, scorer=fuzz.ratio, score_cutoff=least, dtype=np.float64
        )
        for name, row in zip(names, scores, strict=True):
            if name in places:
                row[places[name]] = 0
            best = int(row.argmax())
            if row[best] > 0:
                yield name, known[best]


def at_clause(
    clause: Clause,
    code: str,
    message: str,
    severity: Severity = Severity.ERROR,
    place: Place | None = None,
) -> Finding:
    line, column = place or (clause.line, clause.column)
    return Finding(line, column, code, f"rule {clause.id}: {message}", severity)


def warn_at(clause: Clause, code: str, message: str, place: Place | None = None) -> Finding:
    return at_clause(clause, code, message, Severity.WARNING, place)


_WORD = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|%\*.*?\*%|%[^\n]*|(?P<head>:-)|(?P<stop>\.)'
    r"|(?P<word>-?[A-Za-z_][A-Za-z0-9_]*)",
    re.DOTALL,
)


def place_of(text: str, clause: Clause, predicate: str, *, last: bool = False) -> Place | None:
    """Find the first (or last) atom of a predicate in the body of a clause of a policy text.

    None where the text does not show it.
    """
    if not text or not clause.line:
        return None
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: clause.line - 1]) + clause.column - 1
    in_body, found = False, None
    for match in _WORD.finditer(text, start):
        if match["stop"]:
            break
        in_body = in_body or bool(match["head"])
        if in_body and match["word"] == predicate:
            before = text[: match.start()]
            found = (before.count("\n") + 1, match.start() - before.rfind("\n"))
            if not last:
                break
    return found


def indicator(signature: Signature) -> str:
    return f"{signature[0]}/{signature[1]}"


def _bound_names(clause: Clause) -> set[str]:
    """Give the names that the body binds, from nothing: positive atoms, then what they define."""
    bound = set(positive_names(clause.body))
    outer = frozenset(names_of(clause.head))
    grown = True
    while grown:
        grown = False
        for at, literal in enumerate(clause.body):
            new: set[str] = set()
            if isinstance(literal, Comparison) and literal.operator is Operator.EQUAL:
                for side, other in (
                    (literal.left, literal.right),
                    (literal.right, literal.left),
                ):
                    if isinstance(side, Variable) and expression_names(other) <= bound:
                        new.add(side.name)
            elif isinstance(literal, Aggregate) and literal.operator is Operator.EQUAL:
                ready = shared_names(at, clause.body, outer) <= bound
                if isinstance(literal.result, Variable) and ready:
                    new.add(literal.result.name)
            grown = grown or not new <= bound
            bound |= new
    return bound


def check_safety(clause: Clause) -> Iterator[Finding]:
    bound = _bound_names(clause)
    reported: set[str] = set()

    def loose(names: set[str], where: str) -> Iterator[Finding]:
        for name in sorted(names - bound - reported):
            reported.add(name)
            written = "_" if is_anonymous(Variable(name)) else name
            yield at_clause(
                clause,
                "unsafe",
                f"nothing binds {written} in {where}; add an atom with it",
            )

    yield from loose(names_of(clause.head), f"the head {clause.head}")
    outer = frozenset(names_of(clause.head))
    for at, literal in enumerate(clause.body):
        text = render_literal(literal)
        match literal:
            case Comparison():
                yield from loose(literal_names(literal), text)
            case Absent(atom):
                named = {
                    a.name
                    for a in atom.arguments
                    if isinstance(a, Variable) and not is_anonymous(a)
                }
                yield from loose(named, text)
            case Aggregate():
                shared = shared_names(at, clause.body, outer)
                yield from loose(literal_names(literal) | shared, text)
                inside = set(shared)
                try:
                    order_body(literal.conditions, inside, outer=frozenset(shared))
                    names = ", ".join(sorted(_term_names(literal) - inside))
                except Unsafe as error:
                    names = ", ".join(error.variables)
                if names and not reported & shared:
                    yield at_clause(clause, "unsafe", f"nothing binds {names} inside {text}")


def _term_names(aggregate: Aggregate) -> set[str]:
    return {term.name for term in aggregate.terms if isinstance(term, Variable)}


def check_literals(clause: Clause, text: str = "") -> Iterator[Finding]:
    """Check what can never hold; `text` is that of the policy, to show where an atom stands."""
    positives = [literal.atom for literal in clause.body if isinstance(literal, Positive)]
    for literal in clause.body:
        shown = render_literal(literal)
        if isinstance(literal, Absent) and literal.atom in positives:
            place = place_of(text, clause, literal.atom.signature[0])
            yield warn_at(clause, "never_fires", f"it needs {literal.atom} and {shown}", place)
        if isinstance(literal, Comparison) and _is_never_true(literal):
            yield warn_at(clause, "never_fires", f"{shown} is never true")
    for unit in sorted({found.unit for found in _quantities_of(clause)}):
        if not is_unit(unit):
            message = f"{unit!r} is no known unit or currency; it compares with nothing but itself"
            yield warn_at(clause, "unknown_unit", message)
    if clause.head in positives:
        place = place_of(text, clause, clause.head.signature[0])
        message = "its head stands in its body; it derives nothing new"
        yield warn_at(clause, "never_fires", message, place)
    for name in (name for name in _single_names(clause) if f"{{{name}}}" not in clause.says):
        yield warn_at(clause, "single_variable", f"{name} stands once; write _ for anything")
    try:
        steps = order_body(clause.body, set(), outer=frozenset(names_of(clause.head)))
    except Unsafe:
        return
    if any(atom.signature == UNDER and not bound for atom, bound in _plain_reads(steps)):
        yield warn_at(
            clause,
            "unbound_under",
            "nothing binds either argument of under; only classes of a taxonomy are listed",
            place_of(text, clause, UNDER[0]),
        )


def _quantities_of(clause: Clause) -> Iterator[Quantity]:
    waiting: list[Literal | Expression] = [Positive(clause.head), *clause.body]
    while waiting:
        match waiting.pop():
            case Positive(atom) | Absent(atom):
                waiting += atom.arguments
            case Comparison(_, left, right):
                waiting += (left, right)
            case Aggregate() as aggregate:
                waiting += (aggregate.result, *aggregate.terms, *aggregate.conditions)
            case Operation(_, arguments):
                waiting += arguments
            case Quantity() as quantity:
                yield quantity


def _plain_reads(steps: Iterable[Step]) -> Iterator[tuple[Atom, Positions]]:
    for step in steps:
        if isinstance(step, Read):
            yield step.atom, step.bound
        elif isinstance(step, Collect):
            yield from _plain_reads(step.steps)


def _is_never_true(comparison: Comparison) -> bool:
    left, right = comparison.left, comparison.right
    if left == right and comparison.operator in (
        Operator.UNEQUAL,
        Operator.LESS,
        Operator.GREATER,
    ):
        return True
    if isinstance(left, (Variable, Operation)) or isinstance(right, (Variable, Operation)):
        return False
    return compare(comparison.operator, left, right) is Truth.FALSE


def _single_names(clause: Clause) -> list[str]:
    counts: dict[str, int] = {}
    for name in _every_name(clause):
        counts[name] = counts.get(name, 0) + 1
    return sorted(name for name, count in counts.items() if count == 1 and name[0] != "_")


def _every_name(clause: Clause) -> Iterator[str]:
    yield from (a.name for a in clause.head.arguments if isinstance(a, Variable))
    for literal in clause.body:
        yield from _every_name_of(literal)


def _every_name_of(literal: Literal) -> Iterator[str]:
    match literal:
        case Positive(atom) | Absent(atom):
            yield from (a.name for a in atom.arguments if isinstance(a, Variable))
        case Comparison(_, left, right):
            yield from (variable.name for variable in variables_of(left))
            yield from (variable.name for variable in variables_of(right))
        case Aggregate():
            yield from (variable.name for variable in variables_of(literal.result))
            yield from (term.name for term in literal.terms if isinstance(term, Variable))
            for condition in literal.conditions:
                yield from _every_name_of(condition)


def check_sentence(clause: Clause) -> Iterator[Finding]:
    """Check that `says` names variables of the rule."""
    names = set(_every_name(clause))
    for part in clause.says.split("{")[1:]:
        name, closing, _ = part.partition("}")
        if closing and name not in names:
            near = nearest_name(name, names)
            hint = f"; did you mean {near}?" if near else f"; it has {', '.join(sorted(names))}"
            yield at_clause(clause, "sentence", f"says holds {{{name}}}, no variable{hint}")
        elif not closing:
            yield at_clause(clause, "sentence", "says has a { without its }")
