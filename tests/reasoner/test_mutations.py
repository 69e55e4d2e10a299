"""Broken certificates, each made from a good one, are rejected with the class that fits."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from golden import CASES as FOLDER
from golden import Case, decide_case, golden_cases, load
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoner.certificate import canonical_bytes
from reasoner.verify import REJECTIONS, Report, Texts, verify_bytes

Json = dict[str, Any]
Change = Callable[[Json], object]
BY_NAME = {case.name: case for case in golden_cases()}


@cache
def good(name: str) -> bytes:
    """Give the certificate of a case."""
    return decide_case(BY_NAME[name]).certificate


def texts_of(case: Case) -> Texts:
    """Give what the checker reads the sources of a case from."""
    return load(case.facts)[1].texts


def examine(name: str, change: Change, **expectations: Any) -> Report:
    """Change a good certificate, keep it canonical, and examine it."""
    certificate = json.loads(good(name))
    change(certificate)
    return verify_bytes(canonical_bytes(certificate), texts_of(BY_NAME[name]), **expectations)


def fact_id(atom: str) -> str:
    """Give the id of a fact."""
    return f"st:{hashlib.sha256(atom.encode()).hexdigest()[:32]}"


def step(certificate: Json, conclusion: str) -> Json:
    """Find a step by what it concludes."""
    found: Json = next(s for s in certificate["steps"] if s["conclusion"].startswith(conclusion))
    return found


def refresh_knowledge(certificate: Json) -> None:
    """Digest the statements again, as a forger would."""
    names = "\n".join(sorted(certificate["statements"]))
    certificate["knowledge"] = hashlib.sha256(names.encode()).hexdigest()


# Changes, each with its case and the class that must come out


def drop_premise(c: Json) -> None:
    step(c, "registered")["premises"].pop()


def swap_premises(c: Json) -> None:
    step(c, "registered")["premises"].reverse()


def wrong_premise(c: Json) -> None:
    step(c, "may_be")["premises"][0] = "s1"


def change_binding(c: Json) -> None:
    step(c, "insured")["bindings"]["C"] = '"accident"'


def drop_binding(c: Json) -> None:
    del step(c, "insured")["bindings"]["C"]


def inject_arguments(c: Json) -> None:
    step(c, "reaches(a, b)")["bindings"]["X"] = "a, a"


def untidy_binding(c: Json) -> None:
    found = step(c, "insured")
    found["bindings"]["A"] = '@quantity("5000000.0 EUR")'


def change_conclusion(c: Json) -> None:
    step(c, "insured")["conclusion"] = 'insured("Klein AG", "liability")'


def prove_by_itself(c: Json) -> None:
    found = step(c, "reaches(a, d)")
    found["premises"][0] = found["id"]


def circle(c: Json) -> None:
    step(c, "a(1)").update(rule="a_by_b", premises=["s3"], bindings={"X": "1"})
    clause = {
        "head": {"predicate": "a", "negated": False, "arguments": [{"variable": "X"}]},
        "body": [
            {"positive": {"predicate": "b", "negated": False, "arguments": [{"variable": "X"}]}}
        ],
    }
    c["rules"]["a_by_b"] = {"clause": clause, "text": "a(X) :- b(X).", "cite": "", "says": ""}


def unknown_premise(c: Json) -> None:
    step(c, "reaches(a, d)")["premises"][0] = "s99"


def unknown_rule(c: Json) -> None:
    step(c, "reaches(a, d)")["rule"] = "offward"


def unknown_statement(c: Json) -> None:
    step(c, "edge")["statement"] = fact_id("edge(a, d)")


def claim_as_atom(c: Json) -> None:
    """Prove an atom by a comparison that nobody checks."""
    step(c, "edge(a, b)").update(kind="comparison", conclusion="edge(a, b)")
    del step(c, "edge(a, b)")["statement"]


def older_rule(c: Json) -> None:
    c["rules"]["insured"]["clause"]["body"][2]["comparison"]["operator"] = ">"


def reword_rule(c: Json) -> None:
    c["rules"]["insured"]["text"] = c["rules"]["insured"]["text"].replace(">=", ">")


def recite_rule(c: Json) -> None:
    c["rules"]["insured"]["cite"] = "Supplier Policy 9.9"


def resay_rule(c: Json) -> None:
    c["rules"]["insured"]["says"] = "{S} is the best"


def borrow_rule(c: Json) -> None:
    c["rules"]["onboard"] = copy.deepcopy(c["rules"]["insured"])


def edit_policy(c: Json) -> None:
    c["policies"][0]["text"] = c["policies"][0]["text"].replace("1000000 EUR", "1 EUR")


def replace_policy(c: Json) -> None:
    """Edit the policy consistently: only the expected digest can tell."""
    record = c["policies"][0]
    record["text"] += "% nothing else\n"
    record["digest"] = hashlib.sha256(record["text"].encode()).hexdigest()


def misstate_version(c: Json) -> None:
    c["policies"][0]["version"] = "4"


def add_policy(c: Json) -> None:
    text = "%! policy: other\n\nmay_be_onboarded(S) :- wish(S).\n"
    record = {"id": "other", "version": "0", "effective": "../..", "text": text}
    c["policies"].append({**record, "digest": hashlib.sha256(text.encode()).hexdigest()})
    c["policies"].sort(key=lambda item: str(item["digest"]))


def undeclare(c: Json) -> None:
    """Take back that a predicate is closed, consistently."""
    record = c["policies"][0]
    record["text"] = record["text"].replace("closed(sanctions_entry/1", "closed(other/1")
    record["digest"] = hashlib.sha256(record["text"].encode()).hexdigest()


def expire_policy(c: Json) -> None:
    c["valid_on"] = "2025-03-01"
    request = step(c, "valid_on")
    request["conclusion"] = 'valid_on(@date("2025-03-01"))'


def evidence(c: Json, conclusion: str) -> Json:
    found: Json = c["statements"][step(c, conclusion)["statement"]]["evidence"][0]
    return found


def shift_span(c: Json) -> None:
    found = evidence(c, "cover")
    found["start"] += 1
    found["end"] += 1


def stretch_span(c: Json) -> None:
    evidence(c, "cover")["end"] += 1


def edit_quote(c: Json) -> None:
    found = evidence(c, "cover")
    found["quote"] = found["quote"].replace("5000000", "9000000")


def forge_statement(c: Json) -> None:
    """Change a fact with its id, quote, bindings and proof: only the source can tell."""
    text = json.dumps(c)
    old = 'cover("Nordwind Logistik GmbH", "liability", @quantity("5000000 EUR"))'
    new = old.replace("5000000", "9000000")
    text = text.replace(fact_id(old), fact_id(new)).replace("5000000", "9000000")
    c.clear()
    c.update(json.loads(text))
    refresh_knowledge(c)


def wrong_statement_id(c: Json) -> None:
    text = json.dumps(c).replace(step(c, "cover")["statement"], "st:" + "0" * 32)
    c.clear()
    c.update(json.loads(text))
    refresh_knowledge(c)


def other_atom_of_statement(c: Json) -> None:
    step(c, "cover")["conclusion"] = 'cover("Klein AG", "liability", @quantity("5000000 EUR"))'


def another_leaf(c: Json) -> None:
    atom = 'register_entry("Klein AG", "HRB 12", @date("2020-01-31"))'
    text = BY_NAME["supplier/onboarded"].facts
    start = text.index(atom)
    found = copy.deepcopy(evidence(c, "cover"))
    found.update(start=start, end=start + len(atom) + 1, quote=f"{atom}.")
    c["statements"][fact_id(atom)] = {"atom": atom, "evidence": [found]}
    c["steps"].append(
        {
            "id": f"s{len(c['steps']) + 1}",
            "kind": "stated",
            "conclusion": atom,
            "premises": [],
            "statement": fact_id(atom),
        }
    )
    refresh_knowledge(c)


def another_statement(c: Json) -> None:
    another_leaf(c)
    c["steps"].pop()


def repeat_step(c: Json) -> None:
    c["steps"].append({**c["steps"][-1], "id": f"s{len(c['steps']) + 1}"})


def unused_rule(c: Json) -> None:
    clause = {"head": {"predicate": "b", "negated": False, "arguments": [{"variable": "X"}]}}
    body = {"positive": {"predicate": "a", "negated": False, "arguments": [{"variable": "X"}]}}
    c["rules"]["a_by_b"] = {
        "clause": {
            "head": body["positive"],
            "body": [{"positive": clause["head"]}],
        },
        "text": "a(X) :- b(X).",
        "cite": "",
        "says": "",
    }


def unused_source(c: Json) -> None:
    (record,) = c["sources"].values()
    c["sources"]["0" * 64] = dict(record)


def use_both(c: Json) -> None:
    """Prove by the rule with two premises what one of them proves."""
    c["steps"].insert(
        1,
        {
            "id": "s2",
            "kind": "stated",
            "conclusion": "b(1)",
            "premises": [],
            "statement": fact_id("b(1)"),
        },
    )
    c["steps"][2].update(id="s3", rule="both", premises=["s1", "s2"])
    c["answers"][0]["step"] = "s3"
    (record,) = c["statements"].values()
    item = copy.deepcopy(record["evidence"][0])
    start = BY_NAME["minimal/one_of_two"].facts.index("b(1).")
    item.update(start=start, end=start + 5, quote="b(1).")
    c["statements"][fact_id("b(1)")] = {"atom": "b(1)", "evidence": [item]}
    one = c["rules"].pop("one")
    other = copy.deepcopy(one["clause"]["body"][0])
    other["positive"]["predicate"] = "b"
    one["clause"]["body"].append(other)
    c["rules"]["both"] = {**one, "text": "goal(X) :- a(X), b(X)."}
    refresh_knowledge(c)


def false_comparison(c: Json) -> None:
    text = json.dumps(c).replace("500.5", "400.5").replace("1500.50", "\0")
    text = text.replace("1500.5", "1400.5").replace("\0", "1500.50")
    c.clear()
    c.update(json.loads(text))


def unlisted_request(c: Json) -> None:
    c["valid_on"] = "2026-03-02"


def unlisted_assumption(c: Json) -> None:
    c["assumptions"].pop()


def unused_assumption(c: Json) -> None:
    c["assumptions"] = sorted([*c["assumptions"], "zeal(1)"])


def drop_demand(c: Json) -> None:
    c["witness"]["demands"].pop()


def drop_lookup(c: Json) -> None:
    c["witness"]["lookups"].pop()


def drop_lookups(c: Json) -> None:
    c["witness"]["lookups"].clear()


def empty_lookup(c: Json) -> None:
    """Hide the rows that make somebody watched."""
    found = next(x for x in c["witness"]["lookups"] if x["pattern"] == 'member("A", _)')
    found["answers"] = []
    c["witness"]["demands"] = [x for x in c["witness"]["demands"] if x["pattern"] == 'watched("A")']
    c["witness"]["lookups"] = [
        x for x in c["witness"]["lookups"] if x["pattern"] in ('member("A", _)', 'listed("A", _)')
    ]
    c["steps"] = c["steps"][:3]
    name = fact_id('member("A", "G1")')
    del c["statements"][name]
    refresh_knowledge(c)


def hide_row(c: Json) -> None:
    found = next(x for x in c["witness"]["lookups"] if x["pattern"].startswith("paid"))
    found["answers"].pop()


def extra_call(c: Json) -> None:
    c["witness"]["lookups"].append({"pattern": "zeal(_)", "answers": [], "basis": "facts"})


def drop_answer(c: Json) -> None:
    found = next(x for x in c["witness"]["demands"] if x["pattern"] == 'watched("B")')
    found["answers"].clear()


def unproved_answer(c: Json) -> None:
    found = next(x for x in c["witness"]["demands"] if x["pattern"] == 'watched("B")')
    found["answers"][0]["step"] = "s1"


def foreign_answer(c: Json) -> None:
    found = next(x for x in c["witness"]["demands"] if x["pattern"] == 'watched("B")')
    found["answers"].append({"atom": 'watched("C")', "step": "s4"})


def open_basis(c: Json) -> None:
    for lookup in c["witness"]["lookups"]:
        lookup["basis"] = "declared"


def hide_behind_declaration(c: Json) -> None:
    """Hide the rows that make somebody watched, and call the rest declared."""
    empty_lookup(c)
    for lookup in c["witness"]["lookups"]:
        lookup["basis"] = "declared"
    for source in c["sources"].values():
        source["decoder"] = "text/1"


def odd_basis(c: Json) -> None:
    c["witness"]["lookups"][0]["basis"] = "hearsay"


def flip_verdict(verdict: str) -> Change:
    def change(c: Json) -> None:
        c["verdict"] = verdict

    return change


def set_code(code: str | None) -> Change:
    def change(c: Json) -> None:
        c["code"] = code

    return change


def recode_all(code: str) -> Change:
    def change(c: Json) -> None:
        c["code"] = code
        for item in c["open"]:
            item["code"] = code

    return change


def set_goal(goal: str) -> Change:
    def change(c: Json) -> None:
        c["goal"] = goal

    return change


def drop_answers(c: Json) -> None:
    c["answers"] = []


def drop_open(c: Json) -> None:
    c["open"] = []


def rename_open(c: Json) -> None:
    c["open"][0]["atom"] = 'cover("Klein AG", "accident", A)'


def renumber_open(c: Json) -> None:
    c["open"][0]["id"] = "or:" + "0" * 16


def forget_side(c: Json) -> None:
    c["witness"]["contested"][0]["sides"].pop()


def forget_conflict(c: Json) -> None:
    c["witness"]["contested"] = []


def false_conflict(c: Json) -> None:
    c["witness"]["contested"][0]["reason"] = "denied"


def cut(c: Json) -> None:
    c["complete"] = False


def longer_validity(c: Json) -> None:
    c["validity"]["end"] = "2099-01-01"


def odd_knowledge(c: Json) -> None:
    c["knowledge"] = "0" * 64


def later_format(c: Json) -> None:
    c["format"] = "proofweave.certificate/2"


def unknown_field(c: Json) -> None:
    c["note"] = "trust me"


def unknown_field_of(section: str) -> Change:
    def change(c: Json) -> None:
        found: Any = c[section]
        target = found[0] if isinstance(found, list) else next(iter(found.values()))
        target["note"] = "trust me"

    return change


def unknown_field_of_clause(c: Json) -> None:
    c["rules"]["insured"]["clause"]["unless"] = []


def unknown_field_of_evidence(c: Json) -> None:
    evidence(c, "cover")["page"] = 3


def missing_field(c: Json) -> None:
    del c["assumptions"]


def step_as_text(c: Json) -> None:
    c["steps"][0] = "s1"


def text_as_number(c: Json) -> None:
    c["goal"] = 5


def skip_number(c: Json) -> None:
    c["steps"][0]["id"] = "s0"


def other_text(c: Json) -> None:
    """Name another text; as forgers do, everywhere."""
    (record,) = c["sources"].values()
    text = json.dumps(c).replace(record["text_sha256"], "1" * 64)
    c.clear()
    c.update(json.loads(text))


def drop_source(c: Json) -> None:
    c["sources"].clear()


def unsorted_answers(c: Json) -> None:
    c["answers"].reverse()


SUPPLIER = "supplier/onboarded"
CHANGES: list[tuple[str, Change, str]] = [
    (SUPPLIER, drop_premise, "RULE_INSTANCE"),
    (SUPPLIER, swap_premises, "RULE_INSTANCE"),
    (SUPPLIER, wrong_premise, "RULE_INSTANCE"),
    (SUPPLIER, change_binding, "RULE_INSTANCE"),
    (SUPPLIER, drop_binding, "RULE_INSTANCE"),
    ("recursion/left", inject_arguments, "RULE_INSTANCE"),
    (SUPPLIER, untidy_binding, "RULE_INSTANCE"),
    (SUPPLIER, change_conclusion, "RULE_INSTANCE"),
    ("recursion/left", prove_by_itself, "NOT_WELL_FOUNDED"),
    ("recursion/cycle", circle, "NOT_WELL_FOUNDED"),
    ("recursion/left", unknown_premise, "UNKNOWN_REFERENCE"),
    ("recursion/left", unknown_rule, "UNKNOWN_REFERENCE"),
    ("recursion/left", unknown_statement, "UNKNOWN_REFERENCE"),
    ("recursion/left", claim_as_atom, "RULE_INSTANCE"),
    (SUPPLIER, older_rule, "RULE_MISMATCH"),
    (SUPPLIER, reword_rule, "RULE_MISMATCH"),
    (SUPPLIER, recite_rule, "RULE_MISMATCH"),
    (SUPPLIER, resay_rule, "RULE_MISMATCH"),
    (SUPPLIER, borrow_rule, "RULE_MISMATCH"),
    (SUPPLIER, edit_policy, "POLICY_MISMATCH"),
    (SUPPLIER, replace_policy, "POLICY_MISMATCH"),
    (SUPPLIER, misstate_version, "POLICY_MISMATCH"),
    (SUPPLIER, add_policy, "POLICY_MISMATCH"),
    (SUPPLIER, expire_policy, "POLICY_MISMATCH"),
    (SUPPLIER, shift_span, "QUOTE_MISMATCH"),
    (SUPPLIER, stretch_span, "QUOTE_MISMATCH"),
    (SUPPLIER, edit_quote, "QUOTE_MISMATCH"),
    (SUPPLIER, forge_statement, "QUOTE_MISMATCH"),
    (SUPPLIER, wrong_statement_id, "STATEMENT_MISMATCH"),
    (SUPPLIER, other_atom_of_statement, "STATEMENT_MISMATCH"),
    (SUPPLIER, another_leaf, "UNUSED"),
    (SUPPLIER, another_statement, "UNUSED"),
    (SUPPLIER, repeat_step, "UNUSED"),
    ("recursion/cycle", unused_rule, "UNUSED"),
    ("minimal/one_of_two", unused_source, "UNUSED"),
    (SUPPLIER, extra_call, "UNUSED"),
    ("supplier/assumed", unused_assumption, "UNUSED"),
    ("minimal/one_of_two", use_both, "NOT_MINIMAL"),
    (SUPPLIER, unlisted_request, "LEAF_MISMATCH"),
    ("supplier/assumed", unlisted_assumption, "LEAF_MISMATCH"),
    ("absence/derived", drop_demand, "WITNESS_INCOMPLETE"),
    ("absence/derived", drop_lookup, "WITNESS_INCOMPLETE"),
    (SUPPLIER, drop_lookups, "WITNESS_INCOMPLETE"),
    ("absence/fails", drop_answer, "WITNESS_INCOMPLETE"),
    ("absence/fails", unproved_answer, "WITNESS_UNPROVED"),
    ("absence/fails", foreign_answer, "WITNESS_UNPROVED"),
    ("absence/derived", empty_lookup, "LOOKUP_MISMATCH"),
    ("absence/derived", hide_behind_declaration, "QUOTE_MISMATCH"),
    ("aggregate/sum", hide_row, "COMPARISON"),
    ("supplier/too_little_cover", open_basis, "NOT_CLOSED"),
    (SUPPLIER, odd_basis, "STRUCTURE"),
    (SUPPLIER, flip_verdict("REFUTED"), "GOAL_MISMATCH"),
    (SUPPLIER, flip_verdict("ABSTAINED"), "VERDICT_MISMATCH"),
    (SUPPLIER, flip_verdict("PROVED"), "VERDICT_MISMATCH"),
    ("supplier/cancelled", flip_verdict("CERTIFIED"), "GOAL_MISMATCH"),
    ("supplier/too_little_cover", flip_verdict("CERTIFIED"), "VERDICT_MISMATCH"),
    ("supplier/too_little_cover", flip_verdict("REFUTED"), "VERDICT_MISMATCH"),
    (SUPPLIER, set_code("GAP_IN_CORPUS"), "VERDICT_MISMATCH"),
    ("supplier/too_little_cover", set_code("UNDETERMINED"), "OPEN_MISMATCH"),
    ("supplier/too_little_cover", set_code(None), "VERDICT_MISMATCH"),
    ("supplier/too_little_cover", set_code("NO_IDEA"), "VERDICT_MISMATCH"),
    ("supplier/too_little_cover", recode_all("UNDETERMINED"), "VERDICT_MISMATCH"),
    ("supplier/too_little_cover", recode_all("CONFLICT"), "VERDICT_MISMATCH"),
    ("supplier/too_little_cover", recode_all("BUDGET"), "VERDICT_MISMATCH"),
    ("supplier/too_little_cover", recode_all("OUT_OF_SCOPE"), "OPEN_MISMATCH"),
    ("conflict/functional", recode_all("GAP_IN_CORPUS"), "VERDICT_MISMATCH"),
    (SUPPLIER, set_goal('may_be_onboarded("Klein AG")'), "GOAL_MISMATCH"),
    (SUPPLIER, set_goal("may_be_onboarded("), "GOAL_MISMATCH"),
    (SUPPLIER, drop_answers, "VERDICT_MISMATCH"),
    ("supplier/too_little_cover", drop_open, "OPEN_MISMATCH"),
    ("supplier/too_little_cover", rename_open, "OPEN_MISMATCH"),
    ("supplier/too_little_cover", renumber_open, "OPEN_MISMATCH"),
    ("conflict/functional", forget_side, "STRUCTURE"),
    ("conflict/functional", forget_conflict, "WITNESS_INCOMPLETE"),
    ("conflict/functional", false_conflict, "OPEN_MISMATCH"),
    (SUPPLIER, cut, "VERDICT_MISMATCH"),
    (SUPPLIER, longer_validity, "VALIDITY_MISMATCH"),
    (SUPPLIER, odd_knowledge, "KNOWLEDGE_MISMATCH"),
    (SUPPLIER, later_format, "FORMAT_VERSION"),
    (SUPPLIER, unknown_field, "UNKNOWN_FIELD"),
    *(
        (SUPPLIER, unknown_field_of(section), "UNKNOWN_FIELD")
        for section in ("answers", "policies", "rules", "sources", "statements", "steps")
    ),
    (SUPPLIER, unknown_field_of_clause, "UNKNOWN_FIELD"),
    (SUPPLIER, unknown_field_of_evidence, "UNKNOWN_FIELD"),
    (SUPPLIER, missing_field, "STRUCTURE"),
    (SUPPLIER, step_as_text, "STRUCTURE"),
    (SUPPLIER, text_as_number, "STRUCTURE"),
    (SUPPLIER, skip_number, "STRUCTURE"),
    (SUPPLIER, other_text, "SOURCE_MISSING"),
    (SUPPLIER, drop_source, "UNKNOWN_REFERENCE"),
    ("supplier/all_answers", unsorted_answers, "NOT_CANONICAL"),
]


def name_of(change: Change) -> str:
    """Name a change in test reports."""
    return getattr(change, "__qualname__", "change").partition(".")[0]


@pytest.mark.parametrize(
    ("case", "change", "expected"),
    CHANGES,
    ids=[f"{name_of(change)}-{case}-{expected}" for case, change, expected in CHANGES],
)
def test_changed_certificate_is_rejected_with_its_class(
    case: str, change: Change, expected: str
) -> None:
    policy = hashlib.sha256(BY_NAME[case].policy.encode()).hexdigest()
    report = examine(case, change, expect_policy=policy)
    assert (report.rejection, report.valid) == (expected, False), report.message
    assert report.exit_code == REJECTIONS[expected] >= 10
    assert report.message


@pytest.mark.parametrize("case", sorted(BY_NAME))
def test_unchanged_certificate_is_accepted(case: str) -> None:
    found = examine(case, lambda _: None, expect_goal=BY_NAME[case].request["goal"])
    assert found.valid, found.message
    assert found.exit_code == 0


def test_negation_over_an_open_predicate_is_rejected() -> None:
    assert examine(SUPPLIER, undeclare).rejection == "NOT_CLOSED"


def test_other_goal_than_expected_is_rejected() -> None:
    report = examine(SUPPLIER, lambda _: None, expect_goal='may_be_onboarded("Klein AG")')
    assert report.rejection == "GOAL_MISMATCH"


def test_expected_goal_may_name_its_variables_otherwise() -> None:
    report = examine("supplier/all_answers", lambda _: None, expect_goal='insured(Who,"liability")')
    assert report.valid


@pytest.mark.parametrize(
    ("expected", "rejection"),
    [
        ("insured(_1, _2)", "GOAL_MISMATCH"),
        ('insured(_1, "liability")', ""),
        ('insured(_, "liability")', ""),
        ('insured("_1", "liability")', "GOAL_MISMATCH"),
        ("insured(_1, _1)", "GOAL_MISMATCH"),
        ("insured(", "GOAL_MISMATCH"),
    ],
)
def test_expected_goal_may_be_as_goals_are_shown(expected: str, rejection: str) -> None:
    report = examine("supplier/all_answers", lambda _: None, expect_goal=expected)
    assert report.rejection == rejection, report.message


BYTES: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda data: data + b"\n", "NOT_CANONICAL"),
    (lambda data: b"\n" + data, "NOT_CANONICAL"),
    (lambda data: data + b"\r\n", "NOT_CANONICAL"),
    (lambda data: b"\xef\xbb\xbf" + data, "NOT_CANONICAL"),
    (lambda data: json.dumps(json.loads(data), sort_keys=True).encode(), "NOT_CANONICAL"),
    (lambda data: data.replace(b'"answers"', b'"\\u0061nswers"', 1), "NOT_CANONICAL"),
    (
        lambda data: json.dumps(
            dict(reversed(json.loads(data).items())), separators=(",", ":"), ensure_ascii=False
        ).encode(),
        "NOT_CANONICAL",
    ),
    (lambda data: data.replace(b'"start":', b'"start":1,"start":', 1), "DUPLICATE_KEY"),
    (lambda data: data.replace(b'"code":null', b'"code":null,"code":null', 1), "DUPLICATE_KEY"),
    (lambda data: data.replace(b'"end":', b'"end":0', 1), "MALFORMED"),
    (lambda data: data.replace(b'"code":null', b'"code":NaN', 1), "NOT_CANONICAL"),
    (lambda data: data.replace(b'"code":null', b'"code":1e2', 1), "NOT_CANONICAL"),
    (lambda data: data[:-1], "MALFORMED"),
    (lambda data: data + data, "MALFORMED"),
    (lambda _: b"", "MALFORMED"),
    (lambda _: b"[]", "STRUCTURE"),
    (lambda data: data.replace(b"Nordwind", b"Nordw\xffnd", 1), "MALFORMED"),
    (lambda data: data.replace(b"Nordwind", b"Nordw\\ud800nd", 1), "MALFORMED"),
    (lambda _: b"[" * 100_000, "MALFORMED"),
    (
        lambda data: data.replace(b'"code":null', b'"code":' + b"[" * 9000 + b"]" * 9000),
        "MALFORMED",
    ),
]


@pytest.mark.parametrize(("change", "expected"), BYTES)
def test_other_bytes_are_rejected(change: Callable[[bytes], bytes], expected: str) -> None:
    report = verify_bytes(change(good(SUPPLIER)), texts_of(BY_NAME[SUPPLIER]))
    assert report.rejection == expected, report.message


def test_number_in_another_form_is_rejected() -> None:
    data = good(SUPPLIER)
    start = re.search(rb'"start":(\d+)', data)
    assert start is not None
    for mark in (b".0", b"e0"):
        changed = data[: start.end()] + mark + data[start.end() :]
        assert verify_bytes(changed, None).rejection == "NOT_CANONICAL"


def test_texts_that_are_not_given_or_differ_are_noticed() -> None:
    data = good(SUPPLIER)
    digest = next(iter(json.loads(data)["sources"].values()))["text_sha256"]
    assert verify_bytes(data, {}).rejection == "SOURCE_MISSING"
    assert verify_bytes(data, {digest: "something else"}).rejection == "SOURCE_MISMATCH"
    report = verify_bytes(data, None)
    assert report.valid
    assert any("source texts" in item for item in report.not_given)


# Every place of every certificate: nothing that means something can be changed unnoticed

INERT = {
    *("question", "understood_as", "title", "media_type", "extractor", "query", "expected"),
    *("entity_test", "detail", "rejected", "decoder"),
}
"""What the checker cannot know: wording for people, and what other programs report."""


def places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value below."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index)
            yield from places(item, (*path, index))


def altered(value: object, pick: int) -> object:
    """Give another value of the same type."""
    match value:
        case bool():
            return not value
        case str():
            at = pick % (len(value) + 1)
            return value[:at] + "x" + value[at + 1 :] if value[at : at + 1] != "x" else value[:at]
        case int():
            return value + 1 + pick % 3
        case None:
            return "x"
        case list():
            return [*value, "x"] if pick % 2 or not value else value[:-1]
        case dict():
            return {**value, "x": "x"} if pick % 2 or not value else dict(list(value.items())[:-1])
    raise AssertionError(type(value))


@settings(max_examples=800, deadline=None)
@given(st.data())
def test_no_place_can_be_changed_unnoticed(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(BY_NAME)))
    certificate = json.loads(good(name))
    path = data.draw(st.sampled_from([p for p in places(certificate) if not INERT & set(p)]))
    target: Any = certificate
    for key in path[:-1]:
        target = target[key]
    pick = data.draw(st.integers(0, 10_000))
    if data.draw(st.booleans()) or isinstance(target, list):
        target[path[-1]] = altered(target[path[-1]], pick)
    else:
        del target[path[-1]]
    policy = hashlib.sha256(BY_NAME[name].policy.encode()).hexdigest()
    goal = BY_NAME[name].request["goal"]
    report = verify_bytes(
        canonical_bytes(certificate),
        texts_of(BY_NAME[name]),
        expect_policy=policy,
        expect_goal=goal,
    )
    harmless = path[0] == "open" and path[-1] in ("code", "rule", "conflicting")
    assert not report.valid or harmless or is_legitimate(certificate, path), (path, report)


def is_legitimate(certificate: Json, path: tuple[Any, ...]) -> bool:
    """Whether a change left another good certificate: nothing the checker could object to."""
    if path[0] == "valid_on":
        return not any(step["kind"] == "request" for step in certificate["steps"])
    if path == ("complete",):
        return len(certificate["answers"]) >= 1  # a weaker claim
    # a stronger claim
    return path[0] == "assumptions" and bool(certificate["verdict"] == "ABSTAINED")


def test_cases_are_there() -> None:
    assert FOLDER.is_dir()
    assert len(CHANGES) + len(BYTES) >= 60
