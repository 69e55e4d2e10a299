"""What the SPARQL 1.1 Protocol says, phrase by phrase, and what real clients ask; over real HTTP.

Source: W3C, SPARQL 1.1 Protocol (2013), sections 2.1 and 2.2; Service Description (2013).
"""

from __future__ import annotations

import csv
import io
import json
import socket
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pyoxigraph as ox
import pytest
import rdflib
from live_sparql import insurances, newest, served
from rdflib.plugins.stores.sparqlstore import SPARQLStore

SELECT = "SELECT ?y { e:Nordwind d:insures ?y }"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
DIRECT = {"Content-Type": "application/sparql-query"}
JSON = "application/sparql-results+json"
SPAN = f"ni:///sha-256;{'q6ur' * 10}q6s#char=0,25"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with insurances() as projection, served(newest(projection)) as made:
        yield made


def product(count: int) -> str:
    """Patterns that have nothing to do with each other."""
    return " . ".join(f"?a{i} ?b{i} ?c{i}" for i in range(count))


@dataclass(frozen=True)
class Case:
    """A phrase of the protocol, a request, and what the answer is."""

    says: str
    method: str = "GET"
    url: tuple[tuple[str, str], ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | dict[str, str] | None = None
    status: int = 200
    media_type: str = ""
    contains: str = ""


CASES = [
    Case("2.1.1 query via GET", url=(("query", SELECT),), media_type=JSON, contains="Acme"),
    Case("2.1.2 via URL-encoded POST", "POST", body={"query": SELECT}, contains="Acme"),
    Case("2.1.3 via POST directly", "POST", headers=DIRECT, body=SELECT.encode(), contains="Acme"),
    Case(
        "2.1.3 a charset beside the type",
        "POST",
        headers={"Content-Type": "application/sparql-query;charset=UTF-8"},
        body=SELECT.encode(),
        contains="Acme",
    ),
    Case(
        "2.1 no query at all: the description",
        media_type="text/turtle",
        contains="service-description#Service>",
    ),
    Case("2.1 exactly one query", url=(("query", SELECT), ("query", SELECT)), status=400),
    Case("2.1 exactly one, not none", "POST", body={"no": "query"}, status=400),
    Case("2.1 an empty query is a fault", url=(("query", ""),), status=400),
    Case("2.1 the body has a type", "POST", body=SELECT.encode(), status=415),
    Case(
        "2.1.4 a graph of the protocol is the default graph",
        url=(("query", SELECT), ("default-graph-uri", SPAN)),
        contains="Acme",
    ),
    Case(
        "2.1.4 of which there may be several",
        url=(
            ("query", "SELECT (COUNT(*) AS ?n) { ?s d:insures ?o }"),
            ("default-graph-uri", SPAN),
            ("default-graph-uri", SPAN.replace("0,25", "100,125")),
        ),
        headers={"Accept": "text/csv"},
        contains="n\r\n2\r\n",
    ),
    Case(
        "2.1.4 the graphs of the protocol win over FROM",
        url=(
            ("query", "SELECT ?y FROM <a:nothing> { ?x d:insures ?y }"),
            ("default-graph-uri", SPAN),
        ),
        contains="Acme",
    ),
    Case(
        "2.1.4 named graphs in the URL of a direct POST",
        "POST",
        url=(("named-graph-uri", SPAN),),
        headers=DIRECT,
        body=b"SELECT ?y { GRAPH ?g { ?x d:insures ?y } }",
        contains="Acme",
    ),
    Case(
        "2.1.4 a graph that is no IRI",
        url=(("query", SELECT), ("default-graph-uri", "x y")),
        status=400,
    ),
    Case(
        "13.2 FROM replaces the union",
        url=(("query", f"SELECT ?y FROM <{SPAN}> {{ ?x d:insures ?y }}"),),
        headers={"Accept": "text/csv"},
        contains="y\r\nhttps://example.org/Acme\r\n",
    ),
    Case(
        "13.2 with FROM alone there are no named graphs",
        url=(("query", f"ASK FROM <{SPAN}> {{ GRAPH ?g {{ ?x ?p ?y }} }}"),),
        contains="false",
    ),
    Case(
        "13.2 with FROM NAMED alone the default graph is empty",
        url=(("query", f"ASK FROM NAMED <{SPAN}> {{ ?x d:insures ?y }}"),),
        contains="false",
    ),
    Case(
        "other parameters are not ours",
        url=(("query", SELECT), ("format", "x"), ("debug", "1")),
        contains="Acme",
    ),
    Case(
        "an empty Accept accepts all",
        url=(("query", SELECT),),
        headers={"Accept": ""},
        media_type=JSON,
    ),
    Case(
        "the best of several is sent",
        url=(("query", SELECT),),
        headers={"Accept": "text/csv;q=0.2, application/sparql-results+xml;q=0.9, */*;q=0.1"},
        media_type="application/sparql-results+xml",
    ),
    Case(
        "what has q=0 is not sent",
        url=(("query", SELECT),),
        headers={"Accept": f"{JSON};q=0, text/*;q=0.0, */*"},
        media_type="application/sparql-results+xml",
    ),
    Case(
        "406 where nothing fits",
        url=(("query", SELECT),),
        headers={"Accept": "text/csv;q=0"},
        status=406,
    ),
    Case(
        "406 names what there is",
        url=(("query", SELECT),),
        headers={"Accept": "image/png"},
        status=406,
        contains="text/csv",
    ),
    Case("400 for a fault of syntax, on one line", url=(("query", "SELECT ?x { ?x"),), status=400),
    Case("400 for an undeclared prefix", url=(("query", "ASK { no:a ?p ?o }"),), status=400),
    Case("400 for an absurd LIMIT", url=(("query", f"{SELECT} LIMIT {'9' * 40}"),), status=400),
    Case(
        "400 for what is nested without end",
        "POST",
        headers=DIRECT,
        body=b"ASK " + b"{" * 9000 + b"}" * 9000,
        status=400,
        contains="500 deep",
    ),
    Case(
        "400 for an update by its name",
        "POST",
        body={"update": "CLEAR ALL"},
        status=400,
        contains="updates are not served",
    ),
    Case(
        "400 for an update as a query",
        "POST",
        body={"query": "INSERT DATA { <a:a> <a:b> 1 }"},
        status=400,
    ),
    Case(
        "400 for an update by its type",
        "POST",
        headers={"Content-Type": "application/sparql-update"},
        body=b"CLEAR ALL",
        status=400,
    ),
    Case("405 for another method", "DELETE", url=(("query", SELECT),), status=405),
    Case(
        "503 past the time",
        url=(("query", f"SELECT (COUNT(*) AS ?n) {{ {product(30)} }}"),),
        status=503,
        contains="3000 ms",
    ),
    Case(
        "503 past the rows",
        url=(("query", f"SELECT * {{ {product(4)} }}"),),
        status=503,
        contains="1000 rows",
    ),
    Case(
        "503 for a path that is too deep",
        "POST",
        headers=DIRECT,
        body=b"ASK { ?s " + b"<a:p>/" * 20_000 + b"<a:p> ?o }",
        status=503,
    ),
    Case("still there after all that", url=(("query", SELECT),), contains="Acme"),
    Case(
        "XML cannot hold every character",
        url=(("query", 'SELECT ("\\u0001" AS ?x) {}'),),
        headers={"Accept": "application/sparql-results+xml"},
        status=406,
        contains="U+0001",
    ),
    Case(
        "nor can RDF/XML",
        url=(("query", 'CONSTRUCT { <a:a> <a:b> "\\u000C" } {}'),),
        headers={"Accept": "application/rdf+xml"},
        status=406,
        contains="U+000C",
    ),
    Case("JSON holds it", url=(("query", 'SELECT ("\\u0001" AS ?x) {}'),), contains="u0001"),
    Case(
        "no denial matches a plain pattern",
        url=(("query", "ASK { ?x ?p e:Beta FILTER(STRSTARTS(STR(?p), STR(d:))) }"),),
        contains="false",
    ),
    Case(
        "nor does a plan",
        url=(("query", "ASK { GRAPH ?g { ?x d:insures e:Gamma } }"),),
        contains="false",
    ),
    Case(
        "a denial is a node",
        url=(("query", 'ASK { ?n owl:targetIndividual e:Beta ; pw:polarity "denied" }'),),
        contains="true",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.says)
def test_the_protocol_is_kept(client: httpx.Client, case: Case) -> None:
    data, content = (case.body, None) if isinstance(case.body, dict) else (None, case.body)
    response = client.request(
        case.method,
        "/sparql",
        params=httpx.QueryParams(list(case.url)),
        headers=case.headers,
        data=data,
        content=content,
    )
    assert response.status_code == case.status, response.text[:500]
    assert case.contains in response.text
    if case.media_type:
        assert response.headers["content-type"].partition(";")[0] == case.media_type
    if case.status >= 400:
        assert response.headers["content-type"].startswith("text/plain")
        assert response.text.count("\n") == 1, "one sentence"
    if case.status == 503:
        assert int(response.headers["retry-after"]) > 0
    if case.status == 405:
        assert "GET" in response.headers["allow"]
    assert response.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.method == "GET"][:20], ids=lambda case: case.says
)
def test_head_tells_what_get_would(client: httpx.Client, case: Case) -> None:
    parameters = httpx.QueryParams(list(case.url))
    head = client.head("/sparql", params=parameters, headers=case.headers)
    get = client.get("/sparql", params=parameters, headers=case.headers)
    assert head.status_code == get.status_code
    assert head.content == b""
    for name in ("content-type", "content-length"):
        assert head.headers[name] == get.headers[name]


