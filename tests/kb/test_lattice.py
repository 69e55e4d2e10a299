"""The index of instances by value, against a scan of all statements."""

from __future__ import annotations

import datetime
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from kb.constraint import OPERATORS, Conflict, Constraint, Range, range_of
from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.lattice import LatticeIndex
from kb.qualified import EVERYTHING, View
from kb.quantity import Date, Truth, parse_date
from kb.statement import Entity, Modality, Polarity, Statement, TaxonClass, Validity, Value

KINDS = define_taxonomy(
    "kind",
    [("both", "left"), ("both", "right"), ("left", "root"), ("right", "root"), ("far", "root")],
    disjoint=[("far", "left")],
)
OWNER = Dimension("owner", DimensionKind.ENTITY, functional=True)
BUILT = Dimension("built", DimensionKind.TIME)
DIMENSIONS = {"kind": KINDS, "owner": OWNER, "built": BUILT}
DAYS = [datetime.date(2026, month, 1) for month in range(1, 6)]

points = st.one_of(
    st.tuples(
        st.just("kind"),
        st.sampled_from(["root", "left", "right", "both", "far", "unheard"]).map(TaxonClass),
    ),
    st.tuples(st.just("owner"), st.sampled_from("AB").map(Entity)),
    st.tuples(st.just("built"), st.sampled_from(["1999", "1999-12", "1999-12-31"]).map(parse_date)),
)
ranges = st.builds(
    lambda operator, bound: Range("built", ((operator, bound),)),
    st.sampled_from(OPERATORS),
    st.sampled_from(["1999-12", "1999-12-31", "2000"]).map(parse_date),
)
asked = st.one_of(points.map(lambda point: Constraint(*point)), ranges)
CONFIDENCES = [Fraction(1), Fraction(1, 2), Fraction(9, 10)]
confidences = st.sampled_from(CONFIDENCES)
views = st.builds(
    View,
    st.sampled_from([None, datetime.date(2026, 2, 1), datetime.date(2026, 4, 1)]),
    st.sampled_from([None, Fraction(1, 2), Fraction(3, 4), Fraction(1)]),
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


Known = dict[Statement, Fraction]


def _holds(statement: Statement, item: Constraint | Range) -> Truth:
    if statement.dimension != item.dimension:
        return Truth.FALSE
    wanted = range_of(item)
    if wanted is not None:
        assert isinstance(statement.value, Date)
        return wanted.truth(statement.value)
    assert isinstance(item, Constraint)
    below = DIMENSIONS[statement.dimension].leq(statement.value, item.value)
    return Truth.TRUE if below else Truth.FALSE


def _scan(
    known: Known,
    constraints: list[Constraint | Range],
    view: View,
    *,
    possible: bool = False,
    union: bool = False,
) -> tuple[str, ...]:
    facts = {
        s: confidence
        for s, confidence in known.items()
        if (s.polarity, s.modality) == (Polarity.AFFIRMED, Modality.ASSERTED)
    }
    enough = {Truth.TRUE, Truth.UNDETERMINED} if possible else {Truth.TRUE}

    def satisfies(subject: str, item: Constraint | Range) -> bool:
        return any(
            s.subject == subject
            and (view.valid_on is None or s.validity.holds_on(view.valid_on))
            and (view.min_confidence is None or confidence >= view.min_confidence)
            and _holds(s, item) in enough
            for s, confidence in facts.items()
        )

    combine = any if union and constraints else all
    subjects = sorted({s.subject for s in facts})
    return tuple(x for x in subjects if combine(satisfies(x, c) for c in constraints))


@given(
    st.lists(st.tuples(statements(), confidences), max_size=14),
    st.lists(st.tuples(st.integers(0, 13), st.sampled_from([None, *CONFIDENCES])), max_size=12),
    st.lists(asked, max_size=3),
    views,
    st.booleans(),
)
def test_a_meet_names_exactly_the_instances_a_scan_finds(
    given_statements: list[tuple[Statement, Fraction]],
    steps: list[tuple[int, Fraction | None]],
    constraints: list[Constraint | Range],
    view: View,
    union: bool,
) -> None:
    index = LatticeIndex(DIMENSIONS.values())
    known: Known = {}
    for statement, confidence in given_statements:
        index.add(statement, confidence=confidence)
        index.add(statement, confidence=confidence)
        known[statement] = confidence
    index.answers(constraints, view=view)  # so that later changes meet what was computed before
    index.perhaps(constraints, view=view)
    for place, comes in steps:
        if place < len(given_statements):
            statement = given_statements[place][0]
            if comes is None:
                index.remove(statement)
                known.pop(statement, None)
            else:
                index.add(statement, confidence=comes)
                known[statement] = comes
    found = index.answers(constraints, view=view, union=union)
    expected = _scan(known, constraints, view, union=union)
    assert tuple(found) == expected
    assert len(found) == len(expected)
    assert [name in found for name in "xyz!"] == [name in expected for name in "xyz!"]
    perhaps = index.perhaps(constraints, view=view, union=union)
    assert tuple(perhaps) == _scan(known, constraints, view, possible=True, union=union)
    for name in DIMENSIONS:
        for value, count in index.values(name):
            assert count == len(_scan(known, [Constraint(name, value)], EVERYTHING))


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
