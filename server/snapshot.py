"""What is known at one revision as requests use it, read when asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from extract.names import NameIndex
from kb.asserted import Asserted
from kb.dimension import Dimension
from kb.identity import SAME_AS, HeldBack, held_back
from kb.reading import Reading
from kb.records import EventKind
from kb.statement import Polarity, Statement
from kb.tables import EXTRACTOR
from reasoner.atom import is_predicate_name
from reasoner.facts import FactBase, Signature

from .links import unlinked_titles
from .pack_files import ChosenPacks

WITHOUT_FACTS = frozenset(
    {EventKind.POLICY_PUBLISHED, EventKind.DIMENSION_DEFINED, EventKind.CANDIDATES_REJECTED}
)
"""Events after which the facts are what they were."""

MOST_STRANGE = 1_000_000
"""Constants that requests may leave with the facts until these are read anew."""


@dataclass(frozen=True, slots=True)
class AssertedFacts:
    """What is asserted as the reasoner reads it: by predicate, denials under `-`.

    Identity statements of names that several entities bear are `held_back`, by id.
    """

    asserted: Asserted
    held_back: frozenset[str] = frozenset()

    def predicates(self) -> tuple[str, ...]:
        """Give the predicates of which something is stated."""
        return tuple(
            f"-{name}" if polarity is Polarity.DENIED else name
            for name, polarity in self.asserted.dimensions()
            if is_predicate_name(name)
        )

    def statements(self, predicate: str) -> Iterator[tuple[str, Statement]]:
        """Give the ids and statements of a predicate, by id."""
        polarity = Polarity.DENIED if predicate.startswith("-") else Polarity.AFFIRMED
        found = self.asserted.statements(predicate.removeprefix("-"), polarity)
        if predicate != SAME_AS or not self.held_back:
            return found
        return (row for row in found if row[0] not in self.held_back)

    def provenance(self) -> Iterator[tuple[str, str]]:
        """Give each statement id with each of its sources, in that order."""
        for statement_id, dimension, source in self.asserted.provenance():
            if is_predicate_name(dimension):
                yield statement_id, source


class Snapshot:
    """One revision of a knowledge base. Safe for use by several threads.

    `after` is a snapshot of an earlier revision: its facts are taken where no event since has
    changed them. Statements are visible by their validity; the day is chosen when they are used.
    """

    def __init__(
        self, name: str, known: Reading, packs: ChosenPacks, *, after: Snapshot | None = None
    ) -> None:
        self.name = name
        self.known = known
        self.packs = packs
        self.revision = known.revision
        self._lock = threading.RLock()
        self._facts: FactBase | None = None
        self._names: NameIndex | None = None
        self._dimensions: tuple[Dimension, ...] | None = None
        self._unlinked: Mapping[str, tuple[str, ...]] | None = None
        self._identities: HeldBack | None = None
        if after is not None:
            self._take(after, known.kinds_since(after.revision))

    def _take(self, after: Snapshot, kinds: frozenset[str]) -> None:
        """Take what events of these kinds have not changed since another snapshot."""
        with after._lock:
            if kinds <= WITHOUT_FACTS:
                self._facts, self._names = after._facts, after._names
                self._unlinked, self._identities = after._unlinked, after._identities
            if EventKind.DIMENSION_DEFINED not in kinds:
                self._dimensions = after._dimensions

    def facts(self) -> FactBase:
        """Give the facts."""
        with self._lock:
            if self._facts is None or self._facts.terms().strange >= MOST_STRANGE:
                held = self.identities().statement_ids
                self._facts = FactBase.of_statements(AssertedFacts(self.known.asserted(), held))
            return self._facts

    def identities(self) -> HeldBack:
        """Give the identity statements that do not count, and the names that are ambiguous."""
        with self._lock:
            if self._identities is None:
                rows = self.known.every_statement(dimension=SAME_AS)
                self._identities = held_back(rows, is_explicit=lambda found: found == EXTRACTOR)
            return self._identities

    def names(self) -> NameIndex:
        """Give the names of entities."""
        with self._lock:
            if self._names is None:
                self._names = NameIndex(self.known.entity_names())
            return self._names

    def dimensions(self) -> tuple[Dimension, ...]:
        """Give the dimensions, by name."""
        with self._lock:
            if self._dimensions is None:
                self._dimensions = self.known.dimensions()
            return self._dimensions

    def predicates(self) -> frozenset[Signature]:
        """Give the signatures that facts have or could have."""
        forms = [(sign, arity) for sign in ("", "-") for arity in (2, 3)]
        possible = {
            (sign + dimension.name, arity)
            for dimension in self.dimensions()
            for sign, arity in forms
        }
        return frozenset(possible) | self.facts().signatures()

    def unlinked_titles(self, name: str) -> tuple[str, ...]:
        """Give what a name might mean and is not linked to: titles of passages whose bare name it
        is, and the entities that bear it as a short name where there are several; sorted each.
        """
        with self._lock:
            if self._unlinked is None:
                self._unlinked = unlinked_titles(self.known)
            bearers = self.identities().bearers.get(name, ())
            return tuple(dict.fromkeys((*self._unlinked.get(name, ()), *bearers)))
