"""Class hierarchies in RDF, by whomever: OWL classes and SKOS concepts, read as pairs of labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from . import vocabulary as iri
from .dimension import Dimension, Pair, define_taxonomy
from .errors import DimensionRejected
from .rdf_terms import Triple

_CLASS_TYPES = frozenset({iri.OWL + "Class", iri.RDFS + "Class", iri.SKOS + "Concept"})
_BROADER = frozenset(
    (iri.RDFS + "subClassOf", iri.SKOS + "broader", iri.SKOS + "broaderTransitive")
)
_NARROWER = frozenset((iri.SKOS + "narrower", iri.SKOS + "narrowerTransitive"))
_BUILT_IN = (iri.OWL, iri.RDF, iri.RDFS, iri.XSD, iri.SKOS)


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Classes by label: `broader` pairs (lower, upper) and the rest of what a dimension holds."""

    classes: frozenset[str]
    broader: frozenset[Pair]
    disjoint: frozenset[Pair]
    allowed_ambiguities: frozenset[Pair]
    alternatives: frozenset[Pair]
    equivalents: frozenset[Pair]

    def under(self, root: str) -> Hierarchy:
        """The same with `root` above all classes that nothing is broader than."""
        lows = {low for low, high in self.broader if low != high}
        tops = {label for label in self.classes if label not in lows and label != root}
        return replace(
            self,
            classes=self.classes | {root},
            broader=self.broader | {(label, root) for label in tops},
        )

    def naming_equivalents(self) -> Hierarchy:
        """The same with the names of equivalent classes as other labels of a class."""
        names = {(label, other) for label, other in self.equivalents if other not in self.classes}
        return replace(self, alternatives=self.alternatives | names)

    def dimension(
        self,
        name: str,
        *,
        label: str = "",
        functional: bool = False,
        allowed_ambiguities: Iterable[Pair] = (),
    ) -> Dimension:
        """Admit the hierarchy as a dimension.

        Raises DimensionRejected with all problems together.
        """
        return define_taxonomy(
            name,
            self.broader,
            elements=self.classes,
            label=label,
            functional=functional,
            disjoint=self.disjoint,
            allowed_ambiguities=[*self.allowed_ambiguities, *allowed_ambiguities],
            alternatives=self.alternatives,
            equivalents=self.equivalents,
        )


