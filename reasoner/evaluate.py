"""Evaluates a goal over facts and captures every rule instance on the way (DESIGN section 4).

Source: semi-naive evaluation as in Bancilhon 1985; tabling as in Chen and Warren 1996, "Tabled
evaluation with delaying for general logic programs", restricted to programs whose calls through
negation end. We record instances rather than answers only: they are the requirement hypergraph.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection
from functools import lru_cache

from kb.quantity import Date

from .atom import Atom, Variable
from .clause import Absent, Aggregate, Clause, Policy, render_literal
from .codegen import CompiledGoal, compile_goal
from .collection import paused_collection
from .errors import Finding, PolicyRejected
from .facts import Fact, FactBase, Signature
from .goal_plan import plan_goal
from .magic import Node, Unsafe
from .prelude import Declared, atoms_of, clauses_in_force, declared_values
from .run import UNLIMITED, Budget, Busy, Loop, Run
from .shape import Shape, reached, shape_of
from .slice import Slice
from .slice_reader import read_slice

__all__ = ["UNLIMITED", "Budget", "evaluate"]


class _PolicyKey:
    """A policy as key of the compiled goals: equal by digest, and by clauses to be sure."""

    __slots__ = ("policy",)

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def __hash__(self) -> int:
        return hash(self.policy.digest or self.policy.clauses)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _PolicyKey):
            return NotImplemented
        mine, others = self.policy, other.policy
        return mine is others or (mine.digest == others.digest and mine.clauses == others.clauses)


@lru_cache(maxsize=512)
def _compiled(
    key: _PolicyKey,
    root: Node,
    stored: frozenset[Signature] | None,
    declared: frozenset[Declared],
) -> CompiledGoal:
    """Compile a goal pattern; `stored` only where identity rules may come in."""
    policy = key.policy
    clauses = clauses_in_force(policy, root.signature, stored or frozenset(), declared)
    clauses = reached(clauses, root.signature)
    shape, constants = shape_of(clauses)
    try:
        return compile_shape(shape, root).of(clauses, constants)
    except Unsafe as error:
        raise _unsafe(policy, clauses, root) from error


@lru_cache(maxsize=512)
def compile_shape(shape: Shape, root: Node) -> CompiledGoal:
    """Compile a goal pattern for all policies of one shape."""
    with paused_collection():
        return compile_goal(plan_goal(shape, root))


def _unsafe(policy: Policy, clauses: tuple[Clause, ...], root: Node) -> PolicyRejected:
    """Say what nothing binds, with the constants of the policy."""
    try:
        plan_goal(clauses, root)
    except Unsafe as error:
        names = ", ".join(error.variables)
        where = f" in {render_literal(error.literal)}" if error.literal is not None else ""
        finding = Finding(0, 0, "unsafe", f"nothing binds {names}{where}")
        return PolicyRejected(policy.id, (finding,))
    raise AssertionError("clauses are as safe as their shape")


def evaluate(
    policy: Policy,
    goal: Atom,
    facts: FactBase,
    *,
    valid_on: datetime.date | None,
    budget: Budget = UNLIMITED,
    declared: frozenset[Declared] | None = None,
    unsourced: Collection[Signature] = (),
) -> Slice:
    """Derive all answers of a goal with everything that bears on them.

    `declared` is what is declared of the values of its dimension; by default what the facts say.
    Facts are those visible on `valid_on`, which `valid_on(D)` gives; without it facts of any period
    are visible. Nothing is known to be absent of predicates in `unsourced`, whose complete source
    is missing. Raises PolicyRejected where a negation depends on itself.
    """
    start = budget.start()
    stored = facts.signatures()
    bound = tuple(
        at for at, argument in enumerate(goal.arguments) if not isinstance(argument, Variable)
    )
    root = Node(goal.signature, bound)
    renamed = stored if ("same_as", 2) in stored else None
    declared = declared_values(goal, facts) if declared is None else declared
    compiled = _compiled(_PolicyKey(policy), root, renamed, declared)
    if valid_on is not None and any(index[0] == ("valid_on", 1) for index in compiled.indexes):
        day = Atom("valid_on", (Date(valid_on, valid_on),))
        facts = facts.with_facts((Fact(day, "request"),))
    tainted = frozenset(unsourced)
    with paused_collection():
        while True:
            run = Run(compiled, facts, valid_on, budget, start=start, tainted=tainted)
            try:
                complete = run.answer(goal)
            except Loop as loop:
                raise _rejected(policy, run, loop) from loop
            if run.tainted == tainted or not complete:
                return read_slice(run, goal, complete=complete, most=budget.max_answers)
            # Whatever was judged before a value turned out to be missing is judged again.
            tainted = frozenset(run.tainted)


def _rejected(policy: Policy, run: Run, loop: Loop) -> PolicyRejected:
    """Name the predicates of the calls that were open when one met itself."""
    nodes = run.compiled.nodes
    open_calls = {
        nodes[number].signature
        for number, table in enumerate(run.tables)
        if any(
            isinstance(rows, Busy) or getattr(rows, "done", True) is False
            for rows in table.values()
        )
    }
    open_calls |= set(loop.signatures)
    guilty = [
        clause
        for clause in policy.clauses
        if clause.head.signature in open_calls
        and any(
            isinstance(literal, (Absent, Aggregate))
            and any(atom.signature in open_calls for atom in atoms_of((literal,)))
            for literal in clause.body
        )
    ]
    line, column = (guilty[0].line, guilty[0].column) if guilty else (0, 0)
    names = ", ".join(f"{name}/{arity}" for name, arity in sorted(open_calls))
    message = f"the facts at hand make the negation of {names} depend on itself"
    return PolicyRejected(policy.id, (Finding(line, column, "unstratified", message),))
