"""Dimensions as OWL and back, hierarchies of others, satisfiability."""

from __future__ import annotations

import datetime
import io
from fractions import Fraction

import owlready2  # type: ignore[import-untyped]  # ships no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from poset_strategies import posets

from kb import vocabulary
from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.errors import DimensionRejected, FormatUnavailable, KnowledgeError
from kb.owl import (
    RDF_XML,
    TURTLE,
    check_satisfiability,
    export_dimensions,
    import_dimensions,
    import_taxonomy,
)
from kb.poset import Poset, poset
from kb.quantity import Quantity
from kb.rdf_terms import read_triples
from kb.statement import Entity, Modality, Polarity, Statement, TaxonClass, Validity

NAMESPACE = "https://example.org/"

COVER = define_taxonomy(
    "cover_kind",
    [
        ("liability", "insurance"),
        ("transport", "insurance"),
        ("carrier liability", "liability"),
        ("carrier liability", "transport"),
        ("hull", "transport"),
    ],
    label="Kind of cover",
    functional=True,
    disjoint=[("hull", "liability")],
    alternatives=[("carrier liability", "CMR"), ("hull", "Kasko für Schiffe")],
    equivalents=[("hull", "vessel cover")],
)
# names that are attributes in owlready2's Python classes
OTHERS = (
    Dimension("amount", DimensionKind.QUANTITY, functional=True, unit="EUR"),
    Dimension("label", DimensionKind.TEXT),
    Dimension("name", DimensionKind.ENTITY, inverse="range"),
    Dimension("range", DimensionKind.ENTITY, inverse="elsewhere"),
)


@pytest.mark.parametrize("media_type", [RDF_XML, TURTLE, "application/n-triples"])
def test_dimensions_survive_owl(media_type: str) -> None:
    content = export_dimensions([*OTHERS, COVER], namespace=NAMESPACE, media_type=media_type)
    assert content == export_dimensions(
        [COVER, *reversed(OTHERS)], namespace=NAMESPACE, media_type=media_type
    )
    found = import_dimensions(content, media_type, namespace=NAMESPACE)
    assert found == tuple(sorted([COVER, *OTHERS], key=lambda dimension: dimension.name))


@settings(max_examples=40, deadline=None)
@given(posets(rooted=True), st.data())
def test_every_admitted_taxonomy_survives_owl(order: Poset, data: st.DataObject) -> None:
    apart = [
        (a, b)
        for a in order.elements
        for b in order.elements
        if a < b and not order.leq(a, b) and not order.leq(b, a)
    ]
    dimension = define_taxonomy(
        "kind",
        order.covers,
        elements=order.elements,
        disjoint=data.draw(st.lists(st.sampled_from(apart), max_size=2)) if apart else (),
        allowed_ambiguities=[(a, b) for a, b, _ in order.ambiguous_pairs()],
    )
    content = export_dimensions([dimension], namespace=NAMESPACE, media_type=TURTLE)
    assert import_dimensions(content, TURTLE, namespace=NAMESPACE) == (dimension,)


@settings(max_examples=20, deadline=None)
@given(posets(rooted=True))
def test_another_reader_sees_the_same_order(order: Poset) -> None:
    dimension = define_taxonomy(
        "kind",
        order.covers,
        elements=order.elements,
        allowed_ambiguities=[(a, b) for a, b, _ in order.ambiguous_pairs()],
    )
    content = export_dimensions([dimension], namespace=NAMESPACE)
    world = owlready2.World()
    try:
        ontology = world.get_ontology(NAMESPACE).load(fileobj=io.BytesIO(content))
        for low in order.elements:
            above = {c.name for c in ontology[low].ancestors()} - {"Thing"}
            assert above == set(order.ancestors(low))
    finally:
        world.close()


def test_statements_type_their_entities_by_restrictions() -> None:
    statements = [
        Statement("Nordwind", "cover_kind", TaxonClass("hull")),
        Statement("Südwind", "cover_kind", TaxonClass("hull"), Polarity.DENIED),
        Statement("Ostwind", "cover_kind", TaxonClass("hull"), modality=Modality.HEDGED),
        Statement(
            "Westwind",
            "cover_kind",
            TaxonClass("hull"),
            validity=Validity(None, datetime.date(2026, 1, 1)),
        ),
        Statement("Nordwind", "name", Entity("Acme")),
        Statement("Nordwind", "amount", Quantity(Fraction(5), "EUR")),
        Statement("Nordwind", "unheard_of", Entity("Acme")),
    ]
    content = export_dimensions(
        [COVER, *OTHERS],
        namespace=NAMESPACE,
        media_type=TURTLE,
        statements=statements,
        valid_on=datetime.date(2026, 6, 1),
    )
    triples = read_triples(content, TURTLE)
    types = {
        t.subject: t.object
        for t in triples
        if t.predicate == vocabulary.RDF + "type" and t.kind == "blank"
    }
    some = {
        t.subject: t.object for t in triples if t.predicate == vocabulary.OWL + "someValuesFrom"
    }
    complement = {
        t.subject: t.object for t in triples if t.predicate == vocabulary.OWL + "complementOf"
    }
    assert some[types[NAMESPACE + "Nordwind"]] == NAMESPACE + "hull"
    assert some[complement[types[NAMESPACE + "S%C3%BCdwind"]]] == NAMESPACE + "hull"
    assert sorted(types) == [NAMESPACE + "Nordwind", NAMESPACE + "S%C3%BCdwind"]
    assert [t.object for t in triples if t.predicate == NAMESPACE + "dimension/name"] == [
        NAMESPACE + "Acme"
    ]
    assert b"unheard_of" not in content
    assert import_dimensions(content, TURTLE, namespace=NAMESPACE)[0] == OTHERS[0]


