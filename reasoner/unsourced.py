"""Predicates whose complete source is not there: what it does not state is not known to be so."""

from __future__ import annotations

from collections.abc import Mapping

from .clause import Policy
from .closedness import dependencies
from .facts import Signature
from .prelude import prelude
from .sources import Sources


def unsourced(policy: Policy, sources: Sources) -> dict[Signature, str]:
    """Give each predicate that a policy closes by a table which is missing, with its name."""
    return {
        (item.predicate, item.arity): item.source
        for item in policy.closed
        if sources.is_missing(item.source)
    }


def sources_below(
    policy: Policy, missing: Mapping[Signature, str], signature: Signature
) -> tuple[str, ...]:
    """Give the missing sources of a predicate and of all that its rules use, sorted."""
    if not missing:
        return ()
    reads = dependencies((*policy.clauses, *prelude().clauses))
    found = {signature: None}
    waiting = [signature]
    for current in waiting:
        for other in sorted(reads.get(current, ())):
            if other not in found:
                found[other] = None
                waiting.append(other)
    return tuple(sorted({missing[item] for item in found if item in missing}))
