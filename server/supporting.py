"""Minimal supports of a goal, and the cheapest facts that would give it one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from reasoner.abduction import Optimality
from reasoner.atom import Atom
from reasoner.compiled_slice import Leaf, compile_slice
from reasoner.decide import check_goal
from reasoner.errors import GoalRejected
from reasoner.evaluate import Budget
from reasoner.policy import parse_atom
from reasoner.sources import Sources
from reasoner.supports import supports
from reasoner.verdict import AbstentionCode, Verdict

from .open_repairs import find_open_repairs
from .reasoning import Ground, decide_goal, decision_message
from .repairs import find_repairs
from .settings import LimitsSection


def ground_goal(text: str) -> Atom:
    """Read a goal without variables.

    Raises GoalRejected, naming the variables, for others.
    """
    goal = parse_atom(text)
    if not goal.is_ground:
        raise GoalRejected(f"the goal {goal} holds a variable; expected a ground atom here")
    return goal


def expiry(budget: Budget) -> Callable[[], bool]:
    """Give whether the deadline of a budget, counted from now, has passed."""
    clock, milliseconds = budget.clock, budget.deadline_ms
    if clock is None or milliseconds is None:
        return lambda: False
    end = clock() + milliseconds / 1000
    return lambda: clock() >= end


def stream_supports(
    request: pb.StreamSupportsRequest, ground: Ground, *, budget: Budget, limits: LimitsSection
) -> Iterator[pb.StreamSupportsResponse]:
    """Give minimal sets of statements and assumptions that prove a goal; at last, if these are all.

    Facts that every request has (its date, where a statement stands) are not listed.
    """
    goal = ground_goal(request.goal.goal)
    check_goal(goal, ground.policy, ground.supposed_facts(), ground.known)
    expired = expiry(budget)
    part = ground.slice(goal, ground.supposed_facts(), budget)
    program, names = compile_slice(part)
    number = names.number(goal)
    if number is None:
        yield pb.StreamSupportsResponse(end=pb.SupportsEnd(complete=part.complete))
        return
    losable = [
        leaf
        for leaf, content in zip(names.leaf_numbers, names.leaves, strict=True)
        if content.name.startswith("st:") or content.name == "assumed"
    ]
    cap = min(request.cap or limits.supports, limits.supports)
    result = supports(
        program, number, losable, limit=cap, expired=expired, resume=request.resume_token
    )
    for index, found in enumerate(result.found):
        leaves = [names.leaf(atom) for atom in found]
        yield pb.StreamSupportsResponse(
            support=pb.Support(
                index=index,
                leaves=[leaf_message(leaf, ground.sources) for leaf in leaves if leaf is not None],
            )
        )
    yield pb.StreamSupportsResponse(
        end=pb.SupportsEnd(
            complete=result.complete and part.complete,
            resume_token=result.token,
            count=len(result.found),
        )
    )


def leaf_message(leaf: Leaf, sources: Sources) -> pb.SupportLeaf:
    """Translate a leaf with the first quote of its statement."""
    atom = str(leaf.facts[0].atom)
    if not leaf.name.startswith("st:"):
        return pb.SupportLeaf(id=leaf.name, atom=atom)
    quotes = [
        common_pb2.Quote(
            statement=leaf.name,
            source_sha256=found.source_sha256,
            title=sources.source(found.source_sha256).title,
            start=found.start,
            end=found.end,
            quote=found.quote,
        )
        for found in sources.statement(leaf.name).evidence[:1]
    ]
    return pb.SupportLeaf(id=leaf.name, atom=atom, quotes=quotes)


def explain_why_not(
    request: pb.ExplainWhyNotRequest, ground: Ground, *, budget: Budget, limits: LimitsSection
) -> pb.ExplainWhyNotResponse:
    """Give the decision, and the sets of missing facts that would prove the goal, cheapest first.

    Look-ups that found nothing are the candidates, each of cost one. Sets of ground facts are tried
    before they are listed. Where a missing fact has no known value, the set names it with a
    variable, and facts with values that fit would do; then `complete` is false. A refuted goal has
    no repair: what refutes it would stand against whatever is added.
    """
    goal, decision = decide_goal(request.goal.goal, ground, engine=pb.ENGINE_AUTO, budget=budget)
    response = pb.ExplainWhyNotResponse(decision=decision_message(goal, decision), complete=True)
    if decision.verdict is not Verdict.ABSTAINED or not goal.is_ground:
        return response
    cap = min(request.cap or limits.repairs, limits.repairs)
    found = find_repairs(goal, ground, budget=budget, cap=cap, expired=expiry(budget))
    response.complete = found.complete
    sets = [tuple(map(str, facts)) for facts in found.sets]
    best = found.optimality
    if decision.code not in _UNFILLABLE:
        known = [frozenset(facts) for facts in sets]
        for facts in find_open_repairs(
            goal, ground, budget=budget, cap=cap, expired=expiry(budget)
        ):
            if not any(less <= frozenset(facts) for less in known):
                response.complete = False
                sets.append(facts)
    sets.sort(key=len)
    response.repairs.extend(pb.Repair(facts=facts) for facts in sets[:cap])
    if sets and len(sets[0]) < min(map(len, found.sets), default=len(sets[0]) + 1):
        best = Optimality.BEST_FOUND
    if sets:
        response.optimality = best.value
    return response


_UNFILLABLE = frozenset({AbstentionCode.CONFLICT, AbstentionCode.BUDGET})
"""What more facts do not resolve."""
