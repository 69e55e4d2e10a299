"""Deciding a meet: the law of tightening, and conflicts against their definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kb.constraint import Constraint, Range
from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.lattice import LatticeIndex
from kb.meeting import Lack, decide
from kb.quantity import Truth, parse_date
from kb.statement import Entity, Statement, TaxonClass, Value

HABITAT = define_taxonomy(
    "habitat",
    [("sea", "aquatic"), ("river", "aquatic"), ("aquatic", "place"), ("land", "place")],
    disjoint=[("aquatic", "land")],
)
KIND = define_taxonomy("kind", [("whale", "mammal"), ("dog", "mammal"), ("mammal", "animal")])
OWNER = Dimension("owner", DimensionKind.ENTITY, functional=True)
BORN = Dimension("born", DimensionKind.TIME, functional=True)
DIMENSIONS = {item.name: item for item in (HABITAT, KIND, OWNER, BORN)}

classes = [TaxonClass(label) for label in ("sea", "river", "aquatic", "land")]
kinds = [TaxonClass(label) for label in ("whale", "dog", "mammal")]
VALUES: dict[str, list[Value]] = {
    "habitat": [*classes],
    "kind": [*kinds],
    "owner": [Entity("A"), Entity("B")],
    "born": [parse_date(text) for text in ("1990", "1990-05", "1991")],
}
points = st.sampled_from(sorted(VALUES)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(VALUES[name]))
)
ranges = st.builds(
    lambda operator, year: Range("born", ((operator, parse_date(year)),)),
    st.sampled_from(["<", ">=", "="]),
    st.sampled_from(["1990", "1990-05-01"]),
)
asked = st.one_of(points.map(lambda point: Constraint(*point)), ranges)
statements = st.builds(
    lambda subject, point: Statement(subject, *point), st.sampled_from("xyz"), points
)


def _index(given_statements: list[Statement]) -> LatticeIndex:
    index = LatticeIndex(DIMENSIONS.values())
    for statement in given_statements:
        index.add(statement)
    return index


@given(st.lists(statements, max_size=10), st.lists(asked, min_size=1, max_size=3), asked)
def test_tightening_never_turns_an_abstention_into_an_answer(
    known: list[Statement], constraints: list[Constraint | Range], more: Constraint | Range
) -> None:
    index = _index(known)
    before, after = decide(index, constraints), decide(index, [*constraints, more])
    assert set(after.answers) <= set(before.answers)
    if before.lack is not None:
        assert after.lack is not None
    for meeting in (before, after):
        assert (meeting.lack is None) == (len(meeting.answers) > 0)


@given(st.lists(statements, max_size=10), st.lists(asked, min_size=2, max_size=3))
def test_a_contradiction_is_one_of_everybody_who_may_satisfy_the_rest(
    known: list[Statement], constraints: list[Constraint | Range]
) -> None:
    index = _index(known)
    meeting = decide(index, constraints)
    if meeting.lack is None or meeting.conflicts:
        return
    expected = set()
    for item in constraints:
        rest = [other for other in constraints if other.dimension != item.dimension]
        others = tuple(index.perhaps(rest)) if rest else ()
        dimension = DIMENSIONS[item.dimension]

        def excludes(value: Value, item: Constraint | Range = item) -> bool:
            if isinstance(item, Constraint):
                return DIMENSIONS[item.dimension].conflict(item.value, value) is not None
            exact = Range(item.dimension, (("=", value),))  # type: ignore[arg-type]  # a date
            return item.excludes(exact) or item.truth(value) is Truth.FALSE  # type: ignore[arg-type]

        if others and all(
            any(
                s.subject == name and s.dimension == dimension.name and excludes(s.value)
                for s in known
            )
            for name in others
        ):
            expected.add(item.dimension)
    assert {found.dimension for found in meeting.contradictions} == expected
    assert (meeting.lack is Lack.CONFLICT) == bool(expected)


def test_the_whale_of_the_sea_and_no_whale_of_the_land() -> None:
    index = _index(
        [
            Statement("Moby", "kind", TaxonClass("whale")),
            Statement("Moby", "habitat", TaxonClass("sea")),
            Statement("Rex", "kind", TaxonClass("dog")),
            Statement("Rex", "habitat", TaxonClass("land")),
        ]
    )
    aquatic = Constraint("habitat", TaxonClass("aquatic"))
    assert tuple(decide(index, [Constraint("kind", TaxonClass("mammal")), aquatic]).answers) == (
        "Moby",
    )
    meeting = decide(
        index, [Constraint("kind", TaxonClass("whale")), Constraint("habitat", TaxonClass("land"))]
    )
    assert meeting.lack is Lack.CONFLICT
    (found,) = meeting.contradictions
    assert (found.dimension, tuple(found.instances)) == ("habitat", ("Moby",))
    assert found.stated == ((TaxonClass("sea"), "'aquatic' and 'land' are disjoint in habitat"),)
    index.add(Statement("Willy", "kind", TaxonClass("whale")))  # of no known habitat
    meeting = decide(
        index, [Constraint("kind", TaxonClass("whale")), Constraint("habitat", TaxonClass("land"))]
    )
    assert meeting.lack is Lack.GAP_IN_EXTRACTION
