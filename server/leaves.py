"""What hangs on each leaf of a proof: the goal without it, from the proof's leaves and from all."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from reasoner.atom import Atom
from reasoner.bodies import NotCovered, without_statement
from reasoner.compiled_slice import Leaf
from reasoner.decide import Decision, declarations
from reasoner.deletion import Deletions, Left, prepare_deletions
from reasoner.evaluate import Budget
from reasoner.facts import Fact, FactBase
from reasoner.inquiry import Inquiry
from reasoner.policy import parse_atom
from reasoner.presume import presume
from reasoner.retraction import Retraction
from reasoner.verdict import AbstentionCode, OpenRequirement, Verdict

from .proof_steps import Json, leaf_of, leaf_steps
from .reasoning import Ground, decide_goal, decision_message
from .recorded import facts_of_certificate
from .supporting import ground_goal, leaf_message
from .translate import CODES, VERDICTS, open_message


def stream_leaves(
    request: pb.StreamLeavesRequest, ground: Ground, *, budget: Callable[[], Budget]
) -> Iterator[pb.StreamLeavesResponse]:
    """Give the decision, then each leaf that its proof needs, in the order of its steps.

    An abstention has no leaves. `budget` gives the limits of the next piece of work. Raises
    GoalRejected for a goal with variables.
    """
    ground_goal(request.goal.goal)
    goal, decision = decide_goal(request.goal.goal, ground, engine=pb.ENGINE_AUTO, budget=budget())
    yield pb.StreamLeavesResponse(decision=decision_message(goal, decision))
    certificate: Json = json.loads(decision.certificate)
    alone = _Alone(goal, ground, facts_of_certificate(certificate), budget)
    needed = [
        (step, left)
        for step in leaf_steps(certificate)
        if (left := alone.without(step)).verdict is not decision.verdict
    ]
    known = _Known(goal, ground, budget, is_certified=decision.verdict is Verdict.CERTIFIED)
    for index, (step, left) in enumerate(needed):
        yield pb.StreamLeavesResponse(
            leaf=pb.LeafWitness(
                index=index,
                count=len(needed),
                leaf=leaf_of(step, certificate),
                in_certificate=_loss(left.verdict, left.code, left.open),
                in_knowledge=known.without(step),
            )
        )


def _inquiry(goal: Atom, ground: Ground, facts: FactBase, budget: Budget) -> Inquiry:
    declared = declarations(goal, ground.policy, ground.sources)
    return Inquiry(
        goal,
        ground.policy,
        facts.with_facts(declared) if declared else facts,
        ground.sources,
        ground.valid_on,
        "linear",
        budget,
        retracted=tuple(item.atom for item in ground.retractions),
        vocabulary=ground.known,
    )


class _Alone:
    """A goal from the facts of its certificate without one leaf; looks for no conflicts."""

    def __init__(
        self, goal: Atom, ground: Ground, facts: FactBase, budget: Callable[[], Budget]
    ) -> None:
        self._goal, self._ground, self._facts, self._budget = goal, ground, facts, budget
        inquiry = _inquiry(goal, dataclasses.replace(ground, retractions=()), facts, budget())
        self._own = inquiry.facts
        self._deletions = prepare_deletions(inquiry, looks_for_conflicts=False)

    def without(self, step: Json) -> Left:
        """Say what is left without the leaf of a step."""
        gone = [Retraction(step.get("statement", "assumed"), _plain(step))]
        if self._deletions is not None:
            left = self._deletions.without(_fact(step), self._own.without(gone))
            if left is not None:
                return left
        return Left(
            *presume(
                self._goal,
                policy=self._ground.policy,
                facts=self._facts.without(gone),
                sources=self._ground.sources,
                valid_on=self._ground.valid_on,
                budget=self._budget(),
                known=self._ground.known,
            )
        )


class _Known:
    """A goal from all that is known without one leaf."""

    def __init__(
        self, goal: Atom, ground: Ground, budget: Callable[[], Budget], *, is_certified: bool
    ) -> None:
        self._goal, self._ground, self._budget = goal, ground, budget
        self._inquiry = _inquiry(goal, ground, ground.supposed_facts(), budget())
        self._deletions: Deletions | None = None
        if is_certified:
            with suppress(NotCovered):
                self._deletions = prepare_deletions(self._inquiry, looks_for_conflicts=True)

    def without(self, step: Json) -> pb.Loss:
        """Say what is left without the leaf of a step, decided afresh only where it has to be."""
        ground = _without(self._ground, step)
        if self._deletions is not None:
            if step["kind"] == "assumed":
                facts = _inquiry(self._goal, ground, ground.supposed_facts(), self._budget()).facts
            else:
                facts = self._inquiry.facts.without([ground.retractions[-1]])
            left = self._deletions.without(_fact(step), facts)
            if left is not None:
                return _left_loss(left, ground)
        _, decision = decide_goal(
            str(self._goal), ground, engine=pb.ENGINE_AUTO, budget=self._budget()
        )
        return loss_of(decision)


def _fact(step: Json) -> Fact:
    return Fact(parse_atom(step["conclusion"]), step.get("statement", "assumed"))


def _plain(step: Json) -> Atom:
    return without_statement(parse_atom(step["conclusion"]))


def _without(ground: Ground, dropped: Json) -> Ground:
    atom: Atom = parse_atom(dropped["conclusion"])
    if dropped["kind"] == "assumed":
        rest = tuple(other for other in ground.assumptions if other != atom)
        return dataclasses.replace(ground, assumptions=rest)
    retraction = Retraction(dropped["statement"], without_statement(atom))
    return dataclasses.replace(ground, retractions=(*ground.retractions, retraction))


def _left_loss(left: Left, ground: Ground) -> pb.Loss:
    loss = _loss(left.verdict, left.code, left.open)
    loss.support.extend(
        leaf_message(Leaf(fact.leaf, (fact,)), ground.sources) for fact in left.support
    )
    return loss


def loss_of(decision: Decision) -> pb.Loss:
    """Say what is left of a goal: the verdict, what is open, or what it rests on then."""
    loss = _loss(decision.verdict, decision.code, decision.open)
    certificate: Json = json.loads(decision.certificate)
    loss.support.extend(leaf_of(step, certificate) for step in leaf_steps(certificate))
    return loss


def _loss(
    verdict: Verdict, code: AbstentionCode | None, requirements: tuple[OpenRequirement, ...]
) -> pb.Loss:
    return pb.Loss(
        verdict=VERDICTS[verdict],
        code=CODES[code] if code is not None else common_pb2.ABSTENTION_CODE_UNSPECIFIED,
        open=[open_message(found) for found in once_each(requirements)],
    )


def once_each(requirements: Iterable[OpenRequirement]) -> Iterable[OpenRequirement]:
    """Give each open atom once, under the first rule that lacks it."""
    found: dict[str, OpenRequirement] = {}
    for requirement in requirements:
        found.setdefault(requirement.atom, requirement)
    return found.values()
