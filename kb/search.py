"""Projection to a text index: BM25 over passages and their titles, by Tantivy.

Beside words, a query finds the passages whose titles it names and, if asked, those that the best of
them name in turn: a question seldom says who made the film it asks about, the passage of
the film does. Each of these is a term of its own, so that a name shared by many passages says less.
The words of the names in the best passages count a little too: what is sought may stand where these
are written about under another title.

Scores depend on the standing passages alone: nothing is ever deleted from an index, it is built
anew. Equal scores are ordered by source and position, also at the cut. A build that was not
finished leaves no checkpoint, and the next opening starts over.

Source: Robertson, Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond (2009), 3;
Rocchio: Relevance Feedback in Information Retrieval (1971), here with words of names alone. The
weights below were chosen on training questions of 2WikiMultihopQA, HotpotQA and MuSiQue.
"""

from __future__ import annotations

import math
import shutil
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import zip_longest
from pathlib import Path

import tantivy

from .document import Document, Passage
from .log import write_atomically
from .search_ranking import COMMON, Found, Ranking, Term
from .search_terms import SearchTerms, composed

_FORMAT = "4"
_HEAP = 512_000_000
"""Bytes for what is added before it becomes a segment; taken as needed. Each term of a query is
looked up in every segment, so fewer of them are faster; a million passages make one."""

_EARLIER = 3  # states of an index kept for questions that began before it changed

_NAMED = 10.0
"""Weight of a title that the query names, against one word. Titles that n passages have weigh this
over the root of n, also below."""

_LINKED = 3.0
"""Weight of a title that the best passage names; each passage after it weighs `_LESS` of that."""

_HINTING = 0.4
"""Weight of a word of the names in the best passage; after it, `_LESS` of that."""

_BRINGING = 1_000
"""Passages up to which such a word brings them; those with a commoner one have to be found by more.
One that is common does not count."""

_LESS = 0.5
_FOLLOWED = 3
_FOLLOWED_LENGTH = 4_000
"""Passages whose names are followed, and how far these and queries are read for names, in code
points."""


class Reach(Enum):
    """How far a search goes."""

    NAMED = "named"
    """Passages with the words of the query, or of a title that it names."""

    LINKED = "linked"
    """Also passages of a title that one of the best passages names."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage was found, and how well it matches; a higher score is better."""

    source_sha256: str
    title: str
    start: int
    end: int
    score: float


