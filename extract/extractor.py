"""The protocol of extractors: they propose, grounding decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kb.document import Document
from kb.statement import Evidence, Statement

from .candidate import Candidate, Rejection
from .grounding import ground


@dataclass(frozen=True, slots=True)
class Progress:
    """How many parts of a document have been read, and what the last ones gave."""

    done: int
    total: int
    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejection, ...] = field(default=())


class Extractor(Protocol):
    """Proposes statements for a document, part by part."""

    def propose(self, document: Document) -> Iterator[Progress]:
        """Give candidates as they are found."""
        ...


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a document gives: grounded statements by position, and what was rejected and why."""

    grounded: tuple[tuple[Statement, Evidence], ...]
    rejected: tuple[Rejection, ...]


def extract(document: Document, extractors: Sequence[Extractor]) -> Extraction:
    """Let extractors propose statements for a document, in order, and ground them."""
    candidates: list[Candidate] = []
    rejected: list[Rejection] = []
    for extractor in extractors:
        for progress in extractor.propose(document):
            candidates.extend(progress.candidates)
            rejected.extend(progress.rejected)
    return admit(candidates, document, rejected=rejected)


def admit(
    candidates: Sequence[Candidate], document: Document, *, rejected: Sequence[Rejection] = ()
) -> Extraction:
    """Ground candidates; the same statement with the same span is kept once, the first."""
    grounded: dict[tuple[str, int, int], tuple[Statement, Evidence]] = {}
    refused = list(rejected)
    for candidate in candidates:
        outcome = ground(candidate, document)
        if isinstance(outcome, Rejection):
            refused.append(outcome)
        else:
            statement, evidence = outcome
            grounded.setdefault((statement.id, evidence.start, evidence.end), outcome)
    ordered = sorted(grounded.values(), key=lambda pair: (pair[1].start, pair[1].end, pair[0].id))
    return Extraction(tuple(ordered), tuple(dict.fromkeys(refused)))
