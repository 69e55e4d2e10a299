"""Options that many commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..settings import Settings, load_settings
from .connection import Target

Kb = Annotated[
    Path | None,
    typer.Option("--kb", metavar="DIR", help="Knowledge base; starts a private server meanwhile."),
]
Server = Annotated[
    str | None,
    typer.Option("--server", metavar="HOST:PORT", help="Address of a running server."),
]
Token = Annotated[
    str | None,
    typer.Option("--token", envvar="PROOFWEAVE_TOKEN", help="Bearer token for --server."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file; default: ./proofweave.toml."),
]
ValidOn = Annotated[
    str, typer.Option("--valid-on", metavar="DATE", help="Decide for this day; default: today.")
]
At = Annotated[
    str,
    typer.Option(
        "--at", metavar="REVISION", help="What was known at this revision; default: the newest."
    ),
]
Deadline = Annotated[
    int,
    typer.Option(
        "--deadline",
        metavar="MS",
        min=0,
        show_default=False,
        help="Stop after so many milliseconds; default: the server's limit.",
    ),
]
MaxAnswers = Annotated[
    int,
    typer.Option(
        "--max-answers",
        metavar="N",
        min=0,
        show_default=False,
        help="List at most so many answers; default: the server's limit.",
    ),
]


def target(server: str | None, kb: Path | None, token: str | None, settings: Settings) -> Target:
    """Choose where the knowledge is: as said, else the only knowledge base of the settings."""
    if server is None and kb is None and len(settings.knowledge.bases) == 1:
        (kb,) = settings.knowledge.bases.values()
    return Target(server, kb, token)


def settings_of(config: Path | None) -> Settings:
    """Read the settings a command runs under."""
    return load_settings(config)
