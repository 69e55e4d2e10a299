"""The calls of a witness, and the rules that are in force for them beside those of the policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .case import Case
from .language import write
from .policy import identity_rule, value_rule
from .rules import NEVER_RENAMED, PRELUDE_HEADS, VALUE_RULES, Arguments, Rule, agrees
from .walk import Rows


@dataclass(slots=True)
class Call:
    """A call: a pattern with its complete answers."""

    sign: str
    pattern: Arguments
    answers: Rows
    basis: str
    where: str
    is_used: bool = False

    @property
    def rows(self) -> set[Arguments]:
        """The answers."""
        return set(self.answers.of(self.sign))


def add_built_in(case: Case, demands: Sequence[Call], lookups: Sequence[Call]) -> None:
    """Add to the rules of a case those about values and about other names that the calls need."""

    def add(rule: Rule) -> None:
        rules = case.by_head.setdefault(rule.sign, [])
        if all(rule.id != other.id for other in rules):
            rules.append(rule)

    for rule in _value_rules(case, demands, lookups):
        add(rule)
    for sign in {demand.sign: None for demand in demands}:
        case.by_head.setdefault(sign, [])
        if _is_renamed(case, sign, demands, lookups):
            add(identity_rule(sign))


def _is_renamed(case: Case, sign: str, demands: Sequence[Call], lookups: Sequence[Call]) -> bool:
    """Whether a demanded predicate is carried over to other names of an entity.

    What is only stated is demanded for no other reason. What rules conclude is carried over where
    it is stated, too: then each call is looked up as well, and the other names are asked for: those
    of its first argument, or of each found where the call leaves it open.
    """
    if sign in NEVER_RENAMED | PRELUDE_HEADS or sign.endswith("/0"):
        return False
    if not case.by_head[sign]:
        return True
    looked_up = {item.pattern for item in lookups if item.sign == sign}
    named = [item.pattern for item in demands if item.sign == "alias/2"]
    for item in (demand for demand in demands if demand.sign == sign):
        first = item.pattern[0]
        pairs = [(first, None)] if first is not None else [(None, row[0]) for row in item.rows]
        is_named = all(any(agrees(call, pair) for call in named) for pair in pairs)
        if item.pattern not in looked_up or not is_named:
            return False
    return True


def _value_rules(case: Case, demands: Sequence[Call], lookups: Sequence[Call]) -> Iterator[Rule]:
    """Give the rules by which one value excludes another, where the goal is such a denial.

    They are in force where a policy declares it, or a call shows that it is declared.
    """
    sign = case.goal_sign
    if not (case.is_ground and sign.startswith("-") and sign.endswith("/2")):
        return
    dimension = sign[1:].removesuffix("/2")
    asked = {(write({"text": dimension}),)}
    functional = case.is_functional(dimension) or any(
        item.sign == "functional/1" and item.rows == asked for item in lookups
    )
    disjoint = any(policy.disjoint for policy in case.policies) or any(
        item.sign == "told_disjoint/2" and item.pattern[1] == case.goal[1] for item in demands
    )
    for name in VALUE_RULES:
        if disjoint if name.startswith("prelude.disjoint") else functional:
            yield value_rule(f"{name}{dimension}/2")
