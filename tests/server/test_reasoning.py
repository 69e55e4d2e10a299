"""Goals over the wire: every verdict, what is missing, supports, repairs, and bad requests."""

from __future__ import annotations

import json

import grpc
import pytest
from live_server import POLICY, Live
from proofweave.v1 import certificate_pb2, common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from server.status import failure_of

ACME, TINY = 'eligible("Acme GmbH")', 'eligible("Tiny Ltd")'


def prove(
    live: Live, goal: str, *, policy: str = "policies/onboarding", valid_on: str = "2026-03-01"
) -> common_pb2.Decision:
    """Prove a goal under a published policy."""
    request = pb.Goal(goal=goal, policy=policy, valid_on=valid_on)
    return live.services.reasoning.ProveGoal(pb.ProveGoalRequest(goal=request)).decision


def failing(live: Live, goal: pb.Goal) -> grpc.RpcError:
    """Prove a goal that must be refused."""
    with pytest.raises(grpc.RpcError) as caught:
        live.services.reasoning.ProveGoal(pb.ProveGoalRequest(goal=goal))
    return caught.value


def test_a_certified_goal_comes_with_its_quotes(live: Live) -> None:
    decision = prove(live, ACME)
    assert decision.verdict == common_pb2.VERDICT_CERTIFIED
    assert decision.complete
    (answer,) = decision.answers
    assert answer.label == "Acme GmbH may be onboarded"
    assert any("5,000,000" in quote.quote for quote in answer.quotes)
    assert decision.receipt.requester == "anonymous"
    assert decision.receipt.revision
    assert decision.receipt.log_head


def test_a_denied_goal_is_refuted_with_its_quote(live: Live) -> None:
    decision = prove(live, TINY)
    assert decision.verdict == common_pb2.VERDICT_REFUTED
    assert any(
        "not certified" in quote.quote for answer in decision.answers for quote in answer.quotes
    )


def test_an_open_goal_names_what_is_missing(live: Live) -> None:
    decision = prove(live, 'insured("Nobody Ltd")')
    assert decision.verdict == common_pb2.VERDICT_ABSTAINED
    assert decision.code == common_pb2.ABSTENTION_CODE_GAP_IN_CORPUS
    assert any(found.atom.startswith('liability_cover("Nobody Ltd"') for found in decision.open)


def test_a_goal_with_variables_lists_its_answers(live: Live) -> None:
    decision = prove(live, "insured(S)")
    assert [dict(answer.bindings) for answer in decision.answers] == [{"S": '"Acme GmbH"'}]


def test_the_same_request_gives_the_same_bytes(live: Live) -> None:
    first, second = prove(live, ACME), prove(live, ACME)
    assert first.certificate_content == second.certificate_content
    assert first.certificate_sha256 == second.certificate_sha256
    assert first.name != second.name, "each asking is a decision of its own"


@pytest.mark.parametrize("engine", [pb.ENGINE_CLINGO, pb.ENGINE_LINEAR])
def test_the_engine_does_not_show_in_the_proof(live: Live, engine: pb.Engine.ValueType) -> None:
    goal = pb.Goal(goal=ACME, policy="onboarding", valid_on="2026-03-01")
    request = pb.ProveGoalRequest(goal=goal, engine=engine)
    decision = live.services.reasoning.ProveGoal(request).decision
    assert decision.certificate_sha256 == prove(live, ACME).certificate_sha256


def test_a_large_certificate_is_read_in_pieces(live: Live) -> None:
    facts = "".join(f"edge({number}, {number + 1}).\n" for number in range(120))
    rules = "path(X, Y) :- edge(X, Y).\npath(X, Z) :- path(X, Y), edge(Y, Z).\n"
    goal = pb.Goal(goal="path(0, 120)", policy_text=rules, facts_text=facts)
    decision = live.services.reasoning.ProveGoal(pb.ProveGoalRequest(goal=goal)).decision
    assert decision.certificate_content == b""
    request = certificate_pb2.ReadCertificateRequest(name=decision.certificate)
    pieces = live.services.certificate.ReadCertificate(request)
    data = b"".join(piece.chunk for piece in pieces)
    assert len(data) == decision.certificate_size
    assert json.loads(data)["verdict"] == "CERTIFIED"


