"""What no rule, source, dimension or taxonomy covers is out of scope, and no gap."""

from __future__ import annotations

import json
from typing import Any

import pytest
from live_server import Live
from proofweave.v1 import certificate_pb2, common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from reasoner.certificate import canonical_bytes
from reasoner.verify import verify_bytes

ACME = '"Acme GmbH"'


def decide(live: Live, rules: str, goal: str = f"ok({ACME})", **fields: Any) -> common_pb2.Decision:
    """Decide a goal under rules that are not published."""
    message = pb.Goal(goal=goal, policy_text=rules, policy_name="r.lp", valid_on="2026-03-01")
    request = pb.ProveGoalRequest(goal=message, **fields)
    return live.services.reasoning.ProveGoal(request).decision


def codes(decision: common_pb2.Decision) -> dict[str, str]:
    """Give the code of each open requirement, and of the verdict under an empty name."""
    name = common_pb2.AbstentionCode.Name
    found = {item.atom: name(item.code) for item in decision.open}
    found[""] = name(decision.code)
    return {atom: code.removeprefix("ABSTENTION_CODE_") for atom, code in found.items()}


OUTSIDE = "OUT_OF_SCOPE"


@pytest.mark.parametrize(
    ("rules", "expected", "words"),
    [
        (
            'ok(S) :- liability_cover(S, _), certifed_under(S, "ISO 9001").',
            {f'certifed_under({ACME}, "ISO 9001")': OUTSIDE, "": OUTSIDE},
            "did you mean certified_under?",
        ),
        (
            "ok(S) :- liability_cover(S, _), astral_sign(S).",
            {f"astral_sign({ACME})": OUTSIDE, "": OUTSIDE},
            "no rule, source or dimension gives astral_sign/1",
        ),
        (
            'ok(S) :- certified_under(S, C), under(C, "Atlantis standards").',
            {f"certified_under({ACME}, C)": OUTSIDE, "": OUTSIDE},
            'no taxonomy holds "Atlantis standards"',
        ),
    ],
)
def test_what_nothing_covers_is_out_of_scope(
    live: Live, rules: str, expected: dict[str, str], words: str
) -> None:
    decision = decide(live, rules)
    assert codes(decision) == expected
    assert words in decision.open[0].detail
    verify = live.services.certificate.VerifyCertificate
    found = verify(certificate_pb2.VerifyCertificateRequest(name=decision.certificate))
    assert found.accepted
    assert any("it is not so that" in item for item in found.trusted)


def test_a_dimension_that_nothing_is_stated_of_is_a_gap(live: Live) -> None:
    found = codes(decide(live, "ok(S) :- liability_cover(S, _), accredited_since(S, _)."))
    assert found[f"accredited_since({ACME}, _)"].startswith("GAP_IN")
    assert found[""].startswith("GAP_IN")


def test_a_gap_comes_before_what_is_out_of_scope(live: Live) -> None:
    rules = "ok(S) :- iban(S, _), astral_sign(S)."
    found = codes(decide(live, rules))
    assert found[f"astral_sign({ACME})"] == OUTSIDE
    assert found[""].startswith("GAP_IN")


def test_a_gap_does_not_pass_for_out_of_scope(live: Live) -> None:
    rules = "ok(S) :- insured_well(S).\ninsured_well(S) :- iban(S, _)."
    certificate = json.loads(decide(live, rules).certificate_content)
    (item,) = certificate["open"]
    item["code"] = certificate["code"] = OUTSIDE
    report = verify_bytes(canonical_bytes(certificate))
    assert report.valid, "what dimensions a knowledge base has is trusted, and said to be"
    assert any("a dimension gives iban/2" in text for text in report.trusted)
    stated = 'ok(S) :- liability_cover(S, C), C >= @quantity("99000000 EUR").'
    certificate = json.loads(decide(live, stated).certificate_content)
    for item in certificate["open"]:
        item["code"] = OUTSIDE
    certificate["code"] = OUTSIDE
    assert verify_bytes(canonical_bytes(certificate)).rejection == "OPEN_MISMATCH"
