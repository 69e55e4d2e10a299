"""The page about the vocabulary: its queries give its rows, and every term in use is defined.

Set PROOFWEAVE_REWRITE_DOCS to write the rows into the page; review the diff.
"""

from __future__ import annotations

import csv
import datetime
import io
import os
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import owlready2  # type: ignore[import-untyped]  # ships no types
import pytest
from golden import decide_case, golden_cases
from live_server import Live, running, send
from proofweave.v1 import knowledge_pb2, policy_pb2
from proofweave.v1 import reasoning_pb2 as pb
from starlette.testclient import TestClient
from supplier_world import EXAMPLE, original_world

from kb import vocabulary
from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.knowledge_base import KnowledgeBase
from kb.owl import TURTLE, export_dimensions, import_dimensions
from kb.quantity import Quantity
from kb.rdf import RdfProjection
from kb.rdf_terms import read_triples
from kb.statement import Entity, Evidence, Polarity, Statement, Validity, Value
from server.http import web_application
from server.knowledge import create_knowledge, open_knowledge
from server.settings import Settings
from server.vocabulary import terms_document

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "vocabulary.md"
_QUERY = re.compile(r"```sparql\n(?P<query>.*?)```\n\n(?P<rows>(?:\|[^\n]*\n)*)", re.DOTALL)
BOOK = list(_QUERY.finditer(PAGE.read_text("utf-8")))
SUPPLIERS = re.findall(r"^\| (\S.*?) \|", (EXAMPLE / "README.md").read_text("utf-8"), re.MULTILINE)
PW = vocabulary.PROOFWEAVE


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The example after each supplier's goal was asked."""
    directory = tmp_path_factory.mktemp("vocabulary") / "kb"
    create_knowledge(directory, namespace="https://example.org/kb/", packs=("supplier",))
    with running(directory, Settings()) as live:
        send(live.services, dict(original_world().documents))
        policy = (EXAMPLE / "supplier_onboarding.lp").read_text("utf-8")
        live.services.policy.CreatePolicyVersion(
            policy_pb2.CreatePolicyVersionRequest(text=policy, file_name="supplier_onboarding.lp")
        )
        goals = [f'may_onboard("{name}")' for name in SUPPLIERS if name not in ("supplier", "---")]
        assert len(goals) == 8
        under = pb.Goal(policy="policies/supplier_onboarding", valid_on="2026-03-01")
        request = pb.BatchProveGoalsRequest(under=under, goals=goals)
        assert all(
            response.HasField("decision")
            for response in live.services.reasoning.BatchProveGoals(request)
        )
        yield live


def query(live: Live, text: str, accept: str) -> bytes:
    request = knowledge_pb2.QueryGraphRequest(query=text, accept=accept)
    return b"".join(piece.chunk for piece in live.services.knowledge.QueryGraph(request))


def as_table(content: bytes) -> str:
    """Write CSV as the page shows rows: white space collapsed."""
    header, *rows = csv.reader(io.StringIO(content.decode()))
    lines = [header, ["---"] * len(header), *rows]
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def test_the_page_has_a_book_of_queries() -> None:
    assert len(BOOK) >= 12
    assert PAGE.read_text("utf-8").count("```sparql") == len(BOOK)


@pytest.mark.parametrize("place", range(len(BOOK)))
def test_a_query_of_the_page_gives_the_rows_of_the_page(example: Live, place: int) -> None:
    found = as_table(query(example, BOOK[place]["query"], "text/csv"))
    if "PROOFWEAVE_REWRITE_DOCS" in os.environ:
        text = PAGE.read_text("utf-8")
        block = list(_QUERY.finditer(text))[place]
        PAGE.write_text(text[: block.start("rows")] + found + text[block.end("rows") :], "utf-8")
    else:
        assert found == BOOK[place]["rows"]
    assert found.count("\n") > 2, "a query that finds nothing shows nothing"


def defined_terms() -> set[str]:
    return {
        triple.subject
        for triple in read_triples(terms_document("")[1], TURTLE)
        if triple.predicate == vocabulary.RDF + "type" and triple.subject.startswith(PW)
    }


def terms_in(n_quads: bytes) -> set[str]:
    return set(re.findall(rf"<({re.escape(PW)}\w+)>", n_quads.decode()))