def test_assumptions_stand_in_the_certificate(live: Live) -> None:
    goal = pb.Goal(
        goal='insured("Nobody Ltd")',
        policy="onboarding",
        assumptions=['liability_cover("Nobody Ltd", @quantity("2000000 EUR"))'],
    )
    decision = live.services.reasoning.ProveGoal(pb.ProveGoalRequest(goal=goal)).decision
    assert decision.verdict == common_pb2.VERDICT_CERTIFIED
    assert json.loads(decision.certificate_content)["assumptions"] == list(goal.assumptions)


def test_a_batch_answers_in_order_and_survives_a_bad_goal(live: Live) -> None:
    request = pb.BatchProveGoalsRequest(
        under=pb.Goal(policy="onboarding", valid_on="2026-03-01"),
        goals=[ACME, "eligible(", TINY, 'insured("Nobody Ltd")'],
    )
    responses = list(live.services.reasoning.BatchProveGoals(request))
    assert [response.index for response in responses] == [0, 1, 2, 3]
    assert responses[1].problem.reason == "GOAL_REJECTED"
    assert [response.decision.verdict for response in responses if not response.problem.reason] == [
        common_pb2.VERDICT_CERTIFIED,
        common_pb2.VERDICT_REFUTED,
        common_pb2.VERDICT_ABSTAINED,
    ]


def test_a_hypergraph_is_decided_for_each_goal(live: Live) -> None:
    graph = {
        "format": "proofweave.hypergraph/1",
        "atoms": ["a", "b", "c"],
        "hyperedges": [{"id": "e1", "tail": ["a"], "head": "b"}],
        "units": [{"id": "u1", "states": ["a"]}],
    }
    under = pb.Goal(hypergraph=json.dumps(graph).encode())
    request = pb.BatchProveGoalsRequest(under=under, goals=["b", "c", "d"])
    first, second, third = live.services.reasoning.BatchProveGoals(request)
    assert list(first.decision.graph.units) == ["u1"]
    assert first.decision.receipt.requester == "anonymous"
    assert first.decision.certificate
    assert json.loads(first.decision.certificate_content)["goal"] == 'holds("b")'
    assert second.decision.verdict == common_pb2.VERDICT_ABSTAINED
    assert third.problem.reason == "GOAL_REJECTED"
    with pytest.raises(grpc.RpcError) as caught:
        live.services.reasoning.ExplainWhyNot(pb.ExplainWhyNotRequest(goal=under))
    assert failure_of(caught.value).reason == "GOAL_REJECTED"
    under.goal = "c"
    answer = live.services.reasoning.ExplainWhyNot(pb.ExplainWhyNotRequest(goal=under))
    assert [list(repair.facts) for repair in answer.repairs] == [["c"]]


def test_supports_of_a_hypergraph_are_its_units(live: Live) -> None:
    graph = {
        "format": "proofweave.hypergraph/1",
        "atoms": ["a", "b"],
        "hyperedges": [{"id": "e1", "tail": [], "head": "b", "witness": True}],
        "units": [{"id": "u1", "states": ["a", "b"]}, {"id": "u2", "witnesses": ["e1"]}],
    }
    goal = pb.Goal(goal="b", hypergraph=json.dumps(graph).encode())
    *found, last = live.services.reasoning.StreamSupports(pb.StreamSupportsRequest(goal=goal))
    leaves = [(leaf.id, leaf.atom) for response in found for leaf in response.support.leaves]
    assert leaves == [("u1", "a, b"), ("u2", "u2")]
    assert last.end.complete
    goal.goal = "c"
    with pytest.raises(grpc.RpcError) as caught:
        list(live.services.reasoning.StreamSupports(pb.StreamSupportsRequest(goal=goal)))
    assert failure_of(caught.value).reason == "GOAL_REJECTED"


