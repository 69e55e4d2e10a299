"""Policies of a knowledge base: read once per text, found by name."""

from __future__ import annotations

import functools
from collections.abc import Collection

from proofweave.v1 import common_pb2, policy_pb2

from kb.errors import NotFound
from kb.reading import Reading
from reasoner.clause import Policy
from reasoner.errors import PolicyRejected
from reasoner.facts import Signature
from reasoner.lint import check_policy
from reasoner.policy import parse_policy
from reasoner.policy_tests import run_tests

from .names import read_policy_name
from .nearest import nearest
from .status import problem_of


def run_policy_tests(
    policy: str, tests: str, name: str, tests_name: str
) -> list[policy_pb2.PolicyTestResult]:
    """Run the tests of a policy, both given as texts."""
    return [
        policy_pb2.PolicyTestResult(test=result.name, passed=result.passed, detail=result.detail)
        for result in run_tests(read_policy(policy, name), tests, name=tests_name)
    ]


@functools.lru_cache(maxsize=64)
def read_policy(text: str, name: str) -> Policy:
    """Read a policy text; kept, since compiled slices are found by the policy they belong to."""
    return parse_policy(text, name=name)


def check_text(
    text: str, name: str, *, known: Collection[Signature] | None
) -> tuple[Policy, list[common_pb2.Problem]]:
    """Read a policy and give its warnings; `known` are the predicates that something states.

    Raises PolicyRejected with every finding, warnings included, where one is an error.
    """
    try:
        policy = read_policy(text, name)
    except PolicyRejected:
        parse_policy(text, name=name, known=known)
        raise
    found = check_policy(policy, known=known)
    return policy, [problem_of(finding, "POLICY_WARNING", file=name) for finding in found]


def find_policy(base: Reading, name: str) -> Policy:
    """Give a published policy by `policies/{id}@{version}`, or its latest version.

    Raises NotFound, naming the nearest.
    """
    policy, version = read_policy_name(name)
    known = {record.id for record in base.policies()}
    if policy not in known:
        near = nearest(policy, known) or f"; published: {', '.join(sorted(known)) or 'none'}"
        raise NotFound(f"there is no policy {policy!r}{near}")
    record = base.policy(policy, version)
    return read_policy(record.text, f"{record.id}.lp")
