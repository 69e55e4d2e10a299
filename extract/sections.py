"""What sections are about: their subject, the time they hold for, the short names they give."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kb.document import Document
from kb.errors import ProofweaveError
from kb.statement import ALWAYS, Validity

from .coreference import shortens
from .layout import LabelLine, Paragraph, Section
from .normalize import fold
from .pipeline import Reader
from .polarity import says_nothing
from .validity import find_validity

ALIAS = re.compile(r"\s*\((?:[^()\"“„]*\s)?[\"“„](?P<alias>[^\"”“]+)[\"”“]\)")
"""A bracket after a name that gives a short name: `("Nordwind")`."""

_NAMED = re.compile(
    r"(?P<name>[A-ZÀ-ÖØ-Þ][\w&.’'-]*(?:\s(?:&|[A-ZÀ-ÖØ-Þ][\w&.’'-]*|[a-z]{1,4}\.?(?=\s?\()))*)"
    r"\s?\((?P<cue>(?:(?:hereinafter|hereafter|the|in short|short|referred to as)\W+)*)"
    r"[\"“„](?P<alias>[^\"”“]{1,40})[\"”“]\)"
)
_BRACKET = re.compile(r"\s*[(\[].*?[)\]]\s*\Z")
_VALIDITY_LABEL = re.compile(
    r"(?:valid(?:ity)?|period|term|effective|in force|expir\w*|policy period|start|end|inception"
    r"|until|from)\b",
    re.IGNORECASE,
)
_VALIDITY_LINE = re.compile(
    r"\W*(?:valid|this (?:certificate|policy) is valid|in force|period of)\b", re.IGNORECASE
)
_IN_FORCE = re.compile(
    r"\b(?:policy|certificate|cover|coverage|insurance|contract)"
    r"\s(?:is|remains|shall be|runs|expires)\b[^.;]*?\b(?:valid|in force|effective|from|on)\b[^.;]*"
)
_GENERIC = frozenset({
    "details", "detail", "information", "summary", "overview", "scope", "introduction", "data",
    "general", "particulars", "annex", "appendix", "contents", "conditions", "coverage",
    "insurance", "certificate", "certificates", "policy", "report", "audit", "audits", "results",
    "findings", "remarks", "note", "notes", "contact", "address", "schedule", "register", "extract",
    "extracts", "letter", "terms", "management", "quality", "system", "systems", "status",
    "history", "background", "timeline", "facts", "figures", "people", "team", "products",
    "services", "finance", "finances", "financial", "ownership", "compliance", "risk", "risks",
    "sanctions", "banking", "payment", "payments", "tax", "legal", "company", "business",
    "environment", "safety", "security", "sustainability", "references", "locations", "sites",
    "facilities", "equipment", "section", "part", "chapter", "article", "about", "description",
    "declaration", "statement", "statements", "confirmation", "validity", "signature", "parties",
    "subject", "documents", "attachments", "legend", "key", "profile",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """The entity a section is about and where the document names it."""

    name: str
    start: int


@dataclass(frozen=True, slots=True)
class About:
    """What is known of the sections of a document before its text is read.

    `subjects` and `validities` follow the sections. `known` maps names and short names to entities,
    `named_at` short names to where the document gives them.
    """

    subjects: tuple[Subject | None, ...]
    validities: tuple[Validity, ...]
    known: dict[str, str] = field(default_factory=dict)
    named_at: dict[str, int] = field(default_factory=dict)


def read_sections(document: Document, sections: Sequence[Section], reader: Reader) -> About:
    """Find subjects, validity and short names.

    A section without a subject or validity has that of the document, if the document has only one.
    Not so a section whose heading may name something else.
    """
    own = [_subject(document, section, reader) for section in sections]
    stated = {subject.name: subject for subject in reversed(own) if subject is not None}
    only = next(iter(stated.values())) if len(stated) == 1 else None
    subjects = tuple(
        subject or (only if only and _may_be_about(section, only, reader) else None)
        for section, subject in zip(sections, own, strict=True)
    )
    found = [_validity(document, section) for section in sections]
    bounded = {validity for validity in found if validity != ALWAYS}
    whole = bounded.pop() if len(bounded) == 1 and len(stated) <= 1 else ALWAYS
    validities = tuple(whole if validity == ALWAYS else validity for validity in found)
    about = About(subjects, validities, {name: name for name in sorted(stated)})
    for section in sections:
        for block in section.blocks:
            match block:
                case LabelLine() if fold(block.label) in subject_labels(reader):
                    _note_alias(block, about)
                case Paragraph():
                    _note_short_names(document, block, about)
                case _:
                    pass
    return about


def subject_labels(reader: Reader) -> frozenset[str]:
    """Give the folded labels of lines that state a subject, of all packs."""
    return frozenset().union(*(pack.folded_subject_labels for pack in reader.packs))


def is_label(label: str, reader: Reader) -> bool:
    """Whether a label is one that a pack reads, or one of validity."""
    folded = fold(label)
    forms = (folded, fold(_BRACKET.sub("", label)))
    return (
        folded in subject_labels(reader)
        or _VALIDITY_LABEL.match(label) is not None
        or any(form in pack.relations_by_label for pack in reader.packs for form in forms)
    )


def _may_be_about(section: Section, subject: Subject, reader: Reader) -> bool:
    """Whether a section without a subject of its own may be about that of the document.

    Its heading heads a part of a document, or names nothing but this subject.
    """
    if section.heading is None:
        return True
    text = section.heading.text
    own = set(_words(subject.name)) | _part_words(reader)
    named = set(reader.proper_nouns(text)) if " " in text else {text}
    others = [word for word in text.split()[1:] if word[:1].isupper()]
    return all(word.lower() in own for each in (*named, *others) for word in _words(each))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _part_words(reader: Reader) -> frozenset[str]:
    """Give the words that head parts of documents, and those of what the packs read."""
    labels = [
        label
        for pack in reader.packs
        for label in (
            *pack.relations_by_label,
            *(dimension.label for dimension in pack.dimensions),
        )
    ]
    return _GENERIC | {word for label in labels for word in _words(label) if len(word) > 3}


def _subject(document: Document, section: Section, reader: Reader) -> Subject | None:
    """Give what a section is about: a `Company: ..` line, else a heading that is a name.

    One word is a name where the document has it elsewhere too, inside a line.
    """
    labels = subject_labels(reader)
    for block in section.blocks:
        stated = isinstance(block, LabelLine) and fold(block.label) in labels
        if isinstance(block, LabelLine) and stated and not says_nothing(block.value):
            return Subject(ALIAS.sub("", block.value).strip(), block.start)
    heading = section.heading
    described = heading is not None and (
        ends_like_organisation(heading.text, reader)
        or any(isinstance(block, LabelLine) for block in section.blocks)
    )
    if (
        heading is not None
        and described
        and names_entity(heading.text, reader)
        and (len(heading.text.split()) > 1 or _is_used(heading.text, document, reader))
    ):
        return Subject(heading.text, heading.start)
    return None


def _is_used(word: str, document: Document, reader: Reader) -> bool:
    """Whether a document uses the one word of a heading as a name within its lines."""
    if reader.is_listed(word):
        return True
    within = rf"[^\s#][^\n]*(?<!\w){re.escape(word)}(?!\w)"
    return re.search(within, document.text) is not None


def names_entity(text: str, reader: Reader) -> bool:
    """Whether a heading names an entity: it ends as names of organisations do, or looks like one.

    A heading looks like a name if its words are capitals or the tagger takes it for one, and none
    is a word that heads parts of documents.
    """
    words = text.split()
    if ends_like_organisation(text, reader) or reader.is_listed(text):
        return True
    if not words or any(word.strip(".,").lower() in _GENERIC for word in words):
        return False
    if any(character.isdigit() for character in text) or text.upper() == text:
        return False
    if words[0].lower() in _part_words(reader):
        return False
    folded = f" {fold(text)} "
    if any(f" {label} " in folded for label in _heading_labels(reader)):
        return False
    capitals = len(words) > 1 and all(word[0].isupper() or word == "&" for word in words)
    return capitals or reader.is_name(text)


def _heading_labels(reader: Reader) -> Iterator[str]:
    """Give the labels of classes that headings state of documents: `letter`, `audit report`."""
    for pack in reader.packs:
        for relation in pack.relations:
            taxonomy = pack.dimension_of[relation.dimension].taxonomy
            if relation.heading and taxonomy is not None:
                yield from taxonomy.by_label


def ends_like_organisation(text: str, reader: Reader) -> bool:
    """Whether a text ends as names of organisations do: `GmbH`, `Ltd`."""
    words = text.split()
    if len(words) < 2:
        return False
    shouted = text.upper() == text and words[-1] in {suffix.upper() for suffix in reader.suffixes}
    return shouted or words[-1] in reader.suffixes


def _validity(document: Document, section: Section) -> Validity:
    """Give the interval that a section states: `Valid from ..`, `The policy is valid until ..`."""
    stated: list[str] = []
    for block in section.blocks:
        match block:
            case LabelLine() if _VALIDITY_LABEL.match(block.label):
                stated.append(f"{block.label} {block.value}")
            case Paragraph():
                text = document.text[block.start : block.end]
                stated.extend(line for line in text.split("\n") if _VALIDITY_LINE.match(line))
                stated.extend(match.group() for match in _IN_FORCE.finditer(" ".join(text.split())))
            case _:
                pass
    start = end = None
    for text in stated:
        validity = find_validity(text, bare=True)
        start, end = start or validity.start, end or validity.end
    try:
        return Validity(start, end)
    except ProofweaveError:
        return ALWAYS


def _note_alias(line: LabelLine, about: About) -> None:
    alias = ALIAS.search(line.value)
    if alias is not None:
        short = alias["alias"].strip(" ,.")
        about.known[short] = ALIAS.sub("", line.value).strip()
        about.named_at[short] = line.start


def _note_short_names(document: Document, block: Paragraph, about: About) -> None:
    """Note the short names that running text gives, for the sections after it."""
    for match in _NAMED.finditer(document.text, block.start, block.end):
        entity = " ".join(match["name"].split())
        if match["cue"] or shortens(match["alias"], entity):
            about.known.setdefault(match["alias"], entity)
            about.named_at.setdefault(match["alias"], match.start("name"))
