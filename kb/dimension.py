"""Dimensions: properties with an order on their values, and the test that admits them.

A taxonomic dimension carries its classes as a poset with one root; the values of the other kinds
are ordered by equality alone (entity, text) or by number and time (see `quantity`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from .errors import DimensionRejected
from .poset import Poset, cycles, poset
from .quantity import Comparable, Date, Quantity, Truth, compare
from .statement import BUILT_IN, Entity, TaxonClass, Text, Value

_NAME = re.compile(r"[a-z][A-Za-z0-9_]*\Z", re.ASCII)

Pair = tuple[str, str]

_TOLD = 20


class DimensionKind(Enum):
    """What the values of a dimension are."""

    TAXONOMIC = "taxonomic"
    ENTITY = "entity"
    QUANTITY = "quantity"
    NUMBER = "number"
    TIME = "time"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Dimension:
    """A property of entities and the order of its values.

    `functional`: at most one value (for a taxonomy: one most special class) per entity and day.
    `inverse` names the dimension that says the same from the other side. Only a taxonomic dimension
    has a `taxonomy`; `disjoint` and `allowed_ambiguities` are sorted pairs of its classes, each
    pair sorted. `alternatives` are sorted pairs (class, other label); `equivalents` sorted pairs
    (class, name of a class with the same extension elsewhere).
    """

    name: str
    kind: DimensionKind
    label: str = ""
    functional: bool = False
    unit: str | None = None
    inverse: str | None = None
    taxonomy: Poset | None = None
    disjoint: tuple[Pair, ...] = ()
    allowed_ambiguities: tuple[Pair, ...] = ()
    alternatives: tuple[Pair, ...] = ()
    equivalents: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        problems: list[str] = []
        if _NAME.match(self.name) is None:
            problems.append(
                f"{self.name!r} is no name of a dimension; "
                "expected ASCII letters, digits and _, a lower-case letter first"
            )
        if self.name in BUILT_IN:
            problems.append(
                f"{self.name!r} is a built-in predicate, which no source states; "
                f"expected another name, such as {self.name + '_of'!r}"
            )
        if self.kind is DimensionKind.TAXONOMIC:
            if self.taxonomy is None:
                problems.append("a taxonomic dimension needs a taxonomy")
        elif self.taxonomy is not None:
            problems.append(f"a dimension of kind {self.kind.value} has no taxonomy")
        if self.unit is not None and self.kind is not DimensionKind.QUANTITY:
            problems.append(f"a dimension of kind {self.kind.value} has no unit")
        if self.inverse is not None and self.kind is not DimensionKind.ENTITY:
            problems.append(f"a dimension of kind {self.kind.value} has no inverse")
        problems += self._misnamed()
        if problems:
            raise DimensionRejected(f"dimension {self.name}: " + "; ".join(problems))
        if not self.label:
            object.__setattr__(self, "label", self.name.replace("_", " "))

    def _misnamed(self) -> list[str]:
        """What is wrong with the lists of pairs."""
        known = set(self.taxonomy.elements) if self.taxonomy else set()
        problems: list[str] = []
        for what, pairs in (
            ("disjoint", self.disjoint),
            ("allowed_ambiguities", self.allowed_ambiguities),
        ):
            if list(pairs) != sorted({(min(pair), max(pair)) for pair in pairs}):
                problems.append(f"{what} must be sorted, distinct pairs, each pair sorted")
            problems += [
                f"{what} names {label!r}, which is no class of it"
                for label in sorted({label for pair in pairs for label in pair} - known)
            ]
        for what, pairs in (("alternatives", self.alternatives), ("equivalents", self.equivalents)):
            if list(pairs) != sorted(set(pairs)):
                problems.append(f"{what} must be sorted and distinct")
            problems += [
                f"{what} names {label!r}, which is no class of it"
                for label in sorted({pair[0] for pair in pairs} - known)
            ]
        problems += [
            f"the disjoint classes {low!r} and {high!r} lie one below the other"
            for low, high in self.disjoint
            if {low, high} <= known
            and self.taxonomy is not None
            and (self.taxonomy.leq(low, high) or self.taxonomy.leq(high, low))
        ]
        return problems

    @property
    def root(self) -> str | None:
        """The class above all others of a taxonomic dimension."""
        return self.taxonomy.maximal()[0] if self.taxonomy else None

    def leq(self, low: Value, high: Value) -> bool:
        """Whether `low` is the same as `high`, a kind of it among classes, or a date within it.

        Values that the taxonomy does not know are below themselves only; a quantity is the same as
        its equal in another unit.
        """
        if low == high:
            return True
        match low, high:
            case (Date(), Date()):
                return high.first <= low.first and low.last <= high.last
            case (Quantity(), Quantity()):
                return compare("=", low, high) is Truth.TRUE
            case (TaxonClass(a), TaxonClass(b)) if self.taxonomy is not None:
                return a in self.taxonomy and b in self.taxonomy and self.taxonomy.leq(a, b)
        return False

    def meet(self, values: Iterable[Value]) -> tuple[Value, ...]:
        """The most general values at or below all of `values`: one, several or none.

        That of dates is the days they have in common: `2026` and `2026-01` meet in `2026-01`. Of
        several, in sorted order. Raises DimensionRejected if `values` is empty.
        """
        wanted = list(dict.fromkeys(values))
        if not wanted:
            raise DimensionRejected(f"dimension {self.name}: the meet of no values has no value")
        if len(wanted) == 1:
            return (wanted[0],)
        dates = [value for value in wanted if isinstance(value, Date)]
        if len(dates) == len(wanted):
            first, last = max(date.first for date in dates), min(date.last for date in dates)
            return (Date(first, last),) if first <= last else ()
        if all(self.leq(value, wanted[0]) for value in wanted) and self.taxonomy is None:
            return (wanted[0],)
        labels = [value.label for value in wanted if isinstance(value, TaxonClass)]
        if (
            self.taxonomy is None
            or len(labels) < len(wanted)
            or any(label not in self.taxonomy for label in labels)
        ):
            return ()
        return tuple(TaxonClass(label) for label in self.taxonomy.meet(labels))

    def conflict(self, left: Value, right: Value) -> str | None:
        """Say why one entity cannot have both values on one day; None if it can.

        A conflict is a declared disjointness, or two values without a common descendant where the
        dimension is functional. Anything else is no conflict: what is not known is a gap, and two
        quantities that do not convert may be the same.
        """
        if left == right:
            return None
        if self.taxonomy is not None:
            match left, right:
                case (TaxonClass(a), TaxonClass(b)) if a in self.taxonomy and b in self.taxonomy:
                    for one, other in self.disjoint:
                        for low, high in ((a, b), (b, a)):
                            if self.taxonomy.leq(low, one) and self.taxonomy.leq(high, other):
                                return f"{one!r} and {other!r} are disjoint in {self.name}"
        if (
            isinstance(left, Comparable)
            and isinstance(right, Comparable)
            and compare("=", left, right) is not Truth.FALSE
        ):
            return None
        if self.functional and not self.meet([left, right]):
            return f"{self.name} has at most one value"
        return None


def define_taxonomy(
    name: str,
    pairs: Iterable[Pair],
    *,
    elements: Iterable[str] = (),
    label: str = "",
    functional: bool = False,
    disjoint: Iterable[Pair] = (),
    allowed_ambiguities: Iterable[Pair] = (),
    alternatives: Iterable[Pair] = (),
    equivalents: Iterable[Pair] = (),
) -> Dimension:
    """Admit a taxonomic dimension from pairs (class, broader class).

    Raises DimensionRejected naming every cycle, missing root and ambiguous pair together, the first
    twenty of them and how many more; `taxonomy_problems` lists all.
    """
    given = sorted(set(pairs))
    allowed = _sorted_pairs(allowed_ambiguities)
    labels = {label for pair in given for label in pair} | set(elements)
    problems = taxonomy_problems(given, labels, allowed=allowed)
    if problems:
        more = len(problems) - _TOLD
        told = [*problems[:_TOLD], *([f"and {more} more"] if more > 0 else [])]
        raise DimensionRejected(f"dimension {name}: " + "; ".join(told))
    return Dimension(
        name,
        DimensionKind.TAXONOMIC,
        label=label,
        functional=functional,
        taxonomy=poset(given, labels),
        disjoint=_sorted_pairs(disjoint),
        allowed_ambiguities=allowed,
        alternatives=tuple(sorted(set(alternatives))),
        equivalents=tuple(sorted(set(equivalents))),
    )


def taxonomy_problems(
    pairs: Iterable[Pair], elements: Iterable[str] = (), *, allowed: Iterable[Pair] = ()
) -> tuple[str, ...]:
    """Everything that keeps an order from going live, one sentence each: none if it may.

    Cycles first, then a missing root, then pairs with several maximal common descendants that are
    not `allowed`. Behind a cycle the order is judged with the cycle taken as one class.
    """
    given = sorted(set(pairs))
    labels = {label for pair in given for label in pair} | set(elements)
    groups = cycles(given)
    first_of = {member: group[0] for group in groups for member in group}
    merged = poset(
        ((first_of.get(low, low), first_of.get(high, high)) for low, high in given),
        (first_of.get(label, label) for label in labels),
    )
    problems = [
        f"the classes {_listed(group)} lie on a cycle; expected none broader than itself"
        for group in groups
    ]
    roots = merged.maximal()
    if not roots:
        problems.append("it has no class; expected at least a root")
    elif len(roots) > 1:
        problems.append(f"it has no root: nothing is broader than {_listed(roots)}; expected one")
    permitted = set(_sorted_pairs(allowed))
    problems += [
        f"the classes {left!r} and {right!r} have several most general common kinds, "
        f"{_listed(meets)}; expected one, or the pair marked as allowed"
        for left, right, meets in merged.ambiguous_pairs()
        if (left, right) not in permitted
    ]
    return tuple(problems)


def dimension_to_json(dimension: Dimension) -> dict[str, object]:
    """Give the canonical form, with everything a `dimension_from_json` needs."""
    taxonomy = dimension.taxonomy
    return {
        "name": dimension.name,
        "kind": dimension.kind.value,
        "label": dimension.label,
        "functional": dimension.functional,
        "unit": dimension.unit,
        "inverse": dimension.inverse,
        "classes": list(taxonomy.elements) if taxonomy else None,
        "broader": [list(pair) for pair in taxonomy.covers] if taxonomy else None,
        "disjoint": [list(pair) for pair in dimension.disjoint],
        "allowed_ambiguities": [list(pair) for pair in dimension.allowed_ambiguities],
        "alternatives": [list(pair) for pair in dimension.alternatives],
        "equivalents": [list(pair) for pair in dimension.equivalents],
    }


def dimension_from_json(form: object) -> Dimension:
    """Read the form `dimension_to_json` writes.

    Raises DimensionRejected for anything else.
    """
    if not isinstance(form, dict):
        raise DimensionRejected(f"{form!r} is no dimension; expected an object")
    kinds = {kind.value: kind for kind in DimensionKind}
    if form.get("kind") not in kinds:
        raise DimensionRejected(
            f"{form.get('kind')!r} is no kind of dimension; expected one of {', '.join(kinds)}"
        )
    try:
        classes, broader = form["classes"], form["broader"]
        return Dimension(
            name=_text(form["name"]),
            kind=kinds[form["kind"]],
            label=_text(form["label"]),
            functional=bool(form["functional"]),
            unit=None if form["unit"] is None else _text(form["unit"]),
            inverse=None if form["inverse"] is None else _text(form["inverse"]),
            taxonomy=(
                None
                if classes is None
                else poset(_pairs(broader), (_text(element) for element in classes))
            ),
            disjoint=_pairs(form["disjoint"]),
            allowed_ambiguities=_pairs(form["allowed_ambiguities"]),
            alternatives=_pairs(form["alternatives"]),
            equivalents=_pairs(form["equivalents"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DimensionRejected(
            f"the dimension {form.get('name')!r} is malformed: {error}"
        ) from error


def kind_of(value: Value) -> DimensionKind:
    """Give the kind of dimension that has such values."""
    match value:
        case Entity():
            return DimensionKind.ENTITY
        case TaxonClass():
            return DimensionKind.TAXONOMIC
        case Text():
            return DimensionKind.TEXT
        case Quantity():
            return DimensionKind.QUANTITY
        case Date():
            return DimensionKind.TIME
        case _:
            return DimensionKind.NUMBER


def value_label(value: Value) -> str:
    """The text a value is shown and sorted by."""
    match value:
        case Entity(text) | TaxonClass(text) | Text(text):
            return text
        case _:
            return str(value)


def _pairs(form: object) -> tuple[Pair, ...]:
    if not isinstance(form, list):
        raise TypeError(f"{form!r} is no list of pairs")
    result: list[Pair] = []
    for pair in form:
        low, high = pair
        result.append((_text(low), _text(high)))
    return tuple(result)


def _text(form: object) -> str:
    if not isinstance(form, str):
        raise TypeError(f"{form!r} is no text")
    return form


def _sorted_pairs(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    return tuple(sorted({(min(pair), max(pair)) for pair in pairs}))


def _listed(labels: Iterable[str]) -> str:
    return ", ".join(repr(label) for label in labels)
