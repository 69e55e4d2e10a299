"""Laws of the positive fragment: what must follow when a program or its evidence is changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reasoner.compiled_slice import compile_slice
from reasoner.decide import Decision, Request, decide
from reasoner.evaluate import evaluate
from reasoner.hypergraph import decide_hypergraph, read_hypergraph
from reasoner.policy import parse_atom, parse_policy
from reasoner.sources import facts_file_sources
from reasoner.supports import supports
from reasoner.verdict import Verdict

DECIDING = settings(max_examples=50)

STORED = {"e": 1, "f": 2}
DERIVED = {"p": 1, "q": 2, "r": 1}
CONSTANTS = ("a", "b", "c")
VARIABLES = ("X", "Y", "Z")


@dataclass(frozen=True)
class World:
    """Rules, facts and a goal, as text."""

    rules: tuple[str, ...]
    facts: tuple[str, ...]
    goal: str

    @property
    def policy(self) -> str:
        """The rules as a policy, each with a name that its place does not change."""
        named = (f"%! rule: {_name(rule)}\n{rule}" for rule in self.rules)
        return "\n".join(["%! policy: laws", "", *named, ""])


def _name(rule: str) -> str:
    return "rule." + "".join(character for character in rule if character.isalnum())


def _decide(world: World) -> Decision:
    facts, sources = facts_file_sources(("facts.lp", "\n".join(world.facts) + "\n"))
    policy = parse_policy(world.policy, name="laws.lp")
    request = Request(parse_atom(world.goal), None)
    return decide(request, policy=policy, facts=facts, sources=sources)


def _proof(decision: Decision) -> Any:
    """Give what a certificate shows, but for where in a facts file its statements stand.

    What is open is left out: of equally close rules the first in the file names it.
    """
    certificate = json.loads(decision.certificate)
    names = ("verdict", "code", "goal", "answers", "steps", "rules", "knowledge")
    statements = {name: found["atom"] for name, found in certificate["statements"].items()}
    return {name: certificate[name] for name in names} | {"statements": statements}


def _without_policy_text(decision: Decision) -> Any:
    certificate = json.loads(decision.certificate)
    for policy in certificate["policies"]:
        del policy["digest"], policy["text"]
    return certificate


@st.composite
def _atoms(draw: st.DrawFn, names: dict[str, int], terms: Sequence[str]) -> str:
    name = draw(st.sampled_from(sorted(names)))
    return f"{name}({', '.join(draw(st.sampled_from(terms)) for _ in range(names[name]))})"


@st.composite
def _worlds(draw: st.DrawFn) -> World:
    """Draw recursive rules without negation, facts, and a goal, perhaps with variables."""
    rules = set()
    for _ in range(draw(st.integers(2, 5))):
        body = draw(st.lists(_atoms(STORED | DERIVED, (*VARIABLES, "a")), min_size=1, max_size=3))
        bound = [name for name in VARIABLES if any(name in atom for atom in body)]
        head = draw(_atoms(DERIVED, (*bound * 3, *CONSTANTS)))
        rules.add(f"{head} :- {', '.join(body)}.")
    facts = draw(st.sets(_atoms(STORED, CONSTANTS), min_size=1, max_size=6))
    goal = draw(_atoms(DERIVED, (*CONSTANTS, *VARIABLES)))
    heads = {rule.partition("(")[0] for rule in rules}
    assume(goal.partition("(")[0] in heads)
    return World(tuple(sorted(rules)), tuple(sorted(f"{fact}." for fact in facts)), goal)


@DECIDING
@given(_worlds(), st.sets(_atoms(STORED | DERIVED, CONSTANTS), max_size=4))
def test_more_evidence_never_removes_a_proof(world: World, more: set[str]) -> None:
    facts = {*world.facts, *(f"{fact}." for fact in more)}
    before, after = _decide(world), _decide(replace(world, facts=tuple(sorted(facts))))
    if before.verdict is Verdict.CERTIFIED:
        assert after.verdict is Verdict.CERTIFIED
    assert set(before.answers) <= set(after.answers)


@DECIDING
@given(_worlds(), st.data())
def test_more_rules_never_remove_a_proof(world: World, data: st.DataObject) -> None:
    other = data.draw(_worlds())
    rules = tuple(sorted({*world.rules, *other.rules}))
    if _decide(world).verdict is Verdict.CERTIFIED:
        assert _decide(replace(world, rules=rules)).verdict is Verdict.CERTIFIED


@DECIDING
@given(_worlds(), _atoms(STORED | DERIVED, VARIABLES))
def test_an_unrelated_rule_changes_nothing_but_the_text_of_the_policy(
    world: World, body: str
) -> None:
    bound = next(name for name in VARIABLES if name in body)
    unrelated = (f"unrelated({bound}) :- {body}.", f"unrelated({bound}) :- unheard_of({bound}).")
    one, other = _decide(world), _decide(replace(world, rules=(*world.rules, *unrelated)))
    assert _without_policy_text(other) == _without_policy_text(one)


@DECIDING
@given(_worlds())
def test_an_unrelated_fact_changes_neither_answer_nor_steps(world: World) -> None:
    one = _decide(world)
    other = _decide(replace(world, facts=("unheard_of(a).", *world.facts)))
    assert _proof(one) == _proof(other)
    assert one.open == other.open


@DECIDING
@given(_worlds(), st.data())
def test_the_order_of_rules_and_facts_changes_nothing(world: World, data: st.DataObject) -> None:
    """Even where an atom has several producers."""
    shuffled = replace(
        world,
        rules=tuple(data.draw(st.permutations(world.rules))),
        facts=tuple(data.draw(st.permutations(world.facts))),
    )
    assert _proof(_decide(world)) == _proof(_decide(shuffled))


@st.composite
def _single_producers(draw: st.DrawFn) -> World:
    """Draw ground rules, one for each derived atom, over atoms before it."""
    count = draw(st.integers(2, 8))
    leaves = draw(st.integers(1, 4))
    facts = tuple(f"leaf{number}." for number in range(leaves))
    rules = []
    for number in range(count):
        below = [f"leaf{leaf}" for leaf in range(leaves)] + [f"node{n}" for n in range(number)]
        body = draw(st.lists(st.sampled_from(below), min_size=1, max_size=3, unique=True))
        rules.append(f"node{number} :- {', '.join(body)}.")
    return World(tuple(rules), facts, f"node{count - 1}")


@DECIDING
@given(_single_producers(), st.data())
def test_a_certificate_is_unique_where_each_atom_has_one_producer(
    world: World, data: st.DataObject
) -> None:
    decision = _decide(world)
    assert decision.verdict is Verdict.CERTIFIED
    shuffled = replace(world, rules=tuple(data.draw(st.permutations(world.rules))))
    assert _proof(_decide(shuffled)) == _proof(decision)
    facts, _ = facts_file_sources(("facts.lp", "\n".join(world.facts) + "\n"))
    policy = parse_policy(world.policy, name="laws.lp")
    part = evaluate(policy, parse_atom(world.goal), facts, valid_on=None)
    program, names = compile_slice(part)
    goal = names.number(parse_atom(world.goal))
    assert goal is not None
    found = supports(program, goal)
    assert found.complete
    (support,) = found.found
    leaves = {leaf.name for leaf in map(names.leaf, support) if leaf is not None}
    assert leaves == set(json.loads(decision.certificate)["statements"])


@DECIDING
@given(_single_producers(), st.data())
def test_there_every_statement_of_the_certificate_is_indispensable(
    world: World, data: st.DataObject
) -> None:
    statements = json.loads(_decide(world).certificate)["statements"].values()
    dropped = data.draw(st.sampled_from(sorted(found["atom"] for found in statements)))
    facts = tuple(fact for fact in world.facts if fact != f"{dropped}.")
    twin = _decide(replace(world, facts=facts))
    assert twin.verdict is Verdict.ABSTAINED
    assert dropped in {item.atom for item in twin.open}


def _split(world: World) -> World:
    """Give the twin with the same pairs: each premise alone yields what all of them yielded."""
    rules = {
        f"{head} :- {premise}."
        for head, _, body in (rule.removesuffix(".").partition(" :- ") for rule in world.rules)
        for premise in body.split(", ")
    }
    return replace(world, rules=tuple(sorted(rules)))


BOTH = World(("c :- a, b.",), ("a.",), "c")


def test_a_rule_of_two_premises_abstains_with_one_and_names_the_other() -> None:
    decision = _decide(BOTH)
    assert decision.verdict is Verdict.ABSTAINED
    assert [item.atom for item in decision.open] == ["b"]


def test_two_rules_of_one_premise_prove_with_one() -> None:
    twin = _split(BOTH)
    assert twin.rules == ("c :- a.", "c :- b.")
    assert _decide(twin).verdict is Verdict.CERTIFIED


@DECIDING
@given(st.integers(2, 5), st.data())
def test_tails_that_are_shuffled_apart_are_told_apart(size: int, data: st.DataObject) -> None:
    premises = [f"premise{number}" for number in range(size)]
    some = st.sets(st.sampled_from(premises), min_size=1, max_size=size - 1)
    held = data.draw(some)
    world = World(
        (f"goal :- {', '.join(premises)}.",), tuple(f"{p}." for p in sorted(held)), "goal"
    )
    decision = _decide(world)
    assert decision.verdict is Verdict.ABSTAINED
    assert [item.atom for item in decision.open] == sorted(set(premises) - held)
    assert _decide(_split(world)).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize(
    ("tails", "verdict", "missing"),
    [([["a", "b"]], Verdict.ABSTAINED, ["b"]), ([["a"], ["b"]], Verdict.CERTIFIED, [])],
)
def test_a_hypergraph_and_its_pairwise_twin_are_told_apart(
    tails: list[list[str]], verdict: Verdict, missing: list[str]
) -> None:
    edges = [{"id": f"e{at}", "tail": tail, "head": "c"} for at, tail in enumerate(tails)]
    graph = {
        "format": "proofweave.hypergraph/1",
        "atoms": ["a", "b", "c"],
        "hyperedges": edges,
        "units": [{"id": "u", "states": ["a"]}],
    }
    read = read_hypergraph(json.dumps(graph), name="twin.json")
    (decision,) = decide_hypergraph(read, goals=["c"])
    assert decision.verdict is verdict
    assert [item.atom for item in decision.open] == missing
