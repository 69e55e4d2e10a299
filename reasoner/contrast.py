"""Why one goal is proved and another is not: the requirements at which the two differ.

The proof of the one is followed from its goal down. At each rule the same rule is tried for the
other, arguments mapped by its head; the best way through its body says which literals have no
counterpart. Below one that rules conclude, its own rule is tried in turn; below one that holds for
both nothing can differ.

Source: contrastive explanation as in Lipton, Contrastive Explanation (1990): the cause of P rather
than Q is what P's history has and Q's lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kb.quantity import Truth

from .arithmetic import Undetermined
from .atom import Atom, render_pattern, render_term
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
from .clause import Clause, bind_atom, render_literal
from .closed_slice import merge_slices, uncertain_rows
from .comparison import compare
from .inquiry import Inquiry
from .magic import Assign, Collect, Read, Refute, Step, Test, expression_names, literal_names
from .trees import Json

_MOST_WALKS = 400
_MOST_ROWS = 12
MOST_DIFFERENCES = 100


@dataclass(frozen=True, slots=True)
class Difference:
    """A requirement that one proof meets and the other goal lacks.

    `step` is the step of the proof that meets it; `pattern` what it is for the other goal, where
    that is an atom, and `counterpart` its text. `part_of` is the place of the difference above, -1
    at the top; `depth` is 1 there. `detail` says why a test or an absence fails.
    """

    step: Json
    counterpart: str
    pattern: Atom | None
    rule: str
    depth: int
    part_of: int
    detail: str = ""
    is_undetermined: bool = False


@dataclass(frozen=True, slots=True)
class _Gap:
    """A literal of a body, by its place, that does not hold."""

    at: int
    text: str
    pattern: Atom | None
    detail: str = ""
    is_undetermined: bool = False


@dataclass(frozen=True, slots=True)
class _Walk:
    at: int
    bindings: Bindings
    gaps: tuple[_Gap, ...] = ()


@dataclass(slots=True)
class Contrast:
    """Follows the proof of a certificate for the other goal, on which `inquiry` is.

    `is_cut` says that a budget cut a search: what it did not find is then no difference.
    """

    certificate: Json
    inquiry: Inquiry
    is_cut: bool = False
    _clauses: dict[str, Clause] = field(default_factory=dict)
    _steps: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own = self.inquiry.own_clauses().values()
        self._clauses = {clause.id: clause for group in own for clause in group}
        self._steps = {step["id"]: step for step in self.certificate["steps"]}

    def differences(self, root: str, other: Atom) -> tuple[Difference, ...]:
        """Give the differences below the step `root`, the topmost first.

        Where it concludes another predicate, below the topmost step that concludes that of the
        other goal. Empty where there is none, or where all below it holds.
        """
        found: list[Difference] = []
        start = self._counterpart(root, other)
        queue: list[tuple[Json, Atom, int, int]] = [] if start is None else [(start, other, 1, -1)]
        seen: set[tuple[str, str]] = set()
        for step, pattern, depth, part_of in queue:
            key = (step["id"], render_pattern(pattern))
            clause = self._clauses.get(step.get("rule", ""))
            self.is_cut = self.is_cut or len(found) >= MOST_DIFFERENCES
            if clause is None or key in seen or len(found) >= MOST_DIFFERENCES:
                continue
            seen.add(key)
            for gap in self._gaps(clause, pattern):
                premise = self._steps[step["premises"][gap.at]]
                found.append(
                    Difference(
                        premise,
                        gap.text,
                        gap.pattern,
                        clause.id,
                        depth,
                        part_of,
                        gap.detail,
                        gap.is_undetermined,
                    )
                )
                if gap.pattern is not None and not gap.detail:
                    queue.append((premise, gap.pattern, depth + 1, len(found) - 1))
        return tuple(found)

    def _counterpart(self, root: str, other: Atom) -> Json | None:
        """Find the topmost step at or below `root` whose rule concludes the predicate of a goal."""
        level = [root]
        seen = {root}
        for name in level:
            step = self._steps[name]
            clause = self._clauses.get(step.get("rule", ""))
            if clause is not None and clause.head.signature == other.signature:
                return step
            fresh = [premise for premise in step["premises"] if premise not in seen]
            seen.update(fresh)
            level.extend(fresh)
        return None

    def _gaps(self, clause: Clause, pattern: Atom) -> Iterable[_Gap]:
        """Give what the best way through a body lacks, in the order of the body."""
        bindings = unify_head(clause.head, pattern)
        if bindings is None or clause.head.signature != pattern.signature:
            return ()
        steps = planned(clause, bound_positions(pattern))
        best: tuple[_Gap, ...] | None = None
        waiting, budget = [_Walk(0, bindings)], _MOST_WALKS
        while waiting and budget:
            budget -= 1
            walk = waiting.pop()
            if best is not None and len(walk.gaps) >= len(best):
                continue
            if walk.at == len(steps):
                best = walk.gaps
                continue
            waiting.extend(self._advance(steps[walk.at], walk))
        return sorted(best or (), key=lambda gap: gap.at)

    def _advance(self, step: Step, walk: _Walk) -> list[_Walk]:
        known, at = walk.bindings, walk.at + 1
        passed = [_Walk(at, known, walk.gaps)]
        match step:
            case Read(index, atom, _):
                call = bind_atom(atom, known)
                part = self.inquiry.slice(call)
                rows = part.answers[:_MOST_ROWS]
                if not rows and not part.complete:
                    self.is_cut = True
                    return passed
                matched = (match_row(atom, row, known) for row in rows)
                walks = [_Walk(at, row, walk.gaps) for row in matched if row is not None]
                gap = _Gap(index, render_pattern(call), call)
                return walks[::-1] or [_Walk(at, known, (*walk.gaps, gap))]
            case Test(index, comparison, defines):
                if not literal_names(comparison) <= known.keys():
                    return passed
                truth = compare_literal(comparison, known, defines=defines)
                return self._tested(index, render_literal(comparison, known), truth, walk)
            case Assign(_, variable, expression):
                if expression_names(expression) <= known.keys():
                    value = value_of(expression, known)
                    if not isinstance(value, Undetermined):
                        return [_Walk(at, {**known, variable.name: value}, walk.gaps)]
                return passed
            case Refute(index, atom, _):
                call = bind_atom(atom, known)
                rows = self.inquiry.slice(call).answers
                if not rows:
                    lost = " and ".join(self.inquiry.sources_below(atom.signature))
                    if not lost:
                        return passed
                    text = f"not {render_pattern(call)}"
                    gap = _Gap(index, text, call, f"{lost}, declared complete: missing")
                    return [_Walk(at, known, (*walk.gaps, gap))]
                gap = _Gap(index, f"not {render_pattern(call)}", call, f"{rows[0]} holds")
                return [_Walk(at, known, (*walk.gaps, gap))]
            case Collect():
                return self._collected(step, walk)

    def _tested(self, index: int, text: str, truth: Truth, walk: _Walk) -> list[_Walk]:
        gaps = walk.gaps
        if truth is not Truth.TRUE:
            doubtful = truth is Truth.UNDETERMINED
            gaps = (*gaps, _Gap(index, text, None, f"it is {truth.value}", doubtful))
        return [_Walk(walk.at + 1, walk.bindings, gaps)]

    def _collected(self, step: Collect, walk: _Walk) -> list[_Walk]:
        known = walk.bindings
        passed = [_Walk(walk.at + 1, known, walk.gaps)]
        if not {variable.name for variable in step.globals} <= known.keys():
            return passed
        reads = [bind_atom(read.atom, known) for read in step.steps if isinstance(read, Read)]
        part = merge_slices([self.inquiry.slice(call) for call in reads])
        answers = Answers(part.demands, part.lookups, uncertain_rows(part))
        value, certain = collect(step, known, answers)
        if step.assigned is not None:
            if isinstance(value, Undetermined):
                return passed
            return [_Walk(walk.at + 1, {**known, step.assigned.name: value}, walk.gaps)]
        result = value_of(step.aggregate.result, known)
        truth = Truth.UNDETERMINED
        if certain and not isinstance(value, Undetermined) and not isinstance(result, Undetermined):
            truth = compare(step.aggregate.operator, result, value)
        text = render_literal(step.aggregate, known)
        if not isinstance(value, Undetermined):
            text += f", which is {render_term(value)}"
        return self._tested(step.index, text, truth, walk)


def requirement_for(difference: Difference, requirements: Iterable[Json]) -> Json | None:
    """Find what a verdict says of a difference among its open requirements."""
    found: Mapping[str, Json] = {item["atom"]: item for item in requirements}
    if difference.counterpart in found:
        return found[difference.counterpart]
    return next(
        (
            item
            for item in found.values()
            if item["rule"] == difference.rule and difference.counterpart in item["detail"]
        ),
        None,
    )
