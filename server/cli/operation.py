"""`proofweave operation`: imports at work, ended or interrupted."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from proofweave.v1 import knowledge_pb2

from .connection import connect
from .imports import exit_of_import
from .options import Config, Json, Kb, Server, Token, settings_of, target
from .outcome import Exit, console, print_json

app = typer.Typer(help="List imports, and go on with one.", no_args_is_help=True)

Number = Annotated[str, typer.Argument(metavar="NUMBER", help="As `operation list` shows it.")]


@app.callback()
def group() -> None:
    """List imports, and go on with one."""


@app.command("list")
def list_operations(
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List imports in order of their start, with how they stand.

    \b
    Example:
      proofweave operation list --kb kb
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        found = services.knowledge.ListOperations(knowledge_pb2.ListOperationsRequest()).operations
    if as_json:
        print_json({"operations": [operation_json(operation) for operation in found]})
        return
    for operation in found:
        console().print(operation_line(operation))
    if not found:
        console().print("nothing has been imported yet")


@app.command()
def resume(
    number: Number,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Go on with an import that was interrupted, cancelled or has failed, and wait for its end.

    \b
    Example:
      proofweave operation resume 3 --kb kb
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        request = knowledge_pb2.ResumeOperationRequest(name=number)
        operation = services.knowledge.ResumeOperation(request).operation
        while operation.state == knowledge_pb2.Operation.STATE_RUNNING:
            wait = knowledge_pb2.GetOperationRequest(name=operation.name, wait_ms=1000)
            operation = services.knowledge.GetOperation(wait).operation
    if as_json:
        print_json(operation_json(operation))
    else:
        console().print(operation_line(operation))
    done = operation.state == knowledge_pb2.Operation.STATE_SUCCEEDED
    raise typer.Exit(exit_of_import(operation.outcome.admitted) if done else Exit.ERROR)


def state_word(operation: knowledge_pb2.Operation) -> str:
    """Give the state in lower case: `interrupted`."""
    return knowledge_pb2.Operation.State.Name(operation.state).removeprefix("STATE_").lower()


def operation_line(operation: knowledge_pb2.Operation) -> str:
    """Write an operation on one line."""
    admitted = operation.outcome.admitted
    told = {
        "succeeded": f": {admitted.statements_inserted} statements new, "
        f"{admitted.statements_known} known before",
        "failed": f": {operation.problem.message}",
        "interrupted": ": the server ended; go on with `operation resume`",
    }.get(state_word(operation), "")
    number = operation.name.rpartition("/")[2]
    return f"{number}  {state_word(operation)}  {operation.file_name}{told}"


def operation_json(operation: knowledge_pb2.Operation) -> dict[str, Any]:
    """Give an operation as JSON."""
    admitted = operation.outcome.admitted
    return {
        "number": int(operation.name.rpartition("/")[2]),
        "state": state_word(operation),
        "file_name": operation.file_name,
        "source_sha256": operation.source_sha256,
        "started": operation.started.ToJsonString(),
        "done": operation.done,
        "total": operation.total,
        "problem": operation.problem.message or None,
        "statements_inserted": admitted.statements_inserted,
        "statements_known": admitted.statements_known,
    }
