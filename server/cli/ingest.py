"""`proofweave ingest` and `proofweave import`: files to statements, streamed to a server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import grpc
import typer
from proofweave.v1 import common_pb2, knowledge_pb2
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..errors import FileUnreadable, RequestRejected
from ..status import problems_of
from ..translate import CHUNK
from .connection import Services, connect
from .options import Config, Json, Kb, Server, Token, settings_of, target
from .outcome import Exit, console, counted, print_json
from .prove import read_text

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files, or directories.")]

FEW_SECTIONS = 20
"""Sections of a document up to which its own progress is not shown."""


def ingest(
    files: Files,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Read documents into the knowledge base: only what a quote supports is admitted.

    A bad file is named and skipped, the rest goes on; then the exit code is 1.

    \b
    Examples:
      proofweave ingest --kb kb letters/ register.csv
      proofweave ingest --server localhost:7400 report.html --json
    """
    settings = settings_of(config)
    found = files_below(files)
    if not found:
        raise RequestRejected("there is no file in the given directories; nothing to ingest")
    with connect(target(server, kb, token, settings), settings) as services:
        outcomes, summary = _send(services, found, quiet=as_json)
    if as_json:
        print_json(_as_json(outcomes, summary))
    else:
        _show(outcomes, summary)
    raise typer.Exit(Exit.ERROR if summary.documents_rejected else Exit.DONE)


def files_below(paths: list[Path]) -> tuple[Path, ...]:
    """Give the files named, and those below directories, sorted, without hidden ones.

    Raises RequestRejected for a path that does not exist.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(
                file
                for file in path.rglob("*")
                if file.is_file()
                and not any(part.startswith(".") for part in file.relative_to(path).parts)
            )
        elif path.exists():
            found.append(path)
        else:
            raise RequestRejected(f"there is no file or directory {str(path)!r}")
    return tuple(dict.fromkeys(found))


def _messages(
    files: tuple[Path, ...], unreadable: list[knowledge_pb2.DocumentOutcome]
) -> Iterator[knowledge_pb2.IngestDocumentsRequest]:
    """Give the upload of the files that can be read; the others become outcomes of their own."""
    message = knowledge_pb2.IngestDocumentsRequest
    yield message(start=knowledge_pb2.IngestStart(progress=True))
    for file in files:
        try:
            stream = file.open("rb")
        except OSError as error:
            problem = problems_of(FileUnreadable(f"{file} cannot be read: {error.strerror}"))[0]
            unreadable.append(knowledge_pb2.DocumentOutcome(file_name=file.name, rejected=problem))
            continue
        with stream:
            header = common_pb2.FileHeader(file_name=file.name, size=file.stat().st_size)
            yield message(document=header)
            while chunk := stream.read(CHUNK):
                yield message(chunk=chunk)


def _send(
    services: Services, files: tuple[Path, ...], *, quiet: bool
) -> tuple[list[knowledge_pb2.DocumentOutcome], knowledge_pb2.IngestSummary]:
    outcomes: list[knowledge_pb2.DocumentOutcome] = []
    unreadable: list[knowledge_pb2.DocumentOutcome] = []
    summary = knowledge_pb2.IngestSummary()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True) as bar:
        task = bar.add_task("reading", total=len(files))
        part = bar.add_task("", total=None, visible=False)
        for response in _responses(services, files, unreadable, outcomes):
            match response.WhichOneof("content"):
                case "progress":
                    step = response.progress
                    bar.update(task, description=step.file_name[:40])
                    bar.update(
                        part,
                        description="  sections",
                        completed=step.done,
                        total=step.total,
                        visible=step.total > FEW_SECTIONS,
                    )
                case "outcome":
                    outcomes.append(response.outcome)
                    bar.update(task, advance=1, description=response.outcome.file_name[:40])
                case "summary":
                    summary = response.summary
    summary.documents_rejected += len(unreadable)
    return unreadable + outcomes, summary


def _responses(
    services: Services,
    files: tuple[Path, ...],
    unreadable: list[knowledge_pb2.DocumentOutcome],
    outcomes: list[knowledge_pb2.DocumentOutcome],
) -> Iterator[knowledge_pb2.IngestDocumentsResponse]:
    """Give the server's answers; where they end early, say what became of the files until then."""
    try:
        yield from services.knowledge.IngestDocuments(_messages(files, unreadable))
    except (grpc.RpcError, KeyboardInterrupt):
        typer.echo(
            f"{len(outcomes)} of {len(files)} files were done, and stay so; "
            "ingest the same files again for the rest",
            err=True,
        )
        raise


def _as_json(
    outcomes: list[knowledge_pb2.DocumentOutcome], summary: knowledge_pb2.IngestSummary
) -> dict[str, Any]:
    return {
        "documents": [outcome_json(outcome) for outcome in outcomes],
        "admitted": summary.documents_admitted,
        "new": summary.documents_new,
        "rejected": summary.documents_rejected,
        "statements_inserted": summary.statements_inserted,
        "statements_known": summary.statements_known,
        "rejected_by_reason": dict(sorted(summary.rejected_by_reason.items())),
        "links_asserted": summary.links_asserted,
        "links_withdrawn": summary.links_withdrawn,
        "revision": summary.revision,
    }


