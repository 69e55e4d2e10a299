"""Turns what an evaluation recorded into a slice: ids back to terms, everything sorted."""

from __future__ import annotations

from collections.abc import Sequence

from kb.quantity import Truth

from .atom import Atom, Constant, Variable, render_term
from .certainty import Ground, Record
from .clause import Absent, Aggregate, Comparison, Positive, bind_atom, render_literal
from .facts import Fact, Key, Row, Signature
from .magic import Positions
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


def read_slice(run: Run, goal: Atom, *, complete: bool, most: int | None) -> Slice:
    """Give the slice of a goal; `most` cuts the answers, in their order."""
    return _Reader(run).slice(goal, complete=complete, most=most)


class _Reader:
    """Writes ids back to terms, each atom once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.value = run.terms.value
        self.atoms: dict[Ground, Atom] = {}
        self.facts: dict[Ground, tuple[Fact, ...]] = {}
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
            found = self.texts[number] = render_term(self.value(number))
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

    def call(self, signature: Signature, bound: Positions, key: Key, rows: Sequence[Row]) -> Call:
        parts: list[Constant | Variable] = [Variable(f"_{at + 1}") for at in range(signature[1])]
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
        if isinstance(entry, Cell):
            found.append((key, entry.rows))
        elif isinstance(entry, tuple) and not isinstance(entry, Busy):
            found.append((key, entry))
    return found
