"""What questions are understood to mean, and what is said of those that are not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from question_world import NAMES, grammar, plan, rejected, rules

from extract.names import NameIndex
from extract.question_grammar import RejectionKind
from reasoner.hop import Direction
from reasoner.plan import Constraint, Exclusion, Meet, Period, Plan
from reasoner.plan_policy import compile_plan
from reasoner.policy import parse_policy

WORDS = (
    *NAMES,
    "who",
    "which film",
    "where",
    "when",
    "is",
    "was",
    "did",
    "the",
    "director",
    "of",
    "directed",
    "by",
    "born",
    "first",
    "before",
    "1950",
    "older",
    "than",
    "and",
    "or",
    ",",
    "same",
    "country",
    "from",
    "in",
    "have",
    "film",
    "'s",
    "father",
    "how many",
    "films",
)


def chain(understood: Plan) -> list[str]:
    """Write the hops of a chain: `director` forward, `-director` back."""
    found = []
    for step in understood.steps:
        assert isinstance(step, Meet)
        for condition in step.conditions:
            if isinstance(condition, Constraint):
                sign = "-" if condition.hop.direction is Direction.BACKWARD else ""
                found.append(sign + condition.hop.dimension)
    return found


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who directed Night Ferry?", ["director"]),
        ("who was night ferry directed by", ["director"]),
        ("Who is the director of the film Night Ferry?", ["director"]),
        ("Night Ferry was directed by whom?", ["director"]),
        ("Where was the director of film Night Ferry born?", ["director", "place_of_birth"]),
        ("When did Night Ferry's director die?", ["director", "date_of_death"]),
        ("What is the place of birth of Night Ferry's director's father?",
         ["director", "father", "place_of_birth"]),
        ("What is the cause of death of Ada Moreau's father?", ["father", "cause_of_death"]),
        ("Which country is the director of Night Ferry from?",
         ["director", "country_of_citizenship"]),
        ("Which country the director of film Night Ferry is from?",
         ["director", "country_of_citizenship"]),
        ("In which country is Lyon located?", ["country"]),
        ("In which country was Ada Moreau born?", ["place_of_birth", "country"]),
        ("Which directors were born in Lyon?", ["-place_of_birth", "director"]),
        ("Who directed both Night Ferry and Grey Harbour?", ["director", "director"]),
        ("Tell me where Ada Moreau was born.", ["place_of_birth"]),
        ("Which films did the director of Night Ferry direct?", ["director", "-director"]),
        ("What is a film that Ada Moreau directed?", ["-director"]),
        ("Who is Ada Moreau's maternal grandmother?", ["mother", "mother"]),
        ("What is the award that the director of film Night Ferry won?",
         ["director", "award_received"]),
        ("Why did Ada Moreau's father die?", ["father", "cause_of_death"]),
    ],
)  # fmt: skip
def test_chains(question: str, expected: list[str]) -> None:
    assert chain(plan(question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who acted together with [P]", ["-starred_actors", "starred_actors"]),
        ("what genre does [F] fall under", ["has_genre"]),
        ("[F], when was it released", ["release_year"]),
        ("can you describe movie [F] in a few words", ["has_tags"]),
        ("the films that share actors with the film [F] were released in which years",
         ["starred_actors", "-starred_actors", "release_year"]),
        ("who are the directors that the actors in their films also appear in the film [F]",
         ["starred_actors", "-starred_actors", "directed_by"]),
        ("who starred movies for the director of [F]",
         ["directed_by", "-directed_by", "starred_actors"]),
        ("what do people think of [F]", ["has_imdb_rating"]),
    ],
)  # fmt: skip
def test_chains_of_films(question: str, expected: list[str]) -> None:
    assert chain(plan(question, pack="metaqa")) == expected


def test_what_a_chain_starts_from_is_not_visited_again() -> None:
    understood = plan("what genres are the films directed by the [Kismet] director", pack="metaqa")
    exclusions = [
        index
        for index, step in enumerate(understood.steps)
        if isinstance(step, Meet)
        and any(isinstance(condition, Exclusion) for condition in step.conditions)
    ]
    assert exclusions == [1]
    assert rules("who directed films together with [Ada]", pack="metaqa") == [
        'answer(DirectedBy) :- directed_by(Film, "Ada"), directed_by(Film, DirectedBy), '
        'DirectedBy != "Ada".'
    ]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which suppliers are registered in Germany?",
         'answer(Organization) :- registered_country(Organization, RegisteredCountry), '
         'under(RegisteredCountry, "Germany").'),
        ("Which suppliers have a liability cover of at least EUR 5,000,000?",
         'answer(Organization) :- liability_cover(Organization, LiabilityCover), '
         'LiabilityCover >= @quantity("5000000 EUR").'),
        ("Which suppliers were audited before November 2025?",
         'answer(Organization) :- audit_date(Organization, AuditDate), '
         'AuditDate < @date("2025-11-01").'),
        ("In which country is the insurer of Acme Ltd registered?",
         'answer(RegisteredCountry) :- insured_by("Acme Ltd", InsuredBy), '
         'registered_country(InsuredBy, RegisteredCountry).'),
    ],
)  # fmt: skip
def test_suppliers(question: str, expected: str) -> None:
    assert rules(question, "Acme Ltd", "Germany", pack="supplier") == [expected]


def test_names_are_told_from_words_by_what_is_known() -> None:
    title = "The Father of My Children"
    known = plan(f"Who is the father of the director of film {title}?", title)
    assert chain(known) == ["director", "father"]
    assert known.understood_as == f"the father of the director of “{title}”"


def test_capitals_make_a_name_of_words_of_the_language() -> None:
    understood = plan("Where did the composer of film Dream Wife die?", "Dream")
    assert understood.notes == ("“Dream Wife” is no known name",)
    assert understood.understood_as == (
        "the place of death of the composer of “Dream Wife” (“Dream Wife” is no known name)"
    )


def test_a_name_may_hold_commas_and_links() -> None:
    question = "Which film was released first, Carlo Giuliani, Boy or Salt and Pepper?"
    for names in ((), ("Carlo Giuliani, Boy", "Salt and Pepper")):
        assert "“Carlo Giuliani, Boy” and “Salt and Pepper”" in (
            plan(question, *names).understood_as
        )


def test_known_names_make_a_list_of_three() -> None:
    understood = plan("Who is older, Ada Moreau, Bruno Keller or Carla Voss?")
    assert "“Ada Moreau”, “Bruno Keller” and “Carla Voss”" in understood.understood_as


def test_delimited_names_are_taken_as_they_are() -> None:
    for delimited in ("[the director of]", '"the director of"', "“the director of”"):
        understood = plan(f"who directed {delimited}")
        assert understood.understood_as.startswith("the director of “the director of”")


def test_an_ambiguous_name_is_never_chosen_silently() -> None:
    outcome = rejected("Who directed Home?", "Home (2009 film)", "Home (2015 film)")
    assert outcome.kind is RejectionKind.AMBIGUOUS
    assert outcome.readings == ("Home (2009 film)", "Home (2015 film)")


def test_what_the_question_asks_of_a_name_chooses_its_reading() -> None:
    understood = plan("Who directed Home?", "Home (2009 film)", "Home (album)")
    assert understood.notes == ("“Home” is read as “Home (2009 film)”, not as “Home (album)”",)


def test_an_exact_name_tells_of_others() -> None:
    understood = plan("Who directed Home?", "Home", "Home (2015 film)")
    assert understood.notes == ("“Home” is read as that name, not as “Home (2015 film)”",)


def test_unknown_words_are_reported_with_their_span() -> None:
    question = "What is the shoe size of Ada Moreau?"
    outcome = rejected(question)
    assert outcome.kind is RejectionKind.NOT_UNDERSTOOD
    (part,) = outcome.misunderstood
    assert (part.text, question[part.start : part.end]) == ("shoe size", "shoe size")


def test_near_words_and_names_are_given() -> None:
    (word, name) = rejected("who directd night fery").misunderstood
    assert "directed" in word.nearest
    assert "Night Ferry" in name.nearest


def test_known_words_in_an_unknown_order_are_said_to_be_so() -> None:
    outcome = rejected("born director of the Night Ferry of who when")
    assert "none of the known forms" in outcome.message


def test_counting_needs_a_complete_source() -> None:
    outcome = rejected("How many films did Ada Moreau direct?")
    assert outcome.kind is RejectionKind.UNDECIDABLE
    assert "no source is declared complete" in outcome.message


def test_the_past_asks_for_any_period() -> None:
    assert plan("Who directed Night Ferry?").period is Period.VALID_ON
    assert plan("Who was the director of Night Ferry?").period is Period.ANY


def test_an_ambiguous_relation_is_a_visible_union() -> None:
    found = rules("Are Ada Moreau and Lyon from the same country?")
    heads = [rule.partition("(")[0] for rule in found if rule.startswith("country_or_other")]
    assert len(heads) == 3


def test_the_same_year_is_not_the_same_date() -> None:
    assert "none of the known forms" in (
        rejected("Did Ada Moreau and Bruno Keller die in the same year?").message
    )


def test_reading_does_not_depend_on_what_was_read_before() -> None:
    fresh = grammar("wiki").plan("Who directed Night Ferry?", NameIndex(["Night Ferry"]))
    assert fresh == plan("Who directed Night Ferry?", "Night Ferry")


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
@settings(max_examples=150, deadline=None)
def test_any_words_give_a_plan_or_a_reason(words: list[str]) -> None:
    outcome = grammar("wiki").plan(" ".join(words), NameIndex(NAMES))
    if isinstance(outcome, Plan):
        policy, _, _ = compile_plan(outcome)
        assert parse_policy(policy.text, name="question").digest == policy.digest
        assert outcome.understood_as
    else:
        assert outcome.message


@given(st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_any_text_gives_a_plan_or_a_reason(text: str) -> None:
    outcome = grammar("wiki").plan(text, NameIndex(NAMES))
    assert isinstance(outcome, Plan) or outcome.message
