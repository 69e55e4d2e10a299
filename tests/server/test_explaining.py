"""What if, why and why not over the wire: retractions, leaves, contrasts, flips, dependents."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from live_server import DOCUMENTS, POLICY, Live, running, send
from proofweave.v1 import certificate_pb2, common_pb2, knowledge_pb2, policy_pb2
from proofweave.v1 import reasoning_pb2 as pb

from server.knowledge import create_knowledge
from server.settings import Settings
from server.status import failure_of

ACME, TINY = 'eligible("Acme GmbH")', 'eligible("Tiny Ltd")'
ISO = 'certified_under("Acme GmbH", "ISO 9001")'
DAY = "2026-03-01"
LATER = (
    "# Insurance confirmation\n\nDocument kind: insurance confirmation\n"
    "Issuer: Nordic Insurance AB\nDate: 3 January 2026\n\nInsured: Acme GmbH\n"
    "Liability cover: EUR 7,000,000\nPolicy number: NI-9\n"
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> Path:
    """A knowledge base with three documents and a policy."""
    directory = tmp_path_factory.mktemp("prepared") / "kb"
    create_knowledge(directory, namespace="https://example.org/kb/", packs=("supplier",))
    with running(directory, settings) as found:
        send(found.services, {name: text.encode() for name, text in DOCUMENTS.items()})
        publish(found, POLICY)
    return directory


@pytest.fixture
def supplied(prepared: Path, tmp_path: Path, settings: Settings) -> Iterator[Live]:
    """A server of its own over a copy of it."""
    with running(shutil.copytree(prepared, tmp_path / "kb"), settings) as found:
        yield found


def publish(live: Live, text: str) -> None:
    """Publish a policy."""
    request = policy_pb2.CreatePolicyVersionRequest(text=text, file_name="onboarding.lp")
    live.services.policy.CreatePolicyVersion(request)


def asked(goal: str = ACME, **fields: Any) -> pb.Goal:  # fields of the message
    """Give a goal under the published policy on one day."""
    return pb.Goal(goal=goal, **{"policy": "policies/onboarding", "valid_on": DAY, **fields})


def prove(live: Live, goal: str = ACME, **fields: Any) -> common_pb2.Decision:
    """Prove a goal."""
    request = pb.ProveGoalRequest(goal=asked(goal, **fields))
    return live.services.reasoning.ProveGoal(request).decision


def certificate(decision: common_pb2.Decision) -> Any:  # JSON
    """Read the certificate of a decision."""
    return json.loads(decision.certificate_content)


def statement_id(live: Live, dimension: str, subject: str = "Acme GmbH") -> str:
    """Give the id of the one statement of a subject in a dimension."""
    request = knowledge_pb2.ListStatementsRequest(subject=subject, dimension=dimension)
    (found,) = live.services.knowledge.ListStatements(request).statements
    return found.name.rpartition("/")[2]


def retract(live: Live, name: str) -> None:
    """Retract a statement for good."""
    live.services.knowledge.RetractStatement(knowledge_pb2.RetractStatementRequest(name=name))


def revision(live: Live) -> str:
    """Give the newest revision."""
    return prove(live).receipt.revision


def decisions(live: Live) -> list[certificate_pb2.RecordedDecision]:
    """List the recorded decisions."""
    request = certificate_pb2.ListDecisionsRequest(page_size=100)
    return list(live.services.certificate.ListDecisions(request).decisions)


# ---- retractions


def test_a_fact_and_its_statement_are_retracted_alike(supplied: Live) -> None:
    by_fact = prove(supplied, retractions=[ISO])
    by_id = prove(supplied, retractions=[statement_id(supplied, "certified_under")])
    assert by_fact.verdict == common_pb2.VERDICT_ABSTAINED
    assert by_fact.certificate_sha256 == by_id.certificate_sha256
    assert [item["atom"] for item in certificate(by_fact)["retractions"]] == [ISO]
    assert by_fact.open[0].atom == ISO
    assert prove(supplied).verdict == common_pb2.VERDICT_CERTIFIED, "nothing was changed"


def test_what_is_supposed_is_marked_in_the_record_and_not_signed_off(supplied: Live) -> None:
    plain, supposed = prove(supplied), prove(supplied, retractions=[ISO])
    assert [one.receipt.hypothetical for one in decisions(supplied)] == [False, True]
    assert list(decisions(supplied)[1].certificate.retractions) == [ISO]
    sign_off = supplied.services.certificate.CreateSignOff
    sign_off(certificate_pb2.CreateSignOffRequest(name=plain.name))
    with pytest.raises(grpc.RpcError) as caught:
        sign_off(certificate_pb2.CreateSignOffRequest(name=supposed.name))
    assert failure_of(caught.value).reason == "REQUEST_REJECTED"
    query = (
        "ASK { GRAPH pw:verdicts { ?d pw:hypothetical true ; pw:certificate/pw:retraction ?r } }"
    )
    request = knowledge_pb2.QueryGraphRequest(query=query)
    found = b"".join(piece.chunk for piece in supplied.services.knowledge.QueryGraph(request))
    assert json.loads(found)["boolean"] is True


def test_what_is_not_stated_cannot_be_retracted(supplied: Live) -> None:
    wrong = ['certified_under("Acme GmbH", "ISO 9002")', "st:0", "insured(X)", "elligible(x, y)"]
    with pytest.raises(grpc.RpcError) as caught:
        prove(supplied, retractions=wrong)
    failure = failure_of(caught.value)
    assert failure.reason == "REQUEST_REJECTED"
    assert f"nearest: {ISO}" in failure.message
    assert all(part in failure.message for part in ("'st:0'", "insured(X)", "elligible(x, y)"))


def test_supports_and_repairs_see_retractions_too(supplied: Live) -> None:
    request = pb.StreamSupportsRequest(goal=asked(retractions=[ISO]))
    (end,) = supplied.services.reasoning.StreamSupports(request)
    assert end.end.count == 0
    ask = pb.ExplainWhyNotRequest(goal=asked(retractions=[ISO]))
    answer = supplied.services.reasoning.ExplainWhyNot(ask)
    assert [list(repair.facts) for repair in answer.repairs] == [[ISO]]
    assert answer.optimality == "optimal"


# ---- leaves


def leaves(live: Live, goal: pb.Goal) -> dict[str, pb.LeafWitness]:
    """Give the leaves of a goal by their atoms."""
    responses = list(live.services.reasoning.StreamLeaves(pb.StreamLeavesRequest(goal=goal)))
    assert responses[0].HasField("decision")
    return {response.leaf.leaf.atom: response.leaf for response in responses[1:]}


def test_each_leaf_says_what_becomes_of_the_goal_without_it(supplied: Live) -> None:
    send(supplied.services, {"later.md": LATER.encode()})
    goal = asked()
    before = prove(supplied)
    found = leaves(supplied, goal)
    assert len(found) == 2
    iso = found[ISO]
    assert iso.in_certificate.verdict == common_pb2.VERDICT_ABSTAINED
    assert iso.in_knowledge.verdict == common_pb2.VERDICT_ABSTAINED
    assert ISO in [item.atom for item in iso.in_knowledge.open]
    (cover,) = [witness for atom, witness in found.items() if atom.startswith("liability_cover")]
    assert cover.in_certificate.verdict == common_pb2.VERDICT_ABSTAINED
    assert cover.in_knowledge.verdict == common_pb2.VERDICT_CERTIFIED
    assert cover.leaf.atom not in [leaf.atom for leaf in cover.in_knowledge.support]
    after = prove(supplied)
    assert before.certificate_content == after.certificate_content
    assert len(decisions(supplied)) == 2, "explanations are not recorded"


def test_an_abstention_has_no_leaves_and_an_assumption_is_one(supplied: Live) -> None:
    assert leaves(supplied, asked('insured("Nobody")')) == {}
    atom = 'liability_cover("Nobody", @quantity("2000000 EUR"))'
    found = leaves(supplied, asked('insured("Nobody")', assumptions=[atom]))
    assert found[atom].leaf.id == "assumed"
    assert found[atom].in_knowledge.verdict == common_pb2.VERDICT_ABSTAINED


def test_the_units_of_a_hypergraph_are_leaves(supplied: Live) -> None:
    graph = {
        "format": "proofweave.hypergraph/1",
        "atoms": ["a", "b", "c"],
        "hyperedges": [{"id": "e", "tail": ["a", "b"], "head": "c"}],
        "units": [{"id": name, "states": [name[0]]} for name in ("a1", "b1", "b2")],
        "given": [],
        "goals": ["c"],
    }
    goal = pb.Goal(goal="c", hypergraph=json.dumps(graph).encode())
    responses = list(supplied.services.reasoning.StreamLeaves(pb.StreamLeavesRequest(goal=goal)))
    verdicts = {one.leaf.leaf.id: one.leaf.in_knowledge.verdict for one in responses[1:]}
    assert verdicts == {"a1": common_pb2.VERDICT_ABSTAINED, "b1": common_pb2.VERDICT_CERTIFIED}


# ---- contrasts


def contrast(live: Live, goal: str, other: str) -> pb.ContrastGoalsResponse:
    """Contrast two goals under the published policy."""
    request = pb.ContrastGoalsRequest(goal=asked(goal), other=other)
    return live.services.reasoning.ContrastGoals(request)


def test_a_contrast_goes_from_the_topmost_requirement_to_the_facts(supplied: Live) -> None:
    found = contrast(supplied, ACME, 'eligible("Nöbody Ltd")')
    assert found.kind == pb.CONTRAST_KIND_DIFFERS
    items = [(item.depth, item.part_of, item.counterpart) for item in found.differences]
    assert items == [
        (1, -1, 'insured("Nöbody Ltd")'),
        (1, -1, 'certified_under("Nöbody Ltd", "ISO 9001")'),
        (2, 0, 'liability_cover("Nöbody Ltd", C)'),
    ]
    fact = found.differences[1]
    assert (fact.requirement, fact.is_fact) == (ISO, True)
    assert fact.code == common_pb2.ABSTENTION_CODE_GAP_IN_CORPUS
    assert "ISO 9001" in fact.quotes[0].quote
    assert found.optimality == "best found"
    assert decisions(supplied) == []


def test_a_refuted_goal_is_contrasted_with_its_refutation(supplied: Live) -> None:
    found = contrast(supplied, ACME, TINY)
    assert found.other.verdict == common_pb2.VERDICT_REFUTED
    assert "not certified" in found.other.answers[0].quotes[0].quote
    assert [item.counterpart for item in found.differences][-1].endswith(
        '>= @quantity("1000000 EUR")'
    )
    assert not found.repairs, "what refutes it would stand"


def test_a_test_that_fails_says_so(supplied: Live) -> None:
    found = contrast(supplied, 'insured("Acme GmbH")', 'insured("Tiny Ltd")')
    (item,) = found.differences
    assert item.counterpart == '@quantity("50000 EUR") >= @quantity("1000000 EUR")'
    assert item.requirement == '@quantity("5000000 EUR") >= @quantity("1000000 EUR")'


def test_goals_of_different_predicates_meet_where_one_rests_on_the_other(supplied: Live) -> None:
    found = contrast(supplied, ACME, 'insured("Nobody")')
    assert [item.counterpart for item in found.differences] == ['liability_cover("Nobody", C)']


def test_where_there_is_nothing_to_contrast_it_says_so(supplied: Live) -> None:
    both = contrast(supplied, ACME, 'insured("Acme GmbH")')
    assert both.kind == pb.CONTRAST_KIND_BOTH_CERTIFIED
    assert contrast(supplied, ACME, ACME).kind == pb.CONTRAST_KIND_BOTH_CERTIFIED
    neither = contrast(supplied, 'eligible("Nobody")', TINY)
    assert neither.kind == pb.CONTRAST_KIND_GOAL_NOT_CERTIFIED
    assert not neither.differences
    with pytest.raises(grpc.RpcError) as caught:
        contrast(supplied, "eligible(X)", TINY)
    assert failure_of(caught.value).reason == "GOAL_REJECTED"


# ---- flips


def compare(
    live: Live, first: pb.Standpoint, second: pb.Standpoint, goal: pb.Goal | None = None
) -> pb.CompareVerdictsResponse:
    """Compare two standpoints on a goal."""
    request = pb.CompareVerdictsRequest(goal=goal or asked(), first=first, second=second)
    return live.services.reasoning.CompareVerdicts(request)


def conclusions(flip: pb.Flip) -> list[str]:
    """Give what the chain of a flip concludes."""
    return [step.conclusion for step in flip.chain]


def test_a_retracted_statement_is_the_first_flip(supplied: Live) -> None:
    before = revision(supplied)
    retract(supplied, statement_id(supplied, "certified_under"))
    after = revision(supplied)
    recorded = len(decisions(supplied))
    found = compare(supplied, pb.Standpoint(revision=before), pb.Standpoint(revision=after))
    assert not found.unchanged
    (flip,) = found.flips
    assert (flip.side, flip.cause) == (1, pb.FLIP_CAUSE_STATEMENT_ABSENT)
    assert conclusions(flip) == [ISO, ACME]
    assert f"revision {after}" in flip.detail
    assert "is gone" in flip.detail
    back = compare(supplied, pb.Standpoint(revision=after), pb.Standpoint(revision=before))
    assert [one.side for one in back.flips] == [2]
    assert len(decisions(supplied)) == recorded


def test_a_validity_that_ended_is_the_first_flip(supplied: Live) -> None:
    text = "# Notes\n\nZeta AG is certified under ISO 9001 from 1 June 2024 to 31 May 2026.\n"
    send(supplied.services, {"zeta.md": text.encode()})
    goal = asked('certified_under("Zeta AG", "ISO 9001")')
    found = compare(
        supplied, pb.Standpoint(valid_on="2026-05-31"), pb.Standpoint(valid_on="2026-06-01"), goal
    )
    (flip,) = found.flips
    assert flip.cause == pb.FLIP_CAUSE_VALIDITY
    assert "until before 2026-06-01" in flip.detail


def test_a_changed_rule_is_the_first_flip(supplied: Live) -> None:
    stricter = POLICY.replace("1000000 EUR", "9000000 EUR").replace("version: 1", "version: 2")
    publish(supplied, stricter)
    found = compare(
        supplied,
        pb.Standpoint(policy="policies/onboarding@1"),
        pb.Standpoint(policy="policies/onboarding@2"),
    )
    (flip,) = found.flips
    assert flip.cause == pb.FLIP_CAUSE_RULE
    assert conclusions(flip) == [
        'required_cover(@quantity("1000000 EUR"))',
        'insured("Acme GmbH")',
        ACME,
    ]
    assert "9000000 EUR" in flip.detail
    text = pb.Standpoint(policy_text=POLICY, policy_name="onboarding.lp")
    assert compare(supplied, pb.Standpoint(policy="policies/onboarding@1"), text).unchanged


def test_what_speaks_against_it_is_the_first_flip(supplied: Live) -> None:
    before = revision(supplied)
    text = "# Notes\n\nAcme GmbH is not certified under ISO 9001.\n"
    send(supplied.services, {"against.md": text.encode()})
    found = compare(supplied, pb.Standpoint(revision=before), pb.Standpoint())
    assert found.second.code == common_pb2.ABSTENTION_CODE_CONFLICT
    (flip,) = found.flips
    assert flip.cause == pb.FLIP_CAUSE_CONFLICT
    assert flip.step.conclusion in (ISO, ACME)


def test_the_same_standpoint_is_unchanged(supplied: Live) -> None:
    now = revision(supplied)
    same = compare(supplied, pb.Standpoint(revision=now), pb.Standpoint(revision=now))
    assert same.unchanged
    assert same.first.certificate_sha256 == same.second.certificate_sha256
    assert not same.flips
    days = compare(supplied, pb.Standpoint(valid_on=DAY), pb.Standpoint(valid_on="2026-03-02"))
    assert not days.unchanged
    assert not days.flips
    assert list(days.differences) == ["~ valid_on: 2026-03-01 -> 2026-03-02"]


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (pb.Standpoint(revision="99999"), "REVISION_UNKNOWN"),
        (pb.Standpoint(revision="sometime"), "REQUEST_REJECTED"),
        (pb.Standpoint(valid_on="2026-02-30"), "REQUEST_REJECTED"),
        (pb.Standpoint(policy="policies/onbording"), "NOT_FOUND"),
        (pb.Standpoint(decision="77"), "NOT_FOUND"),
        (pb.Standpoint(), "REQUEST_REJECTED"),
    ],
)
def test_a_standpoint_that_is_none_is_refused(
    supplied: Live, second: pb.Standpoint, reason: str
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        compare(supplied, pb.Standpoint(), second)
    assert failure_of(caught.value).reason == reason


def test_two_recorded_decisions_are_compared_as_they_were_given(supplied: Live) -> None:
    first = prove(supplied)
    retract(supplied, statement_id(supplied, "certified_under"))
    second = prove(supplied)
    third = prove(supplied)
    names = [one.name.rpartition("/")[2] for one in (first, second, third)]
    one, two, three = (pb.Standpoint(decision=name) for name in names)
    found = compare(supplied, one, two)
    assert found.first.certificate_sha256 == first.certificate_sha256
    assert found.flips[0].step.conclusion == ISO
    assert compare(supplied, two, three).unchanged


def test_a_search_that_is_cut_is_no_reason(supplied: Live) -> None:
    edges = "".join(f"edge({number}, {number + 1}).\n" for number in range(60))
    rules = "path(X, Y) :- edge(X, Y).\npath(X, Z) :- path(X, Y), edge(Y, Z).\n"
    request = pb.CompareVerdictsRequest(
        goal=pb.Goal(goal="path(0, 60)", policy_text=rules, facts_text=edges),
        first=pb.Standpoint(valid_on=DAY),
        second=pb.Standpoint(valid_on=DAY),
        budget=common_pb2.Budget(max_instances=5),
    )
    found = supplied.services.reasoning.CompareVerdicts(request)
    assert found.first.code == common_pb2.ABSTENTION_CODE_BUDGET
    assert not found.flips


# ---- dependents


def dependents(
    live: Live, subject: str, *, recheck: bool = True
) -> tuple[certificate_pb2.DependentsStart, list[certificate_pb2.Dependent]]:
    """Give what rests on something."""
    request = certificate_pb2.StreamDependentsRequest(subject=subject, recheck=recheck)
    first, *rest = live.services.certificate.StreamDependents(request)
    assert first.start.count == len(rest)
    return first.start, [response.dependent for response in rest]


def test_what_rests_on_a_source_falls_or_stands_without_it(supplied: Live) -> None:
    prove(supplied)
    prove(supplied, 'insured("Nobody")')
    before = revision(supplied)
    count = len(decisions(supplied))
    start, found = dependents(supplied, "acme-insurance.md")
    assert (start.kind, len(found)) == ("source", 2)
    assert {one.outcome for one in found} == {certificate_pb2.OUTCOME_FALLS}
    assert found[0].verdict == common_pb2.VERDICT_ABSTAINED
    assert 'liability_cover("Acme GmbH", C)' in [item.atom for item in found[0].open]
    send(supplied.services, {"later.md": LATER.encode()})
    _, found = dependents(supplied, "acme-insurance.md")
    assert {one.outcome for one in found} == {certificate_pb2.OUTCOME_STANDS}
    assert [one.outcome for one in dependents(supplied, start.name, recheck=False)[1]] == [0, 0]
    assert len(decisions(supplied)) == count
    assert int(revision(supplied)) > int(before), "only the new document changed something"


def test_what_rests_on_a_statement_or_a_policy(supplied: Live) -> None:
    prove(supplied)
    name = statement_id(supplied, "certified_under")
    _, (one,) = dependents(supplied, name)
    assert (list(one.statements), one.outcome) == ([name], certificate_pb2.OUTCOME_FALLS)
    _, (one,) = dependents(supplied, "policies/onboarding@1")
    assert one.outcome == certificate_pb2.OUTCOME_UNKNOWN
    assert "no version beside 1" in one.problem.message
    publish(supplied, POLICY.replace("version: 1", "version: 2"))
    _, (one,) = dependents(supplied, "policies/onboarding")
    assert one.outcome == certificate_pb2.OUTCOME_STANDS
    assert dependents(supplied, "policies/onboarding@2")[1] == []


def test_facts_of_a_request_are_not_kept(supplied: Live) -> None:
    prove(supplied, "insured(acme)", facts_text='liability_cover(acme, @quantity("2 MEUR")).')
    _, found = dependents(supplied, "policies/onboarding")
    assert [one.outcome for one in found] == [certificate_pb2.OUTCOME_UNKNOWN]


@pytest.mark.parametrize(
    ("subject", "reason", "near"),
    [
        ("acme-insurence.md", "NOT_FOUND", "acme-insurance.md"),
        ("policies/onbording", "NOT_FOUND", "onboarding"),
        ("policies/onboarding@7", "NOT_FOUND", "it has 1"),
        ("", "REQUEST_REJECTED", "expected"),
    ],
)
def test_a_subject_that_is_none_is_refused(
    supplied: Live, subject: str, reason: str, near: str
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        dependents(supplied, subject)
    failure = failure_of(caught.value)
    assert failure.reason == reason
    assert near in failure.message


def test_an_absence_that_no_source_shows_any_more_is_named(supplied: Live) -> None:
    table = "name,barred_by\nEvil Corp,EU\n"
    send(supplied.services, {"barred.csv": table.encode()})
    rules = (
        'closed(barred_by/2, "barred").\nclear(S) :- liability_cover(S, _), not barred_by(S, _).'
    )
    prove(supplied, 'clear("Acme GmbH")', policy_text=rules, policy="")
    _, (one,) = dependents(supplied, "barred.csv")
    assert one.outcome == certificate_pb2.OUTCOME_STANDS
    assert 'barred_by("Acme GmbH", _)' in one.detail


# ---- steps


def steps(
    live: Live, name: str, **fields: Any
) -> certificate_pb2.ListStepsResponse:  # fields of the message
    """Give a page of steps."""
    request = certificate_pb2.ListStepsRequest(name=name, **fields)
    return live.services.certificate.ListSteps(request)


def test_pages_of_steps_give_each_step_once(supplied: Live) -> None:
    decision = prove(supplied)
    whole = certificate(decision)["steps"]
    found: list[str] = []
    token = ""
    while True:
        page = steps(supplied, decision.certificate, page_size=2, page_token=token)
        found += [placed.step.id for placed in page.steps]
        token = page.next_page_token
        if not token:
            break
    assert sorted(found) == sorted(step["id"] for step in whole)
    assert page.step_count == len(whole)


def test_a_step_comes_with_its_premises_to_a_depth(supplied: Live) -> None:
    decision = prove(supplied)
    top = steps(supplied, decision.certificate, depth=1).steps
    assert [placed.depth for placed in top] == [0, 1, 1]
    (insured,) = [placed for placed in top if placed.step.conclusion.startswith("insured")]
    assert insured.cut
    assert insured.step.says == "Acme GmbH is insured for 5000000 EUR, at least 1000000 EUR"
    below = steps(supplied, decision.certificate, step=insured.step.id).steps
    assert {placed.step.id for placed in below} == {insured.step.id, *insured.step.premises}
    assert not any(placed.cut for placed in below)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"step": "s99"}, "NOT_FOUND"),
        ({"depth": -1}, "REQUEST_REJECTED"),
        ({"page_size": -1}, "REQUEST_REJECTED"),
        ({"page_token": "ß"}, "REQUEST_REJECTED"),
    ],
)
def test_steps_that_are_not_there_are_refused(
    supplied: Live, fields: dict[str, Any], reason: str
) -> None:
    decision = prove(supplied)
    with pytest.raises(grpc.RpcError) as caught:
        steps(supplied, decision.certificate, **fields)
    assert failure_of(caught.value).reason == reason


# ---- supports


def test_derivations_from_the_same_leaves_are_one_support(supplied: Live) -> None:
    rules = (
        "goal(X) :- left(X). goal(X) :- right(X).\n"
        "left(X) :- lemma(X). right(X) :- lemma(X), lemma(X). lemma(X) :- a(X), b(X).\n"
    )
    goal = pb.Goal(goal="goal(1)", policy_text=rules, facts_text="a(1). b(1).")
    responses = list(
        supplied.services.reasoning.StreamSupports(pb.StreamSupportsRequest(goal=goal))
    )
    assert [response.WhichOneof("content") for response in responses] == ["support", "end"]
    assert [leaf.atom for leaf in responses[0].support.leaves] == ["a(1)", "b(1)"]
    assert responses[1].end.complete


# ---- questions, and callers who leave


def test_a_decision_on_a_question_is_proved_again(supplied: Live) -> None:
    request = pb.AskQuestionRequest(
        question="What is the liability cover of Acme GmbH?", valid_on="2026-03-01"
    )
    (reading,) = supplied.services.reasoning.AskQuestion(request).readings
    assert reading.decision.verdict == common_pb2.VERDICT_CERTIFIED
    name = statement_id(supplied, "liability_cover")
    _, (one,) = dependents(supplied, name)
    assert one.outcome == certificate_pb2.OUTCOME_FALLS
    assert one.verdict == common_pb2.VERDICT_ABSTAINED


def test_a_caller_who_leaves_ends_the_work(supplied: Live) -> None:
    for number in range(3):
        prove(supplied, f'insured("Nobody {number}")')
    subject = certificate_pb2.StreamDependentsRequest(subject="policies/onboarding", recheck=True)
    stream = supplied.services.certificate.StreamDependents(subject)
    assert next(stream).start.count == 3
    stream.cancel()
    with pytest.raises(grpc.RpcError) as caught:
        list(stream)
    assert caught.value.code() is grpc.StatusCode.CANCELLED
    with pytest.raises(grpc.RpcError) as caught:
        list(supplied.services.certificate.StreamDependents(subject, timeout=0.000_001))
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert prove(supplied).verdict == common_pb2.VERDICT_CERTIFIED, "the server goes on"
