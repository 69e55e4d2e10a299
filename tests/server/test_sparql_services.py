"""SERVICE over HTTP and on the command line, and warnings beside answers."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from command_line import Run, runner
from endpoints import fixed, listening, oxigraph
from live_sparql import insurances, newest, served

from kb.query_budget import Services
from server.errors import SettingsRejected
from server.settings import Settings, load_settings, services_of

RISKS = """
@prefix e: <https://example.org/> .
e:Acme <http://risks.example/rating> "low" . e:Gamma <http://risks.example/rating> "high" .
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    return runner(monkeypatch, capfdbinary)


@pytest.fixture
def other() -> Iterator[str]:
    """Give the endpoint of another server of ours."""
    with insurances() as projection, served(newest(projection)) as client:
        yield f"{client.base_url}/sparql"


def test_a_server_asks_another_and_a_bare_store(other: str) -> None:
    with listening(oxigraph(RISKS)) as risks, insurances() as projection:
        query = f"""SELECT ?who ?rating {{
          SERVICE <{other}> {{ ?insurer d:insures ?company BIND(pw:name(?company) AS ?who) }}
          ?insurer d:insures ?company
          OPTIONAL {{ SERVICE <{risks.iri}> {{ ?company <http://risks.example/rating> ?rating }} }}
        }} ORDER BY ?who"""
        asked = newest(projection, Services((other, risks.iri)))
        with served(asked) as client:
            response = client.post("/sparql", data={"query": query}, headers={"Accept": "text/csv"})
    assert (response.status_code, response.text) == (
        200,
        "who,rating\r\nAcme,low\r\nMüller & Söhne,\r\n",
    )
    assert "Proofweave-Warning" not in response.headers


def test_a_failing_endpoint_is_a_bad_gateway_and_in_silence_a_warning() -> None:
    with listening(fixed("über\n".encode(), status=503)) as bad, insurances() as projection:
        query = f"SELECT ?y {{ ?x d:insures ?y SERVICE SILENT <{bad.iri}> {{ ?y ?p ?o }} }}"
        with served(newest(projection, Services((bad.iri,)))) as client:
            loud = client.get("/sparql", params={"query": query.replace("SILENT ", "")})
            silent = client.get("/sparql", params={"query": query})
            unlisted = client.get("/sparql", params={"query": query.replace("/query", "/other")})
    assert loud.status_code == 502
    assert loud.text == f"the endpoint <{bad.iri}> answered with status 503: über\n"
    assert silent.status_code == 200
    assert len(silent.json()["results"]["bindings"]) == 2
    assert silent.headers["Proofweave-Warning"] == (
        f"the endpoint <{bad.iri}> answered with status 503: %C3%BCber; "
        "SERVICE SILENT went on without it"
    )
    assert "Proofweave-Warning" in silent.headers["Access-Control-Expose-Headers"]
    assert unlisted.status_code == 400
    assert "do not list" in unlisted.text


def test_the_command_asks_whom_the_settings_list(run: Run, tmp_path: Path) -> None:
    run("init", tmp_path / "kb", "--namespace", "https://example.org/")
    with listening(oxigraph(RISKS)) as risks:
        query = f"SELECT * {{ SERVICE <{risks.iri}> {{ ?company ?p 'high' }} }}"
        arguments = ("sparql", "--kb", tmp_path / "kb", query)
        refused = run(*arguments)
        assert (refused.code, refused.out) == (1, "")
        assert "settings list no endpoint" in refused.err
        assert risks.asked == []
        settings = tmp_path / "proofweave.toml"
        settings.write_text(f"[sparql]\nservices = [{json.dumps(risks.iri)}]\n")
        found = run(*arguments, "--config", settings, "--json")
    (row,) = found.json["results"]["bindings"]
    assert row["company"]["value"] == "https://example.org/Gamma"
    failed = run(*arguments, "--config", settings)
    assert failed.code == 1
    assert f"<{risks.iri}> cannot be asked" in failed.err


def test_the_command_warns_of_a_dimension_that_nobody_has(run: Run, tmp_path: Path) -> None:
    run("init", tmp_path / "kb")
    found = run("sparql", "--kb", tmp_path / "kb", "ASK { ?s d:liability_covr ?o }", "--json")
    assert found.json["boolean"] is False
    (warning,) = found.err.splitlines()
    assert warning.startswith("warning: no statement has the dimension liability_covr")
    assert "liability_cover" in warning
    right = run("sparql", "--kb", tmp_path / "kb", "ASK { ?s d:liability_cover ?o }", "--json")
    assert (right.code, right.err) == (0, "")


@pytest.mark.parametrize(
    "iri",
    [
        "ftp://a.example/",
        "a.example/query",
        "http://",
        "http://user:word@a.example/",
        "http://user@a.example/",
        "http://a.example/#x",
        "http://a.example:99999/",
        "http://a.example/a b",
        "http://a.example/>",
        "http://ä.example/",
    ],
)
def test_what_is_no_endpoint_is_no_setting(tmp_path: Path, iri: str) -> None:
    file = tmp_path / "proofweave.toml"
    file.write_text(f"[sparql]\nservices = [{json.dumps(iri)}]\n")
    with pytest.raises(SettingsRejected, match=r"sparql\.services: ") as refused:
        load_settings(file)
    assert "word" not in str(refused.value)


def test_endpoints_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert services_of(Settings()).endpoints == ()
    monkeypatch.setenv("PROOFWEAVE_SPARQL__SERVICES", '["http://127.0.0.1:7878/query"]')
    monkeypatch.setenv("PROOFWEAVE_SPARQL__SERVICE_MS", "70")
    assert services_of(load_settings()) == Services(("http://127.0.0.1:7878/query",), 70)


def test_without_a_list_nothing_is_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with insurances() as projection, served(newest(projection)) as client:
            for silent in ("", "SILENT"):
                query = f"SELECT * {{ SERVICE {silent} <{url}> {{ ?s ?p ?o }} }}"
                response: httpx.Response = client.get("/sparql", params={"query": query})
                assert (response.status_code, "SERVICE" in response.text) == (400, True)
        with pytest.raises(BlockingIOError):
            listener.accept()
