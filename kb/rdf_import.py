"""RDF as a source: each triple a statement, its line or block the quote.

A predicate says its dimension by the mapping, by an IRI of this knowledge base, by a term of OWL or
SKOS that means the same, or by its local name. What nobody has defined is not imported: it is
listed, or defined first where that is asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from . import vocabulary as iri
from .admission import Admission, Grounded
from .class_labels import ClassLabels
from .dimension import Dimension, DimensionKind
from .document import Document
from .errors import KnowledgeError, MappingRejected
from .knowledge_base import KnowledgeBase
from .rdf_pieces import BrokenPiece
from .rdf_reading import Read, read_rdf
from .rdf_values import Names, kind_of, value_of
from .statement import Evidence, Statement
from .table_columns import OF_NAMES
from .table_mapping import ColumnMapping, TableMapping, dimension_name, nearest

EXTRACTOR = "rdf/1"

_SAME = {
    iri.OWL + "sameAs": ColumnMapping("same_as", DimensionKind.ENTITY),
    iri.RDFS + "subClassOf": ColumnMapping("subclass_of", DimensionKind.TAXONOMIC),
    iri.SKOS + "broader": ColumnMapping("subclass_of", DimensionKind.TAXONOMIC),
}
"""Terms of others for what has a name here."""

LINES_KEPT = 5
LONGEST_REASON = 600
"""Code points of a reason that are kept."""
MOST_REASONS = 10_000
"""Reasons that are told apart; refusals for further ones are counted together."""

UNNAMED_CLASS = "subclass_of: a class without a name, such as a restriction, has no place in it"
OTHER_REASONS = "other reasons"
RECORDED = 1000
"""Refusals that the log keeps one by one; all are counted."""


NO_MAPPING = TableMapping()


@dataclass(frozen=True, slots=True)
class RdfOptions:
    """How a document is read.

    `mapping` says what predicates stand for, by IRI or local name. Entities whose IRI begins with
    one of `prefixes` are named by the rest. Of literals with a language only those in `languages`
    are taken, all if there are none. With `define`, predicates that nobody has defined are.
    """

    mapping: TableMapping = NO_MAPPING
    prefixes: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    define: bool = False


AS_IT_IS = RdfOptions()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something was not imported, how often, and on which lines first."""

    reason: str
    count: int
    lines: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class RdfReport:
    """What an import did; `refused` by reason, `defined` are the dimensions that it defined."""

    admission: Admission
    refused: tuple[Refusal, ...]
    defined: tuple[str, ...]


def import_rdf(
    base: KnowledgeBase,
    document: Document,
    data: bytes,
    *,
    run: str,
    options: RdfOptions = AS_IT_IS,
    reached: Callable[[int], None] | None = None,
) -> RdfReport:
    """Import an RDF document; idempotent, and after a crash the same call goes on.

    `reached` is told the position in the text, of which `define` makes another pass; what it raises
    stops the import. Raises MappingRejected before anything is stored.
    """
    _check_mapping(options.mapping, base.dimensions(), document.name)
    names = Names(base.namespace, options.prefixes)
    defined: tuple[str, ...] = ()
    tell = reached or (lambda _: None)
    if options.define:
        found = definitions(document, base.namespace, base.dimensions(), options, reached=tell)
        for dimension in found:
            base.define_dimension(dimension)
        defined = tuple(dimension.name for dimension in found)
    for dimension in mapped(options.mapping, base.dimensions()):
        base.define_dimension(dimension)
        defined = tuple(sorted((*defined, dimension.name)))
    dimensions = base.dimensions()
    predicates = _Predicates(base.namespace, dimensions, options.mapping)
    classes = {each.name: ClassLabels(each) for each in dimensions if each.taxonomy is not None}
    refusals = Refusals()

    def accepted() -> Iterator[Grounded]:
        for read in read_rdf(document):
            tell(read.end)
            if isinstance(read, BrokenPiece):
                text = document.text[read.start : read.end]
                refusals.add(read.reason, read.line, text)
                continue
            meaning = predicates.meaning(read.predicate)
            if isinstance(meaning, str):
                refusals.add(meaning, read.line, f"<{read.predicate}>", one=True)
                continue
            if not meaning.name:
                continue
            if read.language and not _is_wanted(read.language, options.languages):
                refusals.add(f"in the language {read.language}", read.line, read.object)
                continue
            if meaning == _SAME[iri.RDFS + "subClassOf"] and _has_no_name(read):
                refusals.add(UNNAMED_CLASS, read.line, read.object)
                continue
            try:
                value = value_of(read, meaning.kind, meaning.unit, names, classes.get(meaning.name))
                statement = Statement(names.name(read.subject), meaning.name, value)
                yield statement, _evidence(document, statement, read)
            except KnowledgeError as error:
                told = "" if str(error).startswith(f"{meaning.name} ") else f"{meaning.name}: "
                refusals.add(f"{told}{error}", read.line, read.object)

    admission = base.import_statements(
        document, data, accepted(), run=run, rejected=refusals.recorded
    )
    return RdfReport(admission, refusals.by_reason(), defined)


