"""The slice of a goal: every rule instance that can matter, captured with its bindings.

This set of instances *is* the requirement hypergraph of the goal (DESIGN section 4, Compilation):
heads are vertices, each instance is a hyperedge from its positive premises to its head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb.quantity import Truth

from .atom import Atom, Constant
from .facts import Fact


@dataclass(frozen=True, slots=True)
class AtomPremise:
    """A positive body literal, ground."""

    atom: Atom


@dataclass(frozen=True, slots=True)
class ComparisonPremise:
    """A comparison or assignment with its real values, such as `5000000 >= 1000000`.

    A definition that has no value keeps its variable, `T = 1 / 0`; what hangs on it shows
    `#undetermined` in its place.
    """

    text: str
    truth: Truth


@dataclass(frozen=True, slots=True)
class AbsencePremise:
    """`not p(..)` that holds, or may hold; its witness is the covering demand or lookup."""

    atom: Atom
    truth: Truth = Truth.TRUE


@dataclass(frozen=True, slots=True)
class AggregatePremise:
    """An aggregate with its real result; `text` is ground, its rows are in the witness."""

    text: str
    truth: Truth


Premise = AtomPremise | ComparisonPremise | AbsencePremise | AggregatePremise


@dataclass(frozen=True, slots=True)
class Instance:
    """A rule with all its variables bound. `bindings` are sorted by variable name."""

    rule_id: str
    bindings: tuple[tuple[str, Constant], ...]
    head: Atom
    premises: tuple[Premise, ...]

    @property
    def is_certain(self) -> bool:
        """Whether no comparison, absence or aggregate of the instance is undetermined."""
        return all(
            isinstance(premise, AtomPremise) or premise.truth is Truth.TRUE
            for premise in self.premises
        )


@dataclass(frozen=True, slots=True)
class Call:
    """A call to a predicate with its complete answers, sorted by text.

    `pattern` is an atom whose unbound arguments are variables. `demands` are calls to derived
    predicates, `lookups` to stored ones.
    """

    pattern: Atom
    answers: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """What evaluating a goal saw.

    `answers` are derived with certainty, `possible` only if an undetermined comparison were true.
    `complete` is false where a budget cut the evaluation; then nothing may be concluded from
    absence. Instances are sorted by (rule id, bindings text), facts by (atom text, leaf). All but
    the answers may be written only when it is first read.

    `grounds` are the facts that instances rest on, or that answer the goal; None where `facts` are
    no more than these.
    """

    goal: Atom
    instances: Sequence[Instance]
    facts: Sequence[Fact]
    answers: tuple[Atom, ...]
    possible: tuple[Atom, ...]
    demands: Sequence[Call]
    lookups: Sequence[Call]
    complete: bool
    grounds: Sequence[Fact] | None = None

    def grounded(self) -> Slice:
        """Give the slice with no facts but its grounds: enough for proofs of its answers."""
        return self if self.grounds is None else replace(self, facts=self.grounds, grounds=None)
