"""SERVICE: only listed endpoints are asked, and whatever they do, the query ends in its budget."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from endpoints import (
    JSON,
    Behaviour,
    endless,
    fixed,
    free_port,
    listening,
    oxigraph,
    rows,
    slow_headers,
)

from kb.errors import QueryOverBudget, QueryRejected, ServiceFailed
from kb.query_budget import QueryBudget, QueryOptions, Services
from kb.rdf import RdfProjection
from kb.statement import Entity, Evidence, Statement

NAMESPACE = "https://example.org/kb/"
BANKS = """
@prefix e: <https://example.org/kb/> . @prefix : <http://banks.example/> .
e:Mainbank :country "Germany"@de ; :founded 1869 ; :seat [ :city "Frankfurt" ] .
e:Liffey_Bank :country "Ireland" .
e:Other :country "a \\"quote\\" and \\\\ and\\nline" .
"""


@pytest.fixture(scope="module")
def projection() -> Iterator[RdfProjection]:
    budget = QueryBudget(milliseconds=20_000, rows=1000, bytes=1_000_000)
    with RdfProjection(None, NAMESPACE, budget=budget, workers=1) as made:
        for place, (company, bank) in enumerate(
            [("Acme", "Mainbank"), ("Beta", "Liffey Bank"), ("Gamma", "Nobank")]
        ):
            statement = Statement(company, "bank", Entity(bank))
            start = 100 * place
            evidence = Evidence(
                statement.id, "ab" * 32, "cd" * 32, start, start + 2, "it", "test/1"
            )
            made.add_statement(statement.id, statement, [evidence])
        yield made


@pytest.fixture
def over() -> Iterator[threading.Event]:
    """Set when the test is over, so that endless behaviours end."""
    event = threading.Event()
    yield event
    event.set()


def ask(
    projection: RdfProjection,
    query: str,
    *endpoints: str,
    warnings: list[str] | None = None,
    milliseconds: int = 10_000,
    budget: QueryBudget | None = None,
) -> list[dict[str, str]]:
    """Give the rows of a query that may ask some endpoints."""
    told = [] if warnings is None else warnings
    options = QueryOptions(services=Services(endpoints, milliseconds), warn=told.append)
    _, content = projection.query(query, "text/csv", options=options, budget=budget)
    return list(csv.DictReader(io.StringIO(content.decode())))


COUNTRIES = """PREFIX b: <http://banks.example/>
SELECT (pw:name(?c) AS ?company) ?country {{
  ?c d:bank ?bank {optional} {{ SERVICE {silent} <{iri}> {{ ?bank b:country ?country }} }}
}}"""


def countries(iri: str, *, optional: str = "", silent: str = "") -> str:
    return COUNTRIES.format(iri=iri, optional=optional, silent=silent)


def test_what_an_endpoint_knows_joins_what_is_known_here(projection: RdfProjection) -> None:
    with listening(oxigraph(BANKS)) as bank:
        assert ask(projection, countries(bank.iri), bank.iri) == [
            {"company": "Acme", "country": "Germany"},
            {"company": "Beta", "country": "Ireland"},
        ]
        found = ask(projection, countries(bank.iri, optional="OPTIONAL"), bank.iri)
        assert found[-1] == {"company": "Gamma", "country": ""}
        assert len(found) == 3


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT ?x { SERVICE <URL> { ?x b:founded 1869 } }", 1),
        ("SELECT * { SERVICE <URL> { SELECT ?x { ?x b:country ?y } LIMIT 2 } }", 2),
        ("SELECT * { { SERVICE <URL> { ?x b:country ?y } } UNION { ?x d:bank ?y } }", 6),
        ("SELECT ?x { ?x d:bank ?b MINUS { SERVICE <URL> { ?b b:country ?y } } }", 1),
        ("SELECT ?x { ?x d:bank ?b FILTER EXISTS { SERVICE <URL> { ?b b:country ?y } } }", 2),
        ("SELECT ?x { ?x d:bank e:Mainbank SERVICE <URL> { e:Mainbank b:founded 1869 } }", 1),
        ("SELECT ?x { ?x d:bank e:Mainbank SERVICE <URL> { e:Mainbank b:founded 1870 } }", 0),
        ("SELECT * { SERVICE <URL> { ?x b:country ?y # }\n } # }\n}", 3),
        ("SELECT * { SERVICE <URL> { ?x b:country '}' } }", 0),
        ("SELECT * { SERVICE <URL> {} SERVICE <URL> { $x b:country ?y } }", 3),
        ("SELECT * { service Silent<URL>{ ?x b:country ?y } }", 3),
        ("BASE <http://banks.example/> SELECT * { SERVICE <URL> { ?x <country> ?y } }", 3),
        ("SELECT * { SERVICE <URL> { ?x b:country ?y OPTIONAL { ?x b:founded ?z } } }", 3),
        ("SELECT * { SERVICE <URL> { ?x b:seat/b:city ?y } FILTER(?y = 'Frankfurt') }", 1),
    ],
)
def test_a_clause_may_stand_wherever_a_group_may(
    projection: RdfProjection, query: str, expected: int
) -> None:
    with listening(oxigraph(BANKS)) as bank:
        text = f"PREFIX b: <http://banks.example/> {query.replace('URL', bank.iri)}"
        assert len(ask(projection, text, bank.iri)) == expected


def test_values_come_over_exactly(projection: RdfProjection) -> None:
    query = "SELECT ?s ?o { SERVICE <URL> { ?s <http://banks.example/country> ?o } }"
    with listening(oxigraph(BANKS)) as bank:
        options = QueryOptions(services=Services((bank.iri,)))
        text = query.replace("URL", bank.iri)
        _, content = projection.query(text, "text/tab-separated-values", options=options)
    assert content.decode().splitlines()[1:] == [
        f'<{NAMESPACE}Liffey_Bank>\t"Ireland"',
        f'<{NAMESPACE}Mainbank>\t"Germany"@de',
        f'<{NAMESPACE}Other>\t"a \\"quote\\" and \\\\ and\\nline"',
    ]


def test_a_blank_node_keeps_its_identity_within_an_answer_and_meets_no_other(
    projection: RdfProjection,
) -> None:
    query = """PREFIX b: <http://banks.example/> SELECT ?one ?two {
      SERVICE <URL> { ?bank b:seat ?one . ?one b:city ?city }
      SERVICE <URL> { e:Mainbank b:seat ?two } }"""
    with listening(oxigraph(BANKS)) as bank:
        text = query.replace("URL", bank.iri)
        (row,) = ask(projection, text, bank.iri)
        assert row["one"] != row["two"]
        assert row["one"].startswith(f"{NAMESPACE}genid/")
        assert len(bank.asked) == 2


def test_the_same_clause_is_asked_once(projection: RdfProjection) -> None:
    clause = "SERVICE <URL> { ?x <http://banks.example/country> ?y }"
    with listening(oxigraph(BANKS)) as bank:
        text = f"SELECT * {{ {clause} {clause} }}".replace("URL", bank.iri)
        assert len(ask(projection, text, bank.iri)) == 3
        assert len(bank.asked) == 1


def test_nothing_else_of_the_query_leaves(projection: RdfProjection) -> None:
    query = """# confidential
    PREFIX secret: <http://secret.example/> # very
    SELECT * { ?s secret:p 'hidden' SERVICE <URL> { ?x ?y ?z } }"""
    with listening(oxigraph(BANKS)) as bank:
        ask(projection, query.replace("URL", bank.iri), bank.iri)
        (asked,) = bank.asked
    assert "hidden" not in asked
    assert "confidential" not in asked
    assert "very" not in asked


UNLISTED = [
    "http://127.0.0.1:PORT/query/",
    "http://127.0.0.1:PORT/query?",
    "http://127.0.0.1:PORT/query#x",
    "HTTP://127.0.0.1:PORT/query",
    "http://127.0.0.1:PORT/Query",
    "http://127.0.0.1:PORT/%71uery",
    "http://user@127.0.0.1:PORT/query",
    "http://127.0.0.1:PORT/a/../query",
    "http://127.0.0.1:PORT//query",
    "http://localhost:PORT/query",
    "http://127.1:PORT/query",
    "http\\u003A//127.0.0.1:PORT/query",
    "//127.0.0.1:PORT/query",
    "query",
]


@pytest.mark.parametrize("silent", ["", "SILENT"])
@pytest.mark.parametrize("iri", UNLISTED)
def test_an_iri_that_is_not_listed_letter_by_letter_is_refused_before_any_socket(
    projection: RdfProjection, iri: str, silent: str
) -> None:
    with listening(oxigraph(BANKS)) as bank:
        other = iri.replace("PORT", bank.iri.split(":")[2].split("/")[0])
        clause = f"SERVICE {silent} <{other}> {{ ?x ?y ?z }}"
        base = f"BASE <{bank.iri}> "
        for query in (
            f"{base} SELECT * {{ {clause} }}",
            f"{base} SELECT * {{ SERVICE <{bank.iri}> {{ ?a ?b ?c }} {clause} }}",
        ):
            with pytest.raises(QueryRejected, match=r"do not list|settings list, in full"):
                ask(projection, query, bank.iri)
        assert bank.asked == []


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT * { BIND(<URL> AS ?x) SERVICE ?x { ?s ?p ?o } }", r"variable \?x"),
        ("SELECT * { VALUES ?x { <URL> } SERVICE SILENT ?x { ?s ?p ?o } }", r"variable \?x"),
        ("PREFIX x: <URL> SELECT * { SERVICE x: { ?s ?p ?o } }", "prefixed name x:"),
        ("SELECT * { SERVICE <URL> { SERVICE <URL> { ?s ?p ?o } } }", "within another"),
        ("SELECT * { SERVICE <URL> { SERVICE SILENT <http://evil/> {} } }", "within another"),
        ("SELECT * { SERVICE <URL> { ?s ?p ?o ", "no group"),
        ("SELECT * { SERVICE <URL> ?s ?p ?o }", "no group"),
        ("SELECT * { SERVICE", "nothing"),
        ("SELECT * { \\u0053ERVICE <URL> { ?s ?p ?o } }", "escape"),
        ("SELECT * { " + "SERVICE <URL> { ?s ?p ?o } " * 11 + "}", "at most 10"),
    ],
)
def test_a_clause_that_names_no_listed_endpoint_is_refused_before_any_socket(
    projection: RdfProjection, query: str, why: str
) -> None:
    with listening(oxigraph(BANKS)) as bank:
        with pytest.raises(QueryRejected, match=why):
            ask(projection, query.replace("URL", bank.iri), bank.iri)
        assert bank.asked == []


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("SELECT * {\n SERVICE <URL> {\n ?x ?y ?z }\n ?a ?b }", "4:"),
        ("SELECT * {\n SERVICE <URL>\n {\n ?x ?y }\n ?a ?b ?c }", "[45]:"),
        ("SELECT * {\n SERVICE <URL> { ?x x:y ?z } }", "2:"),
        ("SELECT * { SERVICE <URL> { ?x ?y ?z } } LIMT 2", "1:"),
    ],
)
def test_a_query_that_cannot_be_read_asks_nobody_and_is_told_where(
    projection: RdfProjection, query: str, place: str
) -> None:
    with listening(oxigraph(BANKS)) as bank:
        with pytest.raises(QueryRejected, match=f"cannot be read: error at {place}"):
            ask(projection, query.replace("URL", bank.iri), bank.iri)
        assert bank.asked == []


def value(kind: str, text: str) -> bytes:
    return rows({"x": {"type": kind, "value": text}})


TRIPLE = b"""{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"triple","value":{
  "subject":{"type":"uri","value":"a:a"},"predicate":{"type":"uri","value":"a:b"},
  "object":{"type":"uri","value":"a:c"}}}}]}}"""

FAILURES = {
    "wrong type": (fixed(b"<html>", "text/html"), "the type 'text/html'"),
    "no type": (fixed(value("literal", "a"), ""), "the type ''"),
    "broken": (fixed(b'{"head":'), "what is no application/sparql"),
    "an array": (fixed(b"[1, 2]"), "what is no application/sparql"),
    "an answer of ASK": (fixed(b'{"head":{},"boolean":true}'), "a Boolean"),
    "an error": (fixed(b"oh\x00no\n", "text/plain", 500), "status 500: oh no$"),
    "no content": (fixed(b"", JSON, 204), "status 204"),
    "compressed": (fixed(value("literal", "a"), Content_Encoding="gzip"), "encoding"),
    "another variable": (fixed(rows(names=("x", "?evil"))), "no application|not asked for"),
    "a variable besides": (fixed(rows(names=("x", "evil"))), "evil, which it was not asked for"),
    "an IRI that breaks out": (fixed(value("uri", "a:b> } } #")), "no application/sparql"),
    "a label that breaks out": (fixed(value("bnode", "a> } #")), "no application/sparql"),
    "a triple": (fixed(TRIPLE), "a triple about a triple"),
    "entities": (
        fixed(
            b'<!DOCTYPE s [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><sparql '
            b'xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="x"/></head>'
            b"<results><result><binding name='x'><literal>&c;</literal></binding></result>"
            b"</results></sparql>",
            "application/sparql-results+xml",
        ),
        "no application/sparql-results.xml",
    ),
}


@pytest.mark.parametrize(("behaviour", "why"), FAILURES.values(), ids=FAILURES)
def test_a_bad_answer_is_told_and_silence_goes_on_without_it(
    projection: RdfProjection, behaviour: Behaviour, why: str
) -> None:
    with listening(behaviour) as bad:
        query = "SELECT * {{ ?c d:bank e:Mainbank SERVICE {} <{}> {{ ?c ?y ?x }} }}"
        with pytest.raises(ServiceFailed, match=why):
            ask(projection, query.format("", bad.iri), bad.iri)
        warnings: list[str] = []
        found = ask(projection, query.format("SILENT", bad.iri), bad.iri, warnings=warnings)
        assert found == [{"c": f"{NAMESPACE}Acme", "y": "", "x": ""}]
        (warning,) = warnings
        assert bad.iri in warning


def test_a_text_of_an_answer_stays_a_text(projection: RdfProjection) -> None:
    evil = '"""\' ) } } UNION { ?s ?p ?o } # \\ \\u0022 \n\r\t\x07\u2028 ?x <a:b>'
    with listening(fixed(value("literal", evil))) as bad:
        query = f"SELECT ?x {{ SERVICE <{bad.iri}> {{ ?x ?y ?z }} }}"
        options = QueryOptions(services=Services((bad.iri,)))
        _, content = projection.query(query, "application/sparql-results+json", options=options)
    (binding,) = json.loads(content)["results"]["bindings"]
    assert binding["x"]["value"] == evil


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_not_even_to_a_listed_endpoint(
    projection: RdfProjection, status: int
) -> None:
    with listening(oxigraph(BANKS)) as bank:
        moved = fixed(b"", status=status, Location=bank.iri)
        with listening(moved) as old:
            query = f"SELECT * {{ SERVICE <{old.iri}> {{ ?x ?y ?z }} }}"
            with pytest.raises(ServiceFailed, match=f"{status}, a redirect to {bank.iri}"):
                ask(projection, query, old.iri, bank.iri)
            assert bank.asked == []


