"""The command line as one application: every command, and where it is described."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from ..versions import VERSIONS
from . import (
    ask,
    certificate,
    contrast,
    dependents,
    diff,
    graph,
    ingest,
    lattice,
    listing,
    local,
    log,
    operation,
    pack,
    policy,
    prove,
    removal,
    supports,
)

EPILOG = "Exit codes: 0 certified or done, 1 error, 2 usage, 3 abstained, 4 refuted, 5 rejected."


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"proofweave {VERSIONS.get('proofweave', '(not installed)')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Answers only with a proof, and otherwise says exactly what is missing."""


def build() -> typer.Typer:
    """Assemble the application."""
    app = typer.Typer(
        name="proofweave",
        epilog=EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_options)
    commands: tuple[tuple[str, Callable[..., None]], ...] = (
        ("init", local.init),
        ("ingest", ingest.ingest),
        ("import", ingest.import_table),
        ("ask", ask.ask),
        ("plan", ask.plan),
        ("prove", prove.prove),
        ("supports", supports.supports),
        ("contrast", contrast.contrast),
        ("diff", diff.diff),
        ("dependents", dependents.dependents),
        ("review", certificate.review),
        ("export", certificate.export),
        ("sparql", graph.sparql),
        ("hypergraph", graph.hypergraph),
        ("erase", removal.erase),
        ("serve", local.serve),
        ("verify", local.verify),
        ("backup", local.backup),
        ("restore", local.restore),
    )
    for name, command in commands:
        app.command(name)(command)
    app.add_typer(policy.app, name="policy")
    app.add_typer(pack.app, name="pack")
    app.add_typer(lattice.app, name="lattice")
    app.add_typer(log.app, name="log")
    app.add_typer(listing.statements, name="statement")
    app.add_typer(listing.documents, name="document")
    app.add_typer(removal.app, name="retract")
    app.add_typer(operation.app, name="operation")
    app.add_typer(certificate.app, name="certificate")
    return app
