"""KnowledgeService: documents, statements and dimensions over gRPC."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
from proofweave.v1 import knowledge_pb2 as pb
from proofweave.v1 import knowledge_pb2_grpc

from kb.errors import NotFound
from kb.table_mapping import read_mapping

from .calls import Desk, check_call
from .errors import RequestRejected
from .ingestion import Upload, import_upload, ingest_upload, summarise, uploads
from .meetings import meet_instances
from .names import knowledge_base_of, read_name
from .nearest import nearest
from .operations import Operations
from .paging import page
from .translate import (
    chunks,
    dimension_message,
    dimension_of,
    document_message,
    statement_message,
)

Context = grpc.ServicerContext

WAIT_LIMIT_SECONDS = 10.0
TEXT_PIECE = 200_000


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
        outcomes: list[pb.DocumentOutcome] = []
        for index, upload in enumerate(uploads(request_iterator, limit=limit)):
            run = self._desk.requester(context)
            for response in ingest_upload(
                knowledge, upload, index=index, run=run, extraction=settings.extraction
            ):
                check_call(context)
                if response.HasField("outcome"):
                    outcomes.append(response.outcome)
                elif not first.start.progress:
                    continue
                yield response
        linked = knowledge.link_titles(run=self._desk.requester(context))
        revision = str(knowledge.base.revision)
        yield pb.IngestDocumentsResponse(summary=summarise(outcomes, linked, revision=revision))

    def ImportStatements(  # noqa: N802
        self, request_iterator: Iterator[pb.ImportStatementsRequest], context: Context
    ) -> pb.ImportStatementsResponse:
        """Take a table and import it as an operation."""
        first = next(request_iterator, None)
        if first is None or first.WhichOneof("content") != "start":
            raise RequestRejected("the upload does not begin with its start message")
        knowledge = self._desk.parent(first.start.parent, context)
        upload = Upload(first.start.file, self._desk.settings.limits.document_bytes)
        for request in request_iterator:
            upload.add(request.chunk)
        mapping = (
            read_mapping(first.start.mapping, name=first.start.mapping_name or "mapping")
            if first.start.mapping
            else None
        )
        run = self._desk.requester(context)
        operation = self._operations.start(
            knowledge.name,
            lambda progress: import_upload(knowledge, upload, mapping, run=run, progress=progress),
        )
        return pb.ImportStatementsResponse(operation=operation)

    def GetOperation(  # noqa: N802
        self, request: pb.GetOperationRequest, context: Context
    ) -> pb.GetOperationResponse:
        """Give the state of an operation, perhaps after waiting for its end."""
        name = read_name(request.name, "operations")
        self._desk.knowledge(name.knowledge_base, context)
        seconds = min(request.wait_ms / 1000, WAIT_LIMIT_SECONDS)
        return pb.GetOperationResponse(operation=self._operations.get(name, wait_seconds=seconds))

    def ListOperations(  # noqa: N802
        self, request: pb.ListOperationsRequest, context: Context
    ) -> pb.ListOperationsResponse:
        """List the operations since the server started."""
        knowledge = self._desk.parent(request.parent, context)
        return pb.ListOperationsResponse(operations=self._operations.every(knowledge.name))

    def CancelOperation(  # noqa: N802
        self, request: pb.CancelOperationRequest, context: Context
    ) -> pb.CancelOperationResponse:
        """Ask an operation to stop."""
        name = read_name(request.name, "operations")
        self._desk.knowledge(name.knowledge_base, context)
        return pb.CancelOperationResponse(operation=self._operations.cancel(name))

    def GetDocument(  # noqa: N802
        self, request: pb.GetDocumentRequest, context: Context
    ) -> pb.GetDocumentResponse:
        """Give a document without its text."""
        name = read_name(request.name, "documents")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        document = knowledge.base.document(name.id)
        return pb.GetDocumentResponse(document=document_message(knowledge.name, document))

    def ReadDocument(  # noqa: N802
        self, request: pb.ReadDocumentRequest, context: Context
    ) -> Iterator[pb.ReadDocumentResponse]:
        """Give a range of the decoded text in pieces."""
        name = read_name(request.name, "documents")
        text = self._desk.knowledge(name.knowledge_base, context).base.document(name.id).text
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
        found, token = page(
            (record.source_sha256 for record in knowledge.base.documents()),
            size=request.page_size,
            default=self._desk.settings.limits.page,
            token=request.page_token,
            key=lambda sha256: sha256,
        )
        return pb.ListDocumentsResponse(
            documents=[
                document_message(knowledge.name, knowledge.base.document(sha256))
                for sha256 in found
            ],
            next_page_token=token,
        )

    def RetractDocument(  # noqa: N802
        self, request: pb.RetractDocumentRequest, context: Context
    ) -> pb.RetractDocumentResponse:
        """Withdraw a document with all it states."""
        name = read_name(request.name, "documents")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        knowledge.base.retract_document(name.id)
        knowledge.link_titles(run=self._desk.requester(context))
        return pb.RetractDocumentResponse(revision=str(knowledge.base.revision))

    def GetStatement(  # noqa: N802
        self, request: pb.GetStatementRequest, context: Context
    ) -> pb.GetStatementResponse:
        """Give a statement with its evidence."""
        name = read_name(request.name, "statements")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        base = knowledge.base
        return pb.GetStatementResponse(
            statement=statement_message(
                knowledge.name, name.id, base.statement(name.id), base.evidence(name.id)
            )
        )

    def ListStatements(  # noqa: N802
        self, request: pb.ListStatementsRequest, context: Context
    ) -> pb.ListStatementsResponse:
        """List statements by id, of a subject or in a dimension if given."""
        knowledge = self._desk.parent(request.parent, context)
        found, token = page(
            knowledge.base.every_statement(
                subject=request.subject or None, dimension=request.dimension or None
            ),
            size=request.page_size,
            default=self._desk.settings.limits.page,
            token=request.page_token,
            key=lambda row: row[0],
        )
        return pb.ListStatementsResponse(
            statements=[statement_message(knowledge.name, *row) for row in found],
            next_page_token=token,
        )

    def RetractStatement(  # noqa: N802
        self, request: pb.RetractStatementRequest, context: Context
    ) -> pb.RetractStatementResponse:
        """Withdraw a statement."""
        name = read_name(request.name, "statements")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        knowledge.base.retract_statement(name.id)
        knowledge.link_titles(run=self._desk.requester(context))
        return pb.RetractStatementResponse(revision=str(knowledge.base.revision))

    def GetDimension(  # noqa: N802
        self, request: pb.GetDimensionRequest, context: Context
    ) -> pb.GetDimensionResponse:
        """Give a dimension with its order."""
        name = read_name(request.name, "dimensions")
        knowledge = self._desk.knowledge(name.knowledge_base, context)
        known = {dimension.name: dimension for dimension in knowledge.dimensions()}
        if name.id not in known:
            raise NotFound(f"there is no dimension {name.id!r}{nearest(name.id, known)}")
        return pb.GetDimensionResponse(dimension=dimension_message(knowledge.name, known[name.id]))

    def ListDimensions(  # noqa: N802
        self, request: pb.ListDimensionsRequest, context: Context
    ) -> pb.ListDimensionsResponse:
        """List the dimensions by name."""
        knowledge = self._desk.parent(request.parent, context)
        found = sorted(knowledge.dimensions(), key=lambda dimension: dimension.name)
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
        return meet_instances(knowledge, request, page_default=self._desk.settings.limits.page)

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
        """Search passages by words, best first."""
        knowledge = self._desk.parent(request.parent, context)
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
                for hit in knowledge.base.search(request.query, limit)
            ]
        )

    def QueryGraph(  # noqa: N802
        self, request: pb.QueryGraphRequest, context: Context
    ) -> Iterator[pb.QueryGraphResponse]:
        """Run a SPARQL query; the result comes in pieces."""
        knowledge = self._desk.parent(request.parent, context)
        media_type, data = knowledge.base.query(request.query, request.accept)
        yield pb.QueryGraphResponse(media_type=media_type)
        for chunk in chunks(data):
            yield pb.QueryGraphResponse(chunk=chunk)

    def VerifyLog(  # noqa: N802
        self, request: pb.VerifyLogRequest, context: Context
    ) -> pb.VerifyLogResponse:
        """Check the hash chain."""
        base = self._desk.knowledge(knowledge_base_of(request.parent), context).base
        base.verify_log()
        return pb.VerifyLogResponse(revision=str(base.revision), log_head=base.head)