class HierarchyReader:
    """Reads classes, or concepts, and their order; restrictions order nothing (see `left_aside`).

    Holds triples by subject and predicate, and the pairs of classes in them.
    """

    def __init__(self, triples: Sequence[Triple], languages: Sequence[str] = ("",)) -> None:
        self.languages = languages
        self.about: dict[tuple[str, str], list[Triple]] = defaultdict(list)
        for triple in triples:
            self.about[triple.subject, triple.predicate].append(triple)
        self.classes: set[str] = set()
        self.broader: set[Pair] = set()
        self.disjoint: set[Pair] = set()
        self.equivalent: set[Pair] = set()
        self.allowed: set[Pair] = set()
        for triple in triples:
            self._read(triple)
        for pairs in (self.broader, self.disjoint, self.equivalent, self.allowed):
            for pair in list(pairs):
                if any(_is_built_in(node) or node.startswith("_:") for node in pair):
                    pairs.discard(pair)
                else:
                    self.classes.update(pair)

    def _read(self, triple: Triple) -> None:
        subject, found = triple.subject, triple.object
        match triple.predicate:
            case p if p == iri.RDF + "type":
                if found in _CLASS_TYPES and not subject.startswith("_:"):
                    if not _is_built_in(subject):
                        self.classes.add(subject)
                elif found == iri.OWL + "AllDisjointClasses":
                    for members in self.about[subject, iri.OWL + "members"]:
                        self.disjoint.update(combinations(sorted(self._list(members.object)), 2))
            case p if p in _BROADER:
                self.broader.update((subject, above) for above in self._above(triple))
                if not _is_built_in(subject) and not subject.startswith("_:"):
                    self.classes.add(subject)  # also below what has no name
            case p if p in _NARROWER:
                self.broader.add((found, subject))
            case p if p == iri.OWL + "unionOf" and not subject.startswith("_:"):
                self.broader.update((low, subject) for low in self._list(found))
            case p if p == iri.OWL + "intersectionOf" and not subject.startswith("_:"):
                self.broader.update((subject, high) for high in self._list(found))
            case p if p == iri.OWL + "disjointWith" and triple.kind == "iri":
                self.disjoint.add((subject, found))
            case p if p == iri.OWL + "equivalentClass":
                if triple.kind == "iri":
                    self.equivalent.add((subject, found))
                else:
                    self.broader.update((subject, above) for above in self._above(triple))
                    for union in self.about[found, iri.OWL + "unionOf"]:
                        self.broader.update((low, subject) for low in self._list(union.object))
            case p if p == iri.OWL + "disjointUnionOf":
                members_below = sorted(self._list(found))
                self.broader.update((low, subject) for low in members_below)
                self.disjoint.update(combinations(members_below, 2))
            case p if p == iri.PROOFWEAVE + "allowedAmbiguity":
                self.allowed.add((subject, found))

    def _above(self, triple: Triple) -> Iterator[str]:
        """The named classes that the object is or is an intersection with."""
        if triple.kind == "iri":
            yield triple.object
            return
        for intersection in self.about[triple.object, iri.OWL + "intersectionOf"]:
            yield from self._list(intersection.object)

    def _list(self, node: str) -> Iterator[str]:
        """The IRIs in an RDF list."""
        seen: set[str] = set()
        while node != iri.RDF + "nil" and node not in seen:
            seen.add(node)
            for first in self.about[node, iri.RDF + "first"]:
                if first.kind == "iri":
                    yield first.object
            rest = self.about[node, iri.RDF + "rest"]
            node = rest[0].object if rest else iri.RDF + "nil"

    def hierarchy(self, *, below: str | None = None) -> Hierarchy:
        """Give all classes by label, or those at or below a class.

        Of classes declared equivalent, the one with the most neighbours stands for all, then the
        first by label. Raises DimensionRejected where two classes have one label.
        """
        classes = self.classes if below is None else self._below(below)
        chosen = self._representatives(classes)
        labels = {node: self.label(node) for node in sorted(classes)}
        of_label: dict[str, str] = {}
        clashes: list[str] = []
        for node, label in labels.items():
            other = of_label.setdefault(label, node)
            if other != node:
                clashes.append(f"<{other}> and <{node}> are both labelled {label!r}")
        if clashes:
            raise DimensionRejected("; ".join(clashes) + "; expected one class per label")

        def named(pairs: Iterable[Pair]) -> frozenset[Pair]:
            return frozenset(
                (labels[chosen[low]], labels[chosen[high]])
                for low, high in pairs
                if low in classes and high in classes
            )

        kept = {node for node in classes if chosen[node] == node}
        return Hierarchy(
            classes=frozenset(labels[node] for node in kept),
            broader=frozenset(pair for pair in named(self.broader) if pair[0] != pair[1]),
            disjoint=named(self.disjoint),
            allowed_ambiguities=named(self.allowed),
            alternatives=frozenset(
                (labels[node], other) for node in kept for other in self._other_labels(node)
            ),
            equivalents=frozenset((labels[chosen[node]], labels[node]) for node in classes - kept),
        )

    def _below(self, root: str) -> set[str]:
        """The classes at or below one, with all that they are declared equivalent to."""
        lower: dict[str, set[str]] = defaultdict(set)
        for low, high in (*self.broader, *self.equivalent, *((b, a) for a, b in self.equivalent)):
            lower[high].add(low)
        inside = {root} & self.classes
        stack = list(inside)
        while stack:
            fresh = lower[stack.pop()] - inside
            inside |= fresh
            stack.extend(fresh)
        return inside

    def _representatives(self, classes: set[str]) -> dict[str, str]:
        """The class that stands for each class and its equivalents."""
        groups = {node: {node} for node in classes}
        for low, high in sorted(self.equivalent):
            if low not in groups or high not in groups:
                continue
            if groups[low] is not groups[high]:
                groups[low] |= groups[high]
                for node in groups[high]:
                    groups[node] = groups[low]
        neighbours: dict[str, int] = defaultdict(int)
        for pair in self.broader:
            for node in pair:
                neighbours[node] += 1
        return {
            node: min(group, key=lambda other: (-neighbours[other], self.label(other), other))
            for node, group in groups.items()
        }

    def label(self, node: str) -> str:
        """The preferred label of a class."""
        for predicate in (iri.SKOS + "prefLabel", iri.RDFS + "label"):
            found = self.about[node, predicate]
            for language in self.languages:
                texts = sorted(t.object for t in found if t.language == language)
                if texts:
                    return texts[0]
            if found:
                return min(found, key=lambda t: (t.language, t.object)).object
        return node.rstrip("/#").rpartition("#")[2].rpartition("/")[2]

    def _other_labels(self, node: str) -> set[str]:
        """All other labels of a class."""
        found = {
            triple.object
            for predicate in ("prefLabel", "altLabel", "hiddenLabel")
            for triple in self.about[node, iri.SKOS + predicate]
        }
        found |= {triple.object for triple in self.about[node, iri.RDFS + "label"]}
        return found - {self.label(node)}


def _is_built_in(node: str) -> bool:
    return node.startswith(_BUILT_IN)
