"""Without one leaf: what closures of the slice say is what deciding afresh says."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from policy_programs import Program, programs
from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from reasoner.atom import Atom
from reasoner.bodies import without_statement
from reasoner.decide import Decision, Request, decide, declarations
from reasoner.deletion import prepare_deletions, read_by_absences
from reasoner.errors import PolicyRejected
from reasoner.evaluate import UNLIMITED, Budget
from reasoner.facts import Fact, FactBase
from reasoner.inquiry import Inquiry
from reasoner.policy import parse_atom, parse_policy
from reasoner.retraction import Retraction
from reasoner.slice import Slice
from reasoner.sources import facts_file_sources
from reasoner.verdict import Verdict
from server.offline import leaves_of_files
from server.settings import Settings

DAY = datetime.date(2026, 1, 1)

CASES = [
    ("reach(X, Y) :- edge(X, Y).\nreach(X, Z) :- reach(X, Y), edge(Y, Z).", "reach(a, e)"),
    ("ok(X) :- p(X, A), A >= 3, q(X).\nok(X) :- r(X).", "ok(a)"),
    ("ok(X) :- p(X, _), known(X).\nknown(X) :- q(X).\nknown(X) :- r(X).", "ok(a)"),
    ("functional(p).\nok(X) :- p(X, 4), q(X).", "ok(a)"),
    ("ok(X) :- q(X), same(X, Y), r(Y).\nsame(X, Y) :- same_as(X, Y).", "ok(a)"),
    (
        'closed(bad/1, "b").\nclosed(p/2, "b").\nok(X) :- q(X), not bad(X).\nbad(X) :- p(X, 9).',
        "ok(a)",
    ),
    ('closed(p/2, "b").\nok(X) :- q(X), #sum{ A : p(X, A) } >= 5.', "ok(a)"),
    ("-ok(X) :- bad(X).\nok(X) :- q(X), r(X).", "ok(a)"),
]
FACTS = (
    "edge(a, b). edge(b, c). edge(c, d). edge(b, d). edge(d, e). p(a, 4). p(a, 2). q(a). r(a). "
    "q(b). r(b). same_as(a, b). same_as(b, a). "
)


def _decide(request: Request, text: str, facts: str) -> Decision:
    base, sources = facts_file_sources(("facts.lp", facts))
    policy = parse_policy(text, name="policy.lp")
    return decide(request, policy=policy, facts=base, sources=sources, engine="linear")


def _leaves(decision: Decision) -> list[Fact]:
    steps = json.loads(decision.certificate)["steps"]
    needed = {answer["step"] for answer in json.loads(decision.certificate)["answers"]}
    found: dict[str, Fact] = {}
    for step in reversed(steps):
        if step["id"] in needed:
            needed.update(step["premises"])
    for step in steps:
        if step["id"] in needed and step["kind"] == "stated":
            fact = Fact(parse_atom(step["conclusion"]), step["statement"])
            found.setdefault(step["statement"], fact)
    return list(found.values())


def _agree(text: str, facts: str, goal: Atom) -> int:
    """Compare each deletion with a decision; gives how many needed none."""
    decision = _decide(Request(goal, DAY), text, facts)
    if decision.verdict is not Verdict.CERTIFIED or not goal.is_ground:
        return 0
    base, sources = facts_file_sources(("facts.lp", facts))
    policy = parse_policy(text, name="policy.lp")
    declared = declarations(goal, policy, sources)
    whole = base.with_facts(declared) if declared else base
    inquiry = Inquiry(goal, policy, whole, sources, DAY, "linear", UNLIMITED)
    deletions = prepare_deletions(inquiry, looks_for_conflicts=True)
    if deletions is None:
        return 0
    closed = 0
    for leaf in _leaves(decision):
        retraction = Retraction(leaf.leaf, without_statement(leaf.atom))
        left = deletions.without(leaf, whole.without([retraction]))
        if left is None:
            continue
        closed += 1
        afresh = _decide(Request(goal, DAY, retractions=(retraction,)), text, facts)
        assert (left.verdict, left.code, left.open) == (afresh.verdict, afresh.code, afresh.open)
        if left.verdict is Verdict.CERTIFIED:
            assert [fact.leaf for fact in left.support] == [fact.leaf for fact in _leaves(afresh)]
    return closed


@pytest.mark.parametrize(("text", "goal"), CASES)
def test_deletions_agree_with_decisions(text: str, goal: str) -> None:
    _agree(text, FACTS, parse_atom(goal))


def test_most_deletions_need_no_decision() -> None:
    closed = [_agree(text, FACTS, parse_atom(goal)) for text, goal in CASES[:3]]
    assert all(closed)


@settings(max_examples=100, deadline=None)
@given(programs())
def test_deletions_agree_with_decisions_on_drawn_programs(program: Program) -> None:
    try:
        decision = _decide(Request(parse_atom(program.goal), DAY), program.rules, program.facts)
    except PolicyRejected:
        return
    for answer in decision.answers:
        if decision.verdict is Verdict.CERTIFIED:
            _agree(program.rules, program.facts, answer)


def test_what_an_absence_reads_is_never_deleted() -> None:
    policy = parse_policy(CASES[5][0], name="policy.lp")
    assert {("bad", 1), ("p", 2)} <= read_by_absences(policy)
    assert ("q", 1) not in read_by_absences(policy)


# ---- as users see it


def _listed(text: str, facts: str, goal: str) -> list[pb.LeafWitness]:
    message = pb.Goal(goal=goal, policy_text=text, facts_text=facts, valid_on="2026-01-01")
    responses = leaves_of_files(pb.StreamLeavesRequest(goal=message), Settings())
    return [one.leaf for one in responses if one.HasField("leaf")]


def test_no_spare_leaf_is_listed_and_no_open_atom_twice() -> None:
    text = (
        "ok(X) :- alias(X, Y), r(Y), t(X).\n"
        "t(X) :- alias(Y, X), u(Y).\nok(X) :- w(X), v(X).\nok(X) :- v(X), x(X)."
    )
    facts = "same_as(a, b). same_as(b, a). r(b). u(b)."
    found = _listed(text, facts, "ok(a)")
    assert found
    for leaf in found:
        assert leaf.in_certificate.verdict != common_pb2.VERDICT_CERTIFIED
        for loss in (leaf.in_certificate, leaf.in_knowledge):
            atoms = [item.atom for item in loss.open]
            assert len(atoms) == len(set(atoms))
    assert [leaf.count for leaf in found] == [len(found)] * len(found)


def test_each_edge_of_a_long_chain_is_needed() -> None:
    length = 60
    facts = "".join(f"edge(n{at}, n{at + 1}). " for at in range(length))
    found = _listed(CASES[0][0], facts, f"reach(n0, n{length})")
    assert len(found) == length
    for leaf in found:
        assert leaf.in_knowledge.verdict == common_pb2.VERDICT_ABSTAINED
        assert leaf.in_knowledge.open


def test_over_other_facts_an_inquiry_keeps_its_deadline_and_slices_these() -> None:
    facts, sources = facts_file_sources(("f.lp", "q(a). q(b)."))
    fewer = FactBase(fact for fact in facts.facts() if fact.atom != parse_atom("q(b)"))
    seconds = iter([0.0, 2.0])
    sliced: list[FactBase] = []

    def slicer(given: FactBase) -> Callable[[Atom], Slice | None]:
        sliced.append(given)
        return lambda _: None

    inquiry = Inquiry(
        parse_atom("q(X)"),
        parse_policy("", name="none"),
        facts,
        sources,
        DAY,
        "linear",
        Budget(deadline_ms=1000, clock=lambda: next(seconds)),
        slicer=slicer,
    ).over(fewer)
    assert inquiry.is_late()
    assert sliced == [facts, fewer]
