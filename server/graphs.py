"""Goals of requirement hypergraphs, as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from proofweave.v1 import common_pb2, reasoning_pb2

from reasoner.atom import Atom
from reasoner.decide import Decision
from reasoner.errors import GoalRejected
from reasoner.evaluate import Budget
from reasoner.hypergraph import (
    GoalDecision,
    Hypergraph,
    Unit,
    compile_hypergraph,
    decide_hypergraph,
    read_hypergraph,
)
from reasoner.hypergraph.case import certify_case, hypergraph_case
from reasoner.supports import supports

from .errors import RequestRejected
from .supporting import expiry
from .translate import CODES, ENGINES, VERDICTS, day_of, open_message

NO_CODE = common_pb2.ABSTENTION_CODE_UNSPECIFIED


def decide_graph(
    message: reasoning_pb2.Goal,
    goal: str,
    *,
    engine: reasoning_pb2.Engine.ValueType,
    budget: Budget,
) -> tuple[common_pb2.Decision, Atom, Decision]:
    """Decide a goal under a request that brings a hypergraph.

    Gives what the hypergraph says, and goal and decision of its certificate. Raises
    HypergraphRejected with every problem, GoalRejected for a goal that is no atom of it, and
    RequestRejected for assumptions.
    """
    if message.assumptions or message.retractions:
        raise RequestRejected(
            "a hypergraph takes no assumptions or retractions; change its `given` and `units`"
        )
    case = hypergraph_case(
        message.hypergraph,
        goal,
        name=message.policy_name or "hypergraph",
        engine=ENGINES[engine],
        expired=expiry(budget),
    )
    day = day_of(message.valid_on, field="valid_on")
    decision = certify_case(case, valid_on=day, engine=ENGINES[engine], budget=budget)
    found = graph_decision(case.decision)
    found.code = CODES[decision.code] if decision.code is not None else NO_CODE
    found.complete = decision.complete
    found.certificate_sha256 = decision.digest
    found.certificate_size = len(decision.certificate)
    found.certificate_content = decision.certificate
    return found, case.goal, decision


def stream_graph_supports(
    request: reasoning_pb2.StreamSupportsRequest,
    *,
    cap: int,
    expired: Callable[[], bool],
) -> Iterator[reasoning_pb2.StreamSupportsResponse]:
    """Give minimal sets of units from which a goal follows; at last, whether these are all.

    Raises HypergraphRejected with every problem, and GoalRejected for a goal that is no atom of it.
    """
    graph, goal = _graph(request.goal), request.goal.goal
    if goal not in {atom.id for atom in graph.atoms}:
        raise GoalRejected(f"goal {goal!r} is no atom of the hypergraph")
    compiled = compile_hypergraph(graph)
    units = compiled.unit_numbers
    result = supports(
        compiled.program,
        compiled.number(goal),
        units,
        limit=cap,
        expired=expired,
        resume=request.resume_token,
    )
    for index, found in enumerate(result.found):
        chosen = [graph.units[number - units.start] for number in found]
        support = reasoning_pb2.Support(index=index, leaves=map(_leaf, chosen))
        yield reasoning_pb2.StreamSupportsResponse(support=support)
    end = reasoning_pb2.SupportsEnd(
        complete=result.complete, resume_token=result.token, count=len(result.found)
    )
    yield reasoning_pb2.StreamSupportsResponse(end=end)


def stream_graph_leaves(
    request: reasoning_pb2.StreamLeavesRequest, *, budget: Callable[[], Budget]
) -> Iterator[reasoning_pb2.StreamLeavesResponse]:
    """Give the decision, then each unit of its certificate with what becomes of the goal without.

    Raises HypergraphRejected with every problem, GoalRejected for a goal that is no atom of it, and
    RequestRejected for assumptions.
    """
    goal = request.goal.goal
    engine = reasoning_pb2.ENGINE_AUTO
    decision, _, _ = decide_graph(request.goal, goal, engine=engine, budget=budget())
    yield reasoning_pb2.StreamLeavesResponse(decision=decision)
    graph = _graph(request.goal)
    units = {unit.id: unit for unit in graph.units}
    chosen = list(decision.graph.units)

    def loss(context: Iterable[str]) -> reasoning_pb2.Loss:
        (left,) = decide_hypergraph(
            graph, goals=[goal], context=sorted(context), expired=expiry(budget())
        )
        found = graph_decision(left)
        support = [_leaf(units[name]) for name in found.graph.units]
        return reasoning_pb2.Loss(
            verdict=found.verdict, code=found.code, open=found.open, support=support
        )

    for index, name in enumerate(chosen):
        yield reasoning_pb2.StreamLeavesResponse(
            leaf=reasoning_pb2.LeafWitness(
                index=index,
                count=len(chosen),
                leaf=_leaf(units[name]),
                in_certificate=loss(set(chosen) - {name}),
                in_knowledge=loss(units.keys() - {name}),
            )
        )


def _leaf(unit: Unit) -> reasoning_pb2.SupportLeaf:
    """Translate a unit; its text stands as quote, though no document is known to hold it."""
    quotes = [common_pb2.Quote(title=unit.source, quote=unit.text)] if unit.text else []
    atom = ", ".join(unit.states) or unit.id
    return reasoning_pb2.SupportLeaf(id=unit.id, atom=atom, quotes=quotes)


def _graph(message: reasoning_pb2.Goal) -> Hypergraph:
    return read_hypergraph(message.hypergraph, name=message.policy_name or "hypergraph")


def graph_decision(decision: GoalDecision) -> common_pb2.Decision:
    """Translate what a hypergraph says of a goal."""
    answered = decision.proved is not None
    return common_pb2.Decision(
        verdict=VERDICTS[decision.verdict],
        code=CODES[decision.code] if decision.code is not None else NO_CODE,
        goal=decision.goal,
        answers=[common_pb2.Answer(atom=decision.proved or "")] if answered else [],
        open=[open_message(requirement) for requirement in decision.open],
        complete=True,
        graph=common_pb2.GraphProof(
            proved=decision.proved or "",
            units=decision.units,
            steps=[
                common_pb2.GraphStep(
                    atom=step.atom,
                    edge=step.edge or "",
                    premises=step.premises,
                    unit=step.unit or "",
                )
                for step in decision.steps
            ],
            cheapest=decision.cheapest,
            optimality=decision.optimality.value if decision.optimality else "",
            violations=[
                common_pb2.GraphViolation(edge=found.edge, head=found.head, by=found.by)
                for found in decision.violations
            ],
        ),
    )
