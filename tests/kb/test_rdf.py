"""RDF projection: what a plain query may and may not read."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator

import pytest

from kb.rdf import RdfProjection
from kb.statement import Entity, Evidence, Modality, Polarity, Statement, Validity

NAMESPACE = "https://example.org/"
SOURCE = "ab" * 32


def evidence(
    statement: Statement, start: int = 0, quote: str = "Nordwind insures Acme."
) -> Evidence:
    return Evidence(
        statement.id, SOURCE, "cd" * 32, start, start + len(quote), quote, extractor="test/1"
    )


@pytest.fixture
def projection() -> Iterator[RdfProjection]:
    with RdfProjection(None, NAMESPACE, workers=1) as made:
        yield made


def rows(projection: RdfProjection, query: str) -> list[dict[str, str]]:
    media_type, content = projection.query(query)
    assert media_type == "application/sparql-results+json"
    return [
        {name: term["value"] for name, term in row.items()}
        for row in json.loads(content)["results"]["bindings"]
    ]


def add(projection: RdfProjection, statement: Statement, *starts: int) -> None:
    projection.add_statement(
        statement.id, statement, [evidence(statement, start) for start in starts or (0,)]
    )


def test_a_fact_stated_twice_counts_once_and_has_two_graphs(projection: RdfProjection) -> None:
    add(projection, Statement("Nordwind", "insures", Entity("Acme")), 0, 100)
    assert rows(projection, "SELECT (COUNT(*) AS ?n) { ?x d:insures ?y }") == [{"n": "1"}]
    spans = rows(
        projection, "SELECT ?g ?q { GRAPH ?g { e:Nordwind d:insures e:Acme } ?g pw:quote ?q }"
    )
    assert [row["g"].rpartition("#")[2] for row in spans] == ["char=0,22", "char=100,122"]
    assert {row["q"] for row in spans} == {"Nordwind insures Acme."}


@pytest.mark.parametrize(
    ("polarity", "modality"),
    [
        (polarity, modality)
        for polarity in Polarity
        for modality in Modality
        if (polarity, modality) != (Polarity.AFFIRMED, Modality.ASSERTED)
    ],
)
def test_only_asserted_affirmed_statements_are_triples(
    projection: RdfProjection, polarity: Polarity, modality: Modality
) -> None:
    add(projection, Statement("Nordwind", "insures", Entity("Acme"), polarity, modality))
    assert rows(projection, "SELECT * { e:Nordwind ?p ?o }") == []
    [node] = rows(
        projection,
        "SELECT ?polarity ?modality { ?n a pw:Statement ; rdf:subject e:Nordwind ; "
        "pw:polarity ?polarity ; pw:modality ?modality }",
    )
    assert node == {"polarity": polarity.value, "modality": modality.value}


def test_removing_one_of_two_statements_that_share_a_triple_keeps_it(
    projection: RdfProjection,
) -> None:
    always = Statement("Nordwind", "insures", Entity("Acme"))
    bounded = Statement(
        "Nordwind", "insures", Entity("Acme"), validity=Validity(datetime.date(2026, 1, 1))
    )
    ask = "SELECT * { e:Nordwind d:insures ?y }"
    before = len(projection)
    for first, second in ((always, bounded), (bounded, always)):
        add(projection, first)
        add(projection, second)
        projection.remove_statement(first.id, first, [evidence(first)])
        assert rows(projection, ask) == [{"y": "https://example.org/Acme"}]
        projection.remove_statement(second.id, second, [evidence(second)])
        assert rows(projection, ask) == []
    assert len(projection) == before + 1  # who read the source is remembered
