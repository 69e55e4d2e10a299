"""Dimensions: what may go live, what meets and what conflicts."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from poset_strategies import posets

from kb.dimension import (
    Dimension,
    DimensionKind,
    define_taxonomy,
    dimension_from_json,
    dimension_to_json,
    taxonomy_problems,
)
from kb.errors import DimensionRejected, StatementRejected
from kb.poset import Poset
from kb.statement import BUILT_IN, Entity, Statement, TaxonClass, Text, Value
from kb.table_mapping import dimension_name
from reasoner.verify import NEVER_STATED

INSURANCE = define_taxonomy(
    "cover_kind",
    [
        ("liability", "insurance"),
        ("transport", "insurance"),
        ("carrier liability", "liability"),
        ("carrier liability", "transport"),
        ("hull", "transport"),
    ],
    functional=True,
    disjoint=[("hull", "liability")],
    alternatives=[("carrier liability", "CMR")],
    equivalents=[("hull", "vessel cover")],
)


def test_all_problems_of_a_taxonomy_are_told_together() -> None:
    with pytest.raises(DimensionRejected) as caught:
        define_taxonomy(
            "kind",
            [
                ("a", "b"),
                ("b", "a"),
                ("m1", "x"),
                ("m1", "y"),
                ("m2", "x"),
                ("m2", "y"),
                ("x", "top"),
                ("y", "top"),
            ],
        )
    message = str(caught.value)
    assert "'a', 'b' lie on a cycle" in message
    assert "nothing is broader than 'a', 'top'" in message
    assert "'x' and 'y' have several most general common kinds, 'm1', 'm2'" in message


def test_of_very_many_problems_the_first_are_told_and_the_rest_counted() -> None:
    crown = [(f"low {i}", f"high {j}") for i in range(9) for j in range(9)]
    assert len(taxonomy_problems(crown)) == 37
    with pytest.raises(DimensionRejected, match=r"; and 17 more$"):
        define_taxonomy("kind", crown)


def test_an_ambiguous_pair_goes_live_once_allowed() -> None:
    pairs = [("m1", "x"), ("m1", "y"), ("m2", "x"), ("m2", "y"), ("x", "top"), ("y", "top")]
    assert len(taxonomy_problems(pairs)) == 1
    dimension = define_taxonomy("kind", pairs, allowed_ambiguities=[("y", "x")])
    assert dimension.meet([TaxonClass("y"), TaxonClass("x")]) == (
        TaxonClass("m1"),
        TaxonClass("m2"),
    )


def test_an_empty_taxonomy_has_no_root() -> None:
    assert taxonomy_problems([]) == ("it has no class; expected at least a root",)
    assert taxonomy_problems([], ["thing"]) == ()


@given(posets(rooted=True))
def test_what_is_admitted_has_one_root_and_single_meets(order: Poset) -> None:
    problems = taxonomy_problems(order.covers, order.elements)
    assert bool(problems) == bool(order.ambiguous_pairs())
    if not problems:
        dimension = define_taxonomy("kind", order.covers, elements=order.elements)
        assert dimension.root == "root"
        assert dimension.taxonomy == order


values = st.sampled_from([*map(TaxonClass, INSURANCE.taxonomy.elements), TaxonClass("unknown")])  # type: ignore[union-attr]  # a taxonomy has one


@given(st.lists(values, min_size=1, max_size=3), values)
def test_tightening_never_widens_a_meet(chosen: list[Value], more: Value) -> None:
    before, after = INSURANCE.meet(chosen), INSURANCE.meet([*chosen, more])
    assert all(any(INSURANCE.leq(low, high) for high in before) for low in after)


def test_conflicts_are_declared_disjointness_and_functional_values_that_never_meet() -> None:
    def conflict(left: str, right: str) -> str | None:
        return INSURANCE.conflict(TaxonClass(left), TaxonClass(right))

    assert (
        conflict("hull", "carrier liability") == "'hull' and 'liability' are disjoint in cover_kind"
    )
    assert conflict("carrier liability", "hull") == conflict("hull", "carrier liability")
    assert conflict("liability", "transport") is None
    assert conflict("hull", "insurance") is None
    assert conflict("hull", "unknown") == "cover_kind has at most one value"
    many = Dimension("insures", DimensionKind.ENTITY)
    one = Dimension("date_of_birth", DimensionKind.TEXT, functional=True)
    assert many.conflict(Entity("a"), Entity("b")) is None
    assert one.conflict(Text("a"), Text("b")) == "date_of_birth has at most one value"
    assert one.conflict(Text("a"), Text("a")) is None


def test_other_kinds_are_ordered_by_equality() -> None:
    amount = Dimension("amount", DimensionKind.NUMBER)
    assert amount.leq(Fraction(1, 2), Fraction(2, 4))
    assert not amount.leq(Fraction(1), Fraction(2))
    assert amount.meet([Fraction(1), Fraction(1)]) == (Fraction(1),)
    assert amount.meet([Fraction(1), Fraction(2)]) == ()
    assert amount.label == "amount"
    with pytest.raises(DimensionRejected, match="no values"):
        amount.meet([])


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"name": "Cover", "kind": DimensionKind.TEXT}, "no name of a dimension"),
        ({"name": "cover kind", "kind": DimensionKind.TEXT}, "no name of a dimension"),
        ({"name": "d", "kind": DimensionKind.TAXONOMIC}, "needs a taxonomy"),
        (
            {"name": "d", "kind": DimensionKind.TEXT, "taxonomy": INSURANCE.taxonomy},
            "has no taxonomy",
        ),
        ({"name": "d", "kind": DimensionKind.TEXT, "unit": "EUR"}, "has no unit"),
        ({"name": "d", "kind": DimensionKind.TEXT, "inverse": "e"}, "has no inverse"),
        (
            {
                "name": "d",
                "kind": DimensionKind.TAXONOMIC,
                "taxonomy": INSURANCE.taxonomy,
                "disjoint": (("hull", "ship"),),
                "alternatives": (("boat", "ship"),),
            },
            "'ship', which is no class.*'boat', which is no class",
        ),
        (
            {
                "name": "d",
                "kind": DimensionKind.TAXONOMIC,
                "taxonomy": INSURANCE.taxonomy,
                "disjoint": (("hull", "transport"),),
            },
            "lie one below the other",
        ),
        (
            {
                "name": "d",
                "kind": DimensionKind.TAXONOMIC,
                "taxonomy": INSURANCE.taxonomy,
                "disjoint": (("liability", "hull"),),
            },
            "sorted",
        ),
    ],
)
def test_a_dimension_that_contradicts_itself_is_rejected(
    fields: dict[str, object], says: str
) -> None:
    with pytest.raises(DimensionRejected, match=says):
        Dimension(**fields)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    "dimension",
    [
        INSURANCE,
        Dimension("insures", DimensionKind.ENTITY, inverse="insured_by"),
        Dimension("cover", DimensionKind.QUANTITY, label="Cover", functional=True, unit="EUR"),
    ],
)
def test_a_dimension_survives_json(dimension: Dimension) -> None:
    form = json.loads(json.dumps(dimension_to_json(dimension)))
    assert dimension_from_json(form) == dimension


@pytest.mark.parametrize(
    "form",
    [
        None,
        {},
        {"kind": "tree"},
        {"kind": "text"},
        dimension_to_json(INSURANCE) | {"disjoint": 3},
        dimension_to_json(INSURANCE) | {"label": 3},
        dimension_to_json(INSURANCE) | {"broader": [["a"]]},
    ],
)
def test_a_malformed_form_is_rejected(form: object) -> None:
    with pytest.raises(DimensionRejected):
        dimension_from_json(form)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_no_dimension_is_named_like_what_is_built_in(name: str) -> None:
    with pytest.raises(DimensionRejected, match=f"'{name}' is a built-in predicate"):
        Dimension(name, DimensionKind.TEXT)
    with pytest.raises(StatementRejected, match=f"{name} is built in"):
        Statement("Acme", name, Text("x"))
    assert dimension_name(name) is None


def test_what_is_built_in_is_what_the_checker_lets_nobody_state() -> None:
    assert {sign.partition("/")[0] for sign in NEVER_STATED} == BUILT_IN
