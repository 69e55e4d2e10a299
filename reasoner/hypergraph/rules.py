"""A hypergraph as the clauses and the text of a policy.

Edges become rules over `holds("ATOM")`; `-p` becomes `-holds("p")`. What a unit states or witnesses
becomes a rule of its own from `unit("ID", T)`, so that a minimal certificate is minimal in units.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from ..atom import Atom, Variable
from ..clause import Clause, Policy, Positive
from ..metadata import is_rule_name
from .graph import Hypergraph, Unit

_TEXT = Variable("T")


def holds(atom: str) -> Atom:
    """Give the atom of the policy that stands for an atom of the hypergraph.

    >>> str(holds("-rain"))
    '-holds("rain")'
    """
    return Atom("holds", (atom.removeprefix("-"),), negated=atom.startswith("-"))


def witnessed(edge: str) -> Atom:
    """Give the atom of the policy that says an edge is witnessed."""
    return Atom("witnessed", (edge,))


@dataclass(frozen=True, slots=True)
class Rules:
    """Clauses by what they are for: `("edge", ID)`, `("given", ATOM)`, `("states", UNIT, ATOM)`,
    `("witnesses", UNIT, EDGE)` and `("denies", ATOM, OTHER)`."""

    clauses: dict[tuple[str, ...], Clause]

    def policy(self) -> Policy:
        """Write them as a policy that reads back equal, line numbers apart."""
        lines = ["%! policy: hypergraph"]
        for clause in self.clauses.values():
            lines += ["", f"%! rule: {clause.id}", f"%! cite: {_quoted(clause.cite)}"]
            if clause.says:
                lines.append(f"%! says: {_quoted(clause.says)}")
            lines.append(clause.text)
        text = "\n".join([*lines, ""])
        digest = hashlib.sha256(text.encode()).hexdigest()
        clauses = tuple(self.clauses.values())
        return Policy("hypergraph", "0", (None, None), clauses, text=text, digest=digest)


def rules_of(
    graph: Hypergraph, *, atoms: Collection[str], edges: Collection[str], units: Iterable[Unit]
) -> Rules:
    """Give the clauses for some atoms and edges of a hypergraph, and what units say of them."""
    found: dict[tuple[str, ...], Clause] = {}
    for index, edge in enumerate(graph.hyperedges):
        if edge.id in edges:
            body = [holds(atom) for atom in edge.tail]
            body += [witnessed(edge.id)] if edge.witness else []
            cite = edge.cite or f"hyperedge {edge.id}"
            name = _name("edge", edge.id, index)
            found["edge", edge.id] = _clause(name, holds(edge.head), body, cite, edge.text)
    for index, atom in enumerate(graph.given):
        if atom in atoms:
            name = _name("given", atom, index)
            found["given", atom] = _clause(name, holds(atom), [], "given", f"{atom} is given")
    for index, unit in enumerate(units):
        for key, name, head, says in _of_unit(unit, _name("unit", unit.id, index), atoms, edges):
            body = [Atom("unit", (unit.id, _TEXT))]
            found[key] = _clause(name, head, body, f"unit {unit.id}", says)
    for index, pair in enumerate(graph.contradictions):
        if pair[0] in atoms and pair[1] in atoms:
            says = f"{pair[0]} and {pair[1]} exclude each other"
            for way, (denied, held) in enumerate((pair, pair[::-1])):
                head, name = holds(denied).complement, f"contradiction-{index}.{way}"
                key = ("denies", denied, held)
                found[key] = _clause(name, head, [holds(held)], "contradiction", says)
    return Rules(found)


def _of_unit(
    unit: Unit, stem: str, atoms: Collection[str], edges: Collection[str]
) -> Iterator[tuple[tuple[str, ...], str, Atom, str]]:
    for place, atom in enumerate(unit.states):
        if atom in atoms:
            says = f"unit {unit.id} states {atom}"
            yield ("states", unit.id, atom), f"{stem}.states.{place}", holds(atom), says
    for place, edge in enumerate(unit.witnesses):
        if edge in edges:
            says = f"unit {unit.id} witnesses hyperedge {edge}"
            yield ("witnesses", unit.id, edge), f"{stem}.witnesses.{place}", witnessed(edge), says


def _clause(name: str, head: Atom, body: list[Atom], cite: str, says: str) -> Clause:
    text = f"{head} :- {', '.join(map(str, body))}." if body else f"{head}."
    plain = "" if "{" in says or "}" in says else one_line(says)
    return Clause(name, head, tuple(map(Positive, body)), text, one_line(cite), plain)


def _name(kind: str, name: str, index: int) -> str:
    """Name a rule after an id, or by its place where the id cannot be part of a name."""
    return f"{kind}.{name}" if is_rule_name(name) else f"{kind}-{index}"


def one_line(text: str) -> str:
    """Write text on one line that comments can hold: blanks for controls and line ends."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
