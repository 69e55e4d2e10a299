"""`proofweave statement` and `proofweave document`: what is known, now or at a revision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from proofweave.v1 import common_pb2, knowledge_pb2

from ..errors import RequestRejected
from ..nearest import nearest
from .connection import Services, connect
from .options import At, Config, Json, Kb, Server, Token, settings_of, target
from .outcome import console, print_json

statements = typer.Typer(help="List statements and show their evidence.", no_args_is_help=True)
documents = typer.Typer(help="List documents.", no_args_is_help=True)

PAGE = 1000
LONGEST_QUOTE = 160

OnDay = Annotated[
    str, typer.Option("--valid-on", metavar="DATE", help="Only what is valid on this day.")
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="List at most so many.")]
Offsets = Annotated[
    bool, typer.Option("--offsets", help="With --json: ranges in bytes and UTF-16 as well.")
]


@statements.callback()
def statement_group() -> None:
    """List statements and show their evidence."""


@documents.callback()
def document_group() -> None:
    """List documents."""


@statements.command("list")
def list_statements(
    subject: Annotated[
        str, typer.Option("--subject", metavar="NAME", help="Only of this entity, as written.")
    ] = "",
    dimension: Annotated[
        str, typer.Option("--dimension", metavar="NAME", help="Only in this dimension.")
    ] = "",
    document: Annotated[
        str, typer.Option("--document", metavar="DOC", help="Only what this document states.")
    ] = "",
    at: At = "",
    valid_on: OnDay = "",
    offsets: Offsets = False,
    limit: Limit = 1000,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List statements by id, each with the quotes it stands on.

    Classes of taxonomies are statements too, of the dimension subclass_of.

    \b
    Examples:
      proofweave statement list --kb kb --subject 'Acme GmbH'
      proofweave statement list --kb kb --dimension liability_cover --valid-on 2026-03-01
      proofweave statement list --kb kb --at 12 --json --offsets
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        digest = document_digest(services, document, at=at) if document else ""
        found: list[common_pb2.Statement] = []
        page_token = ""
        while True:
            response = services.knowledge.ListStatements(
                knowledge_pb2.ListStatementsRequest(
                    subject=subject,
                    dimension=dimension,
                    document=digest,
                    at=at,
                    valid_on=valid_on,
                    offsets=offsets,
                    page_size=min(PAGE, limit - len(found)),
                    page_token=page_token,
                )
            )
            found += response.statements
            page_token = response.next_page_token
            if not page_token or len(found) >= limit:
                break
        asked = {"subject": subject, "dimension": dimension, "document": document}
        nothing = "" if found else _nothing(services, asked, at=at)
    if as_json:
        listed = [statement_json(statement) for statement in found]
        print_json({"statements": listed, "complete": not page_token})
        return
    out = console()
    for statement in found:
        out.print(statement_line(statement))
        for item in statement.evidence:
            quote = " ".join(item.quote.split())
            short = quote if len(quote) <= LONGEST_QUOTE else f"{quote[: LONGEST_QUOTE - 1]}…"
            out.print(f"      “{short}”", style="dim")
    if nothing:
        out.print(nothing)
    if page_token:
        out.print(f"the first {limit}; more with --limit", style="yellow")


def _nothing(services: Services, asked: dict[str, str], *, at: str) -> str:
    """Say that nothing is stated of what was asked, with the nearest dimension."""
    of = ", ".join(f"{what} {name!r}" for what, name in asked.items() if name)
    names = {
        dimension.name.rpartition("/")[2]
        for dimension in services.knowledge.ListDimensions(
            knowledge_pb2.ListDimensionsRequest(at=at)
        ).dimensions
    }
    dimension = asked["dimension"]
    hint = nearest(dimension, names) if dimension and dimension not in names else ""
    return f"nothing is stated{f' of {of}' if of else ''}{hint}"


@statements.command("get")
def get_statement(
    statement_id: Annotated[str, typer.Argument(metavar="ID", help="As st:...")],
    at: At = "",
    offsets: Offsets = False,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Show a statement with its evidence.

    \b
    Example:
      proofweave statement get st:0f3a... --kb kb --json --offsets
    """
    settings = settings_of(config)
    request = knowledge_pb2.GetStatementRequest(name=statement_id, at=at, offsets=offsets)
    with connect(target(server, kb, token, settings), settings) as services:
        statement = services.knowledge.GetStatement(request).statement
    if as_json:
        print_json(statement_json(statement))
        return
    out = console()
    out.print(statement_line(statement), style="bold")
    for item in statement.evidence:
        out.print(f"  “{item.quote}”")
        out.print(
            f"      [{item.start}, {item.end}) of {item.source_sha256}, by {item.extractor}",
            style="dim",
        )


