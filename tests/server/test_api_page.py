"""The page about the API: methods, limits and reasons as they are, and its calls over HTTP.

Set PROOFWEAVE_REWRITE_DOCS to write the table of reasons into the page; review the diff. With
PROOFWEAVE_NODE naming a folder where the packages of the page are installed, its client runs too.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

import pytest
from live_server import Live, running, send
from proofweave.v1 import certificate_pb2, knowledge_pb2, policy_pb2, reasoning_pb2
from starlette.testclient import TestClient
from supplier_world import EXAMPLE, original_world

from kb.query_budget import DEFAULT_BUDGET
from server.http import HTTP_STATUS, web_application
from server.knowledge import create_knowledge, open_knowledge
from server.paging import LARGEST
from server.settings import LimitsSection, ServerSection, Settings
from server.status import CODES, leaves

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "api.md"
HEADER = "| reason | gRPC | HTTP | meaning |\n| --- | --- | --- | --- |\n"
_REASONS = re.compile(re.escape(HEADER) + r"(?P<rows>(?:\|[^\n]*\n)*)")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)


def reasons() -> str:
    """The table from errors to statuses, as the page shows it."""
    lines = []
    for leaf in leaves():
        sentence = " ".join((leaf.__doc__ or "").split("\n\n")[0].split())
        status = HTTP_STATUS.get(CODES[leaf], HTTPStatus.INTERNAL_SERVER_ERROR)
        lines.append(f"| `{leaf.code}` | `{CODES[leaf].name}` | {status.value} | {sentence} |\n")
    return "".join(lines)


def test_the_reasons_are_those_of_the_table_of_statuses() -> None:
    text = PAGE.read_text("utf-8")
    found = _REASONS.search(text)
    assert found is not None
    if "PROOFWEAVE_REWRITE_DOCS" in os.environ:
        PAGE.write_text(
            text[: found.start("rows")] + reasons() + text[found.end("rows") :], "utf-8"
        )
    else:
        assert found["rows"] == reasons()


def test_every_method_stands_under_its_service() -> None:
    table = PAGE.read_text("utf-8").partition("## Methods")[2].partition("\n## ")[0]
    listed: dict[str, list[str]] = {}
    service = ""
    for line in table.splitlines():
        cell = line.split("|")[1] if line.startswith("|") else ""
        service = "".join(re.findall(r"\*\*(\w+)\*\*", cell)) or service
        listed.setdefault(service, []).extend(re.findall(r"`(\w+)`", cell))
    del listed[""]
    assert {name: sorted(methods) for name, methods in listed.items()} == {
        name: sorted(method.name for method in descriptor.methods)
        for file in (knowledge_pb2, reasoning_pb2, policy_pb2, certificate_pb2)
        for name, descriptor in file.DESCRIPTOR.services_by_name.items()
    }


def test_the_limits_are_those_of_the_settings() -> None:
    table = PAGE.read_text("utf-8").partition("## Limits")[2].partition("\n## ")[0]
    limits = LimitsSection()
    for name in LimitsSection.model_fields:
        (row,) = (line for line in table.splitlines() if f"`limits.{name}`" in line)
        assert str(getattr(limits, name)) in row.split("|")[2].replace("`", "").split(), row
    assert f"{ServerSection().max_receive_bytes // 1024**2} MiB" in table
    assert f"{LARGEST} at most" in table
    assert (
        f"{DEFAULT_BUDGET.milliseconds // 1000} s, {DEFAULT_BUDGET.rows} rows, "
        f"{DEFAULT_BUDGET.bytes // 1024**2} MiB of result, "
        f"{DEFAULT_BUDGET.memory // 1024**3} GiB of memory"
    ) in table


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The supplier example with its policy."""
    directory = tmp_path_factory.mktemp("api") / "kb"
    create_knowledge(directory, namespace="https://example.org/kb/", packs=("supplier",))
    with running(directory, Settings()) as live:
        send(live.services, dict(original_world().documents))
        policy = (EXAMPLE / "supplier_onboarding.lp").read_text("utf-8")
        request = policy_pb2.CreatePolicyVersionRequest(text=policy, file_name="policy.lp")
        live.services.policy.CreatePolicyVersion(request)
        yield live


@pytest.fixture
def web(example: Live) -> Iterator[TestClient]:
    bases = open_knowledge({"kb": example.directory})
    with TestClient(web_application(bases, Settings(), example.address)) as client:
        yield client
    bases.close()


def calls() -> list[list[str]]:
    """The words of each curl command on the page."""
    commands = "\n".join(blocks("sh")).split("curl ")[1:]
    return [shlex.split(command.replace("\\\n", " ")) for command in commands]


def test_the_calls_of_the_page_are_answered(web: TestClient) -> None:
    answered = []
    for words in calls():
        url = next(word for word in words if word.startswith("localhost:7480/"))
        path = url.removeprefix("localhost:7480")
        if "-d" in words:
            response = web.post(path, content=words[words.index("-d") + 1])
        else:
            name, _, value = words[words.index("--data-urlencode") + 1].partition("=")
            accept = words[words.index("-H") + 1].partition(": ")[2]
            query = f"{'&' if '?' in path else '?'}{urlencode({name: value})}"
            response = web.get(path + query, headers={"Accept": accept})
        assert response.status_code == 200, response.text
        answered.append(response.text)
    proved, asked, batch, contrast, listed, rows, earlier = answered
    assert len(rows.splitlines()) > len(earlier.splitlines()) == 1
    assert json.loads(proved)["decision"]["verdict"] == "VERDICT_CERTIFIED"
    assert "Germany" in asked
    assert [json.loads(line)["decision"]["verdict"] for line in batch.splitlines()] == [
        "VERDICT_REFUTED",
        "VERDICT_CERTIFIED",
    ]
    assert json.loads(contrast)["kind"] == "CONTRAST_KIND_DIFFERS"
    assert "account_verified_on" in contrast
    assert json.loads(listed)["statements"][0]["polarity"] == "POLARITY_DENIED"
    assert rows.splitlines()[0] == "who"
    assert "Nordhafen Logistik GmbH" in rows


@pytest.mark.skipif(
    "PROOFWEAVE_NODE" not in os.environ or shutil.which("node") is None,
    reason="needs node, and PROOFWEAVE_NODE",
)
def test_the_client_in_node_runs(example: Live) -> None:
    (client,) = blocks("js")
    file = Path(os.environ["PROOFWEAVE_NODE"]) / "page-client.mjs"

    def node(text: str) -> subprocess.CompletedProcess[str]:
        file.write_text(text, "utf-8")
        document = EXAMPLE / "documents" / "bank-details.csv"
        command = ["node", str(file), example.address, str(ROOT / "protos"), str(document)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    done = node(client)
    assert done.returncode == 0, done.stderr
    assert "bank-details.csv 0" in done.stdout
    assert "VERDICT_ABSTAINED" in done.stdout
    assert "ABSTENTION_CODE_GAP_IN_EXTRACTION account_verified_on(" in done.stdout
    failed = node(client.replace("supplier_onboarding", "suplier_onboarding"))
    assert (failed.returncode, failed.stderr.split()[0]) == (1, "NOT_FOUND")
