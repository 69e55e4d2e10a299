"""Statements that a request leaves out: what follows without them, and how the checker knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from golden import load

from kb.statement import ALWAYS
from reasoner.certificate import canonical_bytes
from reasoner.decide import Decision, Request, decide
from reasoner.facts import Fact, FactBase, fact_id
from reasoner.policy import parse_atom, parse_policy
from reasoner.retraction import Retraction
from reasoner.verdict import Verdict
from reasoner.verify import Report, verify_bytes

POLICY = """
closed(barred/1, "register").
may(X) :- member(X), not barred(X).
member(X) :- paid(X, _).
member(X) :- honorary(X).
"""
FACTS = 'paid("Zoë", 2025).\npaid("Zoë", 2026).\nhonorary("Zoë").\nbarred("Bo").\nhonorary("Bo").\n'


def without(goal: str, *retracted: str, assumed: str = "") -> Decision:
    """Decide a goal as if some facts did not stand in the file."""
    facts, sources = load(FACTS)
    request = Request(
        parse_atom(goal),
        None,
        assumptions=(parse_atom(assumed),) if assumed else (),
        retractions=tuple(Retraction(fact_id(a), a) for a in map(parse_atom, retracted)),
    )
    policy = parse_policy(POLICY, name="policy.lp")
    return decide(request, policy=policy, facts=facts, sources=sources, engine="linear")


def examine(certificate: dict[str, Any]) -> Report:
    """Examine a certificate beside the whole facts file."""
    return verify_bytes(canonical_bytes(certificate), load(FACTS)[1].texts)


def test_another_support_takes_over() -> None:
    decision = without('may("Zoë")', 'honorary("Zoë")')
    assert decision.verdict is Verdict.CERTIFIED
    assert 'honorary("Zoë")' not in {
        step["conclusion"] for step in json.loads(decision.certificate)["steps"]
    }


def test_without_every_support_what_is_left_out_is_named() -> None:
    facts = ['honorary("Zoë")', 'paid("Zoë", 2025)', 'paid("Zoë", 2026)']
    decision = without('may("Zoë")', *facts)
    assert decision.verdict is Verdict.ABSTAINED
    details = {item.atom: item.detail for item in decision.open}
    assert details['honorary("Zoë")'] == 'left out by the request: honorary("Zoë")'
    assert details['paid("Zoë", _)'].endswith('paid("Zoë", 2025); paid("Zoë", 2026)')


def test_an_absence_holds_without_the_fact_that_spoke_against_it() -> None:
    assert without('may("Bo")').verdict is Verdict.ABSTAINED
    assert without('may("Bo")', 'barred("Bo")').verdict is Verdict.CERTIFIED


def test_what_is_retracted_changes_the_digest_even_where_nothing_needs_it() -> None:
    plain, other = without('may("Zoë")'), without('may("Zoë")', 'barred("Bo")')
    assert plain.verdict is other.verdict
    assert plain.digest != other.digest


def test_the_order_of_retractions_does_not_matter() -> None:
    facts = ['honorary("Zoë")', 'paid("Zoë", 2025)', 'barred("Bo")', 'barred("Bo")']
    one, other = without('may("Zoë")', *facts), without('may("Zoë")', *reversed(facts))
    assert one.certificate == other.certificate


def test_what_is_assumed_is_added_after_what_is_retracted() -> None:
    decision = without('may("Bo")', 'barred("Bo")', assumed='barred("Bo")')
    assert decision.verdict is Verdict.ABSTAINED


@pytest.mark.parametrize(
    ("retractions", "rejection"),
    [
        (None, "LOOKUP_MISMATCH"),
        ([], "NOT_CANONICAL"),
        (['barred("Bo")', 'barred("Bo")'], "NOT_CANONICAL"),
        (['barred("Bo")', 'honorary("Bo")'], "LEAF_MISMATCH"),
        (['barred("X")'], "LOOKUP_MISMATCH"),
        (['barred( "Bo")'], "STRUCTURE"),
    ],
)
def test_the_checker_holds_retractions_against_the_proof(
    retractions: list[str] | None, rejection: str
) -> None:
    certificate = json.loads(without('may("Bo")', 'barred("Bo")').certificate)
    assert examine(certificate).valid
    del certificate["retractions"]
    if retractions is not None:
        entries = [
            {"statement": f"st:{number:032}", "atom": a} for number, a in enumerate(retractions)
        ]
        if len(set(retractions)) < len(retractions):
            entries = [entries[0]] * 2
        certificate["retractions"] = entries
    assert examine(certificate).rejection == rejection


def test_a_statement_that_is_cited_cannot_be_declared_retracted() -> None:
    certificate = json.loads(without('may("Zoë")').certificate)
    cited = next(iter(certificate["statements"]))
    certificate["retractions"] = [{"statement": cited, "atom": 'barred("Bo")'}]
    assert examine(certificate).rejection == "LEAF_MISMATCH"


def test_the_base_itself_is_not_touched() -> None:
    atom, other = parse_atom("p(1, 2)"), parse_atom("p(1, 3)")
    base = FactBase([Fact(atom, "st:a"), Fact(atom, "st:b"), Fact(other, "st:c")])
    reduced = base.without([Retraction("st:a", atom), Retraction("st:c", other)])
    pattern = parse_atom("p(1, X)")
    assert [(str(f.atom), f.leaf) for f in reduced.match(pattern, None)] == [("p(1, 2)", "st:b")]
    assert list(reduced.facts()) == [Fact(atom, "st:b", ALWAYS)]
    assert len(base.match(pattern, None)) == 3
    assert reduced.without([Retraction("st:gone", atom)]).match(pattern, None)
    assert reduced.signatures() == base.signatures()
