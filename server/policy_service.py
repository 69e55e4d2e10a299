"""PolicyService: policies in versions that never change."""

from __future__ import annotations

import grpc
from proofweave.v1 import policy_pb2 as pb
from proofweave.v1 import policy_pb2_grpc

from kb.errors import NotFound
from reasoner.clause import Policy
from reasoner.policy_tests import run_tests

from .calls import Desk
from .errors import RequestRejected
from .names import read_policy_name
from .nearest import nearest
from .policies import check_text, find_policy, read_policy
from .translate import policy_message

Context = grpc.ServicerContext

UNNUMBERED = "0"
"""Version of a policy whose header names none."""


class PolicyService(policy_pb2_grpc.PolicyServiceServicer):
    """Rules with citations."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def CreatePolicyVersion(  # noqa: N802  # method names are the protocol's
        self, request: pb.CreatePolicyVersionRequest, context: Context
    ) -> pb.CreatePolicyVersionResponse:
        """Check a policy and publish it under the id and version of its header."""
        knowledge = self._desk.parent(request.parent, context)
        name = request.file_name or "policy.lp"
        policy, warnings = check_text(request.text, name, known=knowledge.predicates())
        if not request.validate_only:
            if policy.version == UNNUMBERED:
                raise RequestRejected(
                    f"{request.file_name or 'the policy'} has no version; expected '%! version: 1'"
                )
            knowledge.base.publish_policy(policy.id, policy.version, request.text)
        return pb.CreatePolicyVersionResponse(
            policy=policy_message(policy, with_text=False),
            warnings=warnings,
            revision=str(knowledge.base.revision),
        )

    def GetPolicy(  # noqa: N802
        self, request: pb.GetPolicyRequest, context: Context
    ) -> pb.GetPolicyResponse:
        """Give a version with its text."""
        knowledge = self._desk.parent(request.parent, context)
        policy = find_policy(knowledge.base, request.name)
        return pb.GetPolicyResponse(policy=policy_message(policy, with_text=True))

    def ListPolicies(  # noqa: N802
        self, request: pb.ListPoliciesRequest, context: Context
    ) -> pb.ListPoliciesResponse:
        """List the latest version of each policy, by id."""
        base = self._desk.parent(request.parent, context).base
        ids = sorted({record.id for record in base.policies()})
        return pb.ListPoliciesResponse(
            policies=[policy_message(find_policy(base, id), with_text=False) for id in ids]
        )

    def ListPolicyVersions(  # noqa: N802
        self, request: pb.ListPolicyVersionsRequest, context: Context
    ) -> pb.ListPolicyVersionsResponse:
        """List the versions of a policy in order of publication."""
        base = self._desk.parent(request.parent, context).base
        wanted, _ = read_policy_name(request.name)
        records = sorted(base.policies(), key=lambda record: record.published)
        found = [record for record in records if record.id == wanted]
        if not found:
            near = nearest(wanted, {record.id for record in records})
            raise NotFound(f"there is no policy {wanted!r}{near}")
        return pb.ListPolicyVersionsResponse(
            policies=[
                policy_message(read_policy(record.text, f"{record.id}.lp"), with_text=False)
                for record in found
            ]
        )

    def TestPolicy(  # noqa: N802
        self, request: pb.TestPolicyRequest, context: Context
    ) -> pb.TestPolicyResponse:
        """Run tests against a policy, published or given."""
        policy = self._policy(request, context)
        results = [
            pb.PolicyTestResult(test=result.name, passed=result.passed, detail=result.detail)
            for result in run_tests(policy, request.tests, name=request.file_name or "tests.yaml")
        ]
        passed = sum(result.passed for result in results)
        return pb.TestPolicyResponse(results=results, passed=passed, failed=len(results) - passed)

    def _policy(self, request: pb.TestPolicyRequest, context: Context) -> Policy:
        match request.WhichOneof("rules"):
            case "policy":
                knowledge = self._desk.parent(request.parent, context)
                return find_policy(knowledge.base, request.policy)
            case "policy_text":
                return read_policy(request.policy_text, "policy.lp")
        raise RequestRejected("rules is not set; expected policy or policy_text")
