"""Values to messages and back; enums are mapped by one table each, tested to be complete."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from proofweave.v1 import certificate_pb2, common_pb2, knowledge_pb2, policy_pb2, reasoning_pb2

from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.document import Document
from kb.errors import ValueUnreadable
from kb.offsets import Offsets
from kb.quantity import Date, Quantity, format_number, parse_date
from kb.statement import (
    Entity,
    Evidence,
    Modality,
    Polarity,
    Statement,
    TaxonClass,
    Text,
    Validity,
    Value,
)
from reasoner.clause import Policy
from reasoner.verdict import AbstentionCode, OpenRequirement, Verdict

from .errors import RequestRejected
from .names import ResourceName, policy_name

CHUNK = 1024 * 1024

VERDICTS = {
    Verdict.CERTIFIED: common_pb2.VERDICT_CERTIFIED,
    Verdict.REFUTED: common_pb2.VERDICT_REFUTED,
    Verdict.ABSTAINED: common_pb2.VERDICT_ABSTAINED,
}
POLARITIES = {
    Polarity.AFFIRMED: common_pb2.POLARITY_AFFIRMED,
    Polarity.DENIED: common_pb2.POLARITY_DENIED,
}
MODALITIES = {
    Modality.ASSERTED: common_pb2.MODALITY_ASSERTED,
    Modality.HEDGED: common_pb2.MODALITY_HEDGED,
    Modality.ATTRIBUTED: common_pb2.MODALITY_ATTRIBUTED,
    Modality.PLANNED: common_pb2.MODALITY_PLANNED,
}
CODES = {
    code: common_pb2.AbstentionCode.Value(f"ABSTENTION_CODE_{code.name}") for code in AbstentionCode
}
DIMENSION_KINDS = {
    kind: knowledge_pb2.DimensionKind.Value(f"DIMENSION_KIND_{kind.name}") for kind in DimensionKind
}
ENGINES = {
    reasoning_pb2.ENGINE_UNSPECIFIED: "auto",
    reasoning_pb2.ENGINE_AUTO: "auto",
    reasoning_pb2.ENGINE_CLINGO: "clingo",
    reasoning_pb2.ENGINE_LINEAR: "linear",
    reasoning_pb2.ENGINE_PYDATALOG: "pydatalog",
}

# Certificates are JSON whose schema the verifier checks; here members are read as they are.
Json = Mapping[str, Any]


def chunks(data: bytes) -> Iterator[bytes]:
    """Cut bytes into pieces that fit a message."""
    for start in range(0, len(data), CHUNK):
        yield data[start : start + CHUNK]


def value_message(value: Value) -> common_pb2.Value:
    """Translate a value; every kind in its canonical text."""
    match value:
        case Entity(name):
            return common_pb2.Value(entity=name)
        case TaxonClass(label):
            return common_pb2.Value(class_label=label)
        case Text(text):
            return common_pb2.Value(text=text)
        case Fraction():
            return common_pb2.Value(number=format_number(value))
        case Quantity():
            return common_pb2.Value(quantity=str(value))
        case Date():
            return common_pb2.Value(date=str(value))


def validity_message(validity: Validity) -> common_pb2.Validity:
    """Translate a validity; an unbounded side is the empty string."""
    return common_pb2.Validity(start=_day(validity.start), end=_day(validity.end))


def _day(day: datetime.date | None) -> str:
    return day.isoformat() if day else ""


def day_of(text: str, *, field: str) -> datetime.date | None:
    """Read an ISO day; the empty string is None.

    Raises RequestRejected, naming the field, for anything else.
    """
    if not text:
        return None
    try:
        date = parse_date(text)
    except ValueUnreadable as error:
        raise RequestRejected(f"{field}: {error}") from error
    if not date.is_exact:
        raise RequestRejected(f"{field}: {text!r} is no single day; expected YYYY-MM-DD")
    return date.first


def document_message(knowledge_base: str, document: Document) -> knowledge_pb2.Document:
    """Translate a document, without its text."""
    name = ResourceName(knowledge_base, "documents", document.source_sha256)
    return knowledge_pb2.Document(
        name=str(name),
        file_name=document.name,
        title=document.title,
        media_type=document.media_type,
        decoder=document.decoder,
        source_sha256=document.source_sha256,
        text_sha256=document.text_sha256,
        text_length=len(document.text),
        passage_count=len(document.passages),
    )


def statement_message(
    knowledge_base: str,
    statement_id: str,
    statement: Statement,
    evidence: Iterable[Evidence],
    *,
    offsets: Callable[[Evidence], Offsets] | None = None,
) -> common_pb2.Statement:
    """Translate a statement with its evidence, and its `offsets` if given."""
    return common_pb2.Statement(
        name=str(ResourceName(knowledge_base, "statements", statement_id)),
        subject=statement.subject,
        dimension=statement.dimension,
        value=value_message(statement.value),
        polarity=POLARITIES[statement.polarity],
        modality=MODALITIES[statement.modality],
        validity=validity_message(statement.validity),
        evidence=[
            common_pb2.Evidence(
                document=str(ResourceName(knowledge_base, "documents", found.source_sha256)),
                source_sha256=found.source_sha256,
                text_sha256=found.text_sha256,
                start=found.start,
                end=found.end,
                quote=found.quote,
                extractor=found.extractor,
                confidence=found.confidence,
                offsets=None if offsets is None else offsets_message(offsets(found)),
            )
            for found in evidence
        ],
    )


def offsets_message(offsets: Offsets) -> common_pb2.Offsets:
    """Translate a span in other units."""
    message = common_pb2.Offsets(
        text_byte_start=offsets.text_bytes[0],
        text_byte_end=offsets.text_bytes[1],
        utf16_start=offsets.utf16[0],
        utf16_end=offsets.utf16[1],
    )
    if offsets.source_bytes is not None:
        message.source_byte_start, message.source_byte_end = offsets.source_bytes
    return message


def open_message(requirement: OpenRequirement) -> common_pb2.OpenRequirement:
    """Translate an open requirement."""
    return common_pb2.OpenRequirement(
        id=requirement.id,
        atom=requirement.atom,
        code=CODES[requirement.code],
        rule=requirement.rule,
        query=requirement.query,
        expected=requirement.expected,
        entity_test=requirement.entity_test,
        detail=requirement.detail,
        rejected=requirement.rejected,
        conflicting=requirement.conflicting,
    )


def requirement_of(form: Json) -> OpenRequirement:
    """Read an open requirement of a certificate."""
    texts = {name: form[name] for name in ("id", "atom", "rule", "query", "expected", "detail")}
    return OpenRequirement(
        **texts,
        code=AbstentionCode(form["code"]),
        entity_test=form["entity_test"],
        rejected=tuple(form["rejected"]),
        conflicting=tuple(form["conflicting"]),
    )


def policy_message(policy: Policy, *, with_text: bool) -> policy_pb2.Policy:
    """Translate a policy."""
    return policy_pb2.Policy(
        name=policy_name(policy.id, policy.version),
        id=policy.id,
        version=policy.version,
        digest=policy.digest,
        effective=validity_message(Validity(*policy.effective)),
        text=policy.text if with_text else "",
        rules=[
            policy_pb2.Rule(id=clause.id, text=clause.text, cite=clause.cite, says=clause.says)
            for clause in policy.clauses
        ],
    )


def certificate_message(
    knowledge_base: str, digest: str, size: int, certificate: Json
) -> certificate_pb2.Certificate:
    """Summarise a certificate."""
    code = certificate["code"]
    return certificate_pb2.Certificate(
        name=str(ResourceName(knowledge_base, "certificates", digest)),
        sha256=digest,
        size=size,
        verdict=VERDICTS[Verdict(certificate["verdict"])],
        code=CODES[AbstentionCode(code)] if code else common_pb2.ABSTENTION_CODE_UNSPECIFIED,
        question=certificate["question"] or "",
        goal=certificate["goal"],
        valid_on=certificate["valid_on"] or "",
        policies=[policy_name(found["id"], found["version"]) for found in certificate["policies"]],
        step_count=len(certificate["steps"]),
        statement_count=len(certificate["statements"]),
        open_count=len(certificate["open"]),
        assumptions=certificate["assumptions"],
        retractions=[found["atom"] for found in certificate.get("retractions", ())],
    )


def dimension_message(knowledge_base: str, dimension: Dimension) -> knowledge_pb2.Dimension:
    """Translate a dimension with its order."""
    taxonomy = dimension.taxonomy
    return knowledge_pb2.Dimension(
        name=str(ResourceName(knowledge_base, "dimensions", dimension.name)),
        kind=DIMENSION_KINDS[dimension.kind],
        label=dimension.label,
        functional=dimension.functional,
        unit=dimension.unit or "",
        inverse=dimension.inverse or "",
        taxonomy=[
            knowledge_pb2.TaxonomyEdge(child=child, parent=parent)
            for child, parent in (taxonomy.covers if taxonomy else ())
        ],
        classes=taxonomy.elements if taxonomy else (),
        disjoint=_pairs(dimension.disjoint),
        allowed_ambiguities=_pairs(dimension.allowed_ambiguities),
        alternatives=_pairs(dimension.alternatives),
        equivalents=_pairs(dimension.equivalents),
    )


def _pairs(pairs: Iterable[tuple[str, str]]) -> list[knowledge_pb2.ClassPair]:
    return [knowledge_pb2.ClassPair(first=first, second=second) for first, second in pairs]


def dimension_of(message: knowledge_pb2.Dimension) -> Dimension:
    """Read a dimension; its order is admitted here.

    Raises RequestRejected without a kind, and DimensionRejected where it may not go live.
    """
    kinds = {number: kind for kind, number in DIMENSION_KINDS.items()}
    if message.kind not in kinds:
        raise RequestRejected("dimension.kind is not set; expected one of the kinds")
    name = message.name.rpartition("/")[2]
    if kinds[message.kind] is DimensionKind.TAXONOMIC:
        return define_taxonomy(
            name,
            [(edge.child, edge.parent) for edge in message.taxonomy],
            elements=message.classes,
            label=message.label,
            functional=message.functional,
            disjoint=_read_pairs(message.disjoint),
            allowed_ambiguities=_read_pairs(message.allowed_ambiguities),
            alternatives=_read_pairs(message.alternatives),
            equivalents=_read_pairs(message.equivalents),
        )
    return Dimension(
        name,
        kinds[message.kind],
        label=message.label,
        functional=message.functional,
        unit=message.unit or None,
        inverse=message.inverse or None,
    )


def _read_pairs(pairs: Iterable[knowledge_pb2.ClassPair]) -> list[tuple[str, str]]:
    return [(pair.first, pair.second) for pair in pairs]
