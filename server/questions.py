"""Questions in words: read by the packs' grammar, compiled to rules, decided like any goal."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from google.protobuf import json_format
from proofweave.v1 import common_pb2, reasoning_pb2

from extract.question_grammar import PlanRejected, QuestionGrammar
from reasoner.atom import Atom, Symbol, Variable, render_term
from reasoner.clause import Policy
from reasoner.decide import Decision, Request, decide
from reasoner.evaluate import Budget
from reasoner.facts import Fact
from reasoner.plan import Period, Plan
from reasoner.plan_policy import compile_plan
from reasoner.verdict import AbstentionCode

from .errors import QuestionRejected
from .snapshot import Snapshot
from .sources import KnowledgeSources
from .translate import CODES


@dataclass(frozen=True, slots=True)
class Reading:
    """A question understood in one way, with what it compiles to."""

    plan: Plan
    policy: Policy
    goal: Atom
    facts: tuple[Fact, ...]

    def message(self) -> reasoning_pb2.Plan:
        """Translate the plan."""
        message = reasoning_pb2.Plan(
            understood_as=self.plan.understood_as, goal=str(self.goal), rules=self.policy.text
        )
        json_format.ParseDict(plan_form(self.plan), message.steps)
        return message


def read_question(
    question: str, grammar: QuestionGrammar, knowledge: Snapshot
) -> Reading | PlanRejected:
    """Give the reading of a question, or why there is none."""
    plan = grammar.plan(question, knowledge.names())
    if isinstance(plan, PlanRejected):
        return plan
    return Reading(plan, *compile_plan(plan))


def answer_question(
    reading: Reading,
    knowledge: Snapshot,
    *,
    valid_on: datetime.date,
    engine: str,
    budget: Budget,
) -> Decision:
    """Decide the goal of a reading."""
    request = Request(
        reading.goal,
        valid_on if reading.plan.period is Period.VALID_ON else None,
        question=reading.plan.question,
        understood_as=reading.plan.understood_as,
    )
    return decide(
        request,
        policy=reading.policy,
        facts=knowledge.facts().with_facts(reading.facts),
        sources=KnowledgeSources(
            knowledge.known,
            knowledge.names(),
            knowledge.dimensions(),
            titles=knowledge.unlinked_titles,
        ),
        engine=engine,
        budget=budget,
        known=knowledge.predicates(),
    )


def rejection(rejected: PlanRejected, knowledge: Snapshot) -> QuestionRejected:
    """Give the error for a question that is only to be planned."""
    return QuestionRejected(rejected.message + _hint(rejected, knowledge))


def _hint(rejected: PlanRejected, knowledge: Snapshot) -> str:
    """Name the dimensions that the words not understood name, which goals can ask for.

    The grammar has the words of the packs; a dimension that an import defined has none.
    """
    asked = _words(rejected.question)
    missed = {word for part in rejected.misunderstood for word in _words(part.text)}
    found: list[str] = []
    for dimension in knowledge.dimensions():
        names = _words(dimension.name.replace("_", " ")), _words(dimension.label)
        if any(not missed.isdisjoint(name) and _holds(asked, name) for name in names):
            found.append(dimension.name)
    if not found:
        return ""
    goals = " or ".join(f"`prove '{name}(Entity, Value)'`" for name in found)
    what = "is a dimension" if len(found) == 1 else "are dimensions"
    return f"; {', '.join(found)} {what} that no pack has words for: ask by {goals}"


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W_]+", text.casefold()))


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(words[at : at + len(part)] == part for at in range(len(words)))


def out_of_scope(rejected: PlanRejected, knowledge: Snapshot) -> common_pb2.Decision:
    """Abstain from a question that has no plan; there is nothing that a certificate could show."""
    code, hint = CODES[AbstentionCode.OUT_OF_SCOPE], _hint(rejected, knowledge)
    texts = rejected.readings or tuple(found.text for found in rejected.misunderstood) or ("",)
    return common_pb2.Decision(
        verdict=common_pb2.VERDICT_ABSTAINED,
        code=code,
        complete=True,
        open=[
            common_pb2.OpenRequirement(
                id=f"or:{hashlib.sha256(f'{rejected.question}|{text}'.encode()).hexdigest()[:16]}",
                code=code,
                query=text,
                expected="one of these readings" if rejected.readings else "words that are known",
                detail=rejected.message + hint,
            )
            for text in texts
        ],
    )


def plan_form(plan: Plan) -> dict[str, object]:
    """Give the steps of a plan as JSON: each a type and its fields."""
    return {
        "period": plan.period.value,
        "dimensions": [dimension.name for dimension in plan.dimensions],
        "steps": [_form(step) for step in plan.steps],
    }


def _form(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, Sequence):
        return [_form(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, Symbol | Variable):
        fields = {
            field.name: _form(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
        return {"type": type(value).__name__.lower(), **fields}
    return render_term(value)  # type: ignore[arg-type]  # what is left are terms
