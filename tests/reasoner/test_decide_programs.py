"""Whatever the program: a checked certificate comes out, whose verdict the evaluation bears out.

Random programs, some with undetermined comparisons, some with strong negation, so that absences,
aggregates, conflicts and abstentions all occur. `decide` raises if the checker objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from golden import load
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from policy_programs import CLOSED, DERIVED, STORED, Program, programs

from reasoner.certificate import canonical_bytes
from reasoner.checker.policy import read_policy
from reasoner.decide import Decision, Request, decide
from reasoner.errors import PolicyRejected
from reasoner.evaluate import evaluate
from reasoner.policy import parse_atom, parse_policy
from reasoner.trees import clause_tree
from reasoner.verdict import AbstentionCode, Verdict
from reasoner.verify import verify_bytes

QUIET = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def vague(program: Program) -> Program:
    """Make two constants dates that compare as undetermined."""

    def change(text: str) -> str:
        text = re.sub(r"(?<![\w@])3(?![\w\"])", '@date("2020")', text)
        return re.sub(r"(?<![\w@>= ])2(?![\w\"])", '@date("2020-05-01")', text)

    return Program(change(program.rules), change(program.facts), change(program.goal))


def denying(program: Program) -> Program:
    """Let the last unary predicate deny the first."""

    def change(text: str) -> str:
        return re.sub(r"\bs\(", "-p(", text)

    return Program(change(program.rules), change(program.facts), change(program.goal))


KINDS: dict[str, Callable[[Program], Program]] = {
    "plain": lambda p: p,
    "vague": vague,
    "denying": denying,
    "vague denying": lambda program: vague(denying(program)),
}


@st.composite
def drawn(draw: st.DrawFn) -> Program:
    """Draw a program of some kind, its rules perhaps with a second body order."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    found: Program = KINDS[kind](draw(programs()))
    return found


def decided(program: Program, *, facts: str | None = None) -> Decision | None:
    """Decide a program's goal; None where the policy is no policy."""
    base, sources = load(program.facts if facts is None else facts)
    try:
        policy = parse_policy(CLOSED + program.rules, name="random")
        return decide(
            Request(parse_atom(program.goal), None),
            policy=policy,
            facts=base,
            sources=sources,
            engine="linear",
            known=[*STORED.items(), *DERIVED.items()],
        )
    except PolicyRejected:
        return None


@QUIET
@given(drawn())
def test_every_program_gets_a_checked_certificate(program: Program) -> None:
    decision = decided(program)
    assume(decision is not None)
    assert decision is not None
    base, _ = load(program.facts)
    policy = parse_policy(CLOSED + program.rules, name="random")
    goal = parse_atom(program.goal)
    part = evaluate(policy, goal, base, valid_on=None)
    match decision.verdict:
        case Verdict.CERTIFIED:
            assert set(decision.answers) <= set(part.answers)
        case Verdict.REFUTED:
            assert not part.answers
        case Verdict.ABSTAINED:
            assert not part.answers or decision.code is AbstentionCode.CONFLICT
            if part.possible and not part.answers:
                assert decision.code in (AbstentionCode.UNDETERMINED, AbstentionCode.CONFLICT)


@QUIET
@given(drawn())
def test_a_certificate_needs_each_of_its_leaves(program: Program) -> None:
    """Decide from the leaves of a proof alone, then without each of them."""
    definite = [line for line in program.rules.split("\n") if "not " not in line]
    program = Program(
        "\n".join(line for line in definite if "#" not in line), program.facts, program.goal
    )
    decision = decided(program)
    assume(decision is not None and decision.verdict is Verdict.CERTIFIED)
    assert decision is not None
    certificate = json.loads(decision.certificate)
    steps = {step["id"]: step for step in certificate["steps"]}
    answer = decision.answers[0]
    leaves = leaves_of(steps, certificate["answers"][0]["step"])
    only = Program(program.rules, "\n".join(f"{leaf}." for leaf in leaves), str(answer))
    again = decided(only)
    assert again is not None
    if again.code is AbstentionCode.CONFLICT:
        return  # the leaves that keep a denial apart are gone
    assert again.verdict is Verdict.CERTIFIED
    for leaf in leaves:
        rest = "\n".join(f"{other}." for other in leaves if other != leaf)
        less = decided(only, facts=rest)
        assert less is not None
        assert answer not in less.answers


def leaves_of(steps: dict[str, dict[str, object]], root: str) -> list[str]:
    """Give the facts a step rests on."""
    found: list[str] = []
    waiting, seen = [root], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        step = steps[name]
        premises = step["premises"]
        assert isinstance(premises, list)
        waiting.extend(premises)
        if step["kind"] == "stated":
            found.append(str(step["conclusion"]))
    return sorted(found)


@QUIET
@given(drawn())
def test_the_checker_reads_policies_as_the_parser_does(program: Program) -> None:
    text = CLOSED + program.rules
    try:
        policy = parse_policy(text, name="random")
    except PolicyRejected:
        return
    found = read_policy(text)
    assert {clause.id: clause_tree(clause) for clause in policy.clauses} == {
        name: rule.tree for name, rule in found.rules.items()
    }
    assert {clause.id: clause.text for clause in policy.clauses} == {
        name: rule.text for name, rule in found.rules.items()
    }
    assert found.closed == {f"{item.predicate}/{item.arity}": item.source for item in policy.closed}


@QUIET
@given(drawn(), st.data())
def test_no_answer_can_be_hidden(program: Program, data: st.DataObject) -> None:
    """Take any row out of the witness of an abstention: it does not pass any more."""
    decision = decided(program)
    assume(decision is not None and decision.verdict is Verdict.ABSTAINED)
    assert decision is not None
    certificate = json.loads(decision.certificate)
    calls = [
        (section, index)
        for section in ("demands", "lookups")
        for index, call in enumerate(certificate["witness"][section])
        if call["answers"]
    ]
    assume(calls)
    section, index = data.draw(st.sampled_from(calls))
    answers = certificate["witness"][section][index]["answers"]
    del answers[data.draw(st.integers(0, len(answers) - 1))]
    _, sources = load(program.facts)
    assert not verify_bytes(canonical_bytes(certificate), sources.texts).valid
