"""What if, why not, and what flipped, in hypergraphs; the same whichever engine closes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from graph_strategies import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoner.decide import Decision
from reasoner.errors import GoalRejected
from reasoner.expiry import never
from reasoner.hypergraph import Hypergraph, decide_hypergraph, read_hypergraph
from reasoner.hypergraph.case import certify_case, hypergraph_case
from reasoner.hypergraph.contrast import contrast_atoms
from reasoner.hypergraph.decision import ClosedHypergraph, close_hypergraph
from reasoner.hypergraph.flips import GraphCause, GraphFlip, GraphSide, first_flip
from reasoner.hypergraph.repairs import find_graph_repairs
from reasoner.hypergraph.supposition import suppose
from reasoner.verdict import AbstentionCode, Verdict

ENGINES = ["linear", "clingo", "pydatalog", "auto"]

KIN: dict[str, Any] = {
    "format": "proofweave.hypergraph/1",
    "atoms": [
        *("father(max, paul)", "father(paul, otto)", "grandfather(max, otto)"),
        *("father(eva, kurt)", "father(kurt, emil)", "grandfather(eva, emil)"),
        *("son(emil, kurt)", "note(eva)"),
    ],
    "hyperedges": [
        {
            "id": "e1",
            "tail": ["father(max, paul)", "father(paul, otto)"],
            "head": "grandfather(max, otto)",
        },
        {
            "id": "e2",
            "tail": ["father(eva, kurt)", "father(kurt, emil)"],
            "head": "grandfather(eva, emil)",
        },
        {"id": "e3", "tail": ["son(emil, kurt)"], "head": "father(kurt, emil)"},
        {"id": "e4", "tail": ["note(eva)"], "head": "grandfather(eva, emil)", "witness": True},
    ],
    "units": [
        {"id": "u1", "states": ["father(max, paul)"], "text": "Max is the son of Paul."},
        {"id": "u2", "states": ["father(paul, otto)"], "text": "Paul's father was Otto."},
        {"id": "u3", "states": ["father(eva, kurt)"], "text": "Kurt is Eva's father."},
    ],
}
MAX, EVA = "grandfather(max, otto)", "grandfather(eva, emil)"


def _graph(**changes: Any) -> Hypergraph:
    return read_hypergraph(json.dumps({**KIN, **changes}), name="kin.json")


def _closed(graph: Hypergraph, engine: str = "linear") -> ClosedHypergraph:
    return close_hypergraph(graph, engine=engine)


def _certified(goal: str, **supposed: Any) -> tuple[Decision, dict[str, Any]]:
    case = hypergraph_case(json.dumps(KIN).encode(), goal, name="kin.json", **supposed)
    decision = certify_case(case)
    assert decision.verdict is case.decision.verdict
    return decision, json.loads(decision.certificate)


def _flip(goal: str, first: Hypergraph, second: Hypergraph) -> GraphFlip | None:
    here, there = (
        GraphSide("kin.json", closed, closed.decide(goal))
        for closed in (_closed(first), _closed(second))
    )
    return first_flip(here, there)


# ---- what if


def test_a_unit_left_out_stands_in_the_certificate_and_names_what_opens() -> None:
    decision, certificate = _certified(MAX, left_out=["u2"])
    assert decision.verdict is Verdict.ABSTAINED
    assert [item["atom"] for item in certificate["retractions"]] == [
        'unit("u2", "Paul\'s father was Otto.")'
    ]
    assert "left out by the request" in decision.open[0].detail


def test_an_assumed_atom_is_a_leaf_of_the_proof_and_listed() -> None:
    decision, certificate = _certified(EVA, assumed=["son(emil, kurt)"])
    assert decision.verdict is Verdict.CERTIFIED
    assert certificate["assumptions"] == ['holds("son(emil, kurt)")']
    assert [step["kind"] for step in certificate["steps"]].count("assumed") == 1


def test_a_proof_prefers_what_is_stated_to_what_is_assumed() -> None:
    _, certificate = _certified(MAX, assumed=["father(max, paul)"])
    assert certificate["assumptions"] == []


def test_an_assumption_hides_no_contradiction() -> None:
    body = {**KIN, "contradictions": [[MAX, "note(eva)"]]}
    case = hypergraph_case(json.dumps(body).encode(), MAX, name="k", assumed=["note(eva)"])
    assert case.decision.code is AbstentionCode.CONFLICT
    assert certify_case(case).code is AbstentionCode.CONFLICT


def test_all_that_cannot_be_supposed_is_named_together() -> None:
    with pytest.raises(GoalRejected) as caught:
        suppose(_graph(), assumed=["father(max,paul)"], left_out=["u4", "e1"])
    message = str(caught.value)
    assert "did you mean 'father(max, paul)'" in message
    assert "'u4'" in message
    assert "'e1'" in message
    taken = _graph(units=[{"id": "assumed: note(eva)"}])
    with pytest.raises(GoalRejected, match="has a unit 'assumed: note"):
        suppose(taken, assumed=["note(eva)"])


# ---- why not


@pytest.mark.parametrize("engine", ENGINES)
def test_a_contrast_goes_down_to_the_missing_fact(engine: str) -> None:
    closed = _closed(_graph(), engine)
    found = contrast_atoms(closed, closed.decide(MAX), EVA)
    items = [(i.depth, i.part_of, i.requirement, i.counterpart, i.edge) for i in found.differences]
    assert items == [
        (1, -1, "father(paul, otto)", "father(kurt, emil)", "e2"),
        (2, 0, "", "son(emil, kurt)", "e3"),
    ]
    first = found.differences[0].step
    assert first is not None
    assert first.unit == "u2"
    assert [item.is_fact for item in found.differences] == [False, True]
    assert not found.is_cut


def test_the_edge_of_the_same_shape_is_held_against_the_proof() -> None:
    units = [*KIN["units"], {"id": "u4", "witnesses": ["e4"]}]
    closed = _closed(_graph(units=units, hyperedges=[*KIN["hyperedges"][:2], KIN["hyperedges"][3]]))
    found = contrast_atoms(closed, closed.decide(MAX), EVA)
    assert [item.edge for item in found.differences] == ["e2"], "e4 lacks one atom as well"


def test_a_missing_witness_and_a_contested_atom_are_differences() -> None:
    edges = [{**edge, "witness": True} for edge in KIN["hyperedges"][:2]]
    units = [
        *KIN["units"],
        {"id": "u4", "witnesses": ["e1"]},
        {"id": "u5", "states": ["father(kurt, emil)", "note(eva)"]},
    ]
    pairs = [["father(kurt, emil)", "note(eva)"]]
    closed = _closed(_graph(hyperedges=edges, units=units, contradictions=pairs))
    found = contrast_atoms(closed, closed.decide(MAX), EVA).differences
    assert [(item.requirement, item.counterpart, item.code) for item in found] == [
        ("father(paul, otto)", "father(kurt, emil)", AbstentionCode.CONFLICT),
        ('witnessed("e1")', 'witnessed("e2")', AbstentionCode.GAP_IN_CORPUS),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_repairs_come_cheapest_first_and_are_tried(engine: str) -> None:
    found = find_graph_repairs(_closed(_graph(), engine), EVA, cap=5, expired=never)
    assert found.sets == (("son(emil, kurt)",), ("note(eva)", 'witnessed("e4")'))
    assert found.complete
    against = [["son(emil, kurt)", "father(eva, kurt)"]]
    closed = _closed(_graph(contradictions=against), engine)
    found = find_graph_repairs(closed, EVA, cap=5, expired=never)
    assert found.sets == (("note(eva)", 'witnessed("e4")'),), "the other would be contested"


@settings(max_examples=60, deadline=None)
@given(graphs(contradictions=True))
def test_each_repair_certifies_the_goal_it_is_for(body: dict[str, Any]) -> None:
    graph = read_hypergraph(json.dumps(body), name="drawn.json")
    closed = _closed(graph)
    for goal in body["goals"]:
        if closed.decide(goal).verdict is not Verdict.ABSTAINED:
            continue
        for atoms in find_graph_repairs(closed, goal, cap=3, expired=never).sets:
            added = [atom for atom in atoms if not atom.startswith("witnessed(")]
            edges = {atom[11:-2] for atom in atoms if atom.startswith("witnessed(")}
            units = [*body["units"], {"id": "new", "states": added, "witnesses": sorted(edges)}]
            repaired = read_hypergraph(json.dumps({**body, "units": units}), name="repaired.json")
            (decision,) = decide_hypergraph(repaired, goals=[goal], engine="linear")
            assert decision.verdict is Verdict.CERTIFIED


# ---- what flipped


def test_the_lowest_step_that_is_lost_is_named_with_its_cause() -> None:
    edges, units = KIN["hyperedges"], KIN["units"]
    moved = {**units[1], "states": ["note(eva)"]}
    other = {**edges[0], "tail": ["note(eva)"]}
    for changes, cause, atom, words in (
        ({"units": [units[0], units[2]]}, GraphCause.UNIT_ABSENT, "father(paul, otto)", "no unit"),
        (
            {"units": [units[0], moved]},
            GraphCause.UNIT_ABSENT,
            "father(paul, otto)",
            "no longer states",
        ),
        ({"hyperedges": edges[1:]}, GraphCause.EDGE, MAX, "no hyperedge e1"),
        ({"hyperedges": [other, *edges[1:]]}, GraphCause.EDGE, MAX, "leads from note(eva)"),
        (
            {"hyperedges": [{**edges[0], "witness": True}, *edges[1:]]},
            GraphCause.EDGE,
            MAX,
            "needs a unit",
        ),
        (
            {"contradictions": [["father(max, paul)", "father(eva, kurt)"]]},
            GraphCause.CONFLICT,
            "father(max, paul)",
            "are both derived",
        ),
    ):
        flip = _flip(MAX, _graph(), _graph(**changes))
        assert flip is not None
        assert (flip.cause, flip.step.atom) == (cause, atom)
        assert words in flip.detail
        assert (flip.chain[0], flip.chain[-1].atom) == (flip.step, MAX)


def test_what_is_derived_in_another_way_has_not_flipped() -> None:
    units = [*KIN["units"][1:], {"id": "u9", "states": ["father(max, paul)"]}]
    assert _flip(MAX, _graph(), _graph(units=units)) is None


@settings(max_examples=80, deadline=None)
@given(graphs(contradictions=True), st.data())
def test_a_flip_is_the_first_step_that_the_other_side_lacks(
    body: dict[str, Any], data: st.DataObject
) -> None:
    graph = read_hypergraph(json.dumps(body), name="drawn.json")
    gone = data.draw(st.lists(st.sampled_from([u.id for u in graph.units] or [""]), unique=True))
    left_out = [name for name in gone if name]
    sides = []
    for engine in ("linear", "clingo"):
        first = _closed(graph, engine)
        second = _closed(suppose(graph, left_out=left_out), engine)
        sides.append((first, second))
    for goal in body["goals"]:
        flips = []
        for first, second in sides:
            here = GraphSide("drawn.json", first, first.decide(goal))
            there = GraphSide("drawn.json", second, second.decide(goal), frozenset(left_out))
            flips.append(first_flip(here, there))
        assert flips[0] == flips[1], "engines agree"
        (first, second), flip = sides[0], flips[0]
        steps = first.decide(goal).steps
        held = [second.derives(step.atom) for step in steps]
        if flip is None:
            assert all(held)
            continue
        at = steps.index(flip.step)
        assert all(held[:at])
        assert not held[at]
        if flip.step.unit in left_out:
            assert flip.cause is GraphCause.REQUEST
