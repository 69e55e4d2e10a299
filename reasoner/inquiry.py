"""One request under way: its policy, facts and sources, and what has been evaluated so far."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .atom import Atom, Constant, fold
from .bodies import NotCovered
from .clause import Clause, Policy
from .contest import Contests
from .evaluate import Budget, evaluate
from .facts import FactBase, Signature
from .prelude import VALUE_RULES, rules_in_force
from .slice import Slice
from .sources import Sources
from .unsourced import sources_below, unsourced

Slicer = Callable[[FactBase], Callable[[Atom], Slice | None]]
"""Gives, for some facts, a function from atoms to their slices; None where they are evaluated."""


@dataclass(slots=True)
class Inquiry:
    """What a goal is decided on. Each atom is evaluated once.

    `retracted` are the atoms of statements that `facts` leave out on request. `vocabulary` are the
    predicates that a knowledge base knows; empty where there is none that gives them. `slicer`
    gives slices of facts without evaluating, or None. `began` is when the deadline began to run.
    """

    goal: Atom
    policy: Policy
    facts: FactBase
    sources: Sources
    valid_on: datetime.date | None
    engine: str
    budget: Budget
    retracted: tuple[Atom, ...] = ()
    vocabulary: frozenset[Signature] = frozenset()
    slicer: Slicer | None = None
    began: float | None = None
    _slices: dict[Atom, Slice] = field(default_factory=dict)
    _clauses: dict[Signature, list[Clause]] = field(default_factory=dict)
    _unsourced: dict[Signature, str] | None = None
    _below: dict[Signature, tuple[str, ...]] = field(default_factory=dict)
    _own_clauses: dict[Signature, list[Clause]] = field(default_factory=dict)

    _given: Callable[[Atom], Slice | None] = field(init=False)

    def __post_init__(self) -> None:
        if self.began is None:
            self.began = self.budget.start()
        self._given = (lambda _: None) if self.slicer is None else self.slicer(self.facts)

    def is_late(self) -> bool:
        """Whether the deadline of the budget has passed since the inquiry began."""
        clock, milliseconds = self.budget.clock, self.budget.deadline_ms
        if clock is None or milliseconds is None or self.began is None:
            return False
        return clock() >= self.began + milliseconds / 1000

    def slice(self, atom: Atom) -> Slice:
        """Evaluate an atom as a goal; one value excludes another only of the goal in question."""
        if atom not in self._slices:
            self._slices[atom] = self._given(atom) or evaluate(
                self.policy,
                atom,
                self.facts,
                valid_on=self.valid_on,
                budget=self.budget,
                declared=None if atom in (self.goal, self.goal.complement) else frozenset(),
                unsourced=self.unsourced,
            )
        return self._slices[atom]

    def over(self, facts: FactBase, retracted: tuple[Atom, ...] = ()) -> Inquiry:
        """Give the same inquiry over other facts, which leave `retracted` out besides."""
        return replace(
            self,
            facts=facts,
            retracted=(*self.retracted, *retracted),
            _slices={},
            _clauses={},
        )

    def contests(self) -> Contests:
        """Look for what contests an atom among these facts and rules."""
        return Contests(
            self.policy, self.facts, self.sources, self.valid_on, self.derives, self.told_apart
        )

    @property
    def unsourced(self) -> Mapping[Signature, str]:
        """Predicates whose complete source is missing, with its name."""
        if self._unsourced is None:
            self._unsourced = unsourced(self.policy, self.sources)
        return self._unsourced

    def sources_below(self, signature: Signature) -> tuple[str, ...]:
        """Give the missing sources of a predicate and of all that its rules use, sorted."""
        if signature not in self._below:
            self._below[signature] = sources_below(self.policy, self.unsourced, signature)
        return self._below[signature]

    @property
    def in_scope(self) -> bool:
        """Whether the policy applies on the day of the request."""
        start, end = self.policy.effective
        day = self.valid_on
        return day is None or ((start is None or start <= day) and (end is None or day < end))

    def clauses(self) -> Mapping[Signature, Sequence[Clause]]:
        """Give the clauses in force for the goal by what they conclude."""
        if not self._clauses:
            for clause in rules_in_force(self.policy, self.goal, self.facts):
                self._clauses.setdefault(clause.head.signature, []).append(clause)
        return self._clauses

    def own_clauses(self) -> Mapping[Signature, Sequence[Clause]]:
        """Give the clauses of the policy alone by what they conclude."""
        if not self._own_clauses:
            for clause in self.policy.clauses:
                self._own_clauses.setdefault(clause.head.signature, []).append(clause)
        return self._own_clauses

    def concludes(self, signature: Signature) -> bool:
        """Whether a rule of the policy concludes a predicate."""
        return signature in self.own_clauses()

    def is_defined(self, signature: Signature) -> bool:
        """Whether facts or rules give a predicate."""
        return signature in self.facts.signatures() or self.concludes(signature)

    def is_refutable(self, goal: Atom) -> bool:
        """Whether something gives the complement of a goal: facts, rules, or a declaration."""
        signature = goal.complement.signature
        return self.is_defined(signature) or any(
            clause.id.startswith(VALUE_RULES) for clause in self.clauses().get(signature, ())
        )

    def told_apart(self, left: Constant, right: Constant) -> bool:
        """Whether two names cannot be one value: by their taxonomy, or as names without one.

        Raises NotCovered where the budget cut the look.
        """
        if isinstance(left, str) and isinstance(right, str) and fold(left) == fold(right):
            return False
        apart = self.slice(Atom("told_apart", (left, right)))
        if apart.answers:
            return True
        others = [
            self.slice(atom)
            for atom in (
                Atom("in_taxonomy", (left,)),
                Atom("in_taxonomy", (right,)),
                Atom("may_coincide", (left, right)),
            )
        ]
        for part in (apart, *others):
            if not part.complete:
                raise NotCovered(part.goal)
        return not any(part.answers for part in others)

    def derives(self, atom: Atom) -> bool:
        """Whether rules of the policy derive an atom with certainty."""
        return self.concludes(atom.signature) and atom in self.slice(atom).answers
