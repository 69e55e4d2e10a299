"""Documents: source bytes, their digest, decoded text, passages and spans (DESIGN section 2)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from .errors import DocumentRejected


@dataclass(frozen=True, slots=True)
class Passage:
    """A titled half-open span `[start, end)` of a document's text, read as one unit."""

    title: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise DocumentRejected(
                f"passage {self.title!r} has the span [{self.start}, {self.end})"
            )


@dataclass(frozen=True, slots=True)
class Document:
    """An immutable source: what its bytes were and the text they decode to.

    `name` is the file name as given; `title` what people call it. Passages are in text order and do
    not overlap.
    """

    source_sha256: str
    name: str
    title: str
    media_type: str
    decoder: str
    text: str
    passages: tuple[Passage, ...]

    @property
    def text_sha256(self) -> str:
        """SHA-256 of the UTF-8 encoded decoded text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()
