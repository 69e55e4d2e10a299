"""As-of reads over a live server: every API at a revision, and for a day."""

from __future__ import annotations

import csv
import io
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
import uvicorn
from live_server import DOCUMENTS, POLICY, Live, send
from proofweave.v1 import common_pb2, knowledge_pb2, policy_pb2, reasoning_pb2

from kb.document import decode
from kb.table_mapping import read_mapping
from kb.tables import import_table
from server.http import web_application
from server.knowledge import KnowledgeBases, create_knowledge, open_knowledge
from server.serving import serving, web_server
from server.settings import Settings
from server.status import failure_of

GOAL = 'eligible("Acme GmbH")'
PERIODS = (
    "supplier,certified_under,from,until\n"
    "Acme GmbH,ISO 9001,2024-01-01,2024-12-31\n"
    "Acme GmbH,ISO 14001,2026-01-01,2026-12-31\n"
)
MAPPING = "valid_from: from\nvalid_until: until\n"


def prove(live: Live, at: str = "", goal: str = GOAL) -> common_pb2.Decision:
    request = reasoning_pb2.ProveGoalRequest(
        goal=reasoning_pb2.Goal(
            goal=goal, policy="policies/onboarding", at=at, valid_on="2026-03-01"
        )
    )
    return live.services.reasoning.ProveGoal(request).decision


def publish(live: Live) -> str:
    request = policy_pb2.CreatePolicyVersionRequest(text=POLICY, file_name="onboarding.lp")
    return live.services.policy.CreatePolicyVersion(request).revision


def add(live: Live, *names: str) -> str:
    """Add documents; gives the revision."""
    _, summary = send(live.services, {name: DOCUMENTS[name].encode() for name in names})
    return summary.revision


def test_a_certificate_of_an_earlier_revision_is_the_one_given_then(empty: Live) -> None:
    """Whatever came since: documents, retractions, dimensions, policies, and a new server."""
    publish(empty)
    first = add(empty, "acme-insurance.md")
    before = prove(empty)
    assert before.verdict == common_pb2.VERDICT_ABSTAINED
    second = add(empty, "certificates.md")
    proved = prove(empty)
    assert proved.verdict == common_pb2.VERDICT_CERTIFIED
    add(empty, "small-insurance.md")
    knowledge = empty.services.knowledge
    for document in knowledge.ListDocuments(knowledge_pb2.ListDocumentsRequest()).documents:
        if document.file_name == "acme-insurance.md":
            request = knowledge_pb2.RetractDocumentRequest(name=document.name)
            knowledge.RetractDocument(request)
    dimension = knowledge_pb2.Dimension(
        name="liability_cover", kind=knowledge_pb2.DIMENSION_KIND_QUANTITY, functional=True
    )
    knowledge.DefineDimension(knowledge_pb2.DefineDimensionRequest(dimension=dimension))
    newer = POLICY.replace("version: 1", "version: 2").replace("1000000 EUR", "9000000 EUR")
    request = policy_pb2.CreatePolicyVersionRequest(text=newer, file_name="onboarding.lp")
    empty.services.policy.CreatePolicyVersion(request)
    assert prove(empty).verdict == common_pb2.VERDICT_ABSTAINED
    for at, then in ((first, before), (second, proved), (first, before)):
        again = prove(empty, at)
        assert again.certificate_content == then.certificate_content
        assert again.receipt.revision == then.receipt.revision == at
        assert again.receipt.log_head == then.receipt.log_head


def test_a_search_of_an_earlier_revision_finds_what_stood_then(empty: Live) -> None:
    first = add(empty, "acme-insurance.md")
    knowledge = empty.services.knowledge

    def found(at: str) -> list[str]:
        request = knowledge_pb2.SearchPassagesRequest(query="liability cover insured", at=at)
        return [hit.text for hit in knowledge.SearchPassages(request).hits]

    then = found("")
    assert then
    second = add(empty, "small-insurance.md")
    assert len(found("")) > len(then)
    assert found(first) == then
    for document in knowledge.ListDocuments(knowledge_pb2.ListDocumentsRequest()).documents:
        knowledge.RetractDocument(knowledge_pb2.RetractDocumentRequest(name=document.name))
    assert found("") == []
    assert found(first) == then
    assert len(found(second)) > len(then)


