"""What searches are held against: Tantivy by itself, and an index of which nothing is in memory."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tantivy

from kb.search import Place, TextIndex
from kb.search_terms import SearchTerms

_COLD = 20


def bare_tantivy(directory: Path) -> Callable[[str, int], Sequence[Place]]:
    """Give a search of Tantivy for the words of a text: no names, no order of equal scores."""
    index = tantivy.Index.open(str(directory))
    searcher, schema, terms = index.searcher(), index.schema, SearchTerms()

    def search(text: str, limit: int) -> Sequence[Place]:
        words = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, field, word))
            for field in ("text", "title")
            for word in terms.words(text)
        ]
        query = tantivy.Query.boolean_query(words)
        hits = searcher.search(query, limit=limit, count=False).hits
        found = [(score, searcher.doc(address).to_dict()) for score, address in hits]
        return [
            Place(each["source"][0].hex(), each["name"][0].decode(), 0, each["end"][0], score)
            for score, each in found
        ]

    return search


def cold(directory: Path, questions: Sequence[str], limit: int) -> dict[str, Any]:
    """Time the first question to an index that is opened and read from disk, for some questions.

    No one else may have the index open, since the system keeps in memory what is mapped.
    """
    opened, asked = [], []
    for question in questions[:_COLD]:
        for file in sorted(directory.rglob("*")):
            with file.open("rb") as stream:
                os.fsync(stream.fileno())
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        started = time.perf_counter()
        index = TextIndex(directory)
        ready = time.perf_counter()
        index.search(question, limit)
        asked.append((time.perf_counter() - ready) * 1000)
        opened.append((ready - started) * 1000)
    return {
        "measured": "cold",
        "questions": len(asked),
        "open_ms_p50": round(statistics.median(opened), 2),
        "first_named_ms_p50": round(statistics.median(asked), 2),
        "first_named_ms_most": round(max(asked), 2),
    }
