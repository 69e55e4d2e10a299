"""What the command line does from files alone, by the same functions as the service."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from google.protobuf.timestamp_pb2 import Timestamp
from proofweave.v1 import common_pb2, policy_pb2
from proofweave.v1 import reasoning_pb2 as pb

from kb.knowledge_base import KnowledgeBase
from reasoner.evaluate import Budget
from reasoner.sources import facts_file_sources
from reasoner.verify import Report, read_folder, verify_bytes

from .certificates import quoted_sources, stored_texts, verify_stored
from .contrasts import contrast_goals
from .errors import RequestRejected
from .export.table import EXPORTERS
from .graph_contrasts import contrast_graph, explain_graph_why_not
from .graphs import decide_graph, stream_graph_leaves, stream_graph_supports
from .leaves import stream_leaves
from .policies import check_text, run_policy_tests
from .reasoning import budget_of, decide_goal, decision_message, ground_of
from .settings import Settings
from .standpoints import compare_verdicts
from .supporting import expiry, explain_why_not, stream_supports
from .translate import policy_message
from .versions import VERSIONS

__all__ = ["run_policy_tests"]


def _budget(message: common_pb2.Budget, settings: Settings) -> Budget:
    return budget_of(message, settings.limits, remaining=None, clock=time.monotonic)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def decide_files(
    goal: pb.Goal,
    budget: common_pb2.Budget,
    engine: pb.Engine.ValueType,
    settings: Settings,
) -> common_pb2.Decision:
    """Decide a goal from the files of its request."""
    began = time.monotonic()
    limits = _budget(budget, settings)
    if goal.WhichOneof("rules") == "hypergraph":
        message, _, _ = decide_graph(goal, goal.goal, engine=engine, budget=limits)
    else:
        ground = ground_of(goal, None, today=_now().date())
        atom, decision = decide_goal(goal.goal, ground, engine=engine, budget=limits)
        message = decision_message(atom, decision)
    stamp = Timestamp()
    stamp.FromDatetime(_now())
    message.receipt.CopyFrom(
        common_pb2.Receipt(
            time=stamp,
            versions=VERSIONS,
            elapsed_ms=int((time.monotonic() - began) * 1000),
        )
    )
    return message


def repair_files(
    goal: pb.Goal, budget: common_pb2.Budget, settings: Settings
) -> pb.ExplainWhyNotResponse:
    """Give the facts that would prove a goal from the files of its request, cheapest first."""
    request, limits = pb.ExplainWhyNotRequest(goal=goal), settings.limits
    if goal.WhichOneof("rules") == "hypergraph":
        return explain_graph_why_not(request, budget=_budget(budget, settings), limits=limits)
    ground = ground_of(goal, None, today=_now().date())
    return explain_why_not(request, ground, budget=_budget(budget, settings), limits=limits)


def leaves_of_files(
    request: pb.StreamLeavesRequest, settings: Settings
) -> Iterator[pb.StreamLeavesResponse]:
    """Say what hangs on each leaf of a proof from the files of its request."""

    def budget() -> Budget:
        return _budget(request.budget, settings)

    if request.goal.WhichOneof("rules") == "hypergraph":
        return stream_graph_leaves(request, budget=budget)
    ground = ground_of(request.goal, None, today=_now().date())
    return stream_leaves(request, ground, budget=budget)


def contrast_files(
    request: pb.ContrastGoalsRequest, settings: Settings
) -> pb.ContrastGoalsResponse:
    """Say why one goal and not another from the files of their request."""
    if request.goal.WhichOneof("rules") == "hypergraph":
        return contrast_graph(
            request, budget=lambda: _budget(request.budget, settings), limits=settings.limits
        )
    return contrast_goals(
        request,
        ground_of(request.goal, None, today=_now().date()),
        budget=lambda: _budget(request.budget, settings),
        limits=settings.limits,
    )


def compare_files(
    request: pb.CompareVerdictsRequest, settings: Settings
) -> pb.CompareVerdictsResponse:
    """Decide a goal twice from the files of its request and name what flipped first."""
    return compare_verdicts(
        request, None, today=_now().date(), budget=lambda: _budget(request.budget, settings)
    )


def supports_of_files(
    request: pb.StreamSupportsRequest, settings: Settings
) -> Iterator[pb.StreamSupportsResponse]:
    """Enumerate the supports of a goal from the files of its request."""
    budget = _budget(request.budget, settings)
    if request.goal.WhichOneof("rules") == "hypergraph":
        cap = min(request.cap or settings.limits.supports, settings.limits.supports)
        return stream_graph_supports(request, cap=cap, expired=expiry(budget))
    ground = ground_of(request.goal, None, today=_now().date())
    return stream_supports(request, ground, budget=budget, limits=settings.limits)


def check_file(
    text: str, name: str, facts: tuple[str, str] | None = None
) -> tuple[policy_pb2.Policy, list[common_pb2.Problem]]:
    """Read a policy and give its warnings; `facts`, name and text, say which predicates there are.

    Raises PolicyRejected with every finding of the policy, or of the facts.
    """
    known = None if facts is None else facts_file_sources(facts)[0].signatures()
    policy, warnings = check_text(text, name, known=known)
    return policy_message(policy, with_text=False), warnings


def verify_file(
    file: Path,
    *,
    sources: Path | None,
    kb: Path | None,
    expect_policy: str,
    expect_goal: str,
    expect_day: str = "",
) -> Report:
    """Check a certificate file with the independent checker.

    A folder of sources is read by the checker itself, so that it says what it says alone. Raises
    RequestRejected where the file or the folder cannot be read, or sources are given twice.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise RequestRejected(f"{str(file)!r} cannot be read: {error.strerror}") from error
    _check_sources(sources, kb)
    policy, goal, day = expect_policy or None, expect_goal or None, expect_day or None
    if kb is None:
        return verify_bytes(data, sources, expect_policy=policy, expect_goal=goal, expect_day=day)
    with KnowledgeBase.open(kb) as base:
        return verify_stored(base, data, expect_policy=policy, expect_goal=goal, expect_day=day)


def _check_sources(sources: Path | None, kb: Path | None) -> None:
    if sources is not None and kb is not None:
        raise RequestRejected("--sources and --kb are both given; expected one of them")
    if sources is not None and not sources.is_dir():
        raise RequestRejected(f"{str(sources)!r} is no directory of sources")


def export_file(data: bytes, form: str, *, sources: Path | None, kb: Path | None) -> bytes:
    """Write a certificate file in another form.

    Raises RequestRejected where the checker rejects it, since what is shown must be what was
    proved, and where sources are given twice.
    """
    _check_sources(sources, kb)
    texts: Mapping[str, str] = {}
    if kb is not None:
        with KnowledgeBase.open(kb) as base:
            texts = stored_texts(base, data)
    report = verify_bytes(data, sources if kb is None else texts)
    if not report.valid:
        raise RequestRejected(f"the certificate is rejected: {report.rejection}: {report.message}")
    if sources is not None:
        texts = read_folder(sources, quoted_sources(data)).texts
    return EXPORTERS[form].write(data, texts)