class TextIndex:
    """The passages of the standing documents, in a directory, or of none if it is made anew.

    One thread adds at a time; any may search, each call on what stood when it began.
    """

    def __init__(self, directory: Path, *, anew: bool = False) -> None:
        self._earlier: deque[tuple[int, int, tantivy.Searcher]] = deque(maxlen=_EARLIER)
        self._checkpoint = directory.with_name(f"{directory.name}.revision")
        self.revision = 0 if anew else self._read_checkpoint()
        if not self.revision:
            self._checkpoint.unlink(missing_ok=True)
            shutil.rmtree(directory, ignore_errors=True)
        self._since = self.revision
        directory.mkdir(parents=True, exist_ok=True)
        self._index = tantivy.Index(_schema(), str(directory), reuse=bool(self.revision))
        self._terms = SearchTerms()
        self._index.register_tokenizer("passage", self._terms.analyzer)

    def _read_checkpoint(self) -> int:
        try:
            form, _, revision = self._checkpoint.read_text(encoding="utf-8").partition(" ")
            return int(revision) if form == _FORMAT else 0
        except (OSError, ValueError):
            return 0

    def add(self, documents: Iterable[Document], *, revision: int) -> None:
        """Add documents that are not there, and record how far the log has been followed."""
        before = self._since, self.revision, self._index.searcher()
        self._checkpoint.unlink(missing_ok=True)
        writer = self._index.writer(heap_size=_HEAP, num_threads=1)
        try:
            for document in documents:
                for passage in worth_finding(document):
                    writer.add_document(self._entry(document, passage))
            writer.commit()
            writer.wait_merging_threads()
        finally:
            del writer
        self._index.reload()
        self._earlier.append(before)
        self._since = self.revision = revision
        write_atomically(self._checkpoint, f"{_FORMAT} {revision}\n".encode())

    def follow(self, revision: int) -> None:
        """Record a later revision that changes no passage."""
        self.revision = revision
        write_atomically(self._checkpoint, f"{_FORMAT} {revision}\n".encode())

    def searcher(self) -> tantivy.Searcher:
        """Give what searches the passages as they are now, also later."""
        return self._index.searcher()

    def earlier(self, revision: int) -> tantivy.Searcher | None:
        """Give what searches the passages of an earlier revision, if that was not long ago."""
        for first, last, searcher in self._earlier:
            if first <= revision <= last:
                return searcher
        return None

    def _entry(self, document: Document, passage: Passage) -> tantivy.Document:
        entry = tantivy.Document(
            title=composed(passage.title),
            text=composed(document.text[passage.start : passage.end]),
            name=passage.title.encode(),
            source=bytes.fromhex(document.source_sha256),
            source_order=int(document.source_sha256[:16], 16) >> 1,
            start=passage.start,
            end=passage.end,
        )
        for key in self._terms.title_keys(passage.title):
            entry.add_text("key", key)
        return entry

    def ranking(self, searcher: tantivy.Searcher | None = None) -> Ranking:
        """Give what ranks passages by terms, as they are now or as a searcher has them."""
        return Ranking(self.searcher() if searcher is None else searcher, self._index.schema)

    def search(
        self,
        query: str,
        limit: int,
        *,
        reach: Reach = Reach.NAMED,
        read: Callable[[Place], str] = lambda _: "",
        searcher: tantivy.Searcher | None = None,
    ) -> tuple[Place, ...]:
        """Find the best passages for a text; nothing in it is syntax.

        `read` gives the text of a passage, empty where it is gone; only LINKED asks it.
        `searcher` searches the passages as they were earlier.
        """
        ranking = self.ranking(searcher)
        searcher = ranking.searcher
        words = self._terms.words(query)
        named = self._names(ranking, query)
        terms = [
            *ranking.weighed("text", dict.fromkeys(words, 1.0)),
            *ranking.weighed("title", dict.fromkeys(words, 1.0)),
            *_titles(ranking, dict.fromkeys(named, _NAMED)),
        ]
        if reach is Reach.NAMED:
            return tuple(_place(searcher, found) for found in ranking.best(terms, limit))
        first = ranking.best(terms, max(limit, _FOLLOWED))
        read_first = [read(_place(searcher, found)) for found in first[:_FOLLOWED]]
        links = self._links(ranking, read_first, named)
        hints = self._hints(ranking, read_first, words)
        among = [*links, *(hint for hint in hints if hint.passages <= _BRINGING)]
        also = [hint for hint in hints if _BRINGING < hint.passages <= COMMON]
        # The others keep their scores, so only passages with a link or a hint are scored again.
        again = ranking.best([*terms, *also], limit, among=among) if among else []
        places = {found.place: found for found in (*first, *again)}
        ranked = sorted(places.values(), key=lambda found: found.rank)
        return tuple(_place(searcher, found) for found in ranked[:limit])

    def _links(self, ranking: Ranking, texts: Sequence[str], named: Collection[str]) -> list[Term]:
        weights: dict[str, float] = {}
        for rank, text in enumerate(texts):
            for key in self._names(ranking, text, whole=True):
                weights.setdefault(key, _LINKED * _LESS**rank)
        return _titles(ranking, {k: w for k, w in weights.items() if k not in named})

    def _hints(self, ranking: Ranking, texts: Sequence[str], words: Collection[str]) -> list[Term]:
        weights: dict[str, float] = {}
        for rank, text in enumerate(texts):
            for word in self._terms.name_words(text[:_FOLLOWED_LENGTH]):
                weights.setdefault(word, _HINTING * _LESS**rank)
        return ranking.weighed("text", {w: v for w, v in weights.items() if w not in words})

    def _names(self, ranking: Ranking, text: str, *, whole: bool = False) -> tuple[str, ...]:
        text = text[:_FOLLOWED_LENGTH]
        return self._terms.names(text, lambda key: ranking.has("key", key), whole=whole)


def _titles(ranking: Ranking, weights: Mapping[str, float]) -> list[Term]:
    """Give terms for titles; one that several passages share is not likely to mean each of them."""
    return [
        replace(term, weight=term.weight / math.sqrt(term.passages))
        for term in ranking.weighed("key", weights)
    ]


def _place(searcher: tantivy.Searcher, found: Found) -> Place:
    stored = searcher.doc(found.address).to_dict()
    (source,), (name,), (end,) = stored["source"], stored["name"], stored["end"]
    return Place(source.hex(), name.decode(), found.place[1], end, found.score)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("title", tokenizer_name="passage", index_option="freq")
    builder.add_text_field("text", tokenizer_name="passage", index_option="freq")
    builder.add_text_field("key", tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("name", stored=True)  # as bytes, since text would be indexed
    builder.add_bytes_field("source", stored=True)
    builder.add_integer_field("source_order", fast=True)  # its first 63 bits
    builder.add_integer_field("start", fast=True)
    builder.add_integer_field("end", stored=True)
    return builder.build()


def worth_finding(document: Document) -> Iterator[Passage]:
    """Leave out headings: they are the title, and so the first, of several passages."""
    before = None
    for passage, following in zip_longest(document.passages, document.passages[1:]):
        first_of_several = (
            passage.title != before and following and following.title == passage.title
        )
        before = passage.title
        text = document.text[passage.start : passage.end]
        if not first_of_several or text.strip("# \t") != passage.title:
            yield passage
