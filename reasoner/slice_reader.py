"""Turns what an evaluation recorded into a slice: ids back to terms, everything sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache

from kb.quantity import Truth

from .arithmetic import UNKNOWN
from .atom import Atom, Constant, Variable, render_term
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
from .facts import Fact, Signature
from .later import Later
from .relation import Key, Positions, Row
from .run import Busy, Cell, Run
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

Sorted = tuple[str, Call]


def read_slice(run: Run, goal: Atom, *, complete: bool, most: int | None) -> Slice:
    """Give the slice of a goal; `most` cuts the answers, in their order."""
    return _Reader(run).slice(goal, complete=complete, most=most)


class _Reader:
    """Writes ids back to terms, each term and atom once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.value = run.terms.value
        self.atoms: dict[Signature, Callable[[Row], Atom]] = {}
        self.facts: dict[str, tuple[Fact, ...]] = {}
        self.texts: dict[int, str] = {}

    def text(self, number: int) -> str:
        found = self.texts.get(number)
        if found is None:
            found = self.texts[number] = render_term(self.value(number))
        return found

    def row_text(self, signature: Signature, row: Row) -> str:
        if not row:
            return signature[0]
        return f"{signature[0]}({', '.join([self.text(number) for number in row])})"

    def atom_reader(self, signature: Signature) -> Callable[[Row], Atom]:
        """Give the function from rows to atoms; facts met on the way are kept for the slice."""
        found = self.atoms.get(signature)
        if found is None:
            found = self.atoms[signature] = self._make_atom_reader(signature)
        return found

    def _make_atom_reader(self, signature: Signature) -> Callable[[Row], Atom]:
        known: dict[Row, Atom] = {}
        terms, base, day = self.run.terms, self.run.facts, self.run.valid_on
        is_stored = signature in base.signatures()

        def read(row: Row) -> Atom:
            atom = known.get(row)
            if atom is None:
                facts = base.facts_at(signature, row, day) if is_stored else ()
                if facts:
                    atom = facts[0].atom
                    self.facts[self.row_text(signature, row)] = facts
                else:
                    atom = terms.atom(signature, row)
                known[row] = atom
            return atom

        return read

    def instances(self) -> tuple[Instance, ...]:
        compiled = self.run.compiled
        by_number: dict[int, list[Record]] = {}
        for record in dict.fromkeys(self.run.records):
            by_number.setdefault(record[0], []).append(record)
        found: list[Instance] = []
        text = self.text
        clauses = compiled.plan.clauses
        for number in sorted(by_number, key=lambda number: clauses[number].id):
            records = by_number[number]
            if len(records) > 1:
                records.sort(key=lambda record: [text(part) for part in record[1:]])
            read = self.instance_reader(number, clauses[number])
            found += [read(record) for record in records]
        return tuple(found)

    def instance_reader(self, number: int, clause: Clause) -> Callable[[Record], Instance]:
        """Give the function from the records of one clause to instances."""
        compiled = self.run.compiled
        names = compiled.slots[number]
        value = self.value
        read_head = self.filler(compiled.heads[number])
        positives = [
            None if template is None else self.filler(template)
            for template in compiled.bodies[number]
        ]
        checks, defining = compiled.checks[number], compiled.defining[number]
        doubts = self.run.doubts
        is_definite = not checks and None not in positives

        def read(record: Record) -> Instance:
            bindings = tuple(
                [(name, value(part)) for name, part in zip(names, record[1:], strict=True)]
            )
            if is_definite:
                premises: list[Premise] = [AtomPremise(fill(record)) for fill in positives if fill]
                return Instance(clause.id, bindings, read_head(record), tuple(premises))
            truths = doubts.get(record) if doubts else None
            truth_at = dict(zip(checks, truths, strict=True)) if truths else {}
            named = dict(bindings)
            premises = []
            for at, fill in enumerate(positives):
                if fill is not None:
                    premises.append(AtomPremise(fill(record)))
                    continue
                truth = truth_at.get(at, Truth.TRUE)
                values = named
                if truth is Truth.UNDETERMINED and at in defining:
                    # A definition without a value keeps its variable.
                    values = {name: value for name, value in bindings if value != UNKNOWN}
                premises.append(_other_premise(clause, at, values, truth))
            return Instance(clause.id, bindings, read_head(record), tuple(premises))

        return read

    def filler(self, template: Template) -> Callable[[Record], Atom]:
        """Give the function from records to the atom of a template."""
        signature, parts = template
        read = self.atom_reader(signature)
        constants = self.run.constants
        if all(part >= 0 for part in parts):
            return lambda record: read(tuple([record[part] for part in parts]))
        return lambda record: read(
            tuple([record[part] if part >= 0 else constants[~part] for part in parts])
        )

    def calls(
        self, signature: Signature, bound: Positions, table: Iterable[tuple[Key, Sequence[Row]]]
    ) -> list[Sorted]:
        """Give the calls of one adornment with the texts of their patterns."""
        name = signature[0]
        predicate, negated, free = _free_atom(signature)
        read, value, text = self.atom_reader(signature), self.value, self.text
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
                in_order = sorted([(self.row_text(signature, row), row) for row in rows])
                answers = tuple([read(row) for _, row in in_order])
            pattern = Atom(predicate, tuple(parts), negated)
            found.append((f"{name}({', '.join(texts)})", Call(pattern, answers)))
        return found

    def slice(self, goal: Atom, *, complete: bool, most: int | None) -> Slice:
        answers, possible = self.goal_answers(goal)
        if most is not None and len(answers) > most:
            del answers[most:]
            complete = False
        return Slice(
            goal=goal,
            instances=Later(lambda: self.captured[0]),
            facts=Later(lambda: self.called[2]),
            answers=tuple(answers),
            possible=tuple(possible),
            demands=Later(lambda: self.called[0]),
            lookups=Later(lambda: self.called[1]),
            complete=complete,
            grounds=Later(lambda: self.captured[1]),
        )

    @cached_property
    def captured(self) -> tuple[tuple[Instance, ...], tuple[Fact, ...]]:
        """The instances, with the facts they rest on and those that answer the goal."""
        with paused_collection():
            return self.instances(), self.facts_met()

    @cached_property
    def called(self) -> tuple[tuple[Call, ...], tuple[Call, ...], tuple[Fact, ...]]:
        """Demands and lookups, with all facts that were met."""
        _grounds = self.captured[1]  # known before more facts are met
        with paused_collection():
            return *self.read_calls(), self.facts_met()

    def facts_met(self) -> tuple[Fact, ...]:
        return tuple([fact for text in sorted(self.facts) for fact in self.facts[text]])

    def read_calls(self) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
        run = self.run
        compiled = run.compiled
        derived = compiled.derived
        stored = run.facts.signatures()
        demands: list[Sorted] = []
        for node, table in zip(compiled.nodes, run.tables, strict=True):
            if table and node.signature in derived:
                demands += self.calls(node.signature, node.bound, _answered(table))
        lookups: list[Sorted] = []
        for (signature, bound), memo in zip(compiled.indexes, run.memos, strict=True):
            if memo and (signature in stored or signature not in derived):
                lookups += self.calls(signature, bound, memo.items())
        return _in_order(demands), _in_order(lookups)

    def goal_answers(self, goal: Atom) -> tuple[list[Atom], list[Atom]]:
        """Give the certain and the merely possible answers found for the goal's call, sorted.

        A variable that comes twice has one value.
        """
        run, signature = self.run, goal.signature
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
        read = self.atom_reader(signature)
        rows = dict(_answered(table)).get(key)
        if rows is None:
            rows = self.heads_of(signature, run.compiled.plan.root.bound, known)
        for row in rows:
            if all(len({row[at] for at in group}) == 1 for group in twice):
                is_certain = not run.doubts or run.certainty.holds((signature, row))
                (certain if is_certain else possible).append(
                    (self.row_text(signature, row), read(row))
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


def _other_premise(clause: Clause, at: int, bindings: dict[str, Constant], truth: Truth) -> Premise:
    literal = clause.body[at]
    match literal:
        case Absent(atom):
            return AbsencePremise(bind_atom(atom, bindings), truth)
        case Comparison():
            return ComparisonPremise(render_literal(literal, bindings), truth)
        case Aggregate():
            return AggregatePremise(render_literal(literal, bindings), truth)
        case Positive():
            raise AssertionError("a positive literal has a template")


def _text(pair: tuple[str, Atom]) -> str:
    return pair[0]


def _in_order(calls: list[Sorted]) -> tuple[Call, ...]:
    calls.sort(key=lambda pair: pair[0])
    return tuple([call for _, call in calls])


def _answered(table: dict[Key, object]) -> list[tuple[Key, Sequence[Row]]]:
    """Give the calls of a table with their rows, leaving out those that were cut."""
    found: list[tuple[Key, Sequence[Row]]] = []
    for key, entry in table.items():
        if isinstance(entry, Cell):
            found.append((key, entry.rows))
        elif isinstance(entry, tuple) and not isinstance(entry, Busy):
            found.append((key, entry))
    return found
