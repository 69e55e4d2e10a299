"""One value at a time: what a stated value refutes, what it does not, and who prevails."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from typing import Any

import pytest

from reasoner.certificate import canonical_bytes
from reasoner.decide import Decision, Request, decide
from reasoner.policy import parse_atom, parse_policy
from reasoner.sources import FactsFiles, facts_file_sources
from reasoner.verdict import AbstentionCode, Verdict
from reasoner.verify import verify_bytes

PLACES = """
subclass_of("Germany", "Union"). subclass_of("Spain", "Union"). subclass_of("Union", "World").
subclass_of("Peru", "World").
"""
GERMAN = f'{PLACES}registered_in("Hanse", "Germany").'
FUNCTIONAL = "functional(registered_in).\nseated(X) :- registered_in(X, _).\n"
MANY = "seated(X) :- registered_in(X, _).\n"
DAY = datetime.date(2026, 3, 1)


def ask(rules: str, facts: str, goal: str) -> tuple[Decision, FactsFiles]:
    base, sources = facts_file_sources(("facts.lp", facts))
    request = Request(parse_atom(goal), DAY)
    policy = parse_policy(rules, name="rules")
    return decide(request, policy=policy, facts=base, sources=sources), sources


def decided(rules: str, facts: str, goal: str) -> Decision:
    return ask(rules, facts, goal)[0]


def test_another_class_of_a_functional_dimension_is_no() -> None:
    decision = decided(FUNCTIONAL, GERMAN, 'registered_in("Hanse", "Spain")')
    assert decision.verdict is Verdict.REFUTED
    certificate = json.loads(decision.certificate)
    kinds = {step["conclusion"]: step["kind"] for step in certificate["steps"]}
    assert kinds['functional("registered_in")'] == "declared"
    assert kinds['told_apart("Germany", "Spain")'] == "meet"
    assert kinds['registered_in("Hanse", "Germany")'] == "stated"
    (statement,) = (
        item
        for item in certificate["statements"].values()
        if item["atom"].startswith("registered_in")
    )
    assert statement["evidence"][0]["quote"] == 'registered_in("Hanse", "Germany").'


def test_its_twin_without_the_declaration_abstains_and_says_what_would_settle_it() -> None:
    decision = decided(MANY, GERMAN, 'registered_in("Hanse", "Spain")')
    assert decision.verdict is Verdict.ABSTAINED
    assert [item.atom for item in decision.open] == ['registered_in("Hanse", "Spain")']


@pytest.mark.parametrize(
    ("stated", "asked"),
    [
        ("Germany", "Union"),
        ("Union", "Germany"),
        ("Germany", "Atlantis"),
        ("Atlantis", "Germany"),
    ],
    ids=["wider", "narrower", "asked is in no taxonomy", "stated is in no taxonomy"],
)
def test_values_that_may_be_one_are_no_no(stated: str, asked: str) -> None:
    facts = f'{PLACES}registered_in("Hanse", "{stated}").'
    decision = decided(FUNCTIONAL, facts, f'registered_in("Hanse", "{asked}")')
    assert decision.verdict is Verdict.ABSTAINED


def test_something_below_both_keeps_them_together() -> None:
    facts = GERMAN + 'subclass_of("Enclave", "Germany"). subclass_of("Enclave", "Spain").'
    decision = decided(FUNCTIONAL, facts, 'registered_in("Hanse", "Spain")')
    assert decision.verdict is Verdict.ABSTAINED


def test_names_without_a_taxonomy_differ_unless_a_source_joins_them() -> None:
    rules = "functional(insurer).\ninsured(X) :- insurer(X, _).\n"
    facts = 'insurer("A", "Hanse").'
    goal = 'insurer("A", "Hanse Assekuranz AG")'
    assert decided(rules, facts, goal).verdict is Verdict.REFUTED
    joined = facts + 'same_as("Hanse Assekuranz AG", "Hanse").'
    assert decided(rules, joined, goal).verdict is Verdict.ABSTAINED
    over = facts + 'same_as("HAA", "Hanse"). same_as("HAA", "Hanse Assekuranz AG").'
    assert decided(rules, over, goal).verdict is Verdict.ABSTAINED
    both = over + 'insurer("A", "Hanse Assekuranz AG").'
    assert decided(rules, both, 'insured("A")').verdict is Verdict.CERTIFIED


@pytest.mark.parametrize(
    ("stated", "asked", "verdict"),
    [
        ('@date("2026-01")', '@date("2025")', Verdict.REFUTED),
        ('@date("2026-01")', '@date("2026")', Verdict.ABSTAINED),
        ('@quantity("5 t")', '@quantity("5000 kg")', Verdict.ABSTAINED),
        ('@quantity("5 t")', '@quantity("5001 kg")', Verdict.REFUTED),
        ("7", "8", Verdict.REFUTED),
    ],
)
def test_numbers_and_dates_exclude_what_compares_as_different(
    stated: str, asked: str, verdict: Verdict
) -> None:
    rules = "functional(size).\nsized(X) :- size(X, _).\n"
    assert decided(rules, f"size(a, {stated}).", f"size(a, {asked})").verdict is verdict


def test_a_declared_disjointness_is_no_also_for_many_values() -> None:
    rules = 'disjoint("Pass", "Fail").\nrated(X) :- rating(X, _).\n'
    facts = 'rating(a, "Good"). subclass_of("Good", "Pass"). subclass_of("Bad", "Fail").'
    decision = decided(rules, facts, 'rating(a, "Bad")')
    assert decision.verdict is Verdict.REFUTED
    assert b'told_disjoint(\\"Good\\", \\"Bad\\")' in decision.certificate
    twin = decided("rated(X) :- rating(X, _).\n", facts, 'rating(a, "Bad")')
    assert twin.verdict is Verdict.ABSTAINED


def test_two_stated_values_that_exclude_each_other_stay_a_conflict() -> None:
    facts = GERMAN + ' registered_in("Hanse", "Spain").'
    for country in ("Germany", "Spain"):
        decision = decided(FUNCTIONAL, facts, f'registered_in("Hanse", "{country}")')
        assert decision.code is AbstentionCode.CONFLICT
    other = decided(FUNCTIONAL, facts, 'registered_in("Hanse", "Peru")')
    assert other.verdict is Verdict.ABSTAINED


@pytest.mark.parametrize("name", ["Hanse", "Hanse AG"])
def test_other_names_of_an_entity_contest_what_is_stated_of_it(name: str) -> None:
    joined = GERMAN + ' same_as("Hanse AG", "Hanse").'
    rival = ' registered_in("Hanse AG", "Spain").'
    assert decided(FUNCTIONAL, joined, f'seated("{name}")').verdict is Verdict.CERTIFIED
    assert decided(FUNCTIONAL, joined + rival, f'seated("{name}")').code is AbstentionCode.CONFLICT
    denial = ' -registered_in("Hanse AG", "Germany").'
    assert decided(MANY, joined + denial, f'seated("{name}")').code is AbstentionCode.CONFLICT
    assert decided(MANY, GERMAN + denial, 'seated("Hanse")').verdict is Verdict.CERTIFIED
    no = decided(FUNCTIONAL, joined, f'registered_in("{name}", "Spain")')
    assert no.verdict is Verdict.REFUTED


def test_classes_are_not_contested_by_what_other_names_of_them_lie_under() -> None:
    facts = """
    kind("a", "x"). same_as("x", "y"). subclass_of("x", "acid"). subclass_of("y", "base").
    """
    rules = 'disjoint("acid", "base").\nsour(S) :- kind(S, K), under(K, "acid").\n'
    assert decided(rules, facts, 'sour("a")').verdict is Verdict.CERTIFIED


def test_a_region_does_not_contest_its_country() -> None:
    facts = GERMAN + ' registered_in("Hanse", "Union").'
    assert decided(FUNCTIONAL, facts, 'registered_in("Hanse", "Germany")').verdict is (
        Verdict.CERTIFIED
    )
    (answer,) = decided(FUNCTIONAL, facts, 'registered_in("Hanse", C)').answers
    assert str(answer) == 'registered_in("Hanse", "Germany")'


def test_of_dates_the_more_precise_one_stands() -> None:
    rules = "functional(founded).\nold(X) :- founded(X, _).\n"
    facts = 'founded(a, @date("2026")). founded(a, @date("2026-01")).'
    decision = decided(rules, facts, "founded(a, D)")
    assert [str(answer) for answer in decision.answers] == ['founded(a, @date("2026-01"))']
    many = decided("old(X) :- founded(X, _).\n", facts, "founded(a, D)")
    assert len(many.answers) == 2
    apart = decided(rules, 'founded(a, @date("2026")). founded(a, @date("2025-01")).', "old(a)")
    assert apart.code is AbstentionCode.CONFLICT


def test_a_denial_can_be_asked_for() -> None:
    decision = decided(FUNCTIONAL, GERMAN, '-registered_in("Hanse", "Spain")')
    assert decision.verdict is Verdict.CERTIFIED


# ------------------------------------------------------------ what the checker refuses


def forged(certificate: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    def copy() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(json.dumps(certificate))
        return found

    for name in ("subclass_of", "same_as", "under", "alias", "may_coincide"):
        without = copy()
        for part in ("demands", "lookups"):
            calls = without["witness"][part]
            kept = [call for call in calls if not call["pattern"].startswith(f"{name}(")]
            without["witness"][part] = kept
        assert without != certificate
        yield f"without {name}", without
    for old, new in (
        ('told_apart("Germany", "Spain")', 'told_apart("Germany", "Union")'),
        ('functional("registered_in")', 'functional("other")'),
        ("-registered_in(X, V) :-", "-registered_in(X, W) :-"),
    ):
        text = json.dumps(certificate, ensure_ascii=False)
        escaped_old, escaped_new = (json.dumps(part)[1:-1] for part in (old, new))
        assert escaped_old in text
        yield f"{old} to {new}", json.loads(text.replace(escaped_old, escaped_new))


def test_no_part_of_a_no_can_be_left_out_or_changed() -> None:
    decision, sources = ask(FUNCTIONAL, GERMAN, 'registered_in("Hanse", "Spain")')
    certificate = json.loads(decision.certificate)
    assert verify_bytes(decision.certificate, sources.texts).valid
    for what, changed in forged(certificate):
        assert not verify_bytes(canonical_bytes(changed), sources.texts).valid, what


def test_a_class_below_both_that_the_certificate_hides_is_found_in_the_facts() -> None:
    decision, _ = ask(FUNCTIONAL, GERMAN, 'registered_in("Hanse", "Spain")')
    _, more = ask(
        FUNCTIONAL,
        GERMAN + 'subclass_of("Enclave", "Germany"). subclass_of("Enclave", "Spain").',
        'registered_in("Hanse", "Spain")',
    )
    certificate = json.loads(decision.certificate)
    (old,) = certificate["sources"]
    (new,) = more.sources
    text = json.dumps(certificate, ensure_ascii=False).replace(old, new)
    text = text.replace(certificate["sources"][old]["text_sha256"], more.sources[new].text_sha256)
    report = verify_bytes(canonical_bytes(json.loads(text)), more.texts)
    assert report.rejection == "LOOKUP_MISMATCH"
