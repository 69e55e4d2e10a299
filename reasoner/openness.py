"""Open requirements: what is missing, for the rules closest to firing.

Each rule body is walked over what is known; where nothing answers, the atom is missing and the walk
goes on with its variables open. A missing atom that rules could derive is replaced by what these
rules miss. The cheapest walk of a rule says how close it is.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kb.quantity import Date, Quantity, Truth

from .arithmetic import Undetermined, compare
from .atom import Atom, Constant, Symbol, Variable, render_term
from .bodies import (
    Answers,
    Bindings,
    bound_positions,
    collect,
    compare_literal,
    match_row,
    planned,
    unify_head,
    value_of,
)
from .clause import Clause, Comparison, bind_atom, render_literal
from .facts import FactBase, Signature
from .magic import (
    Assign,
    Collect,
    Read,
    Refute,
    Step,
    Test,
    expression_names,
    is_anonymous,
    literal_names,
)
from .sources import Sources
from .verdict import AbstentionCode, OpenRequirement

MOST_REQUIREMENTS = 40
_MOST_WALKS = 400
_MOST_ROWS = 12
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Missing:
    """One thing a rule lacks: an atom, or a test that fails; `detail` says why it is missing."""

    atom: Atom
    rule: str
    detail: str = ""
    undetermined: str = ""
    absent: bool = False


@dataclass(frozen=True, slots=True)
class _Walk:
    at: int
    bindings: Bindings
    missing: tuple[Missing, ...] = ()
    reads: tuple[Atom, ...] = ()


def requirement_text(atom: Atom) -> str:
    """Write an atom with its open variables; anonymous ones as `_`."""
    if not atom.arguments:
        return str(atom)
    inner = ", ".join(
        "_" if isinstance(item, Variable) and is_anonymous(item) else render_term(item)
        for item in atom.arguments
    )
    return f"{'-' if atom.negated else ''}{atom.predicate}({inner})"


@dataclass(slots=True)
class Openness:
    """Finds the open requirements of a goal.

    `ensure` makes a call of the slice where none covers a pattern, so that the witness shows it.
    """

    clauses: Mapping[Signature, Sequence[Clause]]
    answers: Answers
    ensure: Callable[[Atom], None]
    _best: dict[str, tuple[Missing, ...]] = field(default_factory=dict)
    _later: list[tuple[Missing, ...]] = field(default_factory=list)

    def missing(self, goal: Atom) -> tuple[Missing, ...]:
        """Give everything missing, that of the closest rule first."""
        found: dict[tuple[str, str, str], Missing] = {}
        groups = self._alternatives(goal, (), "")
        for group in (*groups, *self._later):
            for item in group:
                key = (requirement_text(item.atom), item.rule, item.undetermined)
                found.setdefault(key, item)
        return tuple(found.values())[:MOST_REQUIREMENTS]

    def _rows(self, pattern: Atom) -> Sequence[Atom]:
        self.ensure(pattern)
        return self.answers.rows(pattern)

    def _alternatives(
        self, pattern: Atom, path: tuple[str, ...], rule: str
    ) -> list[tuple[Missing, ...]]:
        """Give what each rule for a pattern misses, the least first; a stored one misses itself."""
        text = requirement_text(pattern)
        self.ensure(pattern)
        clauses = self.clauses.get(pattern.signature, ())
        if not clauses or text in path or len(path) > _DEEPEST:
            return [(Missing(pattern, rule),)]
        found = []
        for order, clause in enumerate(clauses):
            bindings = unify_head(clause.head, pattern)
            if bindings is None or not clause.body:
                continue
            missing = self._closest(clause, pattern, bindings, (*path, text))
            if missing:
                found.append((len(missing), order, missing))
        found.sort(key=lambda item: item[:2])
        return [missing for _, _, missing in found] or [(Missing(pattern, rule),)]

    def _closest(
        self, clause: Clause, pattern: Atom, bindings: Bindings, path: tuple[str, ...]
    ) -> tuple[Missing, ...]:
        """Give what the best walk through one body misses."""
        steps = planned(clause, bound_positions(pattern))
        best: tuple[Missing, ...] | None = None
        waiting, budget = [_Walk(0, bindings)], _MOST_WALKS
        while waiting and budget:
            budget -= 1
            walk = waiting.pop()
            if best is not None and len(walk.missing) >= len(best):
                continue
            if walk.at == len(steps):
                best = walk.missing
                continue
            waiting.extend(self._steps(steps[walk.at], walk, clause))
        return self._expanded(best or (), path)

    def _expanded(self, missing: tuple[Missing, ...], path: tuple[str, ...]) -> tuple[Missing, ...]:
        """Replace missing atoms that rules derive by what the closest of these rules misses."""
        expanded: list[Missing] = []
        for item in missing:
            if item.detail or item.undetermined or item.absent:
                expanded.append(item)
                continue
            text = requirement_text(item.atom)
            if text not in self._best:
                first, *others = self._alternatives(item.atom, path, item.rule)
                self._best[text] = first
                self._later.extend(others)
            expanded.extend(self._best[text])
        return tuple(dict.fromkeys(expanded))

    def _steps(self, step: Step, walk: _Walk, clause: Clause) -> Iterable[_Walk]:
        known, at = walk.bindings, walk.at + 1
        match step:
            case Read(_, atom, _):
                return self._read(atom, walk, clause)
            case Test(_, comparison, defines):
                if not literal_names(comparison) <= known.keys():
                    return [_Walk(at, known, walk.missing, walk.reads)]
                truth = compare_literal(comparison, known, defines=defines)
                if truth is Truth.TRUE:
                    return [_Walk(at, known, walk.missing, walk.reads)]
                item = self._failed(comparison, truth, walk, clause)
                return [_Walk(at, known, (*walk.missing, item), walk.reads)]
            case Assign(_, variable, expression):
                if expression_names(expression) <= known.keys():
                    value = value_of(expression, known)
                    if not isinstance(value, Undetermined):
                        known = {**known, variable.name: value}
                return [_Walk(at, known, walk.missing, walk.reads)]
            case Refute(_, atom, _):
                pattern = bind_atom(atom, known)
                rows = self._rows(pattern)
                missing = walk.missing
                if rows:
                    detail = f"{rows[0]} holds"
                    missing = (*missing, Missing(pattern, clause.id, detail, absent=True))
                return [_Walk(at, known, missing, walk.reads)]
            case Collect():
                return self._collect(step, walk, clause)

    def _read(self, atom: Atom, walk: _Walk, clause: Clause) -> Iterable[_Walk]:
        pattern = bind_atom(atom, walk.bindings)
        rows = self._rows(pattern)
        walks = []
        for row in rows[:_MOST_ROWS]:
            extended = match_row(atom, row, walk.bindings)
            if extended is not None:
                walks.append(_Walk(walk.at + 1, extended, walk.missing, (*walk.reads, atom)))
        if walks:
            return walks[::-1]
        item = Missing(pattern, clause.id)
        return [_Walk(walk.at + 1, walk.bindings, (*walk.missing, item), walk.reads)]

    def _collect(self, step: Collect, walk: _Walk, clause: Clause) -> Iterable[_Walk]:
        known, missing, at = walk.bindings, walk.missing, walk.at + 1
        if not {variable.name for variable in step.globals} <= known.keys():
            return [_Walk(at, known, missing, walk.reads)]
        for inner in step.steps:
            if isinstance(inner, Read):
                self.ensure(bind_atom(inner.atom, known))
        value, _ = collect(step, known, self.answers)
        if step.assigned is not None:
            if not isinstance(value, Undetermined):
                known = {**known, step.assigned.name: value}
            return [_Walk(at, known, missing, walk.reads)]
        aggregate = step.aggregate
        result = value_of(aggregate.result, known)
        truth = Truth.UNDETERMINED
        if not isinstance(value, Undetermined) and not isinstance(result, Undetermined):
            truth = compare(aggregate.operator, result, value)
        if truth is not Truth.TRUE:
            text = render_literal(aggregate, known)
            read = next(inner.atom for inner in step.steps if isinstance(inner, Read))
            shown = "undetermined" if isinstance(value, Undetermined) else render_term(value)
            item = Missing(
                bind_atom(read, known),
                clause.id,
                f"{text} is {truth.value}: the aggregate is {shown}",
                undetermined=text if truth is Truth.UNDETERMINED else "",
            )
            missing = (*missing, item)
        return [_Walk(at, known, missing, walk.reads)]

    def _failed(self, comparison: Comparison, truth: Truth, walk: _Walk, clause: Clause) -> Missing:
        """Name the atom that gave the value which a comparison refuses, its value left open."""
        names = literal_names(comparison)
        text = render_literal(comparison, walk.bindings)
        givers = [
            atom
            for atom in reversed(walk.reads)
            if any(isinstance(a, Variable) and a.name in names for a in atom.arguments)
        ]
        stated = [atom for atom in givers if atom.signature not in self.clauses]
        culprit = next(iter((*stated, *givers)), clause.head)
        others = {name: value for name, value in walk.bindings.items() if name not in names}
        detail = f"{render_literal(comparison)} is needed, but {text} is {truth.value}"
        undetermined = text if truth is Truth.UNDETERMINED else ""
        atom = bind_atom(culprit, others)
        self.ensure(atom)
        return Missing(atom, clause.id, detail, undetermined)


def requirement_id(atom: str, rule: str) -> str:
    """Give the stable id of an open requirement."""
    digest = hashlib.sha256(f"{atom}\n{rule}".encode()).hexdigest()
    return f"or:{digest[:16]}"


def write_requirement(
    missing: Missing, *, facts: FactBase, sources: Sources, valid_on: datetime.date | None
) -> OpenRequirement:
    """Turn something missing into an open requirement, with code, query and entity test."""
    atom = missing.atom
    text = missing.undetermined or requirement_text(atom)
    if missing.absent:
        text = f"not {text}"
    entity = next((a for a in atom.arguments if isinstance(a, (str, Symbol))), None)
    name = entity.name if isinstance(entity, Symbol) else entity or ""
    query = _query(atom)
    detail = missing.detail or _hidden(atom, facts, valid_on)
    rejected: tuple[str, ...] = ()
    if missing.undetermined:
        code = AbstentionCode.UNDETERMINED
    else:
        found = sources.candidates(query, name)
        rejected = found.rejected
        if found.accepted:
            code = AbstentionCode.GAP_IN_EXTRACTION
        elif rejected:
            code = AbstentionCode.UNVERIFIED_ENTITY
        else:
            code = AbstentionCode.GAP_IN_CORPUS
    return OpenRequirement(
        id=requirement_id(text, missing.rule),
        atom=text,
        code=code,
        rule=missing.rule,
        query=query,
        expected="absence" if missing.absent else _expected(atom, facts),
        entity_test=f"names {name}" if name else "",
        detail=detail,
        rejected=rejected,
    )


def _query(atom: Atom) -> str:
    words = [atom.predicate.replace("_", " ")]
    for argument in atom.arguments:
        match argument:
            case Variable():
                continue
            case Symbol(name):
                words.insert(-1, name)
            case str():
                words.insert(-1, argument)
            case other:
                words.append(_plain(other))
    return " ".join(words)


def _plain(value: Constant) -> str:
    return str(value) if isinstance(value, (Date, Quantity)) else render_term(value)


def _hidden(atom: Atom, facts: FactBase, valid_on: datetime.date | None) -> str:
    """Tell of a statement that would do but does not hold on the day of the request."""
    if valid_on is None:
        return ""
    for fact in facts.match(atom, None):
        if not fact.validity.holds_on(valid_on):
            start, end = fact.validity.start or "", fact.validity.end or ""
            return f"{fact.atom} is stated for {start}..{end}, not for {valid_on}"
    return ""


def _expected(atom: Atom, facts: FactBase) -> str:
    """Guess the kind of the open argument from what is stated of others."""
    open_at = [at for at, a in enumerate(atom.arguments) if isinstance(a, Variable)]
    if not open_at:
        return "statement"
    rows = facts.lookup(atom.signature, (), None)(())
    if not rows:
        return "value"
    seen = facts.facts_at(atom.signature, rows[0], None)[0].atom
    match seen.arguments[open_at[0]]:
        case Date():
            return "date"
        case Quantity():
            return "quantity"
        case str() | Symbol():
            return "name"
    return "number"
