"""`proofweave retract` and `proofweave erase`: withdraw what is known, or erase its source."""

from __future__ import annotations

from typing import Annotated

import typer
from proofweave.v1 import knowledge_pb2

from .connection import connect
from .listing import document_digest, statement_json, statement_line
from .options import Config, Json, Kb, Server, Token, settings_of, target
from .outcome import console, counted, print_json

app = typer.Typer(help="Withdraw statements; what else supports them stays.", no_args_is_help=True)

Document = Annotated[
    str, typer.Argument(metavar="DOC", help="Digest, 8 digits of it, file name or title.")
]
Erase = Annotated[
    bool, typer.Option("--erase", help="Erase it from the log, too. This cannot be undone.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")]


@app.callback()
def group() -> None:
    """Withdraw statements; what else supports them stays."""


@app.command()
def statement(
    statement_id: Annotated[str, typer.Argument(metavar="ID", help="As st:...")],
    erase_it: Erase = False,
    dry_run: DryRun = False,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Withdraw all evidence given so far for a statement.

    The same evidence does not bring it back; evidence from elsewhere does. With --erase, the log
    and earlier revisions lose it as well, and proofs that rest on it verify as ERASED; the document
    keeps its words, see `erase`.

    \b
    Examples:
      proofweave retract statement st:0f3a... --kb kb --dry-run
      proofweave retract statement st:0f3a... --kb kb --erase
    """
    settings = settings_of(config)
    request = knowledge_pb2.RetractStatementRequest(
        name=statement_id, dry_run=dry_run, erase=erase_it
    )
    with connect(target(server, kb, token, settings), settings) as services:
        response = services.knowledge.RetractStatement(request)
    word = "erased" if erase_it else "withdrawn"
    show(response.removal, response.revision, dry_run=dry_run, as_json=as_json, word=word)


@app.command()
def span(
    document: Document,
    start: Annotated[int, typer.Argument(min=0, help="First code point.")],
    end: Annotated[int, typer.Argument(min=1, help="Code point behind the last.")],
    erase_it: Erase = False,
    dry_run: DryRun = False,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Withdraw the evidence that quotes any of a span of a document.

    \b
    Example:
      proofweave retract span insurance.md 120 164 --kb kb
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        response = services.knowledge.RetractSpan(
            knowledge_pb2.RetractSpanRequest(
                name=document_digest(services, document),
                start=start,
                end=end,
                dry_run=dry_run,
                erase=erase_it,
            )
        )
    word = "erased" if erase_it else "withdrawn"
    show(response.removal, response.revision, dry_run=dry_run, as_json=as_json, word=word)


@app.command("document")
def retract_document(
    document: Document,
    dry_run: DryRun = False,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Withdraw a document with all it states; its bytes stay, for proofs given before.

    \b
    Example:
      proofweave retract document insurance.md --kb kb
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        response = services.knowledge.RetractDocument(
            knowledge_pb2.RetractDocumentRequest(
                name=document_digest(services, document), dry_run=dry_run
            )
        )
    show(response.removal, response.revision, dry_run=dry_run, as_json=as_json)


@app.command()
def run(
    extractor: Annotated[
        str, typer.Argument(metavar="EXTRACTOR", help="As evidence names it, with its version.")
    ],
    document: Annotated[
        str, typer.Option("--document", metavar="DOC", help="Only what it read in this document.")
    ] = "",
    erase_it: Erase = False,
    dry_run: DryRun = False,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Withdraw what an extractor has read; another version may read it again.

    \b
    Examples:
      proofweave retract run patterns/1 --kb kb --dry-run
      proofweave retract run llm/1:gpt --document report.md --kb kb
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        response = services.knowledge.RetractRun(
            knowledge_pb2.RetractRunRequest(
                extractor=extractor,
                document=document_digest(services, document) if document else "",
                dry_run=dry_run,
                erase=erase_it,
            )
        )
    word = "erased" if erase_it else "withdrawn"
    show(response.removal, response.revision, dry_run=dry_run, as_json=as_json, word=word)


def erase(
    document: Document,
    dry_run: DryRun = False,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Erase the bytes of a document and all that was taken from it. This cannot be undone.

    The log keeps its digest and says that it was erased; proofs that quote it verify as ERASED.
    Statements, spans and runs alone are erased by `retract ... --erase`.

    \b
    Examples:
      proofweave erase letter.md --kb kb --dry-run
      proofweave erase 3fa85f64... --kb kb
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        response = services.knowledge.EraseDocument(
            knowledge_pb2.EraseDocumentRequest(
                name=document_digest(services, document), dry_run=dry_run
            )
        )
    show(response.removal, response.revision, dry_run=dry_run, as_json=as_json, word="erased")


def show(
    removal: knowledge_pb2.Removal,
    revision: str,
    *,
    dry_run: bool,
    as_json: bool,
    word: str = "withdrawn",
) -> None:
    """Print what was removed, or would be."""
    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "revision": revision,
                "fallen": [statement_json(found) for found in removal.fallen],
                "fallen_count": removal.fallen_count,
                "kept": [statement_json(found) for found in removal.kept],
                "kept_count": removal.kept_count,
                "certificates": list(removal.certificates),
            }
        )
        return
    out = console()
    for label, found, count in (
        ("would fall" if dry_run else "fell", removal.fallen, removal.fallen_count),
        (
            "would keep other evidence" if dry_run else "kept other evidence",
            removal.kept,
            removal.kept_count,
        ),
    ):
        if count:
            out.print(f"{counted(count, 'statement')} {label}", style="bold")
        for each in found:
            out.print(f"  {statement_line(each)}")
        if count > len(found):
            out.print(f"  and {count - len(found)} more")
    if not removal.fallen_count and not removal.kept_count:
        out.print("no statement rests on it", style="bold")
    for digest in removal.certificates:
        out.print(f"  certificate {digest} rests on it", style="yellow")
    done = f"nothing {word}: dry run at" if dry_run else f"{word}:"
    out.print(f"{done} revision {revision}")