def test_hermit_finds_what_cannot_be_true_together() -> None:
    def check(*statements: Statement) -> bool:
        return check_satisfiability(
            [COVER, *OTHERS], namespace=NAMESPACE, statements=statements
        ).consistent

    carrier = Statement("Nordwind", "cover_kind", TaxonClass("carrier liability"))
    amount = Statement("Nordwind", "amount", Quantity(Fraction(5), "EUR"))
    assert check(carrier, amount, Statement("Nordwind", "name", Entity("Acme")))
    assert not check(carrier, Statement("Nordwind", "cover_kind", TaxonClass("hull")))
    acme = Statement("Nordwind", "name", Entity("Acme"))
    denied = Statement("Nordwind", "name", Entity("Acme"), Polarity.DENIED)
    assert check(carrier, denied)
    assert not check(acme, denied)
    assert not check(
        carrier, Statement("Nordwind", "cover_kind", TaxonClass("insurance"), Polarity.DENIED)
    )


def test_hermit_names_the_classes_that_can_have_no_member() -> None:
    broken = define_taxonomy(
        "kind",
        [("a b", "left"), ("a b", "right"), ("left", "top"), ("right", "top"), ("c", "left")],
        disjoint=[("left", "right")],
    )
    found = check_satisfiability([broken], namespace=NAMESPACE)
    assert (found.consistent, found.unsatisfiable) == (True, ("a b",))
    with pytest.raises(KnowledgeError, match=r"longer than 0\.01 s"):
        check_satisfiability([broken], namespace=NAMESPACE, seconds=0.01)


SKOS = b"""
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <https://else.example/t/> .
:scheme a skos:ConceptScheme ; skos:hasTopConcept :1 .
:1 a skos:Concept ; skos:prefLabel "Versicherung"@de , "insurance"@en ; skos:topConceptOf :scheme .
:2 a skos:Concept ; skos:prefLabel "liability"@en ; skos:broader :1 .
:2 skos:altLabel "third party"@en .
:3 skos:prefLabel "hull"@en .
:1 skos:narrower :3 .
:4 skos:broader :3 .
"""


def test_skos_concepts_are_a_taxonomy() -> None:
    dimension = import_taxonomy(SKOS, TURTLE, name="kind", languages=["en"]).dimension
    assert dimension.taxonomy == poset(
        [("liability", "insurance"), ("hull", "insurance"), ("4", "hull")]
    )
    assert dimension.alternatives == (("insurance", "Versicherung"), ("liability", "third party"))
    german = import_taxonomy(SKOS, TURTLE, name="kind", languages=["de", "en"]).dimension
    assert german.root == "Versicherung"


OWL = b"""
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <https://else.example/t#> .
<https://else.example/t> a owl:Ontology ; owl:imports <http://127.0.0.1:9/never-fetched> .
:range a owl:ObjectProperty .
:Car a owl:Class ; rdfs:subClassOf :Vehicle , owl:Thing , [ a owl:Restriction ;
    owl:onProperty :range ; owl:someValuesFrom :Road ] .
:Boat a owl:Class ; rdfs:subClassOf :Vehicle ; owl:equivalentClass :Vessel .
:Vessel a owl:Class .
:Amphibian a owl:Class ; owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :Car :Boat ) ] .
:Bike a owl:Class ; rdfs:subClassOf :Vehicle .
:Sled a owl:Class ; rdfs:subClassOf :Vehicle .
[] a owl:AllDisjointClasses ; owl:members ( :Bike :Sled :Car ) .
:Road a owl:Class .
:Way a owl:Class ; owl:equivalentClass [ owl:unionOf ( :Road :Canal ) ] .
:Canal owl:disjointUnionOf ( :ShipCanal :Ditch ) .
:Ditch owl:disjointWith :Road .
"""


