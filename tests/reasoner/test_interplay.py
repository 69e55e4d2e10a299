"""Parts of the language on top of each other: what the engine writes, the checker must accept.

`decide` raises SelfCheckFailed where it does not.
"""

from __future__ import annotations

import pytest

from reasoner.decide import Decision, Request, decide
from reasoner.policy import parse_atom, parse_policy
from reasoner.sources import facts_file_sources
from reasoner.verdict import AbstentionCode, Verdict


def decided(rules: str, facts: str, goal: str) -> Decision:
    base, sources = facts_file_sources(("facts.lp", facts))
    policy = parse_policy(rules, name="rules")
    return decide(Request(parse_atom(goal), None), policy=policy, facts=base, sources=sources)


CLASS_RULES = {
    "a class alone": 'z(X) :- d(X, V), under(V, "k1").',
    "another atom before": 'z(X) :- n(X), d(X, V), under(V, "k1").',
    "another atom after": 'z(X) :- d(X, V), under(V, "k1"), n(X).',
    "a gate": 'applies_under(z/1, d, "k1").\nz(X) :- n(X).',
    "a gate beside its own condition": 'applies_under(z/1, d, "k1").\n'
    'z(X) :- n(X), d(X, V), under(V, "k1").',
    "a derived class": 'z(X) :- n(X), d(X, V), fine(V).\nfine(V) :- under(V, "k1"), m(V).',
    "a gate on a relation": 'applies_under(z/1, d, "k1").\nz(X) :- n(X).\nz(X) :- z(Y), e(Y, X).',
}
WORLDS = {
    "of no taxonomy": 'd("a", "k2").',
    "of the same taxonomy": 'd("a", "k2").\nsubclass_of("k2", "k0").\nsubclass_of("k1", "k0").',
    "under another name": 'd("b", "k2").\nsame_as("a", "b").',
}


