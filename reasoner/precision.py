"""Of answers that one value gives at several precisions, the most precise one stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kb.quantity import Date

from .atom import Atom, Term
from .bodies import without_statement
from .facts import Fact
from .inquiry import Inquiry
from .steps import Proof

Value = tuple[str, Term]
"""A dimension and a subject, of which there is one value at a time."""


def most_precise(
    inquiry: Inquiry, proofs: Mapping[Atom, Proof], functional: Collection[str]
) -> dict[Atom, Proof]:
    """Leave out answers that say less precisely, in one place, what another answer says.

    Both must rest on values of one subject in one functional dimension, where the one contains the
    other: a year its month, a region its country. What is left out stays stated.
    """
    if len(proofs) < 2 or not functional:
        return dict(proofs)
    groups: dict[tuple[Value, int, tuple[Term, ...]], list[Atom]] = {}
    for answer, proof in proofs.items():
        values = _values(proof, functional)
        for at, term in enumerate(answer.arguments):
            others = (*answer.arguments[:at], *answer.arguments[at + 1 :])
            for value in values.get(term, ()):
                groups.setdefault((value, at, others), []).append(answer)
    vaguer = {
        answer
        for (_, at, _), group in groups.items()
        for answer in group
        for other in group
        if answer != other and _contains(inquiry, answer.arguments[at], other.arguments[at])
    }
    return {answer: proof for answer, proof in proofs.items() if answer not in vaguer}


def _values(proof: Proof, functional: Collection[str]) -> dict[Term, set[Value]]:
    """Give, by value, the functional dimensions and subjects that a proof reads it from."""
    found: dict[Term, set[Value]] = {}
    for atom, origin in proof.steps:
        pair = without_statement(atom)
        if isinstance(origin, Fact) and len(pair.arguments) == 2 and atom.predicate in functional:
            subject, value = pair.arguments
            found.setdefault(value, set()).add((atom.predicate, subject))
    return found


def _contains(inquiry: Inquiry, wide: Term, narrow: Term) -> bool:
    match wide, narrow:
        case Date(), Date():
            return wide.first <= narrow.first and narrow.last <= wide.last
        case str(), str():
            return bool(inquiry.slice(Atom("under", (narrow, wide))).answers)
    return False
