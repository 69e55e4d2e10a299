"""Class hierarchies in RDF, by whomever: OWL classes and SKOS concepts, read as pairs of labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from . import vocabulary as iri
from .dimension import Dimension, Pair, define_taxonomy
from .errors import DimensionRejected
from .left_aside import LeftAside, class_expression, left_aside
from .rdf_terms import Triple

_CLASS_TYPES = frozenset({iri.OWL + "Class", iri.RDFS + "Class", iri.SKOS + "Concept"})
_EQUIVALENT = iri.OWL + "equivalentClass"
_AXIOMS = {
    iri.RDFS + "subClassOf": "subclass of",
    iri.SKOS + "broader": "narrower than",
    _EQUIVALENT: "equivalent to",
    iri.OWL + "disjointWith": "disjoint with",
    iri.OWL + "disjointUnionOf": "disjoint union",
}
_BUILT_IN = (iri.OWL, iri.RDF, iri.RDFS, iri.XSD, iri.SKOS)


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Classes by label: `broader` pairs (lower, upper) and the rest of what a dimension holds.

    `left_aside` is what the axioms say besides.
    """

    classes: frozenset[str]
    labels: dict[str, str]
    broader: frozenset[Pair]
    disjoint: frozenset[Pair]
    allowed_ambiguities: frozenset[Pair]
    alternatives: frozenset[Pair]
    equivalents: frozenset[Pair]
    left_aside: tuple[LeftAside, ...] = ()

    def below(self, root_iri: str) -> Hierarchy:
        """The part at or below a class."""
        lower: dict[str, list[str]] = defaultdict(list)
        for low, high in self.broader:
            lower[high].append(low)
        found = [self.labels[root_iri]] if root_iri in self.labels else []
        inside = set(found)
        for label in found:
            fresh = sorted(set(lower[label]) - inside)
            inside.update(fresh)
            found.extend(fresh)
        return replace(
            self,
            classes=frozenset(inside),
            broader=frozenset(pair for pair in self.broader if inside.issuperset(pair)),
            disjoint=frozenset(pair for pair in self.disjoint if inside.issuperset(pair)),
            allowed_ambiguities=frozenset(
                pair for pair in self.allowed_ambiguities if inside.issuperset(pair)
            ),
            alternatives=frozenset(pair for pair in self.alternatives if pair[0] in inside),
            equivalents=frozenset(pair for pair in self.equivalents if pair[0] in inside),
        )

    def under(self, root: str) -> Hierarchy:
        """The same with `root` above all classes that nothing is broader than."""
        lows = {low for low, high in self.broader if low != high}
        tops = {label for label in self.classes if label not in lows and label != root}
        return replace(
            self,
            classes=self.classes | {root},
            broader=self.broader | {(label, root) for label in tops},
        )

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


def read_hierarchy(triples: Sequence[Triple], languages: Sequence[str] = ("",)) -> Hierarchy:
    """Read classes, or concepts, and their order; restrictions order nothing and are left aside.

    Of classes declared equivalent, the one with the most neighbours stands for all, then the first
    by label. Raises DimensionRejected where two classes have one label.
    """
    reader = _Reader(triples, languages)
    chosen = reader.representatives()
    labels = {node: reader.label(node) for node in sorted(reader.classes)}
    of_label: dict[str, str] = {}
    clashes: list[str] = []
    for node, label in labels.items():
        other = of_label.setdefault(label, node)
        if other != node:
            clashes.append(f"<{other}> and <{node}> are both labelled {label!r}")
    if clashes:
        raise DimensionRejected("; ".join(clashes) + "; expected one class per label")

    def named(pairs: Iterable[Pair]) -> frozenset[Pair]:
        return frozenset((labels[chosen[low]], labels[chosen[high]]) for low, high in pairs)

    kept = {node for node in reader.classes if chosen[node] == node}
    return Hierarchy(
        classes=frozenset(labels[node] for node in kept),
        labels={node: labels[chosen[node]] for node in reader.classes},
        broader=frozenset(pair for pair in named(reader.broader) if pair[0] != pair[1]),
        disjoint=named(reader.disjoint),
        allowed_ambiguities=named(reader.allowed),
        alternatives=frozenset(
            (labels[node], other) for node in kept for other in reader.other_labels(node)
        ),
        equivalents=frozenset(
            (labels[chosen[node]], labels[node]) for node in reader.classes - kept
        ),
        left_aside=left_aside(
            (reader.label(node) if node else "", reason) for node, reason in reader.left
        ),
    )


