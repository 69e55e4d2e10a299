"""Which identity statements hold: a short name that several entities bear identifies none of them.

A document may call `Nordhafen Logistik GmbH` by the short name `Nordhafen`, and another document
may call `Nordhafen Reederei AG` so. Each is right in its own text, and together they would make the
two companies one. So such statements are held back from reasoning, whatever the order in which the
documents came; they count again as soon as only one entity bears the name. A row of an imported
table that states an identity means it for all documents, and is not held back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .records import Row
from .statement import Entity, Modality, Polarity

SAME_AS = "same_as"
"""The dimension of identity statements: subject and value name one entity."""


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Identity statements that do not count, by id, and who bears each ambiguous name, sorted."""

    statement_ids: frozenset[str]
    bearers: dict[str, tuple[str, ...]]


def held_back(rows: Iterable[Row], *, is_explicit: Callable[[str], bool]) -> HeldBack:
    """Find the ambiguous names among identity statements; `is_explicit` judges an extractor.

    Bearers of a name are one entity where explicit statements, or statements of names that only
    one entity bears, link them.
    """
    links = [
        (statement_id, statement.subject, statement.value.name, evidence)
        for statement_id, statement, evidence in rows
        if isinstance(statement.value, Entity)
        and statement.polarity is Polarity.AFFIRMED
        and statement.modality is Modality.ASSERTED
    ]
    bearers: dict[str, set[str]] = {}
    explicit = set()
    for statement_id, subject, name, evidence in links:
        bearers.setdefault(name, set()).add(subject)
        if any(is_explicit(item.extractor) for item in evidence):
            explicit.add(statement_id)
    groups = _Groups()
    for statement_id, subject, name, _ in links:
        if statement_id in explicit or len(bearers[name]) == 1:
            groups.join(subject, name)
    ambiguous = {
        name: tuple(sorted(found))
        for name, found in bearers.items()
        if len({groups.find(subject) for subject in found}) > 1
    }
    return HeldBack(
        frozenset(
            statement_id
            for statement_id, _, name, _ in links
            if name in ambiguous and statement_id not in explicit
        ),
        dict(sorted(ambiguous.items())),
    )


class _Groups:
    """Names by entity: union and find, with path halving.

    Source: Tarjan and van Leeuwen, Worst-case analysis of set union algorithms (1984), section 2.
    """

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def find(self, name: str) -> str:
        """Give the name that stands for the entity of a name."""
        above = self._above
        while above.setdefault(name, name) != name:
            above[name] = name = above[above[name]]
        return name

    def join(self, first: str, second: str) -> None:
        """Make two names name one entity."""
        self._above[self.find(first)] = self.find(second)
