"""A decision on the terminal: for people, or as one JSON object with the certificate in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import grpc
from proofweave.v1 import certificate_pb2, common_pb2, knowledge_pb2

from .connection import Services
from .outcome import BY_VERDICT, Exit, console

STYLES = {
    common_pb2.VERDICT_CERTIFIED: "bold green",
    common_pb2.VERDICT_REFUTED: "bold red",
    common_pb2.VERDICT_ABSTAINED: "bold yellow",
}


def certificate_of(decision: common_pb2.Decision, services: Services | None) -> bytes:
    """Give the certificate's canonical bytes: from the decision, or read in pieces.

    Empty where there is none, as for a question that was not understood.
    """
    if decision.certificate_content or not decision.certificate or services is None:
        return decision.certificate_content
    request = certificate_pb2.ReadCertificateRequest(name=decision.certificate)
    return b"".join(piece.chunk for piece in services.certificate.ReadCertificate(request))


def verdict_word(verdict: common_pb2.Verdict.ValueType) -> str:
    """Give `CERTIFIED`, `REFUTED` or `ABSTAINED`."""
    return common_pb2.Verdict.Name(verdict).removeprefix("VERDICT_")


def code_word(code: common_pb2.AbstentionCode.ValueType) -> str | None:
    """Give the abstention code's name, or None where there is none."""
    if code == common_pb2.ABSTENTION_CODE_UNSPECIFIED:
        return None
    return common_pb2.AbstentionCode.Name(code).removeprefix("ABSTENTION_CODE_")


def exit_of(decisions: Iterable[common_pb2.Decision]) -> Exit:
    """Give the exit code of one decision, or of several readings: abstained if they disagree."""
    codes = {BY_VERDICT[decision.verdict] for decision in decisions}
    return codes.pop() if len(codes) == 1 else Exit.ABSTAINED


def decision_json(decision: common_pb2.Decision, certificate: bytes) -> dict[str, Any]:
    """Give a decision as JSON, with the certificate embedded."""
    return {
        "verdict": verdict_word(decision.verdict),
        "code": code_word(decision.code),
        "goal": decision.goal,
        "answers": [answer_json(answer) for answer in decision.answers],
        "refuted": [answer_json(answer) for answer in decision.refuted],
        "open": [open_json(requirement) for requirement in decision.open],
        "complete": decision.complete,
        "certificate": json.loads(certificate) if certificate else None,
        "certificate_sha256": decision.certificate_sha256,
        "receipt": receipt_json(decision.receipt),
        "name": decision.name or None,
        **graph_json(decision),
    }


def graph_json(decision: common_pb2.Decision) -> dict[str, Any]:
    """Give what a hypergraph says of its goal as JSON; nothing for other goals."""
    if not decision.HasField("graph"):
        return {}
    graph = decision.graph
    return {
        "proved": graph.proved or None,
        "units": list(graph.units),
        "steps": [
            {
                "atom": step.atom,
                "edge": step.edge or None,
                "premises": list(step.premises),
                "unit": step.unit or None,
                "assumed": step.assumed,
            }
            for step in graph.steps
        ],
        "cheapest": list(graph.cheapest),
        "optimality": graph.optimality or None,
        "violations": [
            {"edge": found.edge, "head": found.head, "by": found.by} for found in graph.violations
        ],
    }


def answer_json(answer: common_pb2.Answer) -> dict[str, Any]:
    """Give an answer as JSON."""
    return {
        "atom": answer.atom,
        "bindings": dict(sorted(answer.bindings.items())),
        "value": next(iter(answer.bindings.values())) if len(answer.bindings) == 1 else None,
        "label": answer.label,
        "names": list(answer.names),
        "quotes": [quote_json(quote) for quote in answer.quotes],
    }


def quote_json(quote: common_pb2.Quote) -> dict[str, Any]:
    """Give a quote as JSON."""
    return {
        "statement": quote.statement,
        "source_sha256": quote.source_sha256,
        "title": quote.title,
        "start": quote.start,
        "end": quote.end,
        "quote": quote.quote,
    }


def open_json(requirement: common_pb2.OpenRequirement) -> dict[str, Any]:
    """Give an open requirement as JSON."""
    return {
        "id": requirement.id,
        "atom": requirement.atom,
        "code": code_word(requirement.code),
        "rule": requirement.rule,
        "query": requirement.query,
        "expected": requirement.expected,
        "entity_test": requirement.entity_test,
        "detail": requirement.detail,
        "rejected": list(requirement.rejected),
        "conflicting": list(requirement.conflicting),
    }


