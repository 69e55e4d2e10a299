"""Evaluates a goal over facts and captures every rule instance on the way (DESIGN section 4).

Source: semi-naive evaluation as in Bancilhon 1985; tabling as in Chen and Warren 1996, "Tabled
evaluation with delaying for general logic programs", restricted to programs whose calls through
negation end. We record instances rather than answers only: they are the requirement hypergraph.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kb.quantity import Date, Truth

from . import arithmetic
from .arithmetic import UNKNOWN, Result, Undetermined
from .atom import Atom, Constant, Variable
from .certainty import Certainty, Record
from .clause import (
    Absent,
    Aggregate,
    AggregateFunction,
    Comparison,
    Operator,
    Policy,
    Positive,
    bind_atom,
    render_literal,
)
from .codegen import CompiledGoal, compile_goal
from .errors import Finding, PolicyRejected
from .facts import Fact, FactBase, Key, Row, Signature
from .magic import Node, Unsafe, plan_goal
from .prelude import atoms_of, clauses_in_force
from .slice import (
    AbsencePremise,
    AggregatePremise,
    AtomPremise,
    Call,
    ComparisonPremise,
    Instance,
    Premise,
    Slice,
)

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


UNLIMITED = Budget()


class _Cut(Exception):
    """The budget is spent."""


class _Busy(tuple[Row, ...]):
    """Stands in a table while a call is being answered; reading it is a loop through negation."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise _Loop(())

    def __len__(self) -> int:
        raise _Loop(())


class _Cell:
    """One call within positive recursion: its answers, and the rules that wait for more."""

    __slots__ = ("done", "frame", "key", "rows", "seen", "start", "waiting")

    def __init__(self, key: Key, start: Callable[[Key, _Cell], None]) -> None:
        self.key, self.start = key, start
        self.rows: list[Row] = []
        self.seen: set[Row] = set()
        self.waiting: list[tuple[Callable[[object, Row], None], object]] = []
        self.done = False
        self.frame: object = None


