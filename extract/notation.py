"""How a document writes numbers: which mark is the decimal one, and how that is known.

`5.000` is five thousand to one reader and five to another. Numbers that can be read in one way only
decide for the others of their document; where it has none, its language does; where it has both
kinds, nothing does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache


def _certain(decimal: str, group: str) -> re.Pattern[str]:
    """Match the numerals that have one reading, with this decimal mark."""
    mark, grouped = re.escape(decimal), rf"\d{{1,3}}(?:{re.escape(group)}\d{{3}})"
    return re.compile(
        rf"{grouped}+{mark}\d+|{grouped}{{2,}}"
        rf"|\d+{mark}(?:\d{{1,2}}|\d{{4,}})|0{mark}\d+|\d{{4,}}{mark}\d+"
    )


_ONLY = {decimal: _certain(decimal, group) for decimal, group in ((".", ","), (",", "."))}
_BARE = re.compile(r"(?<![\w.,])\d{1,3}(?:(?:\.\d{3})+,|(?:,\d{3})+\.)\d{1,2}(?![\d.,]\d|\d)")
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    {"the", "and", "of", "is", "to", "for", "with", "not", "by", "has", "are", "was", "at", "from"}
)
_GERMAN = frozenset({
    "der", "die", "das", "und", "ist", "mit", "für", "von", "nicht", "ein", "eine", "wird", "zu",
    "den", "dem", "im", "auf", "beträgt",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Notation:
    """The decimal mark, `.` or `,`, or None where both are used as such.

    `shown` where other numbers of the document show it, else its language only suggests it.
    """

    decimal: str | None
    shown: bool = False


ENGLISH = Notation(".")
GERMAN = Notation(",")
UNDECIDED = Notation(None, shown=True)


def notation_of(text: str, numerals: Iterable[str]) -> Notation:
    """Tell the notation of a text from the numerals of its amounts, else from its language.

    `1.250,50` counts also where no unit stands beside it.
    """
    shown = {
        decimal
        for numeral in (*numerals, *_BARE.findall(text))
        for decimal, form in _ONLY.items()
        if form.fullmatch(numeral)
    }
    if shown:
        return Notation(shown.pop(), shown=True) if len(shown) == 1 else UNDECIDED
    return _of_language(text)


@lru_cache(maxsize=64)
def _of_language(text: str) -> Notation:
    words = _WORD.findall(text.lower())
    german = sum(word in _GERMAN for word in words)
    return GERMAN if german > sum(word in _ENGLISH for word in words) else ENGLISH
