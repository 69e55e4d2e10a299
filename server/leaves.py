"""What hangs on each leaf of a proof: the goal without it, from the proof's leaves and from all."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator

from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from reasoner.atom import Atom
from reasoner.bodies import without_statement
from reasoner.decide import Decision
from reasoner.evaluate import Budget
from reasoner.facts import FactBase
from reasoner.policy import parse_atom
from reasoner.presume import presume
from reasoner.retraction import Retraction
from reasoner.verdict import AbstentionCode, OpenRequirement, Verdict

from .proof_steps import Json, leaf_of, leaf_steps
from .reasoning import Ground, decide_goal, decision_message
from .recorded import facts_of_certificate
from .supporting import ground_goal
from .translate import CODES, VERDICTS, open_message


def stream_leaves(
    request: pb.StreamLeavesRequest, ground: Ground, *, budget: Callable[[], Budget]
) -> Iterator[pb.StreamLeavesResponse]:
    """Give the decision, then each leaf of its proof, in the order of its steps.

    An abstention has no leaves. `budget` gives the limits of the next piece of work. Raises
    GoalRejected for a goal with variables.
    """
    ground_goal(request.goal.goal)
    goal, decision = decide_goal(request.goal.goal, ground, engine=pb.ENGINE_AUTO, budget=budget())
    yield pb.StreamLeavesResponse(decision=decision_message(goal, decision))
    certificate: Json = json.loads(decision.certificate)
    found, facts = leaf_steps(certificate), facts_of_certificate(certificate)
    for index, step in enumerate(found):
        alone = presume(
            goal,
            policy=ground.policy,
            facts=_others(facts, step),
            sources=ground.sources,
            valid_on=ground.valid_on,
            budget=budget(),
            known=ground.known,
        )
        _, left = decide_goal(
            request.goal.goal, _without(ground, step), engine=pb.ENGINE_AUTO, budget=budget()
        )
        yield pb.StreamLeavesResponse(
            leaf=pb.LeafWitness(
                index=index,
                count=len(found),
                leaf=leaf_of(step, certificate),
                in_certificate=_loss(*alone),
                in_knowledge=loss_of(left),
            )
        )


def _others(facts: FactBase, dropped: Json) -> FactBase:
    """Give the facts of a certificate without those of one leaf."""
    atom = parse_atom(dropped["conclusion"])
    return facts.without([Retraction(dropped.get("statement", "assumed"), without_statement(atom))])


def _without(ground: Ground, dropped: Json) -> Ground:
    atom: Atom = parse_atom(dropped["conclusion"])
    if dropped["kind"] == "assumed":
        rest = tuple(other for other in ground.assumptions if other != atom)
        return dataclasses.replace(ground, assumptions=rest)
    retraction = Retraction(dropped["statement"], without_statement(atom))
    return dataclasses.replace(ground, retractions=(*ground.retractions, retraction))


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
        open=[open_message(found) for found in requirements],
    )
