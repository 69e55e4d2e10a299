"""`proofweave prove` and `proofweave supports`: goals, from files or over a knowledge base."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from proofweave.v1 import common_pb2, reasoning_pb2

from ..errors import RequestRejected
from .connection import Target, connect
from .leaves import leaf_witness_json, leaves_in, show_leaves
from .options import (
    At,
    Config,
    Deadline,
    Json,
    Kb,
    MaxAnswers,
    Server,
    Token,
    ValidOn,
    settings_of,
    target,
)
from .outcome import console, print_json
from .verdicts import (
    certificate_of,
    decision_json,
    exit_of,
    proof_text,
    show_decision,
)

Goal = Annotated[
    str, typer.Argument(metavar="GOAL", help="An atom; variables and _ list the answers.")
]
PolicyOption = Annotated[
    str | None,
    typer.Option("--policy", metavar="F.lp|ID[@V]", help="Policy file, or a published policy."),
]
FactsOption = Annotated[
    Path | None, typer.Option("--facts", metavar="F.lp", help="Facts; each line is its own quote.")
]
HypergraphOption = Annotated[
    Path | None, typer.Option("--hypergraph", metavar="F.json", help="A requirement hypergraph.")
]
GameLogOption = Annotated[
    Path | None,
    typer.Option("--game-log", metavar="F.jsonl", help="Logs of games, one JSON object a line."),
]
GameOption = Annotated[
    str | None, typer.Option("--game", metavar="ID", help="Which game of the log, if several.")
]
Assume = Annotated[
    list[str] | None, typer.Option("--assume", metavar="ATOM", help="Assume a ground atom.")
]
Retract = Annotated[
    list[str] | None,
    typer.Option(
        "--retract", metavar="ATOM|st:ID|UNIT", help="Leave out a fact, statement or unit."
    ),
]
EngineOption = Annotated[
    str, typer.Option("--engine", help="auto, clingo, linear or pydatalog; the proof is the same.")
]


def prove(
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
    engine: EngineOption = "auto",
    deadline: Deadline = 0,
    max_answers: MaxAnswers = 0,
    why_not: Annotated[
        bool, typer.Option("--why-not", help="Also list the cheapest facts that would prove it.")
    ] = False,
    leaves: Annotated[
        bool, typer.Option("--leaves", help="Also say what becomes of it without each leaf.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the certificate.")
    ] = None,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Prove a goal, or say exactly what is missing.

    Exit code 0: certified, 3: abstained, 4: refuted. A goal with strong negation comes after --.

    \b
    Examples:
      proofweave prove --policy onboarding.lp --facts acme.lp 'eligible(acme)'
      proofweave prove --kb kb --policy supplier_onboarding@3 'eligible("Acme GmbH")'
      proofweave prove --kb kb --policy onboarding.lp 'eligible(S)' --max-answers 20 --json
      proofweave prove --kb kb --policy onboarding 'insured("Acme GmbH")' \\
        --assume 'liability_cover("Acme GmbH", @quantity("2000000 EUR"))' --retract st:3fa85f...
      proofweave prove --policy onboarding.lp --facts acme.lp 'eligible(acme)' --leaves
      proofweave prove --kb kb --policy supplier_onboarding 'eligible("Acme GmbH")' --at 12
      proofweave prove --policy onboarding.lp --facts acme.lp -- '-eligible(acme)'
      proofweave prove --game-log games.jsonl --game g1 'enabled(7)'
    """
    settings = settings_of(config)
    where = target(server, kb, token, settings)
    request = goal_request(
        goal,
        policy,
        facts,
        graph_file(hypergraph, game_log, game),
        assume,
        valid_on,
        at,
        retract=retract,
    )
    budget = common_pb2.Budget(deadline_ms=deadline, max_answers=max_answers)
    repairs = reasoning_pb2.ExplainWhyNotResponse()
    of_leaves = reasoning_pb2.StreamLeavesRequest(goal=request, budget=budget)
    witnesses: list[reasoning_pb2.LeafWitness] = []
    if is_offline(where, request):
        from ..offline import decide_files, leaves_of_files, repair_files  # loads the engines

        decision = decide_files(request, budget, engine_of(engine), settings)
        certificate = decision.certificate_content
        proof = proof_text(decision, certificate, facts=request.facts_text)
        if why_not:
            repairs = repair_files(request, budget, settings)
        if leaves:
            witnesses = leaves_in(leaves_of_files(of_leaves, settings))
    else:
        with connect(where, settings) as services:
            call = reasoning_pb2.ProveGoalRequest(
                goal=request, budget=budget, engine=engine_of(engine)
            )
            decision = services.reasoning.ProveGoal(call).decision
            certificate = certificate_of(decision, services)
            proof = "" if as_json else proof_text(decision, certificate, services)
            if why_not:
                ask = reasoning_pb2.ExplainWhyNotRequest(goal=request, budget=budget)
                repairs = services.reasoning.ExplainWhyNot(ask)
            if leaves:
                witnesses = leaves_in(services.reasoning.StreamLeaves(of_leaves))
    if output is not None:
        write_file(output, certificate)
    if as_json:
        shown = decision_json(decision, certificate)
        if why_not:
            shown["repairs"] = [list(repair.facts) for repair in repairs.repairs]
            shown["repairs_complete"] = repairs.complete
            shown["repairs_optimality"] = repairs.optimality or None
        if leaves:
            shown["leaves"] = [leaf_witness_json(witness) for witness in witnesses]
        print_json(shown)
    elif str(output) != "-":
        show_decision(decision, proof)
        show_repairs(repairs)
        show_leaves(witnesses)
    raise typer.Exit(exit_of([decision]))


