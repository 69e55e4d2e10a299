"""Why statements, or a class, cannot be: the fewest axioms that together are a contradiction.

The used fragment of OWL (subclass, equivalent and disjoint classes, functional properties, class
assertions and denials) is a Horn program with the goal `conflict`; its minimal supports are the
explanations. Of two dates, one that contains the other says the same less precisely and is no clash.
Two readings:

OPEN    as OWL reads it: classes may share members unless declared disjoint, two names may mean one
        thing, and several values of one property need not be one
CLOSED  as meets read it: of a functional dimension two values exclude each other unless a class
        lies below both; disjoint classes exclude each other among the values of one entity

Source: Kalyanpur et al., Finding all justifications of OWL DL entailments (2007), section 3, black
box; here the entailments are Horn, so that `supports` finds the justifications itself.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, combinations

from kb.dimension import Dimension, DimensionKind, value_label
from kb.statement import ALWAYS, Modality, Polarity, Statement, TaxonClass

from .horn import horn_program
from .supports import supports

LIMIT = 5
"""How many explanations of one clash are given unless asked for more or fewer."""


class Reading(Enum):
    """How axioms are read; see the module."""

    OPEN = "open"
    CLOSED = "closed"


class AxiomKind(Enum):
    """What an axiom says of `left` and `right`, each with its sentence."""

    SUBCLASS = "{left!r} is a kind of {right!r}"
    EQUIVALENT = "{left!r} has the same members as {right!r}"
    DISJOINT = "{left!r} and {right!r} are disjoint"
    APART = "no class lies below both {left!r} and {right!r}"
    FUNCTIONAL = "{left} has at most one value"
    STATED = "{left} has {right}"
    DENIED = "{left} does not have {right}"


@dataclass(frozen=True, slots=True)
class Axiom:
    """One axiom; `statement` is the id of what is stated or denied, else empty."""

    kind: AxiomKind
    left: str
    right: str = ""
    statement: str = ""

    def __str__(self) -> str:
        sentence = self.kind.value.format(left=self.left, right=self.right)
        return f"{sentence} ({self.statement})" if self.statement else sentence


@dataclass(frozen=True, slots=True)
class Clash:
    """What cannot be, and why: each explanation is a minimal set of axioms, in reading order.

    `subject` is an entity with contradictory values in `dimension`, or a class that can have no
    member, with `dimension` empty. Explanations are sorted, the smallest first; `complete` says
    that there are no others.
    """

    subject: str
    dimension: str
    explanations: tuple[tuple[Axiom, ...], ...]
    complete: bool


def class_clashes(
    dimensions: Iterable[Dimension], *, limit: int = LIMIT, derived: bool = True
) -> tuple[Clash, ...]:
    """Find the classes that can have no member, sorted.

    Without `derived`, only those that are no kind of another such class.
    """
    axioms = _Axioms(dimensions)
    empty = {label for label in axioms.labels if axioms.is_empty(label)}
    if not derived:
        empty -= {label for label in empty if axioms.above(label) & empty - {label}}
    return tuple(axioms.explain_class(label, limit) for label in sorted(empty))


def statement_clashes(
    dimensions: Iterable[Dimension],
    statements: Iterable[Statement],
    *,
    reading: Reading = Reading.CLOSED,
    valid_on: datetime.date | None = None,
    limit: int = LIMIT,
) -> tuple[Clash, ...]:
    """Find asserted statements that cannot hold together, by subject and dimension.

    Only statements that hold on `valid_on` or, without it, on some common day.
    """
    axioms = _Axioms(dimensions)
    groups: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for statement in statements:
        holds = valid_on is None or statement.validity.holds_on(valid_on)
        if (
            holds
            and statement.modality is Modality.ASSERTED
            and statement.dimension in axioms.known
        ):
            groups[statement.subject, statement.dimension].append(statement)
    found: list[Clash] = []
    for subject, name in sorted(groups):
        group = sorted(groups[subject, name], key=lambda statement: statement.id)
        clash = axioms.explain_group(subject, axioms.known[name], group, reading, limit)
        if clash is not None:
            found.append(clash)
    return tuple(found)


class _Axioms:
    """The axioms about classes; a class is its label, whichever dimension names it."""

    def __init__(self, dimensions: Iterable[Dimension]) -> None:
        self.known: Mapping[str, Dimension] = {found.name: found for found in dimensions}
        self._up: dict[str, list[tuple[str, Axiom]]] = defaultdict(list)
        self._apart: dict[str, list[tuple[str, Axiom]]] = defaultdict(list)
        self._above: dict[str, frozenset[str]] = {}
        labels: set[str] = set()
        for _, dimension in sorted(self.known.items()):
            labels.update(dimension.taxonomy.elements if dimension.taxonomy else ())
            for low, high in dimension.taxonomy.covers if dimension.taxonomy else ():
                self._up[low].append((high, Axiom(AxiomKind.SUBCLASS, low, high)))
            for label, other in dimension.equivalents:
                axiom = Axiom(AxiomKind.EQUIVALENT, label, other)
                self._up[label].append((other, axiom))
                self._up[other].append((label, axiom))
                labels.add(other)
            for one, other in dimension.disjoint:
                axiom = Axiom(AxiomKind.DISJOINT, one, other)
                self._apart[one].append((other, axiom))
                self._apart[other].append((one, axiom))
        self.labels = sorted(labels)

    def above(self, label: str) -> frozenset[str]:
        """The classes that a member of a class is in."""
        found = self._above.get(label)
        if found is None:
            reached, stack = {label}, [label]
            while stack:
                fresh = {high for high, _ in self._up[stack.pop()]} - reached
                reached |= fresh
                stack.extend(fresh)
            found = self._above[label] = frozenset(reached)
        return found

    def is_empty(self, label: str) -> bool:
        """Whether no member of a class is possible."""
        return self._exclude(self.above(label))

    def _exclude(self, classes: frozenset[str]) -> bool:
        return any(other in classes for one in classes for other, _ in self._apart[one])

    def explain_class(self, label: str, limit: int) -> Clash:
        """Explain why a class is empty."""
        program = _Program()
        self._member(program, "it", self.above(label))
        return program.clash(label, "", limit, given=[("it", label)])

    def explain_group(
        self,
        subject: str,
        dimension: Dimension,
        group: Sequence[Statement],
        reading: Reading,
        limit: int,
    ) -> Clash | None:
        """Explain why statements of one subject in one dimension clash; None where none do."""
        pairs = (
            pair for pair in combinations(group, 2) if pair[0].validity.overlaps(pair[1].validity)
        )
        explanations: set[tuple[Axiom, ...]] = set()
        complete = True
        for part in chain(((statement,) for statement in group), pairs):
            if not self._may_clash(dimension, part):
                continue
            program = _Program()
            self._state(program, dimension, part, reading)
            clash = program.clash(subject, dimension.name, limit)
            explanations.update(clash.explanations)
            complete = complete and clash.complete
        if not explanations:
            return None
        ordered = sorted(explanations, key=_size_and_text)
        complete = complete and len(ordered) <= limit
        return Clash(subject, dimension.name, tuple(ordered[:limit]), complete)

    def _may_clash(self, dimension: Dimension, part: Sequence[Statement]) -> bool:
        """Whether it is worth while to look closer; most statements are told off at once."""
        if len(part) == 2 and (
            dimension.functional or any(item.polarity is Polarity.DENIED for item in part)
        ):
            return True
        labels = [item.value.label for item in part if isinstance(item.value, TaxonClass)]
        return self._exclude(frozenset().union(*map(self.above, labels)))

    def _state(
        self,
        program: _Program,
        dimension: Dimension,
        part: Sequence[Statement],
        reading: Reading,
    ) -> None:
        """Write what one statement or two say of the values of their subject."""
        affirmed = [item for item in part if item.polarity is Polarity.AFFIRMED]
        denied = [item for item in part if item.polarity is Polarity.DENIED]
        if dimension.kind is not DimensionKind.TAXONOMIC:
            for item in affirmed:
                for other in denied:
                    if item.value == other.value:
                        program.contradiction(_stated(item), _stated(other))
            different = len(affirmed) == 2 and not dimension.meet([x.value for x in affirmed])
            told_apart = reading is Reading.CLOSED or _are_literals(dimension)
            if different and told_apart and dimension.functional:
                program.contradiction(*map(_stated, affirmed), _functional(dimension))
            return
        classes = [item for item in affirmed if isinstance(item.value, TaxonClass)]
        for number, item in enumerate(classes):
            filler = f"value {number}"
            label = value_label(item.value)
            program.clause((filler, label), [_stated(item)])
            self._member(program, filler, self.above(label))
            for other in denied:
                program.clause(None, [(filler, value_label(other.value)), _stated(other)])
        if len(classes) == 2 and classes[0].value != classes[1].value:
            self._both(program, dimension, classes, reading)

    def _both(
        self,
        program: _Program,
        dimension: Dimension,
        classes: Sequence[Statement],
        reading: Reading,
    ) -> None:
        """Write what follows where the values of two statements are one."""
        labels = [value_label(item.value) for item in classes]
        for item, label in zip(classes, labels, strict=True):
            tail: list[_Key] = [_stated(item)]
            if reading is Reading.OPEN:
                if not dimension.functional:
                    return
                tail.append(_functional(dimension))
            program.clause(("both", label), tail)
        self._member(program, "both", self.above(labels[0]) | self.above(labels[1]))
        if reading is Reading.OPEN or not dimension.functional:
            return
        if not dimension.meet([item.value for item in classes]):
            apart = Axiom(AxiomKind.APART, *sorted(labels))
            program.contradiction(*map(_stated, classes), _functional(dimension), apart)

    def _member(self, program: _Program, member: str, classes: frozenset[str]) -> None:
        """Write what follows for a member, within the classes that it can be derived to be in."""
        for label in sorted(classes):
            for high, axiom in self._up[label]:
                program.clause((member, high), [(member, label), axiom])
            for other, axiom in self._apart[label]:
                if label < other and other in classes:
                    program.clause(None, [(member, label), (member, other), axiom])


_Key = Axiom | tuple[str, str]
"""An axiom, or that a member is in a class."""


class _Program:
    """A Horn program under construction, whose deletable atoms are the axioms it uses."""

    def __init__(self) -> None:
        self._numbers: dict[_Key | None, int] = {None: 0}
        self._clauses: list[tuple[int, list[int]]] = []

    def clause(self, head: tuple[str, str] | None, tail: Iterable[_Key]) -> None:
        """Add `head <- tail`; no head is `conflict`."""
        self._clauses.append((self._number(head), [self._number(key) for key in tail]))

    def contradiction(self, *axioms: Axiom) -> None:
        """Add `conflict <- axioms`."""
        self.clause(None, axioms)

    def clash(
        self, subject: str, dimension: str, limit: int, *, given: Iterable[_Key] = ()
    ) -> Clash:
        """Find the minimal sets of axioms that derive `conflict`, with `given` always true."""
        frozen = [self._number(key) for key in given]
        axioms = {number: key for key, number in self._numbers.items() if isinstance(key, Axiom)}
        program = horn_program(len(self._numbers), self._clauses, [*frozen, *sorted(axioms)])
        found = supports(program, 0, sorted(axioms), limit=limit)
        explanations = (
            tuple(_ordered(axioms[number] for number in atoms)) for atoms in found.found
        )
        return Clash(
            subject, dimension, tuple(sorted(explanations, key=_size_and_text)), found.complete
        )

    def _number(self, key: _Key | None) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def _stated(statement: Statement) -> Axiom:
    denied = statement.polarity is Polarity.DENIED
    value = f"{statement.dimension} {value_label(statement.value)!r}"
    if statement.validity != ALWAYS:
        start, end = statement.validity.start or "", statement.validity.end or ""
        value += f" in {start}..{end}"
    kind = AxiomKind.DENIED if denied else AxiomKind.STATED
    return Axiom(kind, statement.subject, value, statement.id)


def _functional(dimension: Dimension) -> Axiom:
    return Axiom(AxiomKind.FUNCTIONAL, dimension.name)


def _are_literals(dimension: Dimension) -> bool:
    """Whether two different values are two things for OWL, too."""
    return dimension.kind in (DimensionKind.TEXT, DimensionKind.NUMBER)


_PLACE = {
    kind: place
    for place, kind in enumerate(
        (
            AxiomKind.STATED,
            AxiomKind.DENIED,
            AxiomKind.SUBCLASS,
            AxiomKind.EQUIVALENT,
            AxiomKind.FUNCTIONAL,
            AxiomKind.DISJOINT,
            AxiomKind.APART,
        )
    )
}


def _ordered(axioms: Iterable[Axiom]) -> Iterator[Axiom]:
    """Statements first, then the steps up from them, last what forbids it."""
    yield from sorted(axioms, key=lambda axiom: (_PLACE[axiom.kind], str(axiom)))


def _size_and_text(axioms: tuple[Axiom, ...]) -> tuple[int, tuple[str, ...]]:
    return len(axioms), tuple(map(str, axioms))
