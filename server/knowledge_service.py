"""KnowledgeService: documents, statements and dimensions over gRPC."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
from proofweave.v1 import knowledge_pb2 as pb
from proofweave.v1 import knowledge_pb2_grpc

from kb.errors import NotFound
from kb.query_budget import QueryOptions
from kb.search import Reach

from . import removals
from .calls import Desk, check_call
from .errors import RequestRejected
from .imports import import_request
from .ingestion import Upload, ingest_upload, summarise, uploads
from .knowledge import Knowledge
from .links import Linked
from .meetings import Asker, meet_instances
from .names import knowledge_base_of, read_name
from .nearest import nearest
from .offsets import EvidenceOffsets
from .operation_records import ImportOrder
from .operations import Operations
from .paging import page
from .settings import services_of
from .translate import (
    chunks,
    day_of,
    dimension_message,
    dimension_of,
    document_message,
    statement_message,
)

Context = grpc.ServicerContext

WAIT_LIMIT_SECONDS = 10.0
TEXT_PIECE = 200_000
_LINKED_AFTER = 8  # documents of an upload that goes on

REACHES = {
    pb.SEARCH_REACH_UNSPECIFIED: Reach.NAMED,
    pb.SEARCH_REACH_NAMED: Reach.NAMED,
    pb.SEARCH_REACH_LINKED: Reach.LINKED,
}


class KnowledgeService(knowledge_pb2_grpc.KnowledgeServiceServicer):
    """What is known."""

    def __init__(self, desk: Desk, operations: Operations) -> None:
        self._desk = desk
        self._operations = operations

    def IngestDocuments(  # noqa: N802  # method names are the protocol's
        self, request_iterator: Iterator[pb.IngestDocumentsRequest], context: Context
    ) -> Iterator[pb.IngestDocumentsResponse]:
        """Admit documents one by one; a bad one does not stop the rest."""
        first = next(request_iterator, None)
        if first is None or first.WhichOneof("content") != "start":
            raise RequestRejected("the upload does not begin with its start message")
        knowledge = self._desk.parent(first.start.parent, context)
        settings = self._desk.settings
        limit = settings.limits.document_bytes
        run = self._desk.requester(context)
        outcomes: list[pb.DocumentOutcome] = []
        linked, linked_at = Linked(), 0
        try:
            for index, upload in enumerate(uploads(request_iterator, limit=limit)):
                for response in ingest_upload(
                    knowledge, upload, index=index, run=run, extraction=settings.extraction
                ):
                    if response.HasField("outcome"):
                        outcomes.append(response.outcome)
                    check_call(context)
                    if response.HasField("outcome") or first.start.progress:
                        yield response
                if len(outcomes) >= max(_LINKED_AFTER, 2 * linked_at):  # ever rarer, so that all
                    linked += knowledge.link_titles(run=run)  # together cost little more than one
                    linked_at = len(outcomes)
        finally:  # also where the client leaves: what is admitted stays, with its links
            if len(outcomes) > linked_at:
                linked += knowledge.link_titles(run=run)
        revision = str(knowledge.base.revision)
        packs = knowledge.packs.packs
        summary = summarise(outcomes, linked, revision=revision, packs=packs)
        yield pb.IngestDocumentsResponse(summary=summary)

    def ImportStatements(  # noqa: N802
        self, request_iterator: Iterator[pb.ImportStatementsRequest], context: Context
    ) -> pb.ImportStatementsResponse:
        """Take a table or RDF and import it as an operation."""
        first = next(request_iterator, None)
        if first is None or first.WhichOneof("content") != "start":
            raise RequestRejected("the upload does not begin with its start message")
        knowledge = self._desk.parent(first.start.parent, context)
        upload = Upload(first.start.file, self._desk.settings.limits.document_bytes)
        for request in request_iterator:
            upload.add(request.chunk)
        order = ImportOrder(first.start, upload.content(), self._desk.requester(context))
        import_request(order.start)  # what cannot be read is refused now, not when its turn comes
        return pb.ImportStatementsResponse(operation=self._operations.start(knowledge, order))

    def GetOperation(  # noqa: N802
        self, request: pb.GetOperationRequest, context: Context
    ) -> pb.GetOperationResponse:
        """Give the state of an operation, perhaps after waiting for its end."""
        name = read_name(request.name, "operations")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        seconds = min(request.wait_ms / 1000, WAIT_LIMIT_SECONDS)
        return pb.GetOperationResponse(
            operation=self._operations.get(name, knowledge, wait_seconds=seconds)
        )

    def ListOperations(  # noqa: N802
        self, request: pb.ListOperationsRequest, context: Context
    ) -> pb.ListOperationsResponse:
        """List the operations, in order of their start."""
        knowledge = self._desk.parent(request.parent, context)
        return pb.ListOperationsResponse(operations=self._operations.every(knowledge))

    def CancelOperation(  # noqa: N802
        self, request: pb.CancelOperationRequest, context: Context
    ) -> pb.CancelOperationResponse:
        """Ask an operation to stop."""
        name = read_name(request.name, "operations")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        return pb.CancelOperationResponse(operation=self._operations.cancel(name, knowledge))

    def ResumeOperation(  # noqa: N802
        self, request: pb.ResumeOperationRequest, context: Context
    ) -> pb.ResumeOperationResponse:
        """Go on with an operation that did not end well."""
        name = read_name(request.name, "operations")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        return pb.ResumeOperationResponse(operation=self._operations.resume(name, knowledge))

    def GetDocument(  # noqa: N802
        self, request: pb.GetDocumentRequest, context: Context
    ) -> pb.GetDocumentResponse:
        """Give a document without its text."""
        name = read_name(request.name, "documents")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        document = knowledge.at(request.at).known.document(name.id)
        return pb.GetDocumentResponse(document=document_message(knowledge.name, document))

    def ReadDocument(  # noqa: N802
        self, request: pb.ReadDocumentRequest, context: Context
    ) -> Iterator[pb.ReadDocumentResponse]:
        """Give a range of the decoded text in pieces."""
        name = read_name(request.name, "documents")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        text = knowledge.at(request.at).known.document(name.id).text
        end = request.end or len(text)
        if not 0 <= request.start <= end <= len(text):
            raise RequestRejected(
                f"the range [{request.start}, {end}) is not within the text of {len(text)} "
                "code points"
            )
        for start in range(request.start, end, TEXT_PIECE):
            check_call(context)
            yield pb.ReadDocumentResponse(text=text[start : min(start + TEXT_PIECE, end)])

    def ListDocuments(  # noqa: N802
        self, request: pb.ListDocumentsRequest, context: Context
    ) -> pb.ListDocumentsResponse:
        """List the documents by digest."""
        knowledge = self._desk.parent(request.parent, context)
        known = knowledge.at(request.at).known
        day = day_of(request.valid_on, field="valid_on")
        found, token = page(
            (
                record.source_sha256
                for record in known.documents()
                if day is None or known.states_on(record.source_sha256, day)
            ),
            size=request.page_size,
            default=self._desk.settings.limits.page,
            token=request.page_token,
            key=lambda sha256: sha256,
        )
        return pb.ListDocumentsResponse(
            documents=[
                document_message(knowledge.name, known.document(sha256)) for sha256 in found
            ],
            next_page_token=token,
        )

    def RetractDocument(  # noqa: N802
        self, request: pb.RetractDocumentRequest, context: Context
    ) -> pb.RetractDocumentResponse:
        """Withdraw a document with all it states."""
        name = read_name(request.name, "documents")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        base = knowledge.base
        base.record(name.id)
        removal = removals.of_document(base, name.id)
        if not request.dry_run:
            base.retract_document(name.id)
        return pb.RetractDocumentResponse(
            removal=removal.message(knowledge.name),
            revision=self._after(knowledge, context, dry_run=request.dry_run),
        )

    def EraseDocument(  # noqa: N802
        self, request: pb.EraseDocumentRequest, context: Context
    ) -> pb.EraseDocumentResponse:
        """Erase a document's bytes and all that was taken from it."""
        name = read_name(request.name, "documents")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        base = knowledge.base
        removal = removals.of_document(base, name.id)
        if not request.dry_run:
            run = self._desk.requester(context)
            knowledge.erase(lambda base: base.erase_document(name.id, run=run))
            self._operations.forget(knowledge, name.id)
        return pb.EraseDocumentResponse(
            removal=removal.message(knowledge.name),
            revision=self._after(knowledge, context, dry_run=request.dry_run),
        )

    def GetStatement(  # noqa: N802
        self, request: pb.GetStatementRequest, context: Context
    ) -> pb.GetStatementResponse:
        """Give a statement with its evidence."""
        name = read_name(request.name, "statements")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        known = knowledge.at(request.at).known
        return pb.GetStatementResponse(
            statement=statement_message(
                knowledge.name,
                name.id,
                known.statement(name.id),
                known.evidence(name.id),
                offsets=EvidenceOffsets(known).read if request.offsets else None,
            )
        )

    def ListStatements(  # noqa: N802
        self, request: pb.ListStatementsRequest, context: Context
    ) -> pb.ListStatementsResponse:
        """List statements by id, of a subject or in a dimension if given."""
        knowledge = self._desk.parent(request.parent, context)
        known = knowledge.at(request.at).known
        day = day_of(request.valid_on, field="valid_on")
        document = read_name(request.document, "documents").id if request.document else None
        if document is not None:
            known.record(document)
        rows = known.every_statement(
            subject=request.subject or None,
            dimension=request.dimension or None,
            source_sha256=document,
        )
        found, token = page(
            (row for row in rows if day is None or row[1].validity.holds_on(day)),
            size=request.page_size,
            default=self._desk.settings.limits.page,
            token=request.page_token,
            key=lambda row: row[0],
        )
        offsets = EvidenceOffsets(known).read if request.offsets else None
        return pb.ListStatementsResponse(
            statements=[statement_message(knowledge.name, *row, offsets=offsets) for row in found],
            next_page_token=token,
        )

    def RetractStatement(  # noqa: N802
        self, request: pb.RetractStatementRequest, context: Context
    ) -> pb.RetractStatementResponse:
        """Withdraw a statement."""
        name = read_name(request.name, "statements")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        base, run = knowledge.base, self._desk.requester(context)
        removal = removals.of_statement(base, name.id, withdrawn=request.erase)
        if request.erase and not request.dry_run:
            knowledge.erase(lambda base: base.erase_statement(name.id, run=run))
        elif not request.dry_run:
            base.retract_statement(name.id)
        return pb.RetractStatementResponse(
            removal=removal.message(knowledge.name),
            revision=self._after(knowledge, context, dry_run=request.dry_run),
        )

    def RetractSpan(  # noqa: N802
        self, request: pb.RetractSpanRequest, context: Context
    ) -> pb.RetractSpanResponse:
        """Withdraw what rests on a span of a document."""
        name = read_name(request.name, "documents")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        base, run = knowledge.base, self._desk.requester(context)
        span = name.id, request.start, request.end
        removal = removals.of_span(base, *span, withdrawn=request.erase)
        if request.erase and not request.dry_run:
            knowledge.erase(lambda base: base.erase_span(*span, run=run))
        elif not request.dry_run:
            base.retract_span(*span)
        return pb.RetractSpanResponse(
            removal=removal.message(knowledge.name),
            revision=self._after(knowledge, context, dry_run=request.dry_run),
        )

    def RetractRun(  # noqa: N802
        self, request: pb.RetractRunRequest, context: Context
    ) -> pb.RetractRunResponse:
        """Withdraw what an extractor has read."""
        knowledge = self._desk.parent(request.parent, context)
        document = read_name(request.document, "documents").id if request.document else None
        base, run = knowledge.base, self._desk.requester(context)
        removal = removals.of_run(base, request.extractor, document, withdrawn=request.erase)
        if request.erase and not request.dry_run:
            extractor = request.extractor
            knowledge.erase(lambda base: base.erase_run(extractor, source_sha256=document, run=run))
        elif not request.dry_run:
            base.retract_run(request.extractor, source_sha256=document)
        return pb.RetractRunResponse(
            removal=removal.message(knowledge.name),
            revision=self._after(knowledge, context, dry_run=request.dry_run),
        )

    def _after(self, knowledge: Knowledge, context: Context, *, dry_run: bool) -> str:
        """Bring the links up to date after a removal; give the revision."""
        if not dry_run:
            knowledge.link_titles(run=self._desk.requester(context))
        return str(knowledge.base.revision)

    def GetDimension(  # noqa: N802
        self, request: pb.GetDimensionRequest, context: Context
    ) -> pb.GetDimensionResponse:
        """Give a dimension with its order."""
        name = read_name(request.name, "dimensions")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        dimensions = knowledge.at(request.at).dimensions()
        known = {dimension.name: dimension for dimension in dimensions}
        if name.id not in known:
            raise NotFound(f"there is no dimension {name.id!r}{nearest(name.id, known)}")
        return pb.GetDimensionResponse(dimension=dimension_message(knowledge.name, known[name.id]))

    def ListDimensions(  # noqa: N802
        self, request: pb.ListDimensionsRequest, context: Context
    ) -> pb.ListDimensionsResponse:
        """List the dimensions by name."""
        knowledge = self._desk.parent(request.parent, context)
        found = sorted(knowledge.at(request.at).dimensions(), key=lambda dimension: dimension.name)
        return pb.ListDimensionsResponse(
            dimensions=[dimension_message(knowledge.name, dimension) for dimension in found]
        )

    def DefineDimension(  # noqa: N802
        self, request: pb.DefineDimensionRequest, context: Context
    ) -> pb.DefineDimensionResponse:
        """Define or redefine a dimension; its order is admitted first."""
        knowledge = self._desk.parent(request.parent, context)
        dimension = dimension_of(request.dimension)
        revision = knowledge.base.define_dimension(dimension)
        return pb.DefineDimensionResponse(
            dimension=dimension_message(knowledge.name, dimension), revision=str(revision)
        )

    def MeetInstances(  # noqa: N802
        self, request: pb.MeetInstancesRequest, context: Context
    ) -> pb.MeetInstancesResponse:
        """Give all instances that satisfy constraints, or say why nobody is known to."""
        knowledge = self._desk.parent(request.parent, context)
        known = knowledge.at(request.at).known if request.at else knowledge.base
        asker = Asker(knowledge.name, known)
        return meet_instances(asker, request, page_default=self._desk.settings.limits.page)

    def WatchRevisions(  # noqa: N802
        self, request: pb.WatchRevisionsRequest, context: Context
    ) -> Iterator[pb.WatchRevisionsResponse]:
        """Give the newest revision now and after each change."""
        base = self._desk.parent(request.parent, context).base
        seen = -1
        while context.is_active():
            if base.revision != seen:
                seen = base.revision
                yield pb.WatchRevisionsResponse(revision=str(seen), log_head=base.head)
            self._desk.pause(0.2)

    def SearchPassages(  # noqa: N802
        self, request: pb.SearchPassagesRequest, context: Context
    ) -> pb.SearchPassagesResponse:
        """Search passages by words and names, best first."""
        knowledge = self._desk.parent(request.parent, context)
        if request.reach not in REACHES:
            raise RequestRejected(f"there is no reach {request.reach}; expected NAMED or LINKED")
        limit = min(request.limit or 10, 100)
        return pb.SearchPassagesResponse(
            hits=[
                pb.PassageHit(
                    document=f"knowledgeBases/{knowledge.name}/documents/{hit.source_sha256}",
                    title=hit.title,
                    start=hit.start,
                    end=hit.end,
                    text=hit.text,
                )
                for hit in knowledge.at(request.at).known.search(
                    request.query, limit, reach=REACHES[request.reach]
                )
            ]
        )

    def QueryGraph(  # noqa: N802
        self, request: pb.QueryGraphRequest, context: Context
    ) -> Iterator[pb.QueryGraphResponse]:
        """Run a SPARQL query; the result comes in pieces."""
        knowledge = self._desk.parent(request.parent, context)
        known = knowledge.at(request.at).known if request.at else knowledge.base
        day = day_of(request.valid_on, field="valid_on")
        warnings: list[str] = []
        options = QueryOptions(services=services_of(self._desk.settings), warn=warnings.append)
        media_type, data = known.query(request.query, request.accept, valid_on=day, options=options)
        yield pb.QueryGraphResponse(media_type=media_type, warnings=warnings)
        for chunk in chunks(data):
            yield pb.QueryGraphResponse(chunk=chunk)

    def VerifyLog(  # noqa: N802
        self, request: pb.VerifyLogRequest, context: Context
    ) -> pb.VerifyLogResponse:
        """Check the hash chain."""
        base = self._desk.knowledge(knowledge_base_of(request.parent), context).base
        expect: dict[int, str] = {}
        if request.expect_revision or request.expect_head:
            if not request.expect_revision.isdecimal() or not request.expect_head:
                raise RequestRejected(
                    f"expected a revision with the head it had, found "
                    f"{request.expect_revision!r} with {request.expect_head!r}"
                )
            expect[int(request.expect_revision)] = request.expect_head
        base.verify_log(expect=expect)
        return pb.VerifyLogResponse(revision=str(base.revision), log_head=base.head)
