"""What a query's tokens tell, and what never reaches the store."""

from __future__ import annotations

import json
import platform
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import FormatUnavailable, QueryRejected
from kb.federation import replace_clauses, service_clauses
from kb.query_budget import Services
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


def ask_a_worker(store: Path, query: str) -> subprocess.CompletedProcess[bytes]:
    """Give one query to a worker of its own, which nobody watches."""
    made = pyoxigraph.Store(str(store))
    made.extend(
        pyoxigraph.Quad(
            pyoxigraph.NamedNode(f"a:{i}"), pyoxigraph.NamedNode("a:p"), pyoxigraph.Literal("x")
        )
        for i in range(50)
    )
    made.flush()
    request = {
        "store": str(store),
        "namespace": "https://example.org/",
        "query": query,
        "media_type": "text/csv",
        "names_graphs": False,
        "orders": False,
        "default_graphs": None,
        "named_graphs": None,
        "milliseconds": 100,
        "rows": 10,
        "bytes": 1000,
        "memory": 0,
    }
    frame = json.dumps(request).encode()
    return subprocess.run(
        [sys.executable, "-c", "from kb.rdf_worker import main; main()"],
        input=struct.pack(">I", len(frame)) + frame,
        capture_output=True,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "aarch64"),
    reason="the kernel's wall is there on Linux alone",
)
def test_a_worker_cannot_connect_even_when_asked_to(
    tmp_path: Path, listener: socket.socket
) -> None:
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    worker = ask_a_worker(tmp_path / "store", f"SELECT * {{ SERVICE <{url}> {{ ?s ?p ?o }} }}")
    ready = struct.unpack(">I", worker.stdout[:4])[0]
    assert json.loads(worker.stdout[4 : 4 + ready]) == {"status": "ready"}
    assert json.loads(worker.stdout[4 + ready + 4 :])["status"] == "failed"
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_a_worker_that_nobody_watches_ends_by_itself(tmp_path: Path) -> None:
    patterns = " . ".join(f"?a{i} ?b{i} ?c{i}" for i in range(30))
    worker = ask_a_worker(tmp_path / "store", f"SELECT (COUNT(*) AS ?n) {{ {patterns} }}")
    assert worker.returncode == -signal.SIGALRM


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


FRAGMENTS = [
    "SERVICE <http://127.0.0.1:9/> { ?s ?p ?o }",
    "SERVICE",
    "service silent",
    "<http://127.0.0.1:9/>",
    "{",
    "}",
    "?s ?p ?o .",
    "?s ?p 'it' .",
    '?s ?p "SERVICE" .',
    "?s ?p e:a\\'b .",
    "?s ?p e:a\\#b .",
    '?s ?p "a\\\\" .',
    "?s ?p '''a'b''' .",
    "?s ?p <a:#b> .",
    "# it's a comment\n",
    '# "\r',
    "FILTER(?a<?b)",
    "FILTER(1<2&&3>2)",
    "OPTIONAL {",
    "BIND(<a:b> AS ?x)",
    "'",
    '"',
    "'''",
    "<",
    ">",
    "\\",
    "#",
    "\n",
    "_:a <a:b> 'x'@en-service .",
    "?s a e:SERVICE .",
    "e: ?p :service .",
]


def evaluate(text: str) -> None:
    result = pyoxigraph.Store().query(text, prefixes={"e": "a:", "": "a:"})
    if not isinstance(result, pyoxigraph.QueryBoolean):
        for _ in result:
            pass


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(["SELECT * {", "ASK {", "PREFIX : <a:b> SELECT * {", "CONSTRUCT WHERE {"]),
    st.lists(st.sampled_from(FRAGMENTS), max_size=8),
    st.sampled_from([(), ("http://127.0.0.1:9/",)]),
)
def test_what_passes_never_makes_the_engine_connect(
    opening: str, parts: list[str], listed: tuple[str, ...]
) -> None:
    text = " ".join([opening, *parts, "}"])
    with suppress(QueryRejected):  # what is told at a glance is what the tokens tell
        assert read_query(text) == read_query(f"#\\\n{text}")
    try:
        clauses = service_clauses(text, read_query(text), Services(listed), {})
    except QueryRejected:
        return
    text = replace_clauses(text, clauses, ["{ VALUES (?s) { (1) } }"] * len(clauses))
    # the engine refuses port 9 before it opens a socket, with an error that is no SyntaxError
    with suppress(SyntaxError):
        evaluate(text)


def test_the_engine_would_connect() -> None:
    with pytest.raises(OSError, match="port 9"):
        evaluate(f"SELECT * {{ {FRAGMENTS[0]} }}")
