"""`proofweave supports`: every minimal set of quotes that proves a goal."""

from __future__ import annotations

from typing import Annotated

import typer
from proofweave.v1 import common_pb2, reasoning_pb2

from .connection import connect
from .leaves import leaf_json
from .options import At, Config, Deadline, Json, Kb, Server, Token, ValidOn, settings_of, target
from .outcome import Exit, console, counted, print_json
from .prove import (
    Assume,
    FactsOption,
    GameLogOption,
    GameOption,
    Goal,
    HypergraphOption,
    PolicyOption,
    Retract,
    goal_request,
    graph_file,
    is_offline,
)


def supports(
    goal: Goal,
    policy: PolicyOption = None,
    facts: FactsOption = None,
    hypergraph: HypergraphOption = None,
    game_log: GameLogOption = None,
    game: GameOption = None,
    assume: Assume = None,
    retract: Retract = None,
    valid_on: ValidOn = "",
    at: At = "",
    deadline: Deadline = 0,
    cap: Annotated[
        int,
        typer.Option(
            "--cap",
            metavar="N",
            min=0,
            show_default=False,
            help="List at most so many; default: the server's limit.",
        ),
    ] = 0,
    resume: Annotated[str, typer.Option("--resume", help="Token of an earlier call.")] = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List the inclusion-minimal supports of a goal: sets of quotes, each of which proves it.

    \b
    Examples:
      proofweave supports --policy onboarding.lp --facts acme.lp 'eligible(acme)'
      proofweave supports --kb kb --policy supplier_onboarding 'eligible("Acme GmbH")' --cap 5
    """
    settings = settings_of(config)
    where = target(server, kb, token, settings)
    request = reasoning_pb2.StreamSupportsRequest(
        goal=goal_request(
            goal,
            policy,
            facts,
            graph_file(hypergraph, game_log, game),
            assume,
            valid_on,
            at,
            retract=retract,
        ),
        budget=common_pb2.Budget(deadline_ms=deadline),
        cap=cap,
        resume_token=resume,
    )
    found: list[reasoning_pb2.Support] = []
    end = reasoning_pb2.SupportsEnd()
    if is_offline(where, request.goal):
        from ..offline import supports_of_files  # loads the engines

        for response in supports_of_files(request, settings):
            end = _take(response, found, end, as_json=as_json)
    else:
        with connect(where, settings) as services:
            for response in services.reasoning.StreamSupports(request):
                end = _take(response, found, end, as_json=as_json)
    if as_json:
        print_json(
            {
                "goal": goal,
                "supports": [[leaf_json(leaf) for leaf in support.leaves] for support in found],
                "complete": end.complete,
                "resume_token": end.resume_token or None,
            }
        )
    else:
        words = "all there are" if end.complete else "cut by a limit; there may be more"
        console().print(f"{counted(len(found), 'minimal support')} ({words})", style="bold")
        if end.resume_token:
            console().print(f"continue with --resume {end.resume_token}")
    raise typer.Exit(Exit.DONE if found else Exit.ABSTAINED)


def _take(
    response: reasoning_pb2.StreamSupportsResponse,
    found: list[reasoning_pb2.Support],
    end: reasoning_pb2.SupportsEnd,
    *,
    as_json: bool,
) -> reasoning_pb2.SupportsEnd:
    if response.HasField("end"):
        return response.end
    found.append(response.support)
    if not as_json:
        out = console()
        out.print(f"support {response.support.index + 1}", style="bold")
        for leaf in response.support.leaves:
            out.print(f"  {leaf.atom}")
            for quote in leaf.quotes:
                out.print(f"      “{' '.join(quote.quote.split())}”  {quote.title}", style="dim")
    return end
