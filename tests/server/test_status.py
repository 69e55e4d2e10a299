"""Every leaf of the error trees has its own status, and a status keeps what the error said."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter

import grpc
import pytest
from google.rpc.error_details_pb2 import ErrorInfo  # type: ignore[import-untyped]  # no stubs

import extract
import kb
import reasoner
import server
from kb.errors import NotFound, ProofweaveError, SourceErased
from reasoner.errors import PolicyRejected
from reasoner.policy import parse_policy
from server.status import CODES, code_of, leaves, problems_of, status_of

for package in (kb, reasoner, extract, server):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if module.name.endswith("errors"):
            importlib.import_module(module.name)


@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf.__name__)
def test_every_leaf_is_mapped(leaf: type[ProofweaveError]) -> None:
    assert leaf in CODES, f"add {leaf.__name__} to server.status.CODES"


def test_no_two_errors_share_a_code() -> None:
    pending, found = [ProofweaveError], []
    while pending:
        error = pending.pop()
        found.append(error.code)
        pending.extend(error.__subclasses__())
    assert [code for code, count in Counter(found).items() if count > 1] == []


def test_an_error_takes_the_status_of_the_nearest_class() -> None:
    class Gone(NotFound):
        """Not in the table."""

        code = "GONE_FOR_A_TEST"

    assert code_of(Gone("x")) is grpc.StatusCode.NOT_FOUND
    assert code_of(SourceErased("x")) is CODES[SourceErased]
    del Gone


def test_a_status_carries_reason_message_and_domain() -> None:
    status = status_of(NotFound("there is no document 'a'"))
    information = ErrorInfo()
    assert status.details[0].Unpack(information)
    assert (information.reason, information.domain) == ("NOT_FOUND", "proofweave")
    assert status.message == "there is no document 'a'"


def test_every_finding_of_a_policy_becomes_a_problem_with_its_place() -> None:
    text = "a(X) :- b(X.\n\nc(Y) :- d(Z).\n"
    with pytest.raises(PolicyRejected) as caught:
        parse_policy(text, name="p.lp")
    problems = problems_of(caught.value)
    assert len(problems) == len(caught.value.findings) >= 2
    assert [problem.line for problem in problems] == sorted(problem.line for problem in problems)
    assert {problem.file for problem in problems} == {"p.lp"}
    assert all(problem.line and problem.column for problem in problems)
