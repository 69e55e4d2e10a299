"""One goal decided twice: at two revisions, on two days, under two policies, or as recorded."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable

from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from kb.errors import NotFound
from reasoner.evaluate import Budget
from reasoner.policy import parse_atom

from .certificates import change_line, changes
from .errors import RequestRejected
from .flips import Side, find_flip
from .graph_contrasts import compare_graphs
from .knowledge import Knowledge
from .names import read_name
from .reasoning import decide_goal, decision_message, ground_of, message_of_certificate
from .recorded import ground_of_certificate


def compare_verdicts(
    request: pb.CompareVerdictsRequest,
    knowledge: Knowledge | None,
    *,
    today: datetime.date,
    budget: Callable[[], Budget],
) -> pb.CompareVerdictsResponse:
    """Decide a goal from two standpoints and name what flipped first.

    Raises RequestRejected where nothing is said to differ, and whatever deciding raises.
    """
    if request.first == request.second == pb.Standpoint():
        raise RequestRejected(
            "nothing is said of either side; expected revisions, days, policies or decisions"
        )
    if is_of_graphs(request):
        return compare_graphs(_graph_goals(request), budget=budget)
    sides = [
        _side(request.goal, standpoint, knowledge, today=today, budget=budget)
        for standpoint in (request.first, request.second)
    ]
    (first, one), (second, two) = sides
    response = pb.CompareVerdictsResponse(first=one, second=two)
    response.unchanged = one.certificate_sha256 == two.certificate_sha256
    if not response.unchanged:
        flips = (find_flip(first, second, side=1), find_flip(second, first, side=2))
        response.flips.extend(flip for flip in flips if flip is not None)
        response.differences.extend(
            change_line(change) for change in changes(first.certificate, second.certificate)
        )
    return response


def is_of_graphs(request: pb.CompareVerdictsRequest) -> bool:
    """Whether a goal of hypergraphs is compared."""
    return any(
        message.WhichOneof("rules") == "hypergraph"
        for message in (request.goal, request.first, request.second)
    )


def _graph_goals(request: pb.CompareVerdictsRequest) -> tuple[pb.Goal, pb.Goal]:
    """Give the goal in the hypergraph of each side, with what is supposed there.

    Raises RequestRejected where one side has none.
    """
    first, second = (
        _standing(request.goal, standpoint) for standpoint in (request.first, request.second)
    )
    if any(message.WhichOneof("rules") != "hypergraph" for message in (first, second)) or any(
        side.decision for side in (request.first, request.second)
    ):
        raise RequestRejected(
            "one side is a hypergraph and the other is not; expected a hypergraph on both"
        )
    return first, second


def _standing(goal: pb.Goal, standpoint: pb.Standpoint) -> pb.Goal:
    """Give a goal as it is put from a standpoint."""
    message = pb.Goal()
    message.CopyFrom(goal)
    message.assumptions.extend(standpoint.assumptions)
    message.retractions.extend(standpoint.retractions)
    if standpoint.revision:
        message.at = standpoint.revision
    if standpoint.valid_on:
        message.valid_on = standpoint.valid_on
    match standpoint.WhichOneof("rules"):
        case "policy":
            message.policy = standpoint.policy
        case "policy_text":
            message.policy_text = standpoint.policy_text
            message.policy_name = standpoint.policy_name
        case "hypergraph":
            message.hypergraph = standpoint.hypergraph
            message.policy_name = standpoint.policy_name
    return message


def _side(
    goal: pb.Goal,
    standpoint: pb.Standpoint,
    knowledge: Knowledge | None,
    *,
    today: datetime.date,
    budget: Callable[[], Budget],
) -> tuple[Side, common_pb2.Decision]:
    if standpoint.WhichOneof("rules") == "decision":
        return _recorded(standpoint.decision, knowledge, budget)
    message = _standing(goal, standpoint)
    if message.at and knowledge is None:
        raise RequestRejected("a revision is given without a knowledge base that has any")
    known = None if knowledge is None else knowledge.at(message.at)
    ground = ground_of(message, known, today=today)
    atom, decision = decide_goal(message.goal, ground, engine=pb.ENGINE_AUTO, budget=budget())
    revision = "" if known is None else str(known.revision)
    side = Side(ground, json.loads(decision.certificate), revision, budget())
    return side, decision_message(atom, decision)


def _recorded(
    name: str, knowledge: Knowledge | None, budget: Callable[[], Budget]
) -> tuple[Side, common_pb2.Decision]:
    if knowledge is None:
        raise RequestRejected(f"the decision {name!r} is recorded in a knowledge base; give --kb")
    number = read_name(name, "decisions").id
    for record in knowledge.base.certificates():
        if str(record.number) == number:
            break
    else:
        raise NotFound(f"there is no decision {number}")
    data = knowledge.base.certificate(record.digest)
    certificate = json.loads(data)
    revision = str(record.receipt.get("revision", ""))
    ground = ground_of_certificate(certificate, knowledge.at(revision))
    message = message_of_certificate(parse_atom(certificate["goal"]), data)
    message.name = name
    return Side(ground, certificate, revision, budget()), message
