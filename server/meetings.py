"""Meets over the wire: constraints read by the kinds of their dimensions, answers with evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proofweave.v1 import common_pb2
from proofweave.v1 import knowledge_pb2 as pb

from kb.class_labels import ClassLabels
from kb.constraint import OPERATORS, Constraint, Range, range_of, within
from kb.dimension import Dimension, DimensionKind, kind_of, value_label
from kb.errors import ValueUnreadable
from kb.lattice import is_plain
from kb.meeting import Contradiction, Lack, Meeting
from kb.placements import confidence_of
from kb.qualified import View
from kb.quantity import (
    Comparable,
    Date,
    Quantity,
    Truth,
    compare,
    parse_date,
    parse_number,
    parse_quantity,
)
from kb.reading import Reading
from kb.statement import Entity, TaxonClass, Text, Value

from .errors import RequestRejected
from .nearest import nearest
from .paging import page
from .translate import day_of, statement_message

_EVIDENCE_OF = 3
"""Instances whose statements are sent as evidence."""

LACKS = {lack: common_pb2.AbstentionCode.Value(f"ABSTENTION_CODE_{lack.name}") for lack in Lack}

_UP_TO = ".."

Asked = Constraint | Range

ORDERED = frozenset({DimensionKind.NUMBER, DimensionKind.QUANTITY, DimensionKind.TIME})
"""Kinds whose values lie on a line."""


@dataclass(frozen=True, slots=True)
class Asker:
    """What is asked: a reading of the knowledge base of a name."""

    name: str
    known: Reading


def meet_instances(
    asker: Asker, request: pb.MeetInstancesRequest, *, page_default: int
) -> pb.MeetInstancesResponse:
    """Answer a meet.

    Raises RequestRejected, naming every constraint that cannot be read and the nearest names.
    """
    base = asker.known
    wanted = read_constraints(asker, request.constraints)
    view = View(day_of(request.valid_on, field="valid_on"), _confidence_of(request.min_confidence))
    meeting = base.meeting(wanted, view=view, union=request.any)
    found, token = page(
        meeting.answers,
        size=request.page_size,
        default=page_default,
        token=request.page_token,
        key=str,
    )
    response = pb.MeetInstancesResponse(
        instances=found,
        total=len(meeting.answers),
        next_page_token=token,
        conflicts=_conflicts(asker, meeting),
        alone=[count for _, count in meeting.alone],
        revision=str(base.revision),
    )
    if meeting.lack is not None:
        response.code = LACKS[meeting.lack]
    if meeting.undetermined is not None:
        response.undetermined.extend(meeting.undetermined.page(page_default))
    if not request.page_token:
        response.statements.extend(_evidence(asker, found[:_EVIDENCE_OF], wanted, view))
    return response


def _conflicts(asker: Asker, meeting: Meeting) -> Iterator[pb.MeetConflict]:
    for conflict in meeting.conflicts:
        left, right = _shown(conflict.left), _shown(conflict.right)
        yield pb.MeetConflict(
            dimension=conflict.dimension, left=left, right=right, reason=conflict.reason
        )
    for found in meeting.contradictions:
        yield pb.MeetConflict(
            dimension=found.dimension,
            left=_shown(found.asked),
            right=", ".join(value_label(value) for value, _ in found.stated),
            reason="; ".join(dict.fromkeys(reason for _, reason in found.stated)),
            statements=_evidence_against(asker, found),
        )


def _evidence_against(asker: Asker, found: Contradiction) -> Iterator[common_pb2.Statement]:
    values = {value for value, _ in found.stated}
    for instance in found.instances.page(_EVIDENCE_OF):
        for row in asker.known.every_statement(subject=instance, dimension=found.dimension):
            if row[1].value in values:
                yield statement_message(asker.name, *row)


def _evidence(
    asker: Asker, instances: Iterable[str], wanted: Sequence[Asked], view: View
) -> Iterator[common_pb2.Statement]:
    """Give the statements by which instances satisfy constraints, by dimension."""
    known = {dimension.name: dimension for dimension in asker.known.dimensions()}
    for instance in instances:
        for name in sorted({item.dimension for item in wanted}):
            asked = [item for item in wanted if item.dimension == name]
            for row in asker.known.every_statement(subject=instance, dimension=name):
                _, statement, evidence = row
                if (
                    is_plain(statement)
                    and view.shows(statement.validity, confidence_of(evidence))
                    and any(_satisfies(known.get(name), statement.value, item) for item in asked)
                ):
                    yield statement_message(asker.name, *row)


def _satisfies(dimension: Dimension | None, value: Value, asked: Asked) -> bool:
    wanted = range_of(asked)
    if wanted is not None:
        return isinstance(value, Comparable) and wanted.truth(value) is Truth.TRUE
    assert isinstance(asked, Constraint)
    return value == asked.value or (dimension is not None and dimension.leq(value, asked.value))


def _shown(value: Value | Range) -> str:
    return str(value) if isinstance(value, Range) else value_label(value)


def _confidence_of(text: str) -> Fraction | None:
    if not text:
        return None
    try:
        confidence = parse_number(text)
    except ValueUnreadable as error:
        raise RequestRejected(f"min_confidence: {error}") from error
    if not 0 <= confidence <= 1:
        raise RequestRejected(f"min_confidence is {text}; expected a number from 0 to 1")
    return confidence


def read_constraints(asker: Asker, given: Iterable[pb.ValueConstraint]) -> tuple[Asked, ...]:
    """Read constraints by the kinds of their dimensions; of all problems at once."""
    known = {dimension.name: dimension for dimension in asker.known.dimensions()}
    wanted: list[Asked] = []
    problems: list[str] = []
    for item in given:
        try:
            wanted.append(_read(asker.known, known, item))
        except (RequestRejected, ValueUnreadable) as error:
            problems.append(f"{item.dimension}{item.operator or '='}{item.value}: {error}")
    if not wanted and not problems:
        raise RequestRejected("there is no constraint; expected DIMENSION=VALUE at least once")
    if problems:
        raise RequestRejected("; ".join(problems))
    return tuple(wanted)


def _read(base: Reading, known: dict[str, Dimension], item: pb.ValueConstraint) -> Asked:
    name, operator, text = item.dimension, item.operator or "=", item.value.strip()
    if operator not in OPERATORS:
        raise RequestRejected(f"{operator!r} is no operator; expected {', '.join(OPERATORS)}")
    if not text:
        raise RequestRejected("there is no value")
    dimension = known.get(name)
    kind = dimension.kind if dimension else _kind_stated(base, name)
    if kind is None:
        names = {*known, *base.stated_dimensions()}
        raise RequestRejected(f"there is no dimension {name!r}{nearest(name, names)}")
    if kind in ORDERED:
        return _read_ordered(name, operator, text, kind, dimension.unit if dimension else None)
    if operator != "=":
        raise RequestRejected(f"{name} is of kind {kind.value}, which has no {operator}")
    if kind is DimensionKind.TAXONOMIC:
        return Constraint(name, TaxonClass(ClassLabels(dimension).read(text)))
    return Constraint(name, Entity(text) if kind is DimensionKind.ENTITY else Text(text))


def _read_ordered(
    name: str, operator: str, text: str, kind: DimensionKind, unit: str | None
) -> Range:
    low, separator, high = text.partition(_UP_TO)
    if not separator:
        value = read_ordered(text, kind, unit)
        if operator == "=" and isinstance(value, Date):
            return within(value, value, dimension=name)
        return Range(name, ((operator, value),))
    if operator != "=" or not (low.strip() or high.strip()):
        raise RequestRejected(
            f"{text!r} is no range; expected = and FIRST..LAST, one may be left out"
        )
    ends = [read_ordered(end.strip(), kind, unit) if end.strip() else None for end in (low, high)]
    first, last = ends
    if first is not None and last is not None:
        if compare("<=", first, last) is Truth.FALSE:
            turned = f"{high.strip()}{_UP_TO}{low.strip()}"
            raise RequestRejected(f"the range {text!r} runs backwards; expected {turned!r}")
        return within(first, last, dimension=name)
    if first is not None:
        return Range(name, (within(first, first, dimension=name).tests[0],))
    assert last is not None
    return Range(name, (within(last, last, dimension=name).tests[1],))


def read_ordered(text: str, kind: DimensionKind, unit: str | None) -> Comparable:
    """Read a number, quantity or date; a number alone is in the unit of the dimension.

    Raises ValueUnreadable.
    """
    if kind is DimensionKind.TIME:
        return parse_date(text)
    if kind is DimensionKind.NUMBER:
        return parse_number(text)
    if " " not in text and unit is not None:
        return Quantity(parse_number(text), unit)
    return parse_quantity(text)


def _kind_stated(base: Reading, name: str) -> DimensionKind | None:
    """Give the kind of the values stated in a dimension that nobody defined."""
    value = base.stated_value(name)
    return None if value is None else kind_of(value)