def receipt_json(receipt: common_pb2.Receipt) -> dict[str, Any]:
    """Give a receipt as JSON."""
    return {
        "revision": receipt.revision or None,
        "log_head": receipt.log_head or None,
        "requester": receipt.requester or None,
        "time": receipt.time.ToJsonString() if receipt.HasField("time") else None,
        "versions": dict(sorted(receipt.versions.items())),
        "elapsed_ms": receipt.elapsed_ms,
        "hypothetical": receipt.hypothetical,
    }


def show_decision(decision: common_pb2.Decision, proof: str) -> None:
    """Print a decision for people; `proof` is the readable text of its certificate, if any."""
    out = console()
    style = STYLES[decision.verdict]
    first, _, rest = proof.rstrip("\n").partition("\n")
    if proof and not decision.HasField("graph"):
        out.print(first, style=style)
        out.print(rest)
    else:
        code = code_word(decision.code)
        reason = f" ({code})" if code else ""
        out.print(f"{verdict_word(decision.verdict)}{reason}: {decision.goal}", style=style)
        for requirement in decision.open:
            show_open(requirement)
        show_graph(decision.graph)
    if not decision.complete:
        out.print("incomplete: a deadline or a limit cut the work", style="yellow")
    if decision.certificate_sha256:
        out.print(f"certificate {decision.certificate_sha256}", style="dim")


def show_not_understood(question: str, decision: common_pb2.Decision) -> None:
    """Print why a question has no plan."""
    out = console()
    style = STYLES[decision.verdict]
    out.print(
        f"{verdict_word(decision.verdict)} ({code_word(decision.code)}): {question}", style=style
    )
    for detail in dict.fromkeys(requirement.detail for requirement in decision.open):
        out.print(detail)


def show_graph(graph: common_pb2.GraphProof) -> None:
    """Print the derivation of a goal of a hypergraph."""
    out = console()
    if graph.units:
        out.print(f"minimal units: {', '.join(graph.units)}")
    for step in graph.steps:
        if step.edge:
            out.print(f"  {step.atom}  by {step.edge} from {', '.join(step.premises)}")
        else:
            ground = "assumed" if step.assumed else "given"
            out.print(f"  {step.atom}  " + (f"stated by {step.unit}" if step.unit else ground))
    if graph.cheapest:
        out.print(f"would be proved by adding ({graph.optimality}): {', '.join(graph.cheapest)}")
    for found in graph.violations:
        out.print(f"violation: {found.edge} yields {found.head}, contradicted by {found.by}")


def show_open(requirement: common_pb2.OpenRequirement) -> None:
    """Print an open requirement on a few lines."""
    out = console()
    out.print(f"  - {requirement.atom}", style="yellow", end="")
    out.print(f"  [{code_word(requirement.code)}]", style="dim")
    for label, text in (
        ("expected", requirement.expected),
        ("search for", requirement.query),
        ("about", requirement.entity_test),
        ("needed by", requirement.rule),
        ("", requirement.detail),
        ("refused", "; ".join(requirement.rejected)),
        ("contested", "; ".join(requirement.conflicting)),
    ):
        if text:
            out.print(f"      {label + ': ' if label else ''}{text}")


def proof_text(
    decision: common_pb2.Decision,
    certificate: bytes,
    services: Services | None = None,
    facts: str = "",
    texts: Mapping[str, str] | None = None,
) -> str:
    """Give the readable text of a decision's proof; empty where it has no certificate.

    A recorded one is written by the server, which knows the lines of its quotes; else those in
    `facts`, the text of a facts file, and in `texts`, by digest, have lines.
    """
    if services is not None and decision.certificate:
        request = certificate_pb2.ExportCertificateRequest(
            name=decision.certificate, format=certificate_pb2.EXPORT_FORMAT_TEXT
        )
        pieces = services.certificate.ExportCertificate(request)
        return b"".join(piece.chunk for piece in pieces).decode()
    if not certificate:
        return ""
    from reasoner.render import render_text  # only where there is something to show
    from reasoner.source_text import normalize

    text = normalize(facts)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return render_text(json.loads(certificate), {**(texts or {}), digest: text})


def source_texts(certificate: bytes, services: Services, *, at: str = "") -> dict[str, str]:
    """Give the decoded texts of the sources of a certificate by digest; without erased ones."""
    texts: dict[str, str] = {}
    for digest, source in json.loads(certificate)["sources"].items():
        request = knowledge_pb2.ReadDocumentRequest(name=digest, at=at)
        try:
            pieces = [piece.text for piece in services.knowledge.ReadDocument(request)]
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.NOT_FOUND:
                raise
            continue
        texts[source["text_sha256"]] = "".join(pieces)
    return texts