def goal_request(
    goal: str,
    policy: str | None,
    facts: Path | None,
    hypergraph: tuple[str, bytes] | None,
    assume: list[str] | None,
    valid_on: str,
    at: str = "",
    *,
    retract: list[str] | None = None,
) -> reasoning_pb2.Goal:
    """Make the request from command-line arguments; files are read, names are passed on.

    Raises RequestRejected for a file that does not exist, and for rules given twice.
    """
    if policy is not None and hypergraph is not None:
        raise RequestRejected(
            "--policy and a hypergraph or game log are both given; expected one of them"
        )
    request = reasoning_pb2.Goal(
        goal=goal,
        assumptions=assume or (),
        retractions=retract or (),
        valid_on=valid_on,
        at=at,
    )
    if policy is not None:
        text, name = rules_of(policy)
        if text is None:
            request.policy = name
        else:
            request.policy_text, request.policy_name = text, name
    if hypergraph is not None:
        request.policy_name, request.hypergraph = hypergraph
    if facts is not None:
        request.facts_text = read_text(facts)
        request.facts_name = facts.name
    return request


def rules_of(policy: str) -> tuple[str | None, str]:
    """Give text and name of a policy file, or None and the name of a published policy.

    Raises RequestRejected for a file that cannot be read.
    """
    if policy.endswith(".lp") or Path(policy).is_file():
        return read_text(Path(policy)), Path(policy).name
    return None, policy


def graph_file(
    hypergraph: Path | None, game_log: Path | None, game: str | None
) -> tuple[str, bytes] | None:
    """Give the name and the JSON of a hypergraph file, or of one game of a log.

    Raises RequestRejected for options that do not go together, and GameLogRejected.
    """
    if game_log is None:
        if game is not None:
            raise RequestRejected("--game is given without --game-log; expected both")
        return (hypergraph.name, _read(hypergraph)) if hypergraph is not None else None
    if hypergraph is not None:
        raise RequestRejected("--hypergraph and --game-log are both given; expected one of them")
    return game_log.name, game_graph(game_log, game).encode()


def game_graph(file: Path, game: str | None) -> str:
    """Give the hypergraph of one game of a log, as JSON.

    Raises RequestRejected where there is no such file, and GameLogRejected.
    """
    from reasoner.game_log import find_game, game_hypergraph, read_game_logs  # loads the engines
    from reasoner.hypergraph import write_hypergraph

    logs = read_game_logs(_read(file), name=file.name)
    return write_hypergraph(game_hypergraph(find_game(logs, game, name=file.name)))


def is_offline(where: Target, request: reasoning_pb2.Goal) -> bool:
    """Whether the request is answered from its files alone.

    Raises RequestRejected where it names neither files nor a knowledge base.
    """
    if where.server is not None or where.kb is not None:
        return False
    if request.at:
        raise RequestRejected("--at is given without --kb or --server; files have no revisions")
    if request.WhichOneof("rules") == "policy":
        raise RequestRejected(
            f"there is no policy file {request.policy!r}; "
            "a published policy needs --kb DIR or --server HOST:PORT"
        )
    if request.WhichOneof("rules") is None and not request.facts_text:
        raise RequestRejected(
            "nothing to prove from; give --policy with --facts, --hypergraph, --game-log, "
            "--kb or --server"
        )
    return True


def engine_of(name: str) -> reasoning_pb2.Engine.ValueType:
    """Read the name of an engine.

    Raises RequestRejected for an unknown one.
    """
    names = {key.removeprefix("ENGINE_").lower(): key for key in reasoning_pb2.Engine.keys()[1:]}
    if name not in names:
        raise RequestRejected(f"{name!r} is no engine; expected one of {', '.join(sorted(names))}")
    return reasoning_pb2.Engine.Value(names[name])


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RequestRejected(f"{str(path)!r} cannot be read: {error.strerror}") from error


def write_file(path: Path, data: bytes) -> None:
    """Write a file; `-` is standard output.

    Raises RequestRejected where it cannot be written.
    """
    if str(path) == "-":
        sys.stdout.buffer.write(data)
        return
    try:
        path.write_bytes(data)
    except OSError as error:
        raise RequestRejected(f"{str(path)!r} cannot be written: {error.strerror}") from error


def read_text(path: Path) -> str:
    """Read a UTF-8 file.

    Raises RequestRejected where it is missing or not UTF-8.
    """
    try:
        return _read(path).decode()
    except UnicodeDecodeError as error:
        raise RequestRejected(
            f"{str(path)!r} is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}"
        ) from error


def show_repairs(why_not: reasoning_pb2.ExplainWhyNotResponse) -> None:
    """Print the facts that would prove the goal, cheapest first; or that none would."""
    out = console()
    if why_not.repairs:
        fit = "" if why_not.complete else " (for a variable, a value that fits)"
        known = f", {why_not.optimality}" if why_not.optimality else ""
        out.print(f"would be proved by adding{fit}{known}:", style="bold")
    elif why_not.complete and why_not.decision.verdict == common_pb2.VERDICT_ABSTAINED:
        out.print("no facts that a source may still state would prove it", style="bold")
    for number, repair in enumerate(why_not.repairs, start=1):
        out.print(f"  {number}. " + "; ".join(repair.facts))
