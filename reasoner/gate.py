"""Gates: `applies_under(p/n, dimension, "Class").` lets rules apply only under a class.

A gate is compiled into the body of each rule of the policy whose head is p/n: the first argument
has, in the dimension, a value under the class. So it is a premise like any other, in the proof, in
what an abstention lists as open, and for the checker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from .atom import Atom, Variable
from .clause import Clause, Literal, Positive, render_literal

_CAPITALISED = re.compile(r"\b[A-Z]\w*")


@dataclass(frozen=True, slots=True)
class Gate:
    """`predicate` (`-p` for denials) of `arity` applies under `label` in `dimension`.

    `start` is where the declaration stands in the text.
    """

    predicate: str
    arity: int
    dimension: str
    label: str
    start: int

    @property
    def signature(self) -> tuple[str, int]:
        """The signature of the heads it is for."""
        return self.predicate, self.arity


def gate_clause(clause: Clause, gates: Iterable[Gate]) -> Clause:
    """Add the conditions of the gates for a clause's head to its body, in order."""
    names = set(_CAPITALISED.findall(clause.text))
    added: list[Literal] = []
    for gate in gates:
        if gate.signature != clause.head.signature:
            continue
        value = _fresh(gate.dimension, names)
        names.add(value.name)
        added.append(Positive(Atom(gate.dimension, (clause.head.arguments[0], value))))
        added.append(Positive(Atom("under", (value, gate.label))))
    if not added:
        return clause
    joined = ", ".join(map(render_literal, added))
    text = clause.text.rstrip().removesuffix(".").rstrip()
    text = f"{text}{', ' if clause.body else ' :- '}{joined}."
    return replace(clause, body=(*clause.body, *added), text=text)


def _fresh(dimension: str, taken: set[str]) -> Variable:
    """Give a variable named after a dimension that the clause does not use."""
    stem = "".join(part[:1].upper() + part[1:] for part in dimension.split("_") if part)
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}{number}"
    return Variable(name)
