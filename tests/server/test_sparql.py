"""SPARQL 1.1 Protocol, over real HTTP against a real server on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from live_sparql import insurances, newest, served

from kb.errors import KnowledgeError
from server.sparql import MAX_REQUEST_BYTES

ALL = "SELECT ?y WHERE { e:Nordwind d:insures ?y }"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with insurances() as projection, served(newest(projection)) as made:
        yield made


def values(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [row["y"]["value"] for row in response.json()["results"]["bindings"]]


def test_get_form_and_direct_post_give_the_same_answer(client: httpx.Client) -> None:
    expected = ["https://example.org/Acme", "https://example.org/M%C3%BCller_%26_S%C3%B6hne"]
    assert values(client.get("/sparql", params={"query": ALL})) == expected
    assert values(client.post("/sparql", data={"query": ALL})) == expected
    direct = client.post(
        "/sparql", content=ALL, headers={"Content-Type": "application/sparql-query; charset=utf-8"}
    )
    assert values(direct) == expected


@pytest.mark.parametrize(
    ("query", "accept", "media_type", "beginning"),
    [
        (ALL, "", "application/sparql-results+json", '{"head"'),
        (ALL, "*/*", "application/sparql-results+json", '{"head"'),
        (ALL, "application/json", "application/sparql-results+json", '{"head"'),
        (ALL, "application/sparql-results+xml", "application/sparql-results+xml", "<?xml"),
        (ALL, "text/csv;q=0.5, text/tab-separated-values", "text/tab-separated-values", "?y\n<"),
        (ALL, "text/turtle, text/csv;q=0.1", "text/csv", "y\r\nhttps"),
        (
            ALL,
            "application/sparql-results+json;q=0, */*;q=0.1",
            "application/sparql-results+xml",
            "<",
        ),
        ("ASK {}", "application/sparql-results+json", "application/sparql-results+json", "{"),
        ("ASK {}", "text/csv", "text/csv", "true"),
        ("CONSTRUCT WHERE {?s d:insures ?o}", "", "text/turtle", "@prefix"),
        (
            "CONSTRUCT WHERE {?s d:insures ?o}",
            "application/n-triples",
            "application/n-triples",
            "<",
        ),
        ("CONSTRUCT WHERE {?s d:insures ?o}", "application/ld+json", "application/ld+json", "["),
        ("DESCRIBE e:Nordwind", "application/rdf+xml", "application/rdf+xml", "<?xml"),
    ],
)
def test_the_accept_header_chooses_the_format(
    client: httpx.Client, query: str, accept: str, media_type: str, beginning: str
) -> None:
    response = client.get("/sparql", params={"query": query}, headers={"Accept": accept})
    assert response.status_code == 200, response.text
    charset = "; charset=utf-8" if media_type.startswith("text/") else ""
    assert response.headers["content-type"] == media_type + charset
    assert response.headers["vary"] == "Accept"
    assert response.text.startswith(beginning), response.text


@pytest.mark.parametrize(
    ("method", "headers", "content", "status", "says"),
    [
        ("GET", {}, "query=SELECT", 400, "expected"),
        ("GET", {}, "query=ASK+{}&query=ASK+{}", 400, "2 queries"),
        ("GET", {}, "query=ASK+%ff", 400, "UTF-8"),
        ("GET", {}, "update=CLEAR+ALL", 400, "updates are not served"),
        ("GET", {"Accept": "image/png"}, "query=ASK+{}", 406, "application/sparql-results+json"),
        ("GET", {"Accept": "text/csv;q=0"}, "query=ASK+{}", 406, "text/csv"),
        ("PUT", {}, "", 405, "GET, HEAD, POST, OPTIONS"),
        ("POST", {"Content-Type": "text/plain"}, "ASK {}", 415, "application/sparql-query"),
        ("POST", {"Content-Type": "application/sparql-update"}, "CLEAR ALL", 400, "updates"),
        ("POST", {"Content-Type": "application/sparql-query"}, "CLEAR ALL", 400, "CLEAR"),
        ("POST", {"Content-Type": "application/sparql-query"}, "ASK { <", 400, "cannot be read"),
        ("POST", {"Content-Type": "application/sparql-query"}, b"ASK \xff", 400, "UTF-8"),
        ("POST", {"Content-Type": "application/x-www-form-urlencoded"}, "a=b", 400, "0 queries"),
        (
            "POST",
            {"Content-Type": "application/sparql-query"},
            "ASK {} #" + "x" * MAX_REQUEST_BYTES,
            413,
            "longer",
        ),
        (
            "POST",
            {"Content-Type": "application/sparql-query"},
            "SELECT (COUNT(*) AS ?n) {" + " ?a{0} ?b{0} ?c{0} .".replace("{0}", "1") + "}",
            200,
            "results",
        ),
    ],
)
def test_a_bad_request_gets_its_status_and_one_sentence(
    client: httpx.Client,
    method: str,
    headers: dict[str, str],
    content: str | bytes,
    status: int,
    says: str,
) -> None:
    if method == "GET":
        response = client.get(f"/sparql?{content!s}", headers=headers)
    else:
        response = client.request(method, "/sparql", content=content, headers=headers)
    assert (response.status_code, says in response.text) == (status, True), response.text
    assert response.headers["access-control-allow-origin"] == "*"


def test_a_query_without_end_gets_503_and_the_next_an_answer(client: httpx.Client) -> None:
    patterns = " . ".join(f"?a{i} ?b{i} ?c{i}" for i in range(30))
    response = client.get("/sparql", params={"query": f"SELECT (COUNT(*) AS ?n) {{ {patterns} }}"})
    assert response.status_code == 503
    assert "3000 ms" in response.text
    assert int(response.headers["retry-after"]) > 0
    assert len(values(client.get("/sparql", params={"query": ALL}))) == 2


def test_a_result_past_its_rows_gets_503(client: httpx.Client) -> None:
    patterns = " . ".join(f"?a{i} ?b{i} ?c{i}" for i in range(5))
    response = client.get("/sparql", params={"query": f"SELECT * {{ {patterns} }}"})
    assert response.status_code == 503
    assert "1000 rows" in response.text


def test_head_sends_the_headers_of_get_alone(client: httpx.Client) -> None:
    get = client.get("/sparql", params={"query": ALL})
    head = client.head("/sparql", params={"query": ALL})
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == get.headers["content-length"]
    assert head.headers["content-type"] == get.headers["content-type"]


def test_a_browser_of_another_origin_may_ask(client: httpx.Client) -> None:
    response = client.options(
        "/sparql",
        headers={"Origin": "https://else.example", "Access-Control-Request-Method": "POST"},
    )
    assert response.status_code == 204
    assert response.headers["access-control-allow-origin"] == "*"
    assert "POST" in response.headers["access-control-allow-methods"]
    assert "Content-Type" in response.headers["access-control-allow-headers"]


def test_without_a_query_the_service_describes_itself(client: httpx.Client) -> None:
    response = client.get("/sparql", headers={"Accept": "application/ld+json"})
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/ld+json"
    text = json.dumps(response.json())
    for part in ("SPARQL11Query", "UnionDefaultGraph", str(client.base_url), "Turtle"):
        assert part in text
    turtle = client.get("/sparql")
    assert turtle.headers["content-type"] == "text/turtle; charset=utf-8"


def test_the_protocol_names_the_graphs(client: httpx.Client) -> None:
    asked = client.get("/sparql", params={"query": "SELECT ?g ?y { GRAPH ?g { ?x d:insures ?y } }"})
    spans = {row["y"]["value"]: row["g"]["value"] for row in asked.json()["results"]["bindings"]}
    for value, span in spans.items():
        assert values(client.get("/sparql", params={"query": ALL, "default-graph-uri": span})) == [
            value
        ]
        named = "SELECT ?y { GRAPH ?g { ?x d:insures ?y } }"
        assert values(client.post("/sparql", data={"query": named, "named-graph-uri": span})) == [
            value
        ]
        assert values(client.get("/sparql", params={"query": ALL, "named-graph-uri": span})) == []
    assert (
        client.get("/sparql", params={"query": ALL, "default-graph-uri": "no iri"}).status_code
        == 400
    )


def test_an_unexpected_failure_is_answered_neutrally(caplog: pytest.LogCaptureFixture) -> None:
    def broken(text: str, accept: str, **others: object) -> tuple[str, bytes]:
        raise KnowledgeError(f"secret path of {text}{accept}{others}")

    with served(broken) as client:
        response = client.get("/sparql", params={"query": "ASK {}"})
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "secret path" in caplog.text


def test_a_misspelt_dimension_is_a_warning_beside_the_answer(client: httpx.Client) -> None:
    query = "SELECT ?y { e:Nordwind d:insurs ?y OPTIONAL { GRAPH <urn:x:none> { ?a ?b ?c } } }"
    response = client.get("/sparql", params={"query": query})
    assert values(response) == []
    assert response.headers.get_list("Proofweave-Warning") == [
        "no statement has the dimension insurs, and none is defined",
        "there is no graph <urn:x:none>, so nothing is found in it",
    ]
    assert "Proofweave-Warning" not in client.get("/sparql", params={"query": ALL}).headers


def test_warnings_are_few_and_short_and_cannot_break_the_header(client: httpx.Client) -> None:
    names = " ".join(f"OPTIONAL {{ ?x d:n{n} ?y }}" for n in range(20))
    odd = "<https://example.org/dimension/%0D%0AX:%20" + "y" * 900 + ">"
    response = client.get("/sparql", params={"query": f"ASK {{ ?x {odd} ?y {names} }}"})
    warnings = response.headers.get_list("Proofweave-Warning")
    assert response.status_code == 200
    assert len(warnings) == 10
    assert all(len(warning) < 600 and warning.isprintable() for warning in warnings)
    assert "X" not in response.headers
