"""Certificates as text: what people read."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from golden import decide_case, golden_cases

from reasoner.render import plain_term, render_text, sentence

CASES = {case.name: case for case in golden_cases()}


def text_of(name: str, *, with_texts: bool = True) -> str:
    """Render the certificate of a case."""
    case = CASES[name]
    certificate = json.loads(decide_case(case).certificate)
    digests = [source["text_sha256"] for source in certificate["sources"].values()]
    return render_text(certificate, dict.fromkeys(digests, case.facts) if with_texts else None)


def test_a_proof_reads_from_its_goal_down() -> None:
    assert text_of("supplier/onboarded") == (
        """\
CERTIFIED: may_be_onboarded("Nordwind Logistik GmbH")
The goal follows from the quoted sources under the cited rules.
Policy: supplier_onboarding version 3, in effect 2026-01-01/..
On: 2026-03-01

Proof of may_be_onboarded("Nordwind Logistik GmbH")
  s10 may_be_onboarded("Nordwind Logistik GmbH")
      by rule onboard, Supplier Policy 4
      Nordwind Logistik GmbH may be onboarded
    s6 insured("Nordwind Logistik GmbH", "liability")
        by rule insured, Supplier Policy 4.2
        Nordwind Logistik GmbH is insured for liability, at least 1000000 EUR
      s3 cover("Nordwind Logistik GmbH", "liability", @quantity("5000000 EUR"))
          stated in facts.lp, line 2: “cover("Nordwind Logistik GmbH", \
"liability", @quantity("5000000 EUR")).”
      s1 required_cover("liability", @quantity("1000000 EUR"))
          by rule required_cover.1
      s5 @quantity("5000000 EUR") >= @quantity("1000000 EUR")
          computed exactly
    s8 registered("Nordwind Logistik GmbH")
        by rule registered, Supplier Policy 4.3
      s2 register_entry("Nordwind Logistik GmbH", "HRB 4711", @date("2019-05-02"))
          stated in facts.lp, line 3: “register_entry("Nordwind Logistik GmbH", \
"HRB 4711", @date("2019-05-02")).”
      s4 valid_on(@date("2026-03-01"))
          the day of the request
      s7 @date("2019-05-02") <= @date("2026-03-01")
          computed exactly
    s9 not sanctions_entry("Nordwind Logistik GmbH")
        from all rows of a closed predicate

Not found, in a source declared complete:
  - sanctions_entry("Nordwind Logistik GmbH")
"""
    )


def test_an_abstention_says_what_is_missing_and_what_is_known() -> None:
    text = text_of("supplier/too_little_cover")
    assert text.startswith('ABSTAINED (GAP_IN_CORPUS): may_be_onboarded("Klein AG")\n')
    assert "This is not a no. Reason: no source says anything about it.\n" in text
    assert (
        """
Open:
  - cover("Klein AG", "liability", A) (GAP_IN_CORPUS)
      A >= M is needed, but @quantity("500000 EUR") >= @quantity("1000000 EUR") is false
      needed by rule insured
      search for: Klein AG liability cover
      expected: quantity
      entity check: names Klein AG

Known:
  s2 cover("Klein AG", "liability", @quantity("500000 EUR"))
      stated in facts.lp, line 4: “cover("Klein AG", "liability", @quantity("500000 EUR")).”
"""
        in text
    )


def test_a_conflict_shows_both_sides() -> None:
    text = text_of("conflict/functional")
    assert "Cannot both hold (functional seat):\n" in text
    assert text.count("stated in facts.lp") == 2


def test_without_texts_places_are_characters() -> None:
    text = text_of("recursion/left", with_texts=False)
    assert "stated in facts.lp, characters 0-11: “edge(a, b).”" in text


def test_assumptions_and_cuts_are_named() -> None:
    assert "Assuming, without a source:\n  - cover(" in text_of("supplier/assumed")
    certificate = json.loads(decide_case(CASES["supplier/all_answers"]).certificate)
    certificate["complete"] = False
    assert "Incomplete: a limit cut the work" in render_text(certificate)
    assert 'Refuted: -insured("Alt GmbH", "liability")' in render_text(certificate)


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_case_renders(name: str) -> None:
    text = text_of(name)
    certificate = json.loads(decide_case(CASES[name]).certificate)
    assert certificate["goal"] in text
    for item in (*certificate["answers"], *certificate["open"]):
        assert item["atom"] in text


def test_a_deep_proof_does_not_recurse() -> None:
    steps: list[dict[str, Any]] = [
        {
            "id": f"s{n}",
            "kind": "rule",
            "rule": "r",
            "bindings": {},
            "conclusion": f"p({n})",
            "premises": [f"s{n - 1}"] if n > 1 else [],
        }
        for n in range(1, 5001)
    ]
    certificate = json.loads(decide_case(CASES["recursion/left"]).certificate)
    rule = {"cite": "", "says": "", "text": "", "clause": {}}
    answers = [{"atom": "p(5000)", "step": "s5000"}]
    certificate.update(steps=steps, rules={"r": rule}, answers=answers)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(220)
    try:
        text = render_text(certificate)
    finally:
        sys.setrecursionlimit(limit)
    assert text.count("by rule r") == 5000


@pytest.mark.parametrize(
    ("term", "plain"),
    [
        ('"Acme \\"Nord\\""', 'Acme "Nord"'),
        ('@quantity("5 kg")', "5 kg"),
        ('@decimal("0.5")', "0.5"),
        ("acme", "acme"),
        ("12", "12"),
    ],
)
def test_terms_read_plainly(term: str, plain: str) -> None:
    assert plain_term(term) == plain


def test_sentences_keep_what_is_not_bound() -> None:
    assert sentence("{S} has {X} of {S}", {"S": '"A"'}) == "A has {X} of A"
