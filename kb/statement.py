"""Statements and their evidence; identity is the digest of the canonical form (DESIGN 2)."""

from __future__ import annotations

import datetime
import hashlib
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from json.encoder import encode_basestring as _quoted

from .errors import StatementRejected
from .quantity import Date, Quantity, parse_date, parse_number, parse_quantity
from .quantity import format_number as _format_number


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity as value, by its name as written; IRIs are made in `vocabulary`."""

    name: str


@dataclass(frozen=True, slots=True)
class TaxonClass:
    """A value of a taxonomic dimension, by its preferred label."""

    label: str


@dataclass(frozen=True, slots=True)
class Text:
    """A plain text value."""

    text: str


Value = Entity | TaxonClass | Text | Fraction | Quantity | Date
"""What a statement says of a dimension; a bare Fraction is a number without a unit."""


class Polarity(Enum):
    """Whether the source affirms or denies."""

    AFFIRMED = "affirmed"
    DENIED = "denied"


class Modality(Enum):
    """How the source says it; only `ASSERTED` statements become facts."""

    ASSERTED = "asserted"
    HEDGED = "hedged"
    ATTRIBUTED = "attributed"
    PLANNED = "planned"


def value_to_json(value: Value) -> dict[str, str]:
    """Give `{"kind", "value"}`, the form used in the log, in certificates and on the wire."""
    match value:
        case Entity(name):
            return {"kind": "entity", "value": name}
        case TaxonClass(label):
            return {"kind": "class", "value": label}
        case Text(text):
            return {"kind": "text", "value": text}
        case Fraction():
            return {"kind": "number", "value": _format_number(value)}
        case Quantity():
            return {"kind": "quantity", "value": str(value)}
        case Date():
            return {"kind": "date", "value": str(value)}


def value_from_json(form: dict[str, str]) -> Value:
    """Read the form `value_to_json` writes.

    Raises StatementRejected for an unknown kind and ValueUnreadable for unreadable text.
    """
    text = form["value"]
    match form["kind"]:
        case "entity":
            return Entity(text)
        case "class":
            return TaxonClass(text)
        case "text":
            return Text(text)
        case "number":
            return parse_number(text)
        case "quantity":
            return parse_quantity(text)
        case "date":
            return parse_date(text)
    raise StatementRejected(
        f"{form['kind']!r} is no kind of value; "
        "expected entity, class, text, number, quantity or date"
    )


@dataclass(frozen=True, slots=True)
class Validity:
    """Half-open interval of days `[start, end)` in which a statement holds; None is unbounded."""

    start: datetime.date | None = None
    end: datetime.date | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise StatementRejected(
                f"validity {self.start}..{self.end} is empty; end must follow start"
            )

    def holds_on(self, day: datetime.date) -> bool:
        """Whether `day` lies in the interval."""
        return (self.start is None or self.start <= day) and (self.end is None or day < self.end)

    def overlaps(self, other: Validity) -> bool:
        """Whether some day lies in both."""
        return (self.start is None or other.end is None or self.start < other.end) and (
            other.start is None or self.end is None or other.start < self.end
        )


ALWAYS = Validity()


BUILT_IN = frozenset(("under", "alias", "same_name", "stated_in", "stated_by", "valid_on"))
"""Predicates that rules, spelling, evidence or the request give; no dimension is named so."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a source says of an entity in one dimension."""

    subject: str
    dimension: str
    value: Value
    polarity: Polarity = Polarity.AFFIRMED
    modality: Modality = Modality.ASSERTED
    validity: Validity = ALWAYS

    def __post_init__(self) -> None:
        if not self.subject.strip() or not self.dimension.strip():
            raise StatementRejected("a statement needs a subject and a dimension; one is empty")
        if self.dimension in BUILT_IN:
            raise StatementRejected(f"{self.dimension} is built in: no source states it")

    def to_json(self) -> dict[str, object]:
        """Give the canonical form that is digested."""
        return {
            "subject": self.subject,
            "dimension": self.dimension,
            "value": value_to_json(self.value),
            "polarity": self.polarity.value,
            "modality": self.modality.value,
            "validity": {
                "start": self.validity.start.isoformat() if self.validity.start else None,
                "end": self.validity.end.isoformat() if self.validity.end else None,
            },
        }

    @property
    def id(self) -> str:
        """`st:` and the first 32 hex digits of the SHA-256 of the canonical form."""
        return f"st:{hashlib.sha256(self._canonical().encode()).hexdigest()[:32]}"

    def _canonical(self) -> str:
        """Write `to_json` in the form of RFC 8785, by hand, since imports digest by the 100,000."""
        value = value_to_json(self.value)
        start, end = (
            "null" if day is None else f'"{day.isoformat()}"'
            for day in (self.validity.start, self.validity.end)
        )
        return (
            f'{{"dimension":{_quoted(self.dimension)},"modality":"{self.modality._value_}",'
            f'"polarity":"{self.polarity._value_}","subject":{_quoted(self.subject)},"validity":'
            f'{{"end":{end},"start":{start}}},'
            f'"value":{{"kind":"{value["kind"]}","value":{_quoted(value["value"])}}}}}'
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a statement stands: a verbatim quote at a span of a document's decoded text.

    `start`, `end` are code points, half-open, into the decoded text whose digest is `text_sha256`.
    """

    statement_id: str
    source_sha256: str
    text_sha256: str
    start: int
    end: int
    quote: str
    extractor: str
    confidence: str = "1"

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end or self.end - self.start != len(self.quote):
            raise StatementRejected(
                f"the quote has {len(self.quote)} code points, "
                f"but its span is [{self.start}, {self.end})"
            )
