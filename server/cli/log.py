"""`proofweave log`: the hash chain."""

from __future__ import annotations

import typer
from proofweave.v1 import knowledge_pb2

from .connection import connect
from .options import Config, Json, Kb, Server, Token, settings_of, target
from .outcome import console, print_json

app = typer.Typer(help="Check the hash chain of the knowledge log.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Check the hash chain of the knowledge log."""


@app.command()
def verify(
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Check every link: edits, reordering and a cut tail are errors.

    \b
    Example:
      proofweave log verify --kb kb
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        response = services.knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest())
    if as_json:
        print_json({"revision": response.revision, "log_head": response.log_head, "valid": True})
    else:
        console().print(f"the log holds: revision {response.revision}, head {response.log_head}")
