"""Calls that come one by one answer as if all had been there from the start."""

from __future__ import annotations

from itertools import permutations

import pytest

from reasoner.atom import Atom
from reasoner.bodies import Answers, NotCovered
from reasoner.policy import parse_atom
from reasoner.slice import Call

ROWS = tuple(map(parse_atom, ("p(a, b)", "p(a, c)", "p(b, c)")))


def _call(text: str, *rows: Atom) -> Call:
    return Call(parse_atom(text), rows)


DEMAND = _call("p(a, Y)", *ROWS[:2])
LOOKUP = _call("p(a, Y)", ROWS[0])
WIDE = _call("p(X, Y)", *ROWS)
EXACT = _call("p(a, b)", ROWS[0])


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_order_in_which_calls_come_changes_no_answer(order: tuple[int, ...]) -> None:
    whole = Answers((DEMAND, WIDE, EXACT), (LOOKUP,))
    grown = Answers((), ())
    parts = (((DEMAND,), ()), ((WIDE,), ()), ((EXACT,), ()), ((), (LOOKUP,)))
    for place in order:
        grown.extend(*parts[place])
        for text in ("p(a, Y)", "p(a, c)"):  # what was read before more was known is read anew
            try:
                grown.rows(parse_atom(text))
            except NotCovered:
                continue
    for text in ("p(a, Y)", "p(a, b)", "p(a, c)", "p(X, c)", "p(X, Y)", "p(b, Y)"):
        pattern = parse_atom(text)
        assert list(grown.rows(pattern)) == list(whole.rows(pattern)), text
    assert set(whole.used) <= set(grown.used)


def test_the_first_answers_to_a_call_stay() -> None:
    answers = Answers((DEMAND,), ())
    answers.extend((_call("p(a, Y)"),), ())
    assert answers.rows(DEMAND.pattern) == DEMAND.answers


def test_a_call_that_none_covers_is_refused_until_one_does() -> None:
    answers = Answers((DEMAND,), ())
    with pytest.raises(NotCovered):
        answers.rows(parse_atom("p(b, Y)"))
    answers.extend((WIDE,), ())
    assert list(answers.rows(parse_atom("p(b, Y)"))) == [ROWS[2]]
