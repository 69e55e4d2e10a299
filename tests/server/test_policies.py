"""Policies over the wire: published versions never change, errors come all at once."""

from __future__ import annotations

import grpc
import pytest
from live_server import POLICY, POLICY_TESTS, Live
from proofweave.v1 import policy_pb2 as pb

from server.status import failure_of


def create(live: Live, text: str, *, validate_only: bool = False) -> pb.CreatePolicyVersionResponse:
    """Publish a policy, or only check it."""
    request = pb.CreatePolicyVersionRequest(
        text=text, file_name="p.lp", validate_only=validate_only
    )
    return live.services.policy.CreatePolicyVersion(request)


def test_a_published_policy_is_found_with_its_rules(live: Live) -> None:
    request = pb.GetPolicyRequest(name="policies/onboarding@1")
    policy = live.services.policy.GetPolicy(request).policy
    assert policy.text == POLICY
    assert [(rule.id, rule.cite) for rule in policy.rules][:2] == [
        ("eligible", "Policy 1"),
        ("insured", "Policy 4.2"),
    ]


def test_a_version_never_changes(empty: Live) -> None:
    create(empty, POLICY)
    create(empty, POLICY)
    with pytest.raises(grpc.RpcError) as caught:
        create(empty, POLICY.replace("1000000", "2000000"))
    assert failure_of(caught.value).status is grpc.StatusCode.ALREADY_EXISTS
    create(empty, POLICY.replace("1000000", "2000000").replace("version: 1", "version: 2"))
    versions = empty.services.policy.ListPolicyVersions(
        pb.ListPolicyVersionsRequest(name="policies/onboarding")
    ).policies
    assert [policy.version for policy in versions] == ["1", "2"]
    (latest,) = empty.services.policy.ListPolicies(pb.ListPoliciesRequest()).policies
    assert latest.name == "policies/onboarding@2"


def test_checking_publishes_nothing(empty: Live) -> None:
    response = create(empty, POLICY, validate_only=True)
    assert response.policy.id == "onboarding"
    assert not empty.services.policy.ListPolicies(pb.ListPoliciesRequest()).policies


def test_every_error_is_reported_with_its_place(empty: Live) -> None:
    text = "a :- b c.\n\nd(X) :- e(X.\n\np(X, Y) :- q(X).\n"
    with pytest.raises(grpc.RpcError) as caught:
        create(empty, text)
    failure = failure_of(caught.value)
    assert failure.status is grpc.StatusCode.INVALID_ARGUMENT
    assert {problem.line for problem in failure.problems} >= {1, 3, 5}
    assert all(problem.column for problem in failure.problems)


def test_a_predicate_that_nobody_defines_is_a_warning(empty: Live) -> None:
    text = "%! policy: p\n%! version: 1\n\na(X) :- liability_covr(X, _).\n"
    response = create(empty, text, validate_only=True)
    assert any(
        "liability_cover" in found.message and found.line == 4 for found in response.warnings
    )


def test_a_policy_without_a_version_is_not_published(empty: Live) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        create(empty, "a :- b.\n")
    assert failure_of(caught.value).status is grpc.StatusCode.INVALID_ARGUMENT


def test_the_tests_of_a_policy_are_run(live: Live) -> None:
    by_name = pb.TestPolicyRequest(policy="onboarding", tests=POLICY_TESTS)
    by_text = pb.TestPolicyRequest(policy_text=POLICY, tests=POLICY_TESTS)
    for request in (by_name, by_text):
        response = live.services.policy.TestPolicy(request)
        assert (response.passed, response.failed) == (2, 1)
        assert [result.passed for result in response.results] == [True, True, False]
        assert "ABSTAINED" in response.results[2].detail


def test_tests_that_cannot_be_read_are_refused(live: Live) -> None:
    for tests in ("tests: 3", "tests: [", "tests:\n  - nam: a\n"):
        with pytest.raises(grpc.RpcError) as caught:
            live.services.policy.TestPolicy(pb.TestPolicyRequest(policy="onboarding", tests=tests))
        assert failure_of(caught.value).status is grpc.StatusCode.INVALID_ARGUMENT
