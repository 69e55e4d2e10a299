"""Certificates of long proofs, written without the engine: a chain, and a bushy graph."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from reasoner.certificate import canonical_bytes
from reasoner.checker.format import FORMAT
from reasoner.checker.policy import read_policy

WIDTH = 100
"""Nodes of a level of the bushy graph."""


class _Proof:
    """Steps, statements and the facts they quote, in the order in which they are added."""

    def __init__(self, rules: str) -> None:
        self.rules = rules
        self.facts: list[str] = []
        self.steps: list[dict[str, Any]] = []
        self.statements: dict[str, Any] = {}
        self.length = 0

    def add(self, **step: Any) -> str:
        """Add a step; gives its id."""
        name = f"s{len(self.steps) + 1}"
        self.steps.append({"id": name, **step})
        return name

    def state(self, atom: str) -> str:
        """Add a fact with the step that it is stated; gives the id of the step."""
        name = f"st:{hashlib.sha256(atom.encode()).hexdigest()[:32]}"
        end = self.length + len(atom) + 1
        place = {"start": self.length, "end": end, "quote": f"{atom}."}
        self.statements[name] = {"atom": atom, "evidence": [place]}
        self.facts.append(f"{atom}.\n")
        self.length = end + 1
        return self.add(kind="stated", conclusion=atom, premises=[], statement=name)

    def write(self, goal: str) -> tuple[bytes, str]:
        """Give the certificate, whose last step proves the goal, and the facts file."""
        facts = "".join(self.facts)
        source = hashlib.sha256(facts.encode()).hexdigest()
        origin = {"source_sha256": source, "text_sha256": source, "extractor": "facts/1"}
        for statement in self.statements.values():
            statement["evidence"][0].update(origin)
        names = "\n".join(sorted(self.statements))
        digest = hashlib.sha256(self.rules.encode()).hexdigest()
        policy = {"id": "long", "version": "0", "digest": digest, "effective": "../.."}
        record = {"media_type": "text/plain", "title": "facts", "decoder": "facts/1"}
        certificate: dict[str, Any] = {
            "format": FORMAT,
            "verdict": "CERTIFIED",
            **dict.fromkeys(("code", "question", "understood_as", "valid_on")),
            "goal": goal,
            "knowledge": hashlib.sha256(names.encode()).hexdigest(),
            "complete": True,
            "answers": [{"atom": goal, "step": self.steps[-1]["id"]}],
            **{name: [] for name in ("refuted", "open", "assumptions")},
            "policies": [{**policy, "text": self.rules}],
            "rules": {
                name: {"clause": rule.tree, "text": rule.text, "cite": "", "says": ""}
                for name, rule in read_policy(self.rules).rules.items()
            },
            "sources": {source: {**record, "text_sha256": source}},
            "statements": self.statements,
            "steps": self.steps,
            "witness": {"demands": [], "lookups": [], "contested": []},
            "validity": {"start": None, "end": None, "next_change": None},
        }
        return canonical_bytes(certificate), facts


def chain(steps: int) -> tuple[bytes, str]:
    """Prove that the end of a path is reached: half of the steps are leaves."""
    rules = "reaches(X, Y) :- edge(X, Y).\nreaches(X, Z) :- reaches(X, Y), edge(Y, Z).\n"
    proof, last = _Proof(f"%! policy: long\n\n{rules}"), ""
    for n in range(steps // 2):
        leaf = proof.state(f"edge({n}, {n + 1})")
        bindings = {"X": "0", "Y": str(n), "Z": str(n + 1)} if n else {"X": "0", "Y": "1"}
        last = proof.add(
            kind="rule",
            conclusion=f"reaches(0, {n + 1})",
            premises=[last, leaf] if n else [leaf],
            rule="reaches.2" if n else "reaches.1",
            bindings=bindings,
        )
    return proof.write(f"reaches(0, {steps // 2})")


def bushy(steps: int) -> tuple[bytes, str]:
    """Prove the root of a graph whose every node follows from two neighbours one level below."""
    rules = "holds(N) :- base(N).\nholds(N) :- link(N, A, B), holds(A), holds(B).\n"
    proof, proved = _Proof(f"%! policy: long\n\n{rules}"), dict[int, str]()
    nodes, level = {0: 0}, [0]
    number = 0
    while level and len(nodes) < steps // 2:  # the nodes that the root needs, level by level
        below = sorted({other for node in level for other in _below(node)})
        number += 1
        level = below[: max(0, steps // 2 - len(nodes))]
        nodes.update(dict.fromkeys(level, number))
    for node in sorted(nodes, reverse=True):
        parts = _below(node)
        if all(part in nodes for part in parts):
            leaf = proof.state(f"link({node}, {parts[0]}, {parts[1]})")
            premises = [leaf, *(proved[part] for part in parts)]
            bindings = {"N": str(node), "A": str(parts[0]), "B": str(parts[1])}
        else:
            premises, bindings = [proof.state(f"base({node})")], {"N": str(node)}
        proved[node] = proof.add(
            kind="rule",
            conclusion=f"holds({node})",
            premises=premises,
            rule="holds.2" if len(premises) > 1 else "holds.1",
            bindings=bindings,
        )
    used = {premise for step in proof.steps for premise in step["premises"]}
    assert all(step["id"] in used for step in proof.steps[:-1]), "each step is needed"
    return proof.write("holds(0)")


def _below(node: int) -> tuple[int, int]:
    """Give the two nodes under a node; nodes are numbered level by level."""
    level, place = divmod(node, WIDTH)
    return (level + 1) * WIDTH + place, (level + 1) * WIDTH + (place + 1) % WIDTH


KINDS: dict[str, Callable[[int], tuple[bytes, str]]] = {"chain": chain, "bushy": bushy}
