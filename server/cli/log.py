"""`proofweave log`: the hash chain."""

from __future__ import annotations

from typing import Annotated

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
    expect: Annotated[
        str,
        typer.Option(
            "--expect", metavar="REVISION:HEAD", help="As a receipt says; must be in the log."
        ),
    ] = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Check every link: edits, reordering and a cut tail are errors.

    The heads in recorded receipts are checked too, and one that was noted elsewhere if given.

    \b
    Examples:
      proofweave log verify --kb kb
      proofweave log verify --kb kb --expect 12:9f86d081884c7d65...
    """
    settings = settings_of(config)
    revision, _, head = expect.partition(":")
    with connect(target(server, kb, token, settings), settings) as services:
        response = services.knowledge.VerifyLog(
            knowledge_pb2.VerifyLogRequest(expect_revision=revision, expect_head=head)
        )
    if as_json:
        print_json({"revision": response.revision, "log_head": response.log_head, "valid": True})
    else:
        console().print(f"the log holds: revision {response.revision}, head {response.log_head}")
