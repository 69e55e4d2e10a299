"""Why one goal and not another, as messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from reasoner.contrast import Contrast, Difference, requirement_for
from reasoner.evaluate import Budget
from reasoner.inquiry import Inquiry
from reasoner.presume import presume_requirement
from reasoner.trees import Json

from .proof_steps import quote_messages
from .reasoning import Ground, decide_goal, decision_message
from .settings import LimitsSection
from .supporting import explain_why_not, ground_goal
from .translate import CODES, requirement_of

_NO_CODE = common_pb2.ABSTENTION_CODE_UNSPECIFIED
CERTIFIED = common_pb2.VERDICT_CERTIFIED


def contrast_goals(
    request: pb.ContrastGoalsRequest,
    ground: Ground,
    *,
    budget: Callable[[], Budget],
    limits: LimitsSection,
) -> pb.ContrastGoalsResponse:
    """Decide both goals and say where the second lacks what proves the first.

    Raises GoalRejected for a goal with variables.
    """
    goal, other = ground_goal(request.goal.goal), ground_goal(request.other)
    _, decision = decide_goal(str(goal), ground, engine=pb.ENGINE_AUTO, budget=budget())
    why_not = pb.ExplainWhyNotRequest(goal=pb.Goal(goal=str(other)), cap=request.cap)
    answered = explain_why_not(why_not, ground, budget=budget(), limits=limits)
    response = pb.ContrastGoalsResponse(
        goal=decision_message(goal, decision),
        other=answered.decision,
        repairs=answered.repairs,
        optimality=answered.optimality,
        repairs_complete=answered.complete,
    )
    response.complete = response.goal.complete and response.other.complete
    if response.goal.verdict != CERTIFIED:
        response.kind = pb.CONTRAST_KIND_GOAL_NOT_CERTIFIED
        return response
    if response.other.verdict == CERTIFIED:
        response.kind = pb.CONTRAST_KIND_BOTH_CERTIFIED
        return response
    response.kind = pb.CONTRAST_KIND_DIFFERS
    certificate = json.loads(decision.certificate)
    inquiry = Inquiry(
        other,
        ground.policy,
        ground.supposed_facts(),
        ground.sources,
        ground.valid_on,
        "linear",
        budget(),
        vocabulary=ground.known,
    )
    contrast = Contrast(certificate, inquiry)
    found = contrast.differences(certificate["answers"][0]["step"], other)
    response.complete = response.complete and not contrast.is_cut
    requirements = json.loads(response.other.certificate_content)["open"]
    response.differences.extend(_items(found, certificate, requirements, inquiry))
    if not found:
        response.differences.extend(_open_items(requirements))
    return response


def _items(
    found: tuple[Difference, ...], certificate: Json, requirements: list[Json], inquiry: Inquiry
) -> Iterator[pb.ContrastItem]:
    for difference in found:
        step = difference.step
        item = pb.ContrastItem(
            requirement=step["conclusion"],
            counterpart=difference.counterpart,
            rule=difference.rule,
            depth=difference.depth,
            part_of=difference.part_of,
            is_fact="rule" not in step and difference.pattern is not None,
            detail=difference.detail,
            quotes=quote_messages(certificate, step["statement"]) if "statement" in step else (),
        )
        known = requirement_for(difference, requirements)
        if known is not None:
            requirement = requirement_of(known)
            item.code, item.detail = CODES[requirement.code], requirement.detail or item.detail
        elif difference.is_undetermined:
            item.code = common_pb2.ABSTENTION_CODE_UNDETERMINED
        elif item.is_fact and not difference.detail and difference.pattern is not None:
            requirement = presume_requirement(inquiry, difference.pattern, difference.rule)
            item.code, item.detail = CODES[requirement.code], requirement.detail
        yield item


def _open_items(requirements: list[Json]) -> Iterator[pb.ContrastItem]:
    """Give what the other goal lacks by itself, where no rule concludes both."""
    for form in requirements:
        requirement = requirement_of(form)
        yield pb.ContrastItem(
            counterpart=requirement.atom,
            rule=requirement.rule,
            depth=1,
            part_of=-1,
            code=CODES.get(requirement.code, _NO_CODE),
            detail=requirement.detail,
        )
