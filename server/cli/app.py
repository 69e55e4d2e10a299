"""The command line as one application: every command, and where it is described."""

from __future__ import annotations

import typer

from . import ask, certificate, graph, ingest, lattice, local, log, pack, policy, prove

EPILOG = "Exit codes: 0 certified or done, 1 error, 2 usage, 3 abstained, 4 refuted, 5 rejected."


def build() -> typer.Typer:
    """Assemble the application."""
    app = typer.Typer(
        name="proofweave",
        help="Answers only with a proof, and otherwise says exactly what is missing.",
        epilog=EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    for command in (local.init, ingest.ingest):
        app.command()(command)
    app.command("import")(ingest.import_table)
    for command in (ask.ask, ask.plan, prove.prove, prove.supports):
        app.command()(command)
    for command in (certificate.export, graph.sparql, local.serve, local.verify):
        app.command()(command)
    for command in (local.backup, local.restore):
        app.command()(command)
    app.add_typer(policy.app, name="policy")
    app.add_typer(pack.app, name="pack")
    app.add_typer(lattice.app, name="lattice")
    app.add_typer(log.app, name="log")
    app.add_typer(certificate.app, name="certificate")
    return app
