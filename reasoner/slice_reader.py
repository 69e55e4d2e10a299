"""Turns what an evaluation recorded into a slice: ids back to terms, everything sorted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain

from .atom import Atom, Constant, Variable
from .captured import Captured
from .collection import paused_collection
from .edges import AtomKey, Edges, Met
from .facts import Signature
from .later import Later
from .relation import Key, Positions, Row, Stating
from .run import Busy, Cell, Run
from .slice import Call, Slice
from .writer import Writer

Calls = tuple[Signature, Positions, Iterable[tuple[Key, Sequence[Row]]]]
"""The calls of one adornment."""

Sorted = tuple[str, Call]


def read_slice(run: Run, goal: Atom, *, complete: bool, most: int | None) -> Slice:
    """Give the slice of a goal; `most` cuts the answers, in their order."""
    return _Reader(run, goal).slice(complete=complete, most=most)


class _Reader:
    """Reads a slice off a run; most of it is read when it is asked for."""

    def __init__(self, run: Run, goal: Atom) -> None:
        self.run, self.goal = run, goal
        self.writer = Writer(run.terms)
        self.instances = Captured(run, self.writer)
        self.met: list[Row] = []
        """Rows that answer the goal."""

    @cached_property
    def edges(self) -> Edges:
        return Edges(self.instances)

    def slice(self, *, complete: bool, most: int | None) -> Slice:
        answers, possible = self.goal_answers()
        if most is not None and len(answers) > most:
            del answers[most:]
            complete = False
        return Slice(
            goal=self.goal,
            instances=self.instances,
            facts=Met(lambda: self.edges, self.facts),
            answers=tuple(answers),
            possible=tuple(possible),
            demands=Later(self.demands),
            lookups=Later(self.lookups),
            complete=complete,
            grounds=Met(lambda: self.edges, self.grounds),
        )

    def grounds(self, edges: Edges) -> dict[AtomKey, Sequence[Stating]]:
        """Find what states atoms of instances and answers of the goal."""
        answers = [edges.key(self.goal.signature, row) for row in self.met]
        return self.stated(edges, chain(edges.numbers, answers))

    def facts(self, edges: Edges) -> dict[AtomKey, Sequence[Stating]]:
        """Find the grounds, and what states the answers of calls."""
        found = self.grounds(edges)
        for signature, _, table in chain(self.derived_calls(), self.stored_calls()):
            number = edges.key(signature, ())[0]
            rows = ((number, *row) for _, rows in table for row in rows)
            found.update(self.stated(edges, rows))
        return found

    def stated(self, edges: Edges, keys: Iterable[AtomKey]) -> dict[AtomKey, Sequence[Stating]]:
        base, day = self.run.facts, self.run.valid_on
        stored = base.signatures()
        of = [
            base.statings(signature, day) if signature in stored else None
            for signature in edges.signatures
        ]
        found: dict[AtomKey, Sequence[Stating]] = {}
        for key in keys:
            find = of[key[0]]
            if find is not None and (statings := find(key[1:])):
                found[key] = statings
        return found

    def calls(
        self, signature: Signature, bound: Positions, table: Iterable[tuple[Key, Sequence[Row]]]
    ) -> list[Sorted]:
        """Give the calls of one adornment with the texts of their patterns."""
        name = signature[0]
        predicate, negated, free = _free_atom(signature)
        writer = self.writer
        read, value, text = writer.atom(signature), writer.terms.value, writer.text
        found: list[Sorted] = []
        for key, rows in table:
            parts: list[Constant | Variable] = list(free)
            texts = [variable.name for variable in free]
            if isinstance(key, int):
                (at,) = bound
                parts[at], texts[at] = value(key), text(key)
            else:
                for at, number in zip(bound, key, strict=True):
                    parts[at], texts[at] = value(number), text(number)
            if not rows:
                answers: tuple[Atom, ...] = ()
            elif len(rows) == 1:
                answers = (read(rows[0]),)
            else:
                in_order = sorted([(writer.row_text(signature, row), row) for row in rows])
                answers = tuple([read(row) for _, row in in_order])
            pattern = Atom(predicate, tuple(parts), negated)
            found.append((f"{name}({', '.join(texts)})", Call(pattern, answers)))
        return found

    def derived_calls(self) -> Iterator[Calls]:
        """Give the calls of each node to rules that was answered."""
        compiled = self.run.compiled
        for node, table in zip(compiled.nodes, self.run.tables, strict=True):
            if table and node.signature in compiled.derived:
                yield node.signature, node.bound, _answered(table)

    def stored_calls(self) -> Iterator[Calls]:
        """Give the calls of each index."""
        derived, stored = self.run.compiled.derived, self.run.facts.signatures()
        for (signature, bound), memo in zip(self.run.compiled.indexes, self.run.memos, strict=True):
            if memo and (signature in stored or signature not in derived):
                yield signature, bound, memo.items()

    def demands(self) -> tuple[Call, ...]:
        return self.in_order(self.derived_calls())

    def lookups(self) -> tuple[Call, ...]:
        return self.in_order(self.stored_calls())

    def in_order(self, calls: Iterable[Calls]) -> tuple[Call, ...]:
        with paused_collection():
            found = [call for each in calls for call in self.calls(*each)]
            found.sort(key=lambda pair: pair[0])
            return tuple([call for _, call in found])

    def goal_answers(self) -> tuple[list[Atom], list[Atom]]:
        """Give the certain and the merely possible answers found for the goal's call, sorted.

        A variable that comes twice has one value.
        """
        run, goal = self.run, self.goal
        signature = goal.signature
        places: dict[str, list[int]] = {}
        known: list[int] = []
        for at, argument in enumerate(goal.arguments):
            if isinstance(argument, Variable):
                places.setdefault(argument.name, []).append(at)
            else:
                known.append(run.terms.intern(argument))
        twice = [group for group in places.values() if len(group) > 1]
        key: Key = known[0] if len(known) == 1 else tuple(known)
        table = run.tables[run.compiled.nodes.index(run.compiled.plan.root)]
        certain: list[tuple[str, Atom]] = []
        possible: list[tuple[str, Atom]] = []
        read = self.writer.atom(signature)
        rows = dict(_answered(table)).get(key)
        if rows is None:
            rows = self.heads_of(signature, run.compiled.plan.root.bound, known)
        for row in rows:
            if all(len({row[at] for at in group}) == 1 for group in twice):
                is_certain = not run.doubts or run.certainty.holds((signature, row))
                self.met.append(row)
                (certain if is_certain else possible).append(
                    (self.writer.row_text(signature, row), read(row))
                )
        return [atom for _, atom in sorted(certain, key=_text)], [
            atom for _, atom in sorted(possible, key=_text)
        ]

    def heads_of(self, signature: Signature, bound: Positions, known: list[int]) -> list[Row]:
        """Give the rows of a call that was cut: what its instances derived until then."""
        rows: dict[Row, None] = {}
        for record in self.run.records:
            head, row = self.run.head_of(record)
            if head == signature and [row[at] for at in bound] == known:
                rows[row] = None
        return list(rows)


@lru_cache(maxsize=1024)
def _free_atom(signature: Signature) -> tuple[str, bool, tuple[Variable, ...]]:
    """Give predicate, sign and fresh variables of a signature."""
    name, arity = signature
    free = tuple(Variable(f"_{at + 1}") for at in range(arity))
    return name.removeprefix("-"), name[0] == "-", free


def _text(pair: tuple[str, Atom]) -> str:
    return pair[0]


def _answered(table: dict[Key, object]) -> list[tuple[Key, Sequence[Row]]]:
    """Give the calls of a table with their rows, leaving out those that were cut."""
    found: list[tuple[Key, Sequence[Row]]] = []
    for key, entry in table.items():
        if isinstance(entry, Cell):
            found.append((key, entry.rows))
        elif isinstance(entry, tuple) and not isinstance(entry, Busy):
            found.append((key, entry))
    return found
