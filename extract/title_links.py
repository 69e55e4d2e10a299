"""Links from a bare name to the one titled passage that it can mean: title anchor, then check.

Passages about `Walter West (director)` call him `Walter West`; other passages do so too, and might
mean somebody else. A name is linked to a title only if every use of it elsewhere agrees with that
passage and with no other of the name. A use agrees if the types do, and either the passage calls
its subject what the dimension asks for (a director), or the passage names the other side of the
use. A name that has a passage of its own is never linked.

Source: entity check of Certify (arXiv 2610.34684), section 5; we check uses of names, not queries.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .pack import Pack, PackDimension
from .titles import holds_name, split_title

_SHORT = 3  # a name that is hardly a word is found in any text
_COPULA = frozenset({"is", "was", "are", "were"})


@dataclass(frozen=True, slots=True)
class TitledPassage:
    """A passage that calls what its title names by the bare name; `opening` is where it does."""

    title: str
    opening: str
    text: str

    @property
    def name(self) -> str:
        """The title without its qualifier."""
        return split_title(self.title)[0]


@dataclass(frozen=True, slots=True)
class Use:
    """A statement that names something by a bare name, as its value or as its subject.

    `other` is what stands on the other side: the subject, or the title of the passage.
    """

    dimension: str
    other: str
    is_value: bool


class TitleLinker:
    """Chooses links by the kinds of entities and the roles of dimensions that packs declare."""

    def __init__(self, packs: Iterable[Pack]) -> None:
        self._kinds: dict[str, str] = {}
        self._dimensions: dict[str, PackDimension] = {}
        for pack in packs:
            for kind, nouns in pack.kinds.items():
                self._kinds.update(dict.fromkeys(nouns, kind))
            for dimension in pack.dimensions:
                self._dimensions.setdefault(dimension.name, dimension)

    def choose(
        self,
        passages: Sequence[TitledPassage],
        uses: Mapping[str, Collection[Use]],
        *,
        titles: Collection[str],
    ) -> tuple[TitledPassage, ...]:
        """Give the passages whose bare name is linked to their title, by title.

        `uses` has the uses of each bare name outside the passages themselves; a name without any
        needs no link. `titles` are those of all passages.
        """
        by_name: dict[str, dict[str, TitledPassage]] = {}
        for passage in passages:
            by_name.setdefault(passage.name, {}).setdefault(passage.title, passage)
        chosen = []
        for name, candidates in by_name.items():
            found = uses.get(name, ())
            if name in titles or not found:
                continue
            agreeing = [
                passage
                for passage in candidates.values()
                if all(self._agrees(passage, use) for use in found)
            ]
            if len(agreeing) == 1:
                chosen += agreeing
        return tuple(sorted(chosen, key=lambda passage: passage.title))

    def _agrees(self, passage: TitledPassage, use: Use) -> bool:
        dimension = self._dimensions.get(use.dimension)
        if dimension is None:
            return False
        types = dimension.value_types if use.is_value else dimension.subject_types
        kind = self._kind(passage)
        if types and kind is not None and kind not in types:
            return False
        other = split_title(use.other)[0]
        if len(other) > _SHORT and holds_name(passage.text, other):
            return True
        called = _words(split_title(passage.title)[1])
        if " " in passage.name:  # one word alone is a name of many
            called |= _words(passage.opening)
        return use.is_value and not called.isdisjoint(dimension.roles)

    def _kind(self, passage: TitledPassage) -> str | None:
        """Tell what a title names by its qualifier, or by the noun its passage opens with."""
        qualifier = split_title(passage.title)[1].partition(",")[0].lower().split()
        if qualifier and qualifier[-1] in self._kinds:
            return self._kinds[qualifier[-1]]
        words = re.findall(r"\w+", passage.opening.lower())
        at = next((at for at, word in enumerate(words) if word in _COPULA), len(words))
        return next((self._kinds[word] for word in words[at:] if word in self._kinds), None)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w-]+", text.lower()))
