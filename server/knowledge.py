"""The knowledge bases a server has open, and what requests share about each."""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from extract.question_grammar import QuestionGrammar
from extract.question_lexicon import load_lexicon
from kb.dimension import Dimension
from kb.embedding import Embedder
from kb.errors import NotFound
from kb.knowledge_base import KnowledgeBase
from kb.log import write_atomically
from kb.records import EventKind
from reasoner.facts import FactBase, Signature
from reasoner.prelude import prelude

from .errors import RequestRejected
from .links import Linked, link_titles
from .names import ANY
from .nearest import nearest
from .pack_files import ChosenPacks, choose_packs
from .pack_intake import list_packs, listed_packs, take_in
from .snapshot import WITHOUT_FACTS, Snapshot

EARLIER = 2
"""Earlier revisions of which what was read is kept."""


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


class Knowledge:
    """One open knowledge base with its packs. Safe for use by several threads."""

    def __init__(self, name: str, base: KnowledgeBase, packs: ChosenPacks) -> None:
        self.name = name
        self.base = base
        self.packs = packs
        self._lock = threading.Lock()
        self._linking = threading.Lock()
        self._newest: Snapshot | None = None
        self._earlier: OrderedDict[int, Snapshot] = OrderedDict()

    @cached_property
    def grammar(self) -> QuestionGrammar:
        """The grammar of questions of the packs."""
        return QuestionGrammar(load_lexicon(self.packs.folders))

    def at(self, token: str = "") -> Snapshot:
        """Give what is known at a revision, by default the newest; it does not change any more.

        Raises RequestRejected for what is no revision, and RevisionUnknown for one not reached.
        """
        with self._lock:
            newest = self.base.revision
            revision = newest if not token else _revision(token)
            if revision != newest:
                return self._at_earlier(revision)
            if self._newest is None or self._newest.revision != revision:
                known = self.base.at(revision)
                self._newest = Snapshot(self.name, known, self.packs, after=self._newest)
            return self._newest

    def _at_earlier(self, revision: int) -> Snapshot:
        found = self._earlier.pop(revision, None)
        if found is None:
            found = Snapshot(self.name, self.base.at(revision), self.packs)
        self._earlier[revision] = found
        if len(self._earlier) > EARLIER:
            self._earlier.popitem(last=False)
        return found

    def facts(self) -> FactBase:
        """Give the facts of the newest revision."""
        return self.at().facts()

    def dimensions(self) -> tuple[Dimension, ...]:
        """Give the dimensions of the newest revision, by name."""
        return self.at().dimensions()

    def predicates(self) -> frozenset[Signature]:
        """Give the signatures that facts of the newest revision have or could have."""
        return self.at().predicates()

    def prepare(self) -> None:
        """Load what the first question needs beside the facts it looks up.

        What is loaded stays, so the collector of cycles need not look at it again.
        """
        prelude()
        newest = self.at()
        newest.facts()
        newest.names()
        newest.predicates()
        _ = self.grammar
        gc.collect()
        gc.freeze()

    def link_titles(self, *, run: str) -> Linked:
        """Bring the links from names to titled passages up to date with the documents."""
        with self._linking:
            linked = link_titles(self.base, self.packs.packs, run=run)
            with suppress(OSError):  # without it the links are looked at again at the next start
                write_atomically(self._linked_file, f"{self.base.revision}\n".encode())
            return linked

    def finish_links(self) -> None:
        """Bring the links up to date where a server ended between a change and its links."""
        try:
            followed = int(self._linked_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            followed = 0
        if not self.base.kinds_since(followed) <= WITHOUT_FACTS | {EventKind.CREATED}:
            self.link_titles(run="server")

    def erase(self, change: Callable[[KnowledgeBase], int]) -> None:
        """Erase something, also from what has been read of earlier revisions."""
        change(self.base)
        with self._lock:
            self._newest = None
            self._earlier.clear()

    @property
    def _linked_file(self) -> Path:
        """Says up to which revision the links are up to date."""
        return self.base.directory / "links.revision"


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


def _revision(token: str) -> int:
    if not (token.isascii() and token.isdigit() and len(token) < 19):
        raise RequestRejected(
            f"{token!r} is no revision; expected the `revision` of a receipt or of an answer to a "
            "change, such as 12"
        )
    return int(token)


def open_knowledge(
    directories: Mapping[str, Path], *, embedder: Embedder | None = None
) -> KnowledgeBases:
    """Open the knowledge bases of some directories, each with the packs chosen at `init`."""
    opened: dict[str, Knowledge] = {}
    for name, directory in sorted(directories.items()):
        base = KnowledgeBase.open(directory, embedder=embedder)
        packs = choose_packs(listed_packs(directory))
        opened[name] = Knowledge(name, base, packs)
        opened[name].finish_links()
    return KnowledgeBases(opened)
