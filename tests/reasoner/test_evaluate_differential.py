"""The evaluator against clingo and against plain bottom-up evaluation, on generated programs."""

from __future__ import annotations

import clingo
from bottom_up import Found, all_instances, backward_slice
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_programs import CLOSED, DERIVED, Program, numeric_programs, programs
from witness import check_calls

from reasoner.atom import Atom, Variable
from reasoner.evaluate import evaluate
from reasoner.facts import Fact, FactBase, fact_id
from reasoner.policy import parse_atom, parse_facts, parse_policy
from reasoner.slice import AtomPremise, Slice


def _slice(program: Program, goal: Atom) -> Slice:
    policy = parse_policy(CLOSED + program.rules, name="generated")
    facts = [Fact(line.atom, fact_id(line.atom)) for line in parse_facts(program.facts, name="f")]
    return evaluate(policy, goal, FactBase(facts), valid_on=None)


def _clingo_atoms(program: Program) -> set[str]:
    control = clingo.Control(["--warn=none"])
    control.add("base", [], program.rules + "\n" + program.facts)
    control.ground([("base", [])])
    found: set[str] = set()
    with control.solve(yield_=True) as handle:
        for model in handle:
            found = {str(symbol).replace(",", ", ") for symbol in model.symbols(atoms=True)}
    return found


def _matches(goal: Atom, text: str) -> bool:
    atom = parse_atom(text)
    if atom.signature != goal.signature:
        return False
    bindings: dict[str, object] = {}
    for pattern, value in zip(goal.arguments, atom.arguments, strict=True):
        if isinstance(pattern, Variable):
            if bindings.setdefault(pattern.name, value) != value:
                return False
        elif pattern != value:
            return False
    return True


@given(st.one_of(programs(), numeric_programs()))
@settings(max_examples=200, deadline=None)
def test_answers_are_those_of_clingo(program: Program) -> None:
    goal = parse_atom(program.goal)
    expected = {text for text in _clingo_atoms(program) if _matches(goal, text)}
    assert {str(atom) for atom in _slice(program, goal).answers} == expected


def _found(slice_: Slice) -> set[Found]:
    return {
        (
            instance.rule_id,
            instance.bindings,
            instance.head,
            tuple(p.atom for p in instance.premises if isinstance(p, AtomPremise)),
        )
        for instance in slice_.instances
    }


@given(programs())
@settings(max_examples=150, deadline=None)
def test_goal_directed_evaluation_is_full_evaluation_restricted_to_the_goal(
    program: Program,
) -> None:
    goal = parse_atom(program.goal)
    policy = parse_policy(CLOSED + program.rules, name="generated")
    facts = [line.atom for line in parse_facts(program.facts, name="f")]
    full = all_instances(policy.clauses, facts, list(DERIVED))
    slice_ = _slice(program, goal)
    captured = _found(slice_)
    assert captured <= full
    assert backward_slice(captured, slice_.answers) == backward_slice(full, slice_.answers)


@given(programs())
@settings(max_examples=100, deadline=None)
def test_order_of_rules_and_facts_does_not_matter(program: Program) -> None:
    goal = parse_atom(program.goal)
    turned = Program(program.rules, "\n".join(reversed(program.facts.split("\n"))), program.goal)
    assert _slice(program, goal) == _slice(turned, goal)


@given(programs())
@settings(max_examples=100, deadline=None)
def test_the_witness_covers_every_call_of_every_rule(program: Program) -> None:
    goal = parse_atom(program.goal)
    policy = parse_policy(CLOSED + program.rules, name="generated")
    slice_ = _slice(program, goal)
    calls = (*slice_.demands, *slice_.lookups)
    for demand in slice_.demands:
        heads = {
            head for clause in policy.clauses for head in check_calls(clause, demand.pattern, calls)
        }
        assert heads <= set(demand.answers)
