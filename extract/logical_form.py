"""Logical forms: what a question means before it is a plan, and the types that rule readings out.

A form denotes a set of entities or values. Relations may still be ambiguous ("from" a country):
they keep every path until the types of their neighbours leave one, or a plan keeps them as a union.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from reasoner.atom import Constant
from reasoner.clause import Operator
from reasoner.hop import Definition, DimensionType, Direction, Hop, Path, ValueKind
from reasoner.plan import Extreme


@dataclass(frozen=True, slots=True)
class Relation:
    """What a word such as "director" or "born" may follow: alternative paths, sorted."""

    paths: tuple[Path, ...]

    @staticmethod
    def of(paths: Iterable[Path]) -> Relation:
        """Collect paths into a relation with a fixed order."""
        return Relation(tuple(sorted(set(paths), key=_path_key)))

    @property
    def inverse(self) -> Relation:
        """The same paths walked back."""
        return Relation.of(tuple(hop.inverse for hop in reversed(path)) for path in self.paths)

    def then(self, other: Relation) -> Relation:
        """Follow this relation, then another."""
        return Relation.of(left + right for left in self.paths for right in other.paths)


def _path_key(path: Path) -> tuple[tuple[str, str], ...]:
    return tuple((hop.dimension, hop.direction.value) for hop in path)


@dataclass(frozen=True, slots=True)
class Name:
    """A mention of an entity: its text, half-open span, and whether the question delimits it."""

    text: str
    start: int
    end: int
    delimited: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """A number, date or quantity the question states."""

    value: Constant


@dataclass(frozen=True, slots=True)
class Anything:
    """Whatever there is: a director is the director of anything."""


@dataclass(frozen=True, slots=True)
class Image:
    """The values of a relation for the members of a set."""

    relation: Relation
    of: Form


@dataclass(frozen=True, slots=True)
class Typed:
    """The members of a set that the question calls by a type: "the film Kismet"."""

    types: tuple[str, ...]
    of: Form


@dataclass(frozen=True, slots=True)
class Both:
    """The common members of two sets."""

    left: Form
    right: Form


@dataclass(frozen=True, slots=True)
class Without:
    """The members of a set other than those of another: "also", "together with"."""

    of: Form
    excluded: Form


@dataclass(frozen=True, slots=True)
class Comparand:
    """A comparison with what follows it: "more than 5", "earlier than the birth of X"."""

    operator: Operator
    value: Form


@dataclass(frozen=True, slots=True)
class Bounded:
    """Those with a value of a relation that compares as stated."""

    relation: Relation
    comparands: tuple[Comparand, ...]


Form = Name | Value | Anything | Image | Typed | Both | Without | Bounded


@dataclass(frozen=True, slots=True)
class Criterion:
    """By what candidates are compared, and which end wins: "born first"."""

    relation: Relation
    extreme: Extreme


@dataclass(frozen=True, slots=True)
class CountCriterion:
    """Candidates are compared by how many values they have: "more directors"."""

    relation: Relation
    extreme: Extreme


@dataclass(frozen=True, slots=True)
class Several:
    """An enumeration: "A, B or C"."""

    members: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Which are the members of the set?"""

    of: Form


@dataclass(frozen=True, slots=True)
class HowMany:
    """How many members has the set?"""

    of: Form


@dataclass(frozen=True, slots=True)
class Pick:
    """Which of the candidates wins by the criterion?"""

    among: Several
    criterion: Criterion | CountCriterion


@dataclass(frozen=True, slots=True)
class Best:
    """Which of a set, or of all of the types, wins by the criterion?"""

    types: tuple[str, ...]
    of: Form | None
    criterion: Criterion


@dataclass(frozen=True, slots=True)
class Alike:
    """Do all of them have a common value of the relation?"""

    among: Several
    relation: Relation


@dataclass(frozen=True, slots=True)
class Matching:
    """Have the two sets a common member?"""

    left: Form
    right: Form


