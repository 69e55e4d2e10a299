"""A query that names a dimension or a graph which nothing has is doubted, and no other is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kb.dimension import Dimension, DimensionKind
from kb.query_budget import QueryOptions
from kb.rdf import RdfProjection
from kb.statement import Entity, Evidence, Polarity, Statement

NAMESPACE = "https://example.org/kb/"


@pytest.fixture(scope="module")
def projection() -> Iterator[RdfProjection]:
    with RdfProjection(None, NAMESPACE, workers=1) as made:
        made.add_dimension(Dimension("liability_cover", DimensionKind.QUANTITY))
        made.add_dimension(Dimension("registered_country", DimensionKind.ENTITY))
        state(made, Statement("Acme", "bank", Entity("Mainbank")), 0)
        denied = Statement("Acme", "insured_by", Entity("Nobody"), polarity=Polarity.DENIED)
        state(made, denied, 100)
        yield made


def state(projection: RdfProjection, statement: Statement, start: int) -> None:
    evidence = Evidence(statement.id, "ab" * 32, "cd" * 32, start, start + 2, "it", "test/1")
    projection.add_statement(statement.id, statement, [evidence])


def doubts(
    projection: RdfProjection,
    query: str,
    default: tuple[str, ...] = (),
    named: tuple[str, ...] = (),
) -> list[str]:
    told: list[str] = []
    projection.query(query, options=QueryOptions(default, named, warn=told.append))
    return told


MISSPELT = (
    "no statement has the dimension liability_covr, and none is defined; "
    "the nearest: liability_cover"
)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?s d:liability_covr ?o }",
        "SELECT * { ?s d:liability_cover ?o ; d:liability_covr ?p ; d:liability_covr ?q }",
        "PREFIX x: <https://example.org/kb/dimension/> SELECT * { ?s x:liability_covr ?o }",
        "ASK { ?s <https://example.org/kb/dimension/liability_covr> ?o }",
        "SELECT * { ?s d:liability_cover|d:liability_covr ?o }",
        "SELECT * { ?s d:liability_covr+ ?o } # d:other",
        "SELECT * { ?s ?p ?o FILTER(?p = d:liability_covr && ?o != 'd:other') }",
        "CONSTRUCT WHERE { ?s d:liability_covr ?o }",
    ],
)
def test_a_misspelt_dimension_is_told_once_with_the_nearest(
    projection: RdfProjection, query: str
) -> None:
    assert doubts(projection, query) == [MISSPELT]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?s d:liability_cover ?o }",  # defined, and stated of nothing
        "SELECT * { ?s d:bank ?o }",  # stated, and not defined
        "SELECT * { ?s <https://example.org/kb/dimension/insured_by> ?o }",  # only denied
        "SELECT * { ?s rdf:predicate d:insured_by }",
        "SELECT * { ?s ?p 'd:liability_covr' } # d:liability_covr",
        "PREFIX d: <http://other.example/> SELECT * { ?s d:liability_covr ?o }",
        "PREFIX x: <https://example.org/kb/dimension/> SELECT * { ?s x:bank ?o }",
        "SELECT * { ?s e:d:liability_covr ?o }",
        "SELECT * { ?s <http://other.example/dimension/x> ?o }",
        "SELECT * { GRAPH ?g { ?s ?p ?o } }",
        "SELECT * { GRAPH pw:meta { ?s ?p ?o } GRAPH pw:verdicts { ?a ?b ?c } }",
        "SELECT * { GRAPH d:liability_cover { ?s ?p ?o } }",
        "SELECT * FROM pw:meta FROM NAMED <https://w3id.org/proofweave/ns#meta> { ?s ?p ?o }",
        "BASE <https://example.org/kb/none> SELECT * { ?s ?p ?o }",
    ],
)
def test_what_is_there_and_what_is_not_ours_is_not_doubted(
    projection: RdfProjection, query: str
) -> None:
    assert doubts(projection, query) == []


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { GRAPH <urn:x:none> { ?s ?p ?o } }",
        "PREFIX x: <urn:x:> SELECT * { GRAPH x:none { ?s ?p ?o } }",
        "SELECT * FROM <urn:x:none> { ?s ?p ?o }",
        "SELECT * FROM NAMED <urn:x:none> { GRAPH ?g { ?s ?p ?o } }",
    ],
)
def test_a_graph_that_is_not_there_is_told(projection: RdfProjection, query: str) -> None:
    expected = ["there is no graph <urn:x:none>, so nothing is found in it"]
    assert doubts(projection, query) == expected


def test_graphs_of_the_request_are_doubted_too(projection: RdfProjection) -> None:
    told = doubts(projection, "ASK { ?s ?p ?o }", ("urn:x:a",), ("urn:x:b",))
    assert [each.split(",")[0] for each in told] == [
        "there is no graph <urn:x:a>",
        "there is no graph <urn:x:b>",
    ]


def test_a_dimension_that_came_meanwhile_is_doubted_no_more() -> None:
    with RdfProjection(None, NAMESPACE, workers=1) as projection:
        query = "SELECT * { ?s d:bank ?o }"
        statement = Statement("Acme", "bank", Entity("Mainbank"))
        assert len(doubts(projection, query)) == 1
        state(projection, statement, 0)
        assert doubts(projection, query) == []
        evidence = Evidence(statement.id, "ab" * 32, "cd" * 32, 0, 2, "it", "test/1")
        projection.remove_statement(statement.id, statement, [evidence])
        assert len(doubts(projection, query)) == 1
