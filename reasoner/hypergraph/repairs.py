"""The cheapest atoms and witnesses that would certify a goal of a hypergraph, each set tried."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..abduction import Optimality, abduce
from ..expiry import Expired
from .decision import ClosedHypergraph, close_hypergraph, missing_costs
from .graph import Hypergraph
from .horn import witness_atom

MOST_TRIED = 16
"""Sets looked at for each one wanted, where most would be contested."""


@dataclass(frozen=True, slots=True)
class GraphRepairs:
    """Sets of atoms, or `witnessed(..)`, the cheapest first; with any of them the goal follows.

    `optimality` is that of the first set; `complete` says that there are no others, or as many as
    were asked for.
    """

    sets: tuple[tuple[str, ...], ...]
    optimality: Optimality
    complete: bool


def find_graph_repairs(
    closed: ClosedHypergraph, goal: str, *, cap: int, expired: Expired
) -> GraphRepairs:
    """Find the `cap` cheapest sets of what no edge yields, each atom of cost one.

    A set with which the goal would be contested is none.
    """
    costs = missing_costs(closed)
    number = closed.whole.number(goal)
    tried: dict[tuple[int, ...], bool] = {}
    asked = cap
    while True:
        found = abduce(closed.whole.program, number, costs, limit=asked, expired=expired)
        accepted: list[tuple[str, ...]] = []
        for entry in found.sets:
            names = tuple(map(closed.whole.name, entry.atoms))
            if entry.atoms not in tried:
                if expired():
                    return GraphRepairs(tuple(accepted), Optimality.BEST_FOUND, complete=False)
                tried[entry.atoms] = _certifies(closed, goal, names)
            if tried[entry.atoms]:
                accepted.append(names)
        if found.optimality is Optimality.BEST_FOUND:
            return GraphRepairs(tuple(accepted), Optimality.BEST_FOUND, complete=False)
        exhausted = len(found.sets) < asked
        if exhausted or len(accepted) >= cap or asked >= cap * MOST_TRIED:
            break
        asked *= 2
    optimality: Optimality = found.optimality
    if not accepted:
        optimality = Optimality.IMPOSSIBLE if exhausted else Optimality.BEST_FOUND
    return GraphRepairs(tuple(accepted[:cap]), optimality, exhausted or len(accepted) >= cap)


def _certifies(closed: ClosedHypergraph, goal: str, added: tuple[str, ...]) -> bool:
    """Whether a goal is certified where atoms and witnesses are added."""
    graph = closed.graph
    names = set(added)
    edges = tuple(
        replace(edge, witness=edge.witness and witness_atom(edge.id) not in names)
        for edge in graph.hyperedges
    )
    kept = {edge.id for edge in edges if edge.witness}
    units = tuple(
        replace(unit, witnesses=tuple(edge for edge in unit.witnesses if edge in kept))
        for unit in graph.units
    )
    atoms = {atom.id for atom in graph.atoms}
    given = tuple(sorted({*graph.given, *names.intersection(atoms)}))
    changed = Hypergraph(graph.atoms, edges, units, given, graph.goals, graph.contradictions)
    return close_hypergraph(changed, engine="linear").derives(goal)
