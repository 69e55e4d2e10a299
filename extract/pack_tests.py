"""Tests of packs: every relation's examples must give what they say, and nothing else of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from kb.document import Document, Passage
from kb.statement import ALWAYS, Statement, value_to_json

from .candidate import document_subject
from .ingest import ingest_document
from .pack import Example, Expected, Pack, Relation
from .pipeline import DEFAULT_MODEL

_DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class ExampleFailure:
    """An example that did not give what it says, with file and one-based line."""

    file: str
    line: int
    relation: str
    missing: tuple[Expected, ...]
    unexpected: tuple[Expected, ...]

    def __str__(self) -> str:
        wrong = [f"missing {_describe(expected)}" for expected in self.missing]
        wrong += [f"unexpected {_describe(expected)}" for expected in self.unexpected]
        return f"{self.file}:{self.line}: {self.relation}: " + "; ".join(wrong)


def _describe(expected: Expected) -> str:
    extra = [
        part
        for part, plain in (
            (expected.polarity.value, "affirmed"),
            (expected.modality.value, "asserted"),
        )
        if part != plain
    ]
    if expected.start or expected.end:
        extra.append(f"{expected.start or ''}..{expected.end or ''}")
    return f"({expected.subject}, {expected.value}{', ' if extra else ''}{', '.join(extra)})"


@dataclass(frozen=True, slots=True)
class PackReport:
    """Outcome of the tests of a pack."""

    examples: int
    failures: tuple[ExampleFailure, ...]
    untested: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every example holds and every relation has one with and one without a value."""
        return not self.failures and not self.untested


def run_pack_tests(pack: Pack, *, model: str = DEFAULT_MODEL) -> PackReport:
    """Run the examples of all relations of a pack.

    Raises ModelUnavailable.
    """
    failures: list[ExampleFailure] = []
    untested: list[str] = []
    examples = 0
    for relation in pack.relations:
        if not any(example.gives for example in relation.examples) or all(
            example.gives for example in relation.examples
        ):
            untested.append(
                f"{relation.file}:{relation.line}: {relation.dimension} needs an example "
                "that gives a value and one that gives none"
            )
        for example in relation.examples:
            examples += 1
            failures.extend(_run(pack, relation, example, model))
    return PackReport(examples, tuple(failures), tuple(untested))


def _run(pack: Pack, relation: Relation, example: Example, model: str) -> Iterator[ExampleFailure]:
    document = example_document(example.text, title=example.title)
    extraction = ingest_document((), [pack], document, model=model)
    got = {
        _expected(statement, document)
        for statement, _ in extraction.grounded
        if statement.dimension == relation.dimension
    }
    wanted = set(example.gives)
    if got != wanted:
        yield ExampleFailure(
            example.file,
            example.line,
            relation.dimension,
            _sorted(wanted - got),
            _sorted(got - wanted),
        )


def _sorted(expected: set[Expected]) -> tuple[Expected, ...]:
    return tuple(sorted(expected, key=_describe))


def _expected(statement: Statement, document: Document) -> Expected:
    validity = statement.validity
    about_document = statement.subject == document_subject(document)
    bounded = validity != ALWAYS
    return Expected(
        subject=_DOCUMENT if about_document else statement.subject,
        value=value_to_json(statement.value)["value"],
        polarity=statement.polarity,
        modality=statement.modality,
        start=validity.start.isoformat() if bounded and validity.start else None,
        end=validity.end.isoformat() if bounded and validity.end else None,
    )


def example_document(text: str, *, title: str | None = None) -> Document:
    """Make a document of a text: a titled passage of a corpus, or Markdown without a title."""
    if title is not None:
        text = f"{title}\n{text}\n\n"
    return Document(
        source_sha256=hashlib.sha256(text.encode()).hexdigest(),
        name="example.json" if title is not None else "example.md",
        title=title or "",
        media_type="application/json" if title is not None else "text/plain",
        decoder="text/1",
        text=text,
        passages=(Passage(title or "", 0, len(text)),),
    )
