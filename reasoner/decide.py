"""Decides a goal: evaluate, close, weigh, certify, and check what was written before it leaves.

Every verdict, also an abstention, is a certificate that our own checker has accepted (DESIGN
sections 1 and 4).
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from .atom import Atom, Variable
from .bodies import Answers, NotCovered
from .certificate import (
    Conclusion,
    Json,
    Proof,
    StepList,
    Witness,
    build_certificate,
    canonical_bytes,
    digest_of,
)
from .clause import Clause, Policy
from .contest import Contest, Contests
from .derivation import derivation, minimal_support, trace
from .engines import Firing, close
from .errors import GoalRejected, SelfCheckFailed
from .evaluate import UNLIMITED, Budget, evaluate
from .facts import Fact, FactBase, Signature
from .horn import HornProgram, SliceNames, compile_slice
from .openness import Openness, requirement_id, requirement_text, write_requirement
from .prelude import atoms_of, prelude, rules_in_force
from .slice import Call, Instance, Slice
from .sources import Sources
from .verdict import AbstentionCode, OpenRequirement, Verdict, first_code
from .verify import verify_bytes
from .witness import lookup_basis, reach, read_absences, write_witness


@dataclass(frozen=True, slots=True)
class Request:
    """A goal with what its certificate says of the question behind it."""

    goal: Atom
    valid_on: datetime.date | None
    assumptions: tuple[Atom, ...] = ()
    question: str | None = None
    understood_as: str | None = None


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
) -> Decision:
    """Decide a goal under a policy from facts, with a checked certificate.

    `known` are predicates of the knowledge base of which nothing may be stated yet. Raises
    GoalRejected for an unknown predicate, PolicyRejected, the errors of engines, and
    SelfCheckFailed if our checker refuses our certificate.
    """
    _check_goal(request.goal, policy, facts, known)
    assumed = [Fact(atom, "assumed") for atom in sorted(set(request.assumptions), key=str)]
    if assumed:
        facts = facts.with_facts(assumed)
    case = _Case(request, policy, facts, sources, engine, budget)
    draft = case.decide()
    return _checked(draft, case)


def _check_goal(goal: Atom, policy: Policy, facts: FactBase, known: Collection[Signature]) -> None:
    """Refuse a predicate that neither rules nor facts nor the knowledge base have."""
    signatures = {*facts.signatures(), *known}
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
            f"{goal.predicate} takes {' or '.join(map(str, arities))} arguments; "
            f"the goal {goal} has {len(goal.arguments)}"
        )
    names = sorted({name for name, _ in plain})
    near = difflib.get_close_matches(goal.predicate, names, 3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise GoalRejected(f"no rule, fact or dimension is named {goal.predicate!r}{hint}")


@dataclass(frozen=True, slots=True)
class _Draft:
    """A conclusion with everything its certificate is written from."""

    conclusion: Conclusion
    steps: StepList
    witness: Witness
    cited: tuple[str, ...] = ()


@dataclass(slots=True)
class _Closed:
    """A slice without its excluded atoms, closed."""

    part: Slice
    program: HornProgram
    names: SliceNames
    firing: Firing

    def derives(self, atom: Atom) -> bool:
        number = self.names.number(atom)
        return number is not None and bool(self.firing.derived[number])

    def proof(self, atom: Atom) -> Proof | None:
        """Give the minimal proof of an atom."""
        number = self.names.number(atom)
        if number is None or not self.derives(atom):
            return None
        support = minimal_support(self.program, number, firing=self.firing)
        assert support is not None
        steps = derivation(self.program, number, support)
        assert steps is not None
        return self._proof(atom, steps)

    def trail(self, atom: Atom) -> Proof | None:
        """Give the recorded derivation of an atom, not made minimal."""
        number = self.names.number(atom)
        if number is None or not self.derives(atom):
            return None
        return self._proof(atom, trace(self.program, self.firing, number))

    def _proof(self, atom: Atom, steps: Iterable[tuple[int, int]]) -> Proof:
        atoms, origins = self.names.atoms, self.names.origins
        count = len(atoms)
        return Proof(
            atom,
            tuple((atoms[number], origins[clause]) for number, clause in steps if number < count),
        )


def _closed(part: Slice, excluded: Collection[Atom], engine: str) -> _Closed:
    if excluded:
        part = replace(
            part,
            instances=tuple(item for item in part.instances if item.head not in excluded),
            facts=tuple(fact for fact in part.facts if fact.atom not in excluded),
        )
    program, names = compile_slice(part)
    return _Closed(part, program, names, close(program, engine=engine))


@dataclass(slots=True)
class _Side:
    """A goal or its complement: uncontested proofs by answer, and what is contested."""

    part: Slice
    proofs: dict[Atom, Proof] = field(default_factory=dict)
    contests: dict[Atom, Contest] = field(default_factory=dict)
    disputed: dict[Atom, Proof] = field(default_factory=dict)
    """Answers whose every support is contested, with one such support."""


@dataclass(slots=True)
class _Case:
    """One request under way."""

    request: Request
    policy: Policy
    facts: FactBase
    sources: Sources
    engine: str
    budget: Budget
    slices: dict[Atom, Slice] = field(default_factory=dict)

    def decide(self) -> _Draft:
        request, day = self.request, self.request.valid_on
        start, end = self.policy.effective
        if day is not None and (
            (start is not None and day < start) or (end is not None and day >= end)
        ):
            return self._out_of_scope()
        goal = request.goal
        part = self.slice(goal)
        if not part.complete and not part.answers:
            return self._cut()
        positive = self._weigh(part)
        negative: _Side | None = None
        if self._is_defined(goal.complement.signature):
            negative = self._weigh(self.slice(goal.complement))
        try:
            return self._conclude(positive, negative)
        except NotCovered:
            return self._cut()

    # ---- evaluating

    def slice(self, goal: Atom) -> Slice:
        """Evaluate a goal once."""
        if goal not in self.slices:
            self.slices[goal] = evaluate(
                self.policy,
                goal,
                self.facts,
                valid_on=self.request.valid_on,
                budget=self.budget,
            )
        return self.slices[goal]

    def clauses(self) -> tuple[Clause, ...]:
        """Give the clauses in force for the goal."""
        return rules_in_force(self.policy, self.request.goal, self.facts)

    def _is_defined(self, signature: Signature) -> bool:
        return signature in self.facts.signatures() or any(
            clause.head.signature == signature for clause in self.policy.clauses
        )

    def _derives(self, atom: Atom) -> bool:
        """Whether rules derive an atom with certainty."""
        if not any(clause.head.signature == atom.signature for clause in self.policy.clauses):
            return False
        return atom in self.slice(atom).answers

    # ---- weighing

    def _weigh(self, part: Slice) -> _Side:
        """Prove each answer, from leaves that nothing contests where that is possible."""
        side = _Side(part)
        if not part.answers:
            return side
        contests = Contests(
            self.policy, self.facts, self.sources, self.request.valid_on, self._derives
        )
        whole = _closed(part, (), self.engine)
        for answer in part.answers:
            closed, excluded = whole, set[Atom]()
            first: Proof | None = None
            while True:
                proof = closed.proof(answer)
                if proof is None:
                    break
                first = first or proof
                found = self._contested(proof, contests)
                if not found:
                    side.proofs[answer] = proof
                    break
                side.contests.update(found)
                excluded.update(found)
                closed = _closed(part, excluded, "linear")
            if answer not in side.proofs and first is not None:
                side.disputed[answer] = first
        return side

    def _contested(self, proof: Proof, contests: Contests) -> dict[Atom, Contest]:
        found = {}
        for atom, origin in proof.steps:
            contest = contests.of(atom, origin if isinstance(origin, Fact) else None)
            if contest is not None:
                found[atom] = contest
        return found

    # ---- concluding

    def _conclude(self, positive: _Side, negative: _Side | None) -> _Draft:
        goal = self.request.goal
        steps = StepList({clause.id: clause for clause in self.clauses()})
        part = positive.part
        if not goal.is_ground:
            if positive.proofs:
                return self._certified(positive, negative, steps)
        elif positive.proofs:
            return self._certified(positive, None, steps)
        elif negative is not None and negative.proofs and not positive.disputed:
            return self._refuted(negative, steps)
        if positive.disputed or (negative is not None and negative.disputed):
            return self._conflict(positive, negative, steps)
        return self._abstained(part, negative, steps)

    def _certified(self, side: _Side, negative: _Side | None, steps: StepList) -> _Draft:
        answers = tuple((atom, steps.add(proof)) for atom, proof in sorted_proofs(side.proofs))
        refuted: tuple[tuple[Atom, str], ...] = ()
        slices = [side.part]
        if negative is not None and negative.proofs:
            refuted = tuple((a, steps.add(proof)) for a, proof in sorted_proofs(negative.proofs))
            slices.append(negative.part)
        contested, requirements = self._contested_records(side.disputed, side.contests, steps)
        witness, cited = self._absences(slices, steps, contested)
        conclusion = self._conclusion(
            Verdict.CERTIFIED,
            None,
            answers=answers,
            refuted=refuted,
            open=requirements,
            complete=all(part.complete for part in slices) or self.request.goal.is_ground,
        )
        return _Draft(conclusion, steps, witness, cited)

    def _refuted(self, side: _Side, steps: StepList) -> _Draft:
        answers = tuple((atom, steps.add(proof)) for atom, proof in sorted_proofs(side.proofs))
        witness, cited = self._absences([side.part], steps, [])
        conclusion = self._conclusion(Verdict.REFUTED, None, answers=answers)
        return _Draft(conclusion, steps, witness, cited)

    def _absences(
        self, slices: Sequence[Slice], steps: StepList, contested: Sequence[Json]
    ) -> tuple[Witness, tuple[str, ...]]:
        """Show what the absences and aggregates of the steps rest on."""
        if not steps.closed:
            return Witness(contested=tuple(contested)), ()
        return self._witness(slices, steps, contested=contested)

    def _witness(
        self,
        slices: Sequence[Slice],
        steps: StepList,
        *,
        roots: Sequence[Atom] = (),
        excluded: Collection[Atom] = (),
        contested: Sequence[Json] = (),
    ) -> tuple[Witness, tuple[str, ...]]:
        """Write the calls that roots and closed premises reach, with proofs of their answers."""
        part = merged(slices)
        whole = _closed(part, (), "linear")
        closed = _closed(part, excluded, "linear") if excluded else whole
        uncertain = {
            row
            for call in (*part.demands, *part.lookups)
            for row in call.answers
            if not whole.derives(row)
        }
        stated = {fact.atom: fact for fact in reversed(part.facts)}
        known: dict[Atom, str | None] = {}

        def prove(atom: Atom) -> str | None:
            if atom not in known:
                proof = closed.trail(atom)
                known[atom] = None if proof is None else steps.add(proof)
            return known[atom]

        def prove_row(atom: Atom) -> str | None:
            return steps.add_fact(stated[atom]) if atom in stated else None

        by_head: dict[Signature, list[Clause]] = {}
        for clause in self.clauses():
            by_head.setdefault(clause.head.signature, []).append(clause)
        answers = Answers(part.demands, part.lookups, uncertain)
        for root in roots:
            answers.rows(root)
        done = 0
        while True:
            read_absences(steps, answers, steps.closed.values())
            demands, lookups = reach(answers, by_head)
            for call in demands:
                for atom in sorted(call.answers, key=str):
                    prove(atom)
            for call in lookups:
                for atom in sorted(call.answers, key=str):
                    prove_row(atom)
            if len(steps.closed) == done:
                break
            done = len(steps.closed)
        files = self.sources.fact_sources
        witness = write_witness(
            demands,
            lookups,
            prove=prove,
            prove_row=prove_row,
            uncertain=uncertain,
            basis=lookup_basis(self.policy, facts_are_whole=bool(files)),
            contested=contested,
        )
        cited = files if any(item["basis"] == "facts" for item in witness.lookups) else ()
        return witness, cited

    # ---- abstaining

    def _abstained(self, part: Slice, negative: _Side | None, steps: StepList) -> _Draft:
        goal = self.request.goal
        slices = [part]
        merged_part = merged(slices)
        answers = Answers(merged_part.demands, merged_part.lookups, set(part.possible))
        roots = [goal]

        def ensure(pattern: Atom) -> None:
            nonlocal answers
            try:
                answers.rows(pattern)
            except NotCovered:
                more = self.slice(pattern)
                if not more.complete:
                    raise
                slices.append(more)
                again = merged(slices)
                answers = Answers(again.demands, again.lookups, answers.uncertain)
                openness.answers = answers
            roots.append(pattern)

        by_head: dict[Signature, list[Clause]] = {}
        for clause in self.clauses():
            by_head.setdefault(clause.head.signature, []).append(clause)
        openness = Openness(by_head, answers, ensure)
        missing = openness.missing(goal)
        requirements = tuple(
            write_requirement(
                item, facts=self.facts, sources=self.sources, valid_on=self.request.valid_on
            )
            for item in missing
        )
        shown = [root for root in roots if any(_covers(root, item.atom) for item in missing)]
        refuted: tuple[tuple[Atom, str], ...] = ()
        if negative is not None and negative.proofs and not goal.is_ground:
            slices.append(negative.part)
            refuted = tuple((a, steps.add(proof)) for a, proof in sorted_proofs(negative.proofs))
        witness, cited = self._witness(slices, steps, roots=[goal, *shown])
        if part.possible and not any(
            item.code is AbstentionCode.UNDETERMINED for item in requirements
        ):
            requirements = (*_undetermined(part), *requirements)
        conclusion = self._conclusion(
            Verdict.ABSTAINED,
            first_code(tuple(item.code for item in requirements)),
            open=requirements,
            refuted=refuted,
        )
        return _Draft(conclusion, steps, witness, cited)

    def _conflict(self, positive: _Side, negative: _Side | None, steps: StepList) -> _Draft:
        disputed = dict(positive.disputed)
        contests = dict(positive.contests)
        slices = [positive.part]
        if negative is not None:
            disputed.update(negative.disputed)
            contests.update(negative.contests)
            slices.append(negative.part)
        contested, requirements = self._contested_records(disputed, contests, steps)
        excluded = {item for contest in contests.values() for item in (contest.atom, contest.other)}
        excluded.update(contests)
        witness, cited = self._witness(
            slices, steps, roots=[self.request.goal], excluded=excluded, contested=contested
        )
        conclusion = self._conclusion(
            Verdict.ABSTAINED,
            first_code(tuple(item.code for item in requirements)),
            open=requirements,
        )
        return _Draft(conclusion, steps, witness, cited)

    def _contested_records(
        self, disputed: dict[Atom, Proof], contests: dict[Atom, Contest], steps: StepList
    ) -> tuple[list[Json], tuple[OpenRequirement, ...]]:
        """Write both sides of each conflict inside the supports of disputed answers."""
        if not disputed:
            return [], ()
        involved: dict[str, Contest] = {}
        for contest in contests.values():
            pair = " | ".join(sorted((str(contest.atom), str(contest.other))))
            involved.setdefault(f"{contest.reason} {pair}", contest)
        records: list[Json] = []
        requirements: list[OpenRequirement] = []
        for _, contest in sorted(involved.items()):
            sides = []
            for atom in sorted((contest.atom, contest.other), key=str):
                step = self._side_step(atom, steps)
                sides.append({"atom": str(atom), "step": step})
            records.append({"reason": contest.reason, "sides": sides})
            statements = sorted(self._statements_behind(sides, steps))
            text = requirement_text(contest.atom)
            requirements.append(
                OpenRequirement(
                    id=requirement_id(text, ""),
                    atom=text,
                    code=AbstentionCode.CONFLICT,
                    rule="",
                    query="",
                    expected="resolution",
                    entity_test="",
                    detail=f"{contest.atom} and {contest.other} cannot both hold "
                    f"({contest.reason})",
                    conflicting=tuple(statements),
                )
            )
        return records, tuple(requirements)

    def _side_step(self, atom: Atom, steps: StepList) -> str:
        stated = self.facts.match(atom, self.request.valid_on)
        if stated:
            return steps.add_fact(stated[0])
        closed = _closed(self.slice(atom), (), "linear")
        proof = closed.proof(atom)
        assert proof is not None, "both sides of a conflict are derived"
        return steps.add(proof)

    @staticmethod
    def _statements_behind(sides: Sequence[Json], steps: StepList) -> set[str]:
        waiting = [side["step"] for side in sides]
        found: set[str] = set()
        seen: set[str] = set()
        while waiting:
            step = steps.steps[int(waiting.pop()[1:]) - 1]
            if step["id"] in seen:
                continue
            seen.add(step["id"])
            waiting.extend(step["premises"])
            if "statement" in step:
                found.add(step["statement"])
        return found

    def _cut(self) -> _Draft:
        goal = requirement_text(self.request.goal)
        requirement = self._whole_goal(goal, AbstentionCode.BUDGET, "the budget was used up")
        conclusion = self._conclusion(
            Verdict.ABSTAINED, AbstentionCode.BUDGET, open=(requirement,), complete=False
        )
        return _Draft(conclusion, StepList({}), Witness())

    def _out_of_scope(self) -> _Draft:
        goal = requirement_text(self.request.goal)
        detail = f"policy {self.policy.id} does not apply on {self.request.valid_on}"
        requirement = self._whole_goal(goal, AbstentionCode.OUT_OF_SCOPE, detail)
        conclusion = self._conclusion(
            Verdict.ABSTAINED, AbstentionCode.OUT_OF_SCOPE, open=(requirement,)
        )
        return _Draft(conclusion, StepList({}), Witness())

    @staticmethod
    def _whole_goal(goal: str, code: AbstentionCode, detail: str) -> OpenRequirement:
        return OpenRequirement(
            id=requirement_id(goal, ""),
            atom=goal,
            code=code,
            rule="",
            query="",
            expected="",
            entity_test="",
            detail=detail,
        )

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
            complete=complete,
            question=request.question,
            understood_as=request.understood_as,
            valid_on=request.valid_on,
        )


def sorted_proofs(proofs: dict[Atom, Proof]) -> list[tuple[Atom, Proof]]:
    """Give proofs by the text of their atoms."""
    return sorted(proofs.items(), key=lambda item: str(item[0]))


def _covers(general: Atom, atom: Atom) -> bool:
    return general.signature == atom.signature and all(
        isinstance(own, Variable) or own == other
        for own, other in zip(general.arguments, atom.arguments, strict=True)
    )


def merged(slices: Sequence[Slice]) -> Slice:
    """Join slices of one policy and fact base; instances, facts and calls come once, sorted."""
    first, *others = slices
    if not others:
        return first
    instances: dict[Instance, None] = {}
    facts: dict[Fact, None] = {}
    demands: dict[Atom, Call] = {}
    lookups: dict[Atom, Call] = {}
    for part in slices:
        instances.update(dict.fromkeys(part.instances))
        facts.update(dict.fromkeys(part.facts))
        for call in part.demands:
            demands.setdefault(call.pattern, call)
        for call in part.lookups:
            lookups.setdefault(call.pattern, call)
    return replace(
        first,
        instances=tuple(sorted(instances, key=lambda i: (i.rule_id, str(i.bindings)))),
        facts=tuple(sorted(facts, key=lambda fact: (str(fact.atom), fact.leaf))),
        demands=tuple(demands.values()),
        lookups=tuple(lookups.values()),
        complete=all(part.complete for part in slices),
    )


def _undetermined(part: Slice) -> tuple[OpenRequirement, ...]:
    """Name the undetermined comparisons of a slice whose goal is possible only."""
    from kb.quantity import Truth

    from .slice import AggregatePremise, ComparisonPremise

    found: dict[str, str] = {}
    for instance in part.instances:
        for premise in instance.premises:
            if (
                isinstance(premise, (ComparisonPremise, AggregatePremise))
                and premise.truth is Truth.UNDETERMINED
            ):
                found.setdefault(premise.text, instance.rule_id)
    return tuple(
        OpenRequirement(
            id=requirement_id(text, rule),
            atom=text,
            code=AbstentionCode.UNDETERMINED,
            rule=rule,
            query="",
            expected="a more precise value",
            entity_test="",
            detail="the sources are not precise enough",
        )
        for text, rule in sorted(found.items())
    )


def _checked(draft: _Draft, case: _Case) -> Decision:
    """Write the certificate and have our checker examine it."""
    conclusion = draft.conclusion
    used = {case.policy.digest: case.policy}
    heads = {clause.head.signature for clause in prelude().clauses}
    called = {read.signature for read in draft.witness.patterns}
    if called & heads or any(name.startswith("prelude.") for name in draft.steps.rules):
        used[prelude().digest] = prelude()
    certificate = build_certificate(
        conclusion,
        steps=draft.steps,
        witness=draft.witness,
        policies=used.values(),
        sources=case.sources,
        cited_sources=draft.cited,
    )
    data = canonical_bytes(certificate)
    report = verify_bytes(
        data, case.sources.texts, expect_policy=case.policy.digest, expect_goal=str(conclusion.goal)
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
