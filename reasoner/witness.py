"""The witness: calls with their complete answers, from which absence can be checked.

It serves abstention, `not` and aggregates alike: *demands* are calls to derived predicates,
*lookups* calls to stored ones (DESIGN section 4, Abstention codes).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from .atom import Atom, Variable, render_term
from .bodies import Answers, absence_steps, bound_positions, planned, solutions, unify_head
from .certificate import Json, StepList, Witness
from .clause import Clause, Policy
from .closed_slice import close_slice, merge_slices, uncertain_rows
from .facts import Signature
from .inquiry import Inquiry
from .slice import Call, Slice

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
    part = merge_slices(slices)
    whole = close_slice(part)
    closed = close_slice(part, excluded=excluded) if excluded else whole
    uncertain = uncertain_rows(part, whole)
    if excluded:  # what rests on contested atoms may hold, too
        uncertain |= {
            row for call in part.demands for row in call.answers if not closed.derives(row)
        }
    stated = {fact.atom: fact for fact in reversed(part.facts)}
    known: dict[Atom, str | None] = {}

    def prove(atom: Atom) -> str | None:
        if atom not in known:
            proof = closed.trail(atom)
            known[atom] = None if proof is None else steps.add(proof)
        return known[atom]

    def prove_row(atom: Atom) -> str | None:
        return steps.add_fact(stated[atom]) if atom in stated else None

    answers = Answers(part.demands, part.lookups, uncertain, excluded)
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
    files = inquiry.sources.fact_sources
    witness = _write_witness(
        demands,
        lookups,
        prove=prove,
        prove_row=prove_row,
        uncertain=uncertain,
        basis=lookup_basis(inquiry.policy, facts_are_whole=bool(files)),
        contested=contested,
    )
    return witness, files if any(item["basis"] == "facts" for item in witness.lookups) else ()


def _reach(
    answers: Answers, clauses: Mapping[Signature, Sequence[Clause]]
) -> tuple[list[Call], list[Call]]:
    """Give the demands and lookups that the calls read so far depend on, these included.

    Walks every rule of every demand; what it reads is marked in `answers.used` as well. Raises
    NotCovered where the slice was cut.
    """
    done: set[tuple[bool, Atom]] = set()
    demands: list[Call] = []
    lookups: list[Call] = []
    while len(done) < len(answers.used):
        for key, call in list(answers.used.items()):
            if key in done:
                continue
            done.add(key)
            (demands if key[0] else lookups).append(call)
            if key[0]:
                _walk(call, answers, clauses.get(call.pattern.signature, ()))
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
    basis: Callable[[Signature], str],
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
                "basis": basis(call.pattern.signature),
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


def lookup_basis(policy: Policy, *, facts_are_whole: bool) -> Callable[[Signature], str]:
    """Give for a stored predicate what shows that a lookup is complete."""
    declared = {(item.predicate, item.arity) for item in policy.closed}

    def basis(signature: Signature) -> str:
        if signature in _COMPUTED:
            return _COMPUTED[signature]
        if facts_are_whole:
            return "facts"
        return "declared" if signature in declared else "knowledge"

    return basis
