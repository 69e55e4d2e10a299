"""RDF projection: what a plain query may and may not read."""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.document import Document
from kb.errors import KnowledgeError, QueryOverBudget, QueryRejected
from kb.quantity import Quantity, parse_date
from kb.query_budget import QueryBudget
from kb.rdf import RdfProjection
from kb.rdf_terms import term, value_of
from kb.statement import (
    Entity,
    Evidence,
    Modality,
    Polarity,
    Statement,
    TaxonClass,
    Text,
    Validity,
    Value,
)

NAMESPACE = "https://example.org/"
SOURCE = "ab" * 32


def evidence(statement: Statement, start: int = 0, extractor: str = "test/1") -> Evidence:
    quote = "Nordwind insures Acme."
    return Evidence(statement.id, SOURCE, "cd" * 32, start, start + len(quote), quote, extractor)


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
    for first, second in ((always, bounded), (bounded, always)):
        for reader in ("table/1", "test/1"):
            for statement in (first, second):
                item = evidence(statement, extractor=reader)
                projection.add_statement(statement.id, statement, [item])
            projection.remove_statement(first.id, first, [evidence(first, extractor=reader)])
            assert rows(projection, ask) == [{"y": "https://example.org/Acme"}]
            projection.remove_statement(second.id, second, [evidence(second, extractor=reader)])
            assert projection.n_quads() == b""


