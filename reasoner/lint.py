"""Checks a policy as a whole: every problem of every clause, in one report.

Errors stop a policy; warnings name what is probably not meant. Reading problems are found before,
in `syntax`; a negation that depends on itself only on some facts is found by `evaluate`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .clause import Absent, Aggregate, Clause, Policy, Positive, render_literal
from .clause_lint import (
    at_clause,
    check_literals,
    check_safety,
    check_sentence,
    indicator,
    nearest_names,
    place_of,
    warn_at,
)
from .closedness import dependencies, open_because_of
from .components import components
from .errors import Finding
from .facts import Signature
from .prelude import COMPUTED, atoms_of, built_in, prelude
from .recursion import creating_cycles, is_right_recursive

NAMED_OF_A_CYCLE = 20
"""How many predicates of a cycle a finding names, the first by name."""


def check_policy(
    policy: Policy, *, known: Collection[Signature] | None = None
) -> tuple[Finding, ...]:
    """Find what is wrong with a policy, by position.

    `known` holds the predicates that facts or dimensions give; without it a predicate nobody
    defines is no finding unless it looks like a misspelt one.
    """
    findings: list[Finding] = []
    for clause in policy.clauses:
        if clause.id.startswith("prelude."):
            message = "its name begins with prelude., which is reserved"
            findings.append(at_clause(clause, "reserved", message))
        findings += check_safety(clause)
        findings += check_literals(clause, policy.text)
        findings += check_sentence(clause)
    findings += _check_arities(policy, known or ())
    findings += _check_undefined(policy, known)
    findings += _check_closed(policy, known or ())
    findings += _check_stratification(policy)
    findings += _check_recursion(policy)
    findings += _check_productive(policy)
    return tuple(sorted(set(findings)))


def _uses(policy: Policy) -> Iterator[tuple[Clause, Signature]]:
    for clause in policy.clauses:
        for atom in atoms_of(clause.body):
            yield clause, atom.signature


def _check_arities(policy: Policy, known: Collection[Signature]) -> Iterator[Finding]:
    """A predicate has one arity; a stored d/2 may be read as d/3, with the statement."""
    defined: dict[str, tuple[int, str]] = {}
    for name, arity in sorted(built_in()):
        defined[name] = (arity, "in the prelude")
    reserved = {clause.head.signature[0] for clause in prelude().clauses} | {
        name for name, _ in COMPUTED
    }
    derived: set[str] = set()
    for clause in policy.clauses:
        name, arity = clause.head.signature
        if name in reserved:
            yield at_clause(
                clause,
                "reserved",
                f"{indicator((name, arity))} is built in; choose another name",
            )
            continue
        earlier = defined.setdefault(name, (arity, f"at line {clause.line}"))
        derived.add(name)
        if earlier[0] != arity:
            yield at_clause(clause, "arity", _clash(name, arity, *earlier))
    for declaration in policy.closed:
        name, arity = declaration.predicate, declaration.arity
        earlier = defined.setdefault(name, (arity, f"at line {declaration.line}"))
        if earlier[0] != arity and not (name not in derived and {earlier[0], arity} == {2, 3}):
            message = _clash(name, arity, *earlier)
            yield Finding(declaration.line, 1, "arity", message)
    stored: dict[str, set[int]] = {}
    for name, arity in known:
        stored.setdefault(name, set()).add(arity)
    for clause, (name, arity) in _uses(policy):
        if name in stored and name not in derived:
            found = stored[name]
            if arity not in found and not (arity == 3 and 2 in found):
                have = " or ".join(map(str, sorted(found)))
                message = f"{name}/{arity} has {have} arguments in facts"
                place = place_of(policy.text, clause, name)
                yield at_clause(clause, "arity", message, place=place)
            continue
        earlier = defined.setdefault(name, (arity, f"at line {clause.line}"))
        if earlier[0] != arity and not (name not in derived and {earlier[0], arity} == {2, 3}):
            place = place_of(policy.text, clause, name)
            yield at_clause(clause, "arity", _clash(name, arity, *earlier), place=place)


def _clash(name: str, arity: int, earlier: int, where: str) -> str:
    return f"{name} has {arity} argument{'s' if arity != 1 else ''} here and {earlier} {where}"


def _check_undefined(policy: Policy, known: Collection[Signature] | None) -> Iterator[Finding]:
    defined = {clause.head.signature for clause in policy.clauses} | built_in()
    defined |= {(c.predicate, c.arity) for c in policy.closed}
    stored = set(known or ())
    names = {name for name, _ in defined | stored}
    undefined: dict[Signature, Clause] = {}
    for clause, signature in _uses(policy):
        name, arity = signature
        is_known = signature in defined or signature in stored
        if not is_known and arity == 3:
            is_known = (name, 2) in defined or (name, 2) in stored
        if not is_known:
            undefined.setdefault(signature, clause)
    wanted = sorted({name for name, _ in undefined})
    similar = dict(nearest_names(wanted, names, least=70 if known is not None else 85))
    for signature, clause in undefined.items():
        near = similar.get(signature[0])
        if known is None and near is None:
            continue
        hint = f"; did you mean {near}?" if near else "; it will be an open requirement"
        what = "no rule and no fact gives" if known is not None else "no rule gives"
        place = place_of(policy.text, clause, signature[0])
        yield warn_at(clause, "undefined", f"{what} {indicator(signature)}{hint}", place)


def _check_closed(policy: Policy, known: Collection[Signature]) -> Iterator[Finding]:
    cause = open_because_of(policy, known=known)
    for clause in policy.clauses:
        for literal in clause.body:
            if isinstance(literal, Absent):
                verb, read = "not", [literal.atom.signature]
            elif isinstance(literal, Aggregate):
                verb = "an aggregate"
                read = [atom.signature for atom in atoms_of(literal.conditions)]
            else:
                continue
            for signature in dict.fromkeys(read):
                if signature in cause:
                    stored = cause[signature]
                    through = f" because {indicator(stored)} is" if stored != signature else ""
                    yield at_clause(
                        clause,
                        "open",
                        f"{verb} needs closed predicates; {indicator(signature)} is open{through}; "
                        f'declare closed({indicator(stored)}, "SOURCE") if it is complete',
                        place=place_of(policy.text, clause, signature[0]),
                    )


def _check_stratification(policy: Policy) -> Iterator[Finding]:
    reads = dependencies(policy.clauses)
    group = components(reads)
    members: dict[int, list[Signature]] = {}
    for signature in sorted(reads):
        members.setdefault(group[signature], []).append(signature)
    for clause in policy.clauses:
        head = clause.head.signature
        for literal in clause.body:
            if not isinstance(literal, (Absent, Aggregate)):
                continue
            for atom in atoms_of((literal,)):
                signature = atom.signature
                if signature in reads and group[signature] == group[head]:
                    cycle = members[group[head]]
                    more = len(cycle) - NAMED_OF_A_CYCLE
                    yield warn_at(
                        clause,
                        "unstratified",
                        f"{render_literal(literal)} depends on {indicator(head)} itself through "
                        f"{', '.join(map(indicator, cycle[:NAMED_OF_A_CYCLE]))}"
                        f"{f' and {more} more' if more > 0 else ''}; "
                        f"facts that close the cycle fail",
                        place_of(policy.text, clause, signature[0]),
                    )


def _check_recursion(policy: Policy) -> Iterator[Finding]:
    for clause, variable in creating_cycles(policy.clauses):
        yield at_clause(
            clause,
            "creates_values",
            f"{variable} is computed around a recursion, which need not end; "
            "compute it outside, or bound it by min or max",
        )
    group = components(dependencies(policy.clauses))
    for clause in policy.clauses:
        if is_right_recursive(clause, group):
            name = clause.head.signature[0]
            yield warn_at(
                clause,
                "right_recursion",
                f"the recursion of {name} stands last, which asks for every pair; write it first, "
                f"as in path(X, Y) :- path(X, Z), edge(Z, Y)",
                place_of(policy.text, clause, name, last=True),
            )


def _check_productive(policy: Policy) -> Iterator[Finding]:
    """Find rules that wait for each other: no rule of their predicates starts without them."""
    clauses = policy.clauses
    derived = {clause.head.signature for clause in clauses}
    derived -= {(c.predicate, c.arity) for c in policy.closed}
    missing: list[set[Signature]] = []
    waiting: dict[Signature, list[int]] = {}
    for number, clause in enumerate(clauses):
        needs = {
            literal.atom.signature
            for literal in clause.body
            if isinstance(literal, Positive) and literal.atom.signature in derived
        }
        missing.append(needs)
        for signature in needs:
            waiting.setdefault(signature, []).append(number)
    fires = [number for number, needs in enumerate(missing) if not needs]
    for number in fires:
        signature = clauses[number].head.signature
        for other in waiting.pop(signature, ()):
            missing[other].discard(signature)
            if not missing[other]:
                fires.append(other)
    for number in sorted(set(range(len(clauses))) - set(fires)):
        waits = indicator(min(missing[number]))
        message = f"it needs {waits}, whose rules all wait for each other"
        place = place_of(policy.text, clauses[number], min(missing[number])[0])
        yield warn_at(clauses[number], "never_fires", message, place)
