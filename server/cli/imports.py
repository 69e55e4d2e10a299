"""`proofweave import`: a table or RDF to statements, as an operation of a server."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import grpc
import typer
from proofweave.v1 import common_pb2, knowledge_pb2
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from ..errors import FileUnreadable, RequestRejected
from ..translate import CHUNK
from .connection import Services, connect
from .ingest import outcome_json
from .options import Config, Json, Kb, Server, Token, settings_of, target
from .outcome import Exit, console, counted, print_json, progress
from .prove import read_text


class Format(Enum):
    """What a file is, by the names of the command line."""

    CSV = "csv"
    TSV = "tsv"
    N_TRIPLES = "ntriples"
    N_QUADS = "nquads"
    TURTLE = "turtle"
    TRIG = "trig"
    RDF_XML = "rdfxml"
    JSON_LD = "jsonld"


_MEDIA_TYPES = {
    Format.CSV: "text/csv",
    Format.TSV: "text/tab-separated-values",
    Format.N_TRIPLES: "application/n-triples",
    Format.N_QUADS: "application/n-quads",
    Format.TURTLE: "text/turtle",
    Format.TRIG: "application/trig",
    Format.RDF_XML: "application/rdf+xml",
    Format.JSON_LD: "application/ld+json",
}


def import_file(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A csv, tsv or pipe table; nt, nq, ttl, trig, rdf, owl, jsonld."
        ),
    ],
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", metavar="F.yaml", help="What columns or predicates mean."),
    ] = None,
    syntax: Annotated[
        Format | None, typer.Option("--format", help="Default: by the ending of the file's name.")
    ] = None,
    define: Annotated[
        bool,
        typer.Option("--define", help="RDF: define predicates that nobody has, by their values."),
    ] = False,
    languages: Annotated[
        list[str] | None,
        typer.Option(
            "--language", metavar="TAG", help="RDF: of literals with one these, repeated."
        ),
    ] = None,
    prefixes: Annotated[
        list[str] | None,
        typer.Option(
            "--entities", metavar="IRI", help="RDF: entities are named by what follows; repeated."
        ),
    ] = None,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Import a table or RDF: each row, line or description is the quote of its statements.

    Of a table the header names dimensions, or a mapping says what columns are; where neither does,
    a mapping of the packs is used if it fits. Of RDF the predicates do, by their last part. What
    cannot be read is listed with its line and the rest goes on; after a break, run it again. Where
    all was refused, the exit code is 1.

    \b
    Examples:
      proofweave import --kb kb register.csv
      proofweave import --kb kb triples.txt --mapping triples.yaml
      proofweave import --kb kb films.ttl --define --entities http://example.org/film/
    """
    settings = settings_of(config)
    if not file.is_file():
        raise RequestRejected(f"there is no file {str(file)!r}")
    start = knowledge_pb2.ImportStart(
        file=common_pb2.FileHeader(
            file_name=file.name,
            size=file.stat().st_size,
            media_type=_MEDIA_TYPES[syntax] if syntax else "",
        ),
        mapping=read_text(mapping) if mapping else "",
        mapping_name=mapping.name if mapping else "",
        define=define,
        languages=languages or (),
        entity_prefixes=prefixes or (),
    )
    with connect(target(server, kb, token, settings), settings) as services:
        operation = _import(services, start, file, quiet=as_json)
    if operation.state != knowledge_pb2.Operation.STATE_SUCCEEDED:
        message = operation.problem.message or "the import was cancelled"
        raise RequestRejected(message if file.name in message else f"{file}: {message}")
    if as_json:
        print_json(import_json(operation.outcome, file))
    else:
        _show(operation.outcome.admitted, file)
    raise typer.Exit(exit_of_import(operation.outcome.admitted))


def exit_of_import(admitted: knowledge_pb2.DocumentAdmitted) -> Exit:
    """Give the exit code: an error where everything was refused and nothing of it is known."""
    known = admitted.statements_inserted + admitted.statements_known
    return Exit.ERROR if admitted.refused and not known else Exit.DONE


def import_json(outcome: knowledge_pb2.DocumentOutcome, file: Path) -> dict[str, Any]:
    """Give what became of an import as JSON."""
    admitted = outcome.admitted
    return {
        **outcome_json(outcome, str(file)),
        "defined_dimensions": list(admitted.defined_dimensions),
        "refused": [
            {"reason": each.reason, "count": each.count, "lines": list(each.lines)}
            for each in admitted.refused
        ],
    }


def _show(admitted: knowledge_pb2.DocumentAdmitted, file: Path) -> None:
    out = console()
    if admitted.mapping:
        out.print(f"{file}: read by the mapping {admitted.mapping}")
    if admitted.defined_dimensions:
        why = ""
        if admitted.undefined_columns:
            why = f", since no dimension was defined for {', '.join(admitted.undefined_columns)}"
        out.print(f"{file}: defined {', '.join(admitted.defined_dimensions)}{why}")
    refused = sum(each.count for each in admitted.refused)
    out.print(
        f"{file}: {counted(admitted.statements_inserted, 'statement')} new, "
        f"{admitted.statements_known} known before, {refused} refused",
        style="bold",
    )
    for each in admitted.refused:
        lines = ", ".join(map(str, each.lines))
        more = ", ..." if each.count > len(each.lines) else ""
        word = "line" if len(each.lines) == 1 and not more else "lines"
        out.print(f"  refused {each.count:6}  {each.reason} ({word} {lines}{more})")
    if any(each.reason.startswith("no dimension ") for each in admitted.refused):
        out.print("  (--define defines what nobody has defined; --mapping says what it is)")


def _import(
    services: Services, start: knowledge_pb2.ImportStart, file: Path, *, quiet: bool
) -> knowledge_pb2.Operation:
    try:
        stream = file.open("rb")
    except OSError as error:
        raise FileUnreadable(f"{file} cannot be read: {error.strerror}") from error

    def messages() -> Iterator[knowledge_pb2.ImportStatementsRequest]:
        yield knowledge_pb2.ImportStatementsRequest(start=start)
        with stream:
            while chunk := stream.read(CHUNK):
                yield knowledge_pb2.ImportStatementsRequest(chunk=chunk)

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    operation = services.knowledge.ImportStatements(messages()).operation
    with progress(*columns, quiet=quiet) as bar:
        task = bar.add_task(f"importing {file}", total=None)
        try:
            while operation.state == knowledge_pb2.Operation.STATE_RUNNING:
                request = knowledge_pb2.GetOperationRequest(name=operation.name, wait_ms=200)
                operation = services.knowledge.GetOperation(request).operation
                bar.update(task, completed=operation.done, total=operation.total or None)
        except (grpc.RpcError, KeyboardInterrupt):
            typer.echo("what was imported until now stays; import the same file again", err=True)
            raise
    return operation
