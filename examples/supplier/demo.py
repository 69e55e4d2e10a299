"""The main job on the supplier example, against a live server through the generated stubs.

Run from the root of a checkout as `python -m examples.supplier.demo [--keep]`; `make demo` does.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
from proofweave.v1 import (
    certificate_pb2,
    certificate_pb2_grpc,
    common_pb2,
    knowledge_pb2,
    knowledge_pb2_grpc,
    policy_pb2,
    policy_pb2_grpc,
    reasoning_pb2,
    reasoning_pb2_grpc,
)
from rich.console import Console

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCUMENTS = HERE / "documents"
POLICY = HERE / "supplier_onboarding.lp"
VALID_ON = "2026-03-01"
CHUNK = 256 * 1024

GOALS = (
    ("Nordhafen Logistik GmbH", VALID_ON, "everything is documented"),
    ("Ostwind Spedition GmbH", VALID_ON, "its twin: one fact is missing"),
    ("Kestrel Freight Ltd", VALID_ON, "a stated denial"),
    ("Meridian Metals GmbH", VALID_ON, "only a namesake is certified"),
    ("Alpenglas Handels AG", VALID_ON, "the insurance has expired"),
    ("Alpenglas Handels AG", "2025-11-03", "the same goal, four months earlier"),
    ("Baltimar Shipping OÜ", VALID_ON, "two sources disagree"),
    ("Tagus Carriers Lda", VALID_ON, "insured in another currency"),
    ("Sierra Polymers S.A.", VALID_ON, "stated by the wrong issuer"),
)
SHOWN_IN_FULL = 3

QUESTIONS = (
    "In which country is the insurer of Nordhafen Logistik GmbH registered?",
    "Which of Nordhafen Logistik GmbH and Ostwind Spedition GmbH has the higher liability cover?",
)

SPARQL = """\
PREFIX dimension: <https://example.org/kb/dimension/>
PREFIX pw: <https://w3id.org/proofweave/ns#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX dcterms: <http://purl.org/dc/terms/>
SELECT ?company ?activity ?quote ?document WHERE {
  GRAPH ?place { ?company dimension:activity ?value }
  ?value skos:broader* ?class ; skos:prefLabel ?activity .
  ?class skos:prefLabel "Ordinary activity" .
  ?place pw:quote ?quote .
  BIND(IRI(STRBEFORE(STR(?place), "#")) AS ?source)
  ?source dcterms:title ?document .
} ORDER BY ?company"""

console = Console(highlight=False, soft_wrap=True, markup=False)


def heading(number: int, text: str) -> None:
    """Announce a step."""
    console.print(f"\n{number}. {text}", style="bold")


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own; its words are shown, its failure ends this."""
    console.print(f"$ proofweave {' '.join(arguments)}", style="dim")
    return subprocess.run(
        [sys.executable, "-m", "server", *arguments], cwd=ROOT, check=True, text=True
    )


@contextmanager
def server(directory: Path, log_file: Path, *, keep: bool) -> Iterator[tuple[str, str]]:
    """Serve the knowledge base on free loopback ports; gives the addresses of gRPC and HTTP."""
    serve = ("serve", "--kb", str(directory), "--port", "0", "--http-port", "0")
    with log_file.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "server", *serve],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"gRPC (\S+), HTTP (\S+)", line)
    try:
        if found is None:
            raise SystemExit(f"the server did not start; see {log_file}")
        console.print(line.strip(), style="dim")
        yield found[1], found[2]
    except BaseException:
        keep = False
        raise
    finally:
        if not keep:
            process.terminate()
            process.wait()
        else:
            console.print(f"\nThe server goes on as process {process.pid}; stop it with kill.")


def uploads() -> Iterator[knowledge_pb2.IngestDocumentsRequest]:
    """Give the example's documents in pieces, as any client would send files."""
    yield knowledge_pb2.IngestDocumentsRequest(start=knowledge_pb2.IngestStart())
    for path in sorted(DOCUMENTS.iterdir()):
        data = path.read_bytes()
        header = common_pb2.FileHeader(file_name=path.name, size=len(data))
        yield knowledge_pb2.IngestDocumentsRequest(document=header)
        for start in range(0, len(data), CHUNK):
            yield knowledge_pb2.IngestDocumentsRequest(chunk=data[start : start + CHUNK])


