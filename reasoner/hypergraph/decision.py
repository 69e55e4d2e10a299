"""Decide the goals of a requirement hypergraph: a minimal certificate, or what is missing."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ..abduction import Optimality, abduce
from ..derivation import certify
from ..engines import close
from ..engines.linear import GIVEN, UNDERIVED, Firing
from ..errors import GoalRejected
from ..expiry import Expired, never
from ..verdict import AbstentionCode, OpenRequirement, Verdict, first_code
from .graph import Hypergraph
from .horn import CompiledHypergraph, compile_hypergraph
from .requirements import open_requirement, open_requirements


@dataclass(frozen=True, slots=True)
class GraphStep:
    """One step of a certificate: an atom that is given, stated by `unit`, or yielded by `edge`.

    `premises` are the tail of the edge; an edge that needs a witness names it in `unit`.
    """

    atom: str
    edge: str | None = None
    premises: tuple[str, ...] = ()
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """An edge whose tail holds while its head is contradicted by the atom `by`.

    Source: Certify (arXiv 2610.34684), section 4.
    """

    edge: str
    head: str
    by: str


@dataclass(frozen=True, slots=True)
class GoalDecision:
    """What a hypergraph says of one goal.

    Certified and refuted goals have an inclusion-minimal set of `units` and `steps` in dependency
    order; refuted ones prove `proved`, which contradicts the goal. Abstained goals have a code,
    open requirements and, where adding atoms can help, `cheapest`: fewest missing atoms (or
    `witnessed(..)`) that would close the goal, with `optimality`. Abstaining with CONFLICT,
    `violations` are those in the contested derivation; certificates hold none.
    """

    goal: str
    verdict: Verdict
    code: AbstentionCode | None = None
    proved: str | None = None
    units: tuple[str, ...] = ()
    steps: tuple[GraphStep, ...] = ()
    open: tuple[OpenRequirement, ...] = ()
    cheapest: tuple[str, ...] = ()
    optimality: Optimality | None = None
    violations: tuple[Violation, ...] = ()


def decide_hypergraph(
    graph: Hypergraph,
    *,
    goals: Sequence[str] | None = None,
    context: Collection[str] | None = None,
    engine: str = "auto",
    expired: Expired = never,
) -> tuple[GoalDecision, ...]:
    """Decide each goal (default: those of the file), in the given order.

    `context` restricts the units to those ids. Certificates avoid atoms that hold together with
    what contradicts them; a goal that needs one abstains with CONFLICT. Once `expired`
    is true, the search for the cheapest missing atoms ends with the best found.

    Raises GoalRejected for a goal that is no atom or no goal at all, EngineTimedOut where `expired`
    turns true before a certificate is minimal, and the errors of `close`.
    """
    wanted = list(graph.goals if goals is None else goals)
    if not wanted:
        raise GoalRejected("the hypergraph names no goal; expected one in its goals or as argument")
    check_goals(graph, wanted)
    if context is not None:
        graph = _restrict(graph, context)
    closed = close_hypergraph(graph, engine=engine, expired=expired)
    return tuple(closed.decide(goal) for goal in wanted)


def close_hypergraph(
    graph: Hypergraph, *, engine: str = "auto", expired: Expired = never
) -> ClosedHypergraph:
    """Close a hypergraph for decisions on any of its atoms; `expired` as in `decide_hypergraph`.

    Raises the errors of `close`.
    """
    whole = compile_hypergraph(graph)
    firing = close(whole.program, engine=engine)
    contested = _contested(graph.opponents(), whole, firing)
    if contested:
        clean = compile_hypergraph(graph, without=frozenset(contested))
        clean_firing = close(clean.program, engine=engine)
    else:
        clean, clean_firing = whole, firing
    return ClosedHypergraph(
        graph, whole, firing, clean, clean_firing, graph.opponents(), contested, expired
    )


def violations(graph: Hypergraph, *, engine: str = "auto") -> tuple[Violation, ...]:
    """List the violations among all edges whose tail holds and which are witnessed, by edge id."""
    compiled = compile_hypergraph(graph)
    firing = close(compiled.program, engine=engine)
    contested = _contested(graph.opponents(), compiled, firing)
    derived = firing.derived
    return tuple(
        Violation(edge.id, edge.head, other)
        for clause, edge in enumerate(compiled.edges)
        if edge.head in contested and derived[compiled.program.tail(clause)].all()
        for other in contested[edge.head]
    )


@dataclass(frozen=True, slots=True)
class ClosedHypergraph:
    """A hypergraph closed twice: as a whole, and without its contested atoms.

    `contested` gives each atom that follows together with what contradicts it, and what that is.
    """

    graph: Hypergraph
    whole: CompiledHypergraph
    firing: Firing
    clean: CompiledHypergraph
    clean_firing: Firing
    opponents: dict[str, tuple[str, ...]]
    contested: dict[str, tuple[str, ...]]
    expired: Expired

    def decide(self, goal: str) -> GoalDecision:
        """Decide one goal."""
        if self.derives(goal):
            units, steps = _certificate(self.clean, self.clean_firing, goal, self.expired)
            return GoalDecision(
                goal,
                Verdict.CERTIFIED,
                proved=goal,
                units=units,
                steps=steps,
            )
        if self.firing.clauses[self.whole.number(goal)] != UNDERIVED:
            return self._conflict(goal)
        for other in self.opponents.get(goal, ()):
            if self.derives(other):
                units, steps = _certificate(self.clean, self.clean_firing, other, self.expired)
                return GoalDecision(
                    goal,
                    Verdict.REFUTED,
                    proved=other,
                    units=units,
                    steps=steps,
                )
        return self._abstain(goal)

    def derives(self, goal: str) -> bool:
        """Whether an atom follows without any contested one; what is not listed does not."""
        if not self.clean.lists(goal):
            return False
        return int(self.clean_firing.clauses[self.clean.number(goal)]) != UNDERIVED

    def _conflict(self, goal: str) -> GoalDecision:
        """Abstain: the goal follows only through contested atoms; name them with both sides."""
        units, steps = _certificate(self.whole, self.firing, goal, self.expired)
        found = []
        seen = []
        for step in steps:
            for other in self.contested.get(step.atom, ()):
                if step.edge is not None:
                    seen.append(Violation(step.edge, step.atom, other))
                other_units, _ = _certificate(self.whole, self.firing, other, self.expired)
                ours, _ = _certificate(self.whole, self.firing, step.atom, self.expired)
                found.append(
                    open_requirement(
                        step.atom,
                        AbstentionCode.CONFLICT,
                        rule=step.edge or "",
                        detail=f"{step.atom} and {other} are both derived",
                        conflicting=tuple(sorted({*ours, *other_units})),
                    )
                )
        return GoalDecision(
            goal,
            Verdict.ABSTAINED,
            code=AbstentionCode.CONFLICT,
            units=units,
            open=tuple(found),
            violations=tuple(seen),
        )

    def _abstain(self, goal: str) -> GoalDecision:
        found = open_requirements(self.graph, self.whole, self.firing, goal)
        number = self.whole.number(goal)
        missing = abduce(self.whole.program, number, missing_costs(self), expired=self.expired)
        sets = missing.sets
        return GoalDecision(
            goal,
            Verdict.ABSTAINED,
            code=first_code(tuple(requirement.code for requirement in found)),
            open=found,
            cheapest=tuple(map(self.whole.name, sets[0].atoms)) if sets else (),
            optimality=missing.optimality,
        )


def missing_costs(closed: ClosedHypergraph) -> dict[int, int]:
    """Give each missing atom that no edge yields, and each missing witness, the cost one."""
    heads = {edge.head for edge in closed.graph.hyperedges}
    clauses = closed.firing.clauses.tolist()
    atoms = closed.whole.atoms
    return {
        number: 1
        for number in range(closed.whole.unit_numbers.start)
        if clauses[number] == UNDERIVED and (number >= len(atoms) or atoms[number] not in heads)
    }


def check_goals(graph: Hypergraph, goals: Iterable[str], *, name: str = "the hypergraph") -> None:
    """Raise GoalRejected for a goal that is no atom of the hypergraph, with the nearest one."""
    ids = {atom.id for atom in graph.atoms}
    for goal in goals:
        if goal not in ids:
            raise GoalRejected(f"goal {goal!r} is no atom of {name}{near_name(goal, ids)}")


def _restrict(graph: Hypergraph, context: Collection[str]) -> Hypergraph:
    units = {unit.id for unit in graph.units}
    for name in sorted(context):
        if name not in units:
            raise GoalRejected(
                f"context names {name!r}, no unit of the hypergraph{near_name(name, units)}"
            )
    kept = tuple(unit for unit in graph.units if unit.id in set(context))
    return Hypergraph(
        graph.atoms, graph.hyperedges, kept, graph.given, graph.goals, graph.contradictions
    )


def near_name(name: str, names: Collection[str]) -> str:
    """Give `; did you mean 'x'?` where a name is close to one of some."""
    near = difflib.get_close_matches(name, sorted(names), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _contested(
    opponents: dict[str, tuple[str, ...]], compiled: CompiledHypergraph, firing: Firing
) -> dict[str, tuple[str, ...]]:
    """Give the derived atoms that something derived contradicts, with what does."""
    found = {}
    for atom, others in opponents.items():
        if firing.clauses[compiled.number(atom)] == UNDERIVED:
            continue
        derived = [o for o in others if firing.clauses[compiled.number(o)] != UNDERIVED]
        if derived:
            found[atom] = tuple(derived)
    return found


def _certificate(
    compiled: CompiledHypergraph, firing: Firing, goal: str, expired: Expired
) -> tuple[tuple[str, ...], tuple[GraphStep, ...]]:
    """Give the minimal units and the steps of a derived goal."""
    program, number = compiled.program, compiled.number(goal)
    found = certify(program, number, compiled.unit_numbers, firing=firing, expired=expired)
    assert found is not None
    units = tuple(compiled.name(atom) for atom in found.support if atom in compiled.unit_numbers)
    witness: dict[int, str] = {}
    steps = []
    for step in found.steps:
        if step.clause == GIVEN:
            if step.atom < len(compiled.atoms):
                steps.append(GraphStep(compiled.name(step.atom)))
        elif step.clause < len(compiled.edges):
            edge = compiled.edges[step.clause]
            unit = None
            if edge.witness:
                unit = witness[program.tail(step.clause)[-1]]
            steps.append(GraphStep(edge.head, edge.id, edge.tail, unit))
        else:
            (unit_number,) = program.tail(step.clause)
            if step.atom < len(compiled.atoms):
                steps.append(GraphStep(compiled.name(step.atom), unit=compiled.name(unit_number)))
            else:
                witness[step.atom] = compiled.name(unit_number)
    return units, tuple(steps)
