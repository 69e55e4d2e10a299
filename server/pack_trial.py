"""Reading a document by a pack alone: what would be stated, what refused, what nobody reads."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from extract.candidate import document_subject
from extract.ingest import ingest_document
from extract.pack import Pack
from kb.dimension import value_label
from kb.document import Document, decode
from kb.statement import ALWAYS, Evidence, Modality, Polarity, Statement

_QUOTE = 80
_WORDS = 2


@dataclass(frozen=True, slots=True)
class Trial:
    """What a pack reads in one document.

    `refused` are (reason, text); `unread` are what no quote covers,
    with 1-based lines.
    """

    document: Document
    grounded: tuple[tuple[Statement, Evidence], ...]
    refused: tuple[tuple[str, str], ...]
    unread: tuple[tuple[int, str], ...]

    def to_json(self) -> dict[str, object]:
        """Give the trial as JSON."""
        return {
            "file": self.document.name,
            "statements": [
                {**statement.to_json(), "quote": evidence.quote}
                for statement, evidence in self.grounded
            ],
            "refused": [{"reason": reason, "text": text} for reason, text in self.refused],
            "unread": [{"line": line, "text": text} for line, text in self.unread],
        }

    def text(self) -> str:
        """Give the trial in words."""
        lines = [f"{self.document.name}: {len(self.grounded)} statements"]
        own = document_subject(self.document)
        for statement, evidence in self.grounded:
            subject = "(document)" if statement.subject == own else statement.subject
            lines.append(
                f"  {subject} | {statement.dimension} | {value_label(statement.value)}"
                f"{_manner(statement)}  “{_shortened(evidence.quote)}”"
            )
        lines += ["  refused:"] if self.refused else []
        lines += [f"    {reason}: “{_shortened(text)}”" for reason, text in self.refused]
        lines += ["  nobody reads:"] if self.unread else []
        lines += [f"    line {number}: {_shortened(text)}" for number, text in self.unread]
        return "\n".join(lines)


def try_pack(pack: Pack, files: Sequence[Path]) -> tuple[Trial, ...]:
    """Read files by a pack, in the order given.

    Raises DocumentRejected for a file that is none.
    """
    dimensions = pack.knowledge_dimensions()
    trials: list[Trial] = []
    for file in files:
        document = decode(file.read_bytes(), name=file.name)
        extraction = ingest_document(dimensions, [pack], document)
        grounded = tuple(
            sorted(extraction.grounded, key=lambda pair: (pair[1].start, pair[1].end, pair[0].id))
        )
        refused = tuple((rejection.reason, rejection.text) for rejection in extraction.rejected)
        evidence = [found for _, found in grounded]
        trials.append(Trial(document, grounded, refused, _unread(document.text, evidence)))
    return tuple(trials)


def _unread(text: str, evidence: Sequence[Evidence]) -> tuple[tuple[int, str], ...]:
    """The stretches of lines that no quote covers; of a line that one touches, only longer ones."""
    quoted = bytearray(len(text))
    for quote in evidence:
        quoted[quote.start : quote.end] = b"\1" * (quote.end - quote.start)
    found: list[tuple[int, str]] = []
    start = 0
    for number, line in enumerate(text.split("\n"), start=1):
        touched = any(quoted[start : start + len(line)])
        position = start
        for covered, group in itertools.groupby(quoted[start : start + len(line)]):
            length = len(list(group))
            stretch = text[position : position + length].strip()
            if not covered and len(stretch.split()) > (_WORDS if touched else 0):
                found.append((number, stretch))
            position += length
        start += len(line) + 1
    return tuple(found)


def _manner(statement: Statement) -> str:
    """How it is said, where that is not plain."""
    parts = []
    if statement.polarity is Polarity.DENIED:
        parts.append("denied")
    if statement.modality is not Modality.ASSERTED:
        parts.append(statement.modality.value)
    if statement.validity != ALWAYS:
        start, end = statement.validity.start or "", statement.validity.end or ""
        parts.append(f"{start}..{end}")
    return f" ({', '.join(parts)})" if parts else ""


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _QUOTE else words[: _QUOTE - 1] + "…"