class _Run:
    """The state of one evaluation, and what the generated code calls."""

    busy = _Busy()
    cell = _Cell
    true, false = Truth.TRUE, Truth.FALSE
    apply = staticmethod(arithmetic.apply)

    def __init__(
        self,
        compiled: CompiledGoal,
        facts: FactBase,
        valid_on: datetime.date | None,
        budget: Budget,
    ) -> None:
        self.compiled, self.facts, self.valid_on = compiled, facts, valid_on
        self.terms = facts.terms()
        self.records: list[Record] = []
        self.record = self.records.append
        self.doubts: dict[Record, tuple[Truth, ...]] = {}
        self.tainted: set[Signature] = set()
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
        self._clock = budget.clock if budget.deadline_ms is not None else None
        self._end = (
            self._clock() + (budget.deadline_ms or 0) / 1000 if self._clock is not None else 0.0
        )
        self._most = budget.max_instances
        self.first_limit = _STRIDE if self._most is None else min(_STRIDE, self._most)

    def tick(self) -> int:
        """Stop if the budget is spent; give the work to do until the next call."""
        if self._clock is not None and self._clock() > self._end:
            raise _Cut
        if self._most is not None:
            left = self._most - len(self.records)
            if left <= 0:
                raise _Cut
            return min(_STRIDE, left)
        return _STRIDE

    def answer(self, key: Key) -> Sequence[Row]:
        """Answer the goal's call in full. Raises _Cut."""
        compiled = self.compiled
        lookups = [
            self.facts.lookup(signature, bound, self.valid_on)
            for signature, bound in compiled.indexes
        ]
        root = compiled.bind(
            self, self.constants, lookups, compiled.operators, self.tables, self.memos
        )
        return root(key)  # type: ignore[return-value]  # generated code

    def loop(self, number: int, key: Key) -> None:
        """Report a call that depends on its own negation."""
        raise _Loop((self.compiled.nodes[number].signature,))

    def truth(self, operator: Operator, left: Result, right: Result) -> Truth:
        """Compare two results."""
        if isinstance(left, Undetermined) or isinstance(right, Undetermined):
            return Truth.UNDETERMINED
        return arithmetic.compare(operator, left, right)

    def defined(self, left: Result, right: Result) -> Truth:
        """Check a definition whose variable was known before."""
        if left == right and left != UNKNOWN and not isinstance(left, Undetermined):
            return Truth.TRUE
        return self.truth(Operator.EQUAL, left, right)

    def define(self, number: int, result: Result) -> tuple[int, Truth]:
        """Give the id of a computed value."""
        if isinstance(result, Undetermined):
            self.tainted.add(self.compiled.nodes[number].signature)
            return self.terms.intern(UNKNOWN), Truth.UNDETERMINED
        return self.terms.intern(result), Truth.TRUE

    def conclude(self, number: int, result: Result, truth: Truth) -> tuple[int, Truth]:
        """Give the id of an aggregate's value."""
        found, known = self.define(number, result)
        if truth is not Truth.TRUE:
            self.tainted.add(self.compiled.nodes[number].signature)
            return found, truth
        return found, known

    def absent(self, number: int, rows: Sequence[Row]) -> Truth:
        """Judge `not` of a derived call with its complete possible answers."""
        signature = self.compiled.nodes[number].signature
        if not rows:
            uses = self.compiled.plan.uses(signature)
            return Truth.TRUE if uses.isdisjoint(self.tainted) else Truth.UNDETERMINED
        if not self.doubts or any(self.certainty.holds((signature, row)) for row in rows):
            return Truth.FALSE
        return Truth.UNDETERMINED

    def certain(self, calls: Sequence[tuple[int, Row]]) -> bool:
        """Whether all the derived rows are certain."""
        nodes = self.compiled.nodes
        return all(self.certainty.holds((nodes[number].signature, row)) for number, row in calls)

    def aggregate(self, name: str, found: dict[Row, bool]) -> tuple[Result, Truth]:
        """Aggregate distinct rows, each with whether it is certain."""
        value = self.terms.value
        rows = [tuple([value(number) for number in row]) for row in found]
        rows.sort(key=lambda row: [arithmetic.render_term(term) for term in row])
        result = arithmetic.aggregate(AggregateFunction(name), rows)
        if isinstance(result, Undetermined) or self.tainted or not all(found.values()):
            return result, Truth.UNDETERMINED
        return result, Truth.TRUE

    def is_stated(self, ground: tuple[Signature, Row]) -> bool:
        """Whether facts give the row."""
        return bool(self.facts.facts_at(*ground, self.valid_on))

    def fill(self, parts: tuple[int, ...], record: Record) -> Row:
        """Put values of a record and constants into a template."""
        constants = self.constants
        return tuple([record[part] if part >= 0 else constants[~part] for part in parts])

    def head_of(self, record: Record) -> tuple[Signature, Row]:
        """Give the head of a record."""
        signature, parts = self.compiled.heads[record[0]]
        return signature, self.fill(parts, record)

    def body_of(self, record: Record) -> list[tuple[Signature, Row]]:
        """Give the positive premises of a record."""
        return [
            (template[0], self.fill(template[1], record))
            for template in self.compiled.bodies[record[0]]
            if template is not None
        ]


class _Loop(Exception):
    """Calls that depend on their own negation."""

    def __init__(self, signatures: tuple[Signature, ...]) -> None:
        self.signatures = signatures
        super().__init__(str(signatures))


class _PolicyKey:
    """A policy as key of the compiled goals: equal by digest, and by clauses to be sure."""

    __slots__ = ("policy",)

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def __hash__(self) -> int:
        return hash(self.policy.digest or self.policy.clauses)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _PolicyKey):
            return NotImplemented
        mine, others = self.policy, other.policy
        return mine is others or (mine.digest == others.digest and mine.clauses == others.clauses)


@lru_cache(maxsize=512)
def _compiled(key: _PolicyKey, root: Node, stored: frozenset[Signature] | None) -> CompiledGoal:
    """Compile a goal pattern; `stored` only where identity rules may come in."""
    policy = key.policy
    clauses = clauses_in_force(policy, root.signature, stored or frozenset())
    try:
        return compile_goal(plan_goal(clauses, root))
    except Unsafe as error:
        names = ", ".join(error.variables)
        where = f" in {render_literal(error.literal)}" if error.literal is not None else ""
        finding = Finding(0, 0, "unsafe", f"nothing binds {names}{where}")
        raise PolicyRejected(policy.id, (finding,)) from error


