"""Rules that apply under a class only: what they compile to, and what is said of wrong ones."""

from __future__ import annotations

import json

import pytest
from golden import decide_case, golden_cases, load

from reasoner import verify
from reasoner.checker.policy import read_policy
from reasoner.clause import render_clause
from reasoner.errors import PolicyRejected
from reasoner.policy import parse_policy

POLICY = """
%! rule: insured
%! says: "{S} is insured"
insured(S) :- cover(S, Activity), Activity > 3.
insured("Acme").
-insured(S) :- lapsed(S).
applies_under(insured/1, activity, "road transport").
applies_under(insured/1, seat, "EU").
"""


def test_a_gate_is_a_condition_of_every_rule_for_its_predicate_and_no_other() -> None:
    clauses = parse_policy(POLICY, name="p").clauses
    assert [render_clause(clause) for clause in clauses] == [
        "insured(S) :- cover(S, Activity), Activity > 3, activity(S, Activity2), "
        'under(Activity2, "road transport"), seat(S, Seat), under(Seat, "EU").',
        'insured("Acme") :- activity("Acme", Activity), under(Activity, "road transport"), '
        'seat("Acme", Seat), under(Seat, "EU").',
        "-insured(S) :- lapsed(S).",
    ]
    assert [clause.text for clause in clauses] == [render_clause(clause) for clause in clauses]
    assert clauses[0].says == "{S} is insured"


def test_what_a_gate_reads_is_checked_as_if_it_were_written() -> None:
    text = 'applies_under(safe/1, kind, "x").\nsafe(X) :- p(X), not q(X).\nclosed(q/1, "s").\n'
    assert render_clause(parse_policy(text, name="p").clauses[0]).endswith('under(Kind, "x").')
    closed = 'b(X) :- p(X), not a(X).\na(X) :- q(X).\nclosed(q/1, "s").\n'
    parse_policy(closed, name="p")
    with pytest.raises(PolicyRejected, match="closed"):  # the gate opens a/1
        parse_policy(closed + 'applies_under(a/1, kind, "x").\n', name="p")


@pytest.mark.parametrize(
    ("declaration", "said"),
    [
        ('applies_under(insure/1, d, "x").', "insure/1, which no rule .* nearest is insured/1"),
        ('applies_under(done/0, d, "x").', "done/0, which has no argument"),
        ('applies_under(insured/1, "D d", "x").', "'D d', which is no name of a dimension"),
        ('applies_under(insured/1, "x").', "a declaration with 3 arguments"),
        ('applies_under(insured, d, "x").', "expected a predicate and its arity"),
    ],
)
def test_a_wrong_gate_is_an_error_that_says_where(declaration: str, said: str) -> None:
    with pytest.raises(PolicyRejected, match=said) as raised:
        parse_policy(f"insured(S) :- p(S).\ndone :- p(_).\n{declaration}\n", name="p")
    assert [finding.line for finding in raised.value.findings] == [3]


def test_the_verifier_reads_the_same_gated_rules() -> None:
    text = POLICY + 'applies_under(-insured/1, activity, "Übersee\\" x").\n'
    clauses = parse_policy(text, name="p").clauses
    rules = read_policy(text).rules
    assert {name: rule.text for name, rule in rules.items()} == {c.id: c.text for c in clauses}
    assert [len(rule.body) for rule in rules.values()] == [len(c.body) for c in clauses]


def test_a_certificate_without_the_gate_is_rejected() -> None:
    (case,) = (case for case in golden_cases() if case.name == "gate/under")
    data = decide_case(case).certificate
    _, sources = load(case.facts)
    assert verify.verify_bytes(data, sources.texts).valid
    certificate = json.loads(data)
    rule = next(r for name, r in certificate["rules"].items() if name == "carriage_insured")
    rule["text"] = rule["text"].partition(", activity(")[0] + "."
    forged = json.dumps(certificate, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    report = verify.verify_bytes(forged.encode(), sources.texts)
    assert not report.valid
