"""`proofweave dependents`: recorded decisions that rest on something, and which fall with it."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from proofweave.v1 import certificate_pb2, common_pb2

from .certificate import recorded_json, recorded_line
from .connection import connect
from .options import Config, Deadline, Json, Kb, Server, Token, settings_of, target
from .outcome import console, counted, print_json, progress
from .verdicts import code_word, open_json, verdict_word

FEW = 10
"""Decisions up to which no progress is shown."""


def dependents(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE|STATEMENT|POLICY",
            help="Digest, file name or title; st:ID; policies/ID or policies/ID@VERSION.",
        ),
    ],
    recheck: Annotated[
        bool, typer.Option("--recheck", help="Prove each again without it; changes nothing.")
    ] = False,
    deadline: Deadline = 0,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List the recorded decisions that rest on a source, a statement or a policy.

    With --recheck each is proved again from what is known now, without it, and either stands by
    other support or falls; a policy is replaced by its newest other version. Nothing is changed or
    recorded.

    \b
    Examples:
      proofweave dependents 'Supplier audits 2025' --kb kb --recheck
      proofweave dependents st:6a7f91045c581e81d15bf17d270ca5bc --kb kb
      proofweave dependents policies/supplier_onboarding@3 --kb kb --recheck --json
    """
    settings = settings_of(config)
    request = certificate_pb2.StreamDependentsRequest(
        subject=subject, recheck=recheck, budget=common_pb2.Budget(deadline_ms=deadline)
    )
    start = certificate_pb2.DependentsStart()
    found: list[certificate_pb2.Dependent] = []
    with (
        connect(target(server, kb, token, settings), settings) as services,
        progress(quiet=as_json) as bar,
    ):
        task = bar.add_task("proving again" if recheck else "reading", visible=False)
        for response in services.certificate.StreamDependents(request):
            if response.HasField("start"):
                start = response.start
                bar.update(task, total=start.count, visible=start.count > FEW)
                continue
            found.append(response.dependent)
            bar.advance(task)
    if as_json:
        print_json(
            {
                "kind": start.kind,
                "name": start.name,
                "title": start.title or None,
                "rechecked": recheck,
                "dependents": [_dependent_json(one) for one in found],
            }
        )
        return
    _show(start, found, rechecked=recheck)


def outcome_word(outcome: certificate_pb2.Outcome.ValueType) -> str | None:
    """Give `stands`, `falls` or `unknown`; None where it was not proved again."""
    if outcome == certificate_pb2.OUTCOME_UNSPECIFIED:
        return None
    return certificate_pb2.Outcome.Name(outcome).removeprefix("OUTCOME_").lower()


def _show(
    start: certificate_pb2.DependentsStart,
    found: list[certificate_pb2.Dependent],
    *,
    rechecked: bool,
) -> None:
    out = console()
    for one in found:
        out.print(recorded_line(one.decision))
        match one.outcome:
            case certificate_pb2.OUTCOME_STANDS:
                out.print(f"       stands: {_verdict(one)} without it, too", style="green")
                if one.detail:
                    out.print(f"       but {one.detail}", style="yellow")
            case certificate_pb2.OUTCOME_FALLS:
                opens = "; ".join(dict.fromkeys(found.atom for found in one.open))
                out.print(
                    f"       falls to {_verdict(one)}" + (f", open: {opens}" if opens else ""),
                    style="yellow",
                )
            case certificate_pb2.OUTCOME_UNKNOWN:
                out.print(f"       not proved again: {one.problem.message}", style="red")
    words = f"{counted(len(found), 'decision')} on {start.kind} {start.title or start.name}"
    if rechecked:
        falling = sum(one.outcome == certificate_pb2.OUTCOME_FALLS for one in found)
        unknown = sum(one.outcome == certificate_pb2.OUTCOME_UNKNOWN for one in found)
        words += f": {falling} would fall, {len(found) - falling - unknown} would stand"
        words += f", {unknown} not proved again" if unknown else ""
        words += "; nothing was changed"
    out.print(words, style="bold")


def _verdict(one: certificate_pb2.Dependent) -> str:
    code = code_word(one.code)
    return verdict_word(one.verdict) + (f" ({code})" if code else "")


def _dependent_json(one: certificate_pb2.Dependent) -> dict[str, Any]:
    outcome = outcome_word(one.outcome)
    is_known = one.outcome in (certificate_pb2.OUTCOME_STANDS, certificate_pb2.OUTCOME_FALLS)
    return {
        "decision": recorded_json(one.decision),
        "statements": list(one.statements),
        "outcome": outcome,
        "verdict": verdict_word(one.verdict) if is_known else None,
        "code": code_word(one.code),
        "open": [open_json(found) for found in one.open],
        "detail": one.detail or None,
        "problem": one.problem.message or None,
    }
