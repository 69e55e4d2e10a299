"""Sets of missing facts with a value that nobody knows yet: what to look for, not what to add."""

from __future__ import annotations

from collections.abc import Callable

from reasoner.atom import Atom, Variable
from reasoner.bodies import NotCovered
from reasoner.evaluate import Budget
from reasoner.inquiry import Inquiry
from reasoner.lacks import cheapest_lacks
from reasoner.missing import Missing
from reasoner.openness import Openness
from reasoner.policy import parse_atom

from .reasoning import Ground
from .repairs import never_missing


def find_open_repairs(
    goal: Atom, ground: Ground, *, budget: Budget, cap: int, expired: Callable[[], bool]
) -> tuple[tuple[str, ...], ...]:
    """Find the smallest sets of missing facts that hold a variable, at most `cap` of them.

    Values that fit would prove the goal. None is of a predicate that is closed or concluded by
    rules, nor a second value of a functional dimension.
    """
    facts = ground.supposed_facts()
    inquiry = Inquiry(goal, ground.policy, facts, ground.sources, ground.valid_on, "linear", budget)
    never = never_missing(ground)
    functional = ground.sources.functional.union(ground.policy.functional)

    def is_findable(missing: Missing) -> bool:
        atom = missing.atom
        if missing.excluding or missing.undetermined or missing.is_final:
            return False
        if atom.signature in never:
            return False
        has_one_value = atom.predicate in functional and len(atom.arguments) == 2
        other = Atom(atom.predicate, (*atom.arguments[:1], Variable("V")))
        return not (has_one_value and any(facts.match(other, ground.valid_on)))

    try:
        part = inquiry.slice(goal)
        ranked = Openness(inquiry, part).ranked(goal)
    except NotCovered:
        return ()
    found = cheapest_lacks(ranked, goal, is_findable=is_findable, limit=cap, expired=expired)
    return tuple(each for each in found if not all(parse_atom(atom).is_ground for atom in each))
