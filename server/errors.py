"""Errors of the service and its command line.

ProofweaveError
└── ServerError
    ├── RequestRejected         a request that cannot be understood as it is
    ├── QuestionRejected        a question that the grammar of the packs does not read
    ├── SettingsRejected        settings that cannot be read, or have a wrong value
    ├── Unauthenticated         no credentials, or unknown ones
    ├── NotPermitted            credentials that do not lead to this knowledge base
    ├── NotProvided             a method or form that this version does not provide
    ├── DeadlinePassed          the deadline of the call passed before there was an answer
    ├── UploadTooLarge          an upload beyond the limit
    ├── FileUnreadable          a file that is to be uploaded and cannot be read
    └── ServerUnreachable       no server answers at the given address
"""

from __future__ import annotations

from typing import ClassVar

from kb.errors import ProofweaveError


class ServerError(ProofweaveError):
    """Root of the errors of the service."""

    code: ClassVar[str] = "SERVER_ERROR"


class RequestRejected(ServerError):
    """A request that cannot be understood as it is; the message names the field."""

    code: ClassVar[str] = "REQUEST_REJECTED"


class QuestionRejected(ServerError):
    """A question that the grammar of the packs does not read; the message names the part."""

    code: ClassVar[str] = "QUESTION_REJECTED"


class SettingsRejected(ServerError):
    """Settings that cannot be read, or have a wrong value."""

    code: ClassVar[str] = "SETTINGS_REJECTED"


class Unauthenticated(ServerError):
    """No credentials, or unknown ones."""

    code: ClassVar[str] = "UNAUTHENTICATED"


class NotPermitted(ServerError):
    """Credentials that do not lead to this knowledge base."""

    code: ClassVar[str] = "NOT_PERMITTED"


class NotProvided(ServerError):
    """A method or form that this version does not provide; the message says why."""

    code: ClassVar[str] = "NOT_PROVIDED"


class DeadlinePassed(ServerError):
    """The deadline of the call passed before there was an answer; says nothing of the goal."""

    code: ClassVar[str] = "DEADLINE_PASSED"


class UploadTooLarge(ServerError):
    """An upload beyond the limit; the message names it."""

    code: ClassVar[str] = "UPLOAD_TOO_LARGE"


class FileUnreadable(ServerError):
    """A file that is to be uploaded and cannot be read."""

    code: ClassVar[str] = "FILE_UNREADABLE"


class ServerUnreachable(ServerError):
    """No server answers at the given address."""

    code: ClassVar[str] = "SERVER_UNREACHABLE"
