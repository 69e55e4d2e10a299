"""Uploaded bytes to admitted statements, one document at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from proofweave.v1 import common_pb2, knowledge_pb2

from extract.candidate import Candidate, Rejection
from extract.extractor import admit
from extract.namesakes import identifying_dimensions, split_namesakes
from extract.pack import Pack
from kb.document import RDF_TYPES, decode
from kb.errors import DocumentRejected, ProofweaveError

from .errors import RequestRejected, UploadTooLarge
from .extractors import extractors_for
from .knowledge import Knowledge
from .links import Linked
from .settings import ExtractionSection
from .status import problems_of
from .translate import document_message

SHOWN = 20
"""Rejected candidates that an outcome lists; all are counted."""


@dataclass(slots=True)
class Upload:
    """A file as it arrives; bytes beyond the limit are counted and dropped."""

    header: common_pb2.FileHeader
    limit: int
    data: bytearray = field(default_factory=bytearray)
    size: int = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self.size += len(chunk)
        if self.size <= self.limit:
            self.data += chunk
        else:
            self.data.clear()

    def content(self) -> bytes:
        """Give all bytes.

        Raises UploadTooLarge where they were more than the limit.
        """
        if self.size > self.limit:
            raise UploadTooLarge(
                f"{self.header.file_name} has {self.size} bytes; expected at most {self.limit}"
            )
        return bytes(self.data)


def uploads(
    requests: Iterator[knowledge_pb2.IngestDocumentsRequest], *, limit: int
) -> Iterator[Upload]:
    """Give each file when its last chunk is there.

    Raises RequestRejected for a chunk before any header.
    """
    upload: Upload | None = None
    for request in requests:
        match request.WhichOneof("content"):
            case "document":
                if upload is not None:
                    yield upload
                upload = Upload(request.document, limit)
            case "chunk":
                if upload is None:
                    raise RequestRejected("a chunk came before the header of its document")
                upload.add(request.chunk)
            case _:
                raise RequestRejected("a message of the upload is neither header nor chunk")
    if upload is not None:
        yield upload


def ingest_upload(
    knowledge: Knowledge,
    upload: Upload,
    *,
    index: int,
    run: str,
    extraction: ExtractionSection,
) -> Iterator[knowledge_pb2.IngestDocumentsResponse]:
    """Read, extract, ground and store one file; a bad file is an outcome, not an error.

    Gives progress after each section, and the outcome last. Nothing is stored before all is read.
    """
    response = knowledge_pb2.IngestDocumentsResponse
    outcome = knowledge_pb2.DocumentOutcome(index=index, file_name=upload.header.file_name)
    try:
        data = upload.content()
        document = decode(
            data,
            name=upload.header.file_name,
            media_type=upload.header.media_type or None,
            limit=upload.limit,
        )
        if document.media_type in RDF_TYPES:
            raise DocumentRejected(
                f"{document.name} is RDF, not prose; expected `proofweave import {document.name}`"
            )
        candidates: list[Candidate] = []
        rejected: list[Rejection] = []
        for extractor in extractors_for(knowledge, extraction):
            for step in extractor.propose(document):
                candidates += step.candidates
                rejected += step.rejected
                yield response(
                    progress=knowledge_pb2.IngestProgress(
                        index=index, file_name=outcome.file_name, done=step.done, total=step.total
                    )
                )
        found = split_namesakes(
            admit(candidates, document, rejected=rejected),
            document,
            identifying_dimensions(knowledge.packs.packs),
        )
        refused = [(rejection.reason, rejection.text) for rejection in found.rejected]
        admission = knowledge.base.admit(document, data, found.grounded, run=run, rejected=refused)
    except ProofweaveError as error:
        outcome.rejected.CopyFrom(problems_of(error)[0])
        yield response(outcome=outcome)
        return
    outcome.admitted.CopyFrom(
        knowledge_pb2.DocumentAdmitted(
            document=document_message(knowledge.name, document),
            is_new=admission.document_is_new,
            statements_inserted=admission.inserted,
            statements_known=admission.already,
            rejected=[
                knowledge_pb2.RejectedCandidate(reason=reason, text=text)
                for reason, text in refused[:SHOWN]
            ],
            rejected_by_reason=Counter(reason for reason, _ in refused),
        )
    )
    yield response(outcome=outcome)


def summarise(
    outcomes: Iterable[knowledge_pb2.DocumentOutcome],
    linked: Linked,
    *,
    revision: str,
    packs: Sequence[Pack],
) -> knowledge_pb2.IngestSummary:
    """Add up the outcomes of an upload, with a hint where no pack reads what it says."""
    reasons: Counter[str] = Counter()
    summary = knowledge_pb2.IngestSummary(
        revision=revision, links_asserted=linked.asserted, links_withdrawn=linked.withdrawn
    )
    for outcome in outcomes:
        if outcome.HasField("rejected"):
            summary.documents_rejected += 1
            continue
        summary.documents_admitted += 1
        summary.documents_new += outcome.admitted.is_new
        summary.statements_inserted += outcome.admitted.statements_inserted
        summary.statements_known += outcome.admitted.statements_known
        reasons.update(outcome.admitted.rejected_by_reason)
    summary.rejected_by_reason.update(reasons)
    stated = summary.statements_inserted + summary.statements_known
    if summary.documents_admitted and not stated:
        summary.hint = _hint(packs)
    return summary


def _hint(packs: Sequence[Pack]) -> str:
    names = ", ".join(f"{pack.name} ({pack.title})" for pack in packs) or "none"
    return (
        "the documents are stored and searched, but no pack finds a statement in them; packs of "
        f"this knowledge base: {names}. For another field write one: `proofweave pack new NAME`, "
        "then `proofweave init DIR --pack packs/NAME` (docs/packs.md)"
    )
