"""The rule instances of an evaluation: sorted and counted as ids, written when asked for.

A verdict closes all instances but shows those of its proofs only; most are never written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import repeat
from operator import itemgetter
from typing import overload

from kb.quantity import Truth

from .atom import Constant, Symbol
from .certainty import Record
from .clause import (
    Absent,
    Aggregate,
    Clause,
    Comparison,
    Positive,
    bind_atom,
    render_literal,
)
from .codegen import Template
from .collection import paused_collection
from .comparison import UNKNOWN
from .later import Deferred
from .run import Run
from .slice import (
    AbsencePremise,
    AggregatePremise,
    ComparisonPremise,
    Instance,
    Premise,
)
from .writer import Writer


class Captured(Deferred[Instance]):
    """Every instance of a run once, sorted by rule and then by bindings."""

    def __init__(self, run: Run, writer: Writer) -> None:
        self.run, self.writer = run, writer
        self._made: dict[int, Instance] = {}
        self._whole: tuple[Instance, ...] | None = None

    @property
    def is_certain(self) -> bool:
        """Whether nothing in the instances is undetermined."""
        return not self.run.doubts

    @cached_property
    def blocks(self) -> tuple[tuple[int, list[Record]], ...]:
        """The records of each clause, sorted, by the id of the clause."""
        clauses = self.run.compiled.clauses
        by_number: dict[int, list[Record]] = {}
        with paused_collection():
            for record in dict.fromkeys(self.run.records):
                by_number.setdefault(record[0], []).append(record)
            for records in by_number.values():
                self.writer.sort(records)
        numbers = sorted(by_number, key=lambda number: clauses[number].id)
        return tuple([(number, by_number[number]) for number in numbers])

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for _, records in self.blocks:
            starts.append(starts[-1] + len(records))
        return starts

    def all(self) -> tuple[Instance, ...]:
        """Give every instance."""
        if self._whole is None:
            with paused_collection():
                found: list[Instance] = []
                for number, records in self.blocks:
                    found += self._write(number, records)
                self._whole = tuple(found)
        return self._whole

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, place: int) -> Instance: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Instance, ...]: ...
    def __getitem__(self, place: int | slice) -> Instance | tuple[Instance, ...]:
        if isinstance(place, slice) or self._whole is not None:
            return self.all()[place]
        at = range(len(self))[place]
        if at not in self._made:
            block = bisect_right(self._starts, at) - 1
            number, records = self.blocks[block]
            (self._made[at],) = self._write(number, [records[at - self._starts[block]]])
        return self._made[at]

    def rows(
        self, template: Template, records: Sequence[Record], *lead: int
    ) -> Iterable[tuple[int, ...]]:
        """Give `lead` and the row of a template for each record of one clause."""
        constants, size = self.run.constants, len(records)
        columns: list[Iterable[int]] = [repeat(number, size) for number in lead]
        for part in template[1]:
            columns.append(
                map(itemgetter(part), records) if part >= 0 else repeat(constants[~part], size)
            )
        return zip(*columns, strict=True) if columns else repeat((), size)

    def _write(self, number: int, records: Sequence[Record]) -> list[Instance]:
        """Write records of one clause."""
        compiled, writer = self.run.compiled, self.writer
        clause = compiled.clauses[number]
        value = writer.terms.value
        bindings: Iterable[tuple[tuple[str, Constant], ...]]
        names = compiled.slots[number]
        if names:
            bindings = zip(
                *[
                    [(name, value(record[at])) for record in records]
                    for at, name in enumerate(names, start=1)
                ],
                strict=True,
            )
        else:
            bindings = repeat((), len(records))
        bound = list(bindings)
        signature, _ = compiled.heads[number]
        heads = map(writer.atom(signature), self.rows(compiled.heads[number], records))
        if clause.body:
            premises: Iterable[tuple[Premise, ...]] = zip(
                *[
                    self._other_premises(clause, at, records, bound)
                    if template is None
                    else map(writer.premise(template[0]), self.rows(template, records))
                    for at, template in enumerate(compiled.bodies[number])
                ],
                strict=True,
            )
        else:
            premises = repeat((), len(records))
        return [
            Instance(clause.id, own, head, needed)
            for own, head, needed in zip(bound, heads, premises, strict=True)
        ]

    def _other_premises(
        self,
        clause: Clause,
        at: int,
        records: Sequence[Record],
        bound: Sequence[tuple[tuple[str, Constant], ...]],
    ) -> Iterable[Premise]:
        """Write one comparison, absence or aggregate of each record."""
        compiled, doubts = self.run.compiled, self.run.doubts
        number = records[0][0]
        place = compiled.checks[number].index(at)
        is_defining = at in compiled.defining[number]
        text = self._text_writer(clause, at, compiled.slots[number])
        for record, bindings in zip(records, bound, strict=True):
            truths = doubts.get(record) if doubts else None
            truth = truths[place] if truths else Truth.TRUE
            values = dict(bindings)
            match clause.body[at]:
                case Absent(atom):
                    yield AbsencePremise(bind_atom(atom, values), truth)
                    continue
                case Comparison():
                    kind: type[ComparisonPremise | AggregatePremise] = ComparisonPremise
                case Aggregate():
                    kind = AggregatePremise
                case Positive():
                    raise AssertionError("a positive literal has a template")
            if truth is Truth.UNDETERMINED and is_defining:
                # A definition without a value keeps its variable.
                values = {name: value for name, value in bindings if value != UNKNOWN}
                yield kind(render_literal(clause.body[at], values), truth)
            else:
                yield kind(text(record), truth)

    def _text_writer(
        self, clause: Clause, at: int, slots: tuple[str, ...]
    ) -> Callable[[Record], str]:
        """Give the function from records to the text of a literal, which is cut up once."""
        # No text can hold the mark: strings escape it, and it stands in no name.
        marked = {name: Symbol(f"\0{place}\0") for place, name in enumerate(slots, start=1)}
        pieces = render_literal(clause.body[at], marked).split("\0")
        fixed, places = pieces[::2], [int(piece) for piece in pieces[1::2]]
        text, last = self.writer.text, fixed.pop()
        pairs = list(zip(fixed, places, strict=True))

        def write(record: Record) -> str:
            return "".join([piece + text(record[place]) for piece, place in pairs]) + last

        return write
