"""The witness: calls with their complete answers, from which absence can be checked.

It serves abstention, `not` and aggregates alike: *demands* are calls to derived predicates,
*lookups* calls to stored ones (DESIGN section 4, Abstention codes).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from .atom import Atom, Constant, Variable, render_term
from .bodies import Answers, absence_steps, bound_positions, planned, solutions, unify_head
from .certificate import Json, StepList, Witness
from .clause import Clause, Policy
from .facts import Signature
from .slice import Call

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


def reach(
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


def read_absences(
    steps: StepList, answers: Answers, closed: Iterable[tuple[str, int, Mapping[str, Constant]]]
) -> None:
    """Read the calls behind absences and aggregates: rule id, body position and bindings."""
    for rule_id, position, values in closed:
        for _ in solutions(absence_steps(steps.clauses[rule_id], position), dict(values), answers):
            pass


def write_witness(
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
