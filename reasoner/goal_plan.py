"""Plans a goal: every call it can reach, and which of them are answered together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .atom import Atom
from .clause import Clause
from .components import components
from .facts import Signature
from .magic import Collect, Node, Positions, Read, Refute, RulePlan, Step, plan_rule
from .prelude import atoms_of

_DEEPEST = 100
"""Calls within calls; deeper chains of predicates are answered together, without recursion."""


@dataclass(frozen=True, slots=True)
class GoalPlan:
    """All nodes a goal reaches.

    Nodes in `recursive` wait for answers within their `group`; every other call is answered in full
    before it is read.
    """

    root: Node
    clauses: tuple[Clause, ...]
    rules: dict[Node, tuple[RulePlan, ...]]
    group: dict[Node, int]
    recursive: frozenset[Node]

    def uses(self, signature: Signature) -> frozenset[Signature]:
        """Give every predicate a predicate is derived from, itself included."""
        found = {signature}
        waiting = [signature]
        while waiting:
            current = waiting.pop()
            for clause in self.clauses:
                if clause.head.signature == current:
                    new = {atom.signature for atom in atoms_of(clause.body)} - found
                    found |= new
                    waiting += new
        return frozenset(found)


def _reads(steps: Iterable[Step]) -> Iterable[tuple[Atom, Positions, bool]]:
    """Give atoms that steps read, with their known positions and whether read in place."""
    for step in steps:
        match step:
            case Read(_, atom, bound):
                yield atom, bound, True
            case Refute(_, atom, bound):
                yield atom, bound, False
            case Collect():
                for atom, bound, _ in _reads(step.steps):
                    yield atom, bound, False


def plan_goal(clauses: tuple[Clause, ...], root: Node) -> GoalPlan:
    """Plan everything a goal can reach. Raises Unsafe."""
    by_head: dict[Signature, list[int]] = {}
    for number, clause in enumerate(clauses):
        by_head.setdefault(clause.head.signature, []).append(number)
    rules: dict[Node, tuple[RulePlan, ...]] = {}
    in_place: dict[Node, list[Node]] = {}
    in_full: dict[Node, list[Node]] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node in rules:
            continue
        plans = [
            plan
            for number in by_head.get(node.signature, ())
            for plan in plan_rule(number, clauses[number], node)
        ]
        rules[node] = tuple(plans)
        in_place[node], in_full[node] = [], []
        for plan in plans:
            for atom, bound, is_in_place in _reads(plan.steps):
                if atom.signature in by_head:
                    other = Node(atom.signature, bound)
                    waiting.append(other)
                    (in_place if is_in_place else in_full)[node].append(other)
    group = components(in_place)
    if _depth(in_place, group) > _DEEPEST:
        group = _levels(in_place, in_full) or group
    sizes: dict[int, int] = {}
    for number in group.values():
        sizes[number] = sizes.get(number, 0) + 1
    recursive = frozenset(
        node for node in rules if sizes[group[node]] > 1 or node in in_place[node]
    )
    return GoalPlan(root, clauses, rules, group, recursive)


def _depth(edges: dict[Node, list[Node]], group: dict[Node, int]) -> int:
    """Give the longest chain of groups; they are numbered after those they reach."""
    depths: dict[int, int] = {}
    for node in sorted(group, key=group.__getitem__):
        below = [depths[group[o]] for o in edges[node] if group[o] != group[node]]
        depths[group[node]] = max(depths.get(group[node], 0), 1 + max(below, default=0))
    return max(depths.values(), default=0)


def _levels(
    in_place: dict[Node, list[Node]], in_full: dict[Node, list[Node]]
) -> dict[Node, int] | None:
    """Group nodes by how many calls in full lie below; None if one lies in a cycle."""
    together = components({node: in_place[node] + in_full[node] for node in in_place})
    levels: dict[int, int] = {}
    for node in sorted(together, key=together.__getitem__):
        own = together[node]
        if any(together[other] == own for other in in_full[node]):
            return None
        below = [levels[together[o]] for o in in_place[node] if together[o] != own]
        below += [levels[together[o]] + 1 for o in in_full[node]]
        levels[own] = max([levels.get(own, 0), *below])
    return {node: levels[number] for node, number in together.items()}
