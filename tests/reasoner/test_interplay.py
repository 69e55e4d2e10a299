"""Parts of the language on top of each other: what the engine writes, the checker must accept.

`decide` raises SelfCheckFailed where it does not.
"""

from __future__ import annotations

import pytest

from reasoner.decide import Decision, Request, decide
from reasoner.policy import parse_atom, parse_policy
from reasoner.sources import facts_file_sources
from reasoner.verdict import Verdict


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