def test_lists_are_of_the_revision_and_of_the_day(empty: Live) -> None:
    knowledge = empty.services.knowledge
    start = add(empty, "certificates.md")
    operation = _import(empty, PERIODS)
    assert operation.state == knowledge_pb2.Operation.STATE_SUCCEEDED, operation.problem

    def stated(at: str = "", valid_on: str = "") -> list[str]:
        request = knowledge_pb2.ListStatementsRequest(
            subject="Acme GmbH", dimension="certified_under", at=at, valid_on=valid_on
        )
        listed = knowledge.ListStatements(request).statements
        return sorted(s.value.class_label or s.value.entity or s.value.text for s in listed)

    assert stated() == ["ISO 14001", "ISO 9001", "ISO 9001"]
    assert stated(at=start) == ["ISO 9001"]
    assert stated(valid_on="2024-12-31") == ["ISO 9001", "ISO 9001"]
    assert stated(valid_on="2025-01-01") == ["ISO 9001"]
    assert stated(valid_on="2026-01-01") == ["ISO 14001", "ISO 9001"]

    def documents(at: str = "", valid_on: str = "") -> list[str]:
        request = knowledge_pb2.ListDocumentsRequest(at=at, valid_on=valid_on, page_size=1000)
        listed = knowledge.ListDocuments(request).documents
        return sorted(d.file_name for d in listed if "taxonom" not in d.file_name)

    assert {"certificates.md", "periods.csv"} <= set(documents())
    assert "periods.csv" not in documents(at=start)
    assert "periods.csv" not in documents(valid_on="2025-06-01")
    assert "periods.csv" in documents(valid_on="2024-06-01")


@pytest.mark.parametrize(
    ("at", "reason", "words"),
    [
        ("999999", "REVISION_UNKNOWN", "the newest"),
        ("0", "REVISION_UNKNOWN", "from 1 to"),
        ("yesterday", "REQUEST_REJECTED", "'yesterday' is no revision"),
        ("-1", "REQUEST_REJECTED", "is no revision"),
        ("9" * 40, "REQUEST_REJECTED", "is no revision"),
    ],
)
def test_a_revision_that_has_not_been_is_refused_by_every_call(
    live: Live, at: str, reason: str, words: str
) -> None:
    knowledge, reasoning = live.services.knowledge, live.services.reasoning
    calls = (
        lambda: prove(live, at),
        lambda: reasoning.AskQuestion(reasoning_pb2.AskQuestionRequest(question="x", at=at)),
        lambda: reasoning.PlanQuestion(reasoning_pb2.PlanQuestionRequest(question="x", at=at)),
        lambda: knowledge.ListStatements(knowledge_pb2.ListStatementsRequest(at=at)),
        lambda: knowledge.ListDocuments(knowledge_pb2.ListDocumentsRequest(at=at)),
        lambda: knowledge.ListDimensions(knowledge_pb2.ListDimensionsRequest(at=at)),
        lambda: knowledge.GetDimension(knowledge_pb2.GetDimensionRequest(name="d", at=at)),
        lambda: knowledge.GetStatement(knowledge_pb2.GetStatementRequest(name="st:0", at=at)),
        lambda: knowledge.GetDocument(knowledge_pb2.GetDocumentRequest(name="0", at=at)),
        lambda: knowledge.SearchPassages(knowledge_pb2.SearchPassagesRequest(query="x", at=at)),
        lambda: list(knowledge.QueryGraph(knowledge_pb2.QueryGraphRequest(query="ASK {}", at=at))),
    )
    for call in calls:
        with pytest.raises(grpc.RpcError) as refused:
            call()
        failure = failure_of(refused.value)
        assert failure.reason == reason
        assert words in failure.message


@contextmanager
def web(bases: KnowledgeBases) -> Iterator[str]:
    with serving(bases, Settings(), "127.0.0.1:0") as port:
        application = web_application(bases, Settings(), f"127.0.0.1:{port}")
        server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning"))
        with web_server(server) as http_port:
            yield f"http://127.0.0.1:{http_port}"


