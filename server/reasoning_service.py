"""ReasoningService: questions and goals, answered with a proof or with what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import grpc
from google.protobuf import json_format
from proofweave.v1 import common_pb2, reasoning_pb2_grpc
from proofweave.v1 import reasoning_pb2 as pb

from extract.question_grammar import PlanRejected
from kb.errors import ProofweaveError
from reasoner.atom import Atom
from reasoner.decide import Decision
from reasoner.evaluate import Budget

from .calls import Desk, check_call
from .contrasts import contrast_goals
from .graph_contrasts import contrast_graph, explain_graph_why_not
from .graphs import decide_graph, stream_graph_leaves, stream_graph_supports
from .knowledge import Knowledge
from .leaves import stream_leaves
from .names import ResourceName
from .questions import answer_question, out_of_scope, read_question, rejection
from .reasoning import (
    Ground,
    call_budget,
    decide_goal,
    decision_message,
    ground_of,
    is_hypothetical,
)
from .snapshot import Snapshot
from .standpoints import compare_verdicts
from .status import problems_of
from .supporting import expiry, explain_why_not, stream_supports
from .translate import ENGINES, day_of
from .versions import VERSIONS

Context = grpc.ServicerContext


class ReasoningService(reasoning_pb2_grpc.ReasoningServiceServicer):
    """The one reasoning path."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def PlanQuestion(  # noqa: N802  # method names are the protocol's
        self, request: pb.PlanQuestionRequest, context: Context
    ) -> pb.PlanQuestionResponse:
        """Show how a question is understood."""
        knowledge = self._desk.parent(request.parent, context)
        day_of(request.valid_on, field="valid_on")
        snapshot = knowledge.at(request.at)
        reading = read_question(request.question, knowledge.grammar, snapshot)
        if isinstance(reading, PlanRejected):
            raise rejection(reading, snapshot)
        return pb.PlanQuestionResponse(readings=[reading.message()])

    def AskQuestion(  # noqa: N802
        self, request: pb.AskQuestionRequest, context: Context
    ) -> pb.AskQuestionResponse:
        """Answer a question."""
        began = time.monotonic()
        knowledge = self._desk.parent(request.parent, context)
        valid_on = day_of(request.valid_on, field="valid_on") or self._desk.today()
        budget = self._budget(request.budget, context)
        snapshot = knowledge.at(request.at)
        reading = read_question(request.question, knowledge.grammar, snapshot)
        if isinstance(reading, PlanRejected):
            outside = out_of_scope(reading, snapshot)
            return pb.AskQuestionResponse(readings=[pb.Reading(decision=outside)])
        decision = answer_question(
            reading, snapshot, valid_on=valid_on, engine=ENGINES[request.engine], budget=budget
        )
        message = self._recorded(knowledge, snapshot, reading.goal, decision, began, context)
        return pb.AskQuestionResponse(
            readings=[pb.Reading(plan=reading.message(), decision=message)]
        )

    def ProveGoal(  # noqa: N802
        self, request: pb.ProveGoalRequest, context: Context
    ) -> pb.ProveGoalResponse:
        """Prove a goal under a policy."""
        decide = self._decider(request.goal, request.budget, request.engine, context)
        return pb.ProveGoalResponse(decision=decide(request.goal.goal))

    def BatchProveGoals(  # noqa: N802
        self, request: pb.BatchProveGoalsRequest, context: Context
    ) -> Iterator[pb.BatchProveGoalsResponse]:
        """Prove many goals under one policy, in order; a goal in error does not stop the rest."""
        decide = self._decider(request.under, request.budget, request.engine, context)
        for index, text in enumerate(request.goals):
            check_call(context)
            response = pb.BatchProveGoalsResponse(index=index)
            try:
                response.decision.CopyFrom(decide(text))
            except ProofweaveError as error:
                response.problem.CopyFrom(problems_of(error)[0])
            yield response

    def StreamSupports(  # noqa: N802
        self, request: pb.StreamSupportsRequest, context: Context
    ) -> Iterator[pb.StreamSupportsResponse]:
        """Enumerate inclusion-minimal supports."""
        limits = self._desk.settings.limits
        budget = self._budget(request.budget, context)
        if request.goal.WhichOneof("rules") == "hypergraph":
            self._desk.parent(request.goal.parent, context)
            cap = min(request.cap or limits.supports, limits.supports)
            responses = stream_graph_supports(request, cap=cap, expired=expiry(budget))
        else:
            ground = self._ground(request.goal, context)
            responses = stream_supports(request, ground, budget=budget, limits=limits)
        for response in responses:
            check_call(context)
            yield response

    def ExplainWhyNot(  # noqa: N802
        self, request: pb.ExplainWhyNotRequest, context: Context
    ) -> pb.ExplainWhyNotResponse:
        """Say which facts would prove a goal, cheapest first."""
        budget, limits = self._budget(request.budget, context), self._desk.settings.limits
        if request.goal.WhichOneof("rules") == "hypergraph":
            self._desk.parent(request.goal.parent, context)
            return explain_graph_why_not(request, budget=budget, limits=limits)
        ground = self._ground(request.goal, context)
        return explain_why_not(request, ground, budget=budget, limits=limits)

    def ContrastGoals(  # noqa: N802
        self, request: pb.ContrastGoalsRequest, context: Context
    ) -> pb.ContrastGoalsResponse:
        """Say why one goal is proved and another is not."""
        limits = self._desk.settings.limits

        def budget() -> Budget:
            return self._budget(request.budget, context)

        if request.goal.WhichOneof("rules") == "hypergraph":
            self._desk.parent(request.goal.parent, context)
            response = contrast_graph(request, budget=budget, limits=limits)
        else:
            ground = self._ground(request.goal, context)
            response = contrast_goals(request, ground, budget=budget, limits=limits)
        self._shorten(response.goal, response.other)
        return response

    def StreamLeaves(  # noqa: N802
        self, request: pb.StreamLeavesRequest, context: Context
    ) -> Iterator[pb.StreamLeavesResponse]:
        """Say for each leaf of a proof what becomes of the goal without it."""

        def budget() -> Budget:
            return self._budget(request.budget, context)

        if request.goal.WhichOneof("rules") == "hypergraph":
            self._desk.parent(request.goal.parent, context)
            responses = stream_graph_leaves(request, budget=budget)
        else:
            ground = self._ground(request.goal, context)
            responses = stream_leaves(request, ground, budget=budget)
        for response in responses:
            check_call(context)
            if response.HasField("decision"):
                self._shorten(response.decision)
            yield response

    def CompareVerdicts(  # noqa: N802
        self, request: pb.CompareVerdictsRequest, context: Context
    ) -> pb.CompareVerdictsResponse:
        """Decide a goal from two standpoints and name what flipped first."""
        response = compare_verdicts(
            request,
            self._desk.parent(request.goal.parent, context),
            today=self._desk.today(),
            budget=lambda: self._budget(request.budget, context),
        )
        self._shorten(response.first, response.second)
        return response

    def _decider(
        self,
        under: pb.Goal,
        limits: common_pb2.Budget,
        engine: pb.Engine.ValueType,
        context: Context,
    ) -> Callable[[str], common_pb2.Decision]:
        """Read everything of a request but its goal; gives what decides and records a goal."""
        knowledge, snapshot = self._known(under, context)
        if under.WhichOneof("rules") == "hypergraph":

            def of_graph(text: str) -> common_pb2.Decision:
                began = time.monotonic()
                budget = self._budget(limits, context)
                message, goal, decision = decide_graph(under, text, engine=engine, budget=budget)
                recorded = self._recorded(knowledge, snapshot, goal, decision, began, context)
                message.name, message.certificate = recorded.name, recorded.certificate
                message.certificate_content = recorded.certificate_content
                message.receipt.CopyFrom(recorded.receipt)
                return message

            return of_graph
        ground = ground_of(under, snapshot, today=self._desk.today())

        def of_policy(text: str) -> common_pb2.Decision:
            began = time.monotonic()
            budget = self._budget(limits, context)
            goal, decision = decide_goal(text, ground, engine=engine, budget=budget)
            return self._recorded(knowledge, snapshot, goal, decision, began, context)

        return of_policy

    def _known(self, goal: pb.Goal, context: Context) -> tuple[Knowledge, Snapshot]:
        """Give the knowledge base of a goal, and what it knows at the revision asked for."""
        knowledge = self._desk.parent(goal.parent, context)
        return knowledge, knowledge.at(goal.at)

    def _ground(self, goal: pb.Goal, context: Context) -> Ground:
        return ground_of(goal, self._known(goal, context)[1], today=self._desk.today())

    def _budget(self, budget: common_pb2.Budget, context: Context) -> Budget:
        return call_budget(budget, self._desk.settings.limits, context)

    def _receipt(
        self, snapshot: Snapshot, began: float, context: Context, *, hypothetical: bool
    ) -> common_pb2.Receipt:
        return common_pb2.Receipt(
            revision=str(snapshot.revision),
            log_head=snapshot.known.head,
            requester=self._desk.requester(context),
            time=self._desk.timestamp(),
            versions=VERSIONS,
            elapsed_ms=int((time.monotonic() - began) * 1000),
            hypothetical=hypothetical,
        )

    def _recorded(
        self,
        knowledge: Knowledge,
        snapshot: Snapshot,
        goal: Atom,
        decision: Decision,
        began: float,
        context: Context,
    ) -> common_pb2.Decision:
        """Record a decision with its receipt, and translate both."""
        base = knowledge.base
        message = decision_message(goal, decision)
        receipt = self._receipt(
            snapshot, began, context, hypothetical=is_hypothetical(decision.certificate)
        )
        record = base.record_verdict(
            decision.certificate,
            json_format.MessageToDict(receipt, preserving_proto_field_name=True),
        )
        message.receipt.CopyFrom(receipt)
        message.certificate = str(ResourceName(knowledge.name, "certificates", record.digest))
        message.name = str(ResourceName(knowledge.name, "decisions", str(record.number)))
        self._shorten(message)
        return message

    def _shorten(self, *decisions: common_pb2.Decision) -> None:
        """Leave certificates out of decisions where they would not fit a message."""
        for decision in decisions:
            if decision.certificate_size > self._desk.settings.limits.inline_certificate_bytes:
                decision.certificate_content = b""
