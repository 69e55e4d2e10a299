"""Why one goal of a hypergraph follows and another does not: where their requirements differ.

The proof of the one is followed from its goal down. For the other, the edge that is most like the
one used there is looked at; what that edge lacks is held against a premise of the same form. Edges
have no variables, so the form of an atom is what stands before its first bracket.

Source: contrastive explanation as in Lipton, Contrastive Explanation (1990); a requirement
hypergraph as in Certify (arXiv 2610.34684), section 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..engines.linear import UNDERIVED
from ..verdict import AbstentionCode
from .decision import ClosedHypergraph, GoalDecision, GraphStep
from .graph import Hyperedge
from .horn import witness_atom

MOST_DIFFERENCES = 100


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """What the other goal lacks, `counterpart`, and what the proof has in its place, if anything.

    `step` is the step of the proof that meets the requirement. `edge` needs the counterpart; it is
    empty for the other goal itself. `part_of` is the place of the difference above, -1 at the top;
    `depth` is 1 there. Of a fact no edge would yield the counterpart: a unit has to state it.
    """

    requirement: str
    step: GraphStep | None
    counterpart: str
    edge: str
    depth: int
    part_of: int
    is_fact: bool
    code: AbstentionCode
    detail: str


@dataclass(frozen=True, slots=True)
class GraphContrast:
    """The differences, the topmost first; `is_cut` where there are more than are listed."""

    differences: tuple[GraphDifference, ...]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class _Turn:
    """An atom that the other goal lacks, with the step it is held against."""

    step: GraphStep | None
    atom: str
    depth: int
    part_of: int


def contrast_atoms(closed: ClosedHypergraph, proved: GoalDecision, other: str) -> GraphContrast:
    """Hold another atom, which does not follow, against the proof of a certified goal."""
    search = _Search(
        closed,
        {step.atom: step for step in proved.steps},
        {edge.id: edge for edge in closed.graph.hyperedges},
        _edges_by_head(closed),
    )
    found: list[GraphDifference] = []
    queue = [_Turn(search.steps[proved.goal], other, 1, -1)]
    seen = {other}
    for turn in queue:
        for difference in search.lacks(turn):
            if len(found) == MOST_DIFFERENCES:
                return GraphContrast(tuple(found), is_cut=True)
            found.append(difference)
            atom = difference.counterpart
            if atom in search.yields and atom not in seen and atom not in closed.contested:
                seen.add(atom)
                below = search.steps.get(difference.requirement)
                queue.append(_Turn(below, atom, turn.depth + 1, len(found) - 1))
    return GraphContrast(tuple(found), is_cut=False)


def _edges_by_head(closed: ClosedHypergraph) -> dict[str, list[Hyperedge]]:
    yields: dict[str, list[Hyperedge]] = {}
    for edge in closed.graph.hyperedges:
        yields.setdefault(edge.head, []).append(edge)
    return yields


@dataclass(frozen=True, slots=True)
class _Search:
    closed: ClosedHypergraph
    steps: dict[str, GraphStep]
    edges: dict[str, Hyperedge]
    yields: dict[str, list[Hyperedge]]

    def lacks(self, turn: _Turn) -> Iterator[GraphDifference]:
        """Give what the most similar edge for an atom lacks, in the order of its tail."""
        others = self.yields.get(turn.atom, ())
        if turn.atom in self.closed.contested or not others:
            held = turn.step if turn.part_of < 0 else None
            yield self._difference(turn, held.atom if held else "", held, turn.atom, "")
            return
        used = self.edges.get(turn.step.edge or "") if turn.step is not None else None
        shape = _shape(used)
        edge = min(
            others, key=lambda edge: (_shape(edge) != shape, len(self._missing(edge)), edge.id)
        )
        alikes = {} if used is None else _counterparts(used, edge)
        for atom in self._missing(edge):
            alike = alikes.get(atom, "")
            step = self.steps.get(alike)
            if atom == witness_atom(edge.id) and used is not None and used.witness:
                alike, step = witness_atom(used.id), turn.step
            yield self._difference(turn, alike, step, atom, edge.id)

    def _missing(self, edge: Hyperedge) -> list[str]:
        """Give what of an edge does not follow without contested atoms, its witness last."""
        closed = self.closed
        missing = [atom for atom in edge.tail if not closed.derives(atom)]
        if edge.witness:
            number = closed.clean.witness_number(edge.id)
            if int(closed.clean_firing.clauses[number]) == UNDERIVED:
                missing.append(witness_atom(edge.id))
        return missing

    def _difference(
        self, turn: _Turn, requirement: str, step: GraphStep | None, atom: str, edge: str
    ) -> GraphDifference:
        contested = self.closed.contested.get(atom)
        by = [edge.id for edge in self.yields.get(atom, ())]
        code = AbstentionCode.GAP_IN_CORPUS
        if contested is not None:
            code = AbstentionCode.CONFLICT
            detail = f"{atom} and {' and '.join(contested)} are both derived"
        elif atom == witness_atom(edge):
            detail = "no unit witnesses this hyperedge"
        elif by:
            detail = f"no unit states {atom}; it would follow by {', '.join(by)}"
        else:
            detail = f"no unit states {atom} and no hyperedge yields it"
        return GraphDifference(
            requirement,
            step,
            atom,
            edge,
            turn.depth,
            turn.part_of,
            is_fact=not by and contested is None,
            code=code,
            detail=detail,
        )


def _counterparts(used: Hyperedge, edge: Hyperedge) -> dict[str, str]:
    """Pair the tail of an edge with atoms of the same form in the tail of another.

    Arguments that stand at the same place of both heads correspond; atoms that share the most such
    places are paired first, the rest in order.
    """
    renamed = dict(zip(_arguments(used.head), _arguments(edge.head), strict=False))

    def agreeing(one: str, other: str) -> int:
        pairs = zip(_arguments(one), _arguments(other), strict=False)
        return sum(renamed.get(left, left) == right for left, right in pairs)

    candidates = sorted(
        (-agreeing(one, other), other, one)
        for one in used.tail
        for other in edge.tail
        if _form(one) == _form(other) and one not in edge.tail and other not in used.tail
    )
    found: dict[str, str] = {}
    taken: set[str] = set()
    for _, other, one in candidates:
        if other not in found and one not in taken:
            found[other] = one
            taken.add(one)
    return found


def _arguments(atom: str) -> list[str]:
    return atom.partition("(")[2].rpartition(")")[0].split(", ")


def _form(atom: str) -> str:
    return atom.partition("(")[0]


def _shape(edge: Hyperedge | None) -> list[str]:
    return [] if edge is None else sorted(map(_form, edge.tail))
