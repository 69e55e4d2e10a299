"""Statements read back from a server, page by page."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from proofweave.v1 import common_pb2, knowledge_pb2, knowledge_pb2_grpc

from kb.statement import Statement, Validity, Value, value_from_json

from .translate import MODALITIES, POLARITIES

PAGE = 1000

_KINDS = {"class_label": "class"}
_POLARITIES = {number: polarity for polarity, number in POLARITIES.items()}
_MODALITIES = {number: modality for modality, number in MODALITIES.items()}


def stated_in(
    stub: knowledge_pb2_grpc.KnowledgeServiceStub, dimensions: Iterable[str]
) -> Iterator[Statement]:
    """Give all statements in some dimensions, dimension by dimension, then by id."""
    for dimension in dimensions:
        token = ""
        while True:
            request = knowledge_pb2.ListStatementsRequest(
                dimension=dimension, page_size=PAGE, page_token=token
            )
            response = stub.ListStatements(request)
            yield from map(statement_of, response.statements)
            token = response.next_page_token
            if not token:
                break


def statement_of(message: common_pb2.Statement) -> Statement:
    """Read a statement; its id is again the digest of what it says."""
    return Statement(
        subject=message.subject,
        dimension=message.dimension,
        value=_value_of(message.value),
        polarity=_POLARITIES[message.polarity],
        modality=_MODALITIES[message.modality],
        validity=Validity(_day(message.validity.start), _day(message.validity.end)),
    )


def _value_of(message: common_pb2.Value) -> Value:
    kind = message.WhichOneof("kind") or ""
    return value_from_json({"kind": _KINDS.get(kind, kind), "value": getattr(message, kind)})


def _day(text: str) -> datetime.date | None:
    return datetime.date.fromisoformat(text) if text else None