def _check_mapping(mapping: TableMapping, dimensions: Iterable[Dimension], where: str) -> None:
    kinds = {dimension.name: dimension.kind for dimension in dimensions}
    problems = [
        f"{meaning.name} is defined as {kinds[meaning.name].value}"
        for _, meaning in mapping.dimensions
        if meaning.name in kinds and meaning.kind not in (None, kinds[meaning.name])
    ]
    problems += [
        f"{key!r} is of tables, which {where} is not"
        for key in ("delimiter", "header", "subject", "dimension", "valid_from", "valid_until")
        if getattr(mapping, key) is not None
    ]
    if problems:
        raise MappingRejected(f"{where}: " + "; ".join(problems))


def mapped(mapping: TableMapping, dimensions: Iterable[Dimension]) -> tuple[Dimension, ...]:
    """Give definitions, by name, of what a mapping gives a kind and nobody has defined.

    Classes need an order, so that a kind of classes defines nothing.
    """
    known = {*OF_NAMES, *(dimension.name for dimension in dimensions)}
    found = {
        meaning.name: Dimension(
            meaning.name,
            meaning.kind,
            unit=meaning.unit if meaning.kind is DimensionKind.QUANTITY else None,
        )
        for _, meaning in mapping.dimensions
        if meaning.name not in known and meaning.kind not in (None, DimensionKind.TAXONOMIC)
    }
    return tuple(found[name] for name in sorted(found) if name)


def definitions(
    document: Document,
    namespace: str,
    dimensions: Iterable[Dimension],
    options: RdfOptions,
    *,
    reached: Callable[[int], None] = lambda _: None,
) -> tuple[Dimension, ...]:
    """Give definitions, by name, of what the predicates name and nobody has defined.

    The kind is the one that all values have; where they have several, text if all are literals,
    and else there is no definition.
    """
    predicates = _Predicates(namespace, dimensions, options.mapping)
    kinds: dict[str, set[DimensionKind]] = {}
    for read in read_rdf(document):
        reached(read.end)
        if isinstance(read, Read) and (name := predicates.undefined(read.predicate)):
            kinds.setdefault(name, set()).add(kind_of(read))
    return tuple(
        Dimension(name, kind) for name, found in sorted(kinds.items()) if (kind := _common(found))
    )


def _common(kinds: set[DimensionKind]) -> DimensionKind | None:
    if len(kinds) == 1:
        return next(iter(kinds))
    return None if DimensionKind.ENTITY in kinds else DimensionKind.TEXT


