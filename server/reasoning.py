"""A request made whole: goal, policy, facts and sources, online and offline alike."""

from __future__ import annotations

import datetime
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import grpc
from proofweave.v1 import common_pb2, reasoning_pb2

from reasoner.atom import Atom
from reasoner.clause import Policy
from reasoner.decide import Decision, Request, decide
from reasoner.evaluate import Budget, evaluate
from reasoner.facts import Fact, FactBase, Signature
from reasoner.policy import parse_atom
from reasoner.retraction import Retraction
from reasoner.slice import Slice
from reasoner.sources import FactsFiles, Sources, facts_file_sources
from reasoner.unsourced import unsourced
from reasoner.verdict import AbstentionCode, Verdict

from .answers import answer_messages
from .errors import DeadlinePassed, NotProvided, RequestRejected
from .policies import find_policy, read_policy
from .retractions import retractions_of
from .settings import LimitsSection
from .snapshot import Snapshot
from .sources import KnowledgeSources
from .translate import CODES, ENGINES, VERDICTS, day_of, open_message, requirement_of


@dataclass(frozen=True, slots=True)
class Ground:
    """What goals are decided on: rules, facts, where these stand, the day, and what is supposed.

    `facts` still hold what `retractions` leave out, and not yet what is assumed.
    """

    policy: Policy
    facts: FactBase
    sources: Sources
    valid_on: datetime.date | None
    assumptions: tuple[Atom, ...]
    known: frozenset[Signature] = frozenset()
    retractions: tuple[Retraction, ...] = ()

    def supposed_facts(self) -> FactBase:
        """Give the facts with what is retracted left out and what is assumed added."""
        facts = self.facts.without(self.retractions) if self.retractions else self.facts
        return facts.with_facts(Fact(atom, "assumed") for atom in self.assumptions)

    @property
    def unsourced(self) -> Mapping[Signature, str]:
        """Predicates whose complete source is missing, with its name."""
        return unsourced(self.policy, self.sources)

    def slice(self, goal: Atom, facts: FactBase, budget: Budget) -> Slice:
        """Evaluate a goal on these rules and some facts."""
        return evaluate(
            self.policy,
            goal,
            facts,
            valid_on=self.valid_on,
            budget=budget,
            unsourced=self.unsourced,
        )

    def request(self, goal: Atom) -> Request:
        """Give the request for a goal."""
        return Request(
            goal, self.valid_on, assumptions=self.assumptions, retractions=self.retractions
        )


def ground_of(
    message: reasoning_pb2.Goal, knowledge: Snapshot | None, *, today: datetime.date
) -> Ground:
    """Read the policy, the facts, the assumptions and the retractions of a request.

    Raises RequestRejected, PolicyRejected, GoalRejected or NotFound, naming the input, and
    NotProvided for a hypergraph, whose goals have no such ground.
    """
    if message.WhichOneof("rules") == "hypergraph":
        raise NotProvided("a hypergraph has neither policy nor facts; only its goals are decided")
    files: FactsFiles | None = None
    facts = FactBase() if knowledge is None else knowledge.facts()
    if message.facts_text:
        name = message.facts_name or "facts.lp"
        own, files = facts_file_sources((name, message.facts_text))
        facts = own if knowledge is None else facts.with_facts(own.facts())
    sources: Sources
    if knowledge is None:
        sources = files if files is not None else facts_file_sources()[1]
    else:
        sources = KnowledgeSources(
            knowledge.known,
            knowledge.names(),
            knowledge.dimensions(),
            titles=knowledge.unlinked_titles,
            files=files,
            given=_texts(files),
        )
    return Ground(
        _policy(message, knowledge),
        facts,
        sources,
        day_of(message.valid_on, field="valid_on") or today,
        tuple(_assumption(text) for text in message.assumptions),
        known=frozenset() if knowledge is None else knowledge.predicates(),
        retractions=retractions_of(message.retractions, facts, sources),
    )


