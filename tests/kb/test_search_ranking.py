from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kb.document import Document, decode
from kb.search import TextIndex
from kb.search_ranking import Found, Ranking, Term
from kb.search_terms import SearchTerms

COUNT = 240


def text_of(number: int) -> str:
    """Words by divisibility, so that how many passages have one is known; lengths differ."""
    words = [f"w{n}" for n in (2, 3, 5, 7, 40, 120) if number % n == 0]
    return " ".join([*words, *words[: number % 3], *["filler"] * (number % 4 + 1)])


def documents(numbers: Iterable[int]) -> list[Document]:
    return [decode(text_of(n).encode(), name=f"{n}.txt") for n in numbers]


def indexed(directory: Path, *parts: Iterable[int]) -> TextIndex:
    index = TextIndex(directory / "text")
    for revision, part in enumerate(parts, 1):
        index.add(documents(part), revision=revision)
    return index


def terms(ranking: Ranking, words: Sequence[str]) -> list[Term]:
    return ranking.weighed("text", {w: 1.0 for word in words for w in SearchTerms().words(word)})


def scores(found: Sequence[Found]) -> dict[tuple[int, int], float]:
    return {each.place: each.score for each in found}


@pytest.mark.parametrize("words", [("w2", "w3", "w120"), ("w2", "w3", "w5", "w40"), ("w7", "w2")])
def test_passages_with_a_rarer_word_have_the_same_scores_and_come_alone(
    tmp_path: Path, words: Sequence[str]
) -> None:
    ranking = indexed(tmp_path, range(COUNT)).ranking()
    every = ranking.best(terms(ranking, words), COUNT)
    rarest = min(term.passages for term in terms(ranking, words))
    pruned = replace(ranking, few=0, common=rarest)
    some = pruned.best(terms(pruned, words), rarest)
    assert len(some) == rarest < len(every)
    divisor = int(max(words, key=lambda word: int(word[1:]))[1:])
    bearing = documents(n for n in range(COUNT) if n % divisor == 0)
    assert {place for place, _ in scores(some).items()} == {
        (int(each.source_sha256[:16], 16) >> 1, 0) for each in bearing
    }
    for place, score in scores(some).items():
        assert score == pytest.approx(scores(every)[place], rel=1e-5)
    ranks = [each.rank for each in some]
    assert ranks == sorted(ranks)


def test_passages_with_common_words_alone_follow_where_the_others_are_too_few(
    tmp_path: Path,
) -> None:
    ranking = indexed(tmp_path, range(COUNT)).ranking()
    pruned = replace(ranking, few=0, common=2)
    words = terms(ranking, ("w2", "w120"))
    assert len(pruned.best(words, 2)) == 2
    assert pruned.best(words, 50) == ranking.best(words, 50)
    assert len(pruned.best(words, 50)) == 50


@pytest.mark.parametrize("common", [2, 50, COUNT])
def test_scores_do_not_depend_on_the_segments_of_an_index(tmp_path: Path, common: int) -> None:
    whole = indexed(tmp_path / "whole", range(COUNT)).ranking()
    parts = [range(first + 40, first, -1) for first in range(-1, COUNT - 1, 40)]
    split = indexed(tmp_path / "split", *parts).ranking()
    assert split.searcher.num_segments > whole.searcher.num_segments
    found = [
        [
            (each.place, each.score)
            for each in replace(ranking, few=0, common=common).best(
                terms(ranking, ("w2", "w3", "w5", "w40")), 60
            )
        ]
        for ranking in (whole, split)
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 60


def test_terms_that_no_passage_has_find_nothing(tmp_path: Path) -> None:
    ranking = indexed(tmp_path, range(5)).ranking()
    assert terms(ranking, ("absent",)) == []
    assert ranking.best([], 5) == []
    assert ranking.best(terms(ranking, ("filler",)), 0) == []
