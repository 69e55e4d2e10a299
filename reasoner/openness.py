"""Open requirements: what is missing, for the rules closest to firing.

Each rule body is walked over what is known; where nothing answers, the atom is missing and the walk
goes on with its variables open. A missing atom that rules could derive is replaced by what these
rules miss. The cheapest walk of a rule says how close it is.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kb.quantity import Date, Quantity, Truth

from .arithmetic import UNKNOWN, Undetermined, compare
from .atom import Atom, Constant, Symbol, Variable, render_pattern, render_term
from .bodies import (
    Answers,
    Bindings,
    NotCovered,
    bound_positions,
    collect,
    compare_literal,
    match_row,
    planned,
    unify_head,
    value_of,
)
from .clause import Clause, Comparison, bind_atom, render_literal
from .closed_slice import close_slice, merge_slices, uncertain_rows
from .facts import FactBase
from .inquiry import Inquiry
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
from .slice import AggregatePremise, ComparisonPremise, Slice
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

    @property
    def text(self) -> str:
        """What is open: an atom, an absence that fails, or an undetermined test."""
        if self.undetermined:
            return self.undetermined
        return f"not {render_pattern(self.atom)}" if self.absent else render_pattern(self.atom)

    def as_gap(self) -> Missing:
        """Give what would make an undetermined test unnecessary: another atom."""
        return replace(self, undetermined="")


@dataclass(frozen=True, slots=True)
class _Walk:
    at: int
    bindings: Bindings
    missing: tuple[Missing, ...] = ()
    reads: tuple[tuple[Atom, Atom], ...] = ()
    """Atoms of the body that were read, each with the call that was made for it."""


class Openness:
    """Finds the open requirements of a goal.

    A requirement is traced through the policy's own rules; predicates of the prelude are asked for
    as they are. Undetermined tests are named where the goal is possible but for them. Calls that
    the slice of the goal did not make are made now, so that the witness can show them.
    """

    def __init__(self, inquiry: Inquiry, part: Slice) -> None:
        self.inquiry = inquiry
        self.clauses = inquiry.own_clauses()
        self.facts = inquiry.facts
        self.slices = [part]
        self.is_possible = bool(part.possible)
        self.answers = self._answers()
        self._best: dict[str, tuple[Missing, ...]] = {}
        self._later: list[tuple[Missing, ...]] = []

    def _answers(self) -> Answers:
        part = merge_slices(self.slices)
        return Answers(part.demands, part.lookups, uncertain_rows(part, close_slice(part)))

    def missing(self, goal: Atom) -> tuple[Missing, ...]:
        """Give everything missing, that of the closest rule first."""
        found: dict[tuple[str, str], Missing] = {}
        groups = self._alternatives(goal, (), "")
        for group in (*groups, *self._later):
            for item in group if self.is_possible else [item.as_gap() for item in group]:
                found.setdefault((item.text, item.rule), item)
        return tuple(found.values())[:MOST_REQUIREMENTS]

    def ensure(self, pattern: Atom) -> None:
        """Make a call unless another covers it. Raises NotCovered if the budget is spent."""
        try:
            self.answers.rows(pattern)
        except NotCovered:
            part = self.inquiry.slice(pattern)
            if not part.complete:
                raise
            self.slices.append(part)
            self.answers = self._answers()

    def _rows(self, pattern: Atom) -> Sequence[Atom]:
        self.ensure(pattern)
        return self.answers.rows(pattern)

    def _alternatives(
        self, pattern: Atom, path: tuple[str, ...], rule: str
    ) -> list[tuple[Missing, ...]]:
        """Give what each rule for a pattern misses, the least first; a stored one misses itself."""
        text = render_pattern(pattern)
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
        found = best or ()
        if any(not item.undetermined for item in found):
            found = tuple(item.as_gap() for item in found)  # something else is missing anyway
        return self._expanded(found, path)

    def _expanded(self, missing: tuple[Missing, ...], path: tuple[str, ...]) -> tuple[Missing, ...]:
        """Replace missing atoms that rules derive by what the closest of these rules misses."""
        expanded: list[Missing] = []
        for item in missing:
            if item.detail or item.undetermined or item.absent:
                expanded.append(item)
                continue
            text = render_pattern(item.atom)
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
        certain = [row for row in rows if row not in self.answers.uncertain]
        for row in certain[:_MOST_ROWS]:
            extended = match_row(atom, row, walk.bindings)
            if extended is not None:
                reads = (*walk.reads, (atom, pattern))
                walks.append(_Walk(walk.at + 1, extended, walk.missing, reads))
        if walks:
            return walks[::-1]
        item = self._stated_elsewhere(atom, pattern, walk, clause) or Missing(pattern, clause.id)
        return [_Walk(walk.at + 1, walk.bindings, (*walk.missing, item), walk.reads)]

    def _collect(self, step: Collect, walk: _Walk, clause: Clause) -> Iterable[_Walk]:
        known, missing, at = walk.bindings, walk.missing, walk.at + 1
        if not {variable.name for variable in step.globals} <= known.keys():
            return [_Walk(at, known, missing, walk.reads)]
        for inner in step.steps:
            if isinstance(inner, Read):
                self.ensure(bind_atom(inner.atom, known))
        value, certain = collect(step, known, self.answers)
        if not certain:
            value = Undetermined("a row is doubtful")
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
        givers = [read for read in reversed(walk.reads) if names & names_of(read[0])]
        stated = [read for read in givers if read[0].signature not in self.clauses]
        culprits = [*stated, *givers]
        atom = culprits[0][1] if culprits else bind_atom(clause.head, walk.bindings)
        detail = f"{render_literal(comparison)} is needed, but {text} is {truth.value}"
        undetermined = text if truth is Truth.UNDETERMINED else ""
        self.ensure(atom)
        return Missing(atom, clause.id, detail, undetermined)

    def _stated_elsewhere(
        self, atom: Atom, pattern: Atom, walk: _Walk, clause: Clause
    ) -> Missing | None:
        """Ask for a statement again that stands in a document of the wrong kind or issuer."""
        if atom.signature != STATED_BY or not isinstance(pattern.arguments[0], str):
            return None
        entry = atom.arguments[0]
        for read, call in reversed(walk.reads):
            if entry in read.arguments:
                needed = render_pattern(pattern).partition(", ")[2]
                kinds = sorted(self._kinds(pattern.arguments[0]))
                shown = ", ".join(kinds) if kinds else "a document of unknown kind"
                detail = f"stated_by(.., {needed} is needed; it is stated in: {shown}"
                return Missing(call, clause.id, detail)
        return None

    def _kinds(self, statement_id: str) -> set[str]:
        where = Atom("stated_in", (statement_id, Variable("D")))
        return {
            str(kind.atom.arguments[1])
            for fact in self.facts.match(where, self.inquiry.valid_on)
            for kind in self.facts.match(
                Atom("document_kind", (fact.atom.arguments[1], Variable("K"))),
                self.inquiry.valid_on,
            )
        }


STATED_BY = ("stated_by", 4)


def requirement_id(atom: str, rule: str) -> str:
    """Give the stable id of an open requirement."""
    digest = hashlib.sha256(f"{atom}\n{rule}".encode()).hexdigest()
    return f"or:{digest[:16]}"


def write_requirement(
    missing: Missing, *, facts: FactBase, sources: Sources, valid_on: datetime.date | None
) -> OpenRequirement:
    """Turn something missing into an open requirement, with code, query and entity test."""
    atom = missing.atom
    text = missing.text
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
            detail = (
                detail or f"passages that name it, none stating this: {'; '.join(found.accepted)}"
            )
        if rejected:
            code = AbstentionCode.UNVERIFIED_ENTITY
        elif found.accepted:
            code = AbstentionCode.GAP_IN_EXTRACTION
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


def undetermined_requirements(part: Slice) -> tuple[OpenRequirement, ...]:
    """Name the undetermined comparisons of a slice whose goal is possible only."""
    found: dict[str, str] = {}
    closed = close_slice(part)
    for instance in part.instances:
        if closed.derives(instance.head):
            continue
        for premise in instance.premises:
            if (
                isinstance(premise, (ComparisonPremise, AggregatePremise))
                and premise.truth is Truth.UNDETERMINED
                and UNKNOWN.name not in premise.text
            ):
                found.setdefault(premise.text, instance.rule_id)
    return tuple(
        OpenRequirement(
            id=requirement_id(text, rule),
            atom=text,
            code=AbstentionCode.UNDETERMINED,
            rule=rule,
            query="",
            expected="a more precise value",
            entity_test="",
            detail="the sources are not precise enough",
        )
        for text, rule in sorted(found.items())
    )
