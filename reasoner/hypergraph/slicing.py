"""Slices of a hypergraph's policy, read off its rules: all heads are ground, so nothing is joined.

They are what evaluating would give, without compiling a loop for each of thousands of edges.
"""

from __future__ import annotations

from ..atom import Atom
from ..clause import Clause, Policy, Positive
from ..facts import Fact, FactBase
from ..slice import AtomPremise, Call, Instance, Slice

_STORED = ("unit", 2)


class GroundSlices:
    """Answers goals of a hypergraph's policy from facts; None for what it does not read."""

    def __init__(self, policy: Policy, facts: FactBase) -> None:
        self._facts = facts
        self._clauses: dict[Atom, list[Clause]] = {}
        for clause in policy.clauses:
            self._clauses.setdefault(clause.head, []).append(clause)
        self._derived = {atom.signature for atom in self._clauses}
        self._stated = facts.signatures()
        self._rows: dict[Atom, tuple[Fact, ...]] = {}
        self._holding = self._close(policy)

    def slice(self, goal: Atom) -> Slice | None:
        """Give the slice of a goal."""
        if goal.signature == _STORED:
            return self._written(goal, [], [], [goal])
        if not goal.is_ground:
            return None
        calls = [goal]
        seen = {goal}
        instances: list[Instance] = []
        lookups: dict[Atom, None] = {}
        for atom in calls:  # grows meanwhile
            for clause in self._clauses.get(atom, ()):
                premises: list[AtomPremise] = []
                bindings: tuple[tuple[str, str], ...] = ()
                for literal in clause.body:
                    assert isinstance(literal, Positive), "edges and units join atoms"
                    read = literal.atom
                    if read.signature == _STORED:
                        lookups[read] = None
                        found = self._of(read)
                        if not found:
                            break
                        read = found[0].atom
                        bindings = (("T", str(read.arguments[1])),)
                    elif self._is_demand(read):
                        if read not in seen:
                            seen.add(read)
                            calls.append(read)
                        if read not in self._holding:
                            break
                    else:
                        lookups[read] = None
                        if not self._of(read):
                            break
                    premises.append(AtomPremise(read))
                else:
                    instances.append(Instance(clause.id, bindings, atom, tuple(premises)))
        demands = [atom for atom in calls if self._is_demand(atom)]
        stored = [
            atom for atom in calls if atom.signature in self._stated or not self._is_demand(atom)
        ]
        return self._written(goal, instances, demands, [*stored, *lookups])

    def _is_demand(self, atom: Atom) -> bool:
        return atom.signature in self._derived

    def _of(self, pattern: Atom) -> tuple[Fact, ...]:
        if pattern not in self._rows:
            self._rows[pattern] = tuple(self._facts.match(pattern, None))
        return self._rows[pattern]

    def _close(self, policy: Policy) -> set[Atom]:
        """Give every atom that follows."""
        missing: dict[int, int] = {}
        uses: dict[Atom, list[tuple[int, Atom]]] = {}
        queue = [fact.atom for fact in self._facts.facts() if fact.atom.signature != _STORED]
        for number, clause in enumerate(policy.clauses):
            needed = set()
            for literal in clause.body:
                assert isinstance(literal, Positive), "edges and units join atoms"
                if literal.atom.signature != _STORED or not self._of(literal.atom):
                    needed.add(literal.atom)
            missing[number] = len(needed)
            for atom in needed:
                uses.setdefault(atom, []).append((number, clause.head))
            if not needed:
                queue.append(clause.head)
        found: set[Atom] = set()
        for atom in queue:
            if atom in found:
                continue
            found.add(atom)
            for number, head in uses.get(atom, ()):
                missing[number] -= 1
                if not missing[number]:
                    queue.append(head)
        return found

    def _written(
        self, goal: Atom, instances: list[Instance], demands: list[Atom], lookups: list[Atom]
    ) -> Slice:
        facts = [fact for pattern in lookups for fact in self._of(pattern)]
        called = [Call(atom, (atom,) if atom in self._holding else ()) for atom in demands]
        looked = [
            Call(pattern, tuple(dict.fromkeys(fact.atom for fact in self._of(pattern))))
            for pattern in lookups
        ]
        answers: tuple[Atom, ...]
        if goal.is_ground:
            answers = (goal,) if goal in self._holding else ()
        else:
            answers = looked[0].answers
        return Slice(
            goal,
            tuple(sorted(instances, key=lambda item: (item.rule_id, str(item.bindings)))),
            tuple(sorted(dict.fromkeys(facts), key=lambda fact: (str(fact.atom), fact.leaf))),
            answers,
            (),
            tuple(called),
            tuple(looked),
            complete=True,
        )
