"""What is known at one revision as requests use it, read when asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from extract.names import NameIndex
from kb.asserted import Asserted
from kb.dimension import Dimension
from kb.reading import Reading
from kb.records import EventKind
from kb.statement import Polarity, Statement
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
    """What is asserted as the reasoner reads it: by predicate, denials under `-`."""

    asserted: Asserted

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
        return self.asserted.statements(predicate.removeprefix("-"), polarity)

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
        if after is not None and known.kinds_since(after.revision) <= WITHOUT_FACTS:
            self._facts, self._names, self._unlinked = after.loaded()

    def loaded(
        self,
    ) -> tuple[FactBase | None, NameIndex | None, Mapping[str, tuple[str, ...]] | None]:
        """Give what has been read of the statements."""
        with self._lock:
            return self._facts, self._names, self._unlinked

    def facts(self) -> FactBase:
        """Give the facts."""
        with self._lock:
            if self._facts is None or self._facts.terms().strange >= MOST_STRANGE:
                self._facts = FactBase.of_statements(AssertedFacts(self.known.asserted()))
            return self._facts

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
        """Give the titles of passages that a bare name might mean and that are not linked to it."""
        with self._lock:
            if self._unlinked is None:
                self._unlinked = unlinked_titles(self.known)
            return self._unlinked.get(name, ())