def evaluate(
    policy: Policy,
    goal: Atom,
    facts: FactBase,
    *,
    valid_on: datetime.date | None,
    budget: Budget = UNLIMITED,
) -> Slice:
    """Derive all answers of a goal with everything that bears on them.

    Facts are those visible on `valid_on`, which `valid_on(D)` gives; without it facts of any period
    are visible. Raises PolicyRejected where a negation depends on itself.
    """
    stored = facts.signatures()
    bound = tuple(
        at for at, argument in enumerate(goal.arguments) if not isinstance(argument, Variable)
    )
    root = Node(goal.signature, bound)
    compiled = _compiled(_PolicyKey(policy), root, stored if ("same_as", 2) in stored else None)
    if valid_on is not None and any(index[0] == ("valid_on", 1) for index in compiled.indexes):
        day = Atom("valid_on", (Date(valid_on, valid_on),))
        facts = facts.with_facts((Fact(day, "request"),))
    run = _Run(compiled, facts, valid_on, budget)
    known = [
        run.terms.intern(argument)
        for argument in goal.arguments
        if not isinstance(argument, Variable)
    ]
    complete = True
    try:
        run.answer(known[0] if len(known) == 1 else tuple(known))
    except (_Cut, RecursionError):
        complete = False
    except _Loop as loop:
        raise _rejected(policy, run, loop) from loop
    return read_slice(run, goal, complete=complete, most=budget.max_answers)


def _rejected(policy: Policy, run: _Run, loop: _Loop) -> PolicyRejected:
    """Name the predicates of the calls that were open when one met itself."""
    nodes = run.compiled.nodes
    open_calls = {
        nodes[number].signature
        for number, table in enumerate(run.tables)
        if any(isinstance(rows, _Busy) or getattr(rows, "done", True) is False
               for rows in table.values())
    }
    open_calls |= set(loop.signatures)
    guilty = [
        clause
        for clause in policy.clauses
        if clause.head.signature in open_calls
        and any(
            isinstance(literal, (Absent, Aggregate))
            and any(atom.signature in open_calls for atom in atoms_of((literal,)))
            for literal in clause.body
        )
    ]
    line, column = (guilty[0].line, guilty[0].column) if guilty else (0, 0)
    names = ", ".join(f"{name}/{arity}" for name, arity in sorted(open_calls))
    message = f"the facts at hand make the negation of {names} depend on itself"
    return PolicyRejected(policy.id, (Finding(line, column, "unstratified", message),))


def read_slice(run: _Run, goal: Atom, *, complete: bool, most: int | None) -> Slice:
    """Turn what a run recorded into values."""
    return _Reader(run).slice(goal, complete=complete, most=most)


