"""A made world for meets: instances, dimensions with trees and DAGs of classes, and queries.

Everything follows from the seed. The shape is that of LatWeave (arXiv 2609.27225): 1,741 dimensions
and 4.5 pairs (dimension, value) per instance, so 5.4 million for 1.2 million instances. A dimension
of rank r is drawn with weight 1/(r + 20); it has 8 to 400 classes, two in five are DAGs, where a
tenth of the classes have a second parent. Deep classes are stated more often than broad ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.admission import Grounded
from kb.constraint import Constraint
from kb.dimension import Dimension, define_taxonomy
from kb.document import decode
from kb.knowledge_base import KnowledgeBase
from kb.poset import poset
from kb.statement import Evidence, Statement, TaxonClass

SEED = 20261130
DIMENSIONS = 1741
_PER_TABLE = 200_000

Wanted = tuple[tuple[int, int], ...]
"""A query: dimension and class, by number, of each constraint."""


@dataclass(frozen=True, slots=True)
class World:
    """Instances with their pairs, by number, in order of instance; parents of each class."""

    instances: int
    parents: tuple[tuple[tuple[int, ...], ...], ...]
    owner: NDArray[np.uint32]
    dimension: NDArray[np.uint16]
    value: NDArray[np.uint16]

    def ancestors(self, dimension: int, value: int) -> set[int]:
        """Give the classes at or above one."""
        found = {value}
        waiting = [value]
        while waiting:
            for parent in self.parents[dimension][waiting.pop()]:
                if parent not in found:
                    found.add(parent)
                    waiting.append(parent)
        return found

    def descendants(self, dimension: int, value: int) -> list[int]:
        """Give the classes at or below one."""
        return [
            other
            for other in range(len(self.parents[dimension]))
            if value in self.ancestors(dimension, other)
        ]


def make_world(instances: int, *, dimensions: int = DIMENSIONS) -> World:
    """Make a world of so many instances."""
    source = random.Random(SEED)
    parents = tuple(_classes(source, is_dag=source.random() < 0.4) for _ in range(dimensions))
    draw = np.random.default_rng(SEED)
    weights = 1 / (np.arange(dimensions) + 20.0)
    weights /= weights.sum()
    drawn = np.sort(draw.choice(dimensions, size=(instances, 5), p=weights), axis=1)
    while len(again := np.nonzero((drawn[:, 1:] == drawn[:, :-1]).any(axis=1))[0]):
        drawn[again] = np.sort(draw.choice(dimensions, size=(len(again), 5), p=weights), axis=1)
    keep = np.ones_like(drawn, dtype=bool)
    odd = np.arange(1, instances, 2)
    keep[odd, draw.integers(0, 5, len(odd))] = False
    dimension = drawn[keep].astype(np.uint16)
    sizes = np.array([len(classes) for classes in parents])[dimension]
    value = (sizes * (1 - draw.random(len(dimension)) ** 2)).astype(np.uint16)
    owner = np.repeat(np.arange(instances, dtype=np.uint32), keep.sum(axis=1))
    return World(instances, parents, owner, dimension, np.minimum(value, sizes - 1).astype("u2"))


def _classes(source: random.Random, *, is_dag: bool) -> tuple[tuple[int, ...], ...]:
    """Give the parents of each class; class 0 is the root, and parents come before children."""
    size = int(8 * 50 ** source.random())
    parents: list[tuple[int, ...]] = [()]
    for number in range(1, size):
        first = source.randrange(max(0, number // 6 - 2), number // 2 + 1)
        own = {first}
        if is_dag and number > 3 and source.random() < 0.1:
            own.add(source.randrange(number // 2 + 1))
        parents.append(tuple(sorted(own)))
    return tuple(parents)


def make_queries(world: World, count: int) -> tuple[Wanted, ...]:
    """Give distinct queries of 2 to 4 constraints, each a pair of one instance made more general.

    Each class goes 0 to 3 steps up. A tenth has one class taken from elsewhere in its dimension, so
    that it may have no answer.
    """
    source = random.Random(SEED + 1)
    found: dict[Wanted, None] = {}
    while len(found) < count:
        instance = source.randrange(world.instances)
        start, end = np.searchsorted(world.owner, [instance, instance + 1])
        places = source.sample(range(start, end), source.randint(2, 4))
        wanted = []
        for place in sorted(places):
            dimension, value = int(world.dimension[place]), int(world.value[place])
            for _ in range(source.randint(0, 3)):
                above = world.parents[dimension][value]
                value = source.choice(above) if above else value
            wanted.append((dimension, value))
        if source.random() < 0.1:
            dimension = wanted[0][0]
            wanted[0] = (dimension, source.randrange(len(world.parents[dimension])))
        found[tuple(wanted)] = None
    return tuple(found)


def constraints_of(wanted: Wanted) -> list[Constraint]:
    """Write a query as constraints."""
    return [Constraint(f"d{d}", TaxonClass(class_name(d, value))) for d, value in wanted]


def class_name(dimension: int, value: int) -> str:
    """Name a class."""
    return f"c{dimension}_{value}"


def instance_name(number: int) -> str:
    """Name an instance; names sort as numbers do."""
    return f"instance {number:07}"


def oracle(world: World, wanted: Wanted) -> set[int]:
    """Answer a query by sets of pairs, from the definition alone."""
    answers: set[int] | None = None
    for dimension, value in wanted:
        lower = np.array(world.descendants(dimension, value), dtype=np.uint16)
        inside = np.nonzero(world.dimension == dimension)[0]
        at = inside[np.isin(world.value[inside], lower)]
        having = set(world.owner[at].tolist())
        answers = having if answers is None else answers & having
    return answers or set()


def dimensions_of(world: World) -> Iterator[Dimension]:
    """Define the dimensions; ambiguous pairs of DAGs are allowed."""
    for number, parents in enumerate(world.parents):
        pairs = [
            (class_name(number, low), class_name(number, high))
            for low, above in enumerate(parents)
            for high in above
        ]
        ambiguous = poset(pairs, [class_name(number, 0)]).ambiguous_pairs()
        yield define_taxonomy(
            f"d{number}",
            pairs,
            elements=[class_name(number, 0)],
            allowed_ambiguities=[(left, right) for left, right, _ in ambiguous],
        )


def fill(base: KnowledgeBase, world: World) -> None:
    """Put a world into a knowledge base: each pair a row of a table, which is its quote."""
    for dimension in dimensions_of(world):
        base.define_dimension(dimension)
    for start in range(0, len(world.owner), _PER_TABLE):
        end = min(start + _PER_TABLE, len(world.owner))
        rows = [
            f"{instance_name(owner)},d{dimension},{class_name(dimension, value)}"
            for owner, dimension, value in zip(
                world.owner[start:end].tolist(),
                world.dimension[start:end].tolist(),
                world.value[start:end].tolist(),
                strict=True,
            )
        ]
        data = "\n".join(["instance,dimension,value", *rows]).encode()
        document = decode(data, name=f"pairs-{start}.txt")
        digests = (document.source_sha256, document.text_sha256)
        base.import_statements(document, data, _grounded(rows, *digests), run="bench")


def _grounded(rows: list[str], source_sha256: str, text_sha256: str) -> Iterator[Grounded]:
    at = len("instance,dimension,value\n")
    for row in rows:
        subject, dimension, value = row.split(",")
        statement = Statement(subject, dimension, TaxonClass(value))
        place = (source_sha256, text_sha256, at, at + len(row))
        yield statement, Evidence(statement.id, *place, row, "bench/1")
        at += len(row) + 1
