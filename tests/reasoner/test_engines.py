"""All engines on the same programs; deadlines, failures and disagreements."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from horn_strategies import Problem, naive_closure, problems
from hypothesis import given, settings

from reasoner.engines import ENGINES, clingo, close, pydatalog, table
from reasoner.engines.worker import Worker
from reasoner.errors import (
    EngineDisagreement,
    EngineFailed,
    EngineTimedOut,
    EngineUnknown,
)
from reasoner.horn import HornProgram, horn_program
from reasoner.hypergraph import read_hypergraph


@settings(max_examples=150, deadline=None)
@given(problems())
def test_all_engines_derive_the_same(problem: Problem) -> None:
    expected = sorted(naive_closure(problem.clauses, problem.given))
    for engine, closure in ENGINES.items():
        found = closure(problem.program, problem.given, seconds=20.0)
        assert found == expected, engine


@settings(max_examples=20, deadline=None)
@given(problems(most_atoms=40, most_clauses=80))
def test_all_engines_agree_on_wider_programs(problem: Problem) -> None:
    for engine in ["auto", *ENGINES]:
        close(problem.program, engine=engine, seconds=20.0)


CYCLES = {
    "two atoms on a cycle, one of them given from outside": ([(0, [1]), (1, [0]), (0, [2])], [2]),
    "a cycle nothing supports": ([(0, [1]), (1, [0])], []),
    "an atom that needs itself": ([(0, [0])], []),
    "an empty tail": ([(0, []), (1, [0])], []),
    "a tail that repeats an atom": ([(0, [1, 1])], [1]),
    "a cycle through a join": ([(0, [1, 2]), (1, [0]), (2, [0]), (1, [3]), (2, [3])], [3]),
    "two cycles that share an atom": ([(0, [1]), (1, [0]), (1, [2]), (2, [1]), (2, [3])], [3]),
    "an atom that nothing mentions": ([], [3]),
}


@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
@pytest.mark.parametrize("case", CYCLES)
def test_cycles_and_empty_tails(case: str, engine: str) -> None:
    clauses, start = CYCLES[case]
    program = horn_program(4, clauses, start)
    expected = naive_closure(tuple((head, tuple(tail)) for head, tail in clauses), start)
    firing = close(program, engine=engine, seconds=20.0)
    assert set(firing.order.tolist()) == expected


def test_given_atoms_of_a_call_replace_those_of_the_program() -> None:
    program = horn_program(3, [(1, [0]), (2, [1])], [0])
    assert close(program, given=[1]).order.tolist() == [1, 2]


def test_an_unknown_engine_is_named_with_its_nearest() -> None:
    with pytest.raises(EngineUnknown, match="did you mean clingo"):
        close(horn_program(1, []), engine="clingoo")


def _wrong(program: HornProgram, *_: object, **__: object) -> list[int]:
    return list(range(program.atom_count))


def _failing(*_: object, **__: object) -> list[int]:
    raise EngineFailed("clingo_process died with exit code 1")


def test_a_disagreement_is_an_error_with_its_reproducer() -> None:
    program = horn_program(3, [(1, [0])], [0])
    with pytest.raises(EngineDisagreement, match="wrong derives atom 2") as caught:
        close(program, engine="wrong", engines={"wrong": _wrong})
    saved = Path(caught.value.saved)
    assert str(saved) in str(caught.value)
    text = saved.read_text(encoding="utf-8")
    saved.unlink()
    assert text == caught.value.reproducer
    graph = read_hypergraph(text, name="reproducer")
    assert [(edge.tail, edge.head) for edge in graph.hyperedges] == [(("a0",), "a1")]
    assert graph.given == ("a0",)


def test_auto_refuses_an_answer_on_which_engines_differ() -> None:
    with pytest.raises(EngineDisagreement) as caught:
        close(horn_program(3, [(1, [0])], [0]), engines={"clingo": _wrong})
    Path(caught.value.saved).unlink()


def test_auto_uses_linear_alone_beyond_the_set_size() -> None:
    size = table.CLINGO_UP_TO
    chain = horn_program(size, [(atom, [atom + 1]) for atom in range(size - 1)], [size - 1])
    assert len(close(chain, engines={"clingo": _wrong}).order) == size


def test_auto_does_without_a_clingo_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    firing = close(horn_program(2, [(0, [1])], [1]), engines={"clingo": _failing})
    assert firing.order.tolist() == [1, 0]
    assert "closed by linear alone" in caplog.text


def test_an_engine_that_was_asked_for_and_fails_is_an_error() -> None:
    with pytest.raises(EngineFailed):
        close(horn_program(1, []), engine="clingo", engines={"clingo": _failing})


def test_clingo_stops_at_its_deadline_and_keeps_what_it_found() -> None:
    pairs = 40
    clauses = [(i + 1, [i, pairs + 1 + 2 * i + way]) for i in range(pairs) for way in (0, 1)]
    program = horn_program(3 * pairs + 1, clauses, [0, *range(pairs + 1, 3 * pairs + 1)])
    start = time.monotonic()
    found, complete = clingo.supports(program, pairs, program.given.tolist(), seconds=0.3)
    assert time.monotonic() - start < 10
    assert not complete
    assert found
    close(horn_program(2, [(0, [1])], [1]), engine="clingo", seconds=20.0)


def test_pydatalog_is_killed_at_its_deadline_and_answers_the_next() -> None:
    length = 3_000
    program = horn_program(length, [(i + 1, [i]) for i in range(length - 1)], [0])
    start = time.monotonic()
    with pytest.raises(EngineTimedOut, match="no answer within its deadline"):
        close(program, engine="pydatalog", seconds=0.2)
    assert time.monotonic() - start < 10
    close(horn_program(2, [(0, [1])], [1]), engine="pydatalog", seconds=20.0)


def test_unrolling_is_quadratic_in_a_cycle_and_no_more() -> None:
    ring = horn_program(6, [((i + 1) % 5, [i]) for i in range(5)] + [(0, [5])], [5])
    text, names = pydatalog.unroll(ring, [5])
    assert len(names) == 6
    assert len(text.splitlines()) <= 1 + 5 * (5 + 5 + 1)


@pytest.fixture
def worker() -> Worker:
    return Worker("clingo_process")


def test_an_error_in_the_worker_is_reported_and_it_goes_on(worker: Worker) -> None:
    with pytest.raises(EngineFailed, match="no request 'sing'"):
        worker.ask(("sing",), seconds=20.0)
    assert worker.ask(("close", (1, [], [0], [], [0])), seconds=20.0) == [0]
    worker.stop()


def test_a_worker_that_was_killed_starts_again(worker: Worker) -> None:
    request: tuple[object, ...] = ("close", (1, [], [0], [], [0]))
    assert worker.ask(request, seconds=20.0) == [0]
    worker.stop()
    assert worker.ask(request, seconds=20.0) == [0]
    worker.stop()


def test_a_worker_that_cannot_start_fails_by_name() -> None:
    broken = Worker("no_such_process")
    with pytest.raises(EngineFailed, match="no_such_process"):
        broken.ask(("close",), seconds=20.0)
    broken.stop()
