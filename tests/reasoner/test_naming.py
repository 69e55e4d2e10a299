"""Names of one entity: listed once, counted once, and shown with what joins them."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from policy_programs import CLOSED, Program, programs

from reasoner.certificate import canonical_bytes
from reasoner.decide import Decision, Request, decide
from reasoner.errors import PolicyRejected
from reasoner.policy import parse_atom, parse_policy
from reasoner.sources import FactsFiles, facts_file_sources
from reasoner.verify import verify_bytes

RULES = """
closed(supplier/1, "facts").
closed(cover/2, "facts").
closed(pays/2, "facts").
known(S) :- supplier(S).
many(N) :- N = #count{S : supplier(S)}.
total(N) :- N = #sum{A, S : cover(S, A)}.
payers(C, N) :- client(C), N = #count{P : pays(P, C)}.
few :- #count{S : supplier(S)} <= 2.
"""
FACTS = """
supplier("Nordhafen Logistik GmbH"). supplier("Nordhafen"). supplier("Ost AG").
cover("Nordhafen", 5). cover("Ost AG", 7). client(c). pays("NHL", c). pays("Nordhafen", c).
"""
JOINED = FACTS + 'same_as("Nordhafen", "Nordhafen Logistik GmbH"). same_as("NHL", "Nordhafen").'


def ask(facts: str, goal: str) -> tuple[Decision, FactsFiles]:
    base, sources = facts_file_sources(("facts.lp", facts))
    request = Request(parse_atom(goal), None)
    policy = parse_policy(RULES, name="rules")
    return decide(request, policy=policy, facts=base, sources=sources), sources


def answers(facts: str, goal: str) -> list[str]:
    return [str(answer) for answer in ask(facts, goal)[0].answers]


@pytest.mark.parametrize("goal", ["known(S)", "supplier(S)"])
def test_an_entity_is_one_answer_under_its_longest_name(goal: str) -> None:
    name = goal.partition("(")[0]
    assert answers(JOINED, goal) == [
        f'{name}("Nordhafen Logistik GmbH")',
        f'{name}("Ost AG")',
    ]
    assert len(answers(FACTS, goal)) == 3


def test_the_certificate_shows_all_names_with_what_joins_them() -> None:
    decision, sources = ask(JOINED, "known(S)")
    certificate = json.loads(decision.certificate)
    (names,) = (
        call
        for call in certificate["witness"]["demands"]
        if call["pattern"] == 'alias("Nordhafen Logistik GmbH", _)'
    )
    assert [item["atom"] for item in names["answers"]] == [
        'alias("Nordhafen Logistik GmbH", "NHL")',
        'alias("Nordhafen Logistik GmbH", "Nordhafen")',
    ]
    del names["answers"][0]
    assert not verify_bytes(canonical_bytes(certificate), sources.texts).valid


def test_a_name_in_the_goal_is_the_name_asked_for() -> None:
    assert answers(JOINED, 'known("NHL")') == ['known("NHL")']


@pytest.mark.parametrize(
    ("goal", "apart", "joined"),
    [
        ("many(N)", "many(3)", "many(2)"),
        ("total(N)", "total(12)", "total(12)"),
        ("payers(c, N)", "payers(c, 2)", "payers(c, 1)"),
    ],
)
def test_aggregates_take_an_entity_once(goal: str, apart: str, joined: str) -> None:
    assert answers(FACTS, goal) == [apart]
    assert answers(JOINED, goal) == [joined]


def test_a_bound_on_a_count_takes_an_entity_once() -> None:
    assert answers(JOINED, "few") == ["few"]
    assert answers(FACTS, "few") == []


def test_a_count_that_hides_what_joins_two_names_is_refused() -> None:
    decision, sources = ask(JOINED, "many(N)")
    certificate = json.loads(decision.certificate)
    text = json.dumps(certificate, ensure_ascii=False)
    wrong = json.loads(text.replace("many(2)", "many(3)").replace("2 = #count", "3 = #count"))
    for step in wrong["steps"]:
        step.get("bindings", {}).update({"N": "3"} if "N" in step.get("bindings", {}) else {})
    assert not verify_bytes(canonical_bytes(wrong), sources.texts).valid
    less = json.loads(text)
    less["witness"]["demands"] = [
        call for call in less["witness"]["demands"] if not call["pattern"].startswith("alias(")
    ]
    assert not verify_bytes(canonical_bytes(less), sources.texts).valid


NAMES = ("A", "AB", "ABC", "D", "E")


@given(
    st.sets(st.sampled_from(NAMES), min_size=1),
    st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=4),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_there_are_as_many_answers_as_classes_of_names(
    stated: set[str], pairs: set[tuple[str, str]]
) -> None:
    classes = {name: {name} for name in NAMES}
    for left, right in pairs:
        merged = classes[left] | classes[right]
        for name in merged:
            classes[name] = merged
    wanted = {frozenset(classes[name]) for name in stated}
    facts = [f'supplier("{name}").' for name in sorted(stated)]
    facts += [f'same_as("{left}", "{right}").' for left, right in sorted(pairs)]
    found = answers("\n".join(facts), "known(S)")
    longest = {min(names, key=lambda name: (-len(name), name)) for names in wanted}
    assert found == sorted(f'known("{name}")' for name in longest)
    assert answers("\n".join(facts), "many(N)") == [f"many({len(wanted)})"]


def renamed(text: str) -> str:
    """Make the numbers of a program names of entities."""
    return re.sub(r'(?<![>=!] )(?<![\w"])([123])(?![\w"])', r'"n\1"', text)


PAIRS = st.tuples(*[st.sampled_from(["n1", "n2", "n3", "another name"])] * 2)


@given(programs(), st.sets(PAIRS, max_size=3))
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_the_checker_agrees_whatever_the_program_and_the_names(
    program: Program, pairs: set[tuple[str, str]]
) -> None:
    joined = "\n".join(f'same_as("{left}", "{right}").' for left, right in sorted(pairs))
    base, sources = facts_file_sources(("facts.lp", f"{renamed(program.facts)}\n{joined}"))
    try:
        policy = parse_policy(CLOSED + renamed(program.rules), name="rules")
        request = Request(parse_atom(renamed(program.goal)), None)
        decision = decide(request, policy=policy, facts=base, sources=sources, engine="linear")
    except PolicyRejected:
        return
    texts = [str(answer) for answer in decision.answers]
    assert texts == sorted(set(texts))
