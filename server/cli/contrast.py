"""`proofweave contrast`: why one goal is proved and another is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from proofweave.v1 import common_pb2, reasoning_pb2

from .connection import connect
from .options import At, Config, Deadline, Json, Kb, Server, Token, ValidOn, settings_of, target
from .outcome import BY_VERDICT, console, print_json
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
from .verdicts import (
    STYLES,
    certificate_of,
    code_word,
    decision_json,
    proof_text,
    quote_json,
    show_graph,
    source_texts,
    verdict_word,
)

BOTH = reasoning_pb2.CONTRAST_KIND_BOTH_CERTIFIED
NOT_CERTIFIED = reasoning_pb2.CONTRAST_KIND_GOAL_NOT_CERTIFIED


def contrast(
    goal: Goal,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="Why not this one?")],
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
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Say why GOAL is proved and OTHER is not: the requirements at which they differ.

    Topmost first, down to the facts without a counterpart, with their codes; then the cheapest
    facts that would prove OTHER. The exit code is that of OTHER. Nothing is recorded.
    Of a hypergraph both goals are atoms.

    \b
    Examples:
      proofweave contrast 'eligible(acme)' 'eligible(tiny)' --policy p.lp --facts f.lp
      proofweave contrast 'insured("Acme GmbH")' 'insured("Tiny Ltd")' --kb kb --policy onboarding
      proofweave contrast 'grandfather(max)' 'grandfather(eva)' --hypergraph trip.json
      proofweave contrast 'enabled(7)' 'enabled(9)' --game-log games.jsonl --game g1
    """
    settings = settings_of(config)
    where = target(server, kb, token, settings)
    request = reasoning_pb2.ContrastGoalsRequest(
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
        other=other,
        budget=common_pb2.Budget(deadline_ms=deadline),
    )
    texts: dict[str, str] = {}
    if is_offline(where, request.goal):
        from ..offline import contrast_files  # loads the engines

        response = contrast_files(request, settings)
        certificates = [one.certificate_content for one in (response.goal, response.other)]
    else:
        with connect(where, settings) as services:
            response = services.reasoning.ContrastGoals(request)
            certificates = [
                certificate_of(one, services) for one in (response.goal, response.other)
            ]
            for one in certificates if not as_json else ():
                texts |= source_texts(one, services, at=request.goal.at) if one else {}
    if as_json:
        print_json(_response_json(response, certificates))
    else:
        _show(response, certificates, facts=request.goal.facts_text, texts=texts)
    raise typer.Exit(BY_VERDICT[response.other.verdict])


def _show(
    response: reasoning_pb2.ContrastGoalsResponse,
    certificates: list[bytes],
    *,
    facts: str,
    texts: dict[str, str],
) -> None:
    out = console()
    for one, certificate in zip((response.goal, response.other), certificates, strict=True):
        text = proof_text(one, certificate, facts=facts, texts=texts).rstrip("\n")
        if one.verdict == common_pb2.VERDICT_ABSTAINED or one.HasField("graph"):
            code = code_word(one.code)
            text = f"{verdict_word(one.verdict)}{f' ({code})' if code else ''}: {one.goal}"
        first, _, rest = text.partition("\n")
        out.print(first, style=STYLES[one.verdict])
        if rest:
            out.print(rest)
        if one.verdict != common_pb2.VERDICT_ABSTAINED:
            show_graph(one.graph)
        out.print("")
    if response.kind == BOTH:
        out.print("both are certified: there is nothing to contrast", style="bold")
    elif response.kind == NOT_CERTIFIED:
        out.print(f"{response.goal.goal} itself is not certified", style="bold")
    if not response.complete:
        out.print("incomplete: a deadline or a limit cut the work", style="yellow")
    if response.differences:
        out.print("differences, the topmost first:", style="bold")
    for item in _in_tree_order(list(response.differences)):
        _show_item(item)
    if response.repairs:
        out.print(f"{response.other.goal} would be proved with ({response.optimality}):")
    for number, repair in enumerate(response.repairs, start=1):
        out.print(f"  {number}. " + "; ".join(repair.facts))


def _in_tree_order(
    items: list[reasoning_pb2.ContrastItem],
) -> Iterator[reasoning_pb2.ContrastItem]:
    """Give items each followed by its parts."""
    parts: dict[int, list[int]] = {}
    for at, item in enumerate(items):
        parts.setdefault(item.part_of, []).append(at)
    waiting = parts.get(-1, [])[::-1]
    while waiting:
        at = waiting.pop()
        yield items[at]
        waiting.extend(parts.get(at, [])[::-1])


def _show_item(item: reasoning_pb2.ContrastItem) -> None:
    out = console()
    pad = "  " * item.depth
    code = code_word(item.code)
    if item.requirement:
        out.print(f"{pad}has    {item.requirement}", style="green")
        for quote in item.quotes:
            out.print(f"{pad}       “{' '.join(quote.quote.split())}”  {quote.title}", style="dim")
    out.print(f"{pad}lacks  {item.counterpart}{f'  [{code}]' if code else ''}", style="yellow")
    for label, text in (("needed by rule ", item.rule), ("", item.detail)):
        if text:
            out.print(f"{pad}       {label}{text}", style="dim")


def _response_json(
    response: reasoning_pb2.ContrastGoalsResponse, certificates: list[bytes]
) -> dict[str, Any]:
    kind = reasoning_pb2.ContrastKind.Name(response.kind).removeprefix("CONTRAST_KIND_")
    return {
        "kind": kind.lower(),
        "goal": decision_json(response.goal, certificates[0]),
        "other": decision_json(response.other, certificates[1]),
        "differences": [
            {
                "requirement": item.requirement or None,
                "counterpart": item.counterpart,
                "rule": item.rule or None,
                "depth": item.depth,
                "part_of": item.part_of if item.part_of >= 0 else None,
                "is_fact": item.is_fact,
                "code": code_word(item.code),
                "detail": item.detail or None,
                "quotes": [quote_json(quote) for quote in item.quotes],
            }
            for item in response.differences
        ],
        "complete": response.complete,
        "repairs": [list(repair.facts) for repair in response.repairs],
        "repairs_optimality": response.optimality or None,
        "repairs_complete": response.repairs_complete,
    }
