"""The state of one evaluation, its budget, and what generated code calls."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kb.quantity import Truth

from . import arithmetic
from .arithmetic import Result, Undetermined
from .atom import Atom, Variable, render_term
from .certainty import Certainty, Ground, Record
from .clause import AggregateFunction, Operator
from .codegen import CompiledGoal
from .comparison import UNKNOWN, compare
from .facts import FactBase, Signature
from .prelude import SAME_AS
from .relation import Key, Lookup, Row

_STRIDE = 4096
"""Units of work (rows gone through) between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What an evaluation may spend; what is cut is never complete.

    `deadline_ms` counts from the start of the evaluation by `clock` (seconds); without a clock
    there is no deadline. `max_instances` is exceeded by one stride of work at most.
    """

    deadline_ms: float | None = None
    max_instances: int | None = None
    max_answers: int | None = None
    clock: Callable[[], float] | None = None

    def start(self) -> float:
        """Give the time by the clock, in seconds; 0 where no deadline is set."""
        has_deadline = self.clock is not None and self.deadline_ms is not None
        return self.clock() if self.clock is not None and has_deadline else 0.0


UNLIMITED = Budget()


class Cut(Exception):
    """The budget is spent."""


class Busy(tuple[Row, ...]):
    """Stands in a table while a call is being answered; reading it is a loop through negation."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise Loop(())

    def __len__(self) -> int:
        raise Loop(())


class Cell:
    """One call within positive recursion: its answers, and the rules that wait for more."""

    __slots__ = ("done", "frame", "key", "rows", "seen", "start", "waiting")

    def __init__(self, key: Key, start: Callable[[Key, Cell], None]) -> None:
        self.key, self.start = key, start
        self.rows: list[Row] = []
        self.seen: set[Row] = set()
        self.waiting: list[tuple[Callable[[object, Row], None], object]] = []
        self.done = False
        self.frame: object = None


class Loop(Exception):
    """Calls that depend on their own negation."""

    def __init__(self, signatures: tuple[Signature, ...]) -> None:
        self.signatures = signatures
        super().__init__(str(signatures))


