"""`proofweave diff`: two verdicts on one goal, and what flipped first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from proofweave.v1 import common_pb2, reasoning_pb2

from ..errors import RequestRejected
from .connection import connect
from .options import Config, Deadline, Json, Kb, Server, Token, settings_of, target
from .outcome import console, counted, print_json
from .prove import (
    Assume,
    FactsOption,
    GameLogOption,
    Retract,
    goal_request,
    graph_file,
    is_offline,
    rules_of,
)
from .steps import step_json
from .verdicts import STYLES, certificate_of, code_word, decision_json, verdict_word

Twice = list[str] | None
Several = list[str] | None


def diff(
    goal: Annotated[
        str, typer.Argument(metavar="GOAL", help="An atom; none with --decision.")
    ] = "",
    at: Annotated[
        Twice, typer.Option("--at", metavar="REVISION", help="Once for both, twice to compare.")
    ] = None,
    valid_on: Annotated[
        Twice, typer.Option("--valid-on", metavar="DATE", help="Once for both, twice to compare.")
    ] = None,
    policy: Annotated[
        Twice,
        typer.Option("--policy", metavar="F.lp|ID[@V]", help="Once for both, twice to compare."),
    ] = None,
    decision: Annotated[
        Twice,
        typer.Option("--decision", metavar="N", help="A recorded decision; two of them."),
    ] = None,
    facts: FactsOption = None,
    hypergraph: Annotated[
        list[Path] | None,
        typer.Option("--hypergraph", metavar="F.json", help="Once for both, twice to compare."),
    ] = None,
    game_log: GameLogOption = None,
    game: Annotated[
        Twice, typer.Option("--game", metavar="ID", help="Once for both, twice to compare.")
    ] = None,
    assume: Assume = None,
    retract: Retract = None,
    with_: Annotated[
        Several,
        typer.Option("--with", metavar="ATOM", help="Assume it on the second side only."),
    ] = None,
    without: Annotated[
        Several,
        typer.Option(
            "--without",
            metavar="ATOM|st:ID|UNIT",
            help="Leave a fact, statement or unit out on the second side only.",
        ),
    ] = None,
    deadline: Deadline = 0,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Decide a goal twice and name the first step that flipped, why, and what follows from it.

    Between two revisions, days, policies or hypergraphs, or several of these; between what is
    known and what if (--with, --without); or between two recorded decisions. Nothing is recorded.

    \b
    Examples:
      proofweave diff 'insured("Acme GmbH")' --kb kb --policy onboarding --at 12 --at 31
      proofweave diff 'insured("Acme GmbH")' --kb kb --policy onboarding \\
        --valid-on 2026-12-31 --valid-on 2027-01-01
      proofweave diff 'eligible(acme)' --facts acme.lp --policy old.lp --policy new.lp
      proofweave diff 'eligible(acme)' --facts acme.lp --policy p.lp --without 'audited(acme)'
      proofweave diff --kb kb --decision 12 --decision 15
      proofweave diff 'grandfather(max, otto)' --hypergraph old.json --hypergraph new.json
      proofweave diff 'grandfather(max, otto)' --hypergraph trip.json --without u2
      proofweave diff 'enabled(7)' --game-log games.jsonl --game g1 --game g2
    """
    settings = settings_of(config)
    where = target(server, kb, token, settings)
    graphs = _graph_files(hypergraph, game_log, game)
    first, second = _standpoints(
        at, valid_on, policy, decision, graphs=graphs, supposed=bool(with_ or without)
    )
    second.assumptions.extend(with_ or ())
    second.retractions.extend(without or ())
    if decision and goal:
        raise RequestRejected("a goal and --decision are both given; decisions have their goals")
    if not decision and not goal:
        raise RequestRejected("no goal is given; expected GOAL, or --decision twice")
    shared = policy[0] if policy and len(policy) == 1 else None
    request = reasoning_pb2.CompareVerdictsRequest(
        goal=goal_request(
            goal,
            shared,
            facts,
            graphs[0] if len(graphs) == 1 else None,
            assume,
            "",
            retract=retract,
        ),
        first=first,
        second=second,
        budget=common_pb2.Budget(deadline_ms=deadline),
    )
    files = reasoning_pb2.Goal(facts_text=request.goal.facts_text)
    if first.WhichOneof("rules") == "hypergraph":
        files.hypergraph = first.hypergraph
    else:
        files.policy_text = first.policy_text
    whole = shared or len(graphs) == 1
    if not decision and is_offline(where, request.goal if whole else files):
        from ..offline import compare_files  # loads the engines

        response = compare_files(request, settings)
        certificates = [one.certificate_content for one in (response.first, response.second)]
    else:
        with connect(where, settings) as services:
            response = services.reasoning.CompareVerdicts(request)
            certificates = [
                certificate_of(one, services) for one in (response.first, response.second)
            ]
    if as_json:
        print_json(_response_json(response, certificates))
        return
    _show(response)


def _graph_files(
    hypergraph: list[Path] | None, game_log: Path | None, games: Twice
) -> list[tuple[str, bytes]]:
    """Give name and JSON of each hypergraph; two games of a log are told apart by their names.

    Raises RequestRejected for options that do not go together, or given more than twice.
    """
    files: list[Path | None] = list(hypergraph or ())
    often = [
        name for name, given in (("--hypergraph", files), ("--game", games or ())) if len(given) > 2
    ]
    if often:
        raise RequestRejected(f"{', '.join(often)} is given more than twice; expected two sides")
    found = []
    named: list[str | None] = list(games or ())
    for file in files or [None]:
        for game in named or [None]:
            graph = graph_file(file, game_log, game)
            if graph is not None:
                name, data = graph
                found.append((f"{name} {game}" if game is not None else name, data))
    return found


