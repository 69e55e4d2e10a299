"""What a class hierarchy of others says and an order of named classes cannot hold."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from . import vocabulary as iri
from .rdf_terms import Triple

_OPERATIONS = {
    "unionOf": "a union",
    "intersectionOf": "an intersection",
    "complementOf": "a complement",
    "oneOf": "an enumeration",
}
_BESIDES = frozenset({"onProperty", "onProperties", "onClass", "onDataRange"})


@dataclass(frozen=True, slots=True)
class LeftAside:
    """A kind of axiom that is not kept, how many there are, and of which classes by label, sorted.

    An axiom about no class by name has none.
    """

    reason: str
    count: int
    classes: tuple[str, ...]


def left_aside(axioms: Iterable[tuple[str, str]]) -> tuple[LeftAside, ...]:
    """Gather pairs of label and reason by reason, the most frequent first, then by reason."""
    found: dict[str, list[str]] = defaultdict(list)
    for label, reason in axioms:
        found[reason].append(label)
    return tuple(
        LeftAside(reason, len(labels), tuple(sorted(set(labels) - {""})))
        for reason, labels in sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))
    )


def class_expression(node: str, about: Mapping[tuple[str, str], Sequence[Triple]]) -> str:
    """Say what a class without a name is: `a restriction on hasPart (someValuesFrom)`."""
    said = {
        predicate.removeprefix(iri.OWL): triples[0].object
        for subject, predicate in [(node, iri.OWL + name) for name in _EXPRESSIONS]
        if (triples := about.get((subject, predicate)))
    }
    on = said.get("onProperty")
    if on is not None:
        kinds = sorted(said.keys() - _BESIDES - _OPERATIONS.keys())
        how = f" ({', '.join(kinds)})" if kinds else ""
        return f"a restriction on {local_name(on)}{how}"
    for name, what in _OPERATIONS.items():
        if name in said:
            return what
    return "a class without a name"


def local_name(node: str) -> str:
    """Give the last part of an IRI."""
    return re.split(r"[#/]", node.rstrip("/#"))[-1]


_EXPRESSIONS = (
    *_OPERATIONS,
    *("onProperty", "onClass", "onDataRange"),
    *("someValuesFrom", "allValuesFrom", "hasValue", "hasSelf"),
    *("cardinality", "minCardinality", "maxCardinality"),
    *("qualifiedCardinality", "minQualifiedCardinality", "maxQualifiedCardinality"),
)
