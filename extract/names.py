"""Names of entities: looking a written name up, its readings, and the nearest known names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz, process

from reasoner.atom import fold

_DISAMBIGUATOR = re.compile(r"\s*\([^()]*\)\s*\Z")


def bare(name: str) -> str:
    """Give a name without its final disambiguator: `Kismet (1944 film)` is `Kismet`."""
    if ")" not in name:
        return name
    return _DISAMBIGUATOR.sub("", name) or name


def disambiguator(name: str) -> str:
    """Give what a name's final parenthesis says: `Kismet (1944 film)` says `1944 film`."""
    return name[len(bare(name)) :].strip().removeprefix("(").removesuffix(")")


@dataclass(frozen=True, slots=True)
class Exact:
    """The name as the knowledge base has it; `others` are so called but for a disambiguator."""

    name: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SameName:
    """Names equal up to NFC, case and white space, sorted."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disambiguated:
    """Names that differ from the written one by a parenthetical disambiguator, sorted."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnknownName:
    """No such name; the nearest known ones, best first."""

    nearest: tuple[str, ...]


Lookup = Exact | SameName | Disambiguated | UnknownName


class NameIndex:
    """An index over the names of entities, in memory."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = frozenset(names)
        self._folded: dict[str, list[str]] = {}
        self._bare: dict[str, list[str]] = {}
        for name in sorted(self._exact):
            folded, shorter = fold(name), bare(name)
            self._folded.setdefault(folded, []).append(name)
            self._bare.setdefault(folded if shorter is name else fold(shorter), []).append(name)

    def __contains__(self, name: str) -> bool:
        return name in self._exact

    def __len__(self) -> int:
        return len(self._exact)

    @cached_property
    def _sorted_folded(self) -> tuple[str, ...]:
        return tuple(sorted(self._folded))

    def look_up(self, written: str, *, delimited: bool = False) -> Lookup:
        """Find a written name: exactly, then folded, then up to a disambiguator.

        Names that fold alike are all readings, unless the question delimits the one it means.
        """
        found = self._folded.get(fold(written), [])
        if written in self._exact and (delimited or len(found) == 1):
            others = self._bare.get(fold(written), ())
            return Exact(written, tuple(each for each in others if each not in found))
        if found:
            return SameName(tuple(found))
        if readings := self._readings(written):
            return Disambiguated(readings)
        return UnknownName(self.nearest(written))

    def _readings(self, written: str) -> tuple[str, ...]:
        """Give the names that differ by a disambiguator on one side; two different ones differ."""
        shorter = bare(written)
        if shorter != written:
            return tuple(self._folded.get(fold(shorter), ()))
        return tuple(self._bare.get(fold(written), ()))

    def knows(self, written: str) -> bool:
        """Whether a written name has a reading, without looking for near ones."""
        return written in self._exact or fold(written) in self._folded

    def knows_bare(self, written: str) -> bool:
        """Whether a written name has a reading up to a disambiguator."""
        return bool(self._readings(written))

    def nearest(self, written: str, limit: int = 3) -> tuple[str, ...]:
        """Give the known names that look most like a written one, best first, ties by name."""
        found = process.extract(
            fold(written), self._sorted_folded, scorer=fuzz.ratio, limit=limit, score_cutoff=70
        )
        ranked = sorted(found, key=lambda match: (-match[1], match[0]))
        return tuple(self._folded[match[0]][0] for match in ranked)


def nearest_words(word: str, vocabulary: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Give the words of a vocabulary nearest to a word, best first, ties by spelling."""
    found = process.extract(
        word.casefold(), sorted(vocabulary), scorer=fuzz.ratio, limit=limit, score_cutoff=78
    )
    return tuple(match[0] for match in sorted(found, key=lambda match: (-match[1], match[0])))