class _Reader:
    """Triples by subject and predicate, and the pairs of classes in them."""

    def __init__(self, triples: Sequence[Triple], languages: Sequence[str]) -> None:
        self.languages = languages
        self.about: dict[tuple[str, str], list[Triple]] = defaultdict(list)
        for triple in triples:
            self.about[triple.subject, triple.predicate].append(triple)
        self.classes: set[str] = set()
        self.broader: set[Pair] = set()
        self.disjoint: set[Pair] = set()
        self.equivalent: set[Pair] = set()
        self.allowed: set[Pair] = set()
        self.left: list[tuple[str, str]] = []
        for triple in triples:
            self._read(triple)
        for pairs in (self.broader, self.disjoint, self.equivalent, self.allowed):
            for pair in list(pairs):
                if any(_is_built_in(node) for node in pair):
                    pairs.discard(pair)
                else:
                    self.classes.update(pair)

    def _read(self, triple: Triple) -> None:
        subject, found = triple.subject, triple.object
        if subject.startswith("_:") and triple.predicate in _AXIOMS:
            what = class_expression(subject, self.about)
            self.left.append(("", f"an axiom about {what}"))
            return
        match triple.predicate:
            case p if p == iri.RDF + "type":
                if found in _CLASS_TYPES and not subject.startswith("_:"):
                    if not _is_built_in(subject):
                        self.classes.add(subject)
                elif found == iri.OWL + "AllDisjointClasses":
                    for members in self.about[subject, iri.OWL + "members"]:
                        self.disjoint.update(combinations(sorted(self._list(members.object)), 2))
            case p if p in (iri.RDFS + "subClassOf", iri.SKOS + "broader"):
                self.broader.update((subject, above) for above in self._above(triple))
                if not _is_built_in(subject):
                    self.classes.add(subject)
            case p if p == iri.SKOS + "narrower":
                self.broader.add((found, subject))
            case p if p == iri.OWL + "disjointWith":
                if triple.kind == "iri":
                    self.disjoint.add((subject, found))
                else:
                    self._leave(triple, found)
            case p if p == iri.OWL + "equivalentClass":
                if triple.kind == "iri":
                    self.equivalent.add((subject, found))
                else:
                    self.broader.update((subject, above) for above in self._above(triple))
                    for union in self.about[found, iri.OWL + "unionOf"]:
                        self.broader.update((low, subject) for low in self._list(union.object))
                        self._leave_members(triple, union.object)
            case p if p == iri.OWL + "disjointUnionOf":
                members_below = sorted(self._list(found))
                self.broader.update((low, subject) for low in members_below)
                self.disjoint.update(combinations(members_below, 2))
            case p if p == iri.PROOFWEAVE + "allowedAmbiguity":
                self.allowed.add((subject, found))
            case p if p == iri.OWL + "imports":
                self.left.append(("", f"what <{found}> says, which is not fetched"))

    def _above(self, triple: Triple) -> Iterator[str]:
        """The named classes that the object is or is an intersection with."""
        if triple.kind == "iri":
            yield triple.object
            return
        intersections = self.about[triple.object, iri.OWL + "intersectionOf"]
        for intersection in intersections:
            yield from self._list(intersection.object)
            self._leave_members(triple, intersection.object)
        is_union = bool(self.about[triple.object, iri.OWL + "unionOf"])
        if not intersections and not (is_union and triple.predicate == _EQUIVALENT):
            self._leave(triple, triple.object)

    def _leave(self, axiom: Triple, node: str) -> None:
        what = class_expression(node, self.about)
        self.left.append((axiom.subject, f"{_AXIOMS[axiom.predicate]} {what}"))

    def _leave_members(self, axiom: Triple, first: str) -> None:
        for member in self._members(first):
            if member.kind != "iri":
                self._leave(axiom, member.object)

    def _list(self, node: str) -> Iterator[str]:
        """The IRIs in an RDF list."""
        return (member.object for member in self._members(node) if member.kind == "iri")

    def _members(self, node: str) -> Iterator[Triple]:
        """The triples that hold the members of an RDF list."""
        seen: set[str] = set()
        while node != iri.RDF + "nil" and node not in seen:
            seen.add(node)
            yield from self.about[node, iri.RDF + "first"]
            rest = self.about[node, iri.RDF + "rest"]
            node = rest[0].object if rest else iri.RDF + "nil"

    def representatives(self) -> dict[str, str]:
        """The class that stands for each class and its equivalents."""
        groups = {node: {node} for node in self.classes}
        for low, high in sorted(self.equivalent):
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

    def other_labels(self, node: str) -> set[str]:
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
