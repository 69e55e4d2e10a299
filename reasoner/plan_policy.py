"""Compile a plan into the rules, the goal and the facts that are proved: the one reasoning path."""

from __future__ import annotations

import hashlib
from collections import Counter

from .atom import Atom, Variable, render_term
from .clause import (
    Absent,
    Clause,
    ClosedDeclaration,
    Comparison,
    Expression,
    Literal,
    Operation,
    Policy,
    Positive,
)
from .compare import compile_extremum, compile_holds, compile_order, compile_same, rule
from .errors import PlanInvalid
from .facts import Fact
from .meet import Body, StepPredicates, compile_meet, spoken, step_predicate
from .plan import (
    Definition,
    Direction,
    Extremum,
    Holds,
    Meet,
    Named,
    Order,
    Plan,
    Reference,
    Same,
    Step,
    is_same_name,
    operands_of,
)

ANSWER = "answer"


def compile_plan(plan: Plan) -> tuple[Policy, Atom, tuple[Fact, ...]]:
    """Give the policy of a plan, the goal that answers it and the identity facts it needs.

    The goal is `answer(A)`, or `answer` for a yes-or-no question, whose "no" is `-answer`.
    """
    uses = Counter(
        operand.step
        for step in plan.steps
        for operand in operands_of(step)
        if isinstance(operand, Reference)
    )
    last = len(plan.steps) - 1
    shared = frozenset(
        index
        for index, step in enumerate(plan.steps)
        if index != last and (uses[index] > 1 or not isinstance(step, Meet))
    )
    predicates = StepPredicates(plan, shared)
    clauses = [clause for definition in plan.definitions for clause in _define(plan, definition)]
    for index in sorted(shared):
        clauses += _compile_step(predicates, plan.steps[index], step_predicate(index))
    clauses += _compile_step(predicates, plan.steps[last], ANSWER)
    clauses = [_with_text(clause) for clause in clauses]
    closed = tuple(
        ClosedDeclaration(known.name, 2, known.closed_by)
        for known in plan.dimensions
        if known.closed_by and any(_reads_absence(clause) for clause in clauses)
    )
    text = _policy_text(closed, clauses)
    policy = Policy(
        id="question",
        version="1",
        effective=(None, None),
        clauses=tuple(clauses),
        closed=closed,
        text=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )
    goal = Atom(ANSWER) if plan.is_yes_or_no else Atom(ANSWER, (Variable("A"),))
    return policy, goal, _identity_facts(plan)


def _compile_step(predicates: StepPredicates, step: Step, head: str) -> list[Clause]:
    match step:
        case Meet():
            body = Body()
            term = compile_meet(predicates, step, body)
            return [rule(Atom(head, (term,)), body, head, lead=spoken(term))]
        case Extremum():
            return compile_extremum(predicates, step, head)
        case Same():
            return compile_same(predicates, step, head)
        case Order():
            return compile_order(predicates, step, head)
        case Holds():
            return compile_holds(predicates, step, head)


def _define(plan: Plan, definition: Definition) -> list[Clause]:
    clauses = []
    for number, path in enumerate(definition.alternatives, start=1):
        body = Body()
        subject = term = body.fresh("subject")
        for hop in path:
            used = plan.type_of(hop.dimension)
            following = body.fresh(hop.dimension)
            forward = hop.direction is Direction.FORWARD
            left, right = (term, following) if forward else (following, term)
            body.add(
                Positive(Atom(hop.dimension, (left, right))),
                f"the {used.label} of {spoken(left)} is {spoken(right)}",
            )
            term = following
        name = definition.type.name
        clauses.append(
            rule(
                Atom(name, (subject, term)),
                body,
                name if len(definition.alternatives) == 1 else f"{name}_{number}",
                lead=f"the {definition.type.label} of {spoken(subject)} is {spoken(term)}",
            )
        )
    return clauses


def _identity_facts(plan: Plan) -> tuple[Fact, ...]:
    names: set[tuple[str, str]] = set()
    for step in plan.steps:
        for operand in operands_of(step):
            if isinstance(operand, Named) and operand.readings != (operand.written,):
                for reading in operand.readings:
                    if is_same_name(operand.written, reading):
                        names.add((operand.written, reading))
                    elif len(operand.readings) > 1:
                        raise PlanInvalid(
                            f"{operand.written!r} may be {' or '.join(operand.readings)}; "
                            "expected one of them to be chosen"
                        )
    return tuple(Fact(Atom("same_name", pair), "identity") for pair in sorted(names))


def _reads_absence(clause: Clause) -> bool:
    return any(isinstance(literal, Absent) for literal in clause.body)


def _render_expression(expression: Expression) -> str:
    if isinstance(expression, Operation):
        inner = ", ".join(map(_render_expression, expression.arguments))
        return f"{expression.name}({inner})"
    return render_term(expression)


def _render_literal(literal: Literal) -> str:
    match literal:
        case Positive(atom):
            return str(atom)
        case Absent(atom):
            return f"not {atom}"
        case Comparison(operator, left, right):
            return f"{_render_expression(left)} {operator.value} {_render_expression(right)}"
    raise PlanInvalid("a plan has no aggregate")


def _with_text(clause: Clause) -> Clause:
    body = ", ".join(map(_render_literal, clause.body))
    text = f"{clause.head} :- {body}." if body else f"{clause.head}."
    return Clause(
        id=clause.id,
        head=clause.head,
        body=clause.body,
        text=text,
        cite=clause.cite,
        says=clause.says,
    )


def _policy_text(closed: tuple[ClosedDeclaration, ...], clauses: list[Clause]) -> str:
    lines = ["%! policy: question", '%! version: "1"', ""]
    lines += (
        f"closed({each.predicate}/{each.arity}, {render_term(each.source)})." for each in closed
    )
    for clause in clauses:
        lines += [
            "",
            f"%! rule: {clause.id.removeprefix('plan.')}",
            f"%! cite: {clause.cite}",
            f"%! says: {render_term(clause.says)}",
            clause.text,
        ]
    return "\n".join(lines) + "\n"