def test_owl_of_others_is_read_without_fetching() -> None:
    dimension = import_taxonomy(OWL, TURTLE, name="thing", root="Thing").dimension
    assert dimension.taxonomy == poset(
        [
            ("Car", "Vehicle"),
            ("Boat", "Vehicle"),
            ("Bike", "Vehicle"),
            ("Sled", "Vehicle"),
            ("Amphibian", "Car"),
            ("Amphibian", "Boat"),
            ("Road", "Way"),
            ("Canal", "Way"),
            ("ShipCanal", "Canal"),
            ("Ditch", "Canal"),
            ("Vehicle", "Thing"),
            ("Way", "Thing"),
        ]
    )
    assert dimension.disjoint == (
        ("Bike", "Car"),
        ("Bike", "Sled"),
        ("Car", "Sled"),
        ("Ditch", "Road"),
        ("Ditch", "ShipCanal"),
    )
    assert dimension.equivalents == (("Boat", "Vessel"),)


def test_what_an_order_of_classes_cannot_hold_is_told() -> None:
    more = b"""
    :Truck rdfs:subClassOf :Car , [ a owl:Restriction ; owl:onProperty :range ;
      owl:someValuesFrom :Road ] , [ owl:onProperty :range ; owl:someValuesFrom :Way ] .
    :Lorry owl:equivalentClass [ owl:intersectionOf ( :Truck
      [ owl:onProperty :load ; owl:minCardinality 2 ] ) ] ; owl:disjointWith [ owl:oneOf ( :a ) ] .
    :Cart owl:equivalentClass [ owl:unionOf ( :Bike [ owl:complementOf :Car ] ) ] .
    :Kit rdfs:subClassOf [ owl:unionOf ( :Bike :Sled ) ] .
    [ owl:onProperty :range ; owl:hasValue :b ] rdfs:subClassOf :Vehicle .
    """
    imported = import_taxonomy(OWL + more, TURTLE, name="thing", root="Thing")
    assert [(each.reason, each.count, each.classes) for each in imported.left_aside] == [
        ("subclass of a restriction on range (someValuesFrom)", 3, ("Car", "Truck")),
        ("an axiom about a restriction on range (hasValue)", 1, ()),
        ("disjoint with an enumeration", 1, ("Lorry",)),
        ("equivalent to a complement", 1, ("Cart",)),
        ("equivalent to a restriction on load (minCardinality)", 1, ("Lorry",)),
        ("subclass of a union", 1, ("Kit",)),
        ("what <http://127.0.0.1:9/never-fetched> says, which is not fetched", 1, ()),
    ]
    order = imported.dimension.taxonomy
    assert order is not None
    assert order.parents("Kit") == order.parents("Cart") == ("Thing",)
    assert not any(label.startswith("_:") for label in order.elements)


def test_what_is_kept_whole_leaves_nothing_aside() -> None:
    kept = OWL.replace(b"owl:imports <http://127.0.0.1:9/never-fetched>", b"rdfs:label 't'")
    kept = kept.replace(
        b", [ a owl:Restriction ;\n    owl:onProperty :range ; owl:someValuesFrom :Road ]", b""
    )
    assert import_taxonomy(kept, TURTLE, name="thing", root="Thing").left_aside == ()
    assert import_taxonomy(SKOS, TURTLE, name="kind").left_aside == ()


def test_problems_of_an_import_are_told_together() -> None:
    with pytest.raises(DimensionRejected, match=r"nothing is broader than 'Vehicle', 'Way'"):
        import_taxonomy(OWL, TURTLE, name="thing")
    cyclic = OWL + b":Vehicle rdfs:subClassOf :Car . :x rdfs:label 'Sled' ; rdfs:subClassOf :Car ."
    with pytest.raises(DimensionRejected, match="both labelled 'Sled'"):
        import_taxonomy(cyclic, TURTLE, name="thing")
    with pytest.raises(DimensionRejected, match=r"'Car', 'Vehicle' lie on a cycle.*no root"):
        import_taxonomy(OWL + b":Vehicle rdfs:subClassOf :Car .", TURTLE, name="thing")


def test_content_that_is_not_ours_or_not_rdf_is_rejected() -> None:
    with pytest.raises(KnowledgeError, match="the content is not text/turtle"):
        import_dimensions(b"<", TURTLE, namespace=NAMESPACE)
    with pytest.raises(FormatUnavailable, match="text/turtle"):
        import_dimensions(b"", "text/html", namespace=NAMESPACE)
    with pytest.raises(FormatUnavailable):
        export_dimensions([COVER], namespace=NAMESPACE, media_type="text/html")
    bare = b"<https://example.org/dimension/d> a <http://www.w3.org/2002/07/owl#ObjectProperty> ."
    with pytest.raises(DimensionRejected, match="0 kinds"):
        import_dimensions(bare, TURTLE, namespace=NAMESPACE)
    rootless = bare + b"<https://example.org/dimension/d> <%skind> 'taxonomic' ." % (
        vocabulary.PROOFWEAVE.encode()
    )
    with pytest.raises(DimensionRejected, match="0 ranges"):
        import_dimensions(rootless, TURTLE, namespace=NAMESPACE)
    assert import_dimensions(OWL, TURTLE, namespace=NAMESPACE) == ()