def get(url: str, **parameters: str) -> tuple[int, str]:
    text = urllib.parse.urlencode(parameters)
    request = urllib.request.Request(f"{url}?{text}", headers={"Accept": "text/csv"})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_sparql_and_json_over_http_take_a_revision_and_a_day(tmp_path: Path) -> None:
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("supplier",))
    bases = open_knowledge({"kb": tmp_path / "kb"})
    try:
        with web(bases) as address:
            knowledge = bases.find("kb")
            before = str(knowledge.base.revision)
            _admit_periods(bases)
            query = (
                "PREFIX d: <https://example.org/kb/dimension/>"
                " SELECT ?v { ?s ?p ?v FILTER(STRENDS(STR(?p), 'certified_under')) }"
            )

            def values(**parameters: str) -> list[str]:
                status, body = get(f"{address}/sparql", query=query, **parameters)
                assert status == 200, body
                rows = list(csv.reader(io.StringIO(body)))[1:]
                return sorted(row[0].rpartition("/")[2] for row in rows)

            assert len(values()) == 2
            assert values(at=before) == []
            (early,), (late,) = (
                values(**{"valid-on": "2024-06-01"}),
                values(**{"valid-on": "2026-06-01"}),
            )
            assert early != late
            assert values(**{"valid-on": "2025-06-01"}) == []
            assert get(f"{address}/sparql", query=query, at="99999")[0] == 404
            assert get(f"{address}/sparql", query=query, at="soon")[0] == 400
            assert get(f"{address}/sparql", query=query, at="")[0] == 400
            status, body = get(f"{address}/sparql", query=query, **{"valid-on": "2026"})
            assert (status, "no single day" in body) == (400, True)
            body = json.dumps({"dimension": "certified_under", "at": before}).encode()
            request = urllib.request.Request(
                f"{address}/v1/KnowledgeService/ListStatements", data=body
            )
            with urllib.request.urlopen(request, timeout=30) as response:
                assert json.load(response) == {}
    finally:
        bases.close()


def test_disjoint_periods_are_no_contradiction_and_overlapping_ones_are(empty: Live) -> None:
    """Succession keeps both; in an overlap both sides are named."""
    policy = (
        "%! policy: seats\n%! version: 1\n\nfunctional(seat).\n\n"
        "%! rule: at\nat(S, P) :- seat(S, P).\n"
    )
    rows = (
        "company,seat,from,until\n"
        "Acme GmbH,Bremen,2020-01-01,2023-12-31\n"
        "Acme GmbH,Hamburg,2024-01-01,2025-12-31\n"
        "Acme GmbH,Kiel,2025-01-01,2026-12-31\n"
    )
    operation = _import(empty, rows)
    assert operation.state == knowledge_pb2.Operation.STATE_SUCCEEDED, operation.problem

    def seats(day: str) -> common_pb2.Decision:
        request = reasoning_pb2.ProveGoalRequest(
            goal=reasoning_pb2.Goal(goal='at("Acme GmbH", P)', policy_text=policy, valid_on=day)
        )
        return empty.services.reasoning.ProveGoal(request).decision

    for day, place in (("2023-12-31", "Bremen"), ("2024-01-01", "Hamburg"), ("2026-01-01", "Kiel")):
        decision = seats(day)
        assert decision.verdict == common_pb2.VERDICT_CERTIFIED, day
        assert [place in answer.atom for answer in decision.answers] == [True]
    contested = seats("2025-06-01")
    assert contested.verdict == common_pb2.VERDICT_ABSTAINED
    assert contested.code == common_pb2.ABSTENTION_CODE_CONFLICT
    assert len({one for item in contested.open for one in item.conflicting}) == 2


def _admit_periods(bases: KnowledgeBases) -> None:
    document = decode(PERIODS.encode(), name="periods.csv")
    mapping = read_mapping(MAPPING, name="mapping")
    report = import_table(
        bases.find("kb").base, document, PERIODS.encode(), run="test", mapping=mapping
    )
    assert report.admission.inserted == 2


def _import(live: Live, text: str) -> knowledge_pb2.Operation:
    def messages() -> Iterator[knowledge_pb2.ImportStatementsRequest]:
        header = common_pb2.FileHeader(file_name="periods.csv")
        start = knowledge_pb2.ImportStart(file=header, mapping=MAPPING)
        yield knowledge_pb2.ImportStatementsRequest(start=start)
        yield knowledge_pb2.ImportStatementsRequest(chunk=text.encode())

    operation = live.services.knowledge.ImportStatements(messages()).operation
    request = knowledge_pb2.GetOperationRequest(name=operation.name, wait_ms=10_000)
    return live.services.knowledge.GetOperation(request).operation
