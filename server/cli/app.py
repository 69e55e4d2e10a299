"""The command line as one application: every command, and where it is described.

Only the module of the command asked for is loaded; of the others the first line of help is enough.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer

EPILOG = "Exit codes: 0 certified or done, 1 error, 2 usage, 3 abstained, 4 refuted, 5 rejected."


class Entry(NamedTuple):
    """A command: the function `name` of a module beside this; `says` is its first line of help."""

    word: str
    module: str
    name: str
    says: str


class Group(NamedTuple):
    """A group of commands: an application of a module beside this."""

    word: str
    module: str
    name: str
    says: str


COMMANDS = (
    Entry(
        "init",
        "local",
        "init",
        "Make a knowledge base; the shipped packs are ready for use in it.",
    ),
    Entry(
        "ingest",
        "ingest",
        "ingest",
        "Read documents into the knowledge base: only what a quote supports is admitted.",
    ),
    Entry(
        "import",
        "imports",
        "import_file",
        "Import a table or RDF: each row, line or description is the quote of its statements.",
    ),
    Entry("ask", "ask", "ask", "Answer a question with a proof, or say what is missing."),
    Entry("plan", "ask", "plan", "Show how a question is understood, without answering it."),
    Entry("prove", "prove", "prove", "Prove a goal, or say exactly what is missing."),
    Entry(
        "supports",
        "supports",
        "supports",
        "List the inclusion-minimal supports of a goal: sets of quotes, each of which proves it.",
    ),
    Entry(
        "contrast",
        "contrast",
        "contrast",
        "Say why GOAL is proved and OTHER is not: the requirements at which they differ.",
    ),
    Entry(
        "diff",
        "diff",
        "diff",
        "Decide a goal twice and name the first step that flipped, why, and what follows from it.",
    ),
    Entry(
        "dependents",
        "dependents",
        "dependents",
        "List the recorded decisions that rest on a source, a statement or a policy.",
    ),
    Entry(
        "review",
        "certificate",
        "review",
        "List the decisions that nobody has reviewed, or sign one off.",
    ),
    Entry(
        "export",
        "certificate",
        "export",
        "Write a certificate as one self-contained file for reviewers.",
    ),
    Entry(
        "sparql",
        "graph",
        "sparql",
        "Run a SPARQL query; the default graph is the union of all sources.",
    ),
    Entry(
        "hypergraph",
        "graph",
        "hypergraph",
        "Write the requirement hypergraph of a game log, for `prove --hypergraph` or the API.",
    ),
    Entry(
        "erase",
        "removal",
        "erase",
        "Erase the bytes of a document and all that was taken from it. This cannot be undone.",
    ),
    Entry(
        "serve",
        "local",
        "serve",
        "Serve knowledge bases: gRPC, and SPARQL and JSON over HTTP, in one process.",
    ),
    Entry(
        "verify",
        "local",
        "verify",
        "Check a certificate with the independent checker; exit code 5 where it is rejected.",
    ),
    Entry(
        "backup",
        "local",
        "backup",
        "Write one file with everything that cannot be rebuilt; a running server may go on.",
    ),
    Entry("restore", "local", "restore", "Bring a backup back and check its log."),
)

GROUPS = (
    Group("policy", "policy", "app", "Publish, check and test policies."),
    Group("pack", "pack", "app", "Start, test and add domain packs."),
    Group("lattice", "lattice", "app", "Look at the orders of dimensions, and exchange them."),
    Group("log", "log", "app", "Check the hash chain of the knowledge log."),
    Group("statement", "listing", "statements", "List statements and show their evidence."),
    Group("document", "listing", "documents", "List documents."),
    Group("retract", "removal", "app", "Withdraw statements; what else supports them stays."),
    Group("operation", "operation", "app", "List imports, and go on with one."),
    Group("certificate", "certificate", "app", "Read, list and compare stored certificates."),
)


def _show_version(asked: bool) -> None:
    if asked:
        from ..versions import VERSIONS

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


def _not_loaded() -> None:
    raise AssertionError("this command was only named, not loaded")


def build(word: str | None = None) -> typer.Typer:
    """Assemble the application: whole, or with only the command `word` ready to run."""
    app = typer.Typer(
        name="proofweave",
        epilog=EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_options)
    for entry in COMMANDS:
        if word in (None, entry.word):
            app.command(entry.word)(getattr(_module(entry.module), entry.name))
        else:
            app.command(entry.word, help=entry.says)(_not_loaded)
    for group in GROUPS:
        if word in (None, group.word):
            app.add_typer(getattr(_module(group.module), group.name), name=group.word)
        else:
            named = typer.Typer(help=group.says, no_args_is_help=True)
            named.callback()(_not_loaded)
            app.add_typer(named, name=group.word)
    return app


def _module(name: str) -> Any:  # a module, whose names are known to the table above alone
    return import_module(f".{name}", __package__)
