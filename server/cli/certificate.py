"""`proofweave certificate` and `proofweave export`: stored proofs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from proofweave.v1 import certificate_pb2

from ..errors import RequestRejected
from .connection import Services, connect
from .options import Config, Json, Kb, Server, Token, settings_of, target
from .outcome import console, print_json
from .prove import write_file
from .steps import show_steps, steps_json, steps_page
from .verdicts import code_word, receipt_json, verdict_word

app = typer.Typer(help="Read, list and compare stored certificates.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="SHA256", help="Digest or resource name.")]

FORMATS = {
    "html": certificate_pb2.EXPORT_FORMAT_HTML,
    "json": certificate_pb2.EXPORT_FORMAT_JSON,
    "text": certificate_pb2.EXPORT_FORMAT_TEXT,
}


@app.command()
def get(
    name: Name,
    step: Annotated[
        str, typer.Option("--step", metavar="ID", help="Only this step, with what is below it.")
    ] = "",
    depth: Annotated[
        int,
        typer.Option(
            "--depth", metavar="D", min=0, show_default=False, help="Levels below it; default: all."
        ),
    ] = 0,
    page_size: Annotated[
        int,
        typer.Option(
            "--page-size",
            metavar="N",
            min=0,
            show_default=False,
            help="At most so many steps; default: all, page by page.",
        ),
    ] = 0,
    page_token: Annotated[
        str, typer.Option("--page-token", metavar="TOKEN", help="Go on after an earlier page.")
    ] = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Print a certificate: readable, or its canonical bytes with --json.

    With --step, --depth or a page, its steps instead: each once, by depth, with its premises.

    \b
    Examples:
      proofweave certificate get 3fa85f64... --kb kb --json > proof.json
      proofweave certificate get 3fa85f64... --kb kb --step s44 --depth 2
      proofweave certificate get 3fa85f64... --kb kb --depth 1 --page-size 20
    """
    settings = settings_of(config)
    if step or depth or page_size or page_token:
        steps = certificate_pb2.ListStepsRequest(
            name=name, step=step, depth=depth, page_size=page_size, page_token=page_token
        )
        with connect(target(server, kb, token, settings), settings) as services:
            page = steps_page(services, steps)
        if as_json:
            print_json(steps_json(page))
        else:
            show_steps(page)
        return
    request = certificate_pb2.ExportCertificateRequest(
        name=name, format=FORMATS["json" if as_json else "text"]
    )
    with connect(target(server, kb, token, settings), settings) as services:
        for piece in services.certificate.ExportCertificate(request):
            sys.stdout.buffer.write(piece.chunk)


