"""Why a verdict flipped, for each cause that rules and days bring about; from files alone."""

from __future__ import annotations

import pytest
from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from server.offline import compare_files, contrast_files
from server.settings import Settings

RULES = """\
%! policy: club
%! version: 1
%! effective: 2026-01-01/2027-01-01
closed(barred/1, "list").
closed(paid/2, "books").
member(X) :- adult(X), enough(X), not barred(X).
adult(X) :- born(X, B), valid_on(T), years(B, T) >= 18.
enough(X) :- born(X, _), #sum{ A : paid(X, A) } >= 10.
"""
FACTS = 'born(zoë, @date("2008-06-01")). paid(zoë, 7). paid(zoë, 3). other(1).'.replace(
    "zoë", '"Zoë"'
)


def compare(first: pb.Standpoint, second: pb.Standpoint) -> pb.CompareVerdictsResponse:
    """Compare two standpoints on membership."""
    goal = pb.Goal(goal='member("Zoë")', policy_text=RULES, facts_text=FACTS, valid_on="2026-07-01")
    request = pb.CompareVerdictsRequest(goal=goal, first=first, second=second)
    return compare_files(request, Settings())


def rules(text: str) -> pb.Standpoint:
    """Give the standpoint of another policy."""
    return pb.Standpoint(policy_text=text, policy_name="club.lp")


@pytest.mark.parametrize(
    ("second", "cause", "conclusion", "words"),
    [
        (pb.Standpoint(valid_on="2026-05-31"), pb.FLIP_CAUSE_DAY, 'adult("Zoë")', "2026-05-31"),
        (
            pb.Standpoint(valid_on="2027-01-01"),
            pb.FLIP_CAUSE_OUT_OF_SCOPE,
            'enough("Zoë")',
            "does not apply on 2027-01-01",
        ),
        (
            rules(RULES + 'closed(other/1, "x").\nbarred(X) :- other(_), X = "Zoë".\n'),
            pb.FLIP_CAUSE_ABSENCE,
            'not barred("Zoë")',
            'barred("Zoë") holds',
        ),
        (rules(RULES.replace(">= 10", ">= 11")), pb.FLIP_CAUSE_RULE, 'enough("Zoë")', ">= 11"),
        (
            rules("\n".join(line for line in RULES.splitlines() if "adult(X) :-" not in line)),
            pb.FLIP_CAUSE_RULE,
            'adult("Zoë")',
            "has no rule adult.1",
        ),
    ],
)
def test_the_lowest_step_that_does_not_hold_is_named_with_its_cause(
    second: pb.Standpoint, cause: pb.FlipCause.ValueType, conclusion: str, words: str
) -> None:
    found = compare(pb.Standpoint(), second)
    assert found.first.verdict == common_pb2.VERDICT_CERTIFIED
    assert found.second.verdict == common_pb2.VERDICT_ABSTAINED
    (flip,) = found.flips
    assert (flip.cause, flip.step.conclusion) == (cause, conclusion)
    assert words in flip.detail
    assert flip.chain[0] == flip.step
    assert flip.chain[-1].conclusion == 'member("Zoë")'
    assert flip.chain_length == len(flip.chain)
    (back,) = compare(second, pb.Standpoint()).flips
    assert (back.side, back.step.conclusion) == (2, conclusion)


def test_a_rule_of_another_name_that_derives_the_same_has_not_flipped() -> None:
    renamed = RULES.replace("adult(X) :-", "%! rule: grown\nadult(X) :-")
    found = compare(pb.Standpoint(), rules(renamed))
    assert not found.unchanged
    assert not found.flips
    assert any(line.startswith("+ rule grown") for line in found.differences)


def test_a_long_chain_shows_its_ends() -> None:
    edges = "".join(f"edge({number}, {number + 1}). " for number in range(300))
    paths = "path(X, Y) :- edge(X, Y).\npath(X, Z) :- path(X, Y), edge(Y, Z).\n"
    goal = pb.Goal(goal="path(0, 300)", policy_text=paths, facts_text=edges)
    other = rules(paths.replace(":- edge(X, Y).", ":- edge(X, Y), X > 0."))
    request = pb.CompareVerdictsRequest(goal=goal, first=pb.Standpoint(), second=other)
    (flip,) = compare_files(request, Settings()).flips
    assert (flip.chain_length, len(flip.chain)) == (300, 200)
    assert flip.chain[-1].conclusion == "path(0, 300)"


def test_what_a_limit_cut_is_no_difference() -> None:
    request = pb.ContrastGoalsRequest(
        goal=pb.Goal(
            goal='member("Zoë")', policy_text=RULES, facts_text=FACTS, valid_on="2026-07-01"
        ),
        other='member("Bo")',
        budget=common_pb2.Budget(max_instances=1),
    )
    found = contrast_files(request, Settings())
    assert not found.complete
    assert not found.differences


def test_a_sum_and_a_day_are_contrasted() -> None:
    facts = FACTS + ' born("Bo", @date("2010-01-01")). paid("Bo", 4). barred("Bo").'
    goal = pb.Goal(goal='member("Zoë")', policy_text=RULES, facts_text=facts, valid_on="2026-07-01")
    request = pb.ContrastGoalsRequest(goal=goal, other='member("Bo")')
    found = contrast_files(request, Settings())
    assert [(item.depth, item.counterpart) for item in found.differences] == [
        (1, 'adult("Bo")'),
        (1, 'enough("Bo")'),
        (1, 'not barred("Bo")'),
        (2, 'years(@date("2010-01-01"), @date("2026-07-01")) >= 18'),
        (2, '10 <= #sum{A : paid("Bo", A)}, which is 4'),
    ]
