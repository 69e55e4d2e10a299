"""What the log's events say, and what is recorded of documents and policies."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .document import Document
from .log import TOMBSTONE
from .statement import Evidence, Statement, value_to_json


class EventKind(StrEnum):
    """What a knowledge event says."""

    CREATED = "knowledge_base_created"
    DOCUMENT_ADDED = "document_added"
    STATEMENTS_ASSERTED = "statements_asserted"
    CANDIDATES_REJECTED = "candidates_rejected"
    IMPORT_BEGUN = "import_begun"
    IMPORT_COMPLETED = "import_completed"
    STATEMENT_RETRACTED = "statement_retracted"
    SPAN_RETRACTED = "span_retracted"
    RUN_RETRACTED = "run_retracted"
    DOCUMENT_RETRACTED = "document_retracted"
    LINKS_WITHDRAWN = "links_withdrawn"
    DIMENSION_DEFINED = "dimension_defined"
    POLICY_PUBLISHED = "policy_published"
    ERASED = TOMBSTONE


RETRACTIONS = frozenset(
    {
        EventKind.STATEMENT_RETRACTED,
        EventKind.SPAN_RETRACTED,
        EventKind.RUN_RETRACTED,
        EventKind.DOCUMENT_RETRACTED,
        EventKind.LINKS_WITHDRAWN,
    }
)
"""Events that end evidence; it stays readable as of revisions before."""


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What is known of a stored document without reading it.

    `complete` is false while an import has been begun and not finished. The document stands from
    event `asserted` until before event `retracted`.
    """

    source_sha256: str
    text_sha256: str
    name: str
    title: str
    media_type: str
    decoder: str
    complete: bool
    asserted: int
    retracted: int | None


@dataclass(frozen=True, slots=True)
class PolicyRecord:
    """A published policy version, as its source text."""

    id: str
    version: str
    text: str
    published: int


Row = tuple[str, Statement, tuple[Evidence, ...]]
"""A statement's id, the statement, and its evidence by (source, start, end)."""


def is_run_of(extractor: str, name: str) -> bool:
    """Whether an extractor, as evidence names it, is of a name: itself, or the id before a space.

    `patterns/1` names all of `patterns/1 core_web_sm@3.8.0 supplier@645fd93afbfc`.
    """
    return extractor == name or extractor.startswith(f"{name} ")


def statement_row(
    statement_id: str, statement: Statement, evidence: Evidence
) -> list[str | int | None]:
    """Give the row of a `statements_asserted` event, in the order of the tables' columns."""
    value = value_to_json(statement.value)
    validity = statement.validity
    return [
        statement_id,
        statement.subject,
        statement.dimension,
        value["kind"],
        value["value"],
        statement.polarity.value,
        statement.modality.value,
        validity.start.isoformat() if validity.start else None,
        validity.end.isoformat() if validity.end else None,
        evidence.start,
        evidence.end,
        evidence.quote,
        evidence.extractor,
        evidence.confidence,
    ]


def document_form(document: Document, *, complete: bool) -> dict[str, object]:
    """Give the payload of a `document_added` event."""
    titles: dict[str, int] = {}
    flat: list[int] = []
    for passage in document.passages:
        flat += titles.setdefault(passage.title, len(titles)), passage.start, passage.end
    return {
        "source_sha256": document.source_sha256,
        "text_sha256": document.text_sha256,
        "name": document.name,
        "title": document.title,
        "media_type": document.media_type,
        "decoder": document.decoder,
        "passages": [list(titles), flat],
        "complete": complete,
    }
