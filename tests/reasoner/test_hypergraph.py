"""Requirement hypergraphs: the file format, minimal certificates and open requirements."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from graph_strategies import graphs
from horn_strategies import naive_closure
from hypothesis import given
from hypothesis import strategies as st

from reasoner.abduction import Optimality
from reasoner.errors import GoalRejected, HypergraphRejected
from reasoner.hypergraph import (
    GoalDecision,
    GraphStep,
    Hypergraph,
    Violation,
    decide_hypergraph,
    read_hypergraph,
    violations,
    write_hypergraph,
)
from reasoner.verdict import AbstentionCode, Verdict

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "hypergraph.schema.json").read_text(encoding="utf-8"))

FAMILY: dict[str, Any] = {
    "format": "proofweave.hypergraph/1",
    "atoms": [
        "father(max, paul)",
        {"id": "father(paul, otto)", "query": "father of Paul", "expected": "person"},
        "grandfather(max, otto)",
        "-grandfather(max, otto)",
    ],
    "hyperedges": [
        {
            "id": "e1",
            "tail": ["father(max, paul)", "father(paul, otto)"],
            "head": "grandfather(max, otto)",
        }
    ],
    "units": [
        {"id": "u1", "states": ["father(max, paul)"]},
        {"id": "u2", "states": ["father(paul, otto)"]},
        {"id": "u3", "states": ["father(max, paul)"]},
    ],
    "goals": ["grandfather(max, otto)"],
}


def _graph(**changes: Any) -> Hypergraph:
    return read_hypergraph(json.dumps({**FAMILY, **changes}), name="family.json")


def _decide(graph: Hypergraph, **options: Any) -> GoalDecision:
    (decision,) = decide_hypergraph(graph, **options)
    return decision


def test_a_derived_goal_has_a_minimal_certificate_in_dependency_order() -> None:
    decision = _decide(_graph())
    assert decision.verdict is Verdict.CERTIFIED
    assert decision.units == ("u1", "u2")
    assert decision.steps == (
        GraphStep("father(max, paul)", unit="u1"),
        GraphStep("father(paul, otto)", unit="u2"),
        GraphStep(
            "grandfather(max, otto)", "e1", ("father(max, paul)", "father(paul, otto)"), None
        ),
    )


def test_its_twin_lacking_one_fact_abstains_and_names_it() -> None:
    decision = _decide(_graph(), context=["u1", "u3"])
    assert decision.verdict is Verdict.ABSTAINED
    assert decision.code is AbstentionCode.GAP_IN_CORPUS
    (requirement,) = decision.open
    assert requirement.atom == "father(paul, otto)"
    assert requirement.rule == "e1"
    assert (requirement.query, requirement.expected) == ("father of Paul", "person")
    assert decision.cheapest == ("father(paul, otto)",)
    assert decision.optimality is Optimality.OPTIMAL


def test_given_atoms_need_no_unit() -> None:
    decision = _decide(_graph(given=["father(max, paul)"]))
    assert decision.units == ("u2",)
    assert decision.steps[0] == GraphStep("father(max, paul)")


def test_a_contradicting_atom_refutes_the_goal() -> None:
    units = [{"id": "u1", "states": ["-grandfather(max, otto)"]}]
    decision = _decide(_graph(units=units))
    assert decision.verdict is Verdict.REFUTED
    assert decision.proved == "-grandfather(max, otto)"
    assert decision.units == ("u1",)


def test_a_goal_derived_and_contradicted_is_a_conflict_with_both_sides() -> None:
    units = [*FAMILY["units"], {"id": "u4", "states": ["-grandfather(max, otto)"]}]
    graph = _graph(units=units)
    decision = _decide(graph)
    assert decision.verdict is Verdict.ABSTAINED
    assert decision.code is AbstentionCode.CONFLICT
    assert decision.open[0].conflicting == ("u1", "u2", "u4")
    violation = Violation("e1", "grandfather(max, otto)", "-grandfather(max, otto)")
    assert decision.violations == (violation,)
    assert violations(graph) == (violation,)


def test_a_certificate_avoids_contested_atoms_where_it_can() -> None:
    graph = read_hypergraph(
        json.dumps(
            {
                "format": "proofweave.hypergraph/1",
                "atoms": ["a", "b", "c", "goal", "no b"],
                "hyperedges": [
                    {"id": "e1", "tail": ["b"], "head": "goal"},
                    {"id": "e2", "tail": ["c"], "head": "goal"},
                ],
                "units": [
                    {"id": "u1", "states": ["b"]},
                    {"id": "u2", "states": ["c"]},
                    {"id": "u3", "states": ["no b"]},
                ],
                "contradictions": [["b", "no b"]],
                "goals": ["goal"],
            }
        ),
        name="contested.json",
    )
    assert _decide(graph).units == ("u2",)
    conflict = _decide(graph, context=["u1", "u3"])
    assert conflict.code is AbstentionCode.CONFLICT
    assert conflict.open[0].atom == "b"


WITNESSED = {
    "format": "proofweave.hypergraph/1",
    "atoms": ["a", "b"],
    "hyperedges": [{"id": "e1", "tail": ["a"], "head": "b"}],
    "units": [{"id": "u1", "states": ["a"]}, {"id": "u2", "witnesses": ["e1"]}],
    "goals": ["b"],
}


def test_a_witness_is_part_of_the_certificate_and_open_when_missing() -> None:
    graph = read_hypergraph(json.dumps(WITNESSED), name="witnessed.json")
    decision = _decide(graph)
    assert decision.units == ("u1", "u2")
    assert decision.steps[-1] == GraphStep("b", "e1", ("a",), "u2")
    without = _decide(graph, context=["u1"])
    assert [requirement.atom for requirement in without.open] == ['witnessed("e1")']
    assert without.cheapest == ('witnessed("e1")',)


def test_the_edge_closest_to_firing_comes_first() -> None:
    graph = read_hypergraph(
        json.dumps(
            {
                "format": "proofweave.hypergraph/1",
                "atoms": ["a", "b", "c", "d", "e", "goal"],
                "hyperedges": [
                    {"id": "e1", "tail": ["a", "b", "c"], "head": "goal"},
                    {"id": "e2", "tail": ["a", "d"], "head": "goal"},
                    {"id": "e3", "tail": ["e"], "head": "d"},
                ],
                "given": ["a"],
                "goals": ["goal"],
            }
        ),
        name="near.json",
    )
    decision = _decide(graph)
    assert [requirement.atom for requirement in decision.open] == ["d", "e", "b", "c"]
    assert decision.cheapest == ("e",)


def test_a_goal_nothing_yields_is_itself_open() -> None:
    decision = _decide(_graph(units=[]), goals=["father(max, paul)"])
    assert [requirement.atom for requirement in decision.open] == ["father(max, paul)"]


def test_a_cycle_without_support_cannot_be_closed_by_facts_no_edge_yields() -> None:
    graph = read_hypergraph(
        json.dumps(
            {
                "format": "proofweave.hypergraph/1",
                "atoms": ["a", "b"],
                "hyperedges": [
                    {"id": "e1", "tail": ["a"], "head": "b"},
                    {"id": "e2", "tail": ["b"], "head": "a"},
                ],
                "goals": ["a"],
            }
        ),
        name="cycle.json",
    )
    decision = _decide(graph)
    assert decision.verdict is Verdict.ABSTAINED
    assert [requirement.atom for requirement in decision.open] == ["b"]
    assert decision.optimality is Optimality.IMPOSSIBLE


@pytest.mark.parametrize("engine", ["linear", "clingo", "pydatalog", "auto"])
def test_decisions_do_not_depend_on_the_engine(engine: str) -> None:
    assert _decide(_graph(), engine=engine) == _decide(_graph(), engine="linear")


def test_unknown_goals_and_units_are_named_with_their_nearest() -> None:
    with pytest.raises(GoalRejected, match=r"did you mean 'grandfather\(max, otto\)'"):
        _decide(_graph(), goals=["grandfather(max,otto)"])
    with pytest.raises(GoalRejected, match="names 'u9', no unit"):
        _decide(_graph(), context=["u9"])
    with pytest.raises(GoalRejected, match="names no goal"):
        decide_hypergraph(_graph(goals=[]))


@given(st.integers(0, 2**32))
def test_order_of_the_file_is_irrelevant(seed: int) -> None:
    rng = random.Random(seed)
    body = json.loads(json.dumps(FAMILY))
    for field in ("atoms", "hyperedges", "units"):
        rng.shuffle(body[field])
    shuffled = dict(rng.sample(sorted(body.items()), len(body)))
    graph = read_hypergraph(json.dumps(shuffled), name="family.json")
    assert graph == _graph()


def _holds(graph: Hypergraph, units: set[str], goal: str) -> bool:
    """The definition: edges count if witnessed by a unit of the context or free."""
    chosen = [unit for unit in graph.units if unit.id in units]
    witnessed = {edge for unit in chosen for edge in unit.witnesses}
    names = {atom.id: index for index, atom in enumerate(graph.atoms)}
    clauses = tuple(
        (names[edge.head], tuple(names[atom] for atom in edge.tail))
        for edge in graph.hyperedges
        if not edge.witness or edge.id in witnessed
    )
    start = [names[atom] for atom in graph.given]
    start += [names[atom] for unit in chosen for atom in unit.states]
    return names[goal] in naive_closure(clauses, start)


@given(graphs())
def test_certificates_are_minimal_and_abstentions_right(body: dict[str, Any]) -> None:
    jsonschema.validate(body, SCHEMA)
    graph = read_hypergraph(json.dumps(body), name="drawn.json")
    everything = {unit.id for unit in graph.units}
    for decision in decide_hypergraph(graph, engine="linear"):
        goal = decision.goal
        if decision.verdict is Verdict.CERTIFIED:
            units = set(decision.units)
            assert _holds(graph, units, goal)
            assert not any(_holds(graph, units - {unit}, goal) for unit in units)
        else:
            assert not _holds(graph, everything, goal)
            assert decision.open


@given(graphs())
def test_what_is_written_reads_back_equal(body: dict[str, Any]) -> None:
    graph = read_hypergraph(json.dumps(body), name="drawn.json")
    text = write_hypergraph(graph)
    jsonschema.validate(json.loads(text), SCHEMA)
    assert read_hypergraph(text, name="written.json") == graph


BROKEN = {
    "": "line 1 column 1 is not JSON",
    "[]": "the top level is a list of 0; expected an object",
    '{"format": "proofweave.hypergraph/1", "atoms": [], "atoms": []}': "'atoms' stands twice",
    '{"format": "proofweave.hypergraph/2", "atoms": []}': "format: found 'proofweave.hypergraph/2'",
    '{"format": "proofweave.hypergraph/1"}': "atoms: found nothing",
    '{"format": "proofweave.hypergraph/1", "atoms": [NaN]}': "NaN is no JSON value",
    '{"format": "proofweave.hypergraph/1", "atoms": ["\\ud800"]}': "half a surrogate pair",
    "[" * 100_000: "nested too deeply",
}


@pytest.mark.parametrize(("text", "problem"), BROKEN.items(), ids=range(len(BROKEN)))
def test_a_broken_file_is_refused_by_name(text: str, problem: str) -> None:
    with pytest.raises(HypergraphRejected) as caught:
        read_hypergraph(text, name="broken.json")
    assert "broken.json has" in str(caught.value)
    assert any(problem in line for line in caught.value.problems)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(HypergraphRejected, match="byte 1 is not UTF-8"):
        read_hypergraph(b'"\xff"', name="broken.json")


def test_all_problems_are_reported_together_with_their_places() -> None:
    body = {
        "format": "proofweave.hypergraph/1",
        "atoms": ["born", "born", 3, {"idd": "b"}],
        "hyperedges": [
            {"id": "", "head": "bron", "tail": ["born", 4]},
            {"id": "e", "tail": "born", "head": "born", "witness": 1, "note": ""},
            {"id": "f", "tail": [], "head": "born", "witness": False},
            {"id": "g", "head": "born"},
        ],
        "units": [{"id": "u", "states": ["c"], "witnesses": ["ee", "f"]}, 5],
        "goals": {},
        "contradictions": [["born"], ["born", "born"]],
    }
    with pytest.raises(HypergraphRejected) as caught:
        read_hypergraph(json.dumps(body), name="broken.json")
    places = [problem.split(": ")[0] for problem in caught.value.problems]
    assert places == [
        "atoms[1].id",
        "atoms[2]",
        "atoms[3]",
        "atoms[3].id",
        "hyperedges[0].id",
        "hyperedges[0].tail[1]",
        "hyperedges[0].head",
        "hyperedges[1]",
        "hyperedges[1].tail",
        "hyperedges[1].witness",
        "hyperedges[3].tail",
        "units[0].states[0]",
        "units[0].witnesses[0]",
        "units[1]",
        "hyperedge 'f'",
        "goals",
        "contradictions[0]",
        "contradictions[1]",
    ]
    assert "did you mean 'born'?" in caught.value.problems[6]


def test_the_example_of_the_documentation_is_valid_and_certified() -> None:
    page = (ROOT / "docs" / "hypergraph.md").read_text(encoding="utf-8")
    example = page.split("```json\n")[1].split("```")[0]
    jsonschema.validate(json.loads(example), SCHEMA)
    graph = read_hypergraph(example, name="example.json")
    assert _decide(graph).verdict is Verdict.CERTIFIED
