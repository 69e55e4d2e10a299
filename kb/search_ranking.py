"""The best passages for weighted terms, by BM25 of Tantivy, in an order that is the same always.

The Python binding of Tantivy wraps what collects results, which switches its block-max pruning off:
it scores every passage with any of the terms. So where the terms stand in many passages, only
passages with one of the rarer terms are scored, by all terms; all of them only if those are fewer
than asked for.

Source: Turtle, Flood: Query Evaluation: Strategies and Optimizations (1995), 5.2: lists of terms
that alone bring no passage among the best are only read for passages that others bring. There a
bound decides which these are, here how common a term is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import tantivy

COMMON = 10_000
"""Passages a term may have to bring passages by itself, where there are more in all."""

_FEW = 30_000
"""Passages of all terms together up to which every one is scored."""

_SEEK = 8
"""What it costs to look a passage up among those of a term, against reading on to the next."""

_DEEPEST = 64
"""Terms that are looked up one around another."""


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A term of a field and its weight; `passages` have it."""

    passages: int
    field: str
    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Found:
    """A passage of a searcher, its score, and its place in the order of sources and positions."""

    score: float
    place: tuple[int, int]
    address: tantivy.DocAddress

    @property
    def rank(self) -> tuple[float, int, int]:
        """By this the best comes first."""
        return -self.score, *self.place


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one searcher finds."""

    searcher: tantivy.Searcher
    schema: tantivy.Schema
    common: int = COMMON
    few: int = _FEW

    def has(self, field: str, text: str) -> bool:
        """Whether any passage has a term."""
        return self.searcher.doc_freq(field, text) > 0

    def weighed(self, field: str, weights: Mapping[str, float]) -> list[Term]:
        """Give the terms that some passage has, with their weights."""
        counted = [(self.searcher.doc_freq(field, text), text) for text in weights]
        return [
            Term(passages, field, text, weights[text]) for passages, text in counted if passages
        ]

    def best(self, terms: Sequence[Term], limit: int, *, among: Sequence[Term] = ()) -> list[Found]:
        """Give the best passages, at most `limit`; those with a term `among`, if there are any."""
        terms, among = sorted(terms), sorted(among)
        if not (terms or among) or limit < 1:
            return []
        if among:
            return self._found(self._required(among, terms), limit)
        if sum(term.passages for term in terms) > self.few:
            rare = sum(term.passages <= self.common for term in terms) or 1
            found = self._found(self._required(terms[:rare], terms[rare:]), limit)
            if len(found) == limit or rare == len(terms):
                return found
        return self._found(self._any(terms), limit)

    def _found(self, query: tantivy.Query, limit: int) -> list[Found]:
        wanted = limit
        while True:  # as long as the cut falls among equal scores
            hits = self.searcher.search(query, limit=wanted + 1, count=False).hits
            if len(hits) <= wanted or hits[limit - 1][0] != hits[-1][0]:
                break
            wanted *= 8
        addresses = [address for _, address in hits]
        places = zip(
            self.searcher.fast_field_values("source_order", addresses),
            self.searcher.fast_field_values("start", addresses),
            strict=True,
        )
        found = [
            Found(float(score), (int(source or 0), int(start or 0)), address)
            for (score, address), (source, start) in zip(hits, places, strict=True)
        ]
        return sorted(found, key=lambda each: each.rank)[:limit]

    def _required(self, some: Sequence[Term], optional: Sequence[Term]) -> tantivy.Query:
        """Ask for passages with any of some terms, the others only adding to scores.

        A union of the others is read in windows of some thousand passages, each of them in full.
        Nested around the rest, a term is read only where a passage is; that is better for terms
        much commoner than these passages.
        """
        least = sum(term.passages for term in some) * _SEEK
        looked_up = [term for term in optional if term.passages > least][-_DEEPEST:]
        in_full = optional[: len(optional) - len(looked_up)]
        query = self._any(some)
        for beside in (in_full, *([term] for term in looked_up)):
            if beside:
                should = [(tantivy.Occur.Should, self._term(term)) for term in beside]
                query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *should])
        return query

    def _any(self, terms: Sequence[Term]) -> tantivy.Query:
        return tantivy.Query.boolean_query(
            [(tantivy.Occur.Should, self._term(term)) for term in terms]
        )

    def _term(self, term: Term) -> tantivy.Query:
        query = tantivy.Query.term_query(self.schema, term.field, term.text)
        return query if term.weight == 1.0 else tantivy.Query.boost_query(query, term.weight)
