"""Links between names and titled passages, asserted and withdrawn as the documents change.

A link is an identity statement of its own run, whose quote is the opening of the passage. It stands
as long as the passage is the only one that its bare name can mean.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace

from extract.candidate import KNOWN_AS, SAME_AS
from extract.pack import Pack
from extract.title_links import TitledPassage, TitleLinker, Use
from extract.titles import split_title
from kb.document import Document
from kb.knowledge_base import KnowledgeBase
from kb.reading import Reading
from kb.statement import Entity, Evidence, Statement, Text

LINKER = "title-links/1"


@dataclass(frozen=True, slots=True)
class Linked:
    """How many links were asserted and withdrawn."""

    asserted: int = 0
    withdrawn: int = 0

    def __add__(self, other: Linked) -> Linked:
        """Count two runs together."""
        return Linked(self.asserted + other.asserted, self.withdrawn + other.withdrawn)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A passage that calls its subject by a bare name, and the evidence of that."""

    title: str
    name: str
    evidence: Evidence


def claims_of(base: Reading) -> tuple[_Claim, ...]:
    """Give where passages call what their title names by the bare name, by title and place."""
    found = [
        _Claim(statement.subject, statement.value.text, evidence)
        for _, statement, places in base.every_statement(dimension=KNOWN_AS)
        if isinstance(statement.value, Text)
        and split_title(statement.subject)[0] == statement.value.text != statement.subject
        for evidence in places
    ]
    order = ("source_sha256", "start", "end")
    return tuple(
        sorted(found, key=lambda c: (c.title, *(getattr(c.evidence, name) for name in order)))
    )


def link_titles(base: KnowledgeBase, packs: tuple[Pack, ...], *, run: str) -> Linked:
    """Assert the links that hold now and withdraw those that no longer do; one run at a time."""
    claims = claims_of(base)
    standing = {
        statement.subject: statement_id
        for statement_id, statement, places in base.every_statement(dimension=SAME_AS)
        if all(evidence.extractor == LINKER for evidence in places)
    }
    if not claims and not standing:
        return Linked()
    texts = _Texts(base)
    passages = {
        claim.title: TitledPassage(claim.title, claim.evidence.quote, texts.passage(claim.evidence))
        for claim in reversed(claims)  # the first of a title wins
    }
    chosen = {
        passage.title
        for passage in TitleLinker(packs).choose(
            tuple(passages.values()),
            _uses(base, texts, passages),
            titles=base.passage_titles(),
        )
    }
    withdrawn = [standing[title] for title in sorted(standing.keys() - chosen)]
    if withdrawn:
        base.withdraw_links(withdrawn, extractor=LINKER)
    wanted: dict[str, list[tuple[Statement, Evidence]]] = {}
    for claim in claims:
        if claim.title in chosen:
            statement = Statement(claim.title, SAME_AS, Entity(claim.name))
            evidence = replace(
                claim.evidence, statement_id=statement.id, extractor=LINKER, confidence="1"
            )
            wanted.setdefault(evidence.source_sha256, []).append((statement, evidence))
    asserted = 0
    for source, grounded in sorted(wanted.items()):
        data = base.source_bytes(source)
        asserted += base.admit(texts.document(source), data, grounded, run=run).inserted
    return Linked(asserted, len(withdrawn))


def unlinked_titles(base: Reading) -> dict[str, tuple[str, ...]]:
    """Give the titles that are not linked to their bare name, by that name, sorted."""
    linked = {
        statement.subject
        for statement in base.statements(dimension=SAME_AS)
        if statement.value == Entity(split_title(statement.subject)[0])
    }
    titles: dict[str, list[str]] = {}
    for claim in claims_of(base):
        if claim.title not in linked and claim.title not in titles.get(claim.name, ()):
            titles.setdefault(claim.name, []).append(claim.title)
    return {name: tuple(found) for name, found in titles.items()}


def _uses(
    base: KnowledgeBase, texts: _Texts, passages: Mapping[str, TitledPassage]
) -> dict[str, set[Use]]:
    """Give the uses of the bare names outside the passages that are so titled."""
    names = {passage.name for passage in passages.values()}
    uses: dict[str, set[Use]] = {}
    for statement, evidence in base.mentions(names):
        if statement.dimension in (KNOWN_AS, SAME_AS):
            continue
        title = texts.title(evidence)
        value = statement.value
        name = value.name if isinstance(value, Entity) else ""
        if name in names and split_title(title)[0] != name:
            use = Use(statement.dimension, statement.subject, is_value=True)
            uses.setdefault(name, set()).add(use)
        if statement.subject in names and split_title(title)[0] != statement.subject:
            use = Use(statement.dimension, title, is_value=False)
            uses.setdefault(statement.subject, set()).add(use)
    return uses


class _Texts:
    """Passages by the place of evidence; each document is read once."""

    def __init__(self, base: KnowledgeBase) -> None:
        self._base = base
        self._documents: dict[str, tuple[Document, list[int]]] = {}

    def document(self, source_sha256: str) -> Document:
        """Give a document."""
        return self._read(source_sha256)[0]

    def title(self, evidence: Evidence) -> str:
        """Give the title of the passage that evidence stands in."""
        document, starts = self._read(evidence.source_sha256)
        at = bisect_right(starts, evidence.start) - 1
        return document.passages[at].title if at >= 0 else document.title

    def passage(self, evidence: Evidence) -> str:
        """Give the text of the passage that evidence stands in."""
        document, starts = self._read(evidence.source_sha256)
        at = bisect_right(starts, evidence.start) - 1
        if at < 0:
            return evidence.quote
        passage = document.passages[at]
        return document.text[passage.start : passage.end]

    def _read(self, source_sha256: str) -> tuple[Document, list[int]]:
        found = self._documents.get(source_sha256)
        if found is None:
            document = self._base.document(source_sha256)
            found = document, [passage.start for passage in document.passages]
            self._documents[source_sha256] = found
        return found