VALUES: list[Value] = [
    Entity("Acme"),
    Entity("Müller & Söhne"),
    Text('Two\nlines, "quoted"\t'),
    Fraction(12),
    Fraction(-1, 20),
    Fraction(1, 3),
    Quantity(Fraction(5_000_000), "EUR"),
    parse_date("1952"),
    parse_date("1952-03"),
    parse_date("1952-03-04"),
    parse_date("1952-03-04/1953-01-01"),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_value_survives_its_term(value: Value) -> None:
    assert value_of(NAMESPACE, term(NAMESPACE, value)) == value


def test_values_come_back_in_every_format(projection: RdfProjection) -> None:
    for place, value in enumerate(VALUES):
        add(projection, Statement("Nordwind", "has", value), 100 * place)
    query = "SELECT ?v { e:Nordwind d:has ?v } ORDER BY STR(?v)"
    _, as_json = projection.query(query)
    expected = [row["v"]["value"] for row in json.loads(as_json)["results"]["bindings"]]
    assert len(expected) == len(VALUES)
    _, as_csv = projection.query(query, "text/csv")
    assert [row[0] for row in list(csv.reader(io.StringIO(as_csv.decode())))[1:]] == expected
    _, as_xml = projection.query(query, "application/sparql-results+xml")
    results = ElementTree.fromstring(as_xml).iter("{http://www.w3.org/2005/sparql-results#}binding")
    assert [binding[0].text for binding in results] == expected
    _, as_tsv = projection.query(query, "text/tab-separated-values")
    assert len(as_tsv.decode().splitlines()) == len(VALUES) + 1


def test_exact_values_can_be_compared_in_queries(projection: RdfProjection) -> None:
    add(projection, Statement("Nordwind", "cover", Quantity(Fraction(5_000_000), "EUR")))
    add(projection, Statement("Südwind", "cover", Quantity(Fraction(1, 2), "EUR")), 100)
    add(projection, Statement("Nordwind", "founded", parse_date("1952-03")), 200)
    assert rows(
        projection,
        "SELECT (pw:name(?x) AS ?n) { ?x d:cover ?c "
        "FILTER(pw:unit(?c) = 'EUR' && pw:magnitude(?c) >= 1000000) }",
    ) == [{"n": "Nordwind"}]
    assert rows(
        projection, "SELECT (pw:firstDay(?d) AS ?a) (pw:lastDay(?d) AS ?z) { ?x d:founded ?d }"
    ) == [{"a": "1952-03-01", "z": "1952-03-31"}]
    assert rows(projection, "SELECT (pw:name(3) AS ?n) (pw:unit('x') AS ?u) {}") == [{}]


def test_a_quote_leads_to_its_document(projection: RdfProjection) -> None:
    projection.add_document(
        Document(SOURCE, "letter.txt", "A letter", "text/plain", "text/1", "Nordwind ...", ())
    )
    add(projection, Statement("Nordwind", "insures", Entity("Acme")))
    assert rows(
        projection,
        """SELECT ?title ?reader ?quote {
          GRAPH ?span { e:Nordwind d:insures e:Acme } ?span pw:quote ?quote
          BIND(pw:document(?span) AS ?document)
          ?document dcterms:title ?title .
          ?n rdf:subject e:Nordwind ; pw:statedIn ?span ; prov:wasGeneratedBy ?reading .
          ?reading prov:used ?document ; pw:extractor ?reader }""",
    ) == [{"title": "A letter", "reader": "test/1", "quote": "Nordwind insures Acme."}]
    assert rows(projection, "SELECT ?x { e:Nordwind d:insures ?x . ?d dcterms:title ?t }") != []


def test_a_taxonomy_is_walked_by_broader(projection: RdfProjection) -> None:
    kinds = define_taxonomy(
        "cover_kind",
        [("carrier liability", "liability"), ("liability", "insurance"), ("hull", "insurance")],
        alternatives=[("hull", "casco")],
        disjoint=[("hull", "liability")],
    )
    projection.add_dimension(kinds)
    add(projection, Statement("Nordwind", "cover_kind", TaxonClass("carrier liability")))
    add(projection, Statement("Südwind", "cover_kind", TaxonClass("hull")), 100)
    under = "SELECT (pw:name(?x) AS ?n) {{ ?x d:cover_kind ?v . ?v skos:broader* {} }}"
    assert rows(projection, under.format("e:liability")) == [{"n": "Nordwind"}]
    assert len(rows(projection, under.format("e:insurance"))) == 2
    assert rows(
        projection, "SELECT ?l { ?c skos:altLabel 'casco' ; owl:disjointWith/skos:prefLabel ?l }"
    ) == [{"l": "liability"}]
    projection.add_dimension(define_taxonomy("cover_kind", [("hull", "insurance")]))
    assert rows(projection, under.format("e:liability")) == []
    assert len(rows(projection, under.format("e:insurance"))) == 1


def test_subclass_statements_are_broader_too(projection: RdfProjection) -> None:
    add(projection, Statement("hull", "subclass_of", TaxonClass("insurance")))
    add(projection, Statement("Südwind", "cover_kind", TaxonClass("hull")), 100)
    assert rows(projection, "SELECT ?x { ?x d:cover_kind/skos:broader e:insurance }") == [
        {"x": "https://example.org/S%C3%BCdwind"}
    ]


@st.composite
def grounded(draw: st.DrawFn) -> tuple[Statement, int, str]:
    statement = Statement(
        draw(st.sampled_from(["Nordwind", "Südwind"])),
        draw(st.sampled_from(["insures", "same_as"])),
        Entity("Acme"),
        draw(st.sampled_from([Polarity.AFFIRMED, Polarity.AFFIRMED, Polarity.DENIED])),
        validity=draw(
            st.sampled_from([Validity(), Validity(), Validity(datetime.date(2026, 1, 1))])
        ),
    )
    return (
        statement,
        draw(st.sampled_from([0, 100])),
        draw(st.sampled_from(["table/1", "test/1"])),
    )


def test_replaying_ends_where_what_is_left_would_begin() -> None:
    with RdfProjection(None, NAMESPACE) as replayed, RdfProjection(None, NAMESPACE) as fresh:

        @settings(max_examples=60, deadline=None)
        @given(st.lists(st.tuples(grounded(), st.booleans()), max_size=9), st.booleans())
        def check(events: list[tuple[tuple[Statement, int, str], bool]], in_bulk: bool) -> None:
            left: dict[tuple[Statement, int], str] = {}
            for (statement, start, reader), comes in events:
                known = left.get((statement, start), reader)
                item = (statement.id, statement, [evidence(statement, start, known)])
                if not comes:
                    replayed.remove_statement(*item)
                    left.pop((statement, start), None)
                    continue
                left[statement, start] = known
                if in_bulk:
                    replayed.add_statements([item, item])
                else:
                    replayed.add_statement(*item)
            fresh.add_statements(
                (statement.id, statement, [evidence(statement, start, reader)])
                for (statement, start), reader in left.items()
            )
            assert replayed.n_quads() == fresh.n_quads()
            for projection in (replayed, fresh):
                projection.remove_document(SOURCE)
                assert projection.n_quads() == b""

        check()


def test_many_at_once_are_as_one_by_one() -> None:
    values: list[Value] = [
        Entity('a "quoted\\" name'),
        TaxonClass("Ü/ü"),
        Text('tab\t "q" \\ \n\r end'),
        Fraction(1, 3),
        Quantity(Fraction(5), "EUR"),
        parse_date("1952"),
    ]
    items: list[tuple[str, Statement, list[Evidence]]] = []
    for place in range(700):
        statement = Statement(
            ("http://a.example/x#y", "Nordwind\nOst", "doc:" + SOURCE)[place % 3],
            ("insures", "same_as", "subclass_of")[place % 7 % 3],
            values[place % 6],
            Polarity.DENIED if place % 11 == 0 else Polarity.AFFIRMED,
            validity=Validity(datetime.date(2026, 1, 1)) if place % 13 == 0 else Validity(),
        )
        found = []
        for start in {10 * (place % 50), 10 * (place % 49)}:
            quote = 'a "b" \\ \n\r\t\x0b'
            reader = "table/1" if (place + start) % 5 else "test/1"
            found.append(
                Evidence(statement.id, SOURCE, "cd" * 32, start, start + 12, quote, reader)
            )
        items.append((statement.id, statement, found))
    with RdfProjection(None, NAMESPACE) as many, RdfProjection(None, NAMESPACE) as single:
        many.add_statements(items)
        for item in items:
            single.add_statement(*item)
        assert many.n_quads() == single.n_quads()
        for item in items[::2]:
            many.remove_statement(*item)
            single.remove_statement(*item)
        assert many.n_quads() == single.n_quads()


def test_bulk_costs_three_quads_per_statement(projection: RdfProjection) -> None:
    def row(place: int) -> tuple[str, Statement, list[Evidence]]:
        statement = Statement(f"F{place}", "insures", Entity(f"E{place}"))
        return statement.id, statement, [evidence(statement, 100 * place, "table/1")]

    count = 50_001  # more than one batch
    assert projection.add_statements(row(place) for place in range(count)) == count
    assert len(projection) == 3 * count


def test_removing_a_document_leaves_only_the_others(projection: RdfProjection) -> None:
    other = "ef" * 32
    shared = Statement("Nordwind", "insures", Entity("Acme"))
    denied = Statement("Nordwind", "insures", Entity("Else"), Polarity.DENIED)
    elsewhere = Evidence(shared.id, other, other, 0, 3, "Yes", "test/1")
    projection.add_statement(shared.id, shared, [elsewhere])
    about = Statement(f"doc:{SOURCE}", "issuer", Entity("Registry"), Polarity.DENIED)
    projection.add_statement(
        about.id, about, [Evidence(about.id, other, other, 5, 8, "Not", "test/1")]
    )
    before = projection.n_quads()
    projection.add_document(
        Document(SOURCE, "letter.txt", "A letter", "text/plain", "text/1", "Nordwind ...", ())
    )
    add(projection, shared)
    add(projection, denied, 100)
    projection.remove_document(SOURCE)
    assert projection.n_quads() == before


def test_evidence_is_removed_source_by_source(projection: RdfProjection) -> None:
    statement = Statement("Nordwind", "insures", Entity("Acme"))
    here = evidence(statement)
    other = Evidence(statement.id, "ef" * 32, "cd" * 32, 0, 3, "Yes", "test/1")
    projection.add_statement(statement.id, statement, [other])
    before = projection.n_quads()
    projection.add_statement(statement.id, statement, [here])
    projection.remove_statement(statement.id, statement, [here])
    assert projection.n_quads() == before
    projection.remove_statement(statement.id, statement, [other])
    assert projection.n_quads() == b""


def test_dimensions_of_every_kind_are_described(projection: RdfProjection) -> None:
    projection.add_dimension(
        Dimension("cover", DimensionKind.QUANTITY, label="Cover", functional=True, unit="EUR")
    )
    projection.add_dimension(Dimension("insures", DimensionKind.ENTITY, inverse="insured_by"))
    assert rows(
        projection,
        "SELECT ?d ?l ?u { ?d a owl:FunctionalProperty ; rdfs:label ?l ; pw:unit ?u }",
    ) == [{"d": f"{NAMESPACE}dimension/cover", "l": "Cover", "u": "EUR"}]
    assert rows(
        projection, "SELECT ?i { d:insures a owl:ObjectProperty ; owl:inverseOf ?i ; pw:kind ?k }"
    ) == [{"i": f"{NAMESPACE}dimension/insured_by"}]


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    statement = Statement("Nordwind", "insures", Entity("Acme"))
    with RdfProjection(tmp_path / "rdf", NAMESPACE) as projection:
        assert projection.revision == 0
        add(projection, statement)
        projection.set_revision(7)
        written = projection.n_quads()
        with pytest.raises(KnowledgeError, match="no other process"):
            RdfProjection(tmp_path / "rdf", NAMESPACE)
    with RdfProjection(tmp_path / "rdf", NAMESPACE) as projection:
        assert projection.revision == 7
        assert projection.n_quads() == written
        assert rows(projection, "SELECT ?y { e:Nordwind d:insures ?y }")


def test_rows_come_sorted_unless_the_query_orders_them(projection: RdfProjection) -> None:
    for place, name in enumerate("cabd"):
        add(projection, Statement("Nordwind", "insures", Entity(name)), 100 * place)
    names = "SELECT (pw:name(?y) AS ?n) { e:Nordwind d:insures ?y }"
    assert [row["n"] for row in rows(projection, names)] == list("abcd")
    assert [row["n"] for row in rows(projection, names + " ORDER BY DESC(?y)")] == list("dcba")


@pytest.mark.parametrize(
    ("query", "budget", "says"),
    [
        ("SELECT * { ?s ?p ?o }", QueryBudget(rows=3), "3 rows"),
        ("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", QueryBudget(rows=3), "3 rows"),
        ("SELECT * { ?s ?p ?o }", QueryBudget(bytes=30), "30 bytes"),
        ("SELECT * { ?s ?p ?o }", QueryBudget(milliseconds=0), "0 ms"),
    ],
)
def test_a_query_past_its_budget_says_so(
    projection: RdfProjection, query: str, budget: QueryBudget, says: str
) -> None:
    add(projection, Statement("Nordwind", "insures", Entity("Acme")), 0, 100)
    with pytest.raises(QueryOverBudget, match=says):
        projection.query(query, budget=budget)
    assert rows(projection, "SELECT ?y { e:Nordwind d:insures ?y }")


def test_a_query_that_eats_memory_ends_its_worker_alone(projection: RdfProjection) -> None:
    for place in range(40):
        add(projection, Statement("Nordwind", "insures", Entity(f"E{place}")), 100 * place)
    hungry = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?a"
    with pytest.raises(QueryOverBudget, match="at most 200 MiB"):
        projection.query(hungry, budget=QueryBudget(memory=200 * 1024 * 1024))
    assert len(rows(projection, "SELECT ?y { e:Nordwind d:insures ?y }")) == 40


def test_many_threads_may_ask_while_one_writes(projection: RdfProjection) -> None:
    def ask(_: int) -> int:
        return len(rows(projection, "SELECT ?y { e:Nordwind d:insures ?y }"))

    with ThreadPoolExecutor(8) as pool:
        counts = []
        for place in range(12):
            add(projection, Statement("Nordwind", "insures", Entity(f"E{place}")), 100 * place)
            counts.append(pool.submit(ask, place))
        found = [count.result() for count in counts]
    assert all(place < count <= 12 for place, count in enumerate(found))


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT * { ?s ?p", "cannot be read: error at 1:17: expected one of"),
        ("SELECT * { ?s a none:x }", "the prefix of this name is not declared"),
        ("SELECT \ud800", "cannot be read"),
    ],
)
def test_an_unreadable_query_is_rejected_in_one_short_line(
    projection: RdfProjection, query: str, says: str
) -> None:
    with pytest.raises(QueryRejected, match=says) as rejected:
        projection.query(query)
    assert len(str(rejected.value)) < 150
    assert "\n" not in str(rejected.value)
