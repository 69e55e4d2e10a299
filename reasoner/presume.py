"""Verdicts and requirements without a certificate: to explain, never to answer."""

from __future__ import annotations

import datetime
from collections.abc import Collection

from .atom import Atom
from .bodies import NotCovered
from .clause import Policy
from .decide import declarations
from .evaluate import UNLIMITED, Budget
from .facts import FactBase, Signature
from .inquiry import Inquiry
from .missing import Missing
from .openness import Openness
from .scope import write_missing
from .sources import Sources
from .verdict import AbstentionCode, OpenRequirement, Verdict, first_code


def presume(
    goal: Atom,
    *,
    policy: Policy,
    facts: FactBase,
    sources: Sources,
    valid_on: datetime.date | None,
    budget: Budget = UNLIMITED,
    known: Collection[Signature] = (),
) -> tuple[Verdict, AbstentionCode | None, tuple[OpenRequirement, ...]]:
    """Give the verdict on a ground goal, its code and what is open; looks for no conflicts."""
    declared = declarations(goal, policy, sources)
    if declared:
        facts = facts.with_facts(declared)
    inquiry = Inquiry(
        goal, policy, facts, sources, valid_on, "linear", budget, vocabulary=frozenset(known)
    )
    part = inquiry.slice(goal)
    if goal in part.answers:
        return Verdict.CERTIFIED, None, ()
    opposite = goal.complement
    if inquiry.is_defined(opposite.signature) and opposite in inquiry.slice(opposite).answers:
        return Verdict.REFUTED, None, ()
    if not part.complete:
        return Verdict.ABSTAINED, AbstentionCode.BUDGET, ()
    try:
        missing = Openness(inquiry, part).missing(goal)
    except NotCovered:
        return Verdict.ABSTAINED, AbstentionCode.BUDGET, ()
    requirements = tuple(write_missing(inquiry, item) for item in missing)
    return Verdict.ABSTAINED, first_code(tuple(item.code for item in requirements)), requirements


def presume_requirement(inquiry: Inquiry, atom: Atom, rule: str) -> OpenRequirement:
    """Write an atom as an open requirement of a rule."""
    return write_missing(inquiry, Missing(atom, rule))
