"""Where the statements of a knowledge base stand, for certificates: the reasoner's `Sources`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from rapidfuzz import fuzz

from extract.names import NameIndex
from kb.dimension import Dimension
from kb.errors import NotFound
from kb.reading import Reading
from reasoner.atom import fold
from reasoner.sources import Candidates, FactsFiles, SourceRecord, StatementRecord
from reasoner.verify import TABLE_ENDINGS, TABLE_TYPES, Texts, is_named

SEARCHED = 5
"""Passages looked at for one open requirement."""

REFUSALS = 3
"""Refused candidates named for one open requirement."""

ALIKE = 80.0
"""Likeness, in percent, from which another name may be mistaken for the one sought."""


class StoredTexts(Mapping[str, str]):
    """The decoded texts of a knowledge base and of a facts file, by digest, read when asked for."""

    def __init__(self, base: Reading, given: Mapping[str, str]) -> None:
        self._base = base
        self._given = given

    def __getitem__(self, text_sha256: str) -> str:
        """Give a text; KeyError where neither has it."""
        if text_sha256 in self._given:
            return self._given[text_sha256]
        try:
            return self._base.text(text_sha256)
        except NotFound as error:
            raise KeyError(text_sha256) from error

    def __iter__(self) -> Iterator[str]:
        """Give the digests, sorted."""
        stored = {record.text_sha256 for record in self._base.documents()}
        return iter(sorted(stored | set(self._given)))

    def __len__(self) -> int:
        """Count the texts."""
        return sum(1 for _ in self)


class KnowledgeSources:
    """Statements, sources and texts of a knowledge base, and of a request's facts file if any.

    One source may be `excluded`, by digest: then it is as if it had been retracted.
    """

    def __init__(
        self,
        base: Reading,
        names: NameIndex,
        dimensions: Sequence[Dimension],
        *,
        titles: Callable[[str], Sequence[str]] = lambda _: (),
        files: FactsFiles | None = None,
        given: Mapping[str, str] | None = None,
        excluded: str | None = None,
    ) -> None:
        self._base = base
        self._names = names
        self._titles = titles
        self._files = files
        self._texts = Texts(StoredTexts(base, given or {}))
        self._dimensions = tuple(dimensions)
        self._excluded = excluded
        self._known_tables: list[tuple[str, bool, str]] | None = None

    @property
    def texts(self) -> Texts:
        """Texts by digest; what has been hashed once is kept."""
        return self._texts

    @property
    def fact_sources(self) -> tuple[str, ...]:
        """None: not all facts stand in files of facts."""
        return ()

    @property
    def functional(self) -> frozenset[str]:
        """Dimensions defined to have one value at a time."""
        return frozenset(found.name for found in self._dimensions if found.functional)

    @property
    def disjoint(self) -> frozenset[tuple[str, str]]:
        """Pairs of classes defined to share no instance."""
        return frozenset(pair for found in self._dimensions for pair in found.disjoint)

    def statement(self, statement_id: str) -> StatementRecord:
        """Give a statement with its evidence."""
        if self._files is not None and statement_id in self._files.records:
            return self._files.records[statement_id]
        base = self._base
        evidence = base.evidence(statement_id)
        kept = tuple(item for item in evidence if item.source_sha256 != self._excluded)
        return StatementRecord(None, base.statement(statement_id), kept)

    def source(self, source_sha256: str) -> SourceRecord:
        """Give what a certificate says of a source."""
        if self._files is not None and source_sha256 in self._files.sources:
            return self._files.sources[source_sha256]
        record = self._base.record(source_sha256)
        return SourceRecord(record.media_type, record.title, record.decoder, record.text_sha256)

    def named(self, label: str) -> tuple[str, ...]:
        """Give the digests of the whole tables that a policy calls by this name, sorted."""
        return tuple(name for name in self._tables(label) if name != self._excluded)

    def _tables(self, label: str, *, whole: bool = True) -> list[str]:
        if self._known_tables is None:
            self._known_tables = [
                (record.title, record.complete, record.source_sha256)
                for record in self._base.documents()
                if record.media_type in TABLE_TYPES
            ]
        return [
            source
            for title, complete, source in self._known_tables
            if (complete or not whole) and is_named(title, label)
        ]

    def lacks(self, label: str) -> bool:
        """Whether a declaration means a file of a table that the knowledge base does not hold.

        Facts files of a request stand for the sources that declarations name. Of a table that is
        left out to see what hangs on it, the caller says itself what is no longer complete.
        """
        return self._means_table(label) and not self._tables(label)

    def is_missing(self, label: str) -> bool:
        """Whether a declaration means a file of a table of which the knowledge base holds nothing.

        What `lacks` says of facts files and of a table that is left out holds here, too.
        """
        return self._means_table(label) and not self._tables(label, whole=False)

    def _means_table(self, label: str) -> bool:
        return self._files is None and label.endswith(TABLE_ENDINGS)

    def candidates(self, query: str, entity: str) -> Candidates:
        """Search passages: accepted are those that name the entity, rejected those that name
        another that is much like it, or whose title the name might stand for.
        """
        accepted: list[str] = []
        rejected = list(self._titles(entity))
        places: dict[str, list[str]] = {}
        name = fold(entity)
        alike = [
            other
            for other in (self._names.nearest(entity) if name else ())
            if fold(other) != name and fuzz.ratio(fold(other), name) >= ALIKE
        ]
        for hit in self._base.search(query, SEARCHED):
            if hit.source_sha256 == self._excluded:
                continue
            text = fold(f"{hit.title} {hit.text}")
            if name and name in text:
                accepted.append(hit.title)
                continue
            for other in alike:
                if fold(other) in text and other not in rejected:
                    places.setdefault(other, []).append(hit.title)
        rejected += (_placed(other, titles) for other, titles in places.items())
        return Candidates(tuple(dict.fromkeys(accepted)), tuple(dict.fromkeys(rejected)))

    def refused(self, dimension: str, entity: str) -> tuple[str, ...]:
        """Give the candidates that extraction refused, by document: reason, title and line."""
        found: list[str] = []
        if not entity:
            return ()
        for source, reason, text in self._base.refusals(dimension, entity, 10 * REFUSALS):
            if source == self._excluded:
                continue
            if not re.search(rf"\b{re.escape(dimension)}\b", reason, re.ASCII):
                continue
            record = self._base.record(source)
            at = self._base.text(record.text_sha256).find(text)
            line = "" if at < 0 else f", line {self._line(record.text_sha256, at + len(text))}"
            found.append(f"{reason} ({record.title}{line})")
        return tuple(dict.fromkeys(found))[:REFUSALS]

    def _line(self, text_sha256: str, end: int) -> int:
        """Give the line on which a span ends, where its value stands; from 1."""
        return self._base.text(text_sha256).count("\n", 0, end) + 1


def _placed(name: str, titles: Sequence[str]) -> str:
    """Write a name with the titles of the passages that have it, once each, but for itself."""
    others = [title for title in dict.fromkeys(titles) if title != name]
    return f"{name} ({'; '.join(others)})" if others else name
