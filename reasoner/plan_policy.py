"""Compile a plan into the rules, the goal and the facts that are proved: the one reasoning path."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace

from .atom import Atom, Term, Variable, render_term
from .clause import (
    Absent,
    Aggregate,
    Clause,
    ClosedDeclaration,
    Comparison,
    Operation,
    Operator,
    Policy,
    Positive,
    render_clause,
)
from .compare import (
    compile_count,
    compile_extremum,
    compile_holds,
    compile_order,
    compile_same,
    compile_superlative,
    rule,
)
from .errors import PlanInvalid
from .facts import Fact
from .hop import Definition, Direction, Elapsed, is_same_name
from .meet import Body, StepPredicates, add_stated, compile_meet, spoken, step_predicate
from .plan import (
    Count,
    Extremum,
    Holds,
    Meet,
    Named,
    Order,
    Plan,
    Reference,
    Same,
    Step,
    Superlative,
    operands_of,
)

ANSWER = "answer"


def compile_plan(plan: Plan) -> tuple[Policy, Atom, tuple[Fact, ...]]:
    """Give the policy of a plan, the goal that answers it, and what it needs of names and values.

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
    clauses += _invert(plan)
    for index in sorted(shared):
        clauses += _compile_step(predicates, plan.steps[index], step_predicate(index))
    clauses += _compile_step(predicates, plan.steps[last], ANSWER)
    clauses = [replace(clause, text=render_clause(clause)) for clause in clauses]
    closed = tuple(
        ClosedDeclaration(known.name, 2, known.closed_by)
        for known in plan.dimensions
        if known.closed_by and any(_reads_closed(clause) for clause in clauses)
    )
    functional = tuple(known.name for known in plan.dimensions if known.functional)
    text = _policy_text(closed, functional, clauses)
    policy = Policy(
        id="question",
        version="1",
        effective=(None, None),
        clauses=tuple(clauses),
        closed=closed,
        functional=functional,
        text=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )
    goal = Atom(ANSWER) if plan.is_yes_or_no else Atom(ANSWER, (Variable("A"),))
    read = {
        literal.atom
        for clause in clauses
        for literal in clause.body
        if isinstance(literal, Positive) and literal.atom.signature == ("functional", 1)
    }
    declared = [Fact(atom, "declared") for atom in sorted(read, key=str)]
    return policy, goal, (*_identity_facts(plan), *declared)


def _compile_step(predicates: StepPredicates, step: Step, head: str) -> list[Clause]:
    match step:
        case Meet():
            body = Body()
            term = compile_meet(predicates, step, body)
            return [rule(Atom(head, (term,)), body, head, lead=spoken(term))]
        case Count():
            return compile_count(predicates, step, head)
        case Extremum():
            return compile_extremum(predicates, step, head)
        case Superlative():
            return compile_superlative(predicates, step, head)
        case Same():
            return compile_same(predicates, step, head)
        case Order():
            return compile_order(predicates, step, head)
        case Holds():
            return compile_holds(predicates, step, head)


def _define(plan: Plan, definition: Definition) -> list[Clause]:
    clauses = []
    defined = definition.type
    for number, alternative in enumerate(definition.alternatives, start=1):
        body = Body()
        subject = body.fresh("subject")
        if isinstance(alternative, Elapsed):
            term = _elapsed(plan, alternative, body, subject)
        else:
            term = subject
            for hop in alternative:
                used, following = plan.type_of(hop.dimension), body.fresh(hop.dimension)
                if hop.direction is Direction.FORWARD:
                    add_stated(body, used, term, following)
                else:
                    add_stated(body, used, following, term)
                term = following
        several = len(definition.alternatives) > 1
        name = f"{defined.name}_{number}" if several else defined.name
        lead = f"the {defined.label} of {spoken(subject)} is {spoken(term)}"
        clauses.append(rule(Atom(defined.name, (subject, term)), body, name, lead=lead))
    return clauses


def _invert(plan: Plan) -> list[Clause]:
    """Let a dimension follow from those whose inverse it is."""
    names = {known.name for known in plan.dimensions}
    clauses = []
    for known in plan.dimensions:
        if known.inverse in names:
            implied = plan.type_of(known.inverse)
            body = Body()
            subject, value = body.fresh("subject"), body.fresh(known.name)
            add_stated(body, known, subject, value)
            lead = f"the {implied.label} of {spoken(value)} is {spoken(subject)}"
            name = f"{implied.name}_from_{known.name}"
            clauses.append(rule(Atom(implied.name, (value, subject)), body, name, lead=lead))
    return clauses


def _elapsed(plan: Plan, elapsed: Elapsed, body: Body, subject: Term) -> Term:
    start, end = body.fresh(elapsed.start), body.fresh(elapsed.end)
    add_stated(body, plan.type_of(elapsed.start), subject, start)
    add_stated(body, plan.type_of(elapsed.end), subject, end)
    between = body.fresh(elapsed.function)
    body.add(
        Comparison(Operator.EQUAL, between, Operation(elapsed.function, (start, end))),
        f"from {spoken(start)} to {spoken(end)} are {spoken(between)} {elapsed.function}",
    )
    return between


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


def _reads_closed(clause: Clause) -> bool:
    return any(isinstance(literal, Absent | Aggregate) for literal in clause.body)


def _policy_text(
    closed: tuple[ClosedDeclaration, ...], functional: tuple[str, ...], clauses: list[Clause]
) -> str:
    lines = ["%! policy: question", "%! version: 1", ""]
    lines += (
        f"closed({each.predicate}/{each.arity}, {render_term(each.source)})." for each in closed
    )
    lines += (f"functional({name})." for name in functional)
    for clause in clauses:
        lines += [
            "",
            f"%! rule: {clause.id}",
            f"%! cite: {clause.cite}",
            f"%! says: {render_term(clause.says)}",
            clause.text,
        ]
    return "\n".join(lines) + "\n"
