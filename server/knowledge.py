"""The knowledge bases a server has open, and what requests share about each."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from extract.names import NameIndex
from extract.question_grammar import QuestionGrammar
from extract.question_lexicon import load_lexicon
from kb.asserted import Asserted
from kb.dimension import Dimension
from kb.embedding import Embedder
from kb.errors import NotFound
from kb.knowledge_base import KnowledgeBase
from kb.records import EventKind
from kb.statement import Polarity, Statement
from reasoner.atom import is_predicate_name
from reasoner.facts import FactBase, Signature
from reasoner.prelude import prelude

from .errors import RequestRejected
from .links import Linked, link_titles, unlinked_titles
from .names import ANY
from .nearest import nearest
from .pack_files import ChosenPacks, choose_packs
from .pack_intake import list_packs, listed_packs, take_in

WITHOUT_FACTS = frozenset(
    {EventKind.POLICY_PUBLISHED, EventKind.DIMENSION_DEFINED, EventKind.CANDIDATES_REJECTED}
)
"""Events after which the facts are what they were."""

MOST_STRANGE = 1_000_000
"""Constants that requests may leave with the facts until these are read anew."""


def create_knowledge(directory: Path, *, namespace: str, packs: tuple[str, ...]) -> tuple[str, ...]:
    """Make a knowledge base with the named packs (none named: all shipped); give their names.

    A pack is a shipped name or a directory. Raises RequestRejected for an unknown one, before
    anything is written.
    """
    chosen = choose_packs(packs)
    base = KnowledgeBase.create(directory, namespace=namespace)
    try:
        for pack in chosen.packs:
            take_in(base, pack)
    finally:
        base.close()
    list_packs(directory, packs)
    return chosen.names


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


class Knowledge:
    """One open knowledge base with its packs, and the facts of its newest revision.

    Safe for use by several threads.
    """

    def __init__(self, name: str, base: KnowledgeBase, packs: ChosenPacks) -> None:
        self.name = name
        self.base = base
        self.packs = packs
        self._lock = threading.Lock()
        self._linking = threading.Lock()
        self._facts: tuple[int, FactBase] | None = None
        self._names: tuple[int, NameIndex] | None = None
        self._dimensions: tuple[int, tuple[Dimension, ...]] | None = None
        self._candidates: tuple[int, Mapping[str, tuple[str, ...]]] | None = None

    @cached_property
    def grammar(self) -> QuestionGrammar:
        """The grammar of questions of the packs."""
        return QuestionGrammar(load_lexicon(self.packs.folders))

    def facts(self) -> FactBase:
        """Give the facts of the newest revision; built anew where an event changed them.

        Statements are visible by their validity; the day is chosen when they are used.
        """
        with self._lock:
            revision = self.base.revision
            known = self._facts
            if (
                known is not None
                and known[1].terms().strange < MOST_STRANGE
                and (known[0] == revision or self.base.kinds_since(known[0]) <= WITHOUT_FACTS)
            ):
                self._facts = (revision, known[1])
                return known[1]
            facts = FactBase.of_statements(AssertedFacts(self.base.asserted(revision=revision)))
            self._facts = (revision, facts)
            return facts

    def prepare(self) -> None:
        """Load what the first question needs beside the facts it looks up."""
        prelude()
        self.facts()
        self.names()
        self.predicates()
        _ = self.grammar

    def dimensions(self) -> tuple[Dimension, ...]:
        """Give the dimensions of the newest revision, by name."""
        with self._lock:
            revision = self.base.revision
            if self._dimensions is None or self._dimensions[0] != revision:
                self._dimensions = (revision, self.base.dimensions())
            return self._dimensions[1]

    def predicates(self) -> frozenset[Signature]:
        """Give the signatures that facts of the knowledge base have or could have."""
        forms = [(sign, arity) for sign in ("", "-") for arity in (2, 3)]
        possible = {
            (sign + dimension.name, arity)
            for dimension in self.dimensions()
            for sign, arity in forms
        }
        return frozenset(possible) | self.facts().signatures()

    def link_titles(self, *, run: str) -> Linked:
        """Bring the links from names to titled passages up to date with the documents."""
        with self._linking:
            return link_titles(self.base, self.packs.packs, run=run)

    def unlinked_titles(self, name: str) -> tuple[str, ...]:
        """Give the titles of passages that a bare name might mean and that are not linked to it."""
        with self._lock:
            revision = self.base.revision
            if self._candidates is None or self._candidates[0] != revision:
                self._candidates = (revision, unlinked_titles(self.base))
            return self._candidates[1].get(name, ())

    def names(self) -> NameIndex:
        """Give the names of entities of the newest revision."""
        with self._lock:
            revision = self.base.revision
            if self._names is None or self._names[0] != revision:
                self._names = (revision, NameIndex(self.base.entity_names()))
            return self._names[1]


@dataclass(frozen=True, slots=True)
class KnowledgeBases:
    """The open knowledge bases by name."""

    bases: Mapping[str, Knowledge]

    def find(self, name: str) -> Knowledge:
        """Give the knowledge base of a name; `-` is the only one there is.

        Raises NotFound, naming the nearest, or RequestRejected where `-` could be several.
        """
        if name == ANY:
            if len(self.bases) != 1:
                raise RequestRejected(
                    "the request names no knowledge base; expected one of "
                    + ", ".join(sorted(self.bases))
                )
            return next(iter(self.bases.values()))
        if name not in self.bases:
            raise NotFound(f"there is no knowledge base {name!r}{nearest(name, self.bases)}")
        return self.bases[name]

    def close(self) -> None:
        """Close every one."""
        for knowledge in self.bases.values():
            knowledge.base.close()


def open_knowledge(
    directories: Mapping[str, Path], *, embedder: Embedder | None = None
) -> KnowledgeBases:
    """Open the knowledge bases of some directories, each with the packs chosen at `init`."""
    opened: dict[str, Knowledge] = {}
    for name, directory in sorted(directories.items()):
        base = KnowledgeBase.open(directory, embedder=embedder)
        packs = choose_packs(listed_packs(directory))
        opened[name] = Knowledge(name, base, packs)
    return KnowledgeBases(opened)
