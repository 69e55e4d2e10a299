"""Which predicates are closed: what is not stated of them, or derived, does not hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .clause import Clause, Policy
from .facts import Signature
from .prelude import ALWAYS_CLOSED, COMPUTED, atoms_of, prelude


def dependencies(clauses: Iterable[Clause]) -> dict[Signature, set[Signature]]:
    """Give the predicates that each derived predicate reads directly."""
    reads: dict[Signature, set[Signature]] = {}
    for clause in clauses:
        found = reads.setdefault(clause.head.signature, set())
        found.update(atom.signature for atom in atoms_of(clause.body))
    return reads


def open_because_of(
    policy: Policy, *, known: Collection[Signature] = ()
) -> dict[Signature, Signature]:
    """Give each open predicate that rules read or derive, with a stored one that leaves it open.

    A stored predicate is closed by a declaration; a derived one if all it reads is closed. Facts of
    a derived predicate (in `known`) must be declared complete as well.
    """
    declared = {(c.predicate, c.arity) for c in policy.closed} - (COMPUTED - ALWAYS_CLOSED)
    reads = dependencies((*policy.clauses, *prelude().clauses))
    used_by: dict[Signature, set[Signature]] = {}
    for reader, read in reads.items():
        for signature in read:
            used_by.setdefault(signature, set()).add(reader)
    stored = {
        signature
        for signature in used_by.keys() | reads.keys()
        if signature not in reads or signature in known
    }
    cause: dict[Signature, Signature] = {}
    waiting = sorted(stored - declared - ALWAYS_CLOSED)
    cause.update((signature, signature) for signature in waiting)
    for signature in waiting:
        for reader in sorted(used_by.get(signature, ())):
            if reader not in cause:
                cause[reader] = cause[signature]
                waiting.append(reader)
    return cause
