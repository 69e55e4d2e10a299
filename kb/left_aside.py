"""What a class hierarchy of others says and an order of named classes cannot hold."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from . import vocabulary as iri
from .rdf_terms import Triple

_OPERATIONS = {
    "unionOf": "a union",
    "intersectionOf": "an intersection",
    "complementOf": "a complement",
    "oneOf": "an enumeration",
}
_AXIOMS = {
    iri.RDFS + "subClassOf": ("subclass of", ("intersectionOf",)),
    iri.SKOS + "broader": ("narrower than", ("intersectionOf",)),
    iri.OWL + "equivalentClass": ("equivalent to", ("intersectionOf", "unionOf")),
    iri.OWL + "intersectionOf": ("equivalent to", ()),
    iri.OWL + "unionOf": ("equivalent to", ()),
    iri.OWL + "disjointWith": ("disjoint with", ()),
    iri.OWL + "disjointUnionOf": ("equivalent to", ()),
}
"""How an axiom relates its class to one without a name, and which of its lists order classes."""

_IMPORTS = iri.OWL + "imports"
_BESIDES = frozenset({"onProperty", "onProperties", "onClass", "onDataRange"})


@dataclass(frozen=True, slots=True)
class LeftAside:
    """A kind of axiom that is not kept, how many there are, and of which classes by label, sorted.

    An axiom about no class by name has none.
    """

    reason: str
    count: int
    classes: tuple[str, ...]


def left_aside(triples: Sequence[Triple], label: Callable[[str], str]) -> tuple[LeftAside, ...]:
    """Tell what is said of classes besides their order, the most frequent first, then by reason.

    `label` names a class.
    """
    found: dict[str, list[str]] = defaultdict(list)
    about: dict[tuple[str, str], list[Triple]] = defaultdict(list)
    for triple in triples:
        about[triple.subject, triple.predicate].append(triple)
    for triple in triples:
        for reason in _reasons(triple, about):
            named = "" if triple.subject.startswith("_:") else label(triple.subject)
            found[reason].append(named if triple.predicate != _IMPORTS else "")
    return tuple(
        LeftAside(reason, len(labels), tuple(sorted(set(labels) - {""})))
        for reason, labels in sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))
    )


def _reasons(triple: Triple, about: Mapping[tuple[str, str], Sequence[Triple]]) -> Iterator[str]:
    if triple.predicate == _IMPORTS:
        yield f"what <{triple.object}> says, which is not fetched"
    if triple.predicate not in _AXIOMS:
        return
    relation, kept = _AXIOMS[triple.predicate]
    if triple.subject.startswith("_:"):
        if triple.predicate not in (iri.OWL + "intersectionOf", iri.OWL + "unionOf"):
            yield f"an axiom about {class_expression(triple.subject, about)}"
        return
    if triple.kind == "iri" and not _is_list(triple.object, about):
        return
    lists = [triple.object] if _is_list(triple.object, about) else []
    for name in kept:
        lists += [each.object for each in about.get((triple.object, iri.OWL + name), ())]
    if not lists:
        yield f"{relation} {class_expression(triple.object, about)}"
    for first in lists:
        for member in _members(first, about):
            if member.kind != "iri":
                yield f"{relation} {class_expression(member.object, about)}"


def _members(first: str, about: Mapping[tuple[str, str], Sequence[Triple]]) -> Iterator[Triple]:
    """The triples that hold the members of an RDF list."""
    seen: set[str] = set()
    while first != iri.RDF + "nil" and first not in seen:
        seen.add(first)
        yield from about.get((first, iri.RDF + "first"), ())
        rest = about.get((first, iri.RDF + "rest"), ())
        first = rest[0].object if rest else iri.RDF + "nil"


def _is_list(node: str, about: Mapping[tuple[str, str], Sequence[Triple]]) -> bool:
    return (node, iri.RDF + "first") in about


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
