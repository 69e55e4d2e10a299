"""`Label: value` lines, headings and letterheads: what a section is about and what it states."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kb.document import Document
from kb.errors import ProofweaveError, ValueUnreadable
from kb.statement import ALWAYS, Entity, Polarity, Validity

from .candidate import Candidate, Rejection
from .layout import Cell, LabelLine, Paragraph, Section
from .normalize import fold
from .pack import Pack, Relation, ValidityScope
from .patterns import DOCUMENT
from .pipeline import Reader
from .polarity import denied_value, says_nothing, value_modality
from .validity import find_validity
from .values import read_value

_ALIAS = re.compile(r"\s*\((?:[^()\"“„]*\s)?[\"“„](?P<alias>[^\"”“]+)[\"”“]\)")
_GENERIC = frozenset({
    "details", "detail", "information", "summary", "overview", "scope", "introduction", "data",
    "general", "particulars", "annex", "appendix", "contents", "conditions", "coverage",
    "insurance", "certificate", "policy", "report", "audit", "audits", "results", "findings",
    "remarks", "notes", "contact", "address", "schedule", "register", "extract", "extracts",
    "letter", "terms",
})  # fmt: skip
_PUNCTUATION = re.compile(r"[^\w\s-]")
_LONGEST_QUOTE = 600
_VALIDITY_LABEL = re.compile(
    r"(?:valid(?:ity)?|period|term|effective|in force|expir\w*|policy period|start|end|inception"
    r"|until|from)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class LabelReading:
    """What the lines of a document give; sections are keyed by identity."""

    candidates: list[Candidate] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    subjects: dict[int, str] = field(default_factory=dict)
    validities: dict[int, Validity] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Subject:
    """The entity a section is about and where the document says so."""

    name: str
    start: int


def section_subject(section: Section, packs: Sequence[Pack], reader: Reader) -> _Subject | None:
    """Give what a section is about: a `Company: ..` line, else a heading that is a name."""
    labels = frozenset().union(*(pack.folded_subject_labels for pack in packs))
    for block in section.blocks:
        if (
            isinstance(block, LabelLine)
            and fold(block.label) in labels
            and not says_nothing(block.value)
        ):
            return _Subject(_ALIAS.sub("", block.value).strip(), block.start)
    heading = section.heading
    if heading is not None and names_entity(heading.text, packs, reader):
        return _Subject(heading.text, heading.start)
    return None


def names_entity(text: str, packs: Sequence[Pack], reader: Reader) -> bool:
    """Whether a heading names an entity: it ends as names of organisations do, or is all name."""
    suffixes = {suffix for pack in packs for suffix in pack.name_suffixes}
    words = text.split()
    if words and words[-1] in suffixes:
        return True
    if not words or any(word.strip(".,").lower() in _GENERIC for word in words):
        return False
    if any(character.isdigit() for character in text) or text.upper() == text:
        return False
    return reader.entity_labels(text)[0]


def read_labels(document: Document, sections: Sequence[Section], reader: Reader) -> LabelReading:
    """Read the lines of all sections; one without a subject has the only one of the document."""
    reading = LabelReading()
    packs = reader.packs
    subjects = [section_subject(section, packs, reader) for section in sections]
    stated = [subject for subject in subjects if subject is not None]
    names = {subject.name for subject in stated}
    whole = _document_validity(document, sections)
    for section, own in zip(sections, subjects, strict=True):
        subject = own
        if subject is None and len(names) == 1:
            subject = stated[0]
        validity = _section_validity(document, section)
        if validity == ALWAYS and len(names) <= 1:
            validity = whole
        if subject is not None:
            reading.subjects[id(section)] = subject.name
            reading.known[subject.name] = subject.name
        reading.validities[id(section)] = validity
        for block in section.blocks:
            if isinstance(block, LabelLine):
                _read_line(block, subject, validity, document, reader, reading)
    _read_head(document, sections, reader, reading)
    return reading


def _document_validity(document: Document, sections: Sequence[Section]) -> Validity:
    found = {
        validity
        for section in sections
        if (validity := _section_validity(document, section)) != ALWAYS
    }
    return found.pop() if len(found) == 1 else ALWAYS


def _section_validity(document: Document, section: Section) -> Validity:
    """Give the interval that lines of a section state: `Valid from ..`, `Period of cover: ..`."""
    text = []
    for block in section.blocks:
        if isinstance(block, LabelLine) and _VALIDITY_LABEL.match(block.label):
            text.append(f"{block.label} {block.value}")
        elif isinstance(block, Paragraph):
            for line in document.text[block.start : block.end].split("\n"):
                if re.match(
                    r"\W*(?:valid|this (?:certificate|policy) is valid|in force|period of)\b",
                    line,
                    re.I,
                ):
                    text.append(line)
    start = end = None
    for line in text:
        validity = find_validity(line, bare=True)
        start, end = start or validity.start, end or validity.end
    try:
        return Validity(start, end)
    except ProofweaveError:
        return ALWAYS


def _read_line(
    line: LabelLine,
    subject: _Subject | None,
    validity: Validity,
    document: Document,
    reader: Reader,
    reading: LabelReading,
) -> None:
    label = fold(line.label)
    bare = fold(re.sub(r"\s*[(\[].*?[)\]]\s*\Z", "", line.label))
    quote = document.text[line.start : line.end]
    for pack in reader.packs:
        if label in pack.folded_subject_labels:
            _read_alias(line, document, reader, reading)
        for relation in pack.relations_by_label.get(label) or pack.relations_by_label.get(bare, ()):
            name = DOCUMENT if relation.about_document else subject.name if subject else None
            if name is None:
                reading.rejected.append(
                    Rejection(
                        "the line does not say what it is about; "
                        "expected a line such as 'Company: ..' above it",
                        quote,
                    )
                )
                continue
            start = line.start
            if (
                subject is not None
                and name
                and subject.start < start
                and line.end - subject.start <= _LONGEST_QUOTE
            ):
                start = subject.start
            _propose(line, (pack, relation), name, start, validity, document, reader, reading)


def _propose(
    line: LabelLine,
    stated: tuple[Pack, Relation],
    subject: str,
    start: int,
    validity: Validity,
    document: Document,
    reader: Reader,
    reading: LabelReading,
) -> None:
    pack, relation = stated
    dimension = pack.dimension_of[relation.dimension]
    quote = document.text[start : line.end]
    written, polarity = line.value, Polarity.AFFIRMED
    if says_nothing(written):
        reading.rejected.append(Rejection(f"the line leaves {dimension.name} open", quote))
        return
    denied = denied_value(written)
    if denied is not None:
        written, polarity = denied, Polarity.DENIED
    alias = _ALIAS.search(written)
    if alias is not None:
        written = _ALIAS.sub("", written).strip()
    scoped = ALWAYS
    if relation.validity is not ValidityScope.NONE:
        scoped = find_validity(written, bare=True)
        if scoped == ALWAYS and relation.validity is ValidityScope.SECTION:
            scoped = validity
    try:
        value = read_value(dimension, written, label=line.label)
    except ValueUnreadable as error:
        reading.rejected.append(Rejection(str(error), quote))
        return
    if isinstance(value, Entity):
        reading.known.setdefault(value.name, value.name)
    reading.candidates.append(
        Candidate(
            subject=subject or f"doc:{document.source_sha256}",
            dimension=dimension.name,
            value=value,
            written=value.name if isinstance(value, Entity) else written,
            quote=quote,
            start=start,
            end=line.end,
            extractor=reader.extractor,
            polarity=polarity,
            modality=value_modality(line.value),
            validity=scoped,
        )
    )


def _read_alias(line: LabelLine, document: Document, reader: Reader, reading: LabelReading) -> None:
    alias = _ALIAS.search(line.value)
    if alias is None:
        return
    entity = _ALIAS.sub("", line.value).strip()
    short = alias["alias"].strip(" ,.")
    reading.known[short] = entity
    reading.candidates.append(
        Candidate(
            subject=entity,
            dimension="same_as",
            value=Entity(short),
            written=short,
            quote=document.text[line.start : line.end],
            start=line.start,
            end=line.end,
            extractor=reader.extractor,
        )
    )


def _read_head(
    document: Document, sections: Sequence[Section], reader: Reader, reading: LabelReading
) -> None:
    """Read headings and letterhead for what no line of the document states."""
    stated = {c.dimension for c in reading.candidates if c.subject.startswith("doc:")}
    heading = next((section.heading for section in sections if section.heading is not None), None)
    for pack in reader.packs:
        for relation in pack.relations:
            if relation.dimension in stated or not relation.about_document:
                continue
            if relation.heading and heading is not None:
                _read_heading(heading, (pack, relation), document, reader, reading)


def _read_heading(
    heading: Cell,
    stated: tuple[Pack, Relation],
    document: Document,
    reader: Reader,
    reading: LabelReading,
) -> None:
    """Find the longest label of a class in the heading."""
    pack, relation = stated
    taxonomy = pack.dimension_of[relation.dimension].taxonomy
    if taxonomy is None:
        return
    folded = " " + fold(_PUNCTUATION.sub(" ", heading.text)) + " "
    labels = [label for label in taxonomy.by_label if f" {label} " in folded]
    if not labels:
        return
    label = max(labels, key=lambda known: (len(known), known))
    line = LabelLine(
        relation.dimension, taxonomy.by_label[label], heading.start, heading.start, heading.end
    )
    before = len(reading.candidates)
    _propose(line, stated, DOCUMENT, heading.start, ALWAYS, document, reader, reading)
    for index in range(before, len(reading.candidates)):
        found = reading.candidates[index]
        reading.candidates[index] = Candidate(
            found.subject, found.dimension, found.value, heading.text, found.quote,
            found.start, found.end, found.extractor,
        )  # fmt: skip
