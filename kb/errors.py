"""Errors of the knowledge base.

ProofweaveError                 root of every package's tree; carries a stable code
└── KnowledgeError
    ├── DocumentRejected        bytes that cannot become a document
    ├── StatementRejected       a statement without its quote, or of the wrong kind
    ├── ValueUnreadable         text that is no number, date or quantity
    ├── DimensionRejected       a dimension that may not go live
    ├── IRIRejected             an IRI, or a name that has none
    ├── QueryRejected           SPARQL that cannot be read or is not allowed
    ├── QueryOverBudget         SPARQL that ran out of time, rows or memory
    ├── ServiceFailed           an endpoint that a SERVICE clause asks gave no answer
    ├── FormatUnavailable       a result format that we do not write
    ├── MappingRejected         a table or its mapping that does not say what its columns mean
    ├── NotFound                no such document, statement, dimension or policy
    │   └── SourceErased        the document's bytes have been erased
    ├── RevisionUnknown         a revision that the log has not reached
    ├── AlreadyExists           a knowledge base or policy version that is there with other content
    ├── LogUnavailable          the log's database is locked, or cannot be read or written
    ├── EmbeddingsUnavailable   dense vectors are wanted and their model is not installed
    └── LogCorrupt              the hash chain does not hold
"""

from __future__ import annotations

from typing import ClassVar


class ProofweaveError(Exception):
    """Root of all errors; `code` is stable and unique across packages."""

    code: ClassVar[str] = "PROOFWEAVE_ERROR"


class KnowledgeError(ProofweaveError):
    """Root of the errors of the knowledge base."""

    code: ClassVar[str] = "KNOWLEDGE_ERROR"


class DocumentRejected(KnowledgeError):
    """Bytes that cannot become a document."""

    code: ClassVar[str] = "DOCUMENT_REJECTED"


class StatementRejected(KnowledgeError):
    """A statement whose quote does not stand at its span, or whose value has the wrong kind."""

    code: ClassVar[str] = "STATEMENT_REJECTED"


class ValueUnreadable(KnowledgeError):
    """Text that is no number, date or quantity."""

    code: ClassVar[str] = "VALUE_UNREADABLE"


class DimensionRejected(KnowledgeError):
    """A dimension with a cycle, no root, or an ambiguous pair that is not marked as allowed."""

    code: ClassVar[str] = "DIMENSION_REJECTED"


class IRIRejected(KnowledgeError):
    """An IRI that names nothing here, or a name that can have no IRI."""

    code: ClassVar[str] = "IRI_REJECTED"


class QueryRejected(KnowledgeError):
    """SPARQL that cannot be read, or asks for what is not allowed (updates, other endpoints)."""

    code: ClassVar[str] = "QUERY_REJECTED"


class QueryOverBudget(KnowledgeError):
    """SPARQL that ran out of time, rows or memory; says nothing about its answers."""

    code: ClassVar[str] = "QUERY_OVER_BUDGET"


class ServiceFailed(KnowledgeError):
    """An endpoint that a SERVICE clause asks gave no rows; says nothing about the answers."""

    code: ClassVar[str] = "SERVICE_FAILED"


class FormatUnavailable(KnowledgeError):
    """A result format that we do not write; the message lists those we do."""

    code: ClassVar[str] = "FORMAT_UNAVAILABLE"


class MappingRejected(KnowledgeError):
    """A table, or the mapping given with it, that does not say what its columns mean."""

    code: ClassVar[str] = "MAPPING_REJECTED"


class NotFound(KnowledgeError):
    """No such document, statement, dimension or policy; the message names the nearest."""

    code: ClassVar[str] = "NOT_FOUND"


class SourceErased(NotFound):
    """The document was stored once; its bytes and what was taken from it have been erased."""

    code: ClassVar[str] = "SOURCE_ERASED"


class RevisionUnknown(KnowledgeError):
    """A revision that is none of this knowledge base; the message names the newest."""

    code: ClassVar[str] = "REVISION_UNKNOWN"


class AlreadyExists(KnowledgeError):
    """A knowledge base, or a policy version with another text, is already there."""

    code: ClassVar[str] = "ALREADY_EXISTS"


class LogCorrupt(KnowledgeError):
    """The hash chain of the log does not hold; the message names the first bad sequence number."""

    code: ClassVar[str] = "LOG_CORRUPT"


class EmbeddingsUnavailable(KnowledgeError):
    """Dense vectors are wanted, and what computes them is not installed."""

    code: ClassVar[str] = "EMBEDDINGS_UNAVAILABLE"


class LogUnavailable(KnowledgeError):
    """The log's database is locked by another process, or cannot be read or written."""

    code: ClassVar[str] = "LOG_UNAVAILABLE"