GRAPHS = [
    "text/turtle",
    "application/n-triples",
    "application/trig",
    "application/ld+json",
    "application/rdf+xml",
]


@pytest.mark.parametrize("media_type", GRAPHS)
def test_every_graph_format_holds_the_same_triples(client: httpx.Client, media_type: str) -> None:
    query = "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o FILTER(?p IN (d:insures, d:remark)) }"
    response = client.get("/sparql", params={"query": query}, headers={"Accept": media_type})
    assert response.headers["content-type"].partition(";")[0] == media_type
    syntax = ox.RdfFormat.from_media_type(media_type)
    assert syntax is not None
    found = {(q.subject.value, q.object.value) for q in ox.parse(response.content, syntax)}
    remark = "a\rb\nc\td"
    expected = {
        "https://example.org/Acme",
        "https://example.org/M%C3%BCller_%26_S%C3%B6hne",
        remark,
    }
    assert found == {("https://example.org/Nordwind", value) for value in expected}


TERMS = [
    '"a\\r\\nb\\t\\"<&>\\\\"', '""', '"x"@en-GB', '"1"^^xsd:integer', '"01"^^xsd:integer',
    '"+1"^^xsd:integer', '"1.0"^^xsd:decimal', '"1."^^xsd:decimal', '"1e0"^^xsd:double',
    '"INF"^^xsd:double', '"NaN"^^xsd:float', '"true"^^xsd:boolean', '"1"^^xsd:boolean',
    '"x"^^<a:b>', '"?y"', "<a:b,c>", '"😀 é"', '"  "', '"a,b"', "\'\'\'a\nb\'\'\'",
]  # fmt: skip