@app.command("list")
def list_certificates(
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List the recorded decisions with their certificates, in order.

    \b
    Example:
      proofweave certificate list --kb kb
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        found = decisions_of(services)
    if as_json:
        print_json({"decisions": [recorded_json(decision) for decision in found]})
        return
    for decision in found:
        console().print(recorded_line(decision))
    if not found:
        console().print("nothing has been decided yet")


@app.command()
def diff(
    first: Name,
    second: Name,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Say in what two certificates differ: verdict, answers, policies, rules, statements.

    \b
    Example:
      proofweave certificate diff 3fa85f64... 9c1e02ab... --kb kb
    """
    settings = settings_of(config)
    request = certificate_pb2.CompareCertificatesRequest(first=first, second=second)
    with connect(target(server, kb, token, settings), settings) as services:
        response = services.certificate.CompareCertificates(request)
    changes = list(response.changes)
    if as_json:
        print_json({"equal": response.equal, "changes": [_change_json(one) for one in changes]})
        return
    if response.equal:
        console().print("the certificates are equal")
    signs = {
        certificate_pb2.CHANGE_KIND_ADDED: ("+", "green"),
        certificate_pb2.CHANGE_KIND_REMOVED: ("-", "red"),
        certificate_pb2.CHANGE_KIND_CHANGED: ("~", "yellow"),
    }
    for change in changes:
        sign, style = signs[change.kind]
        words = " -> ".join(text for text in (change.before, change.after) if text)
        console().print(f"{sign} {change.part} {change.id}: {words}", style=style)


def review(
    decision: Annotated[
        str, typer.Argument(metavar="[DECISION]", help="Number of a decision; default: list.")
    ] = "",
    comment: Annotated[str, typer.Option("--comment", help="What the review found.")] = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List the decisions that nobody has reviewed, or sign one off.

    \b
    Examples:
      proofweave review --kb kb
      proofweave review 12 --comment 'checked against the register' --server localhost:7400
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        if decision:
            request = certificate_pb2.CreateSignOffRequest(name=decision, comment=comment)
            found = [services.certificate.CreateSignOff(request).decision]
        else:
            found = [
                one
                for one in decisions_of(services)
                if not one.sign_offs and not one.receipt.hypothetical
            ]
    if as_json:
        print_json({"decisions": [recorded_json(one) for one in found]})
        return
    for one in found:
        console().print(recorded_line(one))
    if not found:
        console().print("nothing waits for a review")


def export(
    name: Annotated[
        str, typer.Argument(metavar="SHA256|FILE", help="A stored certificate, or a file.")
    ],
    form: Annotated[str, typer.Option("--format", help="html, json or text.")] = "html",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: NAME.html.")
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(
            "--sources", metavar="DIR", help="Sources, for a certificate file without --kb."
        ),
    ] = None,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
) -> None:
    """Write a certificate as one self-contained file for reviewers.

    \b
    Examples:
      proofweave export 3fa85f64... --kb kb -o proof.html
      proofweave export proof.json --sources documents/ -o proof.html
      proofweave export proof.json --kb kb --format text -o -
    """
    if form not in FORMATS:
        raise RequestRejected(f"{form!r} is no form; expected one of {', '.join(sorted(FORMATS))}")
    file = Path(name)
    if file.is_file():
        from ..offline import export_file  # loads the templates

        data = export_file(file.read_bytes(), form, sources=sources, kb=kb)
    else:
        settings = settings_of(config)
        request = certificate_pb2.ExportCertificateRequest(name=name, format=FORMATS[form])
        with connect(target(server, kb, token, settings), settings) as services:
            data = joined(services.certificate.ExportCertificate(request))
    if output is None:
        output = Path(f"{file.stem if file.is_file() else name.rpartition('/')[2][:16]}.{form}")
    write_file(output, data)
    if str(output) != "-":
        console().print(f"wrote {output} ({len(data)} bytes)")


def joined(pieces: Iterable[certificate_pb2.ExportCertificateResponse]) -> bytes:
    """Join the pieces of an export."""
    return b"".join(piece.chunk for piece in pieces)


def decisions_of(services: Services) -> list[certificate_pb2.RecordedDecision]:
    """Read all recorded decisions, page by page."""
    found: list[certificate_pb2.RecordedDecision] = []
    request = certificate_pb2.ListDecisionsRequest()
    while True:
        response = services.certificate.ListDecisions(request)
        found += response.decisions
        if not response.next_page_token:
            return found
        request.page_token = response.next_page_token


def recorded_line(decision: certificate_pb2.RecordedDecision) -> str:
    """Write a recorded decision in a line."""
    certificate = decision.certificate
    code = code_word(certificate.code)
    reviews = [f"{one.reviewer}: {one.comment}".rstrip(": ") for one in decision.sign_offs]
    return (
        f"{decision.name.rpartition('/')[2]:>5}  {certificate.sha256[:16]}  "
        f"{decision.receipt.time.ToJsonString()}  "
        f"{verdict_word(certificate.verdict)}{f' ({code})' if code else ''}  "
        f"{certificate.question or certificate.goal}"
        + (f"  {supposed}" if (supposed := supposition(certificate)) else "")
        + (f"  reviewed by {'; '.join(reviews)}" if reviews else "")
    )


def supposition(certificate: certificate_pb2.Certificate) -> str:
    """Say what a verdict supposes against what is known; empty where it supposes nothing."""
    parts = [f"assuming {'; '.join(certificate.assumptions)}"] if certificate.assumptions else []
    if certificate.retractions:
        parts.append(f"without {'; '.join(certificate.retractions)}")
    return f"(what if: {', '.join(parts)})" if parts else ""


def recorded_json(decision: certificate_pb2.RecordedDecision) -> dict[str, Any]:
    """Give a recorded decision as JSON."""
    certificate = decision.certificate
    return {
        "name": decision.name,
        "certificate_sha256": certificate.sha256,
        "verdict": verdict_word(certificate.verdict),
        "code": code_word(certificate.code),
        "question": certificate.question or None,
        "goal": certificate.goal,
        "valid_on": certificate.valid_on or None,
        "policies": list(certificate.policies),
        "assumptions": list(certificate.assumptions),
        "retractions": list(certificate.retractions),
        "receipt": receipt_json(decision.receipt),
        "sign_offs": [
            {
                "reviewer": one.reviewer,
                "comment": one.comment,
                "time": one.time.ToJsonString(),
            }
            for one in decision.sign_offs
        ],
    }


def _change_json(change: certificate_pb2.Change) -> dict[str, Any]:
    kind = certificate_pb2.ChangeKind.Name(change.kind).removeprefix("CHANGE_KIND_").lower()
    return {
        "kind": kind,
        "part": change.part,
        "id": change.id,
        "before": change.before or None,
        "after": change.after or None,
    }