def _texts(files: FactsFiles | None) -> dict[str, str]:
    """Give the texts of the facts files by digest."""
    if files is None:
        return {}
    return {
        record.text_sha256: files.texts.text(source, {"text_sha256": record.text_sha256})
        for source, record in files.sources.items()
    }


def _assumption(text: str) -> Atom:
    atom = parse_atom(text)
    if not atom.is_ground:
        raise RequestRejected(f"the assumption {text!r} holds a variable; expected a ground atom")
    return atom


def _policy(message: reasoning_pb2.Goal, knowledge: Snapshot | None) -> Policy:
    match message.WhichOneof("rules"):
        case "policy_text":
            return read_policy(message.policy_text, message.policy_name or "policy.lp")
        case "policy":
            if knowledge is None:
                raise RequestRejected(
                    f"the policy {message.policy!r} is no file; "
                    "a published policy needs a knowledge base"
                )
            return find_policy(knowledge.known, message.policy)
    return read_policy("", "request")


def budget_of(
    message: common_pb2.Budget,
    limits: LimitsSection,
    *,
    remaining: float | None,
    clock: Callable[[], float],
) -> Budget:
    """Choose the limits: as asked, within the server's and the call's `remaining` seconds."""
    deadline = min(message.deadline_ms or limits.deadline_ms, limits.deadline_ms)
    if remaining is not None:
        deadline = min(deadline, max(0, int(remaining * 1000)))
    return Budget(
        deadline_ms=deadline,
        max_instances=min(message.max_instances or limits.instances, limits.instances),
        max_answers=min(message.max_answers or limits.answers, limits.answers),
        clock=clock,
    )


def call_budget(
    message: common_pb2.Budget, limits: LimitsSection, context: grpc.ServicerContext
) -> Budget:
    """Choose the limits within what is left of a call; work stops where the caller leaves.

    Raises DeadlinePassed where nothing is left, and from its clock.
    """
    remaining = context.time_remaining()
    if remaining is not None and remaining <= 0:
        raise DeadlinePassed("the deadline of the call passed before the work began")

    def clock() -> float:
        if not context.is_active():
            raise DeadlinePassed("the caller left, or the deadline of the call passed")
        return time.monotonic()

    return budget_of(message, limits, remaining=remaining, clock=clock)


def decide_goal(
    text: str,
    ground: Ground,
    *,
    engine: reasoning_pb2.Engine.ValueType,
    budget: Budget,
) -> tuple[Atom, Decision]:
    """Decide a goal given as text."""
    goal = parse_atom(text)
    return goal, decide(
        ground.request(goal),
        policy=ground.policy,
        facts=ground.facts,
        sources=ground.sources,
        engine=ENGINES[engine],
        budget=budget,
        known=ground.known,
    )


def decision_message(goal: Atom, decision: Decision) -> common_pb2.Decision:
    """Translate a decision, with its certificate in it."""
    return message_of_certificate(goal, decision.certificate)


def message_of_certificate(goal: Atom, data: bytes) -> common_pb2.Decision:
    """Translate a certificate as the decision it was written for; `goal` is its goal."""
    certificate = json.loads(data)
    code = certificate["code"]
    return common_pb2.Decision(
        verdict=VERDICTS[Verdict(certificate["verdict"])],
        code=CODES[AbstentionCode(code)] if code else common_pb2.ABSTENTION_CODE_UNSPECIFIED,
        goal=certificate["goal"],
        answers=answer_messages(goal, certificate["answers"], certificate),
        refuted=answer_messages(goal, certificate["refuted"], certificate),
        open=[open_message(requirement_of(found)) for found in certificate["open"]],
        complete=certificate["complete"],
        certificate_sha256=hashlib.sha256(data).hexdigest(),
        certificate_size=len(data),
        certificate_content=data,
    )


def is_hypothetical(certificate: bytes) -> bool:
    """Whether a certificate takes something for granted, or leaves something out, on request."""
    form = json.loads(certificate)
    return bool(form["assumptions"] or form.get("retractions"))
