"""Of answers that one value gives at several precisions, the most precise one stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kb.quantity import Date

from .atom import Atom, Constant, Term
from .bodies import without_statement
from .certificate import Proof
from .facts import Fact
from .inquiry import Inquiry

Value = tuple[str, Term]
"""A dimension and a subject, of which there is one value at a time."""


def most_precise(
    inquiry: Inquiry, proofs: Mapping[Atom, Proof], functional: Collection[str]
) -> dict[Atom, Proof]:
    """Leave out answers that say less precisely what another answer says.

    Both must rest on values of one subject in one functional dimension, where the one contains the
    other: a year its month, a region its country. What is left out stays stated.
    """
    if len(proofs) < 2 or not functional:
        return dict(proofs)
    values = {answer: _values(proof, functional) for answer, proof in proofs.items()}
    kept = {}
    for answer, proof in proofs.items():
        if not any(
            _is_vaguer(inquiry, answer, other, values) for other in proofs if other != answer
        ):
            kept[answer] = proof
    return kept


def _values(proof: Proof, functional: Collection[str]) -> dict[Term, set[Value]]:
    """Give, by value, the functional dimensions and subjects that a proof reads it from."""
    found: dict[Term, set[Value]] = {}
    for atom, origin in proof.steps:
        pair = without_statement(atom)
        if isinstance(origin, Fact) and len(pair.arguments) == 2 and atom.predicate in functional:
            subject, value = pair.arguments
            found.setdefault(value, set()).add((atom.predicate, subject))
    return found


def _is_vaguer(
    inquiry: Inquiry, answer: Atom, other: Atom, values: Mapping[Atom, Mapping[Term, set[Value]]]
) -> bool:
    differing = [
        (mine, theirs)
        for mine, theirs in zip(answer.arguments, other.arguments, strict=True)
        if mine != theirs
    ]
    return bool(differing) and all(
        not values[answer].get(mine, set()).isdisjoint(values[other].get(theirs, set()))
        and _contains(inquiry, mine, theirs)
        for mine, theirs in differing
    )


def _contains(inquiry: Inquiry, wide: Term | Constant, narrow: Term | Constant) -> bool:
    match wide, narrow:
        case Date(), Date():
            return wide.first <= narrow.first and narrow.last <= wide.last
        case str(), str():
            return bool(inquiry.slice(Atom("under", (narrow, wide))).answers)
    return False
