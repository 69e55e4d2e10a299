"""HTTP beside gRPC: JSON for every method, SPARQL, credentials; health and reflection."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from live_server import DOCUMENTS, LIMITS, POLICY, Live, running, send
from proofweave.v1 import common_pb2, knowledge_pb2, policy_pb2
from proofweave.v1 import reasoning_pb2 as pb
from starlette.testclient import TestClient

from server.cli.connection import Target, connect
from server.http import web_application
from server.knowledge import create_knowledge, open_knowledge
from server.settings import AuthSection, Settings
from server.status import failure_of


@pytest.fixture
def web(live: Live, settings: Settings) -> Iterator[TestClient]:
    """A client of the HTTP application beside the live server."""
    bases = open_knowledge({"kb": live.directory})
    with TestClient(web_application(bases, settings, live.address)) as client:
        yield client
    bases.close()


def test_a_goal_is_proved_over_http(web: TestClient) -> None:
    goal = {"goal": 'eligible("Acme GmbH")', "policy": "onboarding", "valid_on": "2026-03-01"}
    response = web.post("/v1/ReasoningService/ProveGoal", json={"goal": goal})
    assert response.status_code == 200
    assert response.json()["decision"]["verdict"] == "VERDICT_CERTIFIED"


def test_a_stream_is_lines_of_json(web: TestClient) -> None:
    request = {"under": {"policy": "onboarding"}, "goals": ["insured(S)", "insured("]}
    response = web.post("/v1/ReasoningService/BatchProveGoals", json=request)
    first, second = map(json.loads, response.text.splitlines())
    assert first["decision"]["verdict"] == "VERDICT_CERTIFIED"
    assert second["problem"]["reason"] == "GOAL_REJECTED"


@pytest.mark.parametrize(
    ("path", "body", "status", "reason"),
    [
        ("/v1/ReasoningService/Nothing", "{}", 404, "NOT_FOUND"),
        ("/v1/ReasoningService/ProveGoal", "{", 400, "REQUEST_REJECTED"),
        ("/v1/ReasoningService/ProveGoal", '{"gaol": {}}', 400, "REQUEST_REJECTED"),
        ("/v1/ReasoningService/ProveGoal", '{"goal": {"goal": "a("}}', 400, "GOAL_REJECTED"),
        ("/v1/PolicyService/GetPolicy", '{"name": "nothing"}', 404, "NOT_FOUND"),
        ("/v1/KnowledgeService/IngestDocuments", "{}", 404, "NOT_FOUND"),
    ],
)
def test_errors_keep_their_reason(
    web: TestClient, path: str, body: str, status: int, reason: str
) -> None:
    response = web.post(path, content=body)
    assert response.status_code == status
    assert response.json()["error"]["reason"] == reason


@pytest.mark.parametrize(
    ("method", "body", "says"),
    [
        (
            "ReasoningService/ProveGoal",
            '{"gaol": {}, "goal": {"polcy": "a", "validOn": "2026-03-01"}}',
            "gaol is no field of ProveGoalRequest; nearest: goal; "
            "goal.polcy is no field of Goal; nearest: policy",
        ),
        (
            "KnowledgeService/DefineDimension",
            '{"dimension": {"taxonomy": [{"child": "a", "paernt": "b"}]}}',
            "dimension.taxonomy[0].paernt is no field of TaxonomyEdge; nearest: parent",
        ),
        ("ReasoningService/ProveGoal", '{"x": 1}', "x is no field of ProveGoalRequest; expected"),
        ("ReasoningService/ProveGoal", '{"goal": []}', "goal is a list; expected an object"),
        ("ReasoningService/ProveGoal", "[]", "the body is a list; expected an object"),
        ("ReasoningService/ProveGoal", "{", "the body is no JSON"),
        ("ReasoningService/ProveGoal", b'{"\xff": 1}', "the body is no JSON in UTF-8"),
        ("ReasoningService/ProveGoal", '{"a":' * 100_000, "the body is no JSON"),
        ("ReasoningService/ProveGoal", '{"goal": {"goal": 3}}', "the body is no ProveGoalRequest"),
        ("ReasoningService/ProveGoal", '{"goal": {}, "goal": {}}', "duplicate key"),
        ("KnowledgeService/DefineDimension", '{"dimension": {"kind": "X"}}', "enum value X"),
    ],
)
def test_a_body_that_is_no_request_is_told_in_one_line(
    web: TestClient, method: str, body: str | bytes, says: str
) -> None:
    response = web.post(f"/v1/{method}", content=body)
    error = response.json()["error"]
    assert (response.status_code, error["reason"]) == (400, "REQUEST_REJECTED")
    assert says in error["message"]
    assert "\n" not in error["message"]


def test_sparql_is_answered(web: TestClient) -> None:
    query = "SELECT ?s { ?s ?p ?o } LIMIT 1"
    for path in ("/sparql", "/knowledgeBases/kb/sparql"):
        response = web.get(path, params={"query": query}, headers={"accept": "text/csv"})
        assert response.status_code == 200
        assert response.text.startswith("s")
    assert web.get("/knowledgeBases/other/sparql", params={"query": query}).status_code == 404
    assert web.get("/sparql", params={"query": "SELEC"}).status_code == 400
    assert web.get("/healthz").json() == {"status": "serving"}


def test_health_and_reflection_answer(live: Live) -> None:
    with grpc.insecure_channel(live.address) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        check = health.Check  # type: ignore[attr-defined]  # the stubs leave it out
        for service in ("", "proofweave.v1.ReasoningService"):
            status = check(health_pb2.HealthCheckRequest(service=service)).status
            assert status == health_pb2.HealthCheckResponse.SERVING
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        ask = stub.ServerReflectionInfo
        (response,) = ask(iter([request]))  # type: ignore[operator]  # the stubs are incomplete
        names = {service.name for service in response.list_services_response.service}
    assert {f"proofweave.v1.{name}Service" for name in ("Knowledge", "Reasoning")} <= names


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[Live, Settings]]:
    """A server that asks for credentials."""
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("supplier",))
    tokens = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("alice", "bob")}
    auth = AuthSection(tokens=tokens, access={"bob": ("another",)})
    settings = Settings(limits=LIMITS, auth=auth)
    with running(tmp_path / "kb", settings) as found:
        yield found, settings


def test_calls_need_a_known_token_that_leads_to_the_knowledge(
    guarded: tuple[Live, Settings],
) -> None:
    live, settings = guarded
    request = knowledge_pb2.ListDocumentsRequest()
    with pytest.raises(grpc.RpcError) as caught:
        live.services.knowledge.ListDocuments(request)
    assert failure_of(caught.value).reason == "UNAUTHENTICATED"
    for token, reason in (("eve", "UNAUTHENTICATED"), ("bob", "NOT_PERMITTED")):
        with (
            connect(Target(live.address, None, token), settings) as services,
            pytest.raises(grpc.RpcError) as caught,
        ):
            services.knowledge.ListDocuments(request)
        assert failure_of(caught.value).reason == reason


def test_the_receipt_names_who_asked(guarded: tuple[Live, Settings]) -> None:
    live, settings = guarded
    with connect(Target(live.address, None, "alice"), settings) as services:
        send(services, {"a.md": DOCUMENTS["acme-insurance.md"].encode()})
        services.policy.CreatePolicyVersion(policy_pb2.CreatePolicyVersionRequest(text=POLICY))
        goal = pb.Goal(goal='insured("Acme GmbH")', policy="onboarding")
        decision = services.reasoning.ProveGoal(pb.ProveGoalRequest(goal=goal)).decision
    assert decision.verdict == common_pb2.VERDICT_CERTIFIED
    assert decision.receipt.requester == "alice"
