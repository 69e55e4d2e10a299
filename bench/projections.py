"""What requirement hypergraphs lose when they are flattened: baselines that are known to fail.

Source: Certify (arXiv 2610.34684): pairwise projections, and committing to one rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from reasoner.hypergraph import Hyperedge, Hypergraph


@dataclass(frozen=True, slots=True)
class Flat:
    """Edges and leaves of a hypergraph in one context."""

    edges: tuple[Hyperedge, ...]
    leaves: frozenset[str]


def in_context(graph: Hypergraph, units: Collection[str] | None = None) -> Flat:
    """Give the edges that count and the atoms that hold outright, with these units (default: all).

    Edges are in order of id.
    """
    chosen = [unit for unit in graph.units if units is None or unit.id in units]
    witnessed = {edge for unit in chosen for edge in unit.witnesses}
    edges = tuple(e for e in graph.hyperedges if not e.witness or e.id in witnessed)
    stated = {atom for unit in chosen for atom in unit.states}
    empty = {edge.head for edge in edges if not edge.tail}
    return Flat(edges, frozenset({*graph.given, *stated, *empty}))


def pairwise(flat: Flat) -> frozenset[str]:
    """Give what is reached where each tail atom alone leads to the head."""
    return _reached(flat.leaves, ((tail, e.head) for e in flat.edges for tail in e.tail))


def two_section(flat: Flat) -> frozenset[str]:
    """Give what is connected to a leaf where all atoms of an edge are joined to each other."""
    pairs = [(tail, e.head) for e in flat.edges for tail in e.tail]
    return _reached(flat.leaves, [*pairs, *((head, tail) for tail, head in pairs)])


def _reached(start: Collection[str], pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    follows: dict[str, list[str]] = {}
    for one, other in pairs:
        follows.setdefault(one, []).append(other)
    reached = set(start)
    waiting = list(start)
    while waiting:
        for atom in follows.get(waiting.pop(), ()):
            if atom not in reached:
                reached.add(atom)
                waiting.append(atom)
    return frozenset(reached)


def ancestors(flat: Flat, goal: str) -> frozenset[str]:
    """Give the ids of all edges from which the projection leads to the goal."""
    backward = _reached([goal], ((e.head, tail) for e in flat.edges for tail in e.tail))
    return frozenset(edge.id for edge in flat.edges if edge.head in backward)


def committed(flat: Flat, *, last: bool = False) -> frozenset[str]:
    """Give what follows if each atom that is no leaf is tried by one edge: its first, or last."""
    chosen: dict[str, Hyperedge] = {}
    for edge in reversed(flat.edges) if last else flat.edges:
        chosen.setdefault(edge.head, edge)
    return closure(flat.leaves, list(chosen.values()))


def closure(leaves: Collection[str], edges: Sequence[Hyperedge]) -> frozenset[str]:
    """Close by looking at every edge until nothing changes."""
    derived = set(leaves)
    while True:
        new = {edge.head for edge in edges if derived.issuperset(edge.tail)} - derived
        if not new:
            return frozenset(derived)
        derived |= new


def without_turns(graph: Hypergraph) -> Hypergraph:
    """Forget since when a fact holds: `open(c)@7` and `open(c)@3` become one atom."""

    def plain(atoms: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted({atom.rpartition("@")[0] or atom for atom in atoms}))

    atoms = {plain([atom.id])[0]: atom for atom in graph.atoms}
    edges = [
        replace(edge, tail=plain(edge.tail), head=plain([edge.head])[0])
        for edge in graph.hyperedges
    ]
    return Hypergraph(
        tuple(replace(atom, id=name) for name, atom in sorted(atoms.items())),
        tuple(edge for edge in edges if edge.head not in edge.tail),
        graph.units,
        plain(graph.given),
        graph.goals,
    )
