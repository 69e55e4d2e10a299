"""Plans compile to ordinary rules; the structure of those rules."""

from __future__ import annotations

import pytest

from reasoner.clause import Operator
from reasoner.errors import PlanInvalid
from reasoner.hop import DimensionType, Direction, Hop, ValueKind
from reasoner.plan import (
    Candidate,
    Constraint,
    Exclusion,
    Extreme,
    Extremum,
    Meet,
    Named,
    Order,
    Plan,
    Reference,
    Same,
    Threshold,
)
from reasoner.plan_policy import compile_plan
from reasoner.policy import parse_policy

DIRECTOR = DimensionType("director", ValueKind.ENTITY, "director", ("film",), ("person",))
BORN = DimensionType(
    "date_of_birth", ValueKind.TIME, "date of birth", ("person",), ("time",), functional=True
)
COUNTRY = DimensionType(
    "country", ValueKind.ENTITY, "country", ("place",), ("country",), closed_by="the gazetteer"
)
KISMET = Named("Kismet", ("Kismet",))
RIFLE = Named("Ned Rifle", ("Ned Rifle",))


def texts(plan: Plan) -> list[str]:
    policy, _, _ = compile_plan(plan)
    return [clause.text for clause in policy.clauses]


def test_a_chain_is_one_rule() -> None:
    plan = Plan(
        "when was the director of Kismet born?",
        (
            Meet((Constraint(Hop("director"), KISMET),)),
            Meet((Constraint(Hop("date_of_birth"), Reference(0)),)),
        ),
        (BORN, DIRECTOR),
    )
    assert texts(plan) == [
        'answer(DateOfBirth) :- director("Kismet", Director), date_of_birth(Director, DateOfBirth).'
    ]
    _, goal, facts = compile_plan(plan)
    assert (str(goal), facts) == ("answer(A)", ())
    assert plan.understood_as == "the date of birth of the director of “Kismet”"


def test_a_dimension_is_followed_back_and_the_start_excluded() -> None:
    back = Hop("director", Direction.BACKWARD)
    plan = Plan(
        "what else did the director of Kismet direct?",
        (
            Meet((Constraint(Hop("director"), KISMET),)),
            Meet((Constraint(back, Reference(0)), Exclusion(KISMET))),
        ),
        (DIRECTOR,),
    )
    assert texts(plan) == [
        'answer(Film) :- director("Kismet", Director), director(Film, Director), Film != "Kismet".'
    ]


def test_constraints_intersect() -> None:
    back = Hop("director", Direction.BACKWARD)
    plan = Plan(
        "which films did both direct?",
        (Meet((Constraint(back, KISMET), Constraint(back, RIFLE))),),
        (DIRECTOR,),
    )
    assert texts(plan) == ['answer(Film) :- director(Film, "Kismet"), director(Film, "Ned Rifle").']


def test_a_name_written_otherwise_needs_an_identity_premise() -> None:
    plan = Plan(
        "who directed kismet?",
        (Meet((Constraint(Hop("director"), Named("kismet", ("KISMET", "Kismet"))),)),),
        (DIRECTOR,),
    )
    assert texts(plan) == [
        'answer(Director) :- same_name("kismet", Named), director(Named, Director).'
    ]
    _, _, facts = compile_plan(plan)
    assert [(str(fact.atom), fact.leaf) for fact in facts] == [
        ('same_name("kismet", "KISMET")', "identity"),
        ('same_name("kismet", "Kismet")', "identity"),
    ]


def test_an_extremum_lets_each_candidate_win() -> None:
    def measure(name: Named) -> Meet:
        return Meet((Constraint(Hop("date_of_birth"), name),))

    plan = Plan(
        "who was born first?",
        (
            measure(KISMET),
            measure(RIFLE),
            Extremum(
                (Candidate(KISMET, Reference(0)), Candidate(RIFLE, Reference(1))), Extreme.LEAST
            ),
        ),
        (BORN,),
    )
    assert texts(plan)[2:] == [
        "answer(Winner) :- measure_1(Winner, Own), measure_2(Rival, Other), Own <= Other.",
        "answer(Winner) :- measure_2(Winner, Own), measure_1(Rival, Other), Own <= Other.",
        "-answer(Loser) :- measure_1(Loser, Own), measure_2(Rival, Other), Own > Other.",
        "-answer(Loser) :- measure_2(Loser, Own), measure_1(Rival, Other), Own > Other.",
    ]


def test_sameness_is_denied_only_over_closed_dimensions() -> None:
    steps = (
        Meet((Constraint(Hop("country"), KISMET),)),
        Meet((Constraint(Hop("country"), RIFLE),)),
        Same((Reference(0), Reference(1))),
    )
    closed = texts(Plan("same country?", steps, (COUNTRY,)))
    assert [text.partition(" ")[0] for text in closed] == ["answer", "in_common(One,", "-answer"]
    open_country = DimensionType("country", ValueKind.ENTITY, "country")
    assert texts(Plan("same country?", steps, (open_country,))) == [
        'answer :- country("Kismet", Country), country("Ned Rifle", Country).'
    ]


def test_order_has_a_yes_and_a_no() -> None:
    plan = Plan(
        "was Kismet born before Ned Rifle?",
        (
            Meet((Constraint(Hop("date_of_birth"), KISMET),)),
            Meet((Constraint(Hop("date_of_birth"), RIFLE),)),
            Order(Reference(0), (Threshold(Operator.LESS, Reference(1)),)),
        ),
        (BORN,),
    )
    assert [text.rpartition(", ")[2] for text in texts(plan)] == [
        "DateOfBirth < DateOfBirth2.",
        "DateOfBirth >= DateOfBirth2.",
    ]


def test_a_plan_without_order_is_rejected() -> None:
    with pytest.raises(PlanInvalid, match="no order"):
        Plan(
            "?",
            (
                Meet((Constraint(Hop("director"), KISMET),)),
                Meet((Constraint(Hop("director"), RIFLE),)),
                Extremum(
                    (Candidate(KISMET, Reference(0)), Candidate(RIFLE, Reference(1))), Extreme.LEAST
                ),
            ),
            (DIRECTOR,),
        )


def test_a_plan_may_not_refer_forward() -> None:
    with pytest.raises(PlanInvalid, match="earlier step"):
        Plan("?", (Meet((Constraint(Hop("director"), Reference(0)),)),), (DIRECTOR,))


def test_a_plan_declares_its_dimensions() -> None:
    with pytest.raises(PlanInvalid, match="'director'"):
        Plan("?", (Meet((Constraint(Hop("director"), KISMET),)),), ())


def test_the_text_of_a_plan_reads_back_as_the_same_policy() -> None:
    plan = Plan(
        "same country?",
        (
            Meet((Constraint(Hop("country"), Named('The "X"', ('The "X"',))),)),
            Meet((Constraint(Hop("country"), Named("köln", ("Köln",))),)),
            Same((Reference(0), Reference(1))),
        ),
        (COUNTRY,),
    )
    policy, _, _ = compile_plan(plan)
    read = parse_policy(policy.text, name="question")
    assert [(each.id, each.head, each.body, each.says) for each in read.clauses] == [
        (each.id, each.head, each.body, each.says) for each in policy.clauses
    ]
    assert read.digest == policy.digest
    assert read.functional == policy.functional
    assert [(each.predicate, each.source) for each in read.closed] == [
        (each.predicate, each.source) for each in policy.closed
    ]
