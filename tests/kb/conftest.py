"""A tiny world: one letter about one supplier, in an empty knowledge base."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kb.document import Document, decode
from kb.knowledge_base import KnowledgeBase
from kb.quantity import parse_quantity
from kb.statement import Entity, Evidence, Statement, Value

NAMESPACE = "https://example.org/kb/"
LETTER = (
    "Confirmation of cover\n\n"
    "Nordwind Logistik GmbH is insured up to 5000000 EUR.\n"
    "Its seat is Bremen.\n\n"
    "It has been audited by Hanse Prüf AG.\n"
).encode()

Grounded = tuple[Statement, Evidence]
Ground = Callable[..., Grounded]


@pytest.fixture
def base(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.create(tmp_path / "kb", namespace=NAMESPACE) as base:
        yield base


@pytest.fixture
def letter() -> Document:
    return decode(LETTER, name="letter.txt")


@pytest.fixture
def letter_bytes() -> bytes:
    return LETTER


@pytest.fixture
def ground() -> Ground:
    """Make a statement and its evidence at the first place of a quote."""

    def ground(
        document: Document, quote: str, subject: str, dimension: str, value: Value
    ) -> Grounded:
        statement = Statement(subject, dimension, value)
        start = document.text.index(quote)
        evidence = Evidence(
            statement.id,
            document.source_sha256,
            document.text_sha256,
            start,
            start + len(quote),
            quote,
            "test/1",
        )
        return statement, evidence

    return ground


@pytest.fixture
def cover(letter: Document, ground: Ground) -> Grounded:
    return ground(
        letter,
        "Nordwind Logistik GmbH is insured up to 5000000 EUR.",
        "Nordwind Logistik GmbH",
        "liability_cover",
        parse_quantity("5000000 EUR"),
    )


@pytest.fixture
def seat(letter: Document, ground: Ground) -> Grounded:
    return ground(letter, "Its seat is Bremen.", "Nordwind Logistik GmbH", "seat", Entity("Bremen"))
