"""Facts: ground atoms with the leaves that support them."""

from __future__ import annotations

from dataclasses import dataclass

from .atom import Atom


@dataclass(frozen=True, slots=True)
class Fact:
    """A ground atom that sources state.

    `leaf` names what supports it: a statement id (`st:...`) of the knowledge base or of a facts
    file, or `assumed` for an assumption of the request. Several statements may give one atom: then
    there are several facts, and `leaf` order decides which is cited first.
    """

    atom: Atom
    leaf: str
