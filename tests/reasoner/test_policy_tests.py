"""Files of policy tests: reading, running, and what is reported."""

from __future__ import annotations

import pytest

from reasoner.clause import Policy
from reasoner.errors import PolicyRejected
from reasoner.policy import parse_policy
from reasoner.policy_tests import PolicyTestResult, read_tests, run_tests

POLICY = """
closed(listed/1, "list").
insured(S) :- liability_cover(S, C), required_cover(M), C >= M.
required_cover(@quantity("1000000 EUR")).
-insured(S) :- listed(S).
"""

PASSING = """
facts: |
  liability_cover("Acme", @quantity("5000000 EUR")).
  liability_cover("Rich", @quantity("9000000 EUR")).
tests:
  - name: enough
    goal: insured("Acme")
    verdict: CERTIFIED
  - goal: insured(S)
    verdict: certified
    answers: ['insured("Acme")', 'insured("Rich")']
  - name: nothing known
    valid_on: 2026-06-01
    goal: insured("Poor")
    verdict: ABSTAINED
    code: GAP_IN_CORPUS
    open:
      - liability_cover("Poor", C)
  - name: listed
    facts: |
      listed("Bad").
    goal: insured("Bad")
    verdict: REFUTED
"""


def _policy() -> Policy:
    return parse_policy(POLICY, name="policy")


def _run(text: str) -> tuple[PolicyTestResult, ...]:
    return run_tests(_policy(), text, name="policy.test.yaml")


def test_expectations_that_hold_pass() -> None:
    results = _run(PASSING)
    assert [(r.name, r.passed, r.detail) for r in results] == [
        ("enough", True, ""),
        ("insured(S)", True, ""),
        ("nothing known", True, ""),
        ("listed", True, ""),
    ]


@pytest.mark.parametrize(
    ("old", "new", "detail"),
    [
        ("verdict: CERTIFIED", "verdict: REFUTED", "expected REFUTED, found CERTIFIED"),
        ("GAP_IN_CORPUS", "BUDGET", "expected BUDGET, found GAP_IN_CORPUS"),
        ("'insured(\"Rich\")'", "'insured(\"Po\")'", 'missing answer insured("Po")'),
        ("'insured(\"Rich\")'", "'insured(\"Po\")'", 'unexpected answer insured("Rich")'),
        ('liability_cover("Poor", C)', "listed(X)", "missing open requirement listed(X)"),
        ('listed("Bad").', "listed(X).", "holds a variable"),
        ('insured("Acme")\n', 'insurd("Acme")\n', "insured"),
    ],
)
def test_what_differs_is_named(old: str, new: str, detail: str) -> None:
    assert old in PASSING
    failed = [result for result in _run(PASSING.replace(old, new, 1)) if not result.passed]
    assert len(failed) == 1
    assert detail in failed[0].detail


def test_a_policy_that_lost_a_rule_fails_its_tests() -> None:
    weaker = parse_policy(POLICY.replace("required_cover(M), C >= M", "C >= C"), name="policy")
    rows = 'facts: liability_cover("A", @quantity("1 EUR")).\ntests:\n- {goal: insured("A"), '
    text = rows.replace('insured("A")', "'insured(\"A\")'") + "verdict: ABSTAINED}"
    assert run_tests(_policy(), text, name="t")[0].passed
    assert not run_tests(weaker, text, name="t")[0].passed


def test_all_errors_of_a_file_come_together() -> None:
    text = """
- goal: insured(
  verdict: yes
  opn: []
- name: a
  verdict: REFUTED
  valid_on: 2026
- name: a
  goal: p
  verdict: ABSTAINED
  code: NO_CODE
  answers: p
"""
    with pytest.raises(PolicyRejected) as caught:
        read_tests(text, name="t")
    assert [(f.line, f.column) for f in caught.value.findings] == [
        (2, 9),
        (3, 12),
        (4, 3),
        (5, 3),
        (7, 13),
        (8, 3),
        (11, 9),
        (12, 12),
    ]


@pytest.mark.parametrize("text", ["", "a: [", "tests: 3", "3", "tests: []", "\x00"])
def test_a_file_without_tests_is_rejected(text: str) -> None:
    with pytest.raises(PolicyRejected):
        read_tests(text, name="t")
