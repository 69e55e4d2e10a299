"""A hypergraph file as policy, facts and sources, so that its goals get ordinary certificates.

Edges become rules over `holds("ATOM")`, units become statements `unit("ID", "TEXT")` that quote the
file, and what a unit states or witnesses becomes a rule of its own, so that a minimal certificate
is minimal in units. `-p` becomes `-holds("p")`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kb.statement import Evidence, Statement, Text

from ..atom import Atom
from ..clause import Policy
from ..facts import Fact, FactBase, facts_of
from ..metadata import is_rule_name
from ..policy import parse_policy
from ..source_text import normalize
from ..sources import Candidates, SourceRecord, StatementRecord
from ..verdict import Verdict
from ..verify import Texts
from .decision import GoalDecision, decide_hypergraph
from .graph import Hypergraph, Unit
from .reading import read_hypergraph
from .spans import unit_spans

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

    def candidates(self, query: str, entity: str) -> Candidates:  # noqa: ARG002  # protocol
        """A hypergraph holds no passages to search."""
        return Candidates()


@dataclass(frozen=True, slots=True)
class HypergraphCase:
    """Everything `decide` needs for one goal of a hypergraph.

    `decision` is what the hypergraph itself says of the goal, which `decide` proves again.
    """

    goal: Atom
    understood_as: str
    policy: Policy
    facts: FactBase
    sources: HypergraphSources
    decision: GoalDecision


def hypergraph_case(data: bytes, goal: str, *, name: str, engine: str = "auto") -> HypergraphCase:
    """Read a hypergraph file and make a case of one goal, an atom id of it.

    The policy holds the rules that can matter for the goal. Raises HypergraphRejected with every
    problem, GoalRejected for a goal that is no atom, and the errors of engines.
    """
    graph = read_hypergraph(data, name=name)
    (decision,) = decide_hypergraph(graph, goals=[goal], engine=engine, expired=lambda: True)
    atoms, edges = _cone(graph, goal)
    if len(edges) > WHOLE_CONE_UP_TO and decision.verdict is not Verdict.ABSTAINED:
        atoms = {goal, *(step.atom for step in decision.steps)}
        edges = {step.edge for step in decision.steps if step.edge is not None}
    units = [
        u
        for u in graph.units
        if not atoms.isdisjoint(u.states) or not edges.isdisjoint(u.witnesses)
    ]
    text = "\n".join(_rules(graph, atoms, edges, units))
    facts, sources = _statements(data, units, name=name)
    words = {atom.id: atom.text for atom in graph.atoms}[goal]
    return HypergraphCase(
        holds(goal), words or goal, parse_policy(text, name=name), facts, sources, decision
    )


def holds(atom: str) -> Atom:
    """Give the atom of the policy that stands for an atom of the hypergraph.

    >>> str(holds("-rain"))
    '-holds("rain")'
    """
    return Atom("holds", (atom.removeprefix("-"),), negated=atom.startswith("-"))


def _cone(graph: Hypergraph, goal: str) -> tuple[set[str], set[str]]:
    """Give the atoms and edges that derivations of the goal, or of what contradicts it, can use.

    What contradicts an atom of the cone belongs to it as well.
    """
    yields: dict[str, list[str]] = {}
    tails = {edge.id: edge.tail for edge in graph.hyperedges}
    for edge in graph.hyperedges:
        yields.setdefault(edge.head, []).append(edge.id)
    opponents = graph.opponents()
    atoms, edges = {goal}, set()
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


def _rules(
    graph: Hypergraph, atoms: Collection[str], edges: Collection[str], units: Iterable[Unit]
) -> Iterable[str]:
    yield "%! policy: hypergraph"
    yield f'%! version: "{hashlib.sha256(repr(graph).encode()).hexdigest()[:16]}"'
    for index, edge in enumerate(graph.hyperedges):
        if edge.id in edges:
            body = [str(holds(atom)) for atom in edge.tail]
            if edge.witness:
                body.append(str(Atom("witnessed", (edge.id,))))
            cite = edge.cite or f"hyperedge {edge.id}"
            yield from _rule(_name("edge", edge.id, index), holds(edge.head), body, cite, edge.text)
    for index, atom in enumerate(graph.given):
        if atom in atoms:
            name = _name("given", atom, index)
            yield from _rule(name, holds(atom), [], "given", f"{atom} is given")
    for index, unit in enumerate(units):
        stem = _name("unit", unit.id, index)
        body = [f"unit({json.dumps(unit.id, ensure_ascii=False)}, T)"]
        cite = f"unit {unit.id}"
        for place, atom in enumerate(unit.states):
            if atom in atoms:
                name = f"{stem}.states.{place}"
                yield from _rule(name, holds(atom), body, cite, f"unit {unit.id} states {atom}")
        for place, edge_id in enumerate(unit.witnesses):
            if edge_id in edges:
                head = Atom("witnessed", (edge_id,))
                says = f"unit {unit.id} witnesses hyperedge {edge_id}"
                yield from _rule(f"{stem}.witnesses.{place}", head, body, cite, says)
    for index, (one, other) in enumerate(graph.contradictions):
        if one in atoms and other in atoms:
            says = f"{one} and {other} exclude each other"
            for way, (held, denied) in enumerate(((one, other), (other, one))):
                head = holds(denied).complement
                name = f"contradiction-{index}.{way}"
                yield from _rule(name, head, [str(holds(held))], "contradiction", says)


def _rule(name: str, head: Atom, body: list[str], cite: str, says: str) -> Iterable[str]:
    yield ""
    yield f"%! rule: {name}"
    yield f"%! cite: {_quoted(cite)}"
    if says and "{" not in says and "}" not in says:
        yield f"%! says: {_quoted(says)}"
    yield f"{head} :- {', '.join(body)}." if body else f"{head}."


def _name(kind: str, name: str, index: int) -> str:
    """Name a rule after an id, or by its place where the id cannot be part of a name."""
    return f"{kind}.{name}" if is_rule_name(name) else f"{kind}-{index}"


def _quoted(text: str) -> str:
    """Write text on one line of YAML, whatever it holds."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


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
        says = " ".join((unit.text or unit.source or unit.id).split())
        statement = Statement(unit.id, "unit", Text(says))
        evidence = Evidence(
            statement.id, source, digest, start, end, text[start:end], "hypergraph/1"
        )
        records[statement.id] = StatementRecord(None, statement, (evidence,))
        facts.extend(facts_of(statement.id, statement, [evidence]))
    record = SourceRecord("application/json", name, "text/1", digest)
    return FactBase(facts), HypergraphSources(records, {source: record}, Texts({digest: text}))
