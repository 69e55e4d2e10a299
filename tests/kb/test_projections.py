from __future__ import annotations

import datetime
import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.document import decode
from kb.knowledge_base import KnowledgeBase
from kb.lattice import Constraint
from kb.statement import Entity, Evidence, Statement, TaxonClass, Validity

NAMESPACE = "https://example.org/kb/"
LASTING = "FILTER(?p NOT IN (pw:revision, pw:readBy))"  # who read a document stays true
ALL_QUADS = f"SELECT ?g ?s ?p ?o WHERE {{ GRAPH ?g {{ ?s ?p ?o }} {LASTING} }}"
ALL_TRIPLES = f"SELECT ?s ?p ?o WHERE {{ ?s ?p ?o {LASTING} }}"

Step = tuple[str, int, int]


def perform(base: KnowledgeBase, step: Step) -> None:
    """Admit, retract or erase one of a few documents or statements, whatever is there."""
    kind, number, seat = step
    text = f"Firm {number % 2} sits in City {seat}.\n\nOr in City {number}."
    document = decode(text.encode(), name=f"{number}.txt")
    standing = {record.source_sha256 for record in base.documents()}
    match kind:
        case "admit":
            grounded = []
            for passage, city in zip(document.passages, (seat, number), strict=True):
                validity = Validity(datetime.date(2026, 1, 1)) if seat == 1 else Validity()
                statement = Statement(
                    f"Firm {number % 2}", "seat", TaxonClass(f"City {city}"), validity=validity
                )
                grounded.append(
                    (
                        statement,
                        Evidence(
                            statement.id,
                            document.source_sha256,
                            document.text_sha256,
                            passage.start,
                            passage.end,
                            document.text[passage.start : passage.end],
                            "test/1",
                        ),
                    )
                )
            base.admit(document, text.encode(), grounded, run="r")
        case "retract" if document.source_sha256 in standing:
            base.retract_document(document.source_sha256)
        case "withdraw":
            for statement_id, _, _ in list(base.every_statement(subject=f"Firm {number % 2}"))[:1]:
                base.retract_statement(statement_id)
        case "erase" if document.source_sha256 in standing:
            base.erase_document(document.source_sha256, run="r")
        case "define":
            pairs = [(f"City {n}", "Place" if n else "City 1") for n in range(3)]
            base.define_dimension(define_taxonomy("seat", [*pairs, ("City 2", f"City {seat % 2}")]))


def rdf_of(base: KnowledgeBase) -> list[list[str]]:
    found = []
    for query in (ALL_QUADS, ALL_TRIPLES):
        rows = json.loads(base.query(query)[1])["results"]["bindings"]
        found.append(sorted(json.dumps(row, sort_keys=True) for row in rows))
    return found


def lattice_of(base: KnowledgeBase) -> dict[str, tuple[str, ...]]:
    places = [f"City {n}" for n in range(4)] + ["Place"]
    return {
        f"{place} {day}": base.meet([Constraint("seat", TaxonClass(place))], valid_on=day)
        for place in places
        for day in (datetime.date(2025, 1, 1), datetime.date(2026, 1, 1), None)
    }


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["admit", "admit", "admit", "retract", "withdraw", "erase", "define", "read"]
        ),
        st.integers(0, 3),
        st.integers(0, 2),
    ),
    min_size=3,
    max_size=12,
)


@settings(max_examples=8)
@given(STEPS)
def test_following_the_log_gives_what_building_anew_gives(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    directory = tmp_path_factory.mktemp("kb")
    with KnowledgeBase.create(directory, namespace=NAMESPACE) as base:
        for step in steps:
            perform(base, step)
            if step[0] == "read":
                base.rdf()
                base.lattice()
                base.search("city", 1)
        base.verify_log()
        followed = (rdf_of(base), lattice_of(base), base.search("City 1 firm", 9))
    shutil.rmtree(directory / "projections", ignore_errors=True)
    with KnowledgeBase.open(directory) as base:
        assert (rdf_of(base), lattice_of(base), base.search("City 1 firm", 9)) == followed


def test_an_rdf_store_left_unfinished_is_loaded_anew(base: KnowledgeBase) -> None:
    perform(base, ("admit", 1, 2))
    expected = rdf_of(base)
    rdf = base.rdf()
    stale = Statement("Firm 9", "seat", Entity("Nowhere"))
    text = "0" * 64
    rdf.add_statement(stale.id, stale, [Evidence(stale.id, text, text, 0, 1, "x", "test/1")])
    rdf.set_revision(0)
    base.close()
    with KnowledgeBase.open(base.directory) as again:
        assert rdf_of(again) == expected


def test_following_again_after_a_crash_changes_nothing(base: KnowledgeBase) -> None:
    for step in (("admit", 1, 2), ("admit", 3, 1), ("retract", 1, 2), ("withdraw", 3, 0)):
        perform(base, step)
    expected = rdf_of(base)
    base.rdf().set_revision(2)
    base.close()
    with KnowledgeBase.open(base.directory) as again:
        assert rdf_of(again) == expected


def test_sparql_sees_each_write(base: KnowledgeBase) -> None:
    query = "ASK { ?firm d:seat ?city }"
    answers = []
    for step in (("read", 0, 0), ("admit", 1, 2), ("retract", 1, 2)):
        perform(base, step)
        answers.append(json.loads(base.query(query)[1])["boolean"])
    assert answers == [False, True, False]


def test_the_lattice_follows_a_dimension_defined_late(base: KnowledgeBase) -> None:
    perform(base, ("admit", 1, 2))
    place = [Constraint("seat", TaxonClass("Place"))]
    assert base.meet(place) == ()
    perform(base, ("define", 0, 0))
    assert base.meet(place) == ("Firm 1",)
    base.define_dimension(Dimension("size", DimensionKind.NUMBER))
    assert base.lattice().coordinate("Firm 1")["seat"]