@pytest.mark.parametrize("facts", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("rules", CLASS_RULES.values(), ids=CLASS_RULES)
def test_a_value_of_the_wrong_class_leaves_its_atom_open(rules: str, facts: str) -> None:
    decision = decided(rules, facts, 'z("a")')
    assert decision.verdict is Verdict.ABSTAINED
    assert any(item.atom.startswith('d("a", ') for item in decision.open)


@pytest.mark.parametrize(
    ("rules", "facts", "goal"),
    [
        ("functional(t).", 't("a", @date("2020-05")).', '-t("b", @date("2021"))'),
        ('functional(n).\nclosed(n/2, "list").', 'm("a").', '-n("b", 2)'),
        ('disjoint("k2", "k3").', 'd("c", "k1").\n-d("c", "k3").', '-d("b", "k3")'),
        (
            'disjoint("k2", "k3").',
            'd("c", "k1").\n-d("c", "k3").\nsame_as("c", "b").',
            '-d("a", "k3")',
        ),
    ],
)
def test_a_denial_that_nothing_supports_is_abstained(rules: str, facts: str, goal: str) -> None:
    assert decided(rules, facts, goal).verdict is Verdict.ABSTAINED


@pytest.mark.parametrize(
    ("rules", "facts"),
    [
        ("functional(n).", 'n("a", 1).'),
        ('disjoint("k2", "k3").', 'n("a", "k2").'),
    ],
)
def test_a_denial_that_another_value_supports_is_certified(rules: str, facts: str) -> None:
    wanted = "2" if "functional" in rules else '"k3"'
    decision = decided(rules, facts, f'-n("a", {wanted})')
    assert decision.verdict is Verdict.CERTIFIED


def test_an_undetermined_denial_names_the_rule_of_its_values() -> None:
    facts = 't("b", @date("2020-05")).\nsame_as("a", "b").'
    decision = decided("functional(t).", facts, '-t("a", @date("2020-05-01"))')
    assert decision.verdict is Verdict.ABSTAINED
    assert "prelude.one_value_named:t/2" in [item.rule for item in decision.open]


def test_what_refutes_an_open_goal_is_listed_once_for_all_names() -> None:
    facts = 't("a", 1).\nsame_as("a", "the long name").\nsame_as("a", "c").'
    decision = decided("p(X) :- t(X, Y).", facts, "-p(X)")
    assert decision.verdict is Verdict.ABSTAINED
    assert [str(atom) for atom in decision.refuted] == ['p("the long name")']


ALIASED = 'u("b").\nsame_as("a", "b").\n'


@pytest.mark.parametrize("rules", ["", "functional(t).", 'disjoint("k", "l").'])
def test_a_denial_of_one_name_contests_and_denies_the_other(rules: str) -> None:
    conflict = decided(rules, ALIASED + 't("b", 1).\n-t("a", 1).', 't("b", 1)')
    assert conflict.code is AbstentionCode.CONFLICT
    known = 't("c", 1).\n'
    assert decided(rules, ALIASED + known + '-t("a", 1).', 't("b", 1)').verdict is Verdict.REFUTED
    assert decided(rules, ALIASED + '-t("a", 1).', '-t("b", 1)').verdict is Verdict.CERTIFIED


LISTED = """
closed(listed/1, "list").
closed(owned/1, "list").
listed(X) :- owned(X).
clear(X) :- u(X), not listed(X).
few(X) :- u(X), #count{ Y : listed(Y) } = 1.
"""


def test_what_is_stated_of_one_name_holds_of_all_where_rules_conclude_it_too() -> None:
    facts = ALIASED + 'listed("a").'
    assert decided(LISTED, facts, 'listed("b")').verdict is Verdict.CERTIFIED
    assert decided(LISTED, facts, 'clear("b")').verdict is Verdict.ABSTAINED
    assert decided(LISTED, facts, 'few("b")').verdict is Verdict.CERTIFIED
    assert decided(LISTED, ALIASED + 'listed("c").', 'clear("b")').verdict is Verdict.CERTIFIED


@pytest.mark.parametrize(
    ("rules", "facts", "goal"),
    [
        (  # beside a conflict, what is refuted is listed
            "-p(X) :- e(X, Y).\n-p(X) :- d(X, V).\np(X) :- u(X).",
            'e("a", "b").\nd("b", "k").\nu("b").',
            "p(X)",
        ),
        (  # a conflict of values that exclude themselves, under other names
            'disjoint("k3", "top").\n-p(X) :- e(X, W), d(W, "top").',
            '-d("c", "top").\nsame_as("b", "c").\nsame_as("a", "b").\nd("a", "top").\n'
            'e("c", "a").\nsubclass_of("top", "k3").',
            'p("a")',
        ),
        (  # a denial in a body is never concluded from other values
            'disjoint("k3", "k2").\nz(X) :- -h(X, "k3"), -n(X, @decimal("0.5")).',
            'm("a").',
            'z("a")',
        ),
    ],
)
def test_conflicts_and_denials_beside_declared_values_are_abstained(
    rules: str, facts: str, goal: str
) -> None:
    assert decided(rules, facts, goal).verdict is Verdict.ABSTAINED


@pytest.mark.parametrize("name", ["JOSÉ MOE", "Jose\u0301 Moe", "José  Moe"])
def test_a_spelling_of_the_same_name_refutes_and_contests_nothing(name: str) -> None:
    rules = "functional(father).\nson(X) :- father(X, _)."
    stated = 'father("cid", "José Moe").\n'
    assert decided(rules, stated, f'father("cid", "{name}")').verdict is Verdict.ABSTAINED
    assert decided(rules, stated, 'father("cid", "Bo Ray")').verdict is Verdict.REFUTED
    twice = stated + f'father("cid", "{name}").'
    assert decided(rules, twice, 'son("cid")').verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("born", ["", 'born("n", "Ulm").', 'born("m", "Ulm").\nsame_as("m", "n").'])
@pytest.mark.parametrize("facts", ['spouse("a", "n").', 'spouse("n", "a").'])
def test_a_relation_both_ways_is_asked_under_every_name_of_what_it_gives(
    facts: str, born: str
) -> None:
    """The first argument is open where the relation is turned, so names are asked of answers."""
    rules = 'spouse(X, Y) :- spouse(Y, X).\nanswer(A) :- spouse("a", S), born(S, A).'
    decision = decided(rules, f'{facts}\n{born}\nsame_as("q", "r").', "answer(A)")
    assert decision.verdict is (Verdict.CERTIFIED if born else Verdict.ABSTAINED)
