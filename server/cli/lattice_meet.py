"""`proofweave lattice meet`: common kinds of classes, and all instances of several constraints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

import typer
from proofweave.v1 import common_pb2, knowledge_pb2

from ..errors import RequestRejected
from .connection import Services, connect
from .options import At, Config, Json, Kb, Server, Token, settings_of, target
from .outcome import Exit, console, print_json
from .verdicts import code_word

_CONSTRAINT = re.compile(r"\s*([A-Za-z]\w*)\s*(<=|>=|=|<|>)(.*)\Z", re.DOTALL)
_SHOWN = 20


def meet(
    asked: Annotated[
        list[str],
        typer.Argument(
            metavar="CONSTRAINT... | DIMENSION CLASS...",
            help="DIMENSION=VALUE, also <, <=, >, >= and FIRST..LAST; or classes to meet.",
        ),
    ],
    any_of: Annotated[
        bool, typer.Option("--any", help="Who satisfies at least one constraint, not all.")
    ] = False,
    min_confidence: Annotated[
        str,
        typer.Option(
            "--min-confidence",
            metavar="C",
            help="Count only statements of at least this confidence, 0 to 1; without doubt: 1.",
        ),
    ] = "",
    valid_on: Annotated[
        str,
        typer.Option("--valid-on", metavar="DATE", help="Count what holds then; default: ever."),
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Name so many; all are counted.")
    ] = _SHOWN,
    at: At = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Give all entities that satisfy constraints, or the most general common kinds of classes.

    A class is satisfied by all at or below it, a date by what lies within it, a number or quantity
    exactly, in any unit that converts. Without an answer this says whether constraints or
    statements contradict each other and in which dimension, with quotes, or what is not known.

    \b
    Examples:
      proofweave lattice meet habitat=aquatic kind=mammal --kb kb
      proofweave lattice meet 'born=1980..1989' 'height>=180 cm' --kb kb --json
      proofweave lattice meet country=France country=Spain --any --min-confidence 0.8 --kb kb
      proofweave lattice meet genre Comedy Crime --kb kb
    """
    settings = settings_of(config)
    parts = [_CONSTRAINT.match(text) for text in asked]
    if parts[0] is None:
        given = {"--any": any_of, "--min-confidence": min_confidence, "--valid-on": valid_on}
        for option in (name for name, value in given.items() if value):
            raise RequestRejected(f"{option} is for constraints such as habitat=aquatic")
        with connect(target(server, kb, token, settings), settings) as services:
            _meet_classes(services, asked[0], asked[1:], at=at, as_json=as_json)
        return
    wrong = [text for text, part in zip(asked, parts, strict=True) if part is None]
    if wrong:
        raise RequestRejected(f"{wrong[0]!r} is no constraint; expected DIMENSION=VALUE")
    request = knowledge_pb2.MeetInstancesRequest(
        constraints=[
            knowledge_pb2.ValueConstraint(dimension=name, operator=operator, value=value)
            for name, operator, value in (part.groups() for part in parts if part)
        ],
        any=any_of,
        valid_on=valid_on,
        min_confidence=min_confidence,
        at=at,
    )
    with connect(target(server, kb, token, settings), settings) as services:
        response, instances = _all_pages(services, request, limit)
    if as_json:
        print_json(_json(asked, response, instances))
    else:
        _show(asked, response, instances)
    abstained = response.code != common_pb2.ABSTENTION_CODE_UNSPECIFIED
    raise typer.Exit(Exit.ABSTAINED if abstained else Exit.DONE)


def _meet_classes(
    services: Services, name: str, values: list[str], *, at: str, as_json: bool
) -> None:
    from ..orders import meet_of  # loads the lattice

    if not values:
        raise RequestRejected(f"{name!r} is no constraint; expected DIMENSION=VALUE, or classes")
    request = knowledge_pb2.GetDimensionRequest(name=name, at=at)
    found = meet_of(services.knowledge.GetDimension(request).dimension, values)
    if as_json:
        print_json({"dimension": name, "values": values, "meet": list(found)})
        return
    for value in found:
        console().print(value)
    if not found:
        console().print(f"no class lies below all of {', '.join(values)}", style="yellow")


def _all_pages(
    services: Services, request: knowledge_pb2.MeetInstancesRequest, limit: int
) -> tuple[knowledge_pb2.MeetInstancesResponse, list[str]]:
    """Give the first response, and the first names of all pages."""
    request.page_size = min(limit, 1000)
    first = response = services.knowledge.MeetInstances(request)
    instances = list(first.instances)
    while response.next_page_token and len(instances) < limit:
        request.page_token = response.next_page_token
        response = services.knowledge.MeetInstances(request)
        instances += response.instances
    return first, instances[:limit]


def _json(
    asked: list[str], response: knowledge_pb2.MeetInstancesResponse, instances: list[str]
) -> dict[str, object]:
    code = code_word(response.code)
    return {
        "constraints": asked,
        "verdict": "ABSTAINED" if code else "ANSWERED",
        "code": code,
        "total": response.total,
        "instances": instances,
        "complete": len(instances) == response.total,
        "alone": list(response.alone),
        "conflicts": [
            {
                "dimension": conflict.dimension,
                "left": conflict.left,
                "right": conflict.right,
                "reason": conflict.reason,
                "evidence": _evidence_json(conflict.statements),
            }
            for conflict in response.conflicts
        ],
        "undetermined": list(response.undetermined),
        "evidence": _evidence_json(response.statements),
        "revision": response.revision,
    }


def _evidence_json(statements: Iterable[common_pb2.Statement]) -> list[dict[str, object]]:
    return [
        {
            "entity": statement.subject,
            "dimension": statement.dimension,
            "value": _value(statement),
            "confidence": evidence.confidence,
            "quote": evidence.quote,
            "source_sha256": evidence.source_sha256,
            "start": evidence.start,
            "end": evidence.end,
        }
        for statement in statements
        for evidence in statement.evidence
    ]


def _value(statement: common_pb2.Statement) -> str:
    return str(getattr(statement.value, statement.value.WhichOneof("kind") or "text"))


def _show(
    asked: list[str], response: knowledge_pb2.MeetInstancesResponse, instances: list[str]
) -> None:
    out = console()
    code = code_word(response.code)
    if code is None:
        for name in instances:
            out.print(name)
        if len(instances) < response.total:
            out.print(f"{len(instances)} of {response.total} shown; more with --limit")
        _show_quotes(response.statements)
        return
    out.print(f"ABSTAINED ({code}): {', '.join(asked)}", style="bold yellow")
    out.print("Nobody is known to satisfy this. It is not a no.")
    for conflict in response.conflicts:
        said = f"{conflict.left} and {conflict.right} are asked"
        if conflict.statements:
            said = f"{conflict.left} is asked, {conflict.right} is stated"
        out.print(f"{conflict.dimension}: {said}")
        out.print(f"  {conflict.reason}")
        _show_quotes(conflict.statements)
    if response.undetermined:
        out.print(f"may or may not: {', '.join(response.undetermined[:_SHOWN])}")
    for text, count in zip(dict.fromkeys(asked), response.alone, strict=False):
        out.print(f"{text} alone: {count}")


def _show_quotes(statements: Iterable[common_pb2.Statement]) -> None:
    for found in _evidence_json(statements):
        line = f"    {found['entity']}, {found['dimension']}: {found['value']}"
        console().print(f"{line}: “{' '.join(str(found['quote']).split())}”", style="dim")
