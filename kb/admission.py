"""What is checked before statements are admitted, and what admitting them changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .dimension import DimensionKind
from .document import Document
from .errors import DocumentRejected, StatementRejected
from .statement import Evidence, Statement, value_to_json

Grounded = tuple[Statement, Evidence]

_VALUE_KINDS = {
    DimensionKind.TAXONOMIC: "class",
    DimensionKind.ENTITY: "entity",
    DimensionKind.QUANTITY: "quantity",
    DimensionKind.NUMBER: "number",
    DimensionKind.TIME: "date",
    DimensionKind.TEXT: "text",
}


@dataclass(frozen=True, slots=True)
class Admission:
    """What admitting changed: evidence new and already there, and whether the document is new.

    Evidence of a statement that was retracted stays retracted and counts as already there.
    """

    inserted: int
    already: int
    document_is_new: bool


def value_kinds(kinds: Mapping[str, str]) -> dict[str, str]:
    """Give what values dimensions have, by name, from the kinds of the dimensions."""
    return {name: _VALUE_KINDS[DimensionKind(kind)] for name, kind in kinds.items()}


def check_bytes(document: Document, data: bytes) -> None:
    """Check that a document was decoded from these bytes.

    Raises DocumentRejected.
    """
    if hashlib.sha256(data).hexdigest() != document.source_sha256:
        raise DocumentRejected(
            f"the bytes given for {document.name} are not those it was decoded from"
        )


def check_grounded(
    document: Document, grounded: Sequence[Grounded], kinds: Mapping[str, str]
) -> None:
    """Check that each quote stands at its span, and each value is of its dimension's kind.

    Raises StatementRejected, naming all that do not.
    """
    problems = []
    text, text_sha256 = document.text, document.text_sha256
    for statement, evidence in grounded:
        if text[evidence.start : evidence.end] != evidence.quote:
            problem = f"its quote does not stand at [{evidence.start}, {evidence.end})"
        elif (evidence.source_sha256, evidence.text_sha256) != (
            document.source_sha256,
            text_sha256,
        ):
            problem = "its evidence names another document"
        elif evidence.statement_id != statement.id:
            problem = "its evidence is of another statement"
        elif statement.dimension in kinds and kinds[statement.dimension] != (
            kind := value_to_json(statement.value)["kind"]
        ):
            problem = f"its value is of kind {kind}; expected {kinds[statement.dimension]}"
        else:
            continue
        problems.append(f"{statement.subject} {statement.dimension}: {problem}")
    if problems:
        raise StatementRejected(f"{document.name}: " + "; ".join(problems))
