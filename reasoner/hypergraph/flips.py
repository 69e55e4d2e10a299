"""What flipped first between two hypergraphs: the lowest step of one proof that the other lacks.

Steps come in dependency order, so the first that does not follow on the other side is the cause and
everything above it the consequence. What the other side derives in another way has not flipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from .decision import ClosedHypergraph, GoalDecision, GraphStep
from .graph import Hyperedge, Unit
from .supposition import assumed_atom


class GraphCause(Enum):
    """Why a step does not hold on the other side."""

    UNIT_ABSENT = "unit absent"
    EDGE = "edge"
    CONFLICT = "conflict"
    REQUEST = "request"


@dataclass(frozen=True, slots=True)
class GraphSide:
    """One of two decisions on a goal, and the units that its request leaves out.

    `name` is that of its file, for messages.
    """

    name: str
    closed: ClosedHypergraph
    decision: GoalDecision
    left_out: frozenset[str] = frozenset()
    _units: dict[str, Unit] = field(init=False)
    _edges: dict[str, Hyperedge] = field(init=False)

    def __post_init__(self) -> None:
        graph = self.closed.graph
        object.__setattr__(self, "_units", {unit.id: unit for unit in graph.units})
        object.__setattr__(self, "_edges", {edge.id: edge for edge in graph.hyperedges})

    def unit(self, name: str) -> Unit | None:
        """Give a unit that counts."""
        return self._units.get(name)

    def edge(self, name: str) -> Hyperedge | None:
        """Give an edge."""
        return self._edges.get(name)


@dataclass(frozen=True, slots=True)
class GraphFlip:
    """A step with why it does not hold on the other side, and the way from it up to the goal."""

    step: GraphStep
    cause: GraphCause
    detail: str
    chain: tuple[GraphStep, ...]


def first_flip(here: GraphSide, there: GraphSide) -> GraphFlip | None:
    """Give the first flip of the proof of one side.

    None where there is no proof, or all of it holds on the other side as well.
    """
    for step in here.decision.steps:
        if not there.closed.derives(step.atom):
            cause, detail = _cause(here, there, step)
            return GraphFlip(step, cause, detail, _chain(step, here.decision.steps))
    return None


def _cause(here: GraphSide, there: GraphSide, step: GraphStep) -> tuple[GraphCause, str]:
    against = there.closed.contested.get(step.atom)
    if against is not None:
        return GraphCause.CONFLICT, f"{step.atom} and {' and '.join(against)} are both derived"
    if step.edge is not None:
        mine, other = here.edge(step.edge), there.edge(step.edge)
        assert mine is not None, "a step of a proof uses an edge of its graph"
        if other is None:
            return GraphCause.EDGE, f"{there.name} has no hyperedge {step.edge}"
        if (other.tail, other.head) != (mine.tail, mine.head):
            tail = ", ".join(other.tail) or "nothing"
            return GraphCause.EDGE, f"there {step.edge} leads from {tail} to {other.head}"
    if step.unit is not None:
        return _lost_unit(here, there, step)
    if step.edge is not None:
        return GraphCause.EDGE, f"there {step.edge} needs a unit that witnesses it"
    return GraphCause.UNIT_ABSENT, f"{step.atom} is not given there"


def _lost_unit(here: GraphSide, there: GraphSide, step: GraphStep) -> tuple[GraphCause, str]:
    assert step.unit is not None
    if assumed_atom(step.unit) is not None:
        return GraphCause.REQUEST, "it is assumed on one side only"
    if step.unit in there.left_out:
        return GraphCause.REQUEST, f"the request leaves unit {step.unit} out on the other side"
    verb, what = ("states", step.atom) if step.edge is None else ("witnesses", step.edge)
    if there.unit(step.unit) is None:
        where = there.name if there.name != here.name else "the other side"
        return GraphCause.UNIT_ABSENT, f"{where} has no unit {step.unit}, which {verb} {what}"
    return GraphCause.UNIT_ABSENT, f"there unit {step.unit} no longer {verb} {what}"


def _chain(step: GraphStep, steps: Iterable[GraphStep]) -> tuple[GraphStep, ...]:
    """Give a shortest way from a step up to the last, both included."""
    by_atom = {found.atom: found for found in steps}
    users: dict[str, list[str]] = {}
    last = step.atom
    for found in by_atom.values():
        last = found.atom
        for premise in found.premises:
            users.setdefault(premise, []).append(found.atom)
    reached: dict[str, str | None] = {step.atom: None}
    for atom in (queue := [step.atom]):
        if atom == last:
            break
        for user in users.get(atom, ()):
            if user not in reached:
                reached[user] = atom
                queue.append(user)
    way = [last] if last in reached else [step.atom]
    while (below := reached[way[-1]]) is not None:
        way.append(below)
    return tuple(by_atom[atom] for atom in reversed(way))