def test_supports_are_minimal_and_complete(live: Live) -> None:
    facts = "a. b. c.\n"
    rules = "goal :- a, b.\ngoal :- c.\n"
    request = pb.StreamSupportsRequest(
        goal=pb.Goal(goal="goal", policy_text=rules, facts_text=facts)
    )
    *found, last = live.services.reasoning.StreamSupports(request)
    atoms = [[leaf.atom for leaf in response.support.leaves] for response in found]
    assert sorted(map(sorted, atoms)) == [["a", "b"], ["c"]]
    assert last.end.complete
    assert last.end.count == 2
    assert found[0].support.leaves[0].quotes[0].quote


def test_supports_go_on_from_a_token(live: Live) -> None:
    facts = "".join(f"option({number}).\n" for number in range(5))
    goal = pb.Goal(goal="goal", policy_text="goal :- option(X).\n", facts_text=facts)
    seen: list[str] = []
    token = ""
    while True:
        request = pb.StreamSupportsRequest(goal=goal, cap=2, resume_token=token)
        *found, last = live.services.reasoning.StreamSupports(request)
        seen += [response.support.leaves[0].atom for response in found]
        if last.end.complete:
            break
        token = last.end.resume_token
    assert sorted(seen) == [f"option({number})" for number in range(5)]


def test_why_not_lists_the_cheapest_missing_facts(live: Live) -> None:
    request = pb.ExplainWhyNotRequest(
        goal=pb.Goal(
            goal="goal",
            policy_text="goal :- a, b.\ngoal :- c, d, e.\n",
            facts_text="a. c.\n",
        )
    )
    response = live.services.reasoning.ExplainWhyNot(request)
    assert response.decision.verdict == common_pb2.VERDICT_ABSTAINED
    assert [list(repair.facts) for repair in response.repairs] == [["b"], ["d", "e"]]


def test_why_not_lists_every_gap_where_values_are_missing(live: Live) -> None:
    rules = "goal :- a, low, near.\nlow :- b(X), c(X).\nnear :- d(X), X > 3.\n"
    request = pb.ExplainWhyNotRequest(goal=pb.Goal(goal="goal", policy_text=rules))
    response = live.services.reasoning.ExplainWhyNot(request)
    assert [list(repair.facts) for repair in response.repairs] == [["a", "b(X)", "c(X)", "d(X)"]]
    assert not response.complete


def test_why_not_promises_nothing_where_no_fact_would_help(live: Live) -> None:
    request = pb.ExplainWhyNotRequest(
        goal=pb.Goal(
            goal="goal",
            policy_text='goal :- cover(X), X >= @quantity("5 EUR").\n',
            facts_text='cover(@quantity("8 USD")).\n',
        )
    )
    response = live.services.reasoning.ExplainWhyNot(request)
    assert response.decision.code == common_pb2.ABSTENTION_CODE_UNDETERMINED
    assert not response.repairs


def test_an_unknown_predicate_names_the_nearest(live: Live) -> None:
    failure = failure_of(failing(live, pb.Goal(goal='eligble("Acme GmbH")', policy="onboarding")))
    assert failure.reason == "GOAL_REJECTED"
    assert "eligible" in failure.message


def test_an_unknown_policy_names_the_nearest(live: Live) -> None:
    failure = failure_of(failing(live, pb.Goal(goal=ACME, policy="policies/onbording")))
    assert failure.status is grpc.StatusCode.NOT_FOUND
    assert "onboarding" in failure.message


