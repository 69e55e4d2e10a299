"""Compiles a slice to a Horn program: its certain instances and its facts, everything given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from .atom import Atom
from .captured import Captured
from .collection import paused_collection
from .edges import AtomKey, Met
from .facts import Fact
from .horn import HornProgram, IntArray
from .later import Each
from .relation import Stating
from .slice import AtomPremise, Instance, Slice


@dataclass(frozen=True, slots=True)
class Leaf:
    """What a slice rests on and can lose: one statement with all it states, or one other fact.

    `name` is the leaf of its facts (`st:...`, `provenance`, `request`, ...); only a statement may
    carry several facts.
    """

    name: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, eq=False)
class SliceNames:
    """What the numbers of a compiled slice mean.

    Atom `i` is `atoms[i]`; atom `len(atoms) + j` stands for `leaves[j]`. `origins[c]` is the rule
    instance or the fact behind clause `c`. `number` gives the number of an atom, or None where the
    slice does not hold it.
    """

    atoms: Sequence[Atom]
    leaves: Sequence[Leaf]
    origins: Sequence[Instance | Fact]
    number: Callable[[Atom], int | None]

    def leaf(self, number: int) -> Leaf | None:
        """Give the leaf a number stands for, or None for an ordinary atom."""
        index = number - len(self.atoms)
        return self.leaves[index] if index >= 0 else None

    @property
    def leaf_numbers(self) -> range:
        """Numbers that stand for leaves, in leaf order."""
        return range(len(self.atoms), len(self.atoms) + len(self.leaves))


_LEAF_ORDER = {"provenance": 1, "identity": 2, "request": 3, "assumed": 4}
"""Statements come first and assumptions last, so that proofs prefer what is stated."""

Given = TypeVar("Given")
"""A fact, or what it can be written from."""


@dataclass(frozen=True, slots=True)
class _Numbered(Generic[Given]):
    """A slice in numbers: its instances as edges, its atoms, and its facts with atom and leaf.

    The tail of edge `e` is `tails[starts[e]:starts[e + 1]]`; facts of one leaf are in their order.
    """

    heads: Sequence[int]
    tails: Sequence[int]
    starts: Sequence[int]
    instances: Sequence[Instance]
    atoms: Sequence[Atom]
    number: Callable[[Atom], int | None]
    facts: Iterable[tuple[int, str, Given]]
    text: Callable[[Given], str]
    fact: Callable[[Given], Fact]


def compile_slice(part: Slice) -> tuple[HornProgram, SliceNames]:
    """Compile the certain instances and the facts of a slice, everything given.

    Clauses are the instances in slice order, then the facts. Comparisons, absences and aggregates
    of a certain instance hold and leave no tail atom. Leaves are statements by id, then provenance,
    identity, request and assumptions by atom text. What an evaluation captured is compiled from
    its ids: atoms, origins and leaves are written when they are read.
    """
    instances, facts = part.instances, part.facts
    with paused_collection():
        if (
            isinstance(instances, Captured)
            and isinstance(facts, Met)
            and facts.edges.captured is instances
            and instances.is_certain
        ):
            return _assemble(_from_ids(instances, facts))
        return _assemble(_from_atoms(instances, facts))


def _from_atoms(instances: Iterable[Instance], facts: Iterable[Fact]) -> _Numbered[Fact]:
    """Number atoms by first mention, an instance naming its tail before its head."""
    numbers: dict[Atom, int] = {}

    def intern(atom: Atom) -> int:
        return numbers.setdefault(atom, len(numbers))

    heads: list[int] = []
    tails: list[int] = []
    starts = [0]
    certain = [instance for instance in instances if instance.is_certain]
    for instance in certain:
        for premise in instance.premises:
            if isinstance(premise, AtomPremise):
                tails.append(intern(premise.atom))
        starts.append(len(tails))
        heads.append(intern(instance.head))
    stated = [(intern(fact.atom), fact.leaf, fact) for fact in facts]
    return _Numbered(
        heads,
        tails,
        starts,
        certain,
        tuple(numbers),
        numbers.get,
        stated,
        text=lambda fact: str(fact.atom),
        fact=lambda fact: fact,
    )


def _from_ids(instances: Captured, facts: Met) -> _Numbered[tuple[AtomKey, Stating]]:
    """Take the numbers of the edges; atoms of facts that no instance mentions follow by text."""
    edges = facts.edges
    numbers = edges.numbers
    others = sorted((key for key in facts.stated if key not in numbers), key=edges.text)
    added = {key: at for at, key in enumerate(others, start=len(numbers))}
    keys = [*numbers, *others]

    def number(atom: Atom) -> int | None:
        key = edges.key_of(atom)
        if key is None:
            return None
        return numbers[key] if key in numbers else added.get(key)

    def fact(given: tuple[AtomKey, Stating]) -> Fact:
        return Fact(edges.atom(given[0]), *given[1])

    stated = [
        (numbers[key] if key in numbers else added[key], stating[0], (key, stating))
        for key, stating in facts.by_leaf()
    ]
    return _Numbered(
        edges.heads,
        edges.tails,
        edges.starts,
        instances,
        Each(len(keys), lambda at: edges.atom(keys[at])),
        number,
        stated,
        text=lambda given: edges.text(given[0]),
        fact=fact,
    )


def _assemble(found: _Numbered[Given]) -> tuple[HornProgram, SliceNames]:
    """Add a leaf for what each fact rests on, and a clause from it to the fact."""
    statements: dict[str, list[tuple[int, Given]]] = {}
    others: dict[tuple[int, str, str], list[tuple[int, Given]]] = {}
    for number, leaf, given in found.facts:
        rank = _LEAF_ORDER.get(leaf)
        if rank is None:
            statements.setdefault(leaf, []).append((number, given))
        else:
            others.setdefault((rank, leaf, found.text(given)), []).append((number, given))
    first_leaves, last_leaves = sorted(statements), sorted(others)
    leaf_names = [*first_leaves, *(leaf for _, leaf, _ in last_leaves)]
    groups = [*map(statements.__getitem__, first_leaves), *map(others.__getitem__, last_leaves)]
    stated = [item for group in groups for item in group]
    first, edge_count, fact = len(found.atoms), len(found.heads), found.fact
    leaf_of = [number for number, group in enumerate(groups, start=first) for _ in group]
    starts = len(found.tails) + np.arange(1, len(stated) + 1, dtype=np.int32)

    def origin(place: int) -> Instance | Fact:
        if place < edge_count:
            return found.instances[place]
        return fact(stated[place - edge_count][1])

    def leaf_at(place: int) -> Leaf:
        return Leaf(leaf_names[place], tuple([fact(given) for _, given in groups[place]]))

    names = SliceNames(
        found.atoms,
        Each(len(groups), leaf_at),
        Each(edge_count + len(stated), origin),
        found.number,
    )
    program = HornProgram(
        first + len(groups),
        _joined(found.heads, [number for number, _ in stated]),
        _joined(found.starts, starts),
        _joined(found.tails, leaf_of),
        np.array(names.leaf_numbers, np.int32),
    )
    return program, names


def _joined(first: Sequence[int], second: Sequence[int] | IntArray) -> IntArray:
    return np.concatenate([np.array(first, np.int32), np.array(second, np.int32)])
