"""Slices whose parts are written when they are read: the same whichever part is read first."""

from __future__ import annotations

from collections.abc import Callable

from golden import load
from hypothesis import given, settings
from policy_programs import CLOSED, Program, numeric_programs, programs

from reasoner.closed_slice import close_slice
from reasoner.errors import PolicyRejected
from reasoner.evaluate import evaluate
from reasoner.later import Later
from reasoner.policy import parse_atom, parse_policy
from reasoner.slice import Slice

QUIET = settings(max_examples=60, deadline=None)


def _slice(program: Program) -> Slice | None:
    base, _ = load(program.facts)
    try:
        policy = parse_policy(CLOSED + program.rules, name="random")
        return evaluate(policy, parse_atom(program.goal), base, valid_on=None)
    except PolicyRejected:
        return None


def _parts() -> list[Callable[[Slice], object]]:
    return [
        lambda part: tuple(part.instances),
        lambda part: tuple(part.facts),
        lambda part: tuple(part.demands),
        lambda part: tuple(part.lookups),
        lambda part: tuple(part.grounds or ()),
    ]


@given(programs() | numeric_programs())
@QUIET
def test_parts_do_not_depend_on_the_order_in_which_they_are_read(program: Program) -> None:
    first, second = _slice(program), _slice(program)
    if first is None or second is None:
        return
    forwards = [read(first) for read in _parts()]
    backwards = [read(second) for read in reversed(_parts())]
    assert forwards == backwards[::-1]


@given(programs() | numeric_programs())
@QUIET
def test_the_grounds_of_a_slice_give_the_proofs_of_the_whole(program: Program) -> None:
    part = _slice(program)
    if part is None:
        return
    whole, grounded = close_slice(part), close_slice(part.grounded())
    assert set(part.grounded().facts) <= set(part.facts)
    for answer in part.answers:
        assert whole.proof(answer) == grounded.proof(answer)


def test_a_later_sequence_is_made_once_and_only_when_read() -> None:
    made: list[int] = []

    def make() -> tuple[int, ...]:
        made.append(1)
        return (1, 2, 3)

    later = Later(make)
    assert not made
    assert (len(later), later[1], later[1:], list(later)) == (3, 2, (2, 3), [1, 2, 3])
    assert later == (1, 2, 3) == later
    assert hash(later) == hash((1, 2, 3))
    assert later != Later(lambda: (1,))
    assert made == [1]


def test_a_proof_without_absences_needs_no_calls() -> None:
    base, _ = load("edge(a, b). edge(b, c). other(a).")
    rules = "path(X, Y) :- edge(X, Y).\npath(X, Z) :- path(X, Y), edge(Y, Z)."
    policy = parse_policy(rules, name="path")
    part = evaluate(policy, parse_atom("path(a, c)"), base, valid_on=None)
    proof = close_slice(part.grounded()).proof(part.answers[0])
    assert proof is not None
    assert [str(fact.atom) for fact in part.grounds or ()] == ["edge(a, b)", "edge(b, c)"]
