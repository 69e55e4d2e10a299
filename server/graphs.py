"""Goals of requirement hypergraphs, as messages."""

from __future__ import annotations

from collections.abc import Callable

from proofweave.v1 import common_pb2, reasoning_pb2

from reasoner.hypergraph import GoalDecision, decide_hypergraph, read_hypergraph

from .translate import CODES, ENGINES, VERDICTS, open_message

NO_CODE = common_pb2.ABSTENTION_CODE_UNSPECIFIED


def decide_graph(
    message: reasoning_pb2.Goal,
    goal: str,
    *,
    engine: reasoning_pb2.Engine.ValueType,
    expired: Callable[[], bool],
) -> common_pb2.Decision:
    """Decide a goal under a request that brings a hypergraph.

    Raises HypergraphRejected with every problem, and GoalRejected for a goal that is no atom of it.
    """
    graph = read_hypergraph(message.hypergraph, name=message.policy_name or "hypergraph")
    (decision,) = decide_hypergraph(graph, goals=[goal], engine=ENGINES[engine], expired=expired)
    return graph_decision(decision)


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