class Run:
    """The state of one evaluation, and what the generated code calls."""

    busy = Busy()
    cell = Cell
    true, false = Truth.TRUE, Truth.FALSE
    apply = staticmethod(arithmetic.apply)

    def __init__(
        self,
        compiled: CompiledGoal,
        facts: FactBase,
        valid_on: datetime.date | None,
        budget: Budget,
        *,
        start: float,
        tainted: frozenset[Signature],
    ) -> None:
        self.compiled, self.facts, self.valid_on = compiled, facts, valid_on
        self.terms = facts.terms()
        self.records: list[Record] = []
        self.record = self.records.append
        self.doubts: dict[Record, tuple[Truth, ...]] = {}
        self.tainted: set[Signature] = set(tainted)
        self.tables: list[dict[Key, object]] = [{} for _ in compiled.nodes]
        self.memos: list[dict[Key, Sequence[Row]]] = [{} for _ in compiled.indexes]
        self.constants = [self.terms.intern(constant) for constant in compiled.constants]
        self.certainty = Certainty(
            self.records,
            self.doubts,
            head=self.head_of,
            body=self.body_of,
            is_stated=self.is_stated,
        )
        self._first_names: dict[int, int] = {}
        self._same: tuple[Lookup, Lookup] | None = None
        if SAME_AS in facts.signatures():
            self._same = (
                facts.lookup(SAME_AS, (0,), valid_on),
                facts.lookup(SAME_AS, (1,), valid_on),
            )
        self._clock = budget.clock if budget.deadline_ms is not None else None
        self._end = start + (budget.deadline_ms or 0.0) / 1000
        self._most = budget.max_instances
        self.first_limit = _STRIDE if self._most is None else min(_STRIDE, self._most)

    def tick(self) -> int:
        """Stop if the budget is spent; give the work to do until the next call."""
        if self._clock is not None and self._clock() > self._end:
            raise Cut
        if self._most is not None:
            left = self._most - len(self.records)
            if left <= 0:
                raise Cut
            return min(_STRIDE, left)
        return _STRIDE

    def answer(self, goal: Atom) -> bool:
        """Answer the goal's call; false where the budget cut it."""
        compiled, stored = self.compiled, self.facts.signatures()
        lookups = [
            None
            if signature in compiled.derived and signature not in stored
            else self.facts.lookup(signature, bound, self.valid_on)
            for signature, bound in compiled.indexes
        ]
        root = compiled.bind(
            self, self.constants, lookups, compiled.operators, self.tables, self.memos
        )
        try:
            root(self.key(goal))
        except (Cut, RecursionError):
            return False
        return True

    def key(self, goal: Atom) -> Key:
        """Give the key of the goal's call."""
        known = [self.terms.intern(a) for a in goal.arguments if not isinstance(a, Variable)]
        return known[0] if len(known) == 1 else tuple(known)

    def loop(self, number: int) -> None:
        """Report a call that depends on its own negation."""
        raise Loop((self.compiled.nodes[number].signature,))

    def truth(self, operator: Operator, left: Result, right: Result) -> Truth:
        """Compare two results."""
        if isinstance(left, Undetermined) or isinstance(right, Undetermined):
            return Truth.UNDETERMINED
        return compare(operator, left, right)

    def defined(self, left: Result, right: Result) -> Truth:
        """Check a definition whose variable was known before."""
        if left == right and left != UNKNOWN and not isinstance(left, Undetermined):
            return Truth.TRUE
        return self.truth(Operator.EQUAL, left, right)

    def define(self, result: Result) -> tuple[int, Truth]:
        """Give the id of a computed value."""
        if isinstance(result, Undetermined):
            return self.terms.intern(UNKNOWN), Truth.UNDETERMINED
        return self.terms.intern(result), Truth.TRUE

    def conclude(self, result: Result, truth: Truth) -> tuple[int, Truth]:
        """Give the id of an aggregate's value; over doubtful rows it has none."""
        if truth is not Truth.TRUE:
            result = Undetermined("a row is doubtful")
        return self.define(result)

    def doubt(self, record: Record, truths: tuple[Truth, ...], number: int, head: Row) -> None:
        """Note the truths of a record that is not certain, and a head that lacks a value."""
        self.doubts[record] = truths
        if self.terms.intern(UNKNOWN) in head:
            self.tainted.add(self.compiled.nodes[number].signature)

    def absent(self, number: int, rows: Sequence[Row]) -> Truth:
        """Judge `not` of a derived call with its complete possible answers."""
        signature = self.compiled.nodes[number].signature
        if not rows:
            return Truth.UNDETERMINED if self.is_tainted(signature) else Truth.TRUE
        if not self.doubts or any(self.certainty.holds((signature, row)) for row in rows):
            return Truth.FALSE
        return Truth.UNDETERMINED

    def unstated(self, signature: Signature) -> Truth:
        """Judge `not` of a stored call without rows: nobody knows, where the source is missing."""
        return Truth.UNDETERMINED if signature in self.tainted else Truth.TRUE

    def is_tainted(self, signature: Signature) -> bool:
        """Whether a predicate may have rows not found, for want of a value or of a source."""
        return not self.compiled.plan.uses(signature).isdisjoint(self.tainted)

    def certain(self, calls: Sequence[tuple[int, Row]]) -> bool:
        """Whether all the derived rows are certain."""
        nodes = self.compiled.nodes
        return all(self.certainty.holds((nodes[number].signature, row)) for number, row in calls)

    def aggregate(
        self, name: str, found: dict[Row, bool], reads: tuple[int | Signature, ...]
    ) -> tuple[Result, Truth]:
        """Aggregate distinct rows, each with whether it is certain.

        `reads` are derived nodes, by number, and stored predicates.
        """
        value = self.terms.value
        rows = [tuple([value(number) for number in row]) for row in self.once_each(found)]
        rows.sort(key=lambda row: [render_term(term) for term in row])
        result = arithmetic.aggregate(AggregateFunction(name), rows)
        if isinstance(result, Undetermined) or not all(found.values()):
            return result, Truth.UNDETERMINED
        nodes = self.compiled.nodes
        if self.tainted and any(
            self.is_tainted(nodes[read].signature if isinstance(read, int) else read)
            for read in reads
        ):
            return result, Truth.UNDETERMINED
        return result, Truth.TRUE

    def once_each(self, rows: Iterable[Row]) -> Iterable[Row]:
        """Give rows that differ in names of one entity once, under its first name."""
        if self._same is None:
            return rows
        return dict.fromkeys(tuple([self._first_name(term) for term in row]) for row in rows)

    def _first_name(self, term: int) -> int:
        """Give the id of the name, first by text, of all that `same_as` joins to this one."""
        assert self._same is not None, "there are facts that join names"
        known = self._first_names.get(term)
        if known is None:
            found, waiting = {term}, [term]
            while waiting:
                current = waiting.pop()
                for look, other in zip(self._same, (1, 0), strict=True):
                    fresh = {row[other] for row in look(current)} - found
                    found |= fresh
                    waiting += fresh
            known = min(found, key=lambda name: render_term(self.terms.value(name)))
            self._first_names.update(dict.fromkeys(found, known))
        return known

    def is_stated(self, ground: Ground) -> bool:
        """Whether facts give the row."""
        return self.facts.states(*ground, self.valid_on)

    def fill(self, parts: tuple[int, ...], record: Record) -> Row:
        """Put values of a record and constants into a template."""
        constants = self.constants
        return tuple([record[part] if part >= 0 else constants[~part] for part in parts])

    def head_of(self, record: Record) -> Ground:
        """Give the head of a record."""
        signature, parts = self.compiled.heads[record[0]]
        return signature, self.fill(parts, record)

    def body_of(self, record: Record) -> list[Ground]:
        """Give the positive premises of a record."""
        return [
            (template[0], self.fill(template[1], record))
            for template in self.compiled.bodies[record[0]]
            if template is not None
        ]