def ingest(channel: grpc.Channel) -> None:
    """Send the documents and say what was read from each."""
    knowledge = knowledge_pb2_grpc.KnowledgeServiceStub(channel)
    for response in knowledge.IngestDocuments(uploads()):
        if response.WhichOneof("content") == "outcome":
            outcome = response.outcome
            if outcome.WhichOneof("result") == "rejected":
                raise SystemExit(f"{outcome.file_name}: {outcome.rejected.message}")
            count = outcome.admitted.statements_inserted
            console.print(f"  {outcome.file_name:36} {count:3} statements")
        else:
            summary = response.summary
            console.print(
                f"  {summary.documents_admitted} documents, {summary.statements_inserted} "
                f"statements, {sum(summary.rejected_by_reason.values())} candidates refused"
            )


def publish(channel: grpc.Channel) -> str:
    """Publish the policy; gives its name with version."""
    policies = policy_pb2_grpc.PolicyServiceStub(channel)
    response = policies.CreatePolicyVersion(
        policy_pb2.CreatePolicyVersionRequest(text=POLICY.read_text("utf-8"), file_name=POLICY.name)
    )
    for warning in response.warnings:
        console.print(f"  warning, line {warning.line}: {warning.message}")
    console.print(f"  {response.policy.name}, {len(response.policy.rules)} rules")
    return response.policy.name


def export(channel: grpc.Channel, name: str, form: int) -> bytes:
    """Fetch a certificate in one of the export formats."""
    certificates = certificate_pb2_grpc.CertificateServiceStub(channel)
    request = certificate_pb2.ExportCertificateRequest(name=name)
    request.format = certificate_pb2.ExportFormat.ValueType(form)
    return b"".join(part.chunk for part in certificates.ExportCertificate(request))


def prove(channel: grpc.Channel, policy: str) -> dict[str, common_pb2.Decision]:
    """Prove the goals; the first three are shown in full. Gives the decisions by company."""
    reasoning = reasoning_pb2_grpc.ReasoningServiceStub(channel)
    decisions: dict[str, common_pb2.Decision] = {}
    for position, (company, day, why) in enumerate(GOALS):
        goal = f'may_onboard("{company}")'
        decision = reasoning.ProveGoal(
            reasoning_pb2.ProveGoalRequest(
                goal=reasoning_pb2.Goal(goal=goal, policy=policy, valid_on=day)
            )
        ).decision
        decisions.setdefault(company, decision)
        verdict = common_pb2.Verdict.Name(decision.verdict).removeprefix("VERDICT_")
        console.print(f"\n  {verdict}  {goal} on {day}: {why}", style="bold")
        if position < SHOWN_IN_FULL:
            text = export(channel, decision.certificate, certificate_pb2.EXPORT_FORMAT_TEXT)
            console.print("\n".join(f"    {line}" for line in text.decode().splitlines()))
            continue
        for requirement in decision.open:
            code = common_pb2.AbstentionCode.Name(requirement.code)
            console.print(f"    {code.removeprefix('ABSTENTION_CODE_')}: {requirement.atom}")
            if requirement.detail:
                console.print(f"      {requirement.detail}")
            for candidate in requirement.rejected:
                console.print(f"      rejected: {candidate}")
    return decisions


def ask(channel: grpc.Channel) -> None:
    """Ask the questions; every reading is shown with its plan and its answer."""
    reasoning = reasoning_pb2_grpc.ReasoningServiceStub(channel)
    for question in QUESTIONS:
        console.print(f"\n  {question}")
        response = reasoning.AskQuestion(
            reasoning_pb2.AskQuestionRequest(question=question, valid_on=VALID_ON)
        )
        for reading in response.readings:
            console.print(f"    understood as: {reading.plan.understood_as}", style="dim")
            for answer in reading.decision.answers:
                console.print(f"    {answer.label or answer.atom}", style="bold")
                for quote in answer.quotes:
                    console.print(f"      “{' '.join(quote.quote.split())}” — {quote.title}")
            if not reading.decision.answers:
                raise SystemExit(f"the question {question!r} was not answered")


