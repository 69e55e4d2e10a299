"""Grounding: no quote, no fact.

A candidate is admitted only if its quote stands verbatim at its span and holds the value as it is
written.
"""

from __future__ import annotations

from kb.document import Document
from kb.errors import ProofweaveError
from kb.statement import Evidence, Statement

from .candidate import Candidate, Rejection
from .normalize import fold, mend


def ground(candidate: Candidate, document: Document) -> tuple[Statement, Evidence] | Rejection:
    """Turn a candidate into a statement with its evidence, or say why it is not admitted."""
    start, end = candidate.start, candidate.end
    if not candidate.quote.strip():
        return Rejection("the quote is empty", candidate.written)
    if not 0 <= start < end <= len(document.text):
        return Rejection(
            f"the span [{start}, {end}) lies outside the text of {len(document.text)} code points",
            candidate.quote,
        )
    if document.text[start:end] != candidate.quote:
        return Rejection(
            f"the quote does not stand at [{start}, {end}) of the source", candidate.quote
        )
    if not candidate.subject.strip():
        return Rejection("the subject is empty", candidate.quote)
    if not _holds(candidate.quote, candidate.written):
        return Rejection(
            f"the value {candidate.written!r} does not stand in the quote", candidate.quote
        )
    try:
        statement = Statement(
            subject=candidate.subject,
            dimension=candidate.dimension,
            value=candidate.value,
            polarity=candidate.polarity,
            modality=candidate.modality,
            validity=candidate.validity,
        )
        evidence = Evidence(
            statement_id=statement.id,
            source_sha256=document.source_sha256,
            text_sha256=document.text_sha256,
            start=start,
            end=end,
            quote=candidate.quote,
            extractor=candidate.extractor,
        )
    except ProofweaveError as error:
        return Rejection(str(error), candidate.quote)
    return statement, evidence


def locate(quote: str, document: Document, *, start: int, end: int) -> tuple[int, int] | Rejection:
    """Find a quote in a half-open part of a document; it must stand there exactly once."""
    first = document.text.find(quote, start, end) if quote else -1
    if first < 0:
        return Rejection("the quote does not stand in the source", quote)
    if document.text.find(quote, first + 1, end) >= 0:
        return Rejection("the quote stands in the source more than once", quote)
    return first, first + len(quote)


def _holds(quote: str, written: str) -> bool:
    """Whether the quote holds a text, spaces and typesetting aside."""
    return bool(written.strip()) and (
        written in quote or fold(mend(written).text) in fold(mend(quote).text)
    )
