"""What a query's tokens tell, and what never reaches the store."""

from __future__ import annotations

import json
import platform
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest

from kb.errors import FormatUnavailable, QueryRejected
from kb.rdf import RdfProjection
from kb.sparql import QueryForm, negotiate, read_query


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.setblocking(False)
        yield made


SERVICES = [
    "SELECT * { SERVICE <URL> { ?s ?p ?o } }",
    "select * { service silent <URL> { ?s ?p ?o } }",
    "SELECT * {{} SeRvIcE<URL>{ ?s ?p ?o }}",
    "SELECT * { BIND(<URL> AS ?x) SERVICE ?x { ?s ?p ?o } }",
    "PREFIX x: <URL> SELECT * { SERVICE x: { ?s ?p ?o } }",
    "SELECT * { \\u0053ERVICE <URL> { ?s ?p ?o } }",
    "SELECT * { ?s ?p 'a' . # it's\n SERVICE <URL> { ?s ?p ?o } }",
    "SELECT * { ?s ?p e:a\\#b . SERVICE <URL> { ?s ?p ?o } }",
    "SELECT * { ?s ?p e:it\\'s . SERVICE <URL> { ?s ?p 'x' } }",
    'SELECT * { ?s ?p """a"b\\""" """ . SERVICE <URL> { ?s ?p ?o } }',
    "SELECT * { FILTER(1<2) . SERVICE <URL> { ?s ?p ?o } FILTER(2>1) }",
    "SELECT * { { SELECT * { SERVICE <URL> { ?s ?p ?o } } } }",
    "SELECT * { OPTIONAL { GRAPH ?g { SERVICE <URL> { ?s ?p ?o } } } }",
    "ASK { FILTER EXISTS { SERVICE <URL> { ?s ?p ?o } } }",
]


@pytest.mark.parametrize("query", SERVICES)
def test_service_is_refused_before_any_socket(query: str, listener: socket.socket) -> None:
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with (
        RdfProjection(None, "https://example.org/", workers=1) as projection,
        pytest.raises(QueryRejected, match="SERVICE"),
    ):
        projection.query(query.replace("URL", url))
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "aarch64"),
    reason="the kernel's wall is there on Linux alone",
)
def test_a_worker_cannot_connect_even_when_asked_to(
    tmp_path: Path, listener: socket.socket
) -> None:
    pyoxigraph.Store(str(tmp_path / "store")).flush()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    request = {
        "store": str(tmp_path / "store"),
        "namespace": "https://example.org/",
        "query": f"SELECT * {{ SERVICE <{url}> {{ ?s ?p ?o }} }}",
        "media_type": "text/csv",
        "names_graphs": False,
        "orders": False,
        "default_graphs": None,
        "named_graphs": None,
        "rows": 10,
        "bytes": 1000,
        "memory": 0,
    }
    frame = json.dumps(request).encode()
    worker = subprocess.run(
        [sys.executable, "-c", "from kb.rdf_worker import main; main()"],
        input=struct.pack(">I", len(frame)) + frame,
        capture_output=True,
        cwd=Path(__file__).parents[2],
        timeout=30,
        check=True,
    )
    assert json.loads(worker.stdout[4:])["status"] == "failed"
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?s ?p 'customer SERVICE' }",
        "SELECT * { ?s ?p '''it's SERVICE <x> {''' } # SERVICE",
        "SELECT * { ?service d:service e:service }",
        "PREFIX service: <http://x/SERVICE> SELECT * { ?s service:SERVICE <SERVICE> }",
        'SELECT ($SERVICE AS ?x) { ?s ?p "a\\" SERVICE"@en-SERVICE }',
        "ASK { ?s ?p _:SERVICE }",
    ],
)
def test_the_word_elsewhere_is_harmless(query: str) -> None:
    assert read_query(query).form in (QueryForm.SELECT, QueryForm.ASK)


@pytest.mark.parametrize(
    "update",
    [
        "INSERT DATA { <a:a> <a:b> <a:c> }",
        "PREFIX select: <a:> DELETE WHERE { ?s ?p ?o }",
        "# SELECT\nLOAD <http://127.0.0.1/>",
        "clear all",
        "WITH <a:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
    ],
)
def test_updates_are_refused(update: str) -> None:
    with pytest.raises(QueryRejected, match="update"):
        read_query(update)


@pytest.mark.parametrize("text", ["", "PREFIX a: <a:>", "hello", "{", '"SELECT"'])
def test_a_text_without_a_form_is_refused(text: str) -> None:
    with pytest.raises(QueryRejected, match="expected SELECT"):
        read_query(text)


def test_traits_are_told_from_bare_words() -> None:
    traits = read_query("SELECT ?order FROM <a:from> { ?s ?p ?order } ORDER BY ?s")
    assert (traits.form, traits.names_graphs, traits.orders) == (QueryForm.SELECT, True, True)
    traits = read_query("DESCRIBE <a:from> # ORDER BY FROM")
    assert (traits.form, traits.names_graphs, traits.orders) == (QueryForm.DESCRIBE, False, False)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", "application/sparql-results+json"),
        ("text/csv", "text/csv"),
        ("TEXT/CSV ; charset=utf-8", "text/csv"),
        ("text/*", "text/csv"),
        ("text/*;q=0.9, text/csv;q=0.1", "text/tab-separated-values"),
        ("application/json;q=0, */*", "application/sparql-results+json"),
        (
            "application/sparql-results+json;q=0.3, application/xml;q=0.4",
            "application/sparql-results+xml",
        ),
        (
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "application/sparql-results+xml",
        ),
        ("text/csv;q=nonsense, text/tab-separated-values;q=0.001", "text/tab-separated-values"),
    ],
)
def test_the_most_wanted_format_is_chosen(accept: str, expected: str) -> None:
    assert negotiate(accept, QueryForm.SELECT) == expected


@pytest.mark.parametrize("accept", ["image/png", "*/*;q=0", "text/turtle"])
def test_an_impossible_format_is_refused_with_the_possible_ones(accept: str) -> None:
    with pytest.raises(FormatUnavailable, match=r"text/csv"):
        negotiate(accept, QueryForm.ASK)
