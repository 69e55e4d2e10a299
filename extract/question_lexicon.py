"""The lexical forms and types of packs, read from their `questions.yaml` (DESIGN 5, Pack).

A pack says how its dimensions are spoken of; the grammar of English is a pack of its own that only
has forms. Everything is data, so that a dimension is added without code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path as File
from typing import Any

import yaml

from reasoner.hop import Definition, DimensionType, Direction, Elapsed, Hop, Path, ValueKind
from reasoner.plan import Extreme

from .errors import Finding, PackRejected
from .logical_form import Criterion, Relation, Types
from .pack_file import FAST_LOADER
from .question_tokens import words_of


class Role(Enum):
    """How a lexical form uses its dimension.

    noun: "the director of F"; active: the value acts, "P directed F"; passive: "F directed by P";
    takes: the subject acts, "F starred P", "X is from C"; event: nothing follows, "X was born";
    how: "how popular is F"; request: "describe F"; shared: "the same nationality"; partner: "the
    co-stars of P"; together: "P co-starred with Q"; least, greatest: "X is older than Y".
    """

    NOUN = "noun"
    ACTIVE = "active"
    PASSIVE = "passive"
    TAKES = "takes"
    EVENT = "event"
    HOW = "how"
    SHARED = "shared"
    REQUEST = "request"
    PARTNER = "partner"
    TOGETHER = "together"
    LEAST = "least"
    GREATEST = "greatest"


Words = tuple[str, ...]


@dataclass(frozen=True)
class Lexicon:
    """Types, dimensions and their lexical forms, merged over packs.

    `relations` maps a role to the relation each phrase may mean; `criteria` holds measuring words
    such as "older"; `type_nouns` phrases for types; `grammar` the productions, symbol by symbol.
    `without_return` are dimensions of packs whose questions never mean what they start from.
    """

    types: Types
    relations: Mapping[Role, Mapping[Words, Relation]]
    criteria: Mapping[Words, tuple[Criterion, ...]]
    type_nouns: Mapping[Words, tuple[str, ...]]
    word_lists: Mapping[str, tuple[str, ...]]
    grammar: tuple[tuple[str, str], ...]
    without_return: frozenset[str] = frozenset()
    vocabulary: frozenset[str] = field(default_factory=frozenset)


def load_lexicon(packs: Iterable[File]) -> Lexicon:
    """Read `pack.yaml` and `questions.yaml` of each pack directory and merge them, in order.

    Raises PackRejected naming every faulty entry.
    """
    builder = _Builder()
    for directory in packs:
        for name in ("pack.yaml", "questions.yaml"):
            file = directory / name
            if file.is_file():
                builder.read(file)
    return builder.finish()


_KINDS = {
    "entity": ValueKind.ENTITY,
    "taxonomic": ValueKind.TAXONOMIC,
    "class": ValueKind.TAXONOMIC,
    "text": ValueKind.TEXT,
    "number": ValueKind.NUMBER,
    "quantity": ValueKind.QUANTITY,
    "time": ValueKind.TIME,
    "date": ValueKind.TIME,
}


class _Builder:
    """Collects entries and problems while files are read."""

    def __init__(self) -> None:
        self.problems: list[Finding] = []
        self.parents: dict[str, tuple[str, ...]] = {}
        self.dimensions: dict[str, dict[str, Any]] = {}
        self.derived: dict[str, dict[str, Any]] = {}
        self.spoken: list[tuple[str, str, Any]] = []
        self.type_nouns: dict[Words, set[str]] = {}
        self.word_lists: dict[str, tuple[str, ...]] = {}
        self.grammar: list[tuple[str, str]] = []
        self.without_return: set[str] = set()
        self.packs: dict[str, set[str]] = {}

    def problem(self, place: str, message: str) -> None:
        """Note what is wrong; everything wrong is reported together."""
        self.problems.append(Finding(place, 1, message))

    def read(self, file: File) -> None:
        """Read one file of a pack."""
        content = yaml.load(file.read_text(encoding="utf-8"), FAST_LOADER) or {}
        place = f"{file.parent.name}/{file.name}"
        for name, entry in (content.get("types") or {}).items():
            self._read_type(place, str(name), entry)
        listed = content.get("dimensions") or {}
        if isinstance(listed, list):
            listed = {entry["name"]: entry for entry in listed}
        for name, entry in listed.items():
            self.dimensions.setdefault(str(name), {}).update(entry or {})
        for name, entry in (content.get("derived") or {}).items():
            self.derived.setdefault(str(name), {}).update(entry or {})
        for name, entry in (content.get("lexicon") or {}).items():
            self.spoken.append((place, str(name), entry))
        for name, phrases in (content.get("words") or {}).items():
            if odd := [phrase for phrase in phrases if not isinstance(phrase, str)]:
                self.problem(place, f"the word list {name!r} has {odd[0]!r}; write it in quotes")
            known = self.word_lists.get(str(name), ())
            self.word_lists[str(name)] = tuple(dict.fromkeys((*known, *map(str, phrases))))
        for symbol, forms in (content.get("grammar") or {}).items():
            self.grammar += ((str(symbol), str(form)) for form in forms)
        mine = self.packs.setdefault(file.parent.name, set())
        mine.update(map(str, listed))
        if content.get("answers_exclude_start", False):
            self.without_return |= mine

    def _read_type(self, place: str, name: str, entry: Any) -> None:
        if not isinstance(entry, dict):
            self.problem(place, f"the type {name!r} is no mapping with `is` and `nouns`")
            return
        parents = entry.get("is", [])
        found = (parents,) if isinstance(parents, str) else tuple(parents)
        self.parents[name] = tuple(dict.fromkeys((*self.parents.get(name, ()), *found)))
        for noun in entry.get("nouns", []):
            self.type_nouns.setdefault(words_of(str(noun)), set()).add(name)

    def finish(self) -> Lexicon:
        """Check and freeze what was read."""
        dimensions = {
            name: self._dimension(name, entry) for name, entry in sorted(self.dimensions.items())
        }
        definitions: dict[str, Definition] = {}
        for name, entry in sorted(self.derived.items()):
            self._define(name, entry, dimensions, definitions)
        relations: dict[Role, dict[Words, set[Path]]] = {role: {} for role in Role}
        criteria: dict[Words, dict[Extreme, set[Path]]] = {}
        for place, name, entry in self.spoken:
            if name not in dimensions and name not in definitions:
                known = sorted({*dimensions, *definitions})
                self.problem(
                    place,
                    f"the lexicon speaks of {name!r}, "
                    f"which is no dimension; known are {', '.join(known)}",
                )
                continue
            self._speak(place, name, entry, relations, criteria)
        if self.problems:
            raise PackRejected(self.problems)
        frozen = {
            role: {phrase: Relation.of(paths) for phrase, paths in phrases.items()}
            for role, phrases in relations.items()
        }
        lexicon = Lexicon(
            types=Types(self.parents, dimensions, definitions),
            relations=frozen,
            criteria={
                phrase: tuple(
                    Criterion(Relation.of(paths), extreme) for extreme, paths in found.items()
                )
                for phrase, found in criteria.items()
            },
            type_nouns={phrase: tuple(sorted(names)) for phrase, names in self.type_nouns.items()},
            word_lists=self.word_lists,
            grammar=tuple(self.grammar),
            without_return=frozenset(self.without_return),
        )
        vocabulary = frozenset(
            word
            for phrases in (*frozen.values(), lexicon.criteria, lexicon.type_nouns)
            for phrase in phrases
            for word in phrase
        )
        return Lexicon(
            lexicon.types,
            lexicon.relations,
            lexicon.criteria,
            lexicon.type_nouns,
            lexicon.word_lists,
            lexicon.grammar,
            lexicon.without_return,
            vocabulary,
        )

    def _dimension(self, name: str, entry: dict[str, Any]) -> DimensionType:
        kind = _KINDS.get(str(entry.get("kind", "entity")))
        if kind is None:
            self.problem(
                "dimensions",
                f"the dimension {name!r} has the kind {entry.get('kind')!r}; "
                f"expected {', '.join(sorted(_KINDS))}",
            )
            kind = ValueKind.TEXT
        return DimensionType(
            name=name,
            kind=kind,
            label=str(entry.get("label", name.replace("_", " "))),
            subject_types=_names(entry.get("subject")),
            value_types=_names(entry.get("value")),
            functional=bool(entry.get("functional", False)),
            closed_by=str(entry.get("closed_by", "")),
            inverse=str(entry.get("inverse", "")),
        )

    def _define(
        self,
        name: str,
        entry: dict[str, Any],
        dimensions: Mapping[str, DimensionType],
        definitions: dict[str, Definition],
    ) -> None:
        alternatives: list[Path | Elapsed] = [
            Elapsed(function, *map(str, entry[function]))
            for function in _ELAPSED
            if function in entry
        ]
        for chain in entry.get("any_of", [entry["chain"]] if "chain" in entry else []):
            alternatives.append(tuple(map(_hop, chain)))
        if not alternatives:
            self.problem("derived", f"{name!r} has none of chain, any_of, {', '.join(_ELAPSED)}")
            return
        uses = Definition(DimensionType(name, ValueKind.TEXT, name), tuple(alternatives)).uses
        if unknown := sorted(set(uses) - set(dimensions)):
            self.problem(
                "derived", f"the derived dimension {name!r} uses {unknown[0]!r}, no dimension"
            )
            return
        first, types = alternatives[0], Types(self.parents, dimensions)
        subjects: tuple[str, ...]
        values: tuple[str, ...]
        if isinstance(first, Elapsed):
            subjects, values = dimensions[first.start].subject_types, ()
            kind, functional = ValueKind.NUMBER, True
        else:
            subjects, values = types.sources(first[0]), types.targets(first[-1])
            kind = types.kind(first[-1])
            functional = all(
                hop.direction is Direction.FORWARD and dimensions[hop.dimension].functional
                for hop in first
            )
        definitions[name] = Definition(
            DimensionType(
                name=name,
                kind=kind,
                label=str(entry.get("label", name.replace("_", " "))),
                subject_types=_names(entry.get("subject")) or subjects,
                value_types=_names(entry.get("value")) or values,
                functional=functional and len(alternatives) == 1,
            ),
            tuple(alternatives),
        )

    def _speak(
        self,
        place: str,
        name: str,
        entry: Any,
        relations: dict[Role, dict[Words, set[Path]]],
        criteria: dict[Words, dict[Extreme, set[Path]]],
    ) -> None:
        roles = {role.value: role for role in Role}
        for key, phrases in (entry or {}).items():
            back = key.startswith("back_")
            role = roles.get(key.removeprefix("back_"))
            if role is None:
                self.problem(
                    place, f"{name!r} has forms {key!r}; expected {', '.join(sorted(roles))}"
                )
                continue
            hop = Hop(name, Direction.BACKWARD if back else Direction.FORWARD)
            for phrase in phrases:
                if not isinstance(phrase, str):
                    self.problem(place, f"{name!r} has the form {phrase!r}; write it in quotes")
                    continue
                words = words_of(phrase)
                if role in (Role.LEAST, Role.GREATEST):
                    extreme = Extreme.LEAST if role is Role.LEAST else Extreme.GREATEST
                    criteria.setdefault(words, {}).setdefault(extreme, set()).add((hop,))
                else:
                    relations[role].setdefault(words, set()).add((hop,))


_ELAPSED = ("days", "months", "years")


def _hop(text: str) -> Hop:
    """Read `father`, or `-director` for the way back from a value to its subjects."""
    if text.startswith("-"):
        return Hop(text[1:], Direction.BACKWARD)
    return Hop(text)


def _names(entry: Any) -> tuple[str, ...]:
    if entry is None:
        return ()
    return (entry,) if isinstance(entry, str) else tuple(sorted(map(str, entry)))