@documents.command("list")
def list_documents(
    at: At = "",
    valid_on: OnDay = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List the documents by digest.

    \b
    Examples:
      proofweave document list --kb kb
      proofweave document list --kb kb --at 12 --json
    """
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        found = list(every_document(services, at=at, valid_on=valid_on))
    if as_json:
        print_json({"documents": [document_json(document) for document in found]})
        return
    for document in found:
        console().print(f"{document.source_sha256[:16]}  {document.file_name}  {document.title}")
    if not found:
        console().print("there are no documents")


def every_document(
    services: Services, *, at: str = "", valid_on: str = ""
) -> Iterator[knowledge_pb2.Document]:
    """Give the documents by digest, page by page."""
    page_token = ""
    while True:
        response = services.knowledge.ListDocuments(
            knowledge_pb2.ListDocumentsRequest(
                at=at, valid_on=valid_on, page_size=PAGE, page_token=page_token
            )
        )
        yield from response.documents
        page_token = response.next_page_token
        if not page_token:
            return


def document_digest(services: Services, text: str, *, at: str = "") -> str:
    """Give the digest of a document by its digest, the beginning of it, its file name or title.

    Raises RequestRejected where several are so called, or none.
    """
    digits = text.rpartition("/")[2]
    if len(digits) == 64:
        return digits
    known = tuple(every_document(services, at=at))
    found = [
        document
        for document in known
        if text == document.file_name
        or (len(digits) >= 8 and document.source_sha256.startswith(digits))
    ] or [document for document in known if text == document.title]
    if len(found) != 1:
        digests = ", ".join(document.source_sha256[:16] for document in found)
        what = (
            f"{len(found)} documents are called {text!r}: {digests}"
            if found
            else f"there is no document {text!r}"
        )
        names = {name for one in known for name in (one.file_name, one.title)}
        near = "" if found else nearest(text, names)
        raise RequestRejected(
            f"{what}; expected a digest, 8 digits of it, a file name or a title{near}"
        )
    return found[0].source_sha256


def statement_line(statement: common_pb2.Statement) -> str:
    """Write a statement on one line."""
    value = getattr(statement.value, statement.value.WhichOneof("kind") or "text")
    denied = "not " if statement.polarity == common_pb2.POLARITY_DENIED else ""
    modality = common_pb2.Modality.Name(statement.modality).removeprefix("MODALITY_").lower()
    said = "" if statement.modality == common_pb2.MODALITY_ASSERTED else f"  ({modality})"
    validity = statement.validity
    valid = (
        f"  [{validity.start or '..'}, {validity.end or '..'})"
        if (validity.start or validity.end)
        else ""
    )
    id = statement.name.rpartition("/")[2]
    return f"{id}  {statement.subject}: {denied}{statement.dimension} = {value}{said}{valid}"


def statement_json(statement: common_pb2.Statement) -> dict[str, Any]:
    """Give a statement as JSON."""
    kind = statement.value.WhichOneof("kind") or "text"
    return {
        "id": statement.name.rpartition("/")[2],
        "subject": statement.subject,
        "dimension": statement.dimension,
        "value": {
            "kind": kind.removesuffix("_label"),
            "value": getattr(statement.value, kind),
        },
        "polarity": common_pb2.Polarity.Name(statement.polarity).removeprefix("POLARITY_").lower(),
        "modality": common_pb2.Modality.Name(statement.modality).removeprefix("MODALITY_").lower(),
        "validity": {
            "start": statement.validity.start or None,
            "end": statement.validity.end or None,
        },
        "evidence": [evidence_json(item) for item in statement.evidence],
    }


def evidence_json(item: common_pb2.Evidence) -> dict[str, Any]:
    """Give evidence as JSON; ranges are half-open."""
    form: dict[str, Any] = {
        "source_sha256": item.source_sha256,
        "text_sha256": item.text_sha256,
        "start": item.start,
        "end": item.end,
        "quote": item.quote,
        "extractor": item.extractor,
        "confidence": item.confidence,
    }
    if item.HasField("offsets"):
        offsets = item.offsets
        in_source = offsets.HasField("source_byte_start")
        form["offsets"] = {
            "text_bytes": [offsets.text_byte_start, offsets.text_byte_end],
            "utf16": [offsets.utf16_start, offsets.utf16_end],
            "source_bytes": (
                [offsets.source_byte_start, offsets.source_byte_end] if in_source else None
            ),
        }
    return form


def document_json(document: knowledge_pb2.Document) -> dict[str, Any]:
    """Give a document as JSON."""
    return {
        "source_sha256": document.source_sha256,
        "text_sha256": document.text_sha256,
        "file_name": document.file_name,
        "title": document.title,
        "media_type": document.media_type,
        "decoder": document.decoder,
        "text_length": document.text_length,
        "passage_count": document.passage_count,
    }
