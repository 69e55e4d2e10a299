"""Goals of requirement hypergraphs, as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from proofweave.v1 import common_pb2, reasoning_pb2

from reasoner.atom import Atom
from reasoner.decide import Decision
from reasoner.evaluate import Budget
from reasoner.hypergraph import (
    GoalDecision,
    Hypergraph,
    Unit,
    compile_hypergraph,
    decide_hypergraph,
    read_hypergraph,
)
from reasoner.hypergraph.case import HypergraphCase, certify_case, hypergraph_case
from reasoner.hypergraph.decision import check_goals
from reasoner.hypergraph.supposition import assumed_atom, suppose
from reasoner.supports import supports

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
    HypergraphRejected with every problem, and GoalRejected for a goal that is no atom of it and for
    what cannot be supposed.
    """
    case = graph_case(message, goal, engine=engine, budget=budget)
    found, decision = certified_message(case, message.valid_on, engine=engine, budget=budget)
    return found, case.goal, decision


def graph_case(
    message: reasoning_pb2.Goal,
    goal: str,
    *,
    engine: reasoning_pb2.Engine.ValueType = reasoning_pb2.ENGINE_AUTO,
    budget: Budget,
) -> HypergraphCase:
    """Make a case of a goal under a request that brings a hypergraph; raises as `decide_graph`."""
    return hypergraph_case(
        message.hypergraph,
        goal,
        name=graph_name(message),
        assumed=message.assumptions,
        left_out=message.retractions,
        engine=ENGINES[engine],
        expired=expiry(budget),
    )


def graph_name(message: reasoning_pb2.Goal) -> str:
    """Give the name under which a hypergraph is reported."""
    return message.policy_name or "hypergraph"


def certified_message(
    case: HypergraphCase,
    valid_on: str,
    *,
    engine: reasoning_pb2.Engine.ValueType = reasoning_pb2.ENGINE_AUTO,
    budget: Budget,
) -> tuple[common_pb2.Decision, Decision]:
    """Write the certificate of a case, and translate what the hypergraph says with it."""
    day = day_of(valid_on, field="valid_on")
    decision = certify_case(case, valid_on=day, engine=ENGINES[engine], budget=budget)
    found = graph_decision(case.decision)
    found.code = CODES[decision.code] if decision.code is not None else NO_CODE
    found.complete = decision.complete
    found.certificate_sha256 = decision.digest
    found.certificate_size = len(decision.certificate)
    found.certificate_content = decision.certificate
    return found, decision


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
    check_goals(graph, [goal])
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

    Raises HypergraphRejected with every problem, and GoalRejected for a goal that is no atom of
    it and for what cannot be supposed.
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
    """Translate a unit, or an assumption as a leaf of that name."""
    atom = ", ".join(unit.states) or unit.id
    name = unit.id if assumed_atom(unit.id) is None else "assumed"
    return reasoning_pb2.SupportLeaf(id=name, atom=atom, quotes=unit_quotes(unit))


def unit_quotes(unit: Unit) -> list[common_pb2.Quote]:
    """Give the text of a unit as a quote, though no document is known to hold it."""
    return [common_pb2.Quote(title=unit.source, quote=unit.text)] if unit.text else []


def _graph(message: reasoning_pb2.Goal) -> Hypergraph:
    """Read a hypergraph, with what the request supposes."""
    graph = read_hypergraph(message.hypergraph, name=graph_name(message))
    return suppose(graph, assumed=message.assumptions, left_out=message.retractions)


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
            units=[name for name in decision.units if assumed_atom(name) is None],
            steps=[
                common_pb2.GraphStep(
                    atom=step.atom,
                    edge=step.edge or "",
                    premises=step.premises,
                    unit="" if assumed_atom(step.unit) is not None else step.unit or "",
                    assumed=assumed_atom(step.unit) is not None,
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