def test_every_term_comes_through_every_format_unchanged(client: httpx.Client) -> None:
    """The reference is the engine's own JSON; ours goes by way of tab-separated values."""
    query = f"PREFIX xsd: <{rdflib.XSD}> SELECT ?x {{ VALUES ?x {{ {' '.join(TERMS)} }} }}"
    results = ox.Store().query(query)
    assert isinstance(results, ox.QuerySolutions)
    engine = json.loads(results.serialize(format=ox.QueryResultsFormat.JSON) or b"")
    expected = sorted(map(_term, engine["results"]["bindings"]))
    assert len(expected) == len(TERMS)

    def ask(media_type: str) -> bytes:
        return client.post("/sparql", data={"query": query}, headers={"Accept": media_type}).content

    assert sorted(map(_term, json.loads(ask(JSON))["results"]["bindings"])) == expected
    namespace = "{http://www.w3.org/2005/sparql-results#}"
    terms = []
    for binding in ElementTree.fromstring(ask("application/sparql-results+xml")).iter(
        f"{namespace}binding"
    ):
        (element,) = binding
        language = element.get("{http://www.w3.org/XML/1998/namespace}lang", "")
        terms.append((element.text or "", element.get("datatype", ""), language))
    assert sorted(terms) == expected
    rows = list(csv.reader(io.StringIO(ask("text/csv").decode(), newline="")))[1:]
    assert sorted(row[0] if row else "" for row in rows) == sorted(
        value for value, _, _ in expected
    )


def _term(binding: dict[str, Any]) -> tuple[str, str, str]:
    term = binding["x"]
    return term["value"], term.get("datatype", ""), term.get("xml:lang", "")


def test_service_is_refused_before_any_socket(client: httpx.Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        for silent in ("", "SILENT "):
            query = f"SELECT * {{ SERVICE {silent}<{address}> {{ ?s ?p ?o }} }}"
            response = client.get("/sparql", params={"query": query})
            assert response.status_code == 400
            assert "SERVICE" in response.text
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_long_text_of_dots_does_not_hold_the_server(client: httpx.Client) -> None:
    query = "ASK {} # \n" + "a." * 300_000
    response = client.post("/sparql", content=query, headers=DIRECT)
    assert response.status_code == 400  # looked at again from each dot, this would take an hour


def test_the_description_names_every_format_and_function(client: httpx.Client) -> None:
    graph = rdflib.Graph().parse(data=client.get("/sparql").text, format="turtle")
    service = rdflib.Namespace("http://www.w3.org/ns/sparql-service-description#")
    (subject,) = graph.subjects(rdflib.RDF.type, service.Service)
    assert str(subject) == f"{client.base_url}/sparql".replace("//sparql", "/sparql")
    formats = {
        str(each).rpartition("/")[2] for each in graph.objects(subject, service.resultFormat)
    }
    assert formats == {
        "SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV",
        "Turtle", "N-Triples", "TriG", "RDF_XML", "JSON-LD",
    }  # fmt: skip
    assert len(list(graph.objects(subject, service.extensionFunction))) == 6


@pytest.mark.parametrize("method", ["GET", "POST", "POST_FORM"])
@pytest.mark.parametrize("returned", ["xml", "json", "csv"])
def test_rdflib_is_a_client(client: httpx.Client, method: str, returned: str) -> None:
    store = SPARQLStore(f"{client.base_url}/sparql", method=method, returnFormat=returned)
    graph = rdflib.Graph(store=store)
    names = rdflib.Namespace("https://example.org/")
    found = graph.query("SELECT ?y { ?x <https://example.org/dimension/insures> ?y }")
    assert {str(row[0]) for row in found} == {  # type: ignore[index]  # rows of a SELECT
        "https://example.org/Acme",
        "https://example.org/M%C3%BCller_%26_S%C3%B6hne",
    }
    if returned != "csv":
        assert (names.Nordwind, names["dimension/insures"], names.Acme) in graph
        assert (names.Nordwind, names["dimension/insures"], names.Beta) not in graph
