"""Open requirements of an underived goal: what is missing, nearest rule first."""

from __future__ import annotations

from ..engines.linear import UNDERIVED, Firing
from ..verdict import AbstentionCode, OpenRequirement, requirement_id
from .graph import Hyperedge, Hypergraph
from .horn import CompiledHypergraph, witness_atom


def open_requirements(
    graph: Hypergraph, compiled: CompiledHypergraph, firing: Firing, goal: str
) -> tuple[OpenRequirement, ...]:
    """List every missing atom of the edge closest to firing, then of the next.

    Closest is the edge with the fewest missing atoms, then the fewest edges from the goal, then by
    id. Each atom is listed once, under the first such edge; a goal that nothing but itself
    could yield is itself open.
    """
    clauses = firing.clauses.tolist()
    yields: dict[str, list[Hyperedge]] = {}
    for edge in graph.hyperedges:
        yields.setdefault(edge.head, []).append(edge)

    def missing(edge: Hyperedge) -> list[str]:
        atoms = [atom for atom in edge.tail if clauses[compiled.number(atom)] == UNDERIVED]
        if edge.witness and clauses[compiled.witness_number(edge.id)] == UNDERIVED:
            atoms.append(witness_atom(edge.id))
        return atoms

    near: list[tuple[int, int, str, list[str]]] = []
    depth = {goal: 0}
    queue = [goal]
    for atom in queue:
        for edge in yields.get(atom, ()):
            lacking = missing(edge)
            near.append((len(lacking), depth[atom], edge.id, lacking))
            for premise in lacking:
                if premise not in depth:
                    depth[premise] = depth[atom] + 1
                    queue.append(premise)
    near.sort()
    rules: dict[str, str] = {}
    for _, _, edge_id, lacking in near:
        for atom in lacking:
            if atom != goal:
                rules.setdefault(atom, edge_id)
    rules = rules or {goal: ""}
    atoms = {atom.id: atom for atom in graph.atoms}
    found = []
    for atom, rule in rules.items():
        vertex = atoms.get(atom)
        found.append(
            open_requirement(
                atom,
                AbstentionCode.GAP_IN_CORPUS,
                rule=rule,
                query=(vertex.query or vertex.text) if vertex else "",
                expected=vertex.expected if vertex else "a unit that witnesses the hyperedge",
                detail=_detail(atom, [edge.id for edge in yields.get(atom, ())]),
            )
        )
    return tuple(found)


def open_requirement(
    atom: str,
    code: AbstentionCode,
    *,
    rule: str,
    detail: str,
    query: str = "",
    expected: str = "",
    conflicting: tuple[str, ...] = (),
) -> OpenRequirement:
    """Make a requirement with its stable id; atoms of a hypergraph have no entity to test."""
    return OpenRequirement(
        requirement_id(atom, rule),
        atom,
        code,
        rule,
        query,
        expected,
        "",
        detail=detail,
        conflicting=conflicting,
    )


def _detail(atom: str, edges: list[str]) -> str:
    if edges:
        return f"no unit states {atom}; it would follow by {', '.join(edges)}"
    if atom.startswith("witnessed("):
        return "no unit in the context witnesses this hyperedge"
    return f"no unit states {atom} and no hyperedge yields it"
