"""The instances of an evaluation as hyperedges between numbered atoms, and the facts they met.

Nothing is written as terms here but what decides an order.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count, repeat

from .atom import Atom, Variable
from .captured import Captured
from .collection import paused_collection
from .facts import Fact, Signature
from .later import Deferred
from .relation import Row, Stating

AtomKey = tuple[int, ...]
"""A ground atom: the number of its signature, then its row."""

Stated = Mapping[AtomKey, Sequence[Stating]]
"""Atoms with what states each, in the order of `facts_at`."""


class Edges:
    """Instances as edges; atoms are numbered by first mention, an instance names its tail first.

    The tail of edge `e` is `tails[starts[e]:starts[e + 1]]`.
    """

    def __init__(self, captured: Captured) -> None:
        self.captured = captured
        self.numbers: defaultdict[AtomKey, int] = defaultdict(count().__next__)
        self.heads, self.tails, self.starts = array("i"), array("i"), array("i", [0])
        self._signatures: dict[Signature, int] = {}
        with paused_collection():
            self._read()
        self.numbers.default_factory = None

    def _read(self) -> None:
        compiled, rows = self.captured.run.compiled, self.captured.rows
        for clause, records in self.captured.blocks:
            tail = [each for each in compiled.bodies[clause] if each is not None]
            keys = [
                rows(template, records, self.key(template[0], ())[0])
                for template in (*tail, compiled.heads[clause])
            ]
            flat = chain.from_iterable(zip(*keys, strict=True))
            mentioned = array("i", map(self.numbers.__getitem__, flat))
            width = len(tail)
            self.heads += mentioned[width :: width + 1]
            del mentioned[width :: width + 1]
            first, size = len(self.tails) + width, len(records)
            self.starts.extend(
                range(first, first + size * width, width) if width else repeat(first, size)
            )
            self.tails += mentioned

    def key(self, signature: Signature, row: Row) -> AtomKey:
        """Give the key of a row."""
        return self._signatures.setdefault(signature, len(self._signatures)), *row

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """The signatures by number."""
        return tuple(self._signatures)

    def key_of(self, atom: Atom) -> AtomKey | None:
        """Give the key of an atom, None where a value of it is unknown."""
        row = []
        for argument in atom.arguments:
            number = (
                None
                if isinstance(argument, Variable)
                else self.captured.writer.terms.number(argument)
            )
            if number is None:
                return None
            row.append(number)
        return self.key(atom.signature, tuple(row))

    def text(self, key: AtomKey) -> str:
        """Give the text of an atom."""
        return self.captured.writer.row_text(self.signatures[key[0]], key[1:])

    def atom(self, key: AtomKey) -> Atom:
        """Give an atom."""
        return self.captured.writer.atom(self.signatures[key[0]])(key[1:])


class Met(Deferred[Fact]):
    """Facts that an evaluation met, by (text, leaf), written when they are first read."""

    def __init__(self, edges: Callable[[], Edges], find: Callable[[Edges], Stated]) -> None:
        self._edges, self._find = edges, find
        self._stated: Stated | None = None
        self._whole: tuple[Fact, ...] | None = None

    @property
    def edges(self) -> Edges:
        """The instances that the facts were met with."""
        return self._edges()

    @property
    def stated(self) -> Stated:
        """The facts as keys, in no order."""
        if self._stated is None:
            self._stated = self._find(self.edges)
        return self._stated

    def all(self) -> tuple[Fact, ...]:
        """Give every fact."""
        if self._whole is None:
            edges = self.edges
            with paused_collection():
                ordered = sorted(self.stated, key=edges.text)
                self._whole = tuple(
                    [
                        Fact(atom, *stating)
                        for key in ordered
                        for atom in (edges.atom(key),)
                        for stating in self.stated[key]
                    ]
                )
        return self._whole

    def by_leaf(self) -> Iterator[tuple[AtomKey, Stating]]:
        """Give every fact; those of one leaf in the order of the sequence, others in no order."""
        pairs = [(key, stating) for key, statings in self.stated.items() for stating in statings]
        seen: set[str] = set()
        repeated: set[str] = set()
        for _, (leaf, _) in pairs:
            (repeated if leaf in seen else seen).add(leaf)
        if repeated:
            several = [pair for pair in pairs if pair[1][0] in repeated]
            several.sort(key=lambda pair: self.edges.text(pair[0]))
            pairs = [pair for pair in pairs if pair[1][0] not in repeated] + several
        return iter(pairs)

    def __len__(self) -> int:
        return sum(map(len, self.stated.values()))
