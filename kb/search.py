"""Projection to a text index: BM25 over passages and their titles, by Tantivy.

Scores depend on the standing passages alone: nothing is ever deleted from an index, it is built
anew. Equal scores are ordered by source and position, also at the cut. A build that was not
finished leaves no checkpoint, and the next opening starts over.
"""

from __future__ import annotations

import shutil
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import tantivy

from .document import Document, Passage
from .log import write_atomically

_FORMAT = "2"
_HEAP = 64_000_000
_EARLIER = 3  # states of an index kept for questions that began before it changed


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

    One thread adds at a time; any may search.
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
        self._analyzer = _analyzer()
        self._index.register_tokenizer("passage", self._analyzer)

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
                for passage in _worth_finding(document):
                    writer.add_document(
                        tantivy.Document(
                            title=_composed(passage.title),
                            text=_composed(document.text[passage.start : passage.end]),
                            name=passage.title,
                            source=document.source_sha256,
                            start=passage.start,
                            end=passage.end,
                            order=_order(document.source_sha256, passage.start),
                        )
                    )
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

    def search(
        self, query: str, limit: int, *, searcher: tantivy.Searcher | None = None
    ) -> tuple[Place, ...]:
        """Find the best passages for the words of a text; nothing in it is syntax."""
        words = sorted(set(self._analyzer.analyze(_composed(query))))
        if not words or limit < 1:
            return ()
        schema = self._index.schema
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, field, word))
            for field in ("text", "title")
            for word in words
        ]
        searcher = self._index.searcher() if searcher is None else searcher
        parsed = tantivy.Query.boolean_query(clauses)
        wanted = limit
        while True:  # as long as the cut falls among equal scores
            hits = searcher.search(parsed, limit=wanted + 1, count=False).hits
            if len(hits) <= wanted or hits[limit - 1][0] != hits[-1][0]:
                break
            wanted *= 8
        orders = searcher.fast_field_values("order", [address for _, address in hits])
        ranked = sorted(zip(hits, orders, strict=True), key=lambda pair: (-pair[0][0], pair[1]))
        return tuple(_place(score, searcher.doc(at)) for (score, at), _ in ranked[:limit])


def _place(score: object, found: tantivy.Document) -> Place:
    return Place(
        str(found.get_first("source")),
        str(found.get_first("name")),
        int(str(found.get_first("start"))),
        int(str(found.get_first("end"))),
        float(str(score)),
    )


def _order(source_sha256: str, start: int) -> int:
    """Order by source, as far as 31 bits tell sources apart, and position, in 63 bits."""
    return int(source_sha256[:8], 16) >> 1 << 32 | start


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("title", tokenizer_name="passage", index_option="freq")
    builder.add_text_field("text", tokenizer_name="passage", index_option="freq")
    builder.add_text_field("name", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("source", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("start", stored=True)
    builder.add_unsigned_field("end", stored=True)
    builder.add_integer_field("order", fast=True)
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("English"))
        .build()
    )


def _composed(text: str) -> str:
    """Write accents as one character, which the tokenizer would else cut words at."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _worth_finding(document: Document) -> Iterator[Passage]:
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
