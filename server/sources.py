"""Where the statements of a knowledge base stand, for certificates: the reasoner's `Sources`."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

from kb.errors import NotFound
from kb.knowledge_base import KnowledgeBase
from reasoner.sources import Candidates, FactsFiles, SourceRecord, StatementRecord
from reasoner.verify import Texts

SEARCHED = 5
"""Passages looked at for one open requirement."""


class StoredTexts(Mapping[str, str]):
    """The decoded texts of a knowledge base and of a facts file, by digest, read when asked for."""

    def __init__(self, base: KnowledgeBase, given: Mapping[str, str]) -> None:
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
    """Statements, sources and texts of a knowledge base, and of a request's facts file if any."""

    def __init__(
        self, base: KnowledgeBase, files: FactsFiles | None, given: Mapping[str, str]
    ) -> None:
        self._base = base
        self._files = files
        self._texts = Texts(StoredTexts(base, given))

    @property
    def texts(self) -> Texts:
        """Texts by digest; what has been hashed once is kept."""
        return self._texts

    @property
    def fact_sources(self) -> tuple[str, ...]:
        """None: not all facts stand in files of facts."""
        return ()

    def statement(self, statement_id: str) -> StatementRecord:
        """Give a statement with its evidence."""
        if self._files is not None and statement_id in self._files.records:
            return self._files.records[statement_id]
        base = self._base
        return StatementRecord(None, base.statement(statement_id), base.evidence(statement_id))

    def source(self, source_sha256: str) -> SourceRecord:
        """Give what a certificate says of a source."""
        if self._files is not None and source_sha256 in self._files.sources:
            return self._files.sources[source_sha256]
        record = self._base.record(source_sha256)
        return SourceRecord(record.media_type, record.title, record.decoder, record.text_sha256)

    def candidates(self, query: str, entity: str) -> Candidates:
        """Search passages; those accepted are titled with the entity or mention it."""
        accepted: list[str] = []
        rejected: list[str] = []
        name = _folded(entity)
        for hit in self._base.search(query, SEARCHED):
            about = not name or name in _folded(hit.title) or name in _folded(hit.text)
            (accepted if about else rejected).append(hit.title)
        return Candidates(tuple(dict.fromkeys(accepted)), tuple(dict.fromkeys(rejected)))

    @property
    def functional(self) -> frozenset[str]:
        """Dimensions that have one value at a time."""
        return _declared(self._base, self._base.revision)[0]

    @property
    def disjoint(self) -> frozenset[tuple[str, str]]:
        """Pairs of classes that exclude each other."""
        return _declared(self._base, self._base.revision)[1]


@lru_cache(maxsize=8)
def _declared(
    base: KnowledgeBase,
    revision: int,  # noqa: ARG001  # what the dimensions are as of
) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    dimensions = base.dimensions()
    functional = frozenset(found.name for found in dimensions if found.functional)
    return functional, frozenset(pair for found in dimensions for pair in found.disjoint)


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
