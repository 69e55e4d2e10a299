"""`proofweave ingest`: documents to statements, streamed to a server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import grpc
import typer
from proofweave.v1 import common_pb2, knowledge_pb2
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from ..errors import FileUnreadable, RequestRejected
from ..status import problems_of
from ..translate import CHUNK
from .connection import Services, connect
from .options import Config, Json, Kb, Server, Token, settings_of, target
from .outcome import Exit, console, counted, print_json, progress

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files, or directories.")]

Told = tuple[Path, knowledge_pb2.DocumentOutcome]
"""A file as it was given, and what became of it."""

FEW_SECTIONS = 20
"""Sections of a document up to which its own progress is not shown."""

LONGEST_SHOWN = 60
"""Characters of a path beside the progress bar."""


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
    if summary.hint:
        typer.echo(f"hint: {summary.hint}", err=True)
    raise typer.Exit(Exit.ERROR if summary.documents_rejected else Exit.DONE)


def files_below(paths: list[Path]) -> tuple[Path, ...]:
    """Give the files named, and those below directories, sorted, without hidden ones.

    A link that leads nowhere counts as a file, which cannot be read. Raises RequestRejected for a
    path that does not exist.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(
                file
                for file in path.rglob("*")
                if (file.is_file() or _leads_nowhere(file))
                and not any(part.startswith(".") for part in file.relative_to(path).parts)
            )
        elif path.exists() or path.is_symlink():
            found.append(path)
        else:
            raise RequestRejected(f"there is no file or directory {str(path)!r}")
    return tuple(dict.fromkeys(found))


def _leads_nowhere(file: Path) -> bool:
    return file.is_symlink() and not file.exists()


def _messages(
    files: tuple[Path, ...], sent: list[Path], unreadable: list[Told]
) -> Iterator[knowledge_pb2.IngestDocumentsRequest]:
    """Give the upload of the files that can be read; the others become outcomes of their own."""
    message = knowledge_pb2.IngestDocumentsRequest
    yield message(start=knowledge_pb2.IngestStart(progress=True))
    for file in files:
        try:
            stream = file.open("rb")
        except OSError as error:
            why = error.strerror
            if _leads_nowhere(file):
                why = f"it is a link to {file.readlink()}, which is not there"
            problem = problems_of(FileUnreadable(f"{file} cannot be read: {why}"))[0]
            unreadable.append((file, knowledge_pb2.DocumentOutcome(rejected=problem)))
            continue
        sent.append(file)
        with stream:
            header = common_pb2.FileHeader(file_name=file.name, size=file.stat().st_size)
            yield message(document=header)
            while chunk := stream.read(CHUNK):
                yield message(chunk=chunk)


def _send(
    services: Services, files: tuple[Path, ...], *, quiet: bool
) -> tuple[list[Told], knowledge_pb2.IngestSummary]:
    outcomes: list[Told] = []
    unreadable: list[Told] = []
    sent: list[Path] = []
    summary = knowledge_pb2.IngestSummary()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with progress(*columns, quiet=quiet) as bar:
        task = bar.add_task("reading", total=len(files))
        part = bar.add_task("", total=None, visible=False)
        messages = _messages(files, sent, unreadable)
        for response in _responses(services, messages, outcomes, total=len(files)):
            match response.WhichOneof("content"):
                case "progress":
                    step = response.progress
                    bar.update(task, description=_short(sent[step.index]))
                    bar.update(
                        part,
                        description="  sections",
                        completed=step.done,
                        total=step.total,
                        visible=step.total > FEW_SECTIONS,
                    )
                case "outcome":
                    file = sent[response.outcome.index]
                    outcomes.append((file, response.outcome))
                    bar.update(task, advance=1, description=_short(file))
                case "summary":
                    summary = response.summary
    summary.documents_rejected += len(unreadable)
    return unreadable + outcomes, summary


def _short(file: Path) -> str:
    """Give the path as given, of a long one the end."""
    text = str(file)
    return text if len(text) <= LONGEST_SHOWN else "..." + text[3 - LONGEST_SHOWN :]


def _responses(
    services: Services,
    messages: Iterator[knowledge_pb2.IngestDocumentsRequest],
    outcomes: list[Told],
    *,
    total: int,
) -> Iterator[knowledge_pb2.IngestDocumentsResponse]:
    """Give the server's answers; where they end early, say what became of the files until then."""
    try:
        yield from services.knowledge.IngestDocuments(messages)
    except (grpc.RpcError, KeyboardInterrupt):
        typer.echo(
            f"{len(outcomes)} of {total} files were done, and stay so; "
            "ingest the same files again for the rest",
            err=True,
        )
        raise


def _as_json(outcomes: list[Told], summary: knowledge_pb2.IngestSummary) -> dict[str, Any]:
    return {
        "documents": [outcome_json(outcome, str(file)) for file, outcome in outcomes],
        "admitted": summary.documents_admitted,
        "new": summary.documents_new,
        "rejected": summary.documents_rejected,
        "statements_inserted": summary.statements_inserted,
        "statements_known": summary.statements_known,
        "rejected_by_reason": dict(sorted(summary.rejected_by_reason.items())),
        "links_asserted": summary.links_asserted,
        "links_withdrawn": summary.links_withdrawn,
        "revision": summary.revision,
        "hint": summary.hint or None,
    }


def outcome_json(outcome: knowledge_pb2.DocumentOutcome, file: str) -> dict[str, Any]:
    """Give what became of one document as JSON."""
    if outcome.HasField("rejected"):
        problem = {"reason": outcome.rejected.reason, "message": outcome.rejected.message}
        return {"file": file, "rejected": problem}
    admitted = outcome.admitted
    return {
        "file": file,
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


def _show(outcomes: list[Told], summary: knowledge_pb2.IngestSummary) -> None:
    out = console()
    for file, outcome in outcomes:
        if outcome.HasField("rejected"):
            reason = f"{outcome.rejected.message} [{outcome.rejected.reason}]"
            out.print(f"rejected  {file}: {reason}", style="red")
            continue
        admitted = outcome.admitted
        words = counted(admitted.statements_inserted, "statement")
        if admitted.statements_known:
            words += f", {admitted.statements_known} known before"
        if not admitted.is_new:
            words += ", same bytes as before"
        out.print(f"admitted  {file}: {words}")
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
