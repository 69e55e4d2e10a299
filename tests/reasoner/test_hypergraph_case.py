"""Certificates for goals of a hypergraph file: the same verdict, units as quotes, checked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from graph_strategies import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoner.decide import Decision, Request, decide
from reasoner.errors import GoalRejected, HypergraphRejected
from reasoner.hypergraph import decide_hypergraph, read_hypergraph
from reasoner.hypergraph.case import certify_case, hypergraph_case
from reasoner.hypergraph.rules import holds
from reasoner.hypergraph.spans import unit_spans
from reasoner.policy_text import read_policy
from reasoner.verdict import AbstentionCode, Verdict
from reasoner.verify import verify_bytes

FAMILY: dict[str, Any] = {
    "format": "proofweave.hypergraph/1",
    "atoms": ["father", {"id": "father's father", "text": "whose father is he?"}, "grandfather"],
    "hyperedges": [
        {"id": "e1", "tail": ["father", "father's father"], "head": "grandfather", "cite": "kin"}
    ],
    "units": [
        {"id": "u1", "states": ["father"], "text": "Max is the son of Paul."},
        {"id": "u2", "states": ["father's father"], "text": "Pauls Vater hieß Otto."},
        {"id": "u3", "witnesses": ["e1"]},
    ],
}


def _bytes(**changes: Any) -> bytes:
    return json.dumps({**FAMILY, **changes}, ensure_ascii=False, indent=2).encode()


def _decide(data: bytes, goal: str = "grandfather", **options: Any) -> Decision:
    return certify_case(hypergraph_case(data, goal, name="file.json", **options), **options)


def test_a_certified_goal_quotes_the_units_of_the_file() -> None:
    data = _bytes()
    decision = _decide(data)
    assert decision.verdict is Verdict.CERTIFIED
    certificate = json.loads(decision.certificate)
    assert certificate["goal"] == 'holds("grandfather")'
    quotes = [
        json.loads(item["quote"])
        for statement in certificate["statements"].values()
        for item in statement["evidence"]
    ]
    assert sorted(quotes, key=lambda unit: str(unit["id"])) == FAMILY["units"]
    assert certificate["rules"]["edge.e1"]["cite"] == "kin"
    (digest,) = {record["text_sha256"] for record in certificate["sources"].values()}
    assert verify_bytes(decision.certificate, {digest: data.decode()}).valid


def test_a_changed_file_no_longer_verifies() -> None:
    data = _bytes()
    decision = _decide(data)
    (record,) = json.loads(decision.certificate)["sources"].values()
    changed = data.decode().replace("Otto", "Udo")
    report = verify_bytes(decision.certificate, {record["text_sha256"]: changed})
    assert not report.valid


def test_its_twin_lacking_a_unit_abstains_and_names_the_atom() -> None:
    data = _bytes(units=FAMILY["units"][::2])
    decision = _decide(data)
    assert decision.verdict is Verdict.ABSTAINED
    assert decision.code is AbstentionCode.GAP_IN_CORPUS
    assert [item.atom for item in decision.open] == ['holds("father\'s father")']


def test_a_missing_witness_is_named() -> None:
    edges = [{**FAMILY["hyperedges"][0], "witness": True}]
    data = _bytes(units=FAMILY["units"][:2], hyperedges=edges)
    decision = _decide(data)
    assert [item.atom for item in decision.open] == ['witnessed("e1")']


def test_what_contradicts_the_goal_refutes_it() -> None:
    data = _bytes(
        atoms=[*FAMILY["atoms"], "stranger"],
        units=[{"id": "u", "states": ["stranger"]}],
        contradictions=[["stranger", "grandfather"]],
    )
    decision = _decide(data)
    assert decision.verdict is Verdict.REFUTED
    assert decision.answers == (holds("-grandfather"),)


def test_both_sides_of_a_contradiction_are_a_conflict() -> None:
    data = _bytes(
        atoms=[*FAMILY["atoms"], "stranger"],
        units=[*FAMILY["units"], {"id": "u4", "states": ["stranger"]}],
        contradictions=[["stranger", "grandfather"]],
    )
    decision = _decide(data)
    assert decision.verdict is Verdict.ABSTAINED
    assert decision.code is AbstentionCode.CONFLICT


def test_problems_of_the_file_and_of_the_goal_are_named() -> None:
    with pytest.raises(HypergraphRejected, match=r"file\.json has 1 problem"):
        _decide(b"[]")
    with pytest.raises(GoalRejected, match="did you mean 'grandfather'"):
        _decide(_bytes(), "grandfater")


def test_a_long_chain_is_certified_whole() -> None:
    length = 1_500
    body = {
        "format": "proofweave.hypergraph/1",
        "atoms": [f"a{index}" for index in range(length + 1)],
        "hyperedges": [
            {"id": f"e{index}", "tail": [f"a{index}"], "head": f"a{index + 1}"}
            for index in range(length)
        ],
        "units": [{"id": "u", "states": ["a0"]}],
    }
    decision = _decide(json.dumps(body).encode(), f"a{length}")
    assert decision.verdict is Verdict.CERTIFIED
    assert len(json.loads(decision.certificate)["steps"]) == length + 2


def test_spans_hold_the_units_as_written() -> None:
    text = '\n{"goals": [], "units":\n [ {"id": "ü", "states": []} ,{"id":"v"}\t], "given": []}'
    spans = unit_spans(text)
    assert {name: text[start:end] for name, (start, end) in spans.items()} == {
        "ü": '{"id": "ü", "states": []}',
        "v": '{"id":"v"}',
    }


ODD = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]), st.sampled_from('{}"\\\n\t\0:#%-. \u0085\u2028')
    ),
    min_size=1,
    max_size=6,
).filter(str.strip)


@st.composite
def odd_files(draw: st.DrawFn) -> dict[str, Any]:
    """Small hypergraphs whose ids and texts are any text at all."""
    atoms = draw(st.lists(ODD, min_size=1, max_size=4, unique=True))
    subset = st.lists(st.sampled_from(atoms), unique=True, max_size=2)
    edges = [
        {"id": name, "tail": draw(subset), "head": draw(st.sampled_from(atoms)), "text": draw(ODD)}
        for name in draw(st.lists(ODD, max_size=3, unique=True))
    ]
    names = [edge["id"] for edge in edges]
    chosen = st.lists(st.sampled_from(names), unique=True, max_size=1) if names else st.just([])
    units = [
        {"id": name, "states": draw(subset), "witnesses": draw(chosen), "text": draw(ODD)}
        for name in draw(st.lists(ODD, max_size=3, unique=True))
    ]
    body: dict[str, Any] = {
        "format": "proofweave.hypergraph/1",
        "atoms": atoms,
        "hyperedges": edges,
        "units": units,
        "given": draw(subset),
    }
    if len(atoms) > 1 and draw(st.booleans()):
        body["contradictions"] = [atoms[:2]]
    return body


@settings(max_examples=60, deadline=None)
@given(odd_files(), st.booleans())
def test_certificates_say_what_the_hypergraph_says(body: dict[str, Any], ascii_only: bool) -> None:
    data = json.dumps(body, ensure_ascii=ascii_only).encode()
    graph = read_hypergraph(data, name="odd.json")
    for ours in decide_hypergraph(graph, goals=body["atoms"], engine="linear"):
        decision = _decide(data, ours.goal, engine="linear")
        assert decision.verdict is ours.verdict
        if ours.verdict is Verdict.ABSTAINED:
            continue
        statements = json.loads(decision.certificate)["statements"]
        assert {item["subject"] for item in statements.values()} == set(ours.units)


@settings(max_examples=60, deadline=None)
@given(odd_files())
def test_the_text_of_the_policy_reads_back_as_its_clauses(body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    policy = hypergraph_case(data, body["atoms"][0], name="odd.json", engine="linear").policy
    read, findings = read_policy(policy.text, name="odd.json")
    assert findings == ()
    assert tuple(replace(clause, line=0, column=0) for clause in read.clauses) == policy.clauses
    assert read.digest == policy.digest


@settings(max_examples=120, deadline=None)
@given(graphs(contradictions=True), st.data())
def test_slices_read_off_the_rules_give_the_certificate_of_evaluation(
    body: dict[str, Any], draw: st.DataObject
) -> None:
    data = json.dumps(body).encode()
    names = [unit["id"] for unit in body["units"]]
    gone = draw.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    assumed = draw.draw(st.lists(st.sampled_from(body["atoms"]), unique=True, max_size=1))
    for goal in body["goals"]:
        case = hypergraph_case(
            data, goal, name="g.json", assumed=assumed, left_out=gone, engine="linear"
        )
        if case.proof is not None:
            continue
        request = Request(
            case.goal,
            None,
            assumptions=case.assumptions,
            understood_as=case.understood_as,
            retractions=case.retractions,
        )
        evaluated = decide(
            request,
            policy=case.policy,
            facts=case.facts,
            sources=case.sources,
            engine="linear",
            known=[("holds", 1), ("unit", 2), ("witnessed", 1)],
        )
        assert certify_case(case, engine="linear").certificate == evaluated.certificate


@pytest.mark.parametrize("goal", ["u", "not u"])
def test_a_proof_may_go_around_what_is_contested_without_a_unit(goal: str) -> None:
    graph = {
        "format": "proofweave.hypergraph/1",
        "atoms": ["j", "not j", "q", "s", "u", "not u"],
        "hyperedges": [
            {"id": "e1", "tail": [], "head": "j"},
            {"id": "e2", "tail": ["q"], "head": "not j"},
            {"id": "e3", "tail": ["j"], "head": "u"},
            {"id": "e4", "tail": ["s"], "head": "u"},
        ],
        "contradictions": [["j", "not j"], ["u", "not u"]],
        "units": [{"id": "x", "states": ["q"]}, {"id": "y", "states": ["s"]}],
    }
    decision = _decide(json.dumps(graph).encode(), goal)
    assert decision.verdict is (Verdict.CERTIFIED if goal == "u" else Verdict.REFUTED)
    graph["units"] = [{"id": "x", "states": ["q"]}]
    assert _decide(json.dumps(graph).encode(), goal).code is AbstentionCode.CONFLICT
