"""Errors of extraction.

ProofweaveError
└── ExtractError
    ├── PackRejected        a pack with problems; carries every finding
    ├── ModelUnavailable    the language model or its data is not installed or not reachable
    └── ReplyRejected       a model reply that is missing from the recording or breaks its schema
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kb.errors import ProofweaveError


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One problem of a pack: where (`file`, one-based `line`) and what."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class ExtractError(ProofweaveError):
    """Root of the errors of extraction."""

    code: ClassVar[str] = "EXTRACT_ERROR"


class PackRejected(ExtractError):
    """A pack that cannot be used; `findings` lists every problem, sorted by file and line."""

    code: ClassVar[str] = "PACK_REJECTED"

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(sorted(findings))
        super().__init__("\n".join(str(finding) for finding in self.findings))


class ModelUnavailable(ExtractError):
    """A language model that is not installed or does not answer."""

    code: ClassVar[str] = "MODEL_UNAVAILABLE"


class ReplyRejected(ExtractError):
    """A model reply that is not in the recording, or that breaks its schema."""

    code: ClassVar[str] = "REPLY_REJECTED"
