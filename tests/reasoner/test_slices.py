"""Slices whose parts are written when they are read: the same whichever part is read first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from golden import load
from hypothesis import given, settings
from policy_programs import (
    CLOSED,
    DOUBTFUL_CLOSED,
    Program,
    doubtful_programs,
    numeric_programs,
    programs,
)

from reasoner.atom import Atom, render_term
from reasoner.closed_slice import close_slice
from reasoner.compiled_slice import compile_slice
from reasoner.errors import PolicyRejected
from reasoner.evaluate import evaluate
from reasoner.later import Later
from reasoner.policy import parse_atom, parse_policy
from reasoner.slice import Instance, Slice

QUIET = settings(max_examples=60, deadline=None)


def _slice(program: Program) -> Slice | None:
    base, _ = load(program.facts)
    try:
        closed = DOUBTFUL_CLOSED if "v(" in program.facts else CLOSED
        policy = parse_policy(closed + program.rules, name="random")
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


@given(programs() | numeric_programs() | doubtful_programs())
@QUIET
def test_a_slice_is_compiled_from_ids_as_from_what_is_written(program: Program) -> None:
    part = _slice(program)
    if part is None:
        return
    for chosen in (part, part.grounded()):
        written = replace(chosen, instances=tuple(part.instances), facts=tuple(chosen.facts))
        (program_of_ids, ids), (program_of_atoms, atoms) = map(compile_slice, (chosen, written))
        for field in ("heads", "tail_starts", "tails", "given"):
            found, expected = getattr(program_of_ids, field), getattr(program_of_atoms, field)
            assert found.tolist() == expected.tolist()
        assert program_of_ids.atom_count == program_of_atoms.atom_count
        assert tuple(ids.atoms) == tuple(atoms.atoms)
        assert tuple(ids.leaves) == tuple(atoms.leaves)
        assert tuple(ids.origins) == tuple(atoms.origins)
        numbers = {atom: number for number, atom in enumerate(atoms.atoms)}
        assert {atom: ids.number(atom) for atom in numbers} == numbers
        assert ids.number(Atom("e", ("nobody",))) is None


@given(programs() | numeric_programs() | doubtful_programs())
@QUIET
def test_an_instance_written_alone_is_that_of_the_whole(program: Program) -> None:
    part, other = _slice(program), _slice(program)
    if part is None or other is None:
        return
    whole = tuple(part.instances)
    assert len(other.instances) == len(whole)
    assert tuple(other.instances[place] for place in range(len(whole))) == whole
    assert list(whole) == sorted(set(whole), key=_order)


def _order(instance: Instance) -> tuple[str, list[str]]:
    return instance.rule_id, [render_term(value) for _, value in instance.bindings]


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
