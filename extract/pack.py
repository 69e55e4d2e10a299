"""Packs as values: dimensions, taxonomies and relations that say how text states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.statement import Modality, Polarity

from .normalize import fold
from .taxonomy import Taxonomy


class PatternKind(Enum):
    """How a pattern looks at a sentence."""

    PHRASE = "phrase"
    TEXT = "text"
    PATH = "path"


class SubjectSource(Enum):
    """Where the subject of a pattern without `{subject}` comes from."""

    GOVERNOR = "governor"
    TOPIC = "topic"
    ANCHOR = "anchor"
    DOCUMENT = "document"


class ValidityScope(Enum):
    """Which text limits the time in which a statement holds."""

    NONE = "none"
    SENTENCE = "sentence"
    SECTION = "section"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to say a relation; `file` and one-based `line` are where it stands.

    `unless` rejects a match whose text it finds, `not_before` one whose value it finds to follow;
    `lead` restricts the pattern to the first sentence of a titled passage, `opening` to passages
    in whose first sentence that expression is found.
    """

    kind: PatternKind
    source: str
    subject: SubjectSource
    file: str
    line: int
    unless: str | None = None
    not_before: str | None = None
    lead: bool = False
    opening: str | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """A statement an example must give; texts as in the statement's canonical form."""

    subject: str
    value: str
    polarity: Polarity = Polarity.AFFIRMED
    modality: Modality = Modality.ASSERTED
    start: str | None = None
    end: str | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A text (with the title of its passage, if any) and what its relation must give for it."""

    text: str
    title: str | None
    gives: tuple[Expected, ...]
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Relation:
    """How text states one dimension.

    `labels` are names of `Label: value` lines and of table columns. A relation about documents
    reads also the first heading (`heading`) or the lines above it (`letterhead`). `as_written`
    names a text dimension that gets each value as written.
    """

    dimension: str
    about_document: bool
    labels: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    examples: tuple[Example, ...]
    validity: ValidityScope
    lists: bool
    as_written: str | None
    heading: bool
    letterhead: bool
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class PackDimension:
    """A dimension as a pack declares it; types name kinds of entities (`person`, `work`).

    `roles` are the nouns by which a passage calls what is such a value: a director of films is a
    director or a filmmaker. Two values of an `identifying` dimension are of two entities.
    """

    name: str
    kind: DimensionKind
    label: str
    functional: bool
    unit: str | None
    inverse: str | None
    taxonomy: Taxonomy | None
    subject_types: tuple[str, ...]
    value_types: tuple[str, ...]
    ambiguities: tuple[tuple[str, str], ...]
    roles: tuple[str, ...] = ()
    identifying: bool = False

    def to_dimension(self) -> Dimension:
        """Give the dimension of the knowledge base."""
        taxonomy = self.taxonomy
        if taxonomy is None:
            return Dimension(
                name=self.name,
                kind=self.kind,
                label=self.label,
                functional=self.functional,
                unit=self.unit,
                inverse=self.inverse,
            )
        return define_taxonomy(
            self.name,
            ((edge.child, edge.parent) for edge in taxonomy.edges),
            elements={taxonomy.root},
            label=self.label,
            functional=self.functional,
            disjoint=taxonomy.disjoint,
            allowed_ambiguities=self.ambiguities,
            alternatives=(
                (name, label) for name, labels in taxonomy.labels.items() for label in labels
            ),
        )


@dataclass(frozen=True, eq=False)
class Pack:
    """A domain pack: data only; equal if name and digest are.

    `digest` is the SHA-256 of its files. `subject_labels` name the lines that state what a
    document or section is about; `headers` maps table headers to dimensions; `name_suffixes` end
    the names of organisations; `names` are regular expressions that names of other things of the
    field match in full; `kinds` maps a kind of entity to the nouns that call something so.
    """

    name: str
    version: str
    title: str
    digest: str
    dimensions: tuple[PackDimension, ...]
    taxonomies: tuple[Taxonomy, ...]
    relations: tuple[Relation, ...]
    subject_labels: tuple[str, ...]
    headers: Mapping[str, str]
    name_suffixes: tuple[str, ...]
    names: tuple[str, ...]
    kinds: Mapping[str, tuple[str, ...]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pack) and (self.name, self.digest) == (other.name, other.digest)

    def __hash__(self) -> int:
        return hash((self.name, self.digest))

    @cached_property
    def dimension_of(self) -> Mapping[str, PackDimension]:
        """The dimensions by name."""
        return {dimension.name: dimension for dimension in self.dimensions}

    @cached_property
    def relations_by_label(self) -> Mapping[str, tuple[Relation, ...]]:
        """The relations that a label of a line or column states, by folded label."""
        found: dict[str, list[Relation]] = {}
        for relation in self.relations:
            for label in relation.labels:
                found.setdefault(fold(label), []).append(relation)
        return {label: tuple(relations) for label, relations in found.items()}

    @cached_property
    def folded_subject_labels(self) -> frozenset[str]:
        """The labels of lines that state the subject, folded."""
        return frozenset(fold(label) for label in self.subject_labels)

    def knowledge_dimensions(self) -> tuple[Dimension, ...]:
        """Give the dimensions of the knowledge base, in pack order."""
        return tuple(dimension.to_dimension() for dimension in self.dimensions)
