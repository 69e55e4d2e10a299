"""Walks through a rule body over what is known: each says what the body lacks on that way.

Where an atom has rows, the walk branches over them; where it has none, the atom is missing and the
walk goes on with its variables open. A test that fails asks for another value of the atom that gave
the tested one.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kb.quantity import Truth

from .arithmetic import Result, Undetermined
from .atom import Atom, Constant, Variable, is_anonymous, render_pattern, render_term
from .bodies import (
    Answers,
    Bindings,
    NotCovered,
    bound_positions,
    collect,
    compare_literal,
    match_row,
    planned,
    value_of,
)
from .clause import Clause, Comparison, bind_atom, render_literal
from .comparison import compare
from .facts import FactBase, Signature
from .magic import (
    Assign,
    Collect,
    Read,
    Refute,
    Step,
    Test,
    expression_names,
    literal_names,
    names_of,
)
from .missing import Derived, Missing, Need
from .prelude import ALIAS, COMPUTED, DECIDED_BY_ORDER, UNDER

MOST_STEPS = 400
MOST_WALKS = 40
MOST_ROWS = 12
STATED_BY = ("stated_by", 4)
NEVER_SOUGHT = DECIDED_BY_ORDER | COMPUTED


@dataclass(frozen=True, slots=True)
class _Walk:
    at: int
    bindings: Bindings
    needs: tuple[Need, ...] = ()
    reads: tuple[tuple[Atom, Atom], ...] = ()
    """Atoms of the body that were read, each with the call that was made for it."""


@dataclass(frozen=True, slots=True)
class Known:
    """What walks read: complete answers of calls, the rules of the policy, the facts.

    `rows` makes a call that was not made before; `answers` are those of all calls so far;
    `sources_below` are the sources of a predicate that are missing.
    """

    clauses: Mapping[Signature, Sequence[Clause]]
    facts: FactBase
    valid_on: datetime.date | None
    rows: Callable[[Atom], Sequence[Atom]]
    answers: Callable[[], Answers]
    sources_below: Callable[[Signature], tuple[str, ...]] = lambda _: ()


def walk_body(
    clause: Clause, pattern: Atom, bindings: Bindings, known: Known
) -> tuple[tuple[Need, ...], ...]:
    """Give what each way through a body lacks, for a call; at most `MOST_WALKS` ways.

    A way that lacks all that another lacks, and more, is left out. Rows are taken by their text.
    """
    steps = planned(clause, bound_positions(pattern))
    found: dict[tuple[Need, ...], None] = {}
    waiting, budget = [_Walk(0, bindings)], MOST_STEPS
    walker = _Walker(clause, known)
    while waiting and budget and len(found) < MOST_WALKS:
        budget -= 1
        walk = waiting.pop()
        if walk.at == len(steps):
            found[_without_doubt(walk.needs)] = None
            continue
        waiting.extend(walker.advance(steps[walk.at], walk))
    sets = [frozenset(needs) for needs in found]
    return tuple(
        needs
        for needs, own in zip(found, sets, strict=True)
        if needs and not any(other < own for other in sets)
    )


def _without_doubt(needs: tuple[Need, ...]) -> tuple[Need, ...]:
    """Ask for other values, not for more precise ones, where something else is missing anyway."""
    needs = tuple(dict.fromkeys(needs))
    if all(isinstance(need, Missing) and need.undetermined for need in needs):
        return needs
    return tuple(need.as_gap() if isinstance(need, Missing) else need for need in needs)


@dataclass(frozen=True, slots=True)
class _Walker:
    clause: Clause
    known: Known

    def advance(self, step: Step, walk: _Walk) -> Iterable[_Walk]:
        bound = walk.bindings
        match step:
            case Read(_, atom, _):
                return self._read(atom, walk)
            case Test(_, comparison, defines):
                if not literal_names(comparison) <= bound.keys():
                    return [self._on(walk)]
                truth = compare_literal(comparison, bound, defines=defines)
                if truth is Truth.TRUE:
                    return [self._on(walk)]
                return [self._on(walk, self._failed_comparison(comparison, truth, walk))]
            case Assign(index, variable, expression):
                if not expression_names(expression) <= bound.keys():
                    return [self._on(walk)]
                value = value_of(expression, bound)
                if isinstance(value, Undetermined):
                    return [self._on(walk, self._undefined(index, value.reason, walk))]
                return [self._on(walk, bindings={**bound, variable.name: value})]
            case Refute(_, atom, _):
                pattern = bind_atom(atom, bound)
                if not _is_known(pattern):  # whatever is missing gives the value
                    return [self._on(walk)]
                # Where something else is missing, a variable may be open, and stand twice.
                known = self.known.rows(pattern)
                found = [row for row in known if match_row(pattern, row, {}) is not None]
                rows = tuple(sorted(found, key=str))
                if rows:
                    return [self._on(walk, self._excluded(pattern, rows))]
                lost = self.known.sources_below(atom.signature)
                text = f"not {render_pattern(pattern)}"
                return [self._on(walk, self._unsourced(pattern, text, lost) if lost else None)]
            case Collect():
                return [self._collect(step, walk)]

    def _on(
        self, walk: _Walk, need: Need | None = None, *, bindings: Bindings | None = None
    ) -> _Walk:
        needs = walk.needs if need is None else (*walk.needs, need)
        return _Walk(
            walk.at + 1, walk.bindings if bindings is None else bindings, needs, walk.reads
        )

    def _read(self, atom: Atom, walk: _Walk) -> list[_Walk]:
        pattern = bind_atom(atom, walk.bindings)
        rows = self.known.rows(pattern)
        uncertain = self.known.answers().uncertain
        reads = (*walk.reads, (atom, pattern))
        walks: list[_Walk] = []
        for row in rows:
            extended = None if row in uncertain else match_row(atom, row, walk.bindings)
            if extended is not None:
                walks.append(_Walk(walk.at + 1, extended, walk.needs, reads))
                if len(walks) == MOST_ROWS:
                    break
        if walks:
            return walks[::-1]
        return [self._on(walk, self._unread(atom, pattern, walk))]

    def _unread(self, atom: Atom, pattern: Atom, walk: _Walk) -> Need:
        """Say what is missing where nothing answers a call."""
        if atom.signature in DECIDED_BY_ORDER:
            return self._failed_order(atom, pattern, walk)
        if atom.signature == STATED_BY:
            elsewhere = self._stated_elsewhere(atom, pattern, walk)
            if elsewhere is not None:
                return elsewhere
        if pattern.signature in self.known.clauses:
            instead = self._another(names_of(atom), walk)
            detail = f"{render_pattern(pattern)} is needed, and its rules cannot conclude it"
            other = None if instead is None else Missing(instead, self.clause.id, detail)
            return Derived(pattern, self.clause.id, other)
        return Missing(as_stated(pattern), self.clause.id)

    def _failed_order(self, atom: Atom, pattern: Atom, walk: _Walk) -> Missing:
        """Ask for another value where the order of values refuses this one."""
        detail = f"{render_pattern(atom)} is needed, but {self._refusal(pattern)}"
        culprit = self._another(names_of(atom), walk)
        above = pattern.arguments[-1]
        unknown = None
        if atom.signature == UNDER and not isinstance(above, Variable):
            unknown = None if self._is_ordered(above) else above
        if culprit is not None:
            is_class = atom.signature == UNDER and not isinstance(above, Variable)
            expected = f"class {render_term(above)}" if is_class else ""
            return Missing(
                culprit, self.clause.id, detail, expected=expected, unknown_class=unknown
            )
        if names_of(atom) & names_of(self.clause.head):
            head = bind_atom(self.clause.head, walk.bindings)
            return Missing(head, self.clause.id, detail, is_final=True)
        return Missing(as_stated(pattern), self.clause.id, detail, unknown_class=unknown)

    def _refusal(self, pattern: Atom) -> str:
        """Say why the order of values refuses a call."""
        if pattern.signature != UNDER:
            return f"{render_pattern(pattern)} does not hold"
        for value in reversed(pattern.arguments):
            if not isinstance(value, Variable) and not self._is_ordered(value):
                return f"no taxonomy holds {render_term(value)}"
        low, high = map(render_term, pattern.arguments)
        return f"{low} does not lie under {high}"

    def _is_ordered(self, value: Constant) -> bool:
        facts, day, other = self.known.facts, self.known.valid_on, Variable("V")
        return any(
            facts.match(Atom("subclass_of", pair), day) for pair in ((value, other), (other, value))
        )

    def _failed_comparison(self, comparison: Comparison, truth: Truth, walk: _Walk) -> Missing:
        """Ask for another value of the atom that gave the one which a comparison refuses."""
        text = render_literal(comparison, walk.bindings)
        culprit = self._another(literal_names(comparison), walk)
        atom = culprit if culprit is not None else bind_atom(self.clause.head, walk.bindings)
        detail = f"{render_literal(comparison)} is needed, but {text} is {truth.value}"
        undetermined = text if truth is Truth.UNDETERMINED else ""
        self.known.rows(atom)
        return Missing(
            atom,
            self.clause.id,
            detail,
            undetermined,
            is_final=culprit is None and not undetermined,
        )

    def _undefined(self, index: int, reason: str, walk: _Walk) -> Missing:
        """Ask for another value of an atom that a definition without a value reads."""
        definition = self.clause.body[index]
        text = render_literal(definition, walk.bindings)
        names = literal_names(definition) & walk.bindings.keys()
        culprit = self._another(names, walk)
        atom = culprit if culprit is not None else bind_atom(self.clause.head, walk.bindings)
        self.known.rows(atom)
        detail = f"{render_literal(definition)} is needed, but has no certain value: {reason}"
        return Missing(atom, self.clause.id, detail, text)

    def _another(self, names: Collection[str], walk: _Walk) -> Atom | None:
        """Give the call that bound one of the names last, one of a stored predicate if any did."""
        wanted = set(names)
        givers = [
            (atom, call)
            for atom, call in reversed(walk.reads)
            if names_of(call) & wanted and atom.signature not in NEVER_SOUGHT
        ]
        stated = [item for item in givers if item[0].signature not in self.known.clauses]
        chosen = [*stated, *givers]
        return chosen[0][1] if chosen else None

    def _excluded(self, pattern: Atom, rows: tuple[Atom, ...]) -> Missing:
        uncertain = self.known.answers().uncertain
        certain = [row for row in rows if row not in uncertain]
        shown = certain or rows
        held = ", ".join(map(str, shown[:MOST_ROWS]))
        if len(shown) > MOST_ROWS:
            held += f" and {len(shown) - MOST_ROWS} more"
        verb = ("holds" if len(shown) == 1 else "hold") if certain else "may hold"
        detail = f"the rule needs that this does not hold, but {held} {verb}"
        return Missing(pattern, self.clause.id, detail, excluding=rows, is_final=True)

    def _collect(self, step: Collect, walk: _Walk) -> _Walk:
        bound = walk.bindings
        if not {variable.name for variable in step.globals} <= bound.keys():
            return self._on(walk)
        for inner in step.steps:
            if isinstance(inner, Read):
                self.known.rows(bind_atom(inner.atom, bound))
        value, certain = self._aggregated(step, bound)
        reads = [inner.atom for inner in step.steps if isinstance(inner, (Read, Refute))]
        lost = tuple(
            dict.fromkeys(
                name for atom in reads for name in self.known.sources_below(atom.signature)
            )
        )
        if lost:
            text = render_literal(step.aggregate, bound)
            return self._on(walk, self._unsourced(bind_atom(reads[0], bound), text, lost))
        if not certain:
            value = Undetermined("a row is doubtful")
        if step.assigned is not None:
            if not isinstance(value, Undetermined):
                bound = {**bound, step.assigned.name: value}
            return self._on(walk, bindings=bound)
        aggregate = step.aggregate
        result = value_of(aggregate.result, bound)
        truth = Truth.UNDETERMINED
        if not isinstance(value, Undetermined) and not isinstance(result, Undetermined):
            truth = compare(aggregate.operator, result, value)
        if truth is Truth.TRUE:
            return self._on(walk)
        text = render_literal(aggregate, bound)
        read = next(inner.atom for inner in step.steps if isinstance(inner, Read))
        shown = "undetermined" if isinstance(value, Undetermined) else render_term(value)
        detail = f"{text} is {truth.value}: the aggregate is {shown}"
        undetermined = text if truth is Truth.UNDETERMINED else ""
        return self._on(walk, Missing(bind_atom(read, bound), self.clause.id, detail, undetermined))

    def _unsourced(self, pattern: Atom, text: str, lost: tuple[str, ...]) -> Missing:
        """Ask for the complete source from which alone an absence or an aggregate could follow."""
        names = " and ".join(lost)
        verb = "is" if len(lost) == 1 else "are"
        detail = f"{names}, declared complete, {verb} missing: nobody knows what is not stated"
        return Missing(pattern, self.clause.id, detail, text, expected="a table", source=names)

    def _aggregated(self, step: Collect, bound: Bindings) -> tuple[Result, bool]:
        while True:
            try:
                return collect(step, bound, self.known.answers())
            except NotCovered as error:  # what further atoms or names the aggregate reads
                self.known.rows(error.pattern)

    def _stated_elsewhere(self, atom: Atom, pattern: Atom, walk: _Walk) -> Missing | None:
        """Ask for a statement again that stands in a document of the wrong kind or issuer."""
        if not isinstance(pattern.arguments[0], str):
            return None
        entry = atom.arguments[0]
        for read, call in reversed(walk.reads):
            if entry in read.arguments:
                needed = render_pattern(pattern).partition(", ")[2]
                kinds = sorted(self._kinds(pattern.arguments[0]))
                shown = ", ".join(kinds) if kinds else "a document of unknown kind"
                detail = f"stated_by(.., {needed} is needed; it is stated in: {shown}"
                return Missing(call, self.clause.id, detail)
        return None

    def _kinds(self, statement_id: str) -> set[str]:
        facts, day = self.known.facts, self.known.valid_on
        where = Atom("stated_in", (statement_id, Variable("D")))
        return {
            str(kind.atom.arguments[1])
            for fact in facts.match(where, day)
            for kind in facts.match(
                Atom("document_kind", (fact.atom.arguments[1], Variable("K"))), day
            )
        }


def _is_known(pattern: Atom) -> bool:
    """Whether only what may be anything is unbound."""
    return all(not isinstance(a, Variable) or is_anonymous(a) for a in pattern.arguments)


def as_stated(pattern: Atom) -> Atom:
    """Give what a source would have to state for an atom that only the prelude concludes."""
    if pattern.signature == UNDER:
        return Atom("subclass_of", pattern.arguments)
    if pattern.signature == ALIAS:
        return Atom("same_as", pattern.arguments)
    return pattern
