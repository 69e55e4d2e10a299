"""How rules recurse: whether values are created on the way, and on which side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .atom import Variable
from .clause import Clause, Comparison, Expression, Operation, Positive
from .closedness import dependencies
from .components import components
from .facts import Signature
from .magic import is_definition, positive_names

Place = tuple[Signature, int]
"""An argument position of a predicate."""


def _origins(clause: Clause) -> dict[str, tuple[set[str], bool]]:
    """Give per defined variable the variables it is computed from, and whether it is new.

    `min` and `max` choose among values and create none.
    """
    by_atoms = positive_names(clause.body)
    origins: dict[str, tuple[set[str], bool]] = {name: ({name}, False) for name in by_atoms}
    grown = True
    while grown:
        grown = False
        for literal in clause.body:
            if not isinstance(literal, Comparison) or not is_definition(literal, by_atoms):
                continue
            for side, other in ((literal.left, literal.right), (literal.right, literal.left)):
                if not isinstance(side, Variable) or side.name in origins:
                    continue
                found = _origin(other, origins)
                if found is not None:
                    origins[side.name] = found
                    grown = True
    return origins


def _origin(
    expression: Expression, origins: dict[str, tuple[set[str], bool]]
) -> tuple[set[str], bool] | None:
    if isinstance(expression, Variable):
        return origins.get(expression.name)
    if not isinstance(expression, Operation):
        return set(), False
    sources: set[str] = set()
    created = expression.name not in ("min", "max")
    for argument in expression.arguments:
        found = _origin(argument, origins)
        if found is None:
            return None
        sources |= found[0]
        created = created or found[1]
    return sources, created


def creating_cycles(clauses: Sequence[Clause]) -> Iterator[tuple[Clause, str]]:
    """Give each clause and variable by which a recursion can create values without end.

    Source: weak acyclicity, Fagin, Kolaitis, Miller, Popa 2005, "Data exchange: semantics and query
    answering", section 3; we take computed values for existential ones.
    """
    group = components(dependencies(clauses))
    edges: dict[Place, set[Place]] = {}
    creating: list[tuple[Clause, str, Place, Place]] = []
    for clause in clauses:
        head = clause.head.signature
        origins = _origins(clause)
        for literal in clause.body:
            if not isinstance(literal, Positive):
                continue
            read = literal.atom.signature
            if group.get(read) != group[head] or read not in group:
                continue
            for at, argument in enumerate(literal.atom.arguments):
                if not isinstance(argument, Variable):
                    continue
                for to, result in enumerate(clause.head.arguments):
                    if not isinstance(result, Variable):
                        continue
                    sources, created = origins.get(result.name, (set(), False))
                    if argument.name not in sources:
                        continue
                    edges.setdefault((read, at), set()).add((head, to))
                    if created:
                        creating.append((clause, result.name, (read, at), (head, to)))
    places = components(edges)
    seen: set[tuple[str, str]] = set()
    for clause, name, source, target in creating:
        if places.get(source) == places.get(target) and (clause.id, name) not in seen:
            seen.add((clause.id, name))
            yield clause, name


def is_right_recursive(clause: Clause, group: Mapping[Signature, int]) -> bool:
    """Whether the one recursive atom comes after others and keeps the last argument of the head.

    `group` numbers components of predicates that read each other. Asked with the first argument
    known, such a rule demands the predicate for every value between, and all pairs are captured.
    """
    head = clause.head
    atoms = [literal.atom for literal in clause.body if isinstance(literal, Positive)]
    recursive = [atom for atom in atoms if group.get(atom.signature) == group[head.signature]]
    if len(recursive) != 1 or recursive[0].signature != head.signature or len(atoms) < 2:
        return False
    (atom,) = recursive
    return (
        atom is atoms[-1]
        and len(head.arguments) >= 2
        and atom.arguments[0] != head.arguments[0]
        and atom.arguments[-1] == head.arguments[-1]
        and isinstance(atom.arguments[-1], Variable)
    )
