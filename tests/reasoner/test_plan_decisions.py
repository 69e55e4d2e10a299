"""Plans decided from end to end: meet, compare, abstain; every certificate passes the checker."""

from __future__ import annotations

import json

import pytest
from question_world import FILMS, answers, ask

from reasoner.verdict import AbstentionCode, Verdict


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where was the director of film Night Ferry born?", ["Lyon"]),
        ("Which films did Ada Moreau direct?", ["Grey Harbour", "Night Ferry", "The Twin"]),
        ("Who is the paternal grandfather of Ada Moreau?", ["Felix Moreau"]),
        ("Who is Ada Moreau's paternal grandmother?", ["Greta Sand"]),
        ("Which films directed by Ada Moreau were released after 1935?", ["Grey Harbour"]),
        ("Which films directed by Ada Moreau were released in 1931?", ["Night Ferry"]),
        ("the director of night ferry also directed which films", ["Grey Harbour", "The Twin"]),
        ("Which film whose director was born first, Night Ferry or Salt Road?", ["Night Ferry"]),
        ("Which film was released later, Grey Harbour, Night Ferry or Salt Road?", ["Salt Road"]),
        ("Who was born first, the director of Night Ferry or Carla Voss?", ["Ada Moreau"]),
        ("Who is the child of Emil Moreau?", ["Ada Moreau"]),
        ("Who is the husband of Hanna Berg?", ["Felix Moreau"]),
        ("Who are the grandchildren of Felix Moreau?", ["Ada Moreau"]),
        ("Who lived longer, Ada Moreau or Dora Lind?", ["Ada Moreau"]),
    ],
)
def test_questions_are_answered(question: str, expected: list[str]) -> None:
    assert answers(question) == ("CERTIFIED", expected)


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("Was Ada Moreau born before Bruno Keller?", Verdict.CERTIFIED),
        ("Was Bruno Keller born before Ada Moreau?", Verdict.REFUTED),
        ("Was Ada Moreau born before 1950?", Verdict.CERTIFIED),
        ("Was Ada Moreau born after 1950?", Verdict.REFUTED),
        ("Was Ada Moreau born in Lyon?", Verdict.CERTIFIED),
        ("Was Ada Moreau born in Basel?", Verdict.ABSTAINED),  # a place may lie in another
        ("Did Ada Moreau direct Night Ferry?", Verdict.CERTIFIED),
        ("Did Ada Moreau direct Salt Road?", Verdict.ABSTAINED),
        ("Is Bruno Keller the spouse of Ada Moreau?", Verdict.REFUTED),
        ("Are Ada Moreau and Carla Voss from the same country?", Verdict.CERTIFIED),
        ("Are Ada Moreau and Bruno Keller from the same country?", Verdict.REFUTED),
        ("Do Ada Moreau and Bruno Keller share the same nationality?", Verdict.REFUTED),
        ("Are both directors of films Night Ferry and Grey Harbour from the same country?",
         Verdict.CERTIFIED),
        ("Does Ada Moreau have the same nationality as Carla Voss?", Verdict.CERTIFIED),
        ("Are Ada Moreau and Dora Lind from the same country?", Verdict.ABSTAINED),
    ],
)  # fmt: skip
def test_questions_for_yes_or_no(question: str, verdict: Verdict) -> None:
    assert ask(question).verdict is verdict


def test_values_that_overlap_leave_the_comparison_undetermined() -> None:
    decision = ask("Who was born first, Bruno Keller or Dora Lind?")
    assert (decision.verdict, decision.code) == (
        Verdict.ABSTAINED,
        AbstentionCode.UNDETERMINED,
    )


def test_a_missing_operand_is_named() -> None:
    decision = ask("Who died first, Ada Moreau or Bruno Keller?")
    assert decision.verdict is Verdict.ABSTAINED
    assert any(
        "date_of_death" in each.atom and "Bruno Keller" in each.atom for each in decision.open
    ), decision.open


def test_equal_values_tie() -> None:
    facts = 'date_of_birth("Ada Moreau", @date("1901")). date_of_birth("Dora Lind", @date("1901")).'
    assert ask("Who is older, Ada Moreau or Dora Lind?", facts).verdict is Verdict.ABSTAINED
    exact = facts.replace('"1901"', '"1901-02-03"')
    assert answers("Who is older, Ada Moreau or Dora Lind?", exact) == (
        "CERTIFIED",
        ["Ada Moreau", "Dora Lind"],
    )


def test_a_candidate_whose_values_disagree_is_in_conflict() -> None:
    decision = ask("Which film has the director born first, The Twin or Salt Road?")
    assert (decision.verdict, decision.code) == (Verdict.ABSTAINED, AbstentionCode.CONFLICT)


def test_dropping_one_fact_of_a_chain_abstains_and_names_it() -> None:
    less = FILMS.replace('place_of_birth("Ada Moreau", "Lyon").', "")
    decision = ask("Where was the director of film Night Ferry born?", less)
    assert decision.verdict is Verdict.ABSTAINED
    assert ['place_of_birth("Ada Moreau"' in each.atom for each in decision.open] == [True]


def test_a_name_in_another_case_is_an_identity_premise() -> None:
    certificate = json.loads(ask("who directed night ferry").certificate)
    assert [step["conclusion"] for step in certificate["steps"] if step["kind"] == "identity"] == [
        'same_name("night ferry", "Night Ferry")'
    ]
    assert certificate["understood_as"] == "the director of “Night Ferry”"


def test_tightening_never_answers_what_was_open() -> None:
    """The law of meet: with one more condition there are no more answers."""
    wide = answers("Which films did Ada Moreau direct?")[1]
    narrow = answers("Which films directed by Ada Moreau were released before 1935?")[1]
    assert set(narrow) < set(wide)
