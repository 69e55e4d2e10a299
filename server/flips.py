"""What flipped first between two verdicts: the lowest step of one proof that the other side lacks.

A step holds on the other side if its rule and its premises are there too, or if it is derived there
in another way. Steps come in dependency order, so the first that does not hold is the cause and
everything above it the consequence.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from proofweave.v1 import reasoning_pb2 as pb

from kb.statement import Validity
from reasoner.atom import Atom, render_pattern
from reasoner.bodies import without_statement
from reasoner.clause import Clause, Policy
from reasoner.evaluate import Budget, evaluate
from reasoner.facts import FactBase
from reasoner.policy import parse_atom
from reasoner.slice import Slice
from reasoner.trees import clause_tree
from reasoner.unsourced import sources_below

from .proof_steps import Json, roots_of, step_message, steps_below
from .reasoning import Ground

SHOWN = 100
"""Steps of a chain that are shown from its beginning, and as many from its end."""

CUT = "a limit cut the search on the other side, so it may hold there"

_Step = TypeVar("_Step")

_ALWAYS_TRUE = frozenset(("comparison", "arithmetic", "conversion"))


@dataclass(slots=True)
class Side:
    """One of two verdicts: on what it was decided, its certificate, and at which revision.

    All that is evaluated for the comparison together is within the budget, counted from now.
    """

    ground: Ground
    certificate: Json
    revision: str
    budget: Budget
    facts: FactBase = field(init=False)
    _began: float = field(init=False)
    _slices: dict[Atom, Slice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.facts = self.ground.supposed_facts()
        self._began = self.budget.clock() if self.budget.clock is not None else 0.0

    @property
    def day(self) -> datetime.date | None:
        """The day for which facts count."""
        return self.ground.valid_on

    def slice(self, atom: Atom) -> Slice:
        """Evaluate an atom, once."""
        if atom not in self._slices:
            self._slices[atom] = evaluate(
                self.ground.policy,
                atom,
                self.facts,
                valid_on=self.day,
                budget=self._left(),
                unsourced=self.ground.unsourced,
            )
        return self._slices[atom]

    def _left(self) -> Budget:
        """Give the budget with what is left of its time."""
        clock, deadline = self.budget.clock, self.budget.deadline_ms
        if clock is None or deadline is None:
            return self.budget
        passed = int((clock() - self._began) * 1000)
        return replace(self.budget, deadline_ms=max(0, deadline - passed))

    def states(self, atom: Atom) -> bool:
        """Whether a fact that counts on the day gives a ground atom."""
        return bool(self.facts.match(atom, self.day))

    def clause(self, rule: str) -> Clause | None:
        """Give the clause of a rule of the policy."""
        return next((found for found in self.ground.policy.clauses if found.id == rule), None)

    @property
    def in_scope(self) -> bool:
        """Whether the policy applies on the day."""
        start, end = self.ground.policy.effective
        day = self.day
        return day is None or ((start is None or start <= day) and (end is None or day < end))


@dataclass(frozen=True, slots=True)
class Flip:
    """A step with why it does not hold on the other side."""

    step: Json
    cause: pb.FlipCause.ValueType
    detail: str


def find_flip(here: Side, there: Side, *, side: int) -> pb.Flip | None:
    """Give the first flip of the proof of one side, with the chain up to its goal.

    None where there is no proof, or all of it holds on the other side as well.
    """
    certificate = here.certificate
    roots = roots_of(certificate)
    steps = steps_below(certificate, roots)
    found = _Search(here, there).first(steps) or _conflict(steps, there)
    if found is None:
        return None
    chain = _chain(found.step, steps, roots)
    return pb.Flip(
        side=side,
        step=step_message(found.step, certificate),
        cause=found.cause,
        detail=found.detail,
        chain=[step_message(step, certificate) for step in ends(chain)],
        chain_length=len(chain),
    )


def ends(chain: list[_Step]) -> list[_Step]:
    """Give a chain, of a long one its beginning and its end."""
    return chain if len(chain) <= 2 * SHOWN else [*chain[:SHOWN], *chain[-SHOWN:]]


def _chain(step: Json, steps: list[Json], roots: tuple[str, ...]) -> list[Json]:
    """Give a shortest way from a step up to one that proves an answer, both included."""
    by_name = {found["id"]: found for found in steps}
    users: dict[str, list[str]] = {}
    for found in steps:
        for premise in found["premises"]:
            users.setdefault(premise, []).append(found["id"])
    reached: dict[str, str | None] = {step["id"]: None}
    for name in (queue := [step["id"]]):
        if name in roots:
            way = [name]
            while (below := reached[way[-1]]) is not None:
                way.append(below)
            return [by_name[found] for found in reversed(way)]
        for user in users.get(name, ()):
            if user not in reached:
                reached[user] = name
                queue.append(user)
    return [step]


@dataclass(slots=True)
class _Search:
    here: Side
    there: Side
    held: set[str] = field(default_factory=set)

    def first(self, steps: list[Json]) -> Flip | None:
        """Give the first step that does not hold on the other side."""
        for step in steps:
            if self._holds(step):
                self.held.add(step["id"])
                continue
            flip = self._flip(step)
            if flip is not None:
                return flip
        return None

    def _holds(self, step: Json) -> bool:
        kind = step["kind"]
        if kind in _ALWAYS_TRUE:
            return True
        if kind == "request":
            return self.here.day == self.there.day
        if kind == "closed":
            return self._absent(step["conclusion"])
        atom = parse_atom(step["conclusion"])
        if "rule" not in step:
            return kind == "identity" or self.there.states(atom)
        if not self.there.in_scope:
            return False
        is_there = self._is_same_rule(step["rule"]) and self.held.issuperset(step["premises"])
        return is_there or atom in self.there.slice(atom).answers

    def _absent(self, text: str) -> bool:
        """Whether an absence holds on the other side too; aggregates are judged by their rule."""
        if not text.startswith("not "):
            return False
        found = self.there.slice(parse_atom(text.removeprefix("not ")))
        return found.complete and not found.answers and not self._lost(found.goal)

    def _lost(self, atom: Atom) -> tuple[str, ...]:
        """Give the sources that an absence would need and the other side does not have."""
        ground = self.there.ground
        return sources_below(ground.policy, ground.unsourced, atom.signature)

    def _is_same_rule(self, rule: str) -> bool:
        if rule.startswith("prelude."):
            return True
        clause = self.there.clause(rule)
        return clause is not None and clause_tree(clause) == self._rules[rule]["clause"]

    @property
    def _rules(self) -> Mapping[str, Json]:
        rules: Mapping[str, Json] = self.here.certificate["rules"]
        return rules

    def _flip(self, step: Json) -> Flip | None:
        """Say why a step does not hold; None for what only counts within a rule."""
        if step["kind"] == "request":
            return None
        if step["kind"] == "closed":
            return self._closed_flip(step)
        if "rule" not in step:
            return self._leaf_flip(step)
        there, rule = self.there, step["rule"]
        policy = there.ground.policy
        if not there.in_scope:
            detail = f"{_policy(policy)} does not apply on {there.day}"
            return Flip(step, pb.FLIP_CAUSE_OUT_OF_SCOPE, detail)
        if not there.slice(parse_atom(step["conclusion"])).complete:
            return Flip(step, pb.FLIP_CAUSE_BUDGET, CUT)
        if not self._is_same_rule(rule):
            clause = there.clause(rule)
            detail = f"{_policy(policy)} has no rule {rule}"
            if clause is not None:
                detail = f"rule {rule} of {_policy(policy)} reads: {_line(clause.text)}"
            return Flip(step, pb.FLIP_CAUSE_RULE, detail)
        missing = self._missing(step)
        if self.here.day != there.day and self._reads_day(step):
            detail = f"rule {rule} comes out differently on {there.day}"
            return Flip(step, pb.FLIP_CAUSE_DAY, f"{detail}: {missing}" if missing else detail)
        aggregates = [
            self._conclusion(premise)
            for premise in step["premises"]
            if premise not in self.held and self._kind(premise) == "closed"
        ]
        if aggregates:
            detail = f"other rows count for {'; '.join(aggregates)}"
            return Flip(step, pb.FLIP_CAUSE_ABSENCE, f"{detail}: {missing}" if missing else detail)
        return Flip(step, pb.FLIP_CAUSE_OTHER, missing or "it is not derived on the other side")

    def _closed_flip(self, step: Json) -> Flip | None:
        text = step["conclusion"]
        if not text.startswith("not "):
            return None
        found = self.there.slice(parse_atom(text.removeprefix("not ")))
        if not found.answers:
            lost = " and ".join(self._lost(found.goal))
            if lost:
                return Flip(step, pb.FLIP_CAUSE_ABSENCE, f"{lost}, declared complete: missing")
            return Flip(step, pb.FLIP_CAUSE_BUDGET, CUT)
        detail = f"{found.answers[0]} holds"
        facts = self.there.facts.match(found.answers[0], self.there.day)
        if facts:
            detail += f", by {facts[0].leaf}"
        if not self.here.facts.match(found.answers[0], None):
            detail += f"; nothing states it {self._elsewhere(self.here)}"
        return Flip(step, pb.FLIP_CAUSE_ABSENCE, detail)

    def _leaf_flip(self, step: Json) -> Flip:
        there, atom = self.there, parse_atom(step["conclusion"])
        statement = step.get("statement", "")
        if step["kind"] == "assumed":
            return Flip(step, pb.FLIP_CAUSE_REQUEST, "it is assumed on one side only")
        if any(item.statement == statement for item in there.ground.retractions):
            return Flip(step, pb.FLIP_CAUSE_REQUEST, "the request leaves it out on the other side")
        known = [fact for fact in there.facts.match(atom, None) if fact.leaf.startswith("st:")]
        if known:
            spans = "; ".join(dict.fromkeys(_span(fact.validity) for fact in known))
            detail = f"it is stated {spans}, not for {there.day}"
            return Flip(step, pb.FLIP_CAUSE_VALIDITY, detail)
        return Flip(
            step, pb.FLIP_CAUSE_STATEMENT_ABSENT, f"nothing states it {self._elsewhere(there)}"
        )

    def _elsewhere(self, side: Side) -> str:
        """Say where a fact is missed, and which way the log went since."""
        other = self.here if side is self.there else self.there
        if not side.revision or side.revision == other.revision:
            return "on that side"
        went = "is not yet there" if int(side.revision) < int(other.revision) else "is gone"
        return f"at revision {side.revision}: it {went}"

    def _missing(self, step: Json) -> str:
        """Give what the other verdict says is missing for the rule of a step."""
        details = [
            found["detail"] or f"{found['atom']} is open"
            for found in self.there.certificate["open"]
            if found["rule"] == step["rule"]
        ]
        return "; ".join(dict.fromkeys(details))

    def _step(self, name: str) -> Json:
        step: Json = self.here.certificate["steps"][int(name[1:]) - 1]
        return step

    def _kind(self, name: str) -> str:
        return str(self._step(name)["kind"])

    def _conclusion(self, name: str) -> str:
        return str(self._step(name)["conclusion"])

    def _reads_day(self, step: Json) -> bool:
        return any(self._kind(premise) == "request" for premise in step["premises"])


def _conflict(steps: list[Json], there: Side) -> Flip | None:
    """Find the step that something contradicts on the other side."""
    if there.certificate["code"] != "CONFLICT":
        return None
    contested = {
        found["atom"]: found for found in there.certificate["open"] if found["code"] == "CONFLICT"
    }
    sides = {
        side["atom"]: conflict["reason"]
        for conflict in there.certificate["witness"]["contested"]
        for side in conflict["sides"]
    }
    for step in steps:
        text = step["conclusion"]
        if step["kind"] in _ALWAYS_TRUE or step["kind"] == "closed":
            continue
        plain = render_pattern(without_statement(parse_atom(text)))
        if plain in contested:
            found = contested[plain]
            by = [name for name in found["conflicting"] if name != step.get("statement")]
            detail = found["detail"] + (f"; the other side is {', '.join(by)}" if by else "")
            return Flip(step, pb.FLIP_CAUSE_CONFLICT, detail)
        if plain in sides:
            return Flip(step, pb.FLIP_CAUSE_CONFLICT, f"it is contested ({sides[plain]})")
    return None


def _policy(policy: Policy) -> str:
    return (
        f"policy {policy.id} version {policy.version}" if policy.version else f"policy {policy.id}"
    )


def _line(text: str) -> str:
    return " ".join(text.split())


def _span(validity: Validity) -> str:
    """Write a validity in words; its end is the first day on which it no longer holds."""
    parts: Iterator[str] = iter(
        (
            f"from {validity.start}" if validity.start else "",
            f"until before {validity.end}" if validity.end else "",
        )
    )
    return " ".join(part for part in parts if part) or "for all days"