def test_an_endpoint_that_is_not_there_is_told(projection: RdfProjection) -> None:
    iri = f"http://127.0.0.1:{free_port()}/query"
    with pytest.raises(ServiceFailed, match="cannot be asked"):
        ask(projection, countries(iri), iri)
    assert len(ask(projection, countries(iri, silent="SILENT"), iri)) == 3


@pytest.mark.parametrize("silent", ["", "SILENT"])
def test_an_endless_body_ends_at_the_budget_of_bytes(
    projection: RdfProjection, over: threading.Event, silent: str
) -> None:
    with (
        listening(endless(b" " * 50_000, over, 0)) as bad,
        pytest.raises(QueryOverBudget, match="more bytes"),
    ):
        ask(projection, countries(bad.iri, silent=silent), bad.iri)


def test_rows_of_endpoints_are_counted_over_all_clauses(projection: RdfProjection) -> None:
    many = fixed(rows(*[{"x": {"type": "literal", "value": str(n)}} for n in range(600)]))
    clause = "SERVICE <URL> {{ ?x <a:{}> ?y }}"
    with listening(many) as bank:
        one = f"SELECT * {{ {clause.format(1)} }}".replace("URL", bank.iri)
        assert len(ask(projection, one, bank.iri)) == 600
        two = f"SELECT * {{ {clause.format(1)} {clause.format(2)} }}".replace("URL", bank.iri)
        with pytest.raises(QueryOverBudget, match="more rows"):
            ask(projection, two, bank.iri)


