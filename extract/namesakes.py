"""Namesakes of one document: a name with two dates of birth is the name of two persons.

Where passages give one name values of an identifying dimension that cannot both hold, each passage
speaks of the namesake whose value it gives. What a passage says of the name without such a value is
refused, since it might be of either: a wrong merge is worse than a gap. A name that is the title of
a passage, or that one passage gives two values, is left as it is: there the values contradict each
other, and both sides are kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from kb.document import Document
from kb.quantity import Date
from kb.statement import Entity, Evidence, Modality, Polarity, Statement, Value, value_to_json

from .candidate import Rejection
from .extractor import Extraction
from .pack import Pack

Grounded = tuple[Statement, Evidence]


@dataclass(frozen=True, slots=True)
class _Split:
    """The passages of a name, by number, with the name of the namesake each speaks of."""

    by_passage: Mapping[int, str]
    detail: str


def identifying_dimensions(packs: Sequence[Pack]) -> dict[str, str]:
    """Give the dimensions whose values tell namesakes apart, with their labels."""
    return {
        dimension.name: dimension.label
        for pack in packs
        for dimension in pack.dimensions
        if dimension.identifying
    }


def split_namesakes(
    extraction: Extraction, document: Document, identifying: Mapping[str, str]
) -> Extraction:
    """Give each namesake its own name, and refuse what might be of either.

    `identifying` has the dimensions that tell namesakes apart, with their labels. Order stays.
    """
    starts = [passage.start for passage in document.passages]
    titles = {passage.title for passage in document.passages}

    def passage_of(evidence: Evidence) -> int:
        return bisect_right(starts, evidence.start) - 1

    claims: dict[tuple[str, str], dict[int, list[Value]]] = {}
    for statement, evidence in extraction.grounded:
        if (
            statement.dimension in identifying
            and statement.subject not in titles
            and statement.polarity is Polarity.AFFIRMED
            and statement.modality is Modality.ASSERTED
        ):
            places = claims.setdefault((statement.subject, statement.dimension), {})
            places.setdefault(passage_of(evidence), []).append(statement.value)
    splits: dict[str, _Split] = {}
    for (name, dimension), places in sorted(claims.items()):
        found = _split(name, identifying[dimension], places)
        if found is not None:
            splits.setdefault(name, found)
    if not splits:
        return extraction
    grounded: list[Grounded] = []
    refused: list[Rejection] = list(extraction.rejected)
    for statement, evidence in extraction.grounded:
        outcome = _renamed(statement, evidence, splits, passage_of(evidence))
        if isinstance(outcome, Rejection):
            refused.append(outcome)
        else:
            grounded.append(outcome)
    return Extraction(tuple(grounded), tuple(dict.fromkeys(refused)))


def _split(name: str, label: str, places: Mapping[int, Sequence[Value]]) -> _Split | None:
    """Tell namesakes apart, where each passage gives values of one of them only."""
    known: list[list[Value]] = []
    chosen: dict[int, list[Value]] = {}
    for number, values in sorted(places.items()):
        if not _agree(values):
            return None  # one passage contradicts itself
        fitting = [group for group in known if _agree((*group, *values))]
        if len(fitting) > 1:
            return None  # a value, such as a mere year, that might be of several
        group = fitting[0] if fitting else []
        if not fitting:
            known.append(group)
        group += values
        chosen[number] = group
    if len(known) < 2:
        return None
    names = {id(group): f"{name} ({label} {_shortest(group)})" for group in known}
    detail = ", ".join(sorted(names.values()))
    return _Split({number: names[id(group)] for number, group in chosen.items()}, detail)


def _agree(values: Collection[Value]) -> bool:
    """Whether the values may all be one; dates of different precision may be."""
    dates = [value for value in values if isinstance(value, Date)]
    if len(dates) < len(values):
        return len(set(values)) == 1
    return max(date.first for date in dates) <= min(date.last for date in dates)


def _shortest(values: Sequence[Value]) -> str:
    """Give the most precise value of a namesake as text."""
    if all(isinstance(value, Date) for value in values):
        dates = [value for value in values if isinstance(value, Date)]
        return str(min(dates, key=lambda date: (date.last - date.first, date.first)))
    return min(value_to_json(value)["value"] for value in values)


def _renamed(
    statement: Statement, evidence: Evidence, splits: Mapping[str, _Split], passage: int
) -> Grounded | Rejection:
    value = statement.value
    named = [statement.subject, *([value.name] if isinstance(value, Entity) else ())]
    for name in named:
        if name in splits and passage not in splits[name].by_passage:
            return Rejection(
                f"namesakes: {name!r} is the name of several here, and this might be of either: "
                f"{splits[name].detail}",
                evidence.quote,
            )
    if not any(name in splits for name in named):
        return statement, evidence
    if statement.subject in splits:
        subject = splits[statement.subject].by_passage[passage]
        statement = replace(statement, subject=subject)
    if isinstance(value, Entity) and value.name in splits:
        statement = replace(statement, value=Entity(splits[value.name].by_passage[passage]))
    return statement, replace(evidence, statement_id=statement.id)
