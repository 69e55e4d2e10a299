"""Every golden case decides as recorded, and its twin without one fact abstains naming it.

Set PROOFWEAVE_REWRITE_GOLDEN to rewrite `expected.json`; review the diff.
"""

from __future__ import annotations

import json
import os

import pytest
from golden import Case, decide_case, golden_cases, summary, without

from reasoner.verdict import Verdict

CASES = golden_cases()
CERTIFIED = {"conflict/instances", "quantities/sum_of_units", "supplier/assumed"}
"""Certified without a twin: what they rest on is assumed, closed, or shown by another case."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_decides_as_recorded(case: Case) -> None:
    found = summary(decide_case(case).certificate)
    path = case.folder / "expected.json"
    if os.environ.get("PROOFWEAVE_REWRITE_GOLDEN"):
        path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_twin_without_one_fact_abstains_and_names_it(case: Case) -> None:
    decision = decide_case(case)
    twin = case.request.get("twin")
    if twin is None:
        assert decision.verdict is not Verdict.CERTIFIED or case.name in CERTIFIED
        return
    assert decision.verdict is Verdict.CERTIFIED
    found = decide_case(case, facts=without(case.facts, twin["without"]))
    assert found.verdict is Verdict.ABSTAINED
    if "names" in twin:
        assert twin["names"] in [item.atom for item in found.open]
    if "code" in twin:
        assert found.code is not None
        assert found.code.value == twin["code"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bytes_do_not_depend_on_the_order_of_facts(case: Case) -> None:
    lines = case.facts.splitlines(keepends=True)
    one = decide_case(case)
    other = decide_case(case, facts="".join(reversed(lines)))
    assert [one.verdict, one.code, one.answers] == [other.verdict, other.code, other.answers]
    assert [item.atom for item in one.open] == [item.atom for item in other.open]
