"""Decides a goal: evaluate, close, weigh, certify, and check what was written before it leaves.

Every verdict, also an abstention, is a certificate that our own checker has accepted (DESIGN
sections 1 and 4).
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .atom import Atom, render_pattern
from .bodies import NotCovered
from .certificate import (
    Conclusion,
    Witness,
    build_certificate,
    canonical_bytes,
    digest_of,
)
from .clause import Policy
from .errors import GoalRejected, SelfCheckFailed
from .evaluate import UNLIMITED, Budget
from .facts import Fact, FactBase, Signature
from .inquiry import Inquiry, Slicer
from .naming import by_entity
from .openness import Openness
from .precision import most_precise
from .prelude import COMPUTED, atoms_of, prelude
from .requirement import undetermined_requirements
from .retraction import Retraction
from .scope import write_missing
from .slice import Slice
from .sources import Sources
from .steps import Proof, StepList
from .trees import Json
from .verdict import AbstentionCode, OpenRequirement, Verdict, first_code, requirement_id
from .verify import verify_bytes
from .weigh import Side, slices_behind, weigh, write_conflicts
from .witness import show_calls


@dataclass(frozen=True, slots=True)
class Request:
    """A goal with what its certificate says of the question behind it.

    `retractions` are left out of the facts first; `assumptions` are added to the rest.
    """

    goal: Atom
    valid_on: datetime.date | None
    assumptions: tuple[Atom, ...] = ()
    question: str | None = None
    understood_as: str | None = None
    retractions: tuple[Retraction, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with its certificate; answers and refuted instances are sorted by text.

    `complete` is false where a budget cut the search or the list of answers.
    """

    verdict: Verdict
    code: AbstentionCode | None
    answers: tuple[Atom, ...]
    refuted: tuple[Atom, ...]
    open: tuple[OpenRequirement, ...]
    certificate: bytes
    digest: str
    complete: bool


def decide(
    request: Request,
    *,
    policy: Policy,
    facts: FactBase,
    sources: Sources,
    engine: str = "auto",
    budget: Budget = UNLIMITED,
    known: Collection[Signature] = (),
    slicer: Slicer | None = None,
) -> Decision:
    """Decide a goal under a policy from facts, with a checked certificate.

    `known` are predicates of the knowledge base of which nothing may be stated yet; `slicer` gives
    slices from the facts that count, where it can without evaluating. Raises
    GoalRejected for an unknown predicate, PolicyRejected, the errors of engines, and
    SelfCheckFailed if our checker refuses our certificate.
    """
    check_goal(request.goal, policy, facts, known)
    for atom in request.assumptions:
        if atom.signature in COMPUTED:
            raise GoalRejected(f"{atom} cannot be assumed; {atom.predicate} is built in")
    if request.retractions:
        facts = facts.without(request.retractions)
    assumed = [Fact(atom, "assumed") for atom in sorted(set(request.assumptions), key=str)]
    if assumed:
        facts = facts.with_facts(assumed)
    declared = declarations(request.goal, policy, sources)
    if declared:
        facts = facts.with_facts(declared)
    inquiry = Inquiry(
        request.goal,
        policy,
        facts,
        sources,
        request.valid_on,
        engine,
        budget,
        retracted=tuple(item.atom for item in request.retractions),
        vocabulary=frozenset(known),
        slicer=slicer,
    )
    case = _Case(request, inquiry)
    return _checked(case.decide(), case)


def declarations(goal: Atom, policy: Policy, sources: Sources) -> list[Fact]:
    """Give, as facts, which classes are declared disjoint, and whether a goal has one value."""
    atoms = [Atom("disjoint", pair) for pair in sorted(sources.disjoint.union(policy.disjoint))]
    functional = sources.functional.union(policy.functional)
    if goal.is_ground and len(goal.arguments) == 2 and goal.predicate in functional:
        atoms.append(Atom("functional", (goal.predicate,)))
    return [Fact(atom, "declared") for atom in atoms]