class _Predicates:
    """What predicates stand for, resolved once each, in the order in which they come."""

    def __init__(
        self, namespace: str, dimensions: Iterable[Dimension], mapping: TableMapping
    ) -> None:
        self._namespace = namespace
        self._defined = {dimension.name: dimension for dimension in dimensions}
        self._mapping = mapping
        self._listed = dict(mapping.dimensions)
        self._known: dict[str, ColumnMapping | str] = {}
        self._taken: dict[str, str] = {}

    def meaning(self, predicate: str) -> ColumnMapping | str:
        """Give the dimension with its kind and unit, or why there is none."""
        if predicate not in self._known:
            self._known[predicate] = self._resolve(predicate)
        return self._known[predicate]

    def undefined(self, predicate: str) -> str:
        """Give the name that a predicate would be defined by; empty where that is not needed."""
        meaning = self.meaning(predicate)
        name = _local_name(predicate) if isinstance(meaning, str) else None
        return name if name and self._taken.get(name) == predicate else ""

    def _resolve(self, predicate: str) -> ColumnMapping | str:
        local = re.split(r"[#/:]", predicate)[-1]
        listed = self._listed.get(predicate) or self._listed.get(local)
        if listed is not None:
            return self._with_kind(listed)
        if predicate in _SAME:
            return _SAME[predicate]
        try:
            name: str | None = iri.dimension_name(self._namespace, predicate)
        except KnowledgeError:
            name = _local_name(predicate)
        if name is None:
            return f"<{predicate}> names no dimension; map it to one"
        other = self._taken.setdefault(name, predicate)
        if other != predicate:
            return f"<{predicate}> would be {name}, as <{other}> is; map one of them"
        if name in self._defined:
            return self._with_kind(ColumnMapping(name))
        near = nearest(name, sorted(self._defined)) if self._defined else ""
        hint = near if near.startswith("; the nearest") else ""
        return f"no dimension {name} is defined for <{predicate}>{hint}"

    def _with_kind(self, meaning: ColumnMapping) -> ColumnMapping:
        dimension = self._defined.get(meaning.name)
        kind = dimension.kind if dimension else self._mapping.kind
        unit = dimension.unit if dimension else None
        return ColumnMapping(meaning.name, meaning.kind or kind, meaning.unit or unit)


def _has_no_name(read: Read) -> bool:
    return read.subject.startswith("_:") or (not read.datatype and read.object.startswith("_:"))


def _local_name(predicate: str) -> str | None:
    return dimension_name(re.split(r"[#/:]", predicate)[-1])


def _is_wanted(language: str, wanted: tuple[str, ...]) -> bool:
    """Whether a tag is in a range, as RFC 4647 says of basic filtering."""
    tag = language.lower()
    return not wanted or any(
        tag == each.lower() or tag.startswith(f"{each.lower()}-") for each in wanted
    )


def _evidence(document: Document, statement: Statement, read: Read) -> Evidence:
    return Evidence(
        statement.id,
        document.source_sha256,
        document.text_sha256,
        read.start,
        read.end,
        document.text[read.start : read.end],
        f"{EXTRACTOR} {read.form}",
    )


@dataclass(slots=True)
class Refusals:
    """Refusals as they come; `recorded` is what the log keeps of them."""

    recorded: list[tuple[str, str]] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)
    _first: dict[str, tuple[list[int], str]] = field(default_factory=dict)

    def add(self, reason: str, line: int, text: str, *, one: bool = False) -> None:
        """Count a refusal; with `one`, the log keeps only the first of its reason.

        A reason quotes what it is about; a very long one is cut in the middle.
        """
        if len(reason) > LONGEST_REASON:
            half = LONGEST_REASON // 2
            reason = f"{reason[:half]} … {reason[-half:]}"
        if reason not in self._counts and len(self._counts) >= MOST_REASONS:
            reason = OTHER_REASONS
        lines, _ = self._first.setdefault(reason, ([], text[:500]))
        if len(self.recorded) < RECORDED and not (one and lines):
            self.recorded.append((f"line {line}: {reason}", text[:500]))
        if len(lines) < LINES_KEPT and line not in lines:
            lines.append(line)
        self._counts[reason] += 1

    def by_reason(self) -> tuple[Refusal, ...]:
        """Give them by reason, the most frequent first, then by the first line."""
        found = [
            Refusal(reason, count, tuple(self._first[reason][0]), self._first[reason][1])
            for reason, count in self._counts.items()
        ]
        return tuple(sorted(found, key=lambda each: (-each.count, each.lines, each.reason)))
