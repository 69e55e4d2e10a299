"""What a retraction or an erasure removes: exactly what rests on nothing else falls."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from proofweave.v1 import knowledge_pb2

from kb.errors import NotFound
from kb.knowledge_base import KnowledgeBase
from kb.records import Row, is_run_of
from kb.statement import Evidence

from .errors import RequestRejected
from .translate import statement_message

SHOWN = 100
"""Statements of each kind that an answer lists; all are counted."""


@dataclass(frozen=True, slots=True)
class Removal:
    """Statements that fall, with what they lose, and those that keep evidence, with what they keep;
    both by id. `certificates` rest on what is lost, by digest.
    """

    fallen: tuple[Row, ...]
    kept: tuple[Row, ...]
    certificates: tuple[str, ...]

    def message(self, knowledge_base: str) -> knowledge_pb2.Removal:
        """Translate it."""
        return knowledge_pb2.Removal(
            fallen=[statement_message(knowledge_base, *row) for row in self.fallen[:SHOWN]],
            kept=[statement_message(knowledge_base, *row) for row in self.kept[:SHOWN]],
            fallen_count=len(self.fallen),
            kept_count=len(self.kept),
            certificates=self.certificates,
        )


_NOTHING = Removal((), (), ())


def of_statement(base: KnowledgeBase, statement_id: str, *, withdrawn: bool = False) -> Removal:
    """Say what the retraction of a statement removes.

    Raises NotFound where it does not stand. Where it is to be erased, it may have been `withdrawn`.
    """
    try:
        rows = ((statement_id, base.statement(statement_id), base.evidence(statement_id)),)
    except NotFound:
        if withdrawn:
            return _NOTHING
        raise
    return _removal(base, rows, lambda _: True)


def of_document(base: KnowledgeBase, source_sha256: str) -> Removal:
    """Say what the retraction or erasure of a document removes.

    Raises NotFound where it neither stands nor stood.
    """
    base.source_bytes(source_sha256)
    rows = tuple(base.every_statement(source_sha256=source_sha256))
    return _removal(base, rows, lambda item: item.source_sha256 == source_sha256)


def of_span(
    base: KnowledgeBase, source_sha256: str, start: int, end: int, *, withdrawn: bool = False
) -> Removal:
    """Say what the retraction of a span removes.

    Raises NotFound where nothing rests on it, and RequestRejected for a span that is empty. Where
    it is to be erased, what rests on it may have been `withdrawn`.
    """
    record = base.record(source_sha256)
    if start >= end:
        raise RequestRejected(
            f"the span [{start}, {end}) is empty; expected a start before the end"
        )
    rows = tuple(base.every_statement(source_sha256=source_sha256))
    removal = _removal(
        base,
        rows,
        lambda item: item.source_sha256 == source_sha256 and item.start < end and start < item.end,
    )
    if not removal.fallen and not removal.kept and not withdrawn:
        raise NotFound(f"no statement rests on [{start}, {end}) of {record.name}")
    return removal


def of_run(
    base: KnowledgeBase, extractor: str, source_sha256: str | None, *, withdrawn: bool = False
) -> Removal:
    """Say what the retraction of an extractor's work removes.

    Raises NotFound, naming the extractors there are, where it has read nothing. Where its work is
    to be erased, it may have been `withdrawn`.
    """
    if source_sha256 is not None:
        base.record(source_sha256)
    if not withdrawn:
        base.check_run(extractor, source_sha256=source_sha256)
    return _removal(
        base,
        base.every_statement(source_sha256=source_sha256),
        lambda item: (
            is_run_of(item.extractor, extractor) and source_sha256 in (None, item.source_sha256)
        ),
    )


def _removal(base: KnowledgeBase, rows: Iterable[Row], goes: Callable[[Evidence], bool]) -> Removal:
    fallen: list[Row] = []
    kept: list[Row] = []
    lost: set[tuple[str, str, int, int]] = set()
    for statement_id, statement, _ in rows:
        evidence = base.evidence(statement_id)
        gone = tuple(item for item in evidence if goes(item))
        if not gone:
            continue
        lost |= {(statement_id, item.source_sha256, item.start, item.end) for item in gone}
        left = tuple(item for item in evidence if not goes(item))
        (kept if left else fallen).append((statement_id, statement, left or gone))
    return Removal(tuple(fallen), tuple(kept), certificates_on(base, lost))


def certificates_on(
    base: KnowledgeBase, lost: Collection[tuple[str, str, int, int]]
) -> tuple[str, ...]:
    """Give the digests of the stored certificates that rest on evidence, sorted.

    Evidence is (statement, source, start, end).
    """
    if not lost:
        return ()
    digests = sorted({record.digest for record in base.certificates()})
    return tuple(
        digest
        for digest in digests
        if any(place in lost for place in _places(base.certificate(digest)))
    )


def _places(certificate: bytes) -> Iterator[tuple[str, str, int, int]]:
    for statement_id, statement in json.loads(certificate)["statements"].items():
        for item in statement["evidence"]:
            yield statement_id, item["source_sha256"], item["start"], item["end"]
