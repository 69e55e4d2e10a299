"""What SPARQL reads of verdicts, over the golden cases."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from golden import Case, decide_case, golden_cases

from kb import verdict_quads, vocabulary
from kb.knowledge_base import KnowledgeBase
from reasoner.certificate import FORMAT

CASES = golden_cases()
PW = vocabulary.PROOFWEAVE


@pytest.fixture(scope="module")
def recorded(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[KnowledgeBase, dict[str, str]]]:
    """A knowledge base that has decided every golden case, and the certificates by case."""
    directory = tmp_path_factory.mktemp("verdicts")
    with KnowledgeBase.create(directory, namespace="https://example.org/") as base:
        receipt = {"requester": "ada", "time": "2026-03-01T12:00:00Z", "revision": "1"}
        yield (
            base,
            {
                case.name: base.record_verdict(decide_case(case).certificate, receipt).digest
                for case in CASES
            },
        )


def rows(base: KnowledgeBase, query: str) -> list[dict[str, str]]:
    _, content = base.query(query)
    return [
        {name: term["value"] for name, term in row.items()}
        for row in json.loads(content)["results"]["bindings"]
    ]


def leaves(form: Any, step: str) -> set[str]:
    """The statements below a step, by walking up from it."""
    found = next(item for item in form["steps"] if item["id"] == step)
    own = {found["statement"]} if "statement" in found else set()
    return own.union(*(leaves(form, premise) for premise in found["premises"]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_certificate_is_read_as_it_is(
    recorded: tuple[KnowledgeBase, dict[str, str]], case: Case
) -> None:
    base, digests = recorded
    digest = digests[case.name]
    form = json.loads(base.certificate(digest))
    node = f"<{vocabulary.certificate_iri(base.namespace, digest)}>"
    (found,) = rows(
        base,
        f"SELECT * {{ GRAPH pw:verdicts {{ {node} pw:verdict ?verdict ; pw:goal ?goal ; "
        "pw:policy/dcterms:identifier ?policy OPTIONAL { "
        f"{node} pw:code ?code }} }} }}",
    )
    assert (found["verdict"], found["goal"]) == (form["verdict"], form["goal"])
    assert found.get("code") == form["code"]
    assert [found["policy"]] == [
        policy["id"] for policy in form["policies"] if policy["id"] != "prelude"
    ]
    for key, predicate in (("answers", "answer"), ("refuted", "refutedAnswer")):
        answers = rows(
            base,
            f"SELECT ?atom ?premise {{ GRAPH pw:verdicts {{ {node} pw:{predicate} ?a . "
            "?a pw:atom ?atom OPTIONAL { ?a pw:premise ?premise } } }",
        )
        assert {row["atom"] for row in answers} == {item["atom"] for item in form[key]}
        closed = any(step["kind"] == "closed" for step in form["steps"])
        for item in form[key]:
            premises = {
                vocabulary.statement_id(base.namespace, row["premise"])
                for row in answers
                if row["atom"] == item["atom"] and "premise" in row
            }
            assert premises == (set(form["statements"]) if closed else leaves(form, item["step"]))
    gaps = rows(
        base,
        f"SELECT ?atom ?code {{ GRAPH pw:verdicts {{ {node} pw:openRequirement ?o . "
        "?o pw:atom ?atom ; pw:code ?code } }",
    )
    assert {(row["atom"], row["code"]) for row in gaps} == {
        (item["atom"], item["code"]) for item in form["open"]
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_answer_names_the_documents_of_its_premises(
    recorded: tuple[KnowledgeBase, dict[str, str]], case: Case
) -> None:
    base, digests = recorded
    form = json.loads(base.certificate(digests[case.name]))
    node = f"<{vocabulary.certificate_iri(base.namespace, digests[case.name])}>"
    found = rows(
        base,
        f"SELECT ?premise ?document {{ GRAPH pw:verdicts {{ {node} pw:answer|pw:refutedAnswer ?a ."
        " ?a pw:premise ?premise ; pw:restsOn ?document . ?premise pw:statedIn ?span "
        "FILTER(pw:document(?span) = ?document) } }",
    )
    assert {
        (vocabulary.statement_id(base.namespace, row["premise"]), row["document"]) for row in found
    } == {
        (vocabulary.statement_id(base.namespace, row["premise"]), vocabulary.source_iri(source))
        for row in found
        for source in (
            item["source_sha256"]
            for item in form["statements"][vocabulary.statement_id(base.namespace, row["premise"])][
                "evidence"
            ]
        )
    }
    answered = form["answers"] or form["refuted"]
    assert bool(found) == bool(answered and form["statements"])


def test_asking_changes_no_answer(recorded: tuple[KnowledgeBase, dict[str, str]]) -> None:
    base, _ = recorded
    assert rows(base, "SELECT * { ?s ?p ?o FILTER(?p != pw:verdictRevision) }") == [
        row for row in rows(base, "SELECT * { ?s ?p ?o }") if row["p"] == PW + "revision"
    ]


def test_asked_again_only_the_decision_is_new_and_building_anew_gives_the_same(
    recorded: tuple[KnowledgeBase, dict[str, str]],
) -> None:
    base, digests = recorded
    everything = "SELECT * { GRAPH pw:verdicts { ?s ?p ?o } }"
    before = rows(base, everything)
    digest = digests["denial/stated"]
    base.record_verdict(base.certificate(digest), {"requester": "bob"})
    base.record_sign_off(digest, {"reviewer": "eve", "comment": "seen"})
    after = rows(base, everything)
    fresh = {row["s"] for row in after if row not in before}
    assert [iri.removeprefix(base.namespace).partition("/")[0] for iri in sorted(fresh)] == [
        "decision",
        "decision",
    ]
    assert {row["o"] for row in after if row not in before} >= {"bob", "eve", "seen"}
    copy = base.directory.parent / "copy"
    shutil.copytree(base.directory, copy, ignore=shutil.ignore_patterns("projections"))
    with KnowledgeBase.open(copy) as again:
        assert rows(again, everything) == after


def test_what_an_absence_takes_as_complete_is_named(
    recorded: tuple[KnowledgeBase, dict[str, str]],
) -> None:
    base, _ = recorded
    form = {
        "format": FORMAT,
        "verdict": "CERTIFIED",
        "goal": 'fine("Acme, \\"x\\" Ltd", @date("2026"))',
        **dict.fromkeys(("code", "question", "understood_as", "valid_on")),
        "validity": {"start": None, "end": None, "next_change": None},
        "complete": True,
        **{key: [] for key in ("assumptions", "answers", "refuted", "open", "steps")},
        "sources": {},
        "statements": {},
        "policies": [
            {
                "id": "p",
                "version": "1",
                "digest": "ab",
                "text": 'closed(listed/2, "list.csv").\nclosed(other/1, "o.csv").\n'
                '% closed(listed/2, "comment").\n',
            }
        ],
        "witness": {
            "lookups": [
                {"pattern": 'listed("Acme, \\"x\\" Ltd", _)', "basis": "declared", "answers": []},
                {"pattern": "other(_)", "basis": "knowledge", "answers": []},
            ]
        },
    }
    digest = base.record_verdict(json.dumps(form).encode(), {}).digest
    node = f"<{vocabulary.certificate_iri(base.namespace, digest)}>"
    (found,) = rows(
        base,
        f"SELECT * {{ GRAPH pw:verdicts {{ {node} pw:takesAsComplete ?name ; pw:about ?e }} "
        "BIND(pw:name(?e) AS ?entity) }",
    )
    assert (found["name"], found["entity"]) == ("list.csv", 'Acme, "x" Ltd')


def test_a_certificate_of_another_format_breaks_no_query(
    recorded: tuple[KnowledgeBase, dict[str, str]],
) -> None:
    base, _ = recorded
    assert verdict_quads.FORMAT == FORMAT
    base.record_verdict(b'{"verdict": "CERTIFIED"}', {})
    assert rows(base, "SELECT * { GRAPH pw:verdicts { ?s a pw:Certificate } }")
