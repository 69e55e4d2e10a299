"""The index of instances by value, against a scan of all statements."""

from __future__ import annotations

import datetime

from hypothesis import given
from hypothesis import strategies as st

from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.lattice import Conflict, Constraint, LatticeIndex
from kb.statement import Entity, Modality, Polarity, Statement, TaxonClass, Validity, Value

KINDS = define_taxonomy(
    "kind",
    [("both", "left"), ("both", "right"), ("left", "root"), ("right", "root"), ("far", "root")],
    disjoint=[("far", "left")],
)
OWNER = Dimension("owner", DimensionKind.ENTITY, functional=True)
DIMENSIONS = {"kind": KINDS, "owner": OWNER}
DAYS = [datetime.date(2026, month, 1) for month in range(1, 6)]

points = st.one_of(
    st.tuples(
        st.just("kind"),
        st.sampled_from(["root", "left", "right", "both", "far", "unheard"]).map(TaxonClass),
    ),
    st.tuples(st.just("owner"), st.sampled_from("AB").map(Entity)),
)
validities = st.one_of(
    st.just(Validity()),
    st.sampled_from([Validity(DAYS[1], DAYS[3]), Validity(DAYS[2]), Validity(None, DAYS[2])]),
)


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    dimension, value = draw(points)
    return Statement(
        draw(st.sampled_from("xyz")),
        dimension,
        value,
        draw(st.sampled_from(Polarity)),
        draw(st.sampled_from(Modality)),
        draw(validities),
    )


def _scan(
    known: list[Statement], constraints: list[Constraint], day: datetime.date | None
) -> tuple[str, ...]:
    def holds(subject: str, constraint: Constraint) -> bool:
        return any(
            s.subject == subject
            and s.dimension == constraint.dimension
            and (s.polarity, s.modality) == (Polarity.AFFIRMED, Modality.ASSERTED)
            and (day is None or s.validity.holds_on(day))
            and DIMENSIONS[s.dimension].leq(s.value, constraint.value)
            for s in known
        )

    facts = [s for s in known if (s.polarity, s.modality) == (Polarity.AFFIRMED, Modality.ASSERTED)]
    subjects = sorted({s.subject for s in facts})
    return tuple(x for x in subjects if all(holds(x, c) for c in constraints))


@given(
    st.lists(statements(), max_size=14),
    st.lists(st.tuples(st.integers(0, 13), st.booleans()), max_size=12),
    st.lists(points.map(lambda point: Constraint(*point)), max_size=3),
    st.sampled_from([None, *DAYS]),
)
def test_a_meet_names_exactly_the_instances_a_scan_finds(
    given_statements: list[Statement],
    steps: list[tuple[int, bool]],
    constraints: list[Constraint],
    day: datetime.date | None,
) -> None:
    index = LatticeIndex(DIMENSIONS.values())
    known = {statement.id: statement for statement in given_statements}
    for identifier, statement in known.items():
        index.add(statement)
        index.add(statement)
    for place, comes in steps:
        if place < len(given_statements):
            statement = given_statements[place]
            if comes:
                index.add(statement)
                known[statement.id] = statement
            else:
                index.remove(statement)
                known.pop(statement.id, None)
    expected = _scan(list(known.values()), constraints, day)
    assert index.meet(constraints, valid_on=day) == expected
    assert index.count(constraints, valid_on=day) == len(expected)


@given(st.lists(statements(), max_size=14), st.lists(points, max_size=3), points)
def test_tightening_never_gains_an_answer(
    given_statements: list[Statement], few: list[tuple[str, Value]], more: tuple[str, Value]
) -> None:
    index = LatticeIndex(DIMENSIONS.values())
    for statement in given_statements:
        index.add(statement)
    constraints = [Constraint(*point) for point in few]
    assert set(index.meet([*constraints, Constraint(*more)])) <= set(index.meet(constraints))


@given(st.lists(statements(), max_size=10))
def test_defining_a_dimension_late_is_as_good_as_early(given_statements: list[Statement]) -> None:
    early, late = LatticeIndex(DIMENSIONS.values()), LatticeIndex()
    for statement in given_statements:
        early.add(statement)
        late.add(statement)
    for dimension in DIMENSIONS.values():
        late.define(dimension)
    for name in DIMENSIONS:
        assert early.values(name) == late.values(name)
    for subject in "xyz":
        assert early.coordinate(subject) == late.coordinate(subject)


def test_a_coordinate_is_an_antichain() -> None:
    index = LatticeIndex(DIMENSIONS.values())
    for label in ("root", "left", "far"):
        statement = Statement("x", "kind", TaxonClass(label))
        index.add(statement)
    assert index.coordinate("x") == {"kind": (TaxonClass("far"), TaxonClass("left"))}
    assert index.coordinate("unheard of") == {}
    assert index.values("kind") == (
        (TaxonClass("far"), 1),
        (TaxonClass("left"), 1),
        (TaxonClass("root"), 1),
    )


def test_only_declared_disjointness_and_functional_values_conflict() -> None:
    index = LatticeIndex(DIMENSIONS.values())
    far, both = Constraint("kind", TaxonClass("far")), Constraint("kind", TaxonClass("both"))
    right = Constraint("kind", TaxonClass("right"))
    assert index.conflicts([far, right]) == ()
    assert index.conflicts([both, far, right]) == (
        Conflict("kind", both.value, far.value, "'far' and 'left' are disjoint in kind"),
    )
    owners = [Constraint("owner", Entity(name)) for name in "BA"]
    assert index.conflicts([*owners, both]) == (
        Conflict("owner", Entity("A"), Entity("B"), "owner has at most one value"),
    )
