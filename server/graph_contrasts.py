"""Goals of hypergraphs: why not, why one and not another, and what flipped between two."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from reasoner.evaluate import Budget
from reasoner.hypergraph import GraphStep
from reasoner.hypergraph.contrast import GraphDifference, contrast_atoms
from reasoner.hypergraph.decision import ClosedHypergraph, check_goals
from reasoner.hypergraph.flips import GraphCause, GraphSide, first_flip
from reasoner.hypergraph.repairs import find_graph_repairs
from reasoner.hypergraph.supposition import assumed_atom
from reasoner.verdict import Verdict

from .certificates import change_line, changes
from .contrasts import CERTIFIED
from .flips import ends
from .graphs import certified_message, graph_case, graph_name, unit_quotes
from .settings import LimitsSection
from .supporting import expiry
from .translate import CODES

CAUSES = {
    GraphCause.UNIT_ABSENT: pb.FLIP_CAUSE_STATEMENT_ABSENT,
    GraphCause.EDGE: pb.FLIP_CAUSE_RULE,
    GraphCause.CONFLICT: pb.FLIP_CAUSE_CONFLICT,
    GraphCause.REQUEST: pb.FLIP_CAUSE_REQUEST,
}


def explain_graph_why_not(
    request: pb.ExplainWhyNotRequest, *, budget: Budget, limits: LimitsSection
) -> pb.ExplainWhyNotResponse:
    """Give the decision, and the sets of missing atoms that would prove the goal, cheapest first.

    Raises as `decide_graph`.
    """
    case = graph_case(request.goal, request.goal.goal, budget=budget)
    decision, _ = certified_message(case, request.goal.valid_on, budget=budget)
    response = pb.ExplainWhyNotResponse(decision=decision, complete=True)
    if case.decision.verdict is not Verdict.ABSTAINED:
        return response
    cap = min(request.cap or limits.repairs, limits.repairs)
    found = find_graph_repairs(case.closed, case.decision.goal, cap=cap, expired=expiry(budget))
    response.complete = found.complete
    response.repairs.extend(pb.Repair(facts=atoms) for atoms in found.sets)
    if found.sets:
        response.optimality = found.optimality.value
    return response


def contrast_graph(
    request: pb.ContrastGoalsRequest, *, budget: Callable[[], Budget], limits: LimitsSection
) -> pb.ContrastGoalsResponse:
    """Decide two goals of a hypergraph and say where the second lacks what proves the first.

    Raises as `decide_graph`.
    """
    case = graph_case(request.goal, request.goal.goal, budget=budget())
    check_goals(case.closed.graph, [request.other])
    decision, _ = certified_message(case, request.goal.valid_on, budget=budget())
    other = pb.Goal()
    other.CopyFrom(request.goal)
    other.goal = request.other
    answered = explain_graph_why_not(
        pb.ExplainWhyNotRequest(goal=other, cap=request.cap), budget=budget(), limits=limits
    )
    response = pb.ContrastGoalsResponse(
        goal=decision,
        other=answered.decision,
        repairs=answered.repairs,
        optimality=answered.optimality,
        repairs_complete=answered.complete,
        complete=decision.complete and answered.decision.complete,
    )
    if decision.verdict != CERTIFIED:
        response.kind = pb.CONTRAST_KIND_GOAL_NOT_CERTIFIED
        return response
    if answered.decision.verdict == CERTIFIED:
        response.kind = pb.CONTRAST_KIND_BOTH_CERTIFIED
        return response
    response.kind = pb.CONTRAST_KIND_DIFFERS
    found = contrast_atoms(case.closed, case.decision, request.other)
    response.complete = response.complete and not found.is_cut
    response.differences.extend(_item(item, case.closed) for item in found.differences)
    return response


def _item(found: GraphDifference, closed: ClosedHypergraph) -> pb.ContrastItem:
    name = found.step.unit if found.step is not None else None
    stating = next((unit for unit in closed.graph.units if unit.id == name), None)
    return pb.ContrastItem(
        requirement=found.requirement,
        counterpart=found.counterpart,
        rule=found.edge,
        depth=found.depth,
        part_of=found.part_of,
        is_fact=found.is_fact,
        code=CODES[found.code],
        detail=found.detail,
        quotes=unit_quotes(stating) if stating is not None else (),
    )


def compare_graphs(
    goals: tuple[pb.Goal, pb.Goal], *, budget: Callable[[], Budget]
) -> pb.CompareVerdictsResponse:
    """Decide a goal in two hypergraphs, or in one under two suppositions, and name what flipped.

    Raises as `decide_graph`.
    """
    cases = [graph_case(goal, goal.goal, budget=budget()) for goal in goals]
    messages = [
        certified_message(case, goal.valid_on, budget=budget())[0]
        for case, goal in zip(cases, goals, strict=True)
    ]
    one, two = messages
    response = pb.CompareVerdictsResponse(first=one, second=two)
    response.unchanged = one.certificate_sha256 == two.certificate_sha256
    if response.unchanged:
        return response
    first, second = (
        GraphSide(graph_name(goal), case.closed, case.decision, frozenset(goal.retractions))
        for case, goal in zip(cases, goals, strict=True)
    )
    for side, here, there in ((1, first, second), (2, second, first)):
        response.flips.extend(_flips(here, there, side=side))
    response.differences.extend(
        change_line(change)
        for change in changes(
            json.loads(one.certificate_content), json.loads(two.certificate_content)
        )
    )
    return response


def _flips(here: GraphSide, there: GraphSide, *, side: int) -> Iterator[pb.Flip]:
    flip = first_flip(here, there)
    if flip is None:
        return
    written = StepMessages.of(here.decision.steps, here.closed)
    chain = [written.message(step) for step in flip.chain]
    yield pb.Flip(
        side=side,
        step=written.message(flip.step),
        cause=CAUSES[flip.cause],
        detail=flip.detail,
        chain=ends(chain),
        chain_length=len(chain),
    )


@dataclass(frozen=True, slots=True)
class StepMessages:
    """The steps of a decision by the atom they conclude, numbered in their order."""

    names: dict[str, str]
    closed: ClosedHypergraph

    @classmethod
    def of(cls, steps: tuple[GraphStep, ...], closed: ClosedHypergraph) -> StepMessages:
        """Number the steps of a decision."""
        return cls({step.atom: f"s{at}" for at, step in enumerate(steps, start=1)}, closed)

    def message(self, step: GraphStep) -> common_pb2.ProofStep:
        """Translate a step, with the words of its edge and the text of its unit."""
        graph = self.closed.graph
        unit = next((unit for unit in graph.units if unit.id == step.unit), None)
        edge = next((edge for edge in graph.hyperedges if edge.id == step.edge), None)
        return common_pb2.ProofStep(
            id=self.names[step.atom],
            kind=_kind(step),
            conclusion=step.atom,
            premises=[self.names[premise] for premise in step.premises],
            rule=step.edge or "",
            cite=edge.cite if edge is not None else "",
            says=edge.text if edge is not None else "",
            quotes=unit_quotes(unit) if unit is not None else (),
        )


def _kind(step: GraphStep) -> str:
    if step.edge is not None:
        return "rule"
    if step.unit is None:
        return "given"
    return "stated" if assumed_atom(step.unit) is None else "assumed"