def shown(path: Path) -> str:
    """Write a path as it is seen from the checkout."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def check(channel: grpc.Channel, decision: common_pb2.Decision, output: Path) -> Path:
    """Export a certificate, verify it with the standard library alone, and break a copy."""
    certificate = output / "certificate.json"
    certificate.write_bytes(
        export(channel, decision.certificate, certificate_pb2.EXPORT_FORMAT_JSON)
    )
    sources = output / "sources"
    write_sources(channel, certificate, sources)
    page = output / "certificate.html"
    page.write_bytes(export(channel, decision.certificate, certificate_pb2.EXPORT_FORMAT_HTML))
    for path in (certificate, sources, page):
        console.print(f"  wrote {shown(path)}")
    accepted = verify(certificate, sources)
    if accepted.returncode != 0:
        raise SystemExit(f"the certificate was rejected: {accepted.stdout}{accepted.stderr}")
    broken = output / "certificate-broken.json"
    quote = next(
        evidence["quote"]
        for statement in json.loads(certificate.read_bytes())["statements"].values()
        for evidence in statement["evidence"]
    )
    changed = quote[:-1] + ("X" if quote[-1] != "X" else "Y")
    text = certificate.read_text("utf-8")
    written = json.dumps(quote, ensure_ascii=False)
    broken.write_text(text.replace(written, json.dumps(changed, ensure_ascii=False), 1), "utf-8")
    console.print(f"  changed one character in a copy: “{quote}” became “{changed}”")
    if verify(broken, sources).returncode == 0:
        raise SystemExit("the broken certificate was accepted")
    return page


def write_sources(channel: grpc.Channel, certificate: Path, folder: Path) -> None:
    """Write the text of every source of a certificate, named by its digest."""
    knowledge = knowledge_pb2_grpc.KnowledgeServiceStub(channel)
    folder.mkdir()
    for digest, source in json.loads(certificate.read_bytes())["sources"].items():
        name = f"knowledgeBases/-/documents/{digest}"
        parts = knowledge.ReadDocument(knowledge_pb2.ReadDocumentRequest(name=name))
        text = "".join(part.text for part in parts)
        (folder / f"{source['text_sha256']}.txt").write_bytes(text.encode())


def verify(certificate: Path, sources: Path) -> subprocess.CompletedProcess[str]:
    """Run the independent verifier, isolated from everything installed."""
    arguments = ["-I", "reasoner/verify.py", shown(certificate)]
    arguments += ["--sources", shown(sources)]
    console.print(f"$ python {' '.join(arguments)}", style="dim")
    result = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, text=True, capture_output=True, check=False
    )
    for line in (result.stdout + result.stderr).splitlines()[:6]:
        console.print(f"  {line}")
    console.print(f"  exit code {result.returncode}")
    return result


def query(address: str) -> None:
    """Ask over HTTP which statements lie under a class of a taxonomy, with quote and document."""
    url = f"http://{address}/sparql?" + urllib.parse.urlencode({"query": SPARQL})
    request = urllib.request.Request(url, headers={"Accept": "application/sparql-results+json"})
    with urllib.request.urlopen(request) as response:
        rows = json.load(response)["results"]["bindings"]
    for row in rows:
        values = {name: cell["value"] for name, cell in row.items()}
        console.print(
            f"  {values['company']}: {values['activity']}  “{' '.join(values['quote'].split())}” "
            f"— {values['document']}"
        )
    if not rows:
        raise SystemExit("the SPARQL query found nothing")


def main() -> int:
    """Run all steps; 0 where every one did what it should."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="leave the server running")
    parser.add_argument("--output", type=Path, default=ROOT / "demo-output", help="a new folder")
    chosen = parser.parse_args()
    keep, output = chosen.keep, chosen.output.resolve()
    started = time.monotonic()
    if output == ROOT / "demo-output":
        shutil.rmtree(output, ignore_errors=True)
    elif output.exists():
        raise SystemExit(f"{output} exists; expected a new folder")
    output.mkdir(parents=True)
    knowledge = output / "kb"
    heading(1, "A knowledge base, nineteen documents, a policy")
    command("init", shown(knowledge))
    log_file = output / "server.log"
    with (
        server(knowledge, log_file, keep=keep) as (address, web),
        grpc.insecure_channel(address) as channel,
    ):
        ingest(channel)
        policy = publish(channel)
        heading(2, "Goals: may this supplier be onboarded?")
        decisions = prove(channel, policy)
        heading(3, "Questions in English")
        ask(channel)
        heading(4, "Export and verify")
        page = check(channel, decisions[GOALS[0][0]], output)
        heading(5, "SPARQL over HTTP: companies with an ordinary activity")
        query(web)
        console.print(
            f"\nDone in {time.monotonic() - started:.0f} s. Open {shown(page)} "
            "in a browser to see the proof."
        )
        if keep:
            goal = 'may_onboard("Sierra Polymers S.A.")'
            console.print("Three commands to try:")
            console.print(f"  .venv/bin/proofweave ask --server {address} '{QUESTIONS[0]}'")
            console.print(
                f"  .venv/bin/proofweave prove --server {address} --policy {policy} "
                f"--valid-on {VALID_ON} '{goal}'"
            )
            console.print(f"  .venv/bin/proofweave certificate list --server {address}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
