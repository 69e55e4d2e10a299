"""Which IRI a class has in an ontology of several dimensions.

A class that one dimension names, or several with the same order, has the IRI of its label. Where
dimensions name classes alike and order them differently, as the planet and the metal Mercury, they
mean different classes: all dimensions but the first of them then have IRIs of their own.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import vocabulary as iri
from .dimension import Dimension

_OF_DIMENSION = "class/"


class ClassIris:
    """IRIs of the classes of dimensions that are written together."""

    def __init__(self, dimensions: Iterable[Dimension], namespace: str) -> None:
        self._namespace = namespace
        first: dict[str, Dimension] = {}
        self._own: dict[str, set[str]] = {}
        for dimension in sorted(dimensions, key=lambda found: found.name):
            for label in _labels(dimension):
                if _order(first.setdefault(label, dimension)) != _order(dimension):
                    self._own.setdefault(dimension.name, set()).add(label)

    def local(self, dimension: str, label: str) -> str:
        """Give what stands behind the namespace in the IRI of a class."""
        encoded = iri.encoded_name(label)
        if label in self._own.get(dimension, ()):
            return f"{_OF_DIMENSION}{dimension}/{encoded}"
        return encoded

    def iri(self, dimension: str, label: str) -> str:
        """Give the IRI of a class."""
        return self._namespace + self.local(dimension, label)

    def label(self, found: str) -> str:
        """Give the label of a class by its IRI."""
        local = found.removeprefix(self._namespace)
        if local.startswith(_OF_DIMENSION):
            local = local.removeprefix(_OF_DIMENSION).partition("/")[2]
        return iri.entity_name(self._namespace, self._namespace + local)


def _labels(dimension: Dimension) -> set[str]:
    if dimension.taxonomy is None:
        return set()
    return {*dimension.taxonomy.elements, *(other for _, other in dimension.equivalents)}


def _order(dimension: Dimension) -> tuple[object, ...]:
    assert dimension.taxonomy is not None
    return (
        dimension.taxonomy.elements,
        dimension.taxonomy.covers,
        dimension.disjoint,
        dimension.equivalents,
        dimension.alternatives,
        dimension.allowed_ambiguities,
    )