def test_an_answer_that_grows_when_it_is_written_ends_at_the_budget_of_bytes(
    projection: RdfProjection,
) -> None:
    nodes = rows(*[{"x": {"type": "bnode", "value": f"b{n}"}} for n in range(900)])
    with listening(fixed(nodes)) as bad:
        query = f"SELECT ?x {{ SERVICE <{bad.iri}> {{ ?x ?y ?z }} }}"
        assert len(ask(projection, query, bad.iri)) == 900
        budget = replace(projection.budget, bytes=len(nodes) + 1000)
        with pytest.raises(QueryOverBudget, match="more bytes"):
            ask(projection, query, bad.iri, budget=budget)


@pytest.mark.parametrize("drip", ["body", "headers"])
def test_a_slow_drip_ends_at_the_time_of_an_endpoint_and_silence_goes_on(
    projection: RdfProjection, over: threading.Event, drip: str
) -> None:
    behaviour = endless(b" ", over, 0.02) if drip == "body" else slow_headers(over)
    with listening(behaviour) as bad:
        with pytest.raises(ServiceFailed, match="did not answer in 1500 ms"):
            ask(projection, countries(bad.iri), bad.iri, milliseconds=1500)
        warnings: list[str] = []
        query = countries(bad.iri, silent="SILENT")
        found = ask(projection, query, bad.iri, milliseconds=1500, warnings=warnings)
        assert len(found) == 3
        assert "did not answer" in warnings[0]


def test_the_time_of_the_query_holds_over_its_endpoints_also_in_silence(
    projection: RdfProjection, over: threading.Event
) -> None:
    with listening(endless(b" ", over, 0.02)) as bad:
        budget = replace(projection.budget, milliseconds=1000)
        with pytest.raises(QueryOverBudget, match="ran longer than 1000 ms"):
            ask(projection, countries(bad.iri, silent="SILENT"), bad.iri, budget=budget)