@dataclass(frozen=True, slots=True)
class Ordered:
    """Do the values of a set compare as stated?"""

    of: Form
    comparands: tuple[Comparand, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """Is the member in the set?"""

    member: Form
    of: Form


Question = Ask | HowMany | Pick | Best | Alike | Matching | Ordered | Member


class Mistyped(Exception):
    """A reading that no types fit; the parser drops it."""


@dataclass(frozen=True)
class Types:
    """The types of a pack: what is a kind of what, and what dimensions relate."""

    parents: Mapping[str, tuple[str, ...]]
    dimensions: Mapping[str, DimensionType]
    definitions: Mapping[str, Definition] = field(default_factory=dict)

    def dimension(self, name: str) -> DimensionType:
        """Give the type of a stored or derived dimension."""
        if name in self.definitions:
            return self.definitions[name].type
        return self.dimensions[name]

    def ancestors(self, name: str) -> frozenset[str]:
        """Give a type and everything it is a kind of."""
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            current = waiting.pop()
            if current not in seen:
                seen.add(current)
                waiting += self.parents.get(current, ())
        return frozenset(seen)

    def agree(self, left: Iterable[str], right: Iterable[str]) -> bool:
        """Whether two sets of types may describe one entity; no declared type is any type."""
        lefts = tuple(each for each in left if each in self.parents)
        rights = tuple(each for each in right if each in self.parents)
        if not lefts or not rights:
            return True
        return any(
            one in self.ancestors(other) or other in self.ancestors(one)
            for one in lefts
            for other in rights
        )

    def sources(self, hop: Hop) -> tuple[str, ...]:
        """Give the types a hop starts from."""
        known = self.dimension(hop.dimension)
        return known.subject_types if hop.direction is Direction.FORWARD else known.value_types

    def targets(self, hop: Hop) -> tuple[str, ...]:
        """Give the types a hop arrives at."""
        return self.sources(hop.inverse)

    def kind(self, hop: Hop) -> ValueKind:
        """Give the kind of the values a hop arrives at."""
        if hop.direction is Direction.BACKWARD:
            return ValueKind.ENTITY
        return self.dimension(hop.dimension).kind

    def fitting(self, relation: Relation, types: Iterable[str]) -> Relation:
        """Keep the paths that may start from the types and whose own hops agree.

        Raises Mistyped where none is left.
        """
        start = tuple(types)
        kept = [
            path
            for path in relation.paths
            if self.agree(start, self.sources(path[0]))
            and all(self.agree(self.targets(one), self.sources(two)) for one, two in pairwise(path))
        ]
        if not kept:
            raise Mistyped
        return Relation.of(kept)

    def arriving(self, relation: Relation, types: Iterable[str]) -> Relation:
        """Keep the paths that may arrive at the types; raises Mistyped where none is left."""
        end = tuple(types)
        kept = [path for path in relation.paths if self.agree(self.targets(path[-1]), end)]
        if not kept:
            raise Mistyped
        return Relation.of(kept)

    def narrowed(self, relation: Relation, types: Iterable[str]) -> Relation:
        """Let paths arrive at the types; where they arrive at something wider, go on to the types.

        "In which country was X born" is the country of the place of birth. Where no dimension goes
        on, the path stays: a city is a place. Raises Mistyped where no path is left.
        """
        wanted = tuple(types)
        paths: list[Path] = []
        for path in self.arriving(relation, wanted).paths:
            ends = self.targets(path[-1])
            wider = bool(ends) and not any(
                each in self.ancestors(end) for end in ends for each in wanted
            )
            onward = [
                Hop(name)
                for name, known in sorted(self.dimensions.items())
                if wider
                and known.value_types
                and set(known.value_types) <= set(wanted)
                and known.subject_types
                and self.agree(ends, known.subject_types)
            ]
            paths += [(*path, hop) for hop in onward] or [path]
        return Relation.of(paths)

    def of_form(self, form: Form) -> tuple[str, ...]:
        """Give the types of a form's members, sorted; empty where unknown."""
        match form:
            case Name() | Value() | Anything():
                return ()
            case Typed(types):
                return types
            case Image(relation):
                ends = [self.targets(path[-1]) for path in relation.paths]
                if not all(ends):
                    return ()
                return tuple(sorted({each for end in ends for each in end}))
            case Both(left, right):
                return self.of_form(left) or self.of_form(right)
            case Without(of):
                return self.of_form(of)
            case Bounded(relation):
                starts = [self.sources(path[0]) for path in relation.paths]
                return tuple(sorted({each for start in starts for each in start}))
