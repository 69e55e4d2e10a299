"""A hypergraph with atoms assumed and units left out, for one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import GoalRejected
from .decision import near_name
from .graph import Hypergraph, Unit

ASSUMED = "assumed: "
"""Begins the id of a unit that stands for an assumption."""


def suppose(
    graph: Hypergraph, *, assumed: Sequence[str] = (), left_out: Sequence[str] = ()
) -> Hypergraph:
    """Add a unit for each assumed atom, and leave out the units `left_out`, named by id.

    The units of assumptions come last, so that proofs prefer what is stated. Raises GoalRejected
    with all ids that the hypergraph does not have.
    """
    atoms = {atom.id for atom in graph.atoms}
    units = {unit.id for unit in graph.units}
    added = tuple(Unit(f"{ASSUMED}{atom}", (atom,)) for atom in sorted(set(assumed)))
    problems = [
        *(
            f"the assumption {atom!r} is no atom of the hypergraph{near_name(atom, atoms)}"
            for atom in assumed
            if atom not in atoms
        ),
        *(
            f"{name!r} cannot be left out: it is no unit of the hypergraph{near_name(name, units)}"
            for name in left_out
            if name not in units
        ),
        *(f"the hypergraph has a unit {unit.id!r} already" for unit in added if unit.id in units),
    ]
    if problems:
        raise GoalRejected("; ".join(problems))
    gone = set(left_out)
    kept = tuple(unit for unit in graph.units if unit.id not in gone)
    return replace(graph, units=(*kept, *added))


def assumed_atom(unit: str | None) -> str | None:
    """Give the atom that a unit assumes; None for a unit of the file.

    >>> assumed_atom("assumed: rain"), assumed_atom("u1")
    ('rain', None)
    """
    return unit.removeprefix(ASSUMED) if unit is not None and unit.startswith(ASSUMED) else None
