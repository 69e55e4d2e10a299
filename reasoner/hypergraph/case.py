"""A hypergraph file as policy, facts and sources, and its goals with ordinary certificates."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kb.statement import Evidence, Statement, Text

from ..atom import Atom
from ..clause import Policy, Positive
from ..decide import Decision, Request, decide, prove
from ..evaluate import UNLIMITED, Budget
from ..facts import Fact, FactBase, facts_of
from ..retraction import Retraction
from ..slice import AtomPremise, Instance
from ..source_text import normalize
from ..sources import Candidates, SourceRecord, StatementRecord
from ..steps import Proof
from ..verdict import Verdict
from ..verify import Texts
from .decision import ClosedHypergraph, GoalDecision, GraphStep, check_goals, close_hypergraph
from .graph import Hypergraph, Unit
from .reading import read_hypergraph
from .rules import Rules, holds, one_line, rules_of
from .slicing import GroundSlices
from .spans import unit_spans
from .supposition import assumed_atom, suppose

WHOLE_CONE_UP_TO = 1_000
"""Edges up to which the policy holds all that could matter; beyond, only what a proof uses."""


@dataclass(frozen=True, slots=True)
class HypergraphSources:
    """The file itself: each unit is a statement whose quote is the unit as written."""

    records: dict[str, StatementRecord]
    sources: dict[str, SourceRecord]
    texts: Texts
    fact_sources: tuple[str, ...] = ()
    functional: frozenset[str] = frozenset()
    disjoint: frozenset[tuple[str, str]] = frozenset()

    def statement(self, statement_id: str) -> StatementRecord:
        """Give a unit with the place where it stands."""
        return self.records[statement_id]

    def source(self, source_sha256: str) -> SourceRecord:
        """Give the file."""
        return self.sources[source_sha256]

    def named(self, label: str) -> tuple[str, ...]:  # noqa: ARG002  # protocol
        """A hypergraph declares nothing closed."""
        return ()

    def lacks(self, label: str) -> bool:  # noqa: ARG002  # protocol
        """A hypergraph declares nothing closed."""
        return False

    def is_missing(self, label: str) -> bool:  # noqa: ARG002  # protocol
        """A hypergraph declares nothing closed."""
        return False

    def candidates(self, query: str, entity: str) -> Candidates:  # noqa: ARG002  # protocol
        """A hypergraph holds no passages to search."""
        return Candidates()

    def refused(self, dimension: str, entity: str) -> tuple[str, ...]:  # noqa: ARG002  # protocol
        """A hypergraph is taken as a whole or not at all."""
        return ()


@dataclass(frozen=True, slots=True)
class HypergraphCase:
    """One goal of a hypergraph with everything a certificate needs.

    `closed` is the hypergraph with what the request supposes, `decision` what it says of the goal;
    `proof` derives the goal, or what refutes it, under the policy.
    """

    goal: Atom
    understood_as: str
    policy: Policy
    facts: FactBase
    sources: HypergraphSources
    closed: ClosedHypergraph
    decision: GoalDecision
    proof: Proof | None
    assumptions: tuple[Atom, ...] = ()
    retractions: tuple[Retraction, ...] = ()


def hypergraph_case(
    data: bytes,
    goal: str,
    *,
    name: str,
    assumed: Sequence[str] = (),
    left_out: Sequence[str] = (),
    engine: str = "auto",
    expired: Callable[[], bool] = lambda: False,
) -> HypergraphCase:
    """Read a hypergraph file and make a case of one goal, an atom id of it.

    Atoms `assumed` hold besides, units `left_out` do not count. The policy holds the rules that can
    matter for the goal, or those of its proof alone where there are many or some yield what is
    contested; `expired` is that of `decide_hypergraph`. Raises HypergraphRejected with
    every problem, GoalRejected for a goal that is no atom and for what cannot be supposed, and the
    errors of engines.
    """
    graph = read_hypergraph(data, name=name)
    check_goals(graph, [goal])
    supposed = suppose(graph, assumed=assumed, left_out=left_out)
    closed = close_hypergraph(supposed, engine=engine, expired=expired)
    decision = closed.decide(goal)
    atoms, edges = _cone(graph, goal)
    proved = decision.verdict is not Verdict.ABSTAINED
    if proved and (len(edges) > WHOLE_CONE_UP_TO or not atoms.isdisjoint(closed.contested)):
        atoms = {goal, *(step.atom for step in decision.steps)}
        edges = {step.edge for step in decision.steps if step.edge is not None}
    units = [
        unit
        for unit in graph.units
        if not (atoms.isdisjoint(unit.states) and edges.isdisjoint(unit.witnesses))
    ]
    rules = rules_of(graph, atoms=atoms, edges=edges, units=units)
    without = {unit.id for unit in graph.units}.intersection(left_out)
    cited = {unit.id for unit in units}
    units += [unit for unit in graph.units if unit.id in without - cited]
    facts, sources = _statements(data, units, name=name)
    words = {atom.id: atom.text for atom in graph.atoms}[goal]
    return HypergraphCase(
        holds(goal),
        words or goal,
        rules.policy(),
        facts,
        sources,
        closed,
        decision,
        _proof(decision, rules, facts) if proved else None,
        assumptions=tuple(map(holds, sorted(set(assumed)))),
        retractions=tuple(
            Retraction(fact.leaf, fact.atom)
            for fact in _units(facts)
            if fact.atom.arguments[0] in without
        ),
    )


def certify_case(
    case: HypergraphCase,
    *,
    valid_on: datetime.date | None = None,
    engine: str = "auto",
    budget: Budget = UNLIMITED,
) -> Decision:
    """Write the checked certificate of a case: its proof, or what is missing and why.

    The goal of the certificate is `holds("ATOM")`; its quotes are the units as the file has them.
    Raises as `decide` does.
    """
    request = Request(
        case.goal,
        valid_on,
        assumptions=case.assumptions,
        understood_as=case.understood_as,
        retractions=case.retractions,
    )
    if case.proof is not None:
        return prove(request, case.proof, policy=case.policy, sources=case.sources)
    return decide(
        request,
        policy=case.policy,
        facts=case.facts,
        sources=case.sources,
        engine=engine,
        budget=budget,
        known=[("holds", 1), ("unit", 2), ("witnessed", 1)],
        slicer=lambda facts: GroundSlices(case.policy, facts).slice,
    )


def _cone(graph: Hypergraph, goal: str) -> tuple[set[str], set[str]]:
    """Give the atoms and edges that derivations of the goal, or of what contradicts it, can use.

    What contradicts an atom of the cone belongs to it as well.
    """
    yields: dict[str, list[str]] = {}
    tails = {edge.id: edge.tail for edge in graph.hyperedges}
    for edge in graph.hyperedges:
        yields.setdefault(edge.head, []).append(edge.id)
    opponents = graph.opponents()
    atoms: set[str] = {goal}
    edges: set[str] = set()
    queue = [goal]
    for atom in queue:
        reached = [*opponents.get(atom, ())]
        for edge_id in yields.get(atom, ()):
            edges.add(edge_id)
            reached.extend(tails[edge_id])
        for other in reached:
            if other not in atoms:
                atoms.add(other)
                queue.append(other)
    return atoms, edges


def _proof(decision: GoalDecision, rules: Rules, facts: FactBase) -> Proof:
    """Write the steps of a decision as a derivation under the policy."""
    stated = {str(fact.atom.arguments[0]): fact for fact in _units(facts)}
    steps: list[tuple[Atom, Instance | Fact]] = []
    for step in decision.steps:
        if assumed_atom(step.unit) is not None and step.edge is None:
            steps.append((holds(step.atom), Fact(holds(step.atom), "assumed")))
            continue
        for key in _keys(step):
            if key[0] in ("states", "witnesses"):
                fact = stated[key[1]]
                steps.append((fact.atom, fact))
                steps.append(_instance(rules, key, fact.atom))
            else:
                steps.append(_instance(rules, key))
    last = holds(decision.proved or "")
    if decision.verdict is Verdict.REFUTED and last != holds(decision.goal).complement:
        steps.append(_instance(rules, ("denies", decision.goal, decision.proved or "")))
        last = holds(decision.goal).complement
    return Proof(last, tuple(steps))


def _units(facts: FactBase) -> Iterator[Fact]:
    return (fact for fact in facts.facts() if fact.atom.signature == ("unit", 2))


def _keys(step: GraphStep) -> Iterable[tuple[str, ...]]:
    """Give the rules that a step applies, in order."""
    if step.edge is None:
        yield ("given", step.atom) if step.unit is None else ("states", step.unit, step.atom)
        return
    if step.unit is not None:
        yield ("witnesses", step.unit, step.edge)
    yield ("edge", step.edge)


def _instance(
    rules: Rules, key: tuple[str, ...], unit: Atom | None = None
) -> tuple[Atom, Instance | Fact]:
    clause = rules.clauses[key]
    if unit is not None:
        text = unit.arguments[1]
        assert isinstance(text, str)
        return clause.head, Instance(clause.id, (("T", text),), clause.head, (AtomPremise(unit),))
    premises = [
        AtomPremise(literal.atom) for literal in clause.body if isinstance(literal, Positive)
    ]
    return clause.head, Instance(clause.id, (), clause.head, tuple(premises))


def _statements(
    data: bytes, units: Iterable[Unit], *, name: str
) -> tuple[FactBase, HypergraphSources]:
    text = normalize(data.decode("utf-8-sig"))
    source, digest = hashlib.sha256(data).hexdigest(), hashlib.sha256(text.encode()).hexdigest()
    spans = unit_spans(text)
    records: dict[str, StatementRecord] = {}
    facts: list[Fact] = []
    for unit in units:
        start, end = spans[unit.id]
        says = one_line(unit.text) or one_line(unit.source) or unit.id
        statement = Statement(unit.id, "unit", Text(says))
        evidence = Evidence(
            statement.id, source, digest, start, end, text[start:end], "hypergraph/1"
        )
        records[statement.id] = StatementRecord(None, statement, (evidence,))
        facts.extend(facts_of(statement.id, statement, [evidence]))
    record = SourceRecord("application/json", name, "text/1", digest)
    return FactBase(facts), HypergraphSources(records, {source: record}, Texts({digest: text}))
