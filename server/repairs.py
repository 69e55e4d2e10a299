"""The cheapest facts that would prove a goal, each set tried before it is proposed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from reasoner.abduction import MissingFacts, Optimality, abduce
from reasoner.atom import Atom
from reasoner.compiled_slice import SliceNames, compile_slice
from reasoner.decide import decide
from reasoner.evaluate import Budget
from reasoner.facts import Fact, Signature
from reasoner.prelude import ABOUT_NAMES, COMPUTED, DECIDED_BY_ORDER, DECLARATIONS
from reasoner.slice import Slice
from reasoner.verdict import Verdict

from .reasoning import Ground

ROUNDS = 32
"""Layers of missing facts that are looked through."""

MOST_TRIED = 16
"""Sets looked at for each one wanted, where most are refused."""

MISSING = "missing:"
"""Begins the leaf of a fact that is not there, supposed to see what would follow."""

NEVER_MISSING = COMPUTED | DECLARATIONS | DECIDED_BY_ORDER | ABOUT_NAMES


@dataclass(frozen=True, slots=True)
class Repairs:
    """Sets of facts, the cheapest first, each of which proves the goal where all of it is added.

    `optimality` is that of the first set: no set of ground facts that a source might state costs
    less, or it is the best found until a limit cut the search. `complete` says that there are no
    others, or as many as were asked for.
    """

    sets: tuple[tuple[Atom, ...], ...]
    optimality: Optimality
    complete: bool


def find_repairs(
    goal: Atom, ground: Ground, *, budget: Budget, cap: int, expired: Callable[[], bool]
) -> Repairs:
    """Find the `cap` cheapest sets of missing facts, each fact of cost one.

    Candidates are the ground look-ups that found nothing, of predicates that are not closed: what a
    complete source does not state is no missing fact. A set is proposed only if the goal is
    certified with it; so none contradicts what is stated, a functional dimension or a denial.
    """
    part, all_seen = with_missing(goal, ground, budget)
    program, names = compile_slice(part)
    number = names.number(goal)
    costs = {
        leaf: 1
        for leaf, content in zip(names.leaf_numbers, names.leaves, strict=True)
        if content.name.startswith(MISSING)
    }
    if number is None or not costs:
        return Repairs((), Optimality.IMPOSSIBLE, all_seen)
    kept = [at for at, atom in enumerate(program.given.tolist()) if atom not in costs]
    without = dataclasses.replace(program, given=program.given[kept])
    tried: dict[tuple[int, ...], bool] = {}
    asked = cap
    while True:
        found = abduce(without, number, costs, limit=asked, expired=expired)
        accepted: list[tuple[Atom, ...]] = []
        for entry in found.sets:
            if entry.atoms not in tried:
                if expired():
                    return _cut(accepted)
                tried[entry.atoms] = proves(goal, ground, _facts(entry, names), budget)
            if tried[entry.atoms]:
                accepted.append(_facts(entry, names))
        if found.optimality is Optimality.BEST_FOUND:
            return _cut(accepted)
        exhausted = len(found.sets) < asked
        if exhausted or len(accepted) >= cap or asked >= cap * MOST_TRIED:
            break
        asked *= 2
    optimality = found.optimality if accepted or exhausted else Optimality.BEST_FOUND
    if exhausted and not accepted:
        optimality = Optimality.IMPOSSIBLE
    if not all_seen and accepted:
        optimality = Optimality.BEST_FOUND
    enough = exhausted or len(accepted) >= cap
    return Repairs(tuple(accepted[:cap]), optimality, all_seen and enough)


def _cut(accepted: list[tuple[Atom, ...]]) -> Repairs:
    return Repairs(tuple(accepted), Optimality.BEST_FOUND, complete=False)


def _facts(entry: MissingFacts, names: SliceNames) -> tuple[Atom, ...]:
    leaves = [names.leaf(atom) for atom in entry.atoms]
    return tuple(leaf.facts[0].atom for leaf in leaves if leaf is not None)


def proves(goal: Atom, ground: Ground, facts: tuple[Atom, ...], budget: Budget) -> bool:
    """Whether a goal is certified where facts are added to what is known."""
    request = ground.request(goal)
    request = dataclasses.replace(request, assumptions=(*request.assumptions, *facts))
    decision = decide(
        request,
        policy=ground.policy,
        facts=ground.facts,
        sources=ground.sources,
        budget=budget,
        known=ground.known,
    )
    return decision.verdict is Verdict.CERTIFIED


def with_missing(goal: Atom, ground: Ground, budget: Budget) -> tuple[Slice, bool]:
    """Evaluate with every ground look-up that finds nothing supposed true, layer by layer.

    Gives whether no layer was left out.
    """
    assumed = ground.supposed_facts()
    never = never_missing(ground)
    supposed: frozenset[Atom] = frozenset()
    part = ground.slice(goal, assumed, budget)
    for _ in range(ROUNDS):
        found = {
            call.pattern
            for call in part.lookups
            if not call.answers and call.pattern.is_ground and call.pattern.signature not in never
        }
        if found <= supposed:
            return part, part.complete
        supposed |= found
        facts = assumed.with_facts(
            Fact(atom, f"{MISSING}{atom}") for atom in sorted(supposed, key=str)
        )
        part = ground.slice(goal, facts, budget)
    return part, False


def never_missing(ground: Ground) -> frozenset[Signature]:
    """Give the predicates of which nothing can be missing: closed, derived or computed ones."""
    closed = {(item.predicate, item.arity) for item in ground.policy.closed}
    derived = {clause.head.signature for clause in ground.policy.clauses}
    return NEVER_MISSING.union(closed, derived)
