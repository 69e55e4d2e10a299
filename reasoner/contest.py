"""Contested atoms: what a source says while another says what cannot hold beside it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field

from kb.quantity import Truth

from .atom import Atom, Constant, Term, Variable
from .bodies import without_statement
from .clause import Operator, Policy
from .comparison import compare
from .facts import Fact, FactBase, Signature
from .prelude import ABOUT_NAMES, ABOUT_SOURCES, COMPUTED, SAME_AS
from .sources import Sources

_OWN_NAMES = COMPUTED | ABOUT_SOURCES | ABOUT_NAMES
"""Predicates that hold of the name they are stated of, not of other names of the entity."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Two atoms that cannot both hold.

    `reason` is `denied`, `functional DIMENSION` or `disjoint`. `other_fact` is the fact behind the
    other side, or None where rules derive it.
    """

    reason: str
    atom: Atom
    other: Atom
    other_fact: Fact | None


@dataclass(slots=True)
class Contests:
    """Finds what contests an atom.

    `derives` tells whether rules derive an atom with certainty, `told_apart` whether two names
    cannot be one value. Of two values, one of which may be the other put more precisely (a month of
    a year, a country of a region), none contests the other.
    """

    policy: Policy
    facts: FactBase
    sources: Sources
    valid_on: datetime.date | None
    derives: Callable[[Atom], bool]
    told_apart: Callable[[Constant, Constant], bool]
    _known: dict[Atom, Contest | None] = field(default_factory=dict)
    _functional: frozenset[str] = frozenset()
    _disjoint: frozenset[tuple[str, str]] = frozenset()
    _stated: frozenset[Signature] = frozenset()

    def __post_init__(self) -> None:
        self._functional = self.sources.functional.union(self.policy.functional)
        self._disjoint = self.sources.disjoint.union(self.policy.disjoint)
        self._stated = self.facts.signatures()

    def of(self, atom: Atom, fact: Fact | None) -> Contest | None:
        """Give what contests an atom, or None; `fact` is its leaf where it is stated.

        An atom that names its statement is contested as the two-place atom beside it.
        """
        if fact is not None:
            atom = without_statement(atom)
        if atom not in self._known:
            self._known[atom] = self._denial(atom, fact) or self._rival(atom, fact)
        return self._known[atom]

    def _denial(self, atom: Atom, fact: Fact | None) -> Contest | None:
        complement = atom.complement
        if complement.signature in self._stated:
            for other in self._stated_of(complement):
                if fact is None or self._counts_against(fact, other):
                    return Contest("denied", atom, complement, other)
        if self.derives(complement):
            return Contest("denied", atom, complement, None)
        return None

    def _rival(self, atom: Atom, fact: Fact | None) -> Contest | None:
        """Find another value of a functional dimension, or of a class disjoint from this one."""
        if fact is None or atom.negated or len(atom.arguments) != 2:
            return None
        name, subject, value = atom.predicate, *atom.arguments
        functional, pairs = name in self._functional, self._disjoint
        if not functional and not pairs:
            return None
        for other in self._stated_of(Atom(name, (subject, Variable("V")))):
            rival = other.atom.arguments[1]
            if rival == value or isinstance(rival, Variable) or isinstance(value, Variable):
                continue
            if not self._counts_against(fact, other):
                continue
            if functional and self._differ(value, rival):
                return Contest(f"functional {name}", atom, Atom(name, (subject, rival)), other)
            if pairs and self._are_disjoint(value, rival):
                return Contest("disjoint", atom, Atom(name, (subject, rival)), other)
        return None

    def _stated_of(self, pattern: Atom) -> list[Fact]:
        """Give the facts that match an atom, under any name of the entity it is about."""
        if not pattern.arguments or pattern.signature in _OWN_NAMES:
            return list(self.facts.match(pattern, self.valid_on))
        subject, *others = pattern.arguments
        return [
            fact
            for name in self._names(subject)
            for fact in self.facts.match(
                Atom(pattern.predicate, (name, *others), pattern.negated), self.valid_on
            )
        ]

    def _names(self, subject: Term) -> list[Term]:
        names, other = [subject], Variable("V")
        if not isinstance(subject, str) or SAME_AS not in self._stated:
            return names
        for known in names:
            for at, pair in ((1, (known, other)), (0, (other, known))):
                for fact in self.facts.match(Atom("same_as", pair), self.valid_on):
                    if fact.atom.arguments[at] not in names:
                        names.append(fact.atom.arguments[at])
        return names

    def _differ(self, left: Constant, right: Constant) -> bool:
        if isinstance(left, str) and isinstance(right, str):
            return self.told_apart(left, right)
        return compare(Operator.EQUAL, left, right) is Truth.FALSE

    def _are_disjoint(self, left: Constant, right: Constant) -> bool:
        """Whether classes above two values are declared disjoint."""
        lefts, rights = self._above(left), self._above(right)
        return any(
            (one in lefts and other in rights) or (other in lefts and one in rights)
            for one, other in self._disjoint
        )

    def _above(self, value: Constant) -> set[Constant]:
        found, waiting = {value}, [value]
        while waiting:
            broader = Atom("subclass_of", (waiting.pop(), Variable("C")))
            for fact in self.facts.match(broader, self.valid_on):
                above = fact.atom.arguments[1]
                if not isinstance(above, Variable) and above not in found:
                    found.add(above)
                    waiting.append(above)
        return found

    def _counts_against(self, fact: Fact, other: Fact) -> bool:
        """Whether another fact speaks against one: same time, other evidence, no lower rank.

        An assumption neither outranks what is stated nor gives way to it: with either against the
        other, and with two of them, the request supposes what cannot be.
        """
        if "assumed" in (fact.leaf, other.leaf):
            return other.leaf.startswith(("st:", "assumed"))
        if not fact.leaf.startswith("st:") or not other.leaf.startswith("st:"):
            return other.leaf.startswith("st:")
        if not fact.validity.overlaps(other.validity):
            return False
        mine, theirs = self._places(fact), self._places(other)
        return mine != theirs and not self._outranks(fact, other)

    def _places(self, fact: Fact) -> set[tuple[str, int, int]]:
        evidence = self.sources.statement(fact.leaf).evidence
        return {(item.source_sha256, item.start, item.end) for item in evidence}

    def _kinds(self, fact: Fact) -> set[str]:
        return {
            str(kind.atom.arguments[1])
            for source, _, _ in self._places(fact)
            for kind in self.facts.match(
                Atom("document_kind", (f"doc:{source}", Variable("K"))), self.valid_on
            )
        }

    def _outranks(self, fact: Fact, other: Fact) -> bool:
        if not self.policy.precedence:
            return False
        weaker = self._kinds(fact)
        frontier = set(weaker)
        while frontier:
            frontier = {low for high, low in self.policy.precedence if high in frontier} - weaker
            weaker |= frontier
        return bool(self._kinds(other) & (weaker - self._kinds(fact)))
