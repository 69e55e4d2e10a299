"""Candidates: what an extractor proposes, before grounding decides."""

from __future__ import annotations

from dataclasses import dataclass

from kb.document import Document
from kb.identity import SAME_AS
from kb.statement import ALWAYS, Modality, Polarity, Validity, Value

LONGEST_QUOTE = 600
"""Code points up to which a quote reaches back to where the text names its subject."""

KNOWN_AS = "known_as"
"""Dimension of what else a text calls an entity, which may be what it calls others."""


__all__ = [
    "KNOWN_AS",
    "LONGEST_QUOTE",
    "SAME_AS",
    "Candidate",
    "Rejection",
    "document_subject",
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed statement with the quote that shall carry it.

    `start`, `end` are code points of the document's text, half-open; `written` is the value as the
    source writes it, which must stand in the quote.
    """

    subject: str
    dimension: str
    value: Value
    written: str
    quote: str
    start: int
    end: int
    extractor: str
    polarity: Polarity = Polarity.AFFIRMED
    modality: Modality = Modality.ASSERTED
    validity: Validity = ALWAYS


@dataclass(frozen=True, slots=True)
class Rejection:
    """What was not admitted, and why; `text` is the passage or line concerned."""

    reason: str
    text: str


def document_subject(document: Document) -> str:
    """Give the name of a document as the subject of statements."""
    return f"doc:{document.source_sha256}"
