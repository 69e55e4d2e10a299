"""The values of a requirement hypergraph."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraphAtom:
    """A vertex; `text` says it for people, `query` and `expected` help to search for it."""

    id: str
    text: str = ""
    query: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Hyperedge:
    """The atoms of `tail` jointly yield `head`; an empty tail yields it outright.

    With `witness` the edge counts only in contexts that hold a unit witnessing it.
    """

    id: str
    tail: tuple[str, ...]
    head: str
    witness: bool = False
    text: str = ""
    cite: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """What a context gains or loses as one: atoms it states, edges it witnesses."""

    id: str
    states: tuple[str, ...] = ()
    witnesses: tuple[str, ...] = ()
    text: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Hypergraph:
    """A requirement hypergraph; build it with `read_hypergraph`, which checks it.

    Everything is sorted by id, so the order of a file never matters. `contradictions` are pairs of
    atoms that exclude each other, beside those whose ids differ by a leading `-`.

    Source: Certify (arXiv 2610.34684), section 3; contradictions serve its section 4.
    """

    atoms: tuple[GraphAtom, ...]
    hyperedges: tuple[Hyperedge, ...] = ()
    units: tuple[Unit, ...] = ()
    given: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    contradictions: tuple[tuple[str, str], ...] = ()

    def opponents(self) -> dict[str, tuple[str, ...]]:
        """Give for each contradicted atom those that exclude it, sorted."""
        ids = {atom.id for atom in self.atoms}
        found: dict[str, set[str]] = {}
        pairs = [(atom, complement(atom)) for atom in ids if complement(atom) in ids]
        for one, other in [*pairs, *self.contradictions]:
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
        return {atom: tuple(sorted(others)) for atom, others in sorted(found.items())}


def complement(atom: str) -> str:
    """Give the atom id under the other sign: `-p(a)` for `p(a)` and back.

    >>> complement("-rain"), complement("rain")
    ('rain', '-rain')
    """
    return atom[1:] if atom.startswith("-") else f"-{atom}"
