"""Closure by pyDatalog in a worker process: a second opinion on small programs.

pyDatalog keeps its state per thread and never ends on some cyclic programs, so cycles are unrolled
first and the worker is killed at its deadline.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from ..horn import HornProgram, IntArray
from .worker import Worker


@cache
def worker() -> Worker:
    """Give the one worker of this process; it starts with the first request."""
    return Worker("pydatalog_process")


def closure(
    program: HornProgram, given: Sequence[int] | IntArray, *, seconds: float | None
) -> list[int]:
    """Give the atoms pyDatalog can prove, ascending.

    Raises EngineTimedOut and EngineFailed.
    """
    derived: list[int] = worker().ask(unroll(program, given), seconds=seconds)
    return derived


def unroll(program: HornProgram, given: Sequence[int] | IntArray) -> tuple[str, dict[int, str]]:
    """Write the program as pyDatalog text without recursion, and the name of each atom to ask.

    An atom on a cycle of `s` atoms becomes `s` stages: it holds at stage `k` if a clause holds
    whose tail atoms on the same cycle hold at stage `k - 1`. Atoms no clause can derive are left
    out, with the clauses that need them. Quadratic in the size of the largest cycle.
    """
    facts = set(map(int, given))
    clauses = [
        (head, sorted(set(program.tail(clause))))
        for clause, head in enumerate(program.heads.tolist())
    ]
    clauses = _definable(clauses, facts)
    component, sizes = _components(program.atom_count, clauses)
    last = [sizes[group] for group in component]
    staged: list[tuple[str, list[str]]] = [(_name(atom, 1), []) for atom in sorted(facts)]
    for head, tail in clauses:
        for stage in range(1, last[head] + 1):
            levels = [stage - 1 if component[a] == component[head] else last[a] for a in tail]
            body = [_name(atom, level) for atom, level in zip(tail, levels, strict=True)]
            staged.append((_name(head, stage), body))
    atoms = sorted(facts.union(head for head, _ in clauses))
    for atom in atoms:
        for stage in range(2, last[atom] + 1):
            staged.append((_name(atom, stage), [_name(atom, stage - 1)]))
    staged = _definable(staged, set())
    heads = {name for name, _ in staged}
    lines = [f"{head} <= {' & '.join(body)}" if body else f"+ {head}" for head, body in staged]
    names = {atom: name for atom in atoms if (name := _name(atom, last[atom])) in heads}
    return "\n".join(lines), names


def _name(atom: int, stage: int) -> str:
    return f"a{atom}x{stage}(0)"


_Node = TypeVar("_Node", int, str)


def _definable(
    clauses: list[tuple[_Node, list[_Node]]], given: set[_Node]
) -> list[tuple[_Node, list[_Node]]]:
    """Keep clauses whose tail atoms all have a clause or are given; pyDatalog refuses others."""
    while True:
        heads = given.union(head for head, _ in clauses)
        kept = [(head, tail) for head, tail in clauses if heads.issuperset(tail)]
        if len(kept) == len(clauses):
            return kept
        clauses = kept


def _components(count: int, clauses: list[tuple[int, list[int]]]) -> tuple[list[int], list[int]]:
    """Give the strongly connected component of each atom, and the size of each component."""
    after: list[list[int]] = [[] for _ in range(count)]
    for head, tail in clauses:
        after[head].extend(tail)
    place = [-1] * count
    low = [0] * count
    component = [-1] * count
    sizes: list[int] = []
    stack: list[int] = []
    clock = 0
    for root in range(count):
        if place[root] >= 0:
            continue
        work = [(root, iter(after[root]))]
        place[root] = low[root] = clock
        clock += 1
        stack.append(root)
        while work:
            atom, rest = work[-1]
            for other in rest:
                if place[other] < 0:
                    place[other] = low[other] = clock
                    clock += 1
                    stack.append(other)
                    work.append((other, iter(after[other])))
                    break
                if component[other] < 0:
                    low[atom] = min(low[atom], place[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[atom])
                if low[atom] == place[atom]:
                    size = 0
                    while component[atom] < 0:
                        component[stack.pop()] = len(sizes)
                        size += 1
                    sizes.append(size)
    return component, sizes
