"""Theories of triples and bracketed rules, as policies: labels, proofs, and what is no policy."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from bench.ground import ground
from bench.ruletaker import FILES, main
from bench.theories import read_theory, translate
from reasoner.policy import parse_facts, parse_policy

SHARED = Path(os.environ.get("PROOFWEAVE_SHARED", Path(__file__).parents[3] / "shared")) / "data"


def _triple(*words: str) -> str:
    return "(" + " ".join(f'"{word}"' for word in words) + ")"


def _rule(head: tuple[str, ...], *body: tuple[str, ...]) -> dict[str, str]:
    tail = " ".join(_triple(*literal) for literal in body)
    return {"representation": f"(({tail}) -> {_triple(*head)})", "text": "A {made up} rule."}


def _question(words: tuple[str, ...], answer: bool, proofs: str = "[@0: [CWA. (FAIL)]]") -> Any:
    return {
        "question": " ".join(words),
        "representation": _triple(*words),
        "answer": answer,
        "QDep": 1,
        "proofs": proofs,
    }


THEORY: dict[str, Any] = {
    "id": "harbour-1",
    "triples": {
        "triple1": {"representation": _triple("tug", "is", "moored", "+")},
        "triple2": {"representation": _triple("tug", "pulls up to", "old barge", "+")},
    },
    "rules": {
        "rule1": _rule(
            ("someone", "is", "near", "+"),
            ("tug", "pulls up to", "someone", "+"),
            ("tug", "is", "moored", "+"),
        ),
        # nothing but the negated literal binds the variable
        "rule2": _rule(("someone", "under", "harbour", "+"), ("someone", "is", "moored", "~")),
        "rule3": _rule(("someone", "is", "free", "-"), ("someone", "is", "moored", "+")),
    },
    "questions": {
        "Q1": _question(("old barge", "is", "near", "+"), True, "[(((triple2 triple1) -> rule1))]"),
        "Q2": _question(("old barge", "is", "near", "-"), False, "[((triple1 triple2) -> rule1)]"),
        "Q3": _question(("tug", "is", "near", "+"), False),
        "Q4": _question(("tug", "is", "near", "-"), True),
        "Q5": _question(("old barge", "under", "harbour", "+"), True, "[((NAF) -> rule2)]"),
        "Q6": _question(("tug", "is", "free", "-"), True, "[(triple1 -> rule3)]"),
        "Q7": _question(("tug", "under", "harbour", "+"), False),
    },
}
CYCLE = {
    "id": "cycle",
    "triples": {},
    "rules": {
        "rule1": _rule(("tug", "is", "in", "+"), ("tug", "is", "out", "~")),
        "rule2": _rule(("tug", "is", "out", "+"), ("tug", "is", "in", "~")),
    },
    "questions": {"Q1": _question(("tug", "is", "in", "+"), True)},
}


def _report(capsys: pytest.CaptureFixture[str], theories: Path, *arguments: str) -> dict[str, Any]:
    main(["--json", "--theories", str(theories), *arguments])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_every_label_has_its_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theories, out = tmp_path / "meta.jsonl.gz", tmp_path / "out.jsonl"
    theories.write_bytes(gzip.compress(json.dumps(THEORY).encode()))
    report = _report(capsys, theories, "--out", str(out))
    assert [entry["met"] for entry in report["goals"]] == [True] * 3
    (row,) = (row for row in report["rows"] if row.get("depth") == "all")
    assert (row["proof"], row["denial"], row["absence"], row["nothing"]) == (3, 1, 3, 0)
    assert row["naive model right"] == row["proof among the gold"] == 1
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert {record["verdict"] for record in records} == {"CERTIFIED", "REFUTED"}
    assert all(record["certificate"] for record in records)


def test_negation_through_a_cycle_is_reported_and_not_counted_as_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theories = tmp_path / "meta.jsonl"
    theories.write_text(json.dumps(CYCLE) + "\n")
    report = _report(capsys, theories)
    assert [entry["met"] for entry in report["goals"]] == [False, False]
    (row,) = (row for row in report["rows"] if "theories" in row)
    assert row["theories with negation through a cycle"] == 1
    assert row["their questions without an answer"] == 1
    assert row["theories whose model is partial"] == 1
    assert ground(read_theory(CYCLE)).model().undefined == {"tug is in", "tug is out"}


def test_words_become_predicates_that_mean_nothing_else() -> None:
    translation = translate(read_theory(THEORY))
    policy = parse_policy(translation.policy, name="harbour")
    clauses = {clause.id: str(clause.head) for clause in policy.clauses}
    assert clauses["rule2"] == 'r_under(X1, "harbour")'
    assert clauses["rule3"] == "-is_free(X1)"
    facts = [str(line.atom) for line in parse_facts(translation.facts, name="facts")]
    assert 'pulls_up_to("tug", "old barge")' in facts
    assert 'thing("harbour")' in facts


def test_a_bracket_form_that_cannot_be_read_is_named() -> None:
    broken = {**THEORY, "triples": {"triple1": {"representation": '("tug" "is" "+")'}}}
    with pytest.raises(ValueError, match="harbour-1, triple1"):
        read_theory(broken)


@pytest.mark.shared
@pytest.mark.parametrize("name", FILES)
def test_labels_of_the_first_theories_are_all_right(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    theories = SHARED / "ruletaker" / name
    if not theories.is_file():
        pytest.skip(f"no shared data at {theories}")
    report = _report(capsys, theories, "--limit", "4")
    assert [entry["met"] for entry in report["goals"]] == [True] * 3
