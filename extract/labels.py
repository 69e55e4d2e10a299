"""`Label: value` lines: the label names a dimension, the section says whose it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kb.document import Document
from kb.errors import ValueUnreadable
from kb.statement import ALWAYS, Entity, Polarity, Validity

from .amounts import find_notation
from .candidate import LONGEST_QUOTE, SAME_AS, Candidate, Rejection, document_subject
from .layout import LabelLine, Section
from .normalize import fold
from .pack import Pack, Relation, ValidityScope
from .pipeline import Reader
from .polarity import denied_value, says_nothing, value_modality
from .sections import ALIAS, About, Subject, subject_labels
from .validity import find_validity
from .values import read_value

_BRACKET = re.compile(r"\s*[(\[].*?[)\]]\s*\Z")


@dataclass(frozen=True, slots=True)
class LabelReading:
    """What lines give, in text order."""

    candidates: list[Candidate] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)


def read_labels(
    document: Document, sections: Sequence[Section], about: About, reader: Reader
) -> LabelReading:
    """Read the label lines of all sections."""
    reading = LabelReading()
    naming = subject_labels(reader)
    for section, subject, validity in zip(sections, about.subjects, about.validities, strict=True):
        for block in section.blocks:
            if isinstance(block, LabelLine):
                if fold(block.label) in naming:
                    _read_alias(block, document, reader, reading)
                _read_line(block, subject, validity, document, reader, reading)
    return reading


def _read_line(
    line: LabelLine,
    subject: Subject | None,
    validity: Validity,
    document: Document,
    reader: Reader,
    reading: LabelReading,
) -> None:
    label, bare = fold(line.label), fold(_BRACKET.sub("", line.label))
    for pack in reader.packs:
        for relation in pack.relations_by_label.get(label) or pack.relations_by_label.get(bare, ()):
            start = line.start
            if relation.about_document:
                name = document_subject(document)
            elif subject is None:
                reason = (
                    "the line does not say what it is about; "
                    "expected a line such as 'Company: ..' above it"
                )
                reading.rejected.append(Rejection(reason, document.text[start : line.end]))
                continue
            else:
                name = subject.name
                if subject.start < start and line.end - subject.start <= LONGEST_QUOTE:
                    start = subject.start
            outcome = propose(
                line, (pack, relation), name, start, validity, document, reader.extractor
            )
            if isinstance(outcome, Rejection):
                reading.rejected.append(outcome)
            else:
                reading.candidates.append(outcome)


def propose(
    line: LabelLine,
    stated: tuple[Pack, Relation],
    subject: str,
    start: int,
    validity: Validity,
    document: Document,
    extractor: str,
) -> Candidate | Rejection:
    """Read the value of a line as a statement; its quote begins at `start`.

    `validity` is that of the section, for relations that take it.
    """
    pack, relation = stated
    dimension = pack.dimension_of[relation.dimension]
    quote = document.text[start : line.end]
    written, polarity = line.value, Polarity.AFFIRMED
    if says_nothing(written):
        return Rejection(f"the line leaves {dimension.name} open", quote)
    denied = denied_value(written)
    if denied is not None:
        written, polarity = denied, Polarity.DENIED
    written = ALIAS.sub("", written).strip()
    scoped = ALWAYS
    if relation.validity is not ValidityScope.NONE:
        scoped = find_validity(written, bare=True)
        if scoped == ALWAYS and relation.validity is ValidityScope.SECTION:
            scoped = validity
    try:
        notation = find_notation(document.text)
        value = read_value(dimension, written, label=line.label, notation=notation)
    except ValueUnreadable as error:
        return Rejection(str(error), quote)
    return Candidate(
        subject=subject,
        dimension=dimension.name,
        value=value,
        written=value.name if isinstance(value, Entity) else written,
        quote=quote,
        start=start,
        end=line.end,
        extractor=extractor,
        polarity=polarity,
        modality=value_modality(line.value),
        validity=scoped,
    )


def _read_alias(line: LabelLine, document: Document, reader: Reader, reading: LabelReading) -> None:
    """Read `Company: Nordwind Logistik GmbH ("Nordwind")` as an identity statement."""
    alias = ALIAS.search(line.value)
    if alias is None:
        return
    short = alias["alias"].strip(" ,.")
    reading.candidates.append(
        Candidate(
            subject=ALIAS.sub("", line.value).strip(),
            dimension=SAME_AS,
            value=Entity(short),
            written=short,
            quote=document.text[line.start : line.end],
            start=line.start,
            end=line.end,
            extractor=reader.extractor,
        )
    )
