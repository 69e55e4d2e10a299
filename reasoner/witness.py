"""The witness: calls with their complete answers, from which absence can be checked.

It serves abstention, `not` and aggregates alike: *demands* are calls to derived predicates,
*lookups* calls to stored ones (DESIGN section 4, Abstention codes).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from .atom import Atom, Variable, render_term
from .bodies import (
    Answers,
    NotCovered,
    absence_steps,
    bound_positions,
    planned,
    solutions,
    unify_head,
)
from .certificate import Witness
from .clause import Clause
from .closed_slice import close_slice, merge_slices, uncertain_rows
from .facts import Signature
from .heads import Heads
from .inquiry import Inquiry
from .prelude import ALIAS, DECLARATIONS, SAME_AS
from .slice import Call, Slice
from .steps import StepList
from .trees import Json
from .verify import retracted_spans, table_spans

_COMPUTED = {
    ("valid_on", 1): "request",
    ("stated_in", 2): "provenance",
    ("same_name", 2): "identity",
}


def pattern_text(pattern: Atom) -> str:
    """Write a call: `_` for what is unbound."""
    if not pattern.arguments:
        return str(pattern)
    inner = ", ".join(
        "_" if isinstance(argument, Variable) else render_term(argument)
        for argument in pattern.arguments
    )
    return f"{'-' if pattern.negated else ''}{pattern.predicate}({inner})"


def show_calls(
    inquiry: Inquiry,
    slices: Sequence[Slice],
    steps: StepList,
    *,
    roots: Sequence[Atom] = (),
    excluded: Collection[Atom] = (),
    contested: Sequence[Json] = (),
) -> tuple[Witness, tuple[str, ...]]:
    """Write the calls that roots and the absences of the steps reach, with proofs of their answers.

    Gives the digests of sources that lookups re-read, too. Raises NotCovered where a slice was cut.
    """
    renamed = SAME_AS in inquiry.facts.signatures()
    while True:
        try:
            return _show(inquiry, slices, steps, roots, excluded, contested, renamed)
        except NotCovered as error:  # names of what an aggregate counts
            names = inquiry.slice(error.pattern) if error.pattern.signature == ALIAS else None
            if names is None or not names.complete or names in slices:
                raise
            slices = [*slices, names]


def _show(
    inquiry: Inquiry,
    slices: Sequence[Slice],
    steps: StepList,
    roots: Sequence[Atom],
    excluded: Collection[Atom],
    contested: Sequence[Json],
    renamed: bool,
) -> tuple[Witness, tuple[str, ...]]:
    part = merge_slices(slices)
    whole = close_slice(part)
    closed = close_slice(part, excluded=excluded) if excluded else whole
    uncertain = uncertain_rows(part, whole)
    if excluded:  # what rests on contested atoms may hold, too
        uncertain |= {
            row for call in part.demands for row in call.answers if not closed.derives(row)
        }
    stated = {fact.atom: fact for fact in reversed(part.facts)}
    known: dict[Atom, str] = {}
    seen = bytearray(closed.program.atom_count)

    def prove(atom: Atom) -> str | None:
        if atom not in known:
            proof = closed.trail(atom, seen)
            if proof is not None:
                steps.add(proof, known)
        return known.get(atom)

    def prove_row(atom: Atom) -> str | None:
        return steps.add_fact(stated[atom]) if atom in stated else None

    answers = Answers(part.demands, part.lookups, uncertain, excluded, renamed)
    for root in roots:
        answers.rows(root)
    shown = -1
    while shown < len(steps.closed):  # proofs of answers may bring further absences
        shown = len(steps.closed)
        _read_absences(steps, answers)
        demands, lookups = _reach(answers, inquiry.clauses())
        for calls, proving in ((demands, prove), (lookups, prove_row)):
            for call in calls:
                for atom in sorted(call.answers, key=str):
                    proving(atom)
    basis = _Basis(inquiry, {atom: fact.leaf for atom, fact in stated.items()})
    witness = _write_witness(
        demands,
        lookups,
        prove=prove,
        prove_row=prove_row,
        uncertain=uncertain,
        basis=basis.of,
        contested=contested,
    )
    return witness, tuple(basis.read)


def _reach(
    answers: Answers, clauses: Mapping[Signature, Sequence[Clause]]
) -> tuple[list[Call], list[Call]]:
    """Give the demands and lookups that the calls read so far depend on, these included.

    Walks every rule of every demand; what it reads is marked in `answers.used` as well. Raises
    NotCovered where the slice was cut.
    """
    walked = 0
    demands: list[Call] = []
    lookups: list[Call] = []
    heads: dict[Signature, Heads] = {}
    while walked < len(answers.used):
        for (derived, _), call in list(islice(answers.used.items(), walked, None)):
            walked += 1
            (demands if derived else lookups).append(call)
            if derived:
                signature = call.pattern.signature
                if signature not in heads:
                    heads[signature] = Heads(clauses.get(signature, ()))
                _walk(call, answers, heads[signature].meeting(call.pattern))
    return demands, lookups


def _walk(call: Call, answers: Answers, clauses: Iterable[Clause]) -> None:
    bound = bound_positions(call.pattern)
    for clause in clauses:
        bindings = unify_head(clause.head, call.pattern)
        if bindings is not None:
            for _ in solutions(planned(clause, bound), bindings, answers):
                pass


def _read_absences(steps: StepList, answers: Answers) -> None:
    """Read the calls behind the absences and aggregates of the steps."""
    for rule_id, position, values in list(steps.closed.values()):
        for _ in solutions(absence_steps(steps.clauses[rule_id], position), dict(values), answers):
            pass


def _write_witness(
    demands: Sequence[Call],
    lookups: Sequence[Call],
    *,
    prove: Callable[[Atom], str | None],
    prove_row: Callable[[Atom], str | None],
    uncertain: Collection[Atom],
    basis: Callable[[Call], str],
    contested: Sequence[Json] = (),
) -> Witness:
    """Write calls with the steps of their answers.

    `prove` gives the step of a derived answer, None where it is only possible or rests on
    contested atoms; `prove_row` that of a stored row.
    """
    return Witness(
        tuple(_demand(call, prove, uncertain) for call in sorted(demands, key=_order)),
        tuple(
            {
                "pattern": pattern_text(call.pattern),
                "answers": _answers(call, prove_row)[0],
                "basis": basis(call),
            }
            for call in sorted(lookups, key=_order)
        ),
        tuple(contested),
        tuple(call.pattern for call in (*demands, *lookups)),
    )


def _order(call: Call) -> str:
    return pattern_text(call.pattern)


def _answers(
    call: Call, prove: Callable[[Atom], str | None]
) -> tuple[list[Json], list[tuple[str, Atom]]]:
    """Write the answers with a step, and give the others."""
    answers: list[Json] = []
    others: list[tuple[str, Atom]] = []
    for text, atom in sorted((str(atom), atom) for atom in set(call.answers)):
        step = prove(atom)
        if step is None:
            others.append((text, atom))
        else:
            answers.append({"atom": text, "step": step})
    return answers, others


def _demand(call: Call, prove: Callable[[Atom], str | None], uncertain: Collection[Atom]) -> Json:
    answers, others = _answers(call, prove)
    possible = [text for text, atom in others if atom in uncertain]
    return {"pattern": pattern_text(call.pattern), "answers": answers, "possible": possible}


@dataclass(slots=True)
class _Basis:
    """What shows that a lookup is complete; `read` collects the sources that are read for it."""

    inquiry: Inquiry
    leaves: Mapping[Atom, str]
    read: dict[str, None] = field(default_factory=dict)

    def of(self, call: Call) -> str:
        """Give the basis of a lookup."""
        signature = call.pattern.signature
        if signature in _COMPUTED:
            return _COMPUTED[signature]
        if signature in DECLARATIONS:
            return "declared"
        files = self.inquiry.sources.fact_sources
        if files:
            self.read.update(dict.fromkeys(files))
            return "facts"
        if signature in self.inquiry.unsourced:
            return "absent"
        for item in self.inquiry.policy.closed:
            if (item.predicate, item.arity) == signature:
                tables = self.inquiry.sources.named(item.source)
                if tables and all(self._is_all_of(call, table) for table in tables):
                    self.read.update(dict.fromkeys(tables))
                    return "table"
                return "declared"
        return "knowledge"

    def _is_all_of(self, call: Call, table: str) -> bool:
        """Whether the checker finds in a table exactly the rows that the answers quote."""
        sources = self.inquiry.sources
        record = sources.source(table)
        text = sources.texts.text(table, {"text_sha256": record.text_sha256})
        name, arity = call.pattern.signature
        pattern = tuple(
            None if isinstance(argument, Variable) else render_term(argument)
            for argument in call.pattern.arguments
        )
        quoted = {
            (item.start, item.end)
            for row in call.answers
            if self.leaves[row].startswith("st:")
            for item in sources.statement(self.leaves[row]).evidence
            if item.source_sha256 == table
        }
        found = table_spans(text, f"{name}/{arity}", pattern, record.media_type)
        if found is None:
            return False
        return (
            found - retracted_spans(text, name, self._retracted(), record.media_type)
            <= quoted
            <= found
        )

    def _retracted(self) -> list[tuple[str, tuple[str, ...]]]:
        """Give predicate and arguments of what the request leaves out."""
        return [
            (
                ("-" if atom.negated else "") + atom.predicate,
                tuple(render_term(argument) for argument in atom.arguments),
            )
            for atom in self.inquiry.retracted
        ]