@pytest.fixture(scope="module")
def emitted(example: Live, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Every term of ours that is written anywhere."""
    found = {PW + name for name in vocabulary.FUNCTIONS} | {vocabulary.META_GRAPH}
    found |= terms_in(query(example, "CONSTRUCT WHERE { ?s ?p ?o }", "application/n-triples"))
    verdicts = "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH pw:verdicts { ?s ?p ?o } }"
    found |= terms_in(query(example, verdicts, "application/n-triples"))
    with KnowledgeBase.create(tmp_path_factory.mktemp("golden"), namespace="urn:kb:/") as base:
        for case in golden_cases():
            form = decide_case(case).certificate.replace(
                b'"question":null,', b'"question":"Q?",', 1
            )
            form = form.replace(b'"understood_as":null,', b'"understood_as":"Q",', 1)
            receipt = {"requester": "ada", "hypothetical": True}
            digest = base.record_verdict(form, receipt).digest
        base.record_sign_off(digest, {"reviewer": "eve"})
        found |= terms_in(base.rdf().n_quads())
    with RdfProjection(None, "urn:kb:/") as projection:
        values: list[Value] = [Fraction(1, 3), Quantity(Fraction(5), "EUR"), Entity("X")]
        for place, value in enumerate(values):
            for polarity in Polarity:
                statement = Statement(
                    "E", "d", value, polarity, validity=Validity(datetime.date(2026, 1, 1))
                )
                source = "ab" * 32
                projection.add_statement(
                    statement.id,
                    statement,
                    [Evidence(statement.id, source, source, place, place + 1, "x", "test/1")],
                )
        found |= terms_in(projection.n_quads())
    kinds = define_taxonomy(
        "kind",
        [(low, high) for low in ("a", "b") for high in ("left", "right")]
        + [(low, "top") for low in ("left", "right")],
        allowed_ambiguities=[("left", "right")],
    )
    amount = Dimension("amount", DimensionKind.QUANTITY, unit="EUR")
    exported = export_dimensions(
        [kinds, amount], namespace="urn:kb:/", media_type="application/n-triples"
    )
    return found | terms_in(exported)


def test_the_terms_defined_are_those_in_use(emitted: set[str]) -> None:
    assert emitted - defined_terms() == set()
    assert defined_terms() - emitted == set()


def test_every_term_has_a_sentence_and_stands_on_the_page() -> None:
    triples = read_triples(terms_document("")[1], TURTLE)
    sentences = {
        triple.subject: triple.object
        for triple in triples
        if triple.predicate == vocabulary.RDFS + "comment"
    }
    page = PAGE.read_text("utf-8")
    for term in sorted(defined_terms()):
        assert sentences[term].endswith("."), term
        assert re.search(rf"\bpw:{term.removeprefix(PW)}\b", page), f"{term} is not on the page"


@pytest.fixture
def web(example: Live) -> Iterator[TestClient]:
    bases = open_knowledge({"kb": example.directory})
    with TestClient(web_application(bases, Settings(), example.address)) as client:
        yield client
    bases.close()


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("", "text/turtle"),
        ("text/html, */*;q=0.1", "text/turtle"),
        ("application/rdf+xml", "application/rdf+xml"),
        ("application/ld+json", "application/ld+json"),
    ],
)
def test_the_vocabulary_is_served_as_rdf(web: TestClient, accept: str, media_type: str) -> None:
    response = web.get("/vocabulary", headers={"Accept": accept})
    assert response.status_code == 200
    assert response.headers["content-type"].partition(";")[0] == media_type
    triples = read_triples(response.content, media_type)
    assert {triple.subject for triple in triples} >= defined_terms()
    assert web.get("/vocabulary", headers={"Accept": "image/png"}).status_code == 406


def test_an_ontology_tool_reads_the_vocabulary(web: TestClient) -> None:
    content = web.get("/vocabulary", headers={"Accept": "application/rdf+xml"}).content
    world = owlready2.World()
    try:
        ontology = world.get_ontology("https://w3id.org/proofweave/ns").load(
            fileobj=io.BytesIO(content)
        )
        assert {found.name for found in ontology.classes()} >= {"Document", "Answer", "Statement"}
        assert {found.name for found in ontology.object_properties()} >= {"restsOn", "statedIn"}
    finally:
        world.close()


def test_the_dimensions_of_a_knowledge_base_are_served_as_owl(web: TestClient) -> None:
    response = web.get("/knowledgeBases/kb/vocabulary")
    assert response.status_code == 200
    found = import_dimensions(response.content, TURTLE, namespace="https://example.org/kb/")
    assert [dimension.name for dimension in found if dimension.taxonomy] == [
        "activity",
        "audit_rating",
        "certified_under",
        "document_kind",
        "registered_country",
    ]
    assert web.get("/knowledgeBases/none/vocabulary").status_code == 404
