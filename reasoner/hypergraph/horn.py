"""A requirement hypergraph as a Horn program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..horn import HornProgram, horn_program
from .graph import Hyperedge, Hypergraph


@dataclass(frozen=True, eq=False)
class CompiledHypergraph:
    """A program and what its numbers mean.

    Numbers run over the atoms, then the edges that need a witness (true once witnessed), then the
    units, each in order of id. `edges[c]` is the edge behind clause `c`; clauses from
    `len(edges)` on lead from a unit to what it states or witnesses.
    """

    program: HornProgram
    atoms: tuple[str, ...]
    witnessed: tuple[str, ...]
    units: tuple[str, ...]
    edges: tuple[Hyperedge, ...]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {atom: number for number, atom in enumerate(self.atoms)}

    @cached_property
    def _witness_numbers(self) -> dict[str, int]:
        first = len(self.atoms)
        return {edge: number for number, edge in enumerate(self.witnessed, start=first)}

    def lists(self, atom: str) -> bool:
        """Whether the hypergraph has an atom."""
        return atom in self._numbers

    def number(self, atom: str) -> int:
        """Give the number of an atom of the hypergraph."""
        return self._numbers[atom]

    def witness_number(self, edge: str) -> int:
        """Give the number that stands for an edge being witnessed."""
        return self._witness_numbers[edge]

    @property
    def unit_numbers(self) -> range:
        """Numbers that stand for units, in order of id."""
        first = len(self.atoms) + len(self.witnessed)
        return range(first, first + len(self.units))

    def name(self, number: int) -> str:
        """Give the id behind a number; `witnessed(E)` for an edge."""
        if number < len(self.atoms):
            return self.atoms[number]
        number -= len(self.atoms)
        if number < len(self.witnessed):
            return witness_atom(self.witnessed[number])
        return self.units[number - len(self.witnessed)]


def witness_atom(edge: str) -> str:
    """Give the atom text that says an edge is witnessed."""
    return f'witnessed("{edge}")'


def compile_hypergraph(
    graph: Hypergraph, *, without: frozenset[str] = frozenset()
) -> CompiledHypergraph:
    """Compile a hypergraph with its given atoms and all units given.

    Edges from or to atoms in `without` are left out, and nothing states those atoms.
    """
    atoms = tuple(atom.id for atom in graph.atoms)
    witnessed = tuple(edge.id for edge in graph.hyperedges if edge.witness)
    units = tuple(unit.id for unit in graph.units)
    number = {atom: index for index, atom in enumerate(atoms)}
    witness = {edge: index for index, edge in enumerate(witnessed, start=len(atoms))}
    first_unit = len(atoms) + len(witnessed)
    edges = tuple(
        edge
        for edge in graph.hyperedges
        if edge.head not in without and without.isdisjoint(edge.tail)
    )
    clauses = []
    for edge in edges:
        tail = [number[atom] for atom in edge.tail]
        if edge.witness:
            tail.append(witness[edge.id])
        clauses.append((number[edge.head], tail))
    for index, unit in enumerate(graph.units, start=first_unit):
        clauses.extend((number[atom], [index]) for atom in unit.states if atom not in without)
        clauses.extend((witness[edge], [index]) for edge in unit.witnesses)
    given = [number[atom] for atom in graph.given if atom not in without]
    count = first_unit + len(units)
    program = horn_program(count, clauses, [*given, *range(first_unit, count)])
    return CompiledHypergraph(program, atoms, witnessed, units, edges)
