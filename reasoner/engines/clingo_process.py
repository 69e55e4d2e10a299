"""Worker process of the clingo engine; the only place that imports clingo.

Single-threaded with a fixed seed. Programs come as integers; nothing a user wrote gets here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from clingo import Control, Model, SolveHandle
from clingo.backend import Backend, HeuristicType

from .serving import serve

_OPTIONS = ["--seed=0", "--parallel-mode=1", "--warn=none"]


def answer(request: tuple[Any, ...]) -> Iterator[Any]:
    """Dispatch on the first field of the request."""
    kind, *rest = request
    if kind == "close":
        yield close(*rest)
    elif kind == "supports":
        yield from supports(*rest)
    elif kind == "cheapest":
        yield from cheapest(*rest)
    else:
        raise ValueError(f"no request {kind!r}; expected close, supports or cheapest")


def _rules(backend: Backend, program: tuple[Any, ...]) -> list[int]:
    count, heads, starts, tails, given = program
    atoms = [backend.add_atom() for _ in range(count)]
    for atom in given:
        backend.add_rule([atoms[atom]])
    for clause, head in enumerate(heads):
        tail = [atoms[atom] for atom in tails[starts[clause] : starts[clause + 1]]]
        backend.add_rule([atoms[head]], tail)
    return atoms


def close(program: tuple[Any, ...]) -> list[int]:
    """Give the one stable model of a Horn program, ascending."""
    control = Control(_OPTIONS)
    with control.backend() as backend:
        atoms = _rules(backend, program)
    found: list[list[int]] = []

    def keep(model: Model) -> None:
        found.append([atom for atom, literal in enumerate(atoms) if model.is_true(literal)])

    control.solve(on_model=keep)
    (derived,) = found
    return derived


def _next_model(handle: SolveHandle, until: float | None) -> Model | bool | None:
    """Wait for a model; None when there is no other, False when time is up."""
    handle.resume()
    left = None if until is None else max(0.0, until - time.monotonic())
    if not handle.wait(left):
        handle.cancel()
        return False
    return handle.model()


def supports(
    program: tuple[Any, ...],
    goal: int,
    loose: list[int],
    known: list[list[int]],
    limit: int | None,
    seconds: float | None,
) -> Iterator[Any]:
    """Give the subset-minimal sets of loose atoms that derive the goal, then whether that was all.

    A free choice per loose atom prefers false, and recorded models block their supersets.
    """
    until = None if seconds is None else time.monotonic() + seconds
    control = Control([*_OPTIONS, "--heuristic=Domain", "--enum-mode=domRec", "--models=0"])
    with control.backend() as backend:
        atoms = _rules(backend, program)
        idle = backend.add_atom()  # clasp complains where simplification leaves no such atom
        backend.add_rule([idle], choice=True)
        backend.add_heuristic(idle, HeuristicType.False_, 1, 1, [])
        choices = {}
        for atom in loose:
            choices[atom] = backend.add_atom()
            backend.add_rule([choices[atom]], choice=True)
            backend.add_rule([atoms[atom]], [choices[atom]])
            backend.add_heuristic(choices[atom], HeuristicType.False_, 1, 1, [])
        backend.add_rule([], [-atoms[goal]])
        for support in known:
            backend.add_rule([], [choices[atom] for atom in support])
    count = 0
    with control.solve(yield_=True, async_=True) as handle:
        while limit is None or count < limit:
            model = _next_model(handle, until)
            if model is None:
                yield True
                return
            if isinstance(model, bool):
                break
            yield [atom for atom, literal in choices.items() if model.is_true(literal)]
            count += 1
    yield False


def cheapest(
    program: tuple[Any, ...], goal: int, costs: dict[int, int], seconds: float | None
) -> Iterator[Any]:
    """Give ever cheaper sets of atoms that derive the goal, then whether the last is optimal."""
    until = None if seconds is None else time.monotonic() + seconds
    control = Control([*_OPTIONS, "--opt-mode=opt", "--models=0"])
    with control.backend() as backend:
        atoms = _rules(backend, program)
        choices = {}
        for atom in costs:
            choices[atom] = backend.add_atom()
            backend.add_rule([choices[atom]], choice=True)
            backend.add_rule([atoms[atom]], [choices[atom]])
        backend.add_rule([], [-atoms[goal]])
        backend.add_minimize(0, [(choices[atom], cost) for atom, cost in costs.items()])
    with control.solve(yield_=True, async_=True) as handle:
        while True:
            model = _next_model(handle, until)
            if model is None:
                yield True
                return
            if isinstance(model, bool):
                break
            yield [atom for atom, literal in choices.items() if model.is_true(literal)]
    yield False


def main() -> None:
    """Serve requests until standard input closes."""
    serve(answer)
