"""Dimensions as plans and questions see them: types, hops, and derived dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .atom import fold, is_predicate_name
from .errors import PlanInvalid


class Direction(Enum):
    """How a dimension is followed: from the subject to its values, or back."""

    FORWARD = "forward"
    BACKWARD = "backward"

    @property
    def opposite(self) -> Direction:
        """The other direction."""
        return Direction.BACKWARD if self is Direction.FORWARD else Direction.FORWARD


class ValueKind(Enum):
    """What the values of a dimension are, as far as plans care."""

    ENTITY = "entity"
    TAXONOMIC = "taxonomic"
    TEXT = "text"
    NUMBER = "number"
    QUANTITY = "quantity"
    TIME = "time"

    @property
    def is_ordered(self) -> bool:
        """Whether two values can be earlier, later, smaller or greater."""
        return self in (ValueKind.NUMBER, ValueKind.QUANTITY, ValueKind.TIME)


@dataclass(frozen=True, slots=True)
class DimensionType:
    """What a plan must know of a dimension to be type-checked and spoken about.

    `subject_types` and `value_types` are names of types; empty means any. `closed_by` names the
    source that is complete for the dimension, empty if none is. `inverse` is a dimension that
    follows from this one the other way round: of a father, a child.
    """

    name: str
    kind: ValueKind
    label: str
    subject_types: tuple[str, ...] = ()
    value_types: tuple[str, ...] = ()
    functional: bool = False
    closed_by: str = ""
    inverse: str = ""

    def __post_init__(self) -> None:
        if not is_predicate_name(self.name):
            raise PlanInvalid(
                f"{self.name!r} is no name of a dimension; expected ASCII, lower case first"
            )


@dataclass(frozen=True, slots=True)
class Hop:
    """One dimension followed in one direction."""

    dimension: str
    direction: Direction = Direction.FORWARD

    @property
    def inverse(self) -> Hop:
        """The same dimension in the other direction."""
        return Hop(self.dimension, self.direction.opposite)


Path = tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class Elapsed:
    """The time between two dates of one subject, counted by a function: `days`, `months`, `years`.

    `lifespan` is the days from `date_of_birth` to `date_of_death`.
    """

    function: str
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Definition:
    """A dimension derived by rules, one for each alternative.

    `paternal_grandfather` is the one path `father, father` from the subject to a value.
    """

    type: DimensionType
    alternatives: tuple[Path | Elapsed, ...]

    def __post_init__(self) -> None:
        if not self.alternatives or not all(self.alternatives):
            raise PlanInvalid(f"the derived dimension {self.type.name!r} has an empty definition")

    @property
    def uses(self) -> tuple[str, ...]:
        """The dimensions it is derived from, sorted."""
        used: set[str] = set()
        for alternative in self.alternatives:
            if isinstance(alternative, Elapsed):
                used |= {alternative.start, alternative.end}
            else:
                used |= {hop.dimension for hop in alternative}
        return tuple(sorted(used))


def is_same_name(left: str, right: str) -> bool:
    """Whether two names are equal after NFC, case folding and collapsing of white space."""
    return fold(left) == fold(right)
