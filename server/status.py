"""One table from error classes to gRPC status codes, read in both directions.

An error leaves the server as a status whose details hold google.rpc.ErrorInfo (`reason` is the
stable code) and one Problem per finding. A test fails for a leaf of the error trees that is not in
the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import grpc
from google.protobuf.any_pb2 import Any
from google.rpc.error_details_pb2 import ErrorInfo  # type: ignore[import-untyped]  # no stubs
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # no stubs exist
from grpc_status import rpc_status
from proofweave.v1 import common_pb2

from extract import errors as extract
from kb import errors as kb
from reasoner import errors as reasoner

from . import errors as server

DOMAIN = "proofweave"

SEVERITIES = {"error": common_pb2.SEVERITY_ERROR, "warning": common_pb2.SEVERITY_WARNING}

CODES: dict[type[kb.ProofweaveError], grpc.StatusCode] = {
    kb.DocumentRejected: grpc.StatusCode.INVALID_ARGUMENT,
    kb.StatementRejected: grpc.StatusCode.INVALID_ARGUMENT,
    kb.ValueUnreadable: grpc.StatusCode.INVALID_ARGUMENT,
    kb.DimensionRejected: grpc.StatusCode.INVALID_ARGUMENT,
    kb.IRIRejected: grpc.StatusCode.INVALID_ARGUMENT,
    kb.QueryRejected: grpc.StatusCode.INVALID_ARGUMENT,
    kb.QueryOverBudget: grpc.StatusCode.RESOURCE_EXHAUSTED,
    kb.ServiceFailed: grpc.StatusCode.UNAVAILABLE,
    kb.FormatUnavailable: grpc.StatusCode.INVALID_ARGUMENT,
    kb.MappingRejected: grpc.StatusCode.INVALID_ARGUMENT,
    kb.NotFound: grpc.StatusCode.NOT_FOUND,
    kb.SourceErased: grpc.StatusCode.NOT_FOUND,
    kb.RevisionUnknown: grpc.StatusCode.NOT_FOUND,
    kb.AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
    kb.LogCorrupt: grpc.StatusCode.DATA_LOSS,
    kb.EmbeddingsUnavailable: grpc.StatusCode.UNAVAILABLE,
    kb.LogUnavailable: grpc.StatusCode.UNAVAILABLE,
    extract.PackRejected: grpc.StatusCode.INVALID_ARGUMENT,
    extract.ModelUnavailable: grpc.StatusCode.UNAVAILABLE,
    extract.ReplyRejected: grpc.StatusCode.INTERNAL,
    reasoner.PolicyRejected: grpc.StatusCode.INVALID_ARGUMENT,
    reasoner.PlanInvalid: grpc.StatusCode.INTERNAL,
    reasoner.GoalRejected: grpc.StatusCode.INVALID_ARGUMENT,
    reasoner.HypergraphRejected: grpc.StatusCode.INVALID_ARGUMENT,
    reasoner.GameLogRejected: grpc.StatusCode.INVALID_ARGUMENT,
    reasoner.EngineDisagreement: grpc.StatusCode.INTERNAL,
    reasoner.EngineFailed: grpc.StatusCode.INTERNAL,
    reasoner.EngineTimedOut: grpc.StatusCode.DEADLINE_EXCEEDED,
    reasoner.EngineUnknown: grpc.StatusCode.INVALID_ARGUMENT,
    reasoner.ResumeRejected: grpc.StatusCode.INVALID_ARGUMENT,
    reasoner.SelfCheckFailed: grpc.StatusCode.INTERNAL,
    server.RequestRejected: grpc.StatusCode.INVALID_ARGUMENT,
    server.QuestionRejected: grpc.StatusCode.INVALID_ARGUMENT,
    server.SettingsRejected: grpc.StatusCode.INVALID_ARGUMENT,
    server.Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    server.NotPermitted: grpc.StatusCode.PERMISSION_DENIED,
    server.NotProvided: grpc.StatusCode.UNIMPLEMENTED,
    server.DeadlinePassed: grpc.StatusCode.DEADLINE_EXCEEDED,
    server.UploadTooLarge: grpc.StatusCode.RESOURCE_EXHAUSTED,
    server.FileUnreadable: grpc.StatusCode.INVALID_ARGUMENT,
    server.ServerUnreachable: grpc.StatusCode.UNAVAILABLE,
}


@runtime_checkable
class Finding(Protocol):
    """One problem of an input; some have a column, a file, a code and a severity besides."""

    @property
    def line(self) -> int:
        """1-based line."""

    @property
    def message(self) -> str:
        """One sentence."""


def leaves(
    root: type[kb.ProofweaveError] = kb.ProofweaveError,
) -> tuple[type[kb.ProofweaveError], ...]:
    """Give the error classes without subclasses below `root`, sorted by code."""
    below = root.__subclasses__()
    if not below:
        return (root,)
    found = {leaf for child in below for leaf in leaves(child)}
    return tuple(sorted(found, key=lambda leaf: (leaf.code, leaf.__name__)))


def code_of(error: kb.ProofweaveError) -> grpc.StatusCode:
    """Give the status code of an error: of its class, or of the nearest class above it."""
    for kind in type(error).__mro__:
        if kind in CODES:
            return CODES[kind]
    return grpc.StatusCode.INTERNAL


def problem_of(found: Finding, reason: str, *, file: str) -> common_pb2.Problem:
    """Translate a finding; `reason` and `file` stand in where it has none of its own."""
    severity = getattr(getattr(found, "severity", None), "value", "error")
    return common_pb2.Problem(
        reason=str(getattr(found, "code", "") or reason),
        message=found.message,
        line=found.line,
        column=int(getattr(found, "column", 0)),
        severity=SEVERITIES[severity],
        file=str(getattr(found, "file", "") or file),
    )


def problems_of(error: kb.ProofweaveError) -> tuple[common_pb2.Problem, ...]:
    """Give the findings an error carries, in its order; one Problem where it carries none."""
    findings: Iterable[object] = getattr(error, "findings", ())
    problems = tuple(
        problem_of(found, error.code, file=str(getattr(error, "name", "")))
        for found in findings
        if isinstance(found, Finding)
    )
    if not problems:  # some errors carry plain sentences
        problems = tuple(
            common_pb2.Problem(
                reason=error.code, message=text, file=str(getattr(error, "name", ""))
            )
            for text in getattr(error, "problems", ())
        )
    return problems or (common_pb2.Problem(reason=error.code, message=str(error)),)


def status_of(error: kb.ProofweaveError) -> Status:
    """Give the rich status of an error."""
    status = Status(code=code_of(error).value[0], message=str(error))
    details = [ErrorInfo(reason=error.code, domain=DOMAIN), *problems_of(error)]
    for detail in details:
        packed = Any()
        packed.Pack(detail)
        status.details.append(packed)
    return status


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call as a client sees it: status code, stable reason, message and findings."""

    status: grpc.StatusCode
    reason: str
    message: str
    problems: tuple[common_pb2.Problem, ...]


def failure_of(error: grpc.RpcError) -> Failure:
    """Read the status of a failed call."""
    if not isinstance(error, grpc.Call):
        return Failure(grpc.StatusCode.UNKNOWN, "UNKNOWN", str(error), ())
    reason, problems = error.code().name, []
    status = rpc_status.from_call(error)
    for detail in status.details if status is not None else ():
        information, problem = ErrorInfo(), common_pb2.Problem()
        if detail.Unpack(information):
            reason = information.reason
        elif detail.Unpack(problem):
            problems.append(problem)
    message = error.details() or ""
    if reason == grpc.StatusCode.UNAVAILABLE.name:  # said by gRPC itself
        message = f"the connection to the server was lost: {message}"
    return Failure(error.code(), reason, message, tuple(problems))
