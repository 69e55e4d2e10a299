"""Uploaded tables and RDF to admitted statements: one file, all that its rows or triples state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proofweave.v1 import knowledge_pb2

from kb.admission import Admission
from kb.document import RDF_TYPES, Document, decode
from kb.errors import MappingRejected
from kb.rdf_import import LINES_KEPT, OTHER_REASONS, RdfOptions, Refusal, import_rdf
from kb.table_mapping import TableMapping, read_mapping
from kb.tables import RejectedRow, import_table

from .errors import RequestRejected
from .ingestion import SHOWN
from .knowledge import Knowledge
from .operation_records import ImportOrder
from .operations import Progress
from .table_reading import TableReading, read_columns
from .translate import document_message

MOST_REASONS = 100
"""Reasons of refusals that an outcome tells apart; the others are counted together."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What a request says of the file; `mapping` is None where it says nothing of the columns."""

    mapping: TableMapping | None = None
    define: bool = False
    languages: tuple[str, ...] = ()
    entity_prefixes: tuple[str, ...] = ()


def import_upload(
    knowledge: Knowledge, order: ImportOrder, progress: Progress, *, limit: int
) -> knowledge_pb2.DocumentOutcome:
    """Import one file; its errors are the caller's. Progress counts code points of its text.

    Raises RequestRejected where the request says of a table what only RDF has.
    """
    data, header, run = order.data, order.start.file, order.requester
    request = import_request(order.start)
    document = decode(
        data, name=header.file_name, media_type=header.media_type or None, limit=limit
    )
    if document.media_type in RDF_TYPES:
        outcome = _rdf(knowledge, document, data, request, run=run, progress=progress)
    else:
        outcome = _table(knowledge, document, data, request, run=run, progress=progress)
    progress.done = progress.total
    knowledge.link_titles(run=run)
    return outcome


def _table(
    knowledge: Knowledge,
    document: Document,
    data: bytes,
    request: ImportRequest,
    *,
    run: str,
    progress: Progress,
) -> knowledge_pb2.DocumentOutcome:
    if request.define or request.languages or request.entity_prefixes:
        raise RequestRejected(
            f"{document.name} is read as a table; defining predicates, languages and prefixes of "
            "IRIs are of RDF (.nt, .nq, .ttl, .trig, .rdf, .owl, .jsonld)"
        )
    if request.mapping is None:
        reading = read_columns(document, knowledge.packs, knowledge.dimensions())
    else:
        reading = TableReading(request.mapping)
    progress.total = len(document.text)
    report = import_table(
        knowledge.base,
        document,
        data,
        run=run,
        mapping=reading.mapping,
        reached=lambda end: progress.advance(end - progress.done),
    )
    first = [(f"line {row.line}: {row.reason}", row.text) for row in report.rejected[:SHOWN]]
    outcome = _outcome(
        knowledge, document, report.admission, first, refusals_of_rows(report.rejected)
    )
    outcome.admitted.mapping = reading.mapping_name
    outcome.admitted.undefined_columns.extend(reading.undefined)
    outcome.admitted.defined_dimensions.extend(report.defined)
    return outcome


def _rdf(
    knowledge: Knowledge,
    document: Document,
    data: bytes,
    request: ImportRequest,
    *,
    run: str,
    progress: Progress,
) -> knowledge_pb2.DocumentOutcome:
    passes = 2 if request.define else 1
    progress.total = passes * len(document.text)
    last = 0

    def reached(end: int) -> None:
        nonlocal last
        progress.advance(max(end - last, 0))
        last = end  # goes back where another pass begins

    report = import_rdf(
        knowledge.base,
        document,
        data,
        run=run,
        options=RdfOptions(
            mapping=request.mapping or TableMapping(),
            prefixes=request.entity_prefixes,
            languages=request.languages,
            define=request.define,
        ),
        reached=reached,
    )
    first = [(f"line {each.lines[0]}: {each.reason}", each.text) for each in report.refused[:SHOWN]]
    outcome = _outcome(knowledge, document, report.admission, first, report.refused)
    outcome.admitted.defined_dimensions.extend(report.defined)
    return outcome


def refusals_of_rows(rows: Iterable[RejectedRow]) -> tuple[Refusal, ...]:
    """Count the refused rows by reason, the most frequent first, then by the first line."""
    lines: dict[str, list[int]] = {}
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row.reason] += 1
        kept = lines.setdefault(row.reason, [])
        if len(kept) < LINES_KEPT and row.line not in kept:
            kept.append(row.line)
    found = [Refusal(reason, count, tuple(lines[reason]), "") for reason, count in counts.items()]
    return tuple(sorted(found, key=lambda each: (-each.count, each.lines, each.reason)))


def _outcome(
    knowledge: Knowledge,
    document: Document,
    admission: Admission,
    first: Sequence[tuple[str, str]],
    refused: Sequence[Refusal],
) -> knowledge_pb2.DocumentOutcome:
    shown, others = refused[:MOST_REASONS], refused[MOST_REASONS:]
    if others:
        rest = sum(each.count for each in others)
        shown = [*shown, Refusal(OTHER_REASONS, rest, others[0].lines, "")]
    return knowledge_pb2.DocumentOutcome(
        file_name=document.name,
        admitted=knowledge_pb2.DocumentAdmitted(
            document=document_message(knowledge.name, document),
            is_new=admission.document_is_new,
            statements_inserted=admission.inserted,
            statements_known=admission.already,
            rejected=[
                knowledge_pb2.RejectedCandidate(reason=reason, text=text) for reason, text in first
            ],
            rejected_by_reason={each.reason: each.count for each in shown},
            refused=[
                knowledge_pb2.RefusedReason(reason=each.reason, count=each.count, lines=each.lines)
                for each in shown
            ],
        ),
    )


def import_request(start: knowledge_pb2.ImportStart) -> ImportRequest:
    """Read what the first message of an import says.

    Raises MappingRejected, also for a prefix that is no beginning of an IRI.
    """
    mapping = None
    if start.mapping:
        mapping = read_mapping(start.mapping, name=start.mapping_name or "mapping")
    for prefix in start.entity_prefixes:
        if ":" not in prefix:
            raise MappingRejected(
                f"{prefix!r} is no beginning of an IRI; expected one such as http://example.org/id/"
            )
    return ImportRequest(
        mapping, start.define, tuple(start.languages), tuple(start.entity_prefixes)
    )
