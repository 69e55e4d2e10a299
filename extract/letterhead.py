"""The head of a document: what its headings and the lines above them say of the document itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from kb.dimension import DimensionKind
from kb.document import Document
from kb.statement import ALWAYS

from .candidate import Candidate, Rejection, document_subject
from .labels import propose
from .layout import Cell, LabelLine, Paragraph, Section
from .normalize import fold
from .pack import Pack, Relation
from .pipeline import Reader
from .sections import ends_like_organisation

_PUNCTUATION = re.compile(r"[^\w\s-]")


def read_head(
    document: Document, sections: Sequence[Section], reader: Reader, *, stated: Collection[str]
) -> tuple[Candidate, ...]:
    """Read the head for the dimensions of documents that no line states."""
    candidates = []
    for pack in reader.packs:
        for relation in pack.relations:
            if relation.dimension in stated or not relation.about_document:
                continue
            found = None
            if relation.heading:
                found = _from_headings(document, sections, (pack, relation), reader)
            elif relation.letterhead:
                found = _from_letterhead(document, sections, (pack, relation), reader)
            if found is not None:
                candidates.append(found)
    return tuple(candidates)


def _from_headings(
    document: Document, sections: Sequence[Section], stated: tuple[Pack, Relation], reader: Reader
) -> Candidate | None:
    """Read the first heading that holds the label of a class; of several labels the longest."""
    pack, relation = stated
    taxonomy = pack.dimension_of[relation.dimension].taxonomy
    if taxonomy is None:
        return None
    for section in sections:
        if section.heading is None:
            continue
        folded = " " + fold(_PUNCTUATION.sub(" ", section.heading.text)) + " "
        labels = [label for label in taxonomy.by_label if f" {label} " in folded]
        if labels:
            label = max(labels, key=lambda known: (len(known), known))
            return _stated(document, stated, section.heading, taxonomy.by_label[label], reader)
    return None


def _from_letterhead(
    document: Document, sections: Sequence[Section], stated: tuple[Pack, Relation], reader: Reader
) -> Candidate | None:
    """Read a name that stands on the first line, above a heading, as names of organisations do."""
    pack, relation = stated
    first = sections[0] if sections else None
    if first is None or pack.dimension_of[relation.dimension].kind is not DimensionKind.ENTITY:
        return None
    line: Cell | None = None
    if first.heading is not None and not first.blocks and len(sections) > 1:
        line = first.heading
    elif first.heading is None and first.blocks and isinstance(first.blocks[0], Paragraph):
        start = first.blocks[0].start
        text = document.text[start : first.blocks[0].end].split("\n")[0].strip()
        line = Cell(text, start, start + len(text))
    if line is None or not ends_like_organisation(line.text, reader):
        return None
    return _stated(document, stated, line, line.text, reader)


def _stated(
    document: Document, stated: tuple[Pack, Relation], line: Cell, value: str, reader: Reader
) -> Candidate | None:
    label = LabelLine(stated[1].dimension, value, line.start, line.start, line.end)
    subject = document_subject(document)
    found = propose(label, stated, subject, line.start, ALWAYS, document, reader.extractor)
    return None if isinstance(found, Rejection) else replace(found, written=line.text)