class _Reader:
    """Writes ids back to terms, each atom once."""

    def __init__(self, run: _Run) -> None:
        self.run = run
        self.value = run.terms.value
        self.atoms: dict[tuple[Signature, Row], Atom] = {}
        self.facts: dict[tuple[Signature, Row], tuple[Fact, ...]] = {}
        self.stored = run.facts.signatures()
        self.texts: dict[int, str] = {}

    def atom(self, signature: Signature, row: Row) -> Atom:
        key = (signature, row)
        found = self.atoms.get(key)
        if found is None:
            if signature in self.stored:
                facts = self.run.facts.facts_at(signature, row, self.run.valid_on)
                if facts:
                    self.facts[key] = facts
                    found = self.atoms[key] = facts[0].atom
                    return found
            name = signature[0]
            value = self.value
            found = self.atoms[key] = Atom(
                name.removeprefix("-"),
                tuple([value(number) for number in row]),
                name[0] == "-",
            )
        return found

    def text(self, number: int) -> str:
        found = self.texts.get(number)
        if found is None:
            found = self.texts[number] = arithmetic.render_term(self.value(number))
        return found

    def instance(self, record: Record) -> Instance:
        compiled = self.run.compiled
        number = record[0]
        clause = compiled.plan.clauses[number]
        value = self.value
        bindings = tuple(
            [(name, value(record[at])) for at, name in enumerate(compiled.slots[number], 1)]
        )
        truths = self.run.doubts.get(record)
        checks = compiled.checks[number] if truths is not None else ()
        truth_at = dict(zip(checks, truths or (), strict=True))
        premises: list[Premise] = []
        named: dict[str, Constant] | None = None
        for at, template in enumerate(compiled.bodies[number]):
            if template is not None:
                premises.append(
                    AtomPremise(self.atom(template[0], self.run.fill(template[1], record)))
                )
                continue
            if named is None:
                named = dict(bindings)
            literal = clause.body[at]
            truth = truth_at.get(at, Truth.TRUE)
            match literal:
                case Absent(atom):
                    premises.append(AbsencePremise(bind_atom(atom, named), truth))
                case Comparison():
                    premises.append(ComparisonPremise(render_literal(literal, named), truth))
                case Aggregate():
                    premises.append(AggregatePremise(render_literal(literal, named), truth))
                case Positive():
                    raise AssertionError("a positive literal has a template")
        head = self.atom(*self.run.head_of(record))
        return Instance(clause.id, bindings, head, tuple(premises))

    def call(self, signature: Signature, bound: tuple[int, ...], key: Key, rows: Sequence[Row]) -> Call:
        parts: list[Constant | Variable] = [
            Variable(f"_{at + 1}") for at in range(signature[1])
        ]
        known = (key,) if isinstance(key, int) else key
        for at, number in zip(bound, known, strict=True):
            parts[at] = self.value(number)
        name = signature[0]
        pattern = Atom(name.removeprefix("-"), tuple(parts), name[0] == "-")
        answers = [self.atom(signature, row) for row in rows]
        if len(answers) > 1:
            answers.sort(key=str)
        return Call(pattern, tuple(answers))

    def slice(self, goal: Atom, *, complete: bool, most: int | None) -> Slice:
        run = self.run
        compiled = run.compiled
        derived = {clause.head.signature for clause in compiled.plan.clauses}
        records = list(dict.fromkeys(run.records))
        clauses = compiled.plan.clauses
        records.sort(
            key=lambda record: (
                clauses[record[0]].id,
                [self.text(number) for number in record[1:]],
            )
        )
        instances = tuple([self.instance(record) for record in records])
        demands = [
            self.call(node.signature, node.bound, key, rows)
            for node, table in zip(compiled.nodes, run.tables, strict=True)
            if node.signature in derived
            for key, rows in _answered(table)
        ]
        lookups = [
            self.call(signature, bound, key, rows)
            for (signature, bound), memo in zip(compiled.indexes, run.memos, strict=True)
            if signature in self.stored or signature not in derived
            for key, rows in memo.items()
        ]
        rows = self.goal_rows(goal)
        certain = [row for row in rows if self.is_certain(goal.signature, row)]
        answers = sorted((self.atom(goal.signature, row) for row in certain), key=str)
        doubtful = set(rows) - set(certain)
        possible = sorted((self.atom(goal.signature, row) for row in doubtful), key=str)
        if most is not None and len(answers) > most:
            del answers[most:]
            complete = False
        facts = sorted(
            (fact for found in self.facts.values() for fact in found),
            key=lambda fact: (str(fact.atom), fact.leaf),
        )
        return Slice(
            goal=goal,
            instances=instances,
            facts=tuple(facts),
            answers=tuple(answers),
            possible=tuple(possible),
            demands=tuple(sorted(demands, key=_pattern_text)),
            lookups=tuple(sorted(lookups, key=_pattern_text)),
            complete=complete,
        )

    def goal_rows(self, goal: Atom) -> list[Row]:
        """Give the goal's rows, found so far, that agree where a variable comes twice."""
        places: dict[str, list[int]] = {}
        for at, argument in enumerate(goal.arguments):
            if isinstance(argument, Variable):
                places.setdefault(argument.name, []).append(at)
        twice = [group for group in places.values() if len(group) > 1]
        plan = self.run.compiled.plan
        table = self.run.tables[self.run.compiled.nodes.index(plan.root)]
        known = tuple(
            [self.run.terms.intern(a) for a in goal.arguments if not isinstance(a, Variable)]
        )
        wanted = known[0] if len(known) == 1 else known
        rows = [row for key, found in _answered(table) if key == wanted for row in found]
        return [row for row in rows if all(len({row[at] for at in group}) == 1 for group in twice)]

    def is_certain(self, signature: Signature, row: Row) -> bool:
        return not self.run.doubts or self.run.certainty.holds((signature, row))


def _pattern_text(call: Call) -> str:
    return str(call.pattern)


def _answered(table: dict[Key, object]) -> list[tuple[Key, Sequence[Row]]]:
    """Give the calls of a table with their rows, leaving out those that were cut."""
    found: list[tuple[Key, Sequence[Row]]] = []
    for key, entry in table.items():
        if isinstance(entry, _Cell):
            found.append((key, entry.rows))
        elif isinstance(entry, tuple) and not isinstance(entry, _Busy):
            found.append((key, entry))
    return found
