"""Verdicts, abstention codes and open requirements (DESIGN sections 2 and 4)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """The three normal results. Abstained never means no."""

    CERTIFIED = "CERTIFIED"
    REFUTED = "REFUTED"
    ABSTAINED = "ABSTAINED"


class AbstentionCode(Enum):
    """Why a requirement is open; a verdict takes the first of its requirements in this order."""

    BUDGET = "BUDGET"
    CONFLICT = "CONFLICT"
    UNDETERMINED = "UNDETERMINED"
    UNVERIFIED_ENTITY = "UNVERIFIED_ENTITY"
    GAP_IN_EXTRACTION = "GAP_IN_EXTRACTION"
    GAP_IN_CORPUS = "GAP_IN_CORPUS"
    OUT_OF_SCOPE = "OUT_OF_SCOPE"
    EXCLUDED = "EXCLUDED"


def first_code(codes: tuple[AbstentionCode, ...]) -> AbstentionCode:
    """Give the code the verdict takes: the first in the order of `AbstentionCode`."""
    order = list(AbstentionCode)
    return min(codes, key=order.index)


def requirement_id(atom: str, rule: str) -> str:
    """Give the stable id of an open requirement.

    >>> requirement_id("insured(acme)", "onboard")
    'or:8cf4ee674a46ef3c'
    """
    return "or:" + hashlib.sha256(f"{atom}\n{rule}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class OpenRequirement:
    """An underived atom, its arguments resolved as far as derived.

    `id` is stable: `or:` and 16 hex digits of the SHA-256 of `atom`, a line end and `rule`.
    `query` is what a search would look for, `expected` the kind of answer (`date`, `quantity`,
    `class X`, ...), `entity_test` what a candidate must match. `rejected` lists candidates the
    entity check refused, `conflicting` the statement ids of both sides of a conflict.
    """

    id: str
    atom: str
    code: AbstentionCode
    rule: str
    query: str
    expected: str
    entity_test: str
    detail: str = ""
    rejected: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()
