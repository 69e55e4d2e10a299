"""What a text is searched for: its words but those of questions, and the titles it names."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache

import tantivy

_WORD = re.compile(r"\w+")
_DISAMBIGUATOR = re.compile(r"\s*\([^()]*\)\s*\Z")
_LONGEST_NAME = 14
_REMEMBERED = 50_000  # words whose forms are kept

# What questions and sentences are made of whatever they are about: such words find nothing.
_FRAME = (
    "a an the this that these those it its he him his she her they them their there here we our "
    "you your i my me who whom whose what which when where why how "
    "is are was were be been being do does did has have had having can could would will shall "
    "should may might must "
    "of in on at to for from by with without into onto about between among during after before "
    "and or but nor not no if than then as so "
    "both each same other also any all"
)


class SearchTerms:
    """Cuts text into the terms of the index, always the same way."""

    def __init__(self) -> None:
        self.analyzer = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
            .filter(tantivy.Filter.lowercase())
            .filter(tantivy.Filter.ascii_fold())
            .filter(tantivy.Filter.stemmer("English"))
            .build()
        )
        self._folder = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
            .filter(tantivy.Filter.lowercase())
            .filter(tantivy.Filter.ascii_fold())
            .build()
        )
        self._frame = frozenset(self.analyzer.analyze(_FRAME))
        self._folded = lru_cache(maxsize=_REMEMBERED)(self.key)
        self._in_frame = lru_cache(maxsize=_REMEMBERED)(self._is_frame)

    def words(self, text: str) -> tuple[str, ...]:
        """Give the words to look for, sorted; the frame words only where there are no others."""
        words = sorted(set(self.analyzer.analyze(composed(text))))
        return tuple(word for word in words if word not in self._frame) or tuple(words)

    def name_words(self, text: str) -> tuple[str, ...]:
        """Give the words of the names in a text, sorted: those with a capital or digit first."""
        words = (word for word in _WORD.findall(composed(text)) if _begins_name(word))
        stems = set(self.analyzer.analyze(" ".join(words)))
        return tuple(sorted(stems - self._frame))

    def title_keys(self, title: str) -> tuple[str, ...]:
        """Give the two names a title is found by: as it is, and without its disambiguator.

        Always two, if equal ones: scores count how many names a passage has.
        """
        return self.key(title), self.key(_DISAMBIGUATOR.sub("", title) or title)

    def key(self, name: str) -> str:
        """Give the form in which names are compared: no case, no accents, no marks."""
        return " ".join(self._folder.analyze(composed(name)))

    def names(
        self, text: str, is_title: Callable[[str], bool], *, whole: bool = False
    ) -> tuple[str, ...]:
        """Give the keys of the titles that a text names, longest first, none inside another.

        A name begins with a capital or a digit; a frame word, or what only opens the text, is none.
        With `whole` it ends so too, which spares most of the look-ups in running text. At most 14
        keys are looked up for each word.
        """
        words: list[str] = _WORD.findall(composed(text))
        capitals = [i for i, word in enumerate(words) if _begins_name(word)]
        closing = capitals if whole else range(len(words))
        by_length: list[list[int]] = [[] for _ in range(_LONGEST_NAME + 1)]
        for first in capitals:
            for last in closing[bisect_left(closing, first) :]:
                if last - first >= _LONGEST_NAME:
                    break
                by_length[last - first + 1].append(first)
        folded = [self._folded(word) for word in words]
        taken = [False] * len(words)
        found: dict[str, None] = {}
        for length in range(_LONGEST_NAME, 0, -1):
            for first in by_length[length]:
                if taken[first] or taken[first + length - 1]:  # by a name that is not shorter
                    continue
                if length == 1 and (
                    (first == 0 and len(words) > 1)
                    or words[first][0].isdigit()
                    or self._in_frame(folded[first])
                ):
                    continue
                key = " ".join(folded[first : first + length])
                if is_title(key):
                    taken[first : first + length] = [True] * length
                    found[key] = None
        return tuple(found)

    def _is_frame(self, word: str) -> bool:
        return self._frame.issuperset(self.analyzer.analyze(word))


def _begins_name(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit()


def composed(text: str) -> str:
    """Write accents as one character, which the tokenizer would else cut words at."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
