"""Enumeration of minimal supports: exactly the brute-force sets, anytime, resumable."""

from __future__ import annotations

import pytest
from horn_strategies import Problem, problems
from hypothesis import given, settings

from reasoner.derivation import minimal_support
from reasoner.engines import clingo
from reasoner.errors import ResumeRejected
from reasoner.horn import HornProgram, horn_program
from reasoner.supports import supports


@given(problems())
def test_supports_are_exactly_the_minimal_sets(problem: Problem) -> None:
    result = supports(problem.program, problem.goal, problem.loose)
    assert list(result.found) == problem.minimal_sets(problem.loose)
    assert result.complete
    assert result.token == ""


@settings(max_examples=60, deadline=None)
@given(problems())
def test_clingo_finds_the_same_supports(problem: Problem) -> None:
    result = supports(problem.program, problem.goal, problem.loose)
    found, complete = clingo.supports(problem.program, problem.goal, problem.loose)
    assert complete
    assert found == list(result.found)


@given(problems())
def test_the_first_support_is_that_of_the_certificate(problem: Problem) -> None:
    support = minimal_support(problem.program, problem.goal, problem.loose)
    result = supports(problem.program, problem.goal, problem.loose, limit=1)
    if support is None:
        assert result.found == ()
    else:
        assert result.found == (tuple(unit for unit in support if unit in problem.loose),)


@given(problems())
def test_resuming_one_by_one_gives_each_support_once(problem: Problem) -> None:
    collected: list[tuple[int, ...]] = []
    token, complete = "", False
    while not complete:
        result = supports(problem.program, problem.goal, problem.loose, limit=1, resume=token)
        collected += result.found
        token, complete = result.token, result.complete
    assert len(set(collected)) == len(collected)
    assert sorted(collected) == sorted(problem.minimal_sets(problem.loose))


def _either(pairs: int) -> HornProgram:
    """A chain whose every step accepts either of two units: 2 ** pairs supports."""
    clauses = [
        (step + 1, [step, pairs + 1 + 2 * step + way]) for step in range(pairs) for way in (0, 1)
    ]
    return horn_program(3 * pairs + 1, clauses, [0, *range(pairs + 1, 3 * pairs + 1)])


def test_many_supports_are_all_found() -> None:
    result = supports(_either(8), 8)
    assert len(result.found) == 2**8
    assert result.complete


def test_a_limit_that_is_just_enough_is_complete() -> None:
    assert supports(_either(2), 2, limit=4).complete
    assert not supports(_either(2), 2, limit=3).complete


def test_a_passed_deadline_is_incomplete_and_resumes() -> None:
    ticks = iter(range(100))
    result = supports(_either(3), 3, expired=lambda: next(ticks) >= 5)
    assert not result.complete
    assert 0 < len(result.found) < 8
    rest = supports(_either(3), 3, resume=result.token)
    assert rest.complete
    assert len({*result.found, *rest.found}) == 8


def test_a_token_of_another_question_is_refused() -> None:
    token = supports(_either(3), 3, limit=1).token
    with pytest.raises(ResumeRejected, match="belongs to another question"):
        supports(_either(3), 2, resume=token)


@pytest.mark.parametrize("token", ["x", "AAAA", "é", "eJyLjgUAARUAuQ=="])
def test_a_damaged_token_is_refused(token: str) -> None:
    with pytest.raises(ResumeRejected, match="cannot be read"):
        supports(_either(1), 1, resume=token)
