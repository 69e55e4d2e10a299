"""Formal concepts, against their definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from kb.concepts import Context, context_of, find_concepts
from kb.constraint import Constraint
from kb.dimension import define_taxonomy, value_label
from kb.lattice import LatticeIndex
from kb.statement import Entity, Statement, TaxonClass

ATTRIBUTES = tuple(Constraint("d", Fraction(i)) for i in range(5))


@given(st.integers(0, 5), st.lists(st.integers(0, 31), min_size=5, max_size=5))
def test_concepts_are_the_closed_pairs(count: int, columns: list[int]) -> None:
    everyone = (1 << count) - 1
    context = Context(
        tuple("abcde"[:count]), ATTRIBUTES, tuple(column & everyone for column in columns)
    )
    satisfied = {
        attribute: {name for i, name in enumerate(context.instances) if extent >> i & 1}
        for attribute, extent in zip(context.attributes, context.extents, strict=True)
    }
    expected = set()
    for size in range(len(ATTRIBUTES) + 1):
        for chosen in combinations(ATTRIBUTES, size):
            extent = set(context.instances).intersection(*(satisfied[a] for a in chosen))
            intent = [a for a in ATTRIBUTES if extent <= satisfied[a]]
            expected.add((tuple(sorted(extent)), tuple(intent)))
    found = find_concepts(context)
    assert found.complete
    assert len(found.concepts) == len(expected)
    assert {(concept.extent, concept.intent) for concept in found.concepts} == expected
    sizes = [len(concept.extent) for concept in found.concepts]
    assert sizes == sorted(sizes, reverse=True)
    cut = find_concepts(context, limit=1)
    assert (len(cut.concepts), cut.complete) == (1, len(expected) == 1)


def test_concepts_span_dimensions_and_their_hierarchy() -> None:
    kinds = define_taxonomy("kind", [("truck", "vehicle"), ("ship", "vehicle")])
    index = LatticeIndex([kinds])
    for name, kind, owner in (("a", "truck", "X"), ("b", "ship", "X"), ("c", "ship", "Y")):
        for statement in (
            Statement(name, "kind", TaxonClass(kind)),
            Statement(name, "owner", Entity(owner)),
        ):
            index.add(statement)
    found = find_concepts(context_of(index, ["owner", "kind"]))
    shared = {
        concept.extent: {f"{item.dimension} {value_label(item.value)}" for item in concept.intent}
        for concept in found.concepts
    }
    assert shared["a", "b", "c"] == {"kind vehicle"}
    assert shared["a", "b"] == {"kind vehicle", "owner X"}
    assert shared["b", "c"] == {"kind vehicle", "kind ship"}
    assert shared["b",] == {"kind vehicle", "kind ship", "owner X"}
    assert len(shared) == len(found.concepts) == 7


COUNTRY = define_taxonomy("country", [("France", "EU"), ("Spain", "EU"), ("EU", "world")])
names = st.sampled_from("abcd")
stated = st.one_of(
    st.builds(lambda x, y: Statement(x, "owner", Entity(y)), names, names),
    st.builds(
        lambda x, label: Statement(x, "country", TaxonClass(label)),
        names,
        st.sampled_from(["France", "Spain", "EU"]),
    ),
)


@given(st.lists(stated, max_size=10))
def test_a_cross_reference_holds_of_those_whose_value_it_holds_of(known: list[Statement]) -> None:
    index = LatticeIndex([COUNTRY])
    for statement in known:
        index.add(statement)
    context = context_of(index, ["owner/country", "owner/owner/country", "country"])
    country = {
        (s.subject, label)
        for s in known
        if isinstance(s.value, TaxonClass)
        for label in ("France", "Spain", "EU", "world")
        if COUNTRY.leq(s.value, TaxonClass(label))
    }
    owners = {(s.subject, s.value.name) for s in known if isinstance(s.value, Entity)}
    through = {(x, label) for x, y in owners for z, label in country if y == z}
    twice = {(x, label) for x, y in owners for z, label in through if y == z}
    found = {
        (attribute.dimension, name, value_label(attribute.value))
        for attribute, extent in zip(context.attributes, context.extents, strict=True)
        for i, name in enumerate(context.instances)
        if extent >> i & 1
    }
    assert found == {
        (path, x, label)
        for path, pairs in (
            ("country", country),
            ("owner/country", through),
            ("owner/owner/country", twice),
        )
        for x, label in pairs
    }