def test_syntax_errors_of_a_policy_come_together_with_their_places(live: Live) -> None:
    text = "a :- b c.\n\nd(X) :- e(X.\n\nf(\n"
    goal = pb.Goal(goal="a", policy_text=text, policy_name="bad.lp")
    failure = failure_of(failing(live, goal))
    assert failure.reason == "POLICY_REJECTED"
    assert [problem.line for problem in failure.problems][:2] == [1, 3]
    assert len(failure.problems) >= 3
    assert all(problem.column and problem.file == "bad.lp" for problem in failure.problems)


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        (pb.Goal(goal="", policy="onboarding"), "GOAL_REJECTED"),
        (pb.Goal(goal="eligible(", policy="onboarding"), "GOAL_REJECTED"),
        (pb.Goal(goal=ACME, policy="onboarding", valid_on="yesterday"), "REQUEST_REJECTED"),
        (pb.Goal(goal=ACME, policy="onboarding", valid_on="2026-01"), "REQUEST_REJECTED"),
        (pb.Goal(goal=ACME, policy="onboarding", assumptions=["a(X)"]), "REQUEST_REJECTED"),
        (pb.Goal(goal=ACME, policy="onboarding", facts_text="a :- b."), "POLICY_REJECTED"),
        (pb.Goal(goal=ACME, policy="onboarding", facts_text="a(X)."), "POLICY_REJECTED"),
        (pb.Goal(goal=ACME, policy="on/boarding"), "REQUEST_REJECTED"),
        (pb.Goal(goal=ACME, policy="onboarding", parent="nonsense"), "REQUEST_REJECTED"),
    ],
)
def test_a_bad_request_is_refused_with_its_reason(live: Live, goal: pb.Goal, reason: str) -> None:
    failure = failure_of(failing(live, goal))
    assert failure.reason == reason
    assert failure.message
    assert "\n" not in failure.message.strip() or len(failure.problems) > 1


def test_supports_of_a_goal_with_variables_are_refused(live: Live) -> None:
    request = pb.StreamSupportsRequest(goal=pb.Goal(goal="insured(S)", policy="onboarding"))
    with pytest.raises(grpc.RpcError) as caught:
        list(live.services.reasoning.StreamSupports(request))
    assert failure_of(caught.value).reason == "GOAL_REJECTED"


SLOW = (
    "n(0). n(1). n(2). n(3). n(4). n(5). n(6). n(7). n(8). n(9).\n"
    "big(A, B, C, D, E, F) :- n(A), n(B), n(C), n(D), n(E), n(F), A + B + C + D + E + F > 100.\n"
    "goal :- big(A, B, C, D, E, F).\n"
)


def test_a_cut_search_says_budget_and_never_gap(live: Live) -> None:
    goal = pb.Goal(goal="goal", policy_text=SLOW)
    budget = common_pb2.Budget(deadline_ms=50)
    request = pb.ProveGoalRequest(goal=goal, budget=budget)
    decision = live.services.reasoning.ProveGoal(request).decision
    assert decision.verdict == common_pb2.VERDICT_ABSTAINED
    assert decision.code == common_pb2.ABSTENTION_CODE_BUDGET
    assert not decision.complete


def test_the_deadline_of_the_call_holds(live: Live) -> None:
    goal = pb.Goal(goal="goal", policy_text=SLOW)
    with pytest.raises(grpc.RpcError) as caught:
        live.services.reasoning.ProveGoal(pb.ProveGoalRequest(goal=goal), timeout=0.15)
    assert failure_of(caught.value).status is grpc.StatusCode.DEADLINE_EXCEEDED


def test_the_policy_text_of_a_request_is_used(live: Live) -> None:
    lenient = POLICY.replace("1000000 EUR", "1000 EUR").replace("version: 1", "version: 9")
    goal = pb.Goal(goal='insured("Tiny Ltd")', policy_text=lenient)
    decision = live.services.reasoning.ProveGoal(pb.ProveGoalRequest(goal=goal)).decision
    assert decision.verdict == common_pb2.VERDICT_CERTIFIED
    assert prove(live, 'insured("Tiny Ltd")').verdict == common_pb2.VERDICT_ABSTAINED