def _standpoints(
    at: Twice,
    valid_on: Twice,
    policy: Twice,
    decision: Twice,
    *,
    graphs: list[tuple[str, bytes]],
    supposed: bool,
) -> tuple[reasoning_pb2.Standpoint, reasoning_pb2.Standpoint]:
    """Make the two sides; what is given once holds for both.

    Raises RequestRejected where the sides cannot differ, or something is given more than twice.
    """
    given = {"--at": at, "--valid-on": valid_on, "--policy": policy, "--decision": decision}
    often = [name for name, values in given.items() if values and len(values) > 2]
    if often:
        raise RequestRejected(f"{', '.join(often)} is given more than twice; expected two sides")
    if policy and graphs:
        raise RequestRejected(
            "--policy and a hypergraph or game log are both given; expected one of them"
        )
    if decision and (len(decision) != 2 or at or valid_on or policy or graphs or supposed):
        raise RequestRejected("--decision is given twice and alone: decisions say all the rest")
    twice = len(graphs) == 2 or any(values and len(values) == 2 for values in given.values())
    if not twice and not supposed:
        raise RequestRejected(
            "nothing is given twice; expected two of --at, --valid-on, --policy, --hypergraph, "
            "--game or --decision, or --with or --without"
        )
    sides = []
    for side in (0, 1):
        one = reasoning_pb2.Standpoint(
            revision=at[min(side, len(at) - 1)] if at else "",
            valid_on=valid_on[min(side, len(valid_on) - 1)] if valid_on else "",
        )
        if policy and len(policy) == 2:
            text, name = rules_of(policy[side])
            if text is None:
                one.policy = name
            else:
                one.policy_text, one.policy_name = text, name
        if len(graphs) == 2:
            one.policy_name, one.hypergraph = graphs[side]
        if decision:
            one.decision = decision[side]
        sides.append(one)
    return sides[0], sides[1]


CAUSES = {
    reasoning_pb2.FLIP_CAUSE_STATEMENT_ABSENT: "its statement is not known there",
    reasoning_pb2.FLIP_CAUSE_VALIDITY: "its statement does not hold on that day",
    reasoning_pb2.FLIP_CAUSE_RULE: "its rule is another there",
    reasoning_pb2.FLIP_CAUSE_CONFLICT: "something speaks against it there",
    reasoning_pb2.FLIP_CAUSE_ABSENCE: "what must not hold holds there",
    reasoning_pb2.FLIP_CAUSE_DAY: "a test comes out differently on that day",
    reasoning_pb2.FLIP_CAUSE_OUT_OF_SCOPE: "the policy does not apply there",
    reasoning_pb2.FLIP_CAUSE_REQUEST: "the request supposes otherwise there",
    reasoning_pb2.FLIP_CAUSE_BUDGET: "the other side was cut by a limit",
}


def cause_word(cause: reasoning_pb2.FlipCause.ValueType) -> str:
    """Give the name of a cause, `validity`."""
    return reasoning_pb2.FlipCause.Name(cause).removeprefix("FLIP_CAUSE_").lower()


def _show(response: reasoning_pb2.CompareVerdictsResponse) -> None:
    out = console()
    for word, one in (("first", response.first), ("second", response.second)):
        code = code_word(one.code)
        verdict = verdict_word(one.verdict) + (f" ({code})" if code else "")
        out.print(f"{word:6}  {verdict}: {one.goal}", style=STYLES[one.verdict])
        out.print(f"        certificate {one.certificate_sha256}", style="dim")
    if response.unchanged:
        out.print("unchanged: the same certificate, byte for byte", style="bold")
        return
    same = response.first.verdict == response.second.verdict
    for flip in response.flips:
        _show_flip(flip)
    if same and not response.flips:
        out.print("the verdict is the same, and every step of it holds on both sides", style="bold")
    if not response.flips and response.differences:
        out.print("the certificates differ in:")
        for line in response.differences:
            out.print(f"  {line}")


def _show_flip(flip: reasoning_pb2.Flip) -> None:
    out = console()
    has, lacks = ("first", "second") if flip.side == 1 else ("second", "first")
    out.print(f"flipped first, in the proof of the {has}: {flip.step.conclusion}", style="bold")
    why = CAUSES.get(flip.cause)
    out.print(f"  not so for the {lacks}: " + "; ".join(filter(None, (why, flip.detail))))
    for quote in flip.step.quotes:
        out.print(f"      “{' '.join(quote.quote.split())}”  {quote.title}", style="dim")
    left_out = flip.chain_length - len(flip.chain)
    for at, step in enumerate(flip.chain[1:], start=1):
        if left_out and at == len(flip.chain) // 2:
            out.print(f"  ... {counted(left_out, 'step')} ...", style="dim")
        rule = f"  (rule {step.rule}{', ' if step.cite else ''}{step.cite})" if step.rule else ""
        out.print(f"  so too {step.conclusion}{rule}")


def _response_json(
    response: reasoning_pb2.CompareVerdictsResponse, certificates: list[bytes]
) -> dict[str, Any]:
    sides = (response.first, response.second)
    first, second = (
        decision_json(one, data) for one, data in zip(sides, certificates, strict=True)
    )
    return {
        "unchanged": response.unchanged,
        "first": first,
        "second": second,
        "flips": [
            {
                "side": flip.side,
                "step": step_json(flip.step),
                "cause": cause_word(flip.cause),
                "detail": flip.detail,
                "chain": [step_json(step) for step in flip.chain],
                "chain_length": flip.chain_length,
            }
            for flip in response.flips
        ],
        "differences": list(response.differences),
    }