def outcome_json(outcome: knowledge_pb2.DocumentOutcome) -> dict[str, Any]:
    """Give what became of one document as JSON."""
    if outcome.HasField("rejected"):
        problem = {"reason": outcome.rejected.reason, "message": outcome.rejected.message}
        return {"file": outcome.file_name, "rejected": problem}
    admitted = outcome.admitted
    return {
        "file": outcome.file_name,
        "document": admitted.document.name,
        "title": admitted.document.title,
        "new": admitted.is_new,
        "statements_inserted": admitted.statements_inserted,
        "statements_known": admitted.statements_known,
        "rejected_by_reason": dict(sorted(admitted.rejected_by_reason.items())),
        **({"mapping": admitted.mapping} if admitted.mapping else {}),
        **(
            {"undefined_columns": list(admitted.undefined_columns)}
            if admitted.undefined_columns
            else {}
        ),
    }


def _show(
    outcomes: list[knowledge_pb2.DocumentOutcome], summary: knowledge_pb2.IngestSummary
) -> None:
    out = console()
    for outcome in outcomes:
        if outcome.HasField("rejected"):
            reason = f"{outcome.rejected.message} [{outcome.rejected.reason}]"
            out.print(f"rejected  {outcome.file_name}: {reason}", style="red")
            continue
        admitted = outcome.admitted
        words = counted(admitted.statements_inserted, "statement")
        if admitted.statements_known:
            words += f", {admitted.statements_known} known before"
        if not admitted.is_new:
            words += ", same bytes as before"
        out.print(f"admitted  {outcome.file_name}: {words}")
    out.print(
        f"{counted(summary.documents_admitted, 'document')} admitted "
        f"({summary.documents_new} new), {summary.documents_rejected} rejected; "
        f"{counted(summary.statements_inserted, 'statement')} new, "
        f"{summary.statements_known} known before",
        style="bold",
    )
    if summary.links_asserted or summary.links_withdrawn:
        out.print(
            f"{summary.links_asserted} names linked to titles, {summary.links_withdrawn} links "
            "withdrawn because other passages may be meant"
        )
    refused = Counter(dict(summary.rejected_by_reason))
    if refused:
        out.print("candidates refused, by reason:")
        for reason, count in sorted(refused.items()):
            out.print(f"  {count:6}  {reason}")


def import_table(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A csv, tsv or pipe table.")],
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", metavar="F.yaml", help="What the columns mean."),
    ] = None,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Import a table: header names are dimensions, each row is the quote of its statements.

    Where the header names none, a mapping of the packs is used if it fits the table.

    \b
    Examples:
      proofweave import --kb kb register.csv
      proofweave import --kb kb triples.txt --mapping triples.yaml
    """
    settings = settings_of(config)
    if not file.is_file():
        raise RequestRejected(f"there is no file {str(file)!r}")
    start = knowledge_pb2.ImportStart(
        file=common_pb2.FileHeader(file_name=file.name, size=file.stat().st_size),
        mapping=read_text(mapping) if mapping else "",
        mapping_name=mapping.name if mapping else "",
    )
    with connect(target(server, kb, token, settings), settings) as services:
        operation = _import(services, start, file, quiet=as_json)
    if operation.state != knowledge_pb2.Operation.STATE_SUCCEEDED:
        message = operation.problem.message
        raise RequestRejected(message if file.name in message else f"{file.name}: {message}")
    if as_json:
        print_json(outcome_json(operation.outcome))
        return
    admitted = operation.outcome.admitted
    if admitted.mapping:
        console().print(f"{file.name}: read by the mapping {admitted.mapping}")
    if admitted.undefined_columns:
        names = ", ".join(admitted.undefined_columns)
        console().print(
            f"{file.name}: no dimension is defined for {names}; imported under the name"
        )
    console().print(
        f"{file.name}: {counted(admitted.statements_inserted, 'statement')} new, "
        f"{admitted.statements_known} known before",
        style="bold",
    )
    for reason, count in sorted(admitted.rejected_by_reason.items()):
        console().print(f"  refused {count:6}  {reason}")


def _import(
    services: Services, start: knowledge_pb2.ImportStart, file: Path, *, quiet: bool
) -> knowledge_pb2.Operation:
    def messages() -> Iterator[knowledge_pb2.ImportStatementsRequest]:
        yield knowledge_pb2.ImportStatementsRequest(start=start)
        with file.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                yield knowledge_pb2.ImportStatementsRequest(chunk=chunk)

    operation = services.knowledge.ImportStatements(messages()).operation
    with Progress(console=Console(stderr=True), disable=quiet, transient=True) as bar:
        task = bar.add_task("importing", total=None)
        while operation.state == knowledge_pb2.Operation.STATE_RUNNING:
            request = knowledge_pb2.GetOperationRequest(name=operation.name, wait_ms=200)
            operation = services.knowledge.GetOperation(request).operation
            bar.update(task, completed=operation.done, total=operation.total or None)
    return operation