def prove(request: Request, proof: Proof, *, policy: Policy, sources: Sources) -> Decision:
    """Certify a goal, or refute it, by a proof that is at hand; the checker examines it as always.

    The proof derives the goal or its complement from rules of the policy without absences. Raises
    SelfCheckFailed if it does not hold.
    """
    steps = StepList({clause.id: clause for clause in policy.clauses})
    verdict = Verdict.CERTIFIED if proof.atom == request.goal else Verdict.REFUTED
    answers = ((proof.atom, steps.add(proof)),)
    inquiry = Inquiry(
        request.goal, policy, FactBase(), sources, request.valid_on, "linear", UNLIMITED
    )
    case = _Case(request, inquiry)
    conclusion = case._conclusion(verdict, None, answers=answers)
    return _checked(_Draft(conclusion, steps, Witness()), case)


def check_goal(goal: Atom, policy: Policy, facts: FactBase, known: Collection[Signature]) -> None:
    """Raise GoalRejected for a predicate that rules, facts and the knowledge base do not have."""
    signatures = {*facts.signatures(), *known, *COMPUTED}
    for clause in (*policy.clauses, *prelude().clauses):
        signatures.add(clause.head.signature)
        signatures.update(atom.signature for atom in atoms_of(clause.body))
    signatures.update((item.predicate, item.arity) for item in policy.closed)
    plain = {(name.removeprefix("-"), arity) for name, arity in signatures}
    if (goal.predicate, len(goal.arguments)) in plain:
        return
    arities = sorted(arity for name, arity in plain if name == goal.predicate)
    if arities:
        raise GoalRejected(
            f"{goal.predicate} takes {' or '.join(map(str, arities))} "
            f"argument{'s' if arities != [1] else ''}; "
            f"the goal {goal} has {len(goal.arguments)}"
        )
    names = sorted({name for name, _ in plain})
    near = difflib.get_close_matches(goal.predicate, names, 3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    if not policy.text:
        hint += "; the request has no policy"
    raise GoalRejected(f"no rule, fact or dimension is named {goal.predicate!r}{hint}")


@dataclass(frozen=True, slots=True)
class _Draft:
    """A conclusion with everything its certificate is written from."""

    conclusion: Conclusion
    steps: StepList
    witness: Witness
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Case:
    """A request and the inquiry into it."""

    request: Request
    inquiry: Inquiry

    def decide(self) -> _Draft:
        """Evaluate, weigh and conclude."""
        inquiry, goal = self.inquiry, self.request.goal
        if not inquiry.in_scope:
            detail = f"policy {inquiry.policy.id} does not apply on {inquiry.valid_on}"
            return self._nothing(AbstentionCode.OUT_OF_SCOPE, detail)
        part = inquiry.slice(goal)
        if not part.complete and not part.answers:
            return self._nothing(AbstentionCode.BUDGET, "the budget was used up")
        negative = Side(part)
        try:
            positive = weigh(inquiry, part)
            if inquiry.is_refutable(goal):
                negative = weigh(inquiry, inquiry.slice(goal.complement))
            return self._conclude(positive, negative)
        except NotCovered:
            return self._nothing(AbstentionCode.BUDGET, "the budget was used up")

    def _conclude(self, positive: Side, negative: Side) -> _Draft:
        clauses = self.inquiry.clauses().values()
        steps = StepList({clause.id: clause for group in clauses for clause in group})
        if positive.proofs:
            return self._certified(positive, negative, steps)
        if negative.proofs and self.request.goal.is_ground:
            return self._refuted(negative, steps)  # what it rests on outranks the other side
        if positive.disputed or (negative.disputed and not negative.proofs):
            return self._conflict(positive, negative, steps)
        return self._abstained(positive.part, negative, steps)

    def _certified(self, side: Side, negative: Side, steps: StepList) -> _Draft:
        goal = self.request.goal
        listed = by_entity(self.inquiry, goal, self._most_precise(side.proofs))
        answers = tuple((atom, steps.add(side.proofs[atom])) for atom in listed.answers)
        names = set(listed.names)
        refuted: tuple[tuple[Atom, str], ...] = ()
        slices = [side.part]
        contests = side.avoided
        if not goal.is_ground:
            denied = by_entity(self.inquiry, goal, negative.proofs)
            refuted = tuple((atom, steps.add(negative.proofs[atom])) for atom in denied.answers)
            names.update(denied.names)
            slices.append(negative.part)
            contests = {**contests, **negative.avoided, **(side.contests if side.disputed else {})}
        contested, requirements = write_conflicts(self.inquiry, contests, steps)
        slices += slices_behind(self.inquiry, contests)
        witness, cited = self._absences(slices, steps, contested, sorted(names, key=str))
        conclusion = self._conclusion(
            Verdict.CERTIFIED,
            None,
            answers=answers,
            refuted=refuted,
            open=requirements if side.disputed and not goal.is_ground else (),
            complete=goal.is_ground or all(part.complete for part in slices),
        )
        return _Draft(conclusion, steps, witness, cited)

    def _most_precise(self, proofs: dict[Atom, Proof]) -> dict[Atom, Proof]:
        inquiry = self.inquiry
        functional = inquiry.sources.functional.union(inquiry.policy.functional)
        return most_precise(inquiry, proofs, functional)

    def _refuted(self, side: Side, steps: StepList) -> _Draft:
        answers = tuple((atom, steps.add(proof)) for atom, proof in side.sorted_proofs())
        contested, _ = write_conflicts(self.inquiry, side.avoided, steps)
        slices = [side.part, *slices_behind(self.inquiry, side.avoided)]
        witness, cited = self._absences(slices, steps, contested)
        conclusion = self._conclusion(Verdict.REFUTED, None, answers=answers)
        return _Draft(conclusion, steps, witness, cited)

    def _absences(
        self,
        slices: Sequence[Slice],
        steps: StepList,
        contested: Sequence[Json],
        names: Sequence[Atom] = (),
    ) -> tuple[Witness, tuple[str, ...]]:
        """Show what the absences and aggregates of the steps rest on, and names of answers."""
        if not steps.closed and not names:
            return Witness(contested=tuple(contested)), ()
        slices = [*slices, *(self.inquiry.slice(call) for call in names)]
        shown = show_calls(self.inquiry, slices, steps, roots=names, contested=contested)
        if steps.closed:
            self._check_held(shown[0])
        return shown

    def _check_held(self, witness: Witness) -> None:
        """Refuse to conclude from what a table does not state, where the table is not there."""
        read = {pattern.signature for pattern in witness.patterns}
        for item in self.inquiry.policy.closed:
            if (item.predicate, item.arity) in read and self.inquiry.sources.lacks(item.source):
                raise GoalRejected(
                    f"{item.predicate}/{item.arity} is declared complete by {item.source!r}, of "
                    "which the knowledge base holds no whole table; expected it to be ingested, "
                    "or the declaration to name another source"
                )

    def _conflict(self, positive: Side, negative: Side, steps: StepList) -> _Draft:
        contests = {**positive.contests, **negative.contests}
        contested, requirements = write_conflicts(self.inquiry, contests, steps)
        sides = {item for contest in contests.values() for item in (contest.atom, contest.other)}
        slices = [positive.part, *slices_behind(self.inquiry, contests)]
        refuted, names = self._denied(negative, steps)
        slices += [self.inquiry.slice(call) for call in names]
        roots = [*self._both_sides(negative, slices), *names]
        witness, cited = show_calls(
            self.inquiry, slices, steps, roots=roots, excluded=sides, contested=contested
        )
        is_whole = positive.part.complete and negative.part.complete
        conclusion = self._conclusion(
            Verdict.ABSTAINED,
            AbstentionCode.CONFLICT,
            open=requirements,
            refuted=refuted,
            complete=self.request.goal.is_ground or is_whole,
        )
        return _Draft(conclusion, steps, witness, cited)

    def _abstained(self, part: Slice, negative: Side, steps: StepList) -> _Draft:
        goal, inquiry = self.request.goal, self.inquiry
        search = Openness(inquiry, part)
        missing = search.missing(goal)
        requirements = tuple(write_missing(inquiry, item) for item in missing)
        said = any(item.undetermined for item in missing)
        if part.possible and not said:
            clauses = [clause for group in inquiry.clauses().values() for clause in group]
            undetermined = undetermined_requirements(part, clauses, inquiry.sources_below)
            requirements = (*undetermined, *requirements)
        slices = list(search.slices)
        refuted, names = self._denied(negative, steps)
        slices += [inquiry.slice(call) for call in names]
        roots = [*self._both_sides(negative, slices), *names, *(item.atom for item in missing)]
        witness, cited = show_calls(inquiry, slices, steps, roots=roots)
        conclusion = self._conclusion(
            Verdict.ABSTAINED,
            first_code(tuple(item.code for item in requirements)),
            open=requirements,
            refuted=refuted,
        )
        return _Draft(conclusion, steps, witness, cited)

    def _denied(
        self, negative: Side, steps: StepList
    ) -> tuple[tuple[tuple[Atom, str], ...], tuple[Atom, ...]]:
        """Give what is refuted of an open goal, each entity once, and the calls of its names."""
        if self.request.goal.is_ground:
            return (), ()
        denied = by_entity(self.inquiry, self.request.goal, negative.proofs)
        refuted = tuple((atom, steps.add(negative.proofs[atom])) for atom in denied.answers)
        return refuted, denied.names

    def _both_sides(self, negative: Side, slices: list[Slice]) -> list[Atom]:
        """Give the calls that an abstention shows: of the goal, and of its complement too where
        rules could conclude it, since a refutation must not pass for an abstention.
        """
        goal = self.request.goal
        if negative.part not in slices and self.inquiry.is_defined(goal.complement.signature):
            slices.append(negative.part)
        concluded = self.inquiry.concludes(goal.complement.signature)
        return [goal, goal.complement] if concluded else [goal]

    def _nothing(self, code: AbstentionCode, detail: str) -> _Draft:
        """Abstain without having looked, or without having finished."""
        goal = render_pattern(self.request.goal)
        requirement = OpenRequirement(
            id=requirement_id(goal, ""),
            atom=goal,
            code=code,
            rule="",
            query="",
            expected="",
            entity_test="",
            detail=detail,
        )
        conclusion = self._conclusion(
            Verdict.ABSTAINED,
            code,
            open=(requirement,),
            complete=code is not AbstentionCode.BUDGET,
        )
        return _Draft(conclusion, StepList({}), Witness())

    def _conclusion(
        self,
        verdict: Verdict,
        code: AbstentionCode | None,
        *,
        answers: tuple[tuple[Atom, str], ...] = (),
        refuted: tuple[tuple[Atom, str], ...] = (),
        open: tuple[OpenRequirement, ...] = (),
        complete: bool = True,
    ) -> Conclusion:
        request = self.request
        return Conclusion(
            verdict=verdict,
            code=code,
            goal=request.goal,
            answers=answers,
            refuted=refuted,
            open=open,
            assumptions=request.assumptions,
            retractions=request.retractions,
            complete=complete,
            question=request.question,
            understood_as=request.understood_as,
            valid_on=request.valid_on,
        )


def _checked(draft: _Draft, case: _Case) -> Decision:
    """Write the certificate and have our checker examine it."""
    conclusion = draft.conclusion
    used = {case.inquiry.policy.digest: case.inquiry.policy}
    heads = {clause.head.signature for clause in prelude().clauses}
    called = {read.signature for read in draft.witness.patterns}
    if called & heads or any(name.startswith("prelude.") for name in draft.steps.rules):
        used[prelude().digest] = prelude()
    certificate = build_certificate(
        conclusion,
        steps=draft.steps,
        witness=draft.witness,
        policies=used.values(),
        sources=case.inquiry.sources,
        cited_sources=draft.cited,
    )
    data = canonical_bytes(certificate)
    report = verify_bytes(
        data,
        case.inquiry.sources.texts,
        expect_policy=case.inquiry.policy.digest,
        expect_goal=certificate["goal"],
    )
    if not report.valid:
        raise SelfCheckFailed(
            f"the checker rejects the certificate for {conclusion.goal}: {report.rejection} at "
            f"{report.where or 'the top'}: {report.message}"
        )
    return Decision(
        verdict=conclusion.verdict,
        code=conclusion.code,
        answers=tuple(atom for atom, _ in conclusion.answers),
        refuted=tuple(atom for atom, _ in conclusion.refuted),
        open=conclusion.open,
        certificate=data,
        digest=digest_of(data),
        complete=conclusion.complete,
    )
