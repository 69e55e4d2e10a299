"""Steps of a stored proof on the terminal, to a depth, page by page."""

from __future__ import annotations

from typing import Any

from proofweave.v1 import certificate_pb2, common_pb2

from .connection import Services
from .outcome import console, counted
from .verdicts import quote_json


def steps_page(
    services: Services, request: certificate_pb2.ListStepsRequest
) -> certificate_pb2.ListStepsResponse:
    """Fetch a page of steps; without a page size or token, all pages joined."""
    response = services.certificate.ListSteps(request)
    if request.page_size or request.page_token:
        return response
    while response.next_page_token:
        request.page_token = response.next_page_token
        following = services.certificate.ListSteps(request)
        response.steps.extend(following.steps)
        response.next_page_token = following.next_page_token
    return response


def show_steps(response: certificate_pb2.ListStepsResponse) -> None:
    """Print steps by depth, each with what it follows from."""
    out = console()
    for found in response.steps:
        step = found.step
        more = "  (deeper)" if found.cut else ""
        below = f"  from {', '.join(step.premises)}{more}" if step.premises else ""
        out.print(f"{'  ' * found.depth}{step.id} {step.conclusion}{below}")
        pad = "  " * found.depth + "    "
        if step.rule:
            out.print(f"{pad}by rule {step.rule}{f', {step.cite}' if step.cite else ''}")
            if step.says:
                out.print(f"{pad}{step.says}")
        for quote in step.quotes:
            out.print(f"{pad}“{' '.join(quote.quote.split())}”  {quote.title}", style="dim")
        if not step.rule and not step.quotes:
            out.print(f"{pad}{step.kind}", style="dim")
    out.print(f"{len(response.steps)} of {counted(response.step_count, 'step')}", style="bold")
    if response.next_page_token:
        out.print(f"continue with --page-token {response.next_page_token}")


def steps_json(response: certificate_pb2.ListStepsResponse) -> dict[str, Any]:
    """Give a page of steps as JSON."""
    return {
        "steps": [
            {**step_json(found.step), "depth": found.depth, "cut": found.cut}
            for found in response.steps
        ],
        "step_count": response.step_count,
        "next_page_token": response.next_page_token or None,
    }


def step_json(step: common_pb2.ProofStep) -> dict[str, Any]:
    """Give a step of a proof as JSON."""
    return {
        "id": step.id,
        "kind": step.kind,
        "conclusion": step.conclusion,
        "premises": list(step.premises),
        "rule": step.rule or None,
        "cite": step.cite or None,
        "says": step.says or None,
        "quotes": [quote_json(quote) for quote in step.quotes],
    }
