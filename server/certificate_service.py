"""CertificateService: stored proofs and decisions."""

from __future__ import annotations

import json
from collections.abc import Iterator

import grpc
from google.protobuf import json_format
from proofweave.v1 import certificate_pb2 as pb
from proofweave.v1 import certificate_pb2_grpc, common_pb2

from kb.errors import NotFound
from kb.verdicts import VerdictRecord
from reasoner.evaluate import Budget

from .calls import Desk, check_call
from .certificates import changes, stored_texts, verify_stored
from .dependents import Recheck, find_subject, stream_dependents
from .errors import RequestRejected
from .export.table import EXPORTERS
from .knowledge import Knowledge
from .names import ResourceName, read_name
from .paging import page
from .reasoning import call_budget
from .step_pages import placed_steps
from .translate import certificate_message, chunks

Context = grpc.ServicerContext

FORMATS = {
    pb.EXPORT_FORMAT_UNSPECIFIED: "html",
    pb.EXPORT_FORMAT_HTML: "html",
    pb.EXPORT_FORMAT_JSON: "json",
    pb.EXPORT_FORMAT_TEXT: "text",
}


class CertificateService(certificate_pb2_grpc.CertificateServiceServicer):
    """Content-addressed proofs, and who asked for them when."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def GetCertificate(  # noqa: N802  # method names are the protocol's
        self, request: pb.GetCertificateRequest, context: Context
    ) -> pb.GetCertificateResponse:
        """Summarise a certificate."""
        knowledge, digest, data = self._certificate(request.name, context)
        summary = certificate_message(knowledge.name, digest, len(data), json.loads(data))
        return pb.GetCertificateResponse(certificate=summary)

    def ListCertificates(  # noqa: N802
        self, request: pb.ListCertificatesRequest, context: Context
    ) -> pb.ListCertificatesResponse:
        """List the certificates by digest."""
        knowledge = self._desk.parent(request.parent, context)
        found, token = page(
            sorted({record.digest for record in knowledge.base.certificates()}),
            size=request.page_size,
            default=self._desk.settings.limits.page,
            token=request.page_token,
            key=lambda digest: digest,
        )
        return pb.ListCertificatesResponse(
            certificates=[_summary(knowledge, digest) for digest in found], next_page_token=token
        )

    def ReadCertificate(  # noqa: N802
        self, request: pb.ReadCertificateRequest, context: Context
    ) -> Iterator[pb.ReadCertificateResponse]:
        """Give the canonical bytes in pieces."""
        for chunk in chunks(self._certificate(request.name, context)[2]):
            check_call(context)
            yield pb.ReadCertificateResponse(chunk=chunk)

    def VerifyCertificate(  # noqa: N802
        self, request: pb.VerifyCertificateRequest, context: Context
    ) -> pb.VerifyCertificateResponse:
        """Check a certificate against the sources of the knowledge base."""
        if request.WhichOneof("certificate") == "name":
            knowledge, _, data = self._certificate(request.name, context)
        else:
            knowledge, data = self._desk.parent(request.parent, context), request.content
        report = verify_stored(
            knowledge.base,
            data,
            expect_policy=request.expect_policy or None,
            expect_goal=request.expect_goal or None,
        )
        return pb.VerifyCertificateResponse(
            accepted=report.valid,
            rejection=report.rejection,
            where=report.where,
            message=report.message,
            checked=report.checked,
            trusted=report.trusted,
            not_given=report.not_given,
        )

    def ExportCertificate(  # noqa: N802
        self, request: pb.ExportCertificateRequest, context: Context
    ) -> Iterator[pb.ExportCertificateResponse]:
        """Write a certificate in another form, in pieces."""
        knowledge, _, data = self._certificate(request.name, context)
        exporter = EXPORTERS[FORMATS[request.format]]
        written = exporter.write(data, stored_texts(knowledge.base, data))
        yield pb.ExportCertificateResponse(media_type=exporter.media_type)
        for chunk in chunks(written):
            check_call(context)
            yield pb.ExportCertificateResponse(chunk=chunk)

    def CompareCertificates(  # noqa: N802
        self, request: pb.CompareCertificatesRequest, context: Context
    ) -> pb.CompareCertificatesResponse:
        """Say in what two certificates differ."""
        _, first_digest, first = self._certificate(request.first, context)
        _, second_digest, second = self._certificate(request.second, context)
        return pb.CompareCertificatesResponse(
            equal=first_digest == second_digest,
            changes=changes(json.loads(first), json.loads(second)),
        )

    def GetDecision(  # noqa: N802
        self, request: pb.GetDecisionRequest, context: Context
    ) -> pb.GetDecisionResponse:
        """Give a recorded verdict with its receipt."""
        knowledge, record = self._decision(request.name, context)
        return pb.GetDecisionResponse(decision=_decision(knowledge, record))

    def ListDecisions(  # noqa: N802
        self, request: pb.ListDecisionsRequest, context: Context
    ) -> pb.ListDecisionsResponse:
        """List the recorded verdicts in order."""
        knowledge = self._desk.parent(request.parent, context)
        found, token = page(
            knowledge.base.certificates(),
            size=request.page_size,
            default=self._desk.settings.limits.page,
            token=request.page_token,
            key=lambda record: f"{record.number:020d}",
        )
        return pb.ListDecisionsResponse(
            decisions=[_decision(knowledge, record) for record in found], next_page_token=token
        )

    def CreateSignOff(  # noqa: N802
        self, request: pb.CreateSignOffRequest, context: Context
    ) -> pb.CreateSignOffResponse:
        """Record that the requester reviewed a decision."""
        knowledge, record = self._decision(request.name, context)
        if record.receipt.get("hypothetical"):
            raise RequestRejected(
                f"decision {record.number} was made under assumptions or retractions of its "
                "request; only what is known is signed off"
            )
        sign_off = pb.SignOff(
            reviewer=self._desk.requester(context),
            comment=request.comment,
            time=self._desk.timestamp(),
        )
        form = json_format.MessageToDict(sign_off, preserving_proto_field_name=True)
        knowledge.base.record_sign_off(record.digest, {"decision": record.number, **form})
        return pb.CreateSignOffResponse(decision=_decision(knowledge, record))

    def ListSteps(  # noqa: N802
        self, request: pb.ListStepsRequest, context: Context
    ) -> pb.ListStepsResponse:
        """Give a step with what it follows from, to a depth, page by page."""
        _, _, data = self._certificate(request.name, context)
        certificate = json.loads(data)
        found, token = page(
            placed_steps(certificate, request.step, depth=request.depth),
            size=request.page_size,
            default=self._desk.settings.limits.page,
            token=request.page_token,
            key=lambda placed: placed.order,
        )
        return pb.ListStepsResponse(
            steps=[placed.message(certificate) for placed in found],
            next_page_token=token,
            step_count=len(certificate["steps"]),
        )

    def StreamDependents(  # noqa: N802
        self, request: pb.StreamDependentsRequest, context: Context
    ) -> Iterator[pb.StreamDependentsResponse]:
        """List the decisions that rest on something, and say what becomes of each without it."""
        knowledge = self._desk.parent(request.parent, context)
        subject = find_subject(request.subject, knowledge.base)

        def budget() -> Budget:
            return call_budget(request.budget, self._desk.settings.limits, context)

        recheck = Recheck(subject, knowledge, budget) if request.recheck else None
        for response in stream_dependents(
            subject,
            knowledge,
            describe=lambda record: _decision(knowledge, record),
            recheck=recheck,
        ):
            check_call(context)
            yield response

    def _certificate(self, name: str, context: Context) -> tuple[Knowledge, str, bytes]:
        """Find a certificate by name, or by a beginning of its digest that only it has."""
        read = read_name(name, "certificates")
        knowledge = self._desk.knowledge(read.knowledge_base, context)
        if len(read.id) == 64:
            return knowledge, read.id, knowledge.base.certificate(read.id)
        if len(read.id) < 8:
            raise RequestRejected(f"{read.id!r} is too short; expected 8 digits of the digest")
        digests = {record.digest for record in knowledge.base.certificates()}
        found = sorted(digest for digest in digests if digest.startswith(read.id))
        if len(found) != 1:
            raise NotFound(f"{len(found)} certificates have a digest that begins with {read.id}")
        return knowledge, found[0], knowledge.base.certificate(found[0])

    def _decision(self, name: str, context: Context) -> tuple[Knowledge, VerdictRecord]:
        read = read_name(name, "decisions")
        knowledge = self._desk.knowledge(read.knowledge_base, context)
        for record in knowledge.base.certificates():
            if str(record.number) == read.id:
                return knowledge, record
        raise NotFound(f"there is no decision {read.id}")


def _summary(knowledge: Knowledge, digest: str) -> pb.Certificate:
    data = knowledge.base.certificate(digest)
    return certificate_message(knowledge.name, digest, len(data), json.loads(data))


def _decision(knowledge: Knowledge, record: VerdictRecord) -> pb.RecordedDecision:
    return pb.RecordedDecision(
        name=str(ResourceName(knowledge.name, "decisions", str(record.number))),
        certificate=_summary(knowledge, record.digest),
        receipt=json_format.ParseDict(record.receipt, common_pb2.Receipt()),
        sign_offs=[
            json_format.ParseDict(found.sign_off, pb.SignOff(), ignore_unknown_fields=True)
            for found in knowledge.base.sign_offs(record.digest)
            if found.sign_off["decision"] == record.number
        ],
    )
