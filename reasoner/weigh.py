"""Weighs the answers of a goal: proofs from what nothing contests, and conflicts where none is.

Close first; if something inside the proof is contested, try without it; only where no support is
left, the answer is disputed (DESIGN section 4, Conflict).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kb.statement import ALWAYS

from .atom import Atom, render_pattern
from .bodies import without_statement
from .closed_slice import close_slice
from .contest import Contest, Contests
from .facts import Fact
from .inquiry import Inquiry
from .prelude import VALUE_RULES
from .slice import Instance, Slice
from .steps import Proof, StepList
from .trees import Json
from .verdict import AbstentionCode, OpenRequirement, requirement_id


@dataclass(slots=True)
class Side:
    """A goal or its complement, weighed.

    `proofs` are uncontested; `disputed` answers have contested supports only, one of which is
    given; `contests` are all that was met on the way, by the contested atom. `avoided` are those
    of them that follow from the leaves of a proof, which is minimal only without them.
    """

    part: Slice
    proofs: dict[Atom, Proof] = field(default_factory=dict)
    disputed: dict[Atom, Proof] = field(default_factory=dict)
    contests: dict[Atom, Contest] = field(default_factory=dict)
    avoided: dict[Atom, Contest] = field(default_factory=dict)

    def sorted_proofs(self) -> list[tuple[Atom, Proof]]:
        """Give the uncontested proofs by the text of their answers."""
        return sorted(self.proofs.items(), key=lambda item: str(item[0]))


def weigh(inquiry: Inquiry, part: Slice) -> Side:
    """Prove each answer of a slice, from leaves that nothing contests where that is possible.

    Once the deadline has passed, answers after the first proved one are left out, and the slice of
    the side is not complete.
    """
    side = Side(part)
    if not part.answers:
        return side
    contests = inquiry.contests()
    grounded = part.grounded()
    whole = close_slice(grounded, engine=inquiry.engine)
    for at, answer in enumerate(part.answers):
        if side.proofs and inquiry.is_late():
            side.part = replace(part, answers=part.answers[:at], complete=False)
            break
        closed = whole
        excluded: set[Atom] = set()
        met: dict[Atom, Contest] = {}
        first: Proof | None = None
        while (proof := closed.proof(answer)) is not None:
            found = _contested(proof, contests)
            passing = _passing(proof) if inquiry.valid_on is None else set()
            if not found and not passing:
                side.proofs[answer] = proof
                side.avoided.update(_following(grounded, proof, met))
                break
            met.update(found)
            excluded.update(found, passing)
            if found and first is None:
                first = proof
            closed = close_slice(grounded, excluded=excluded)
        else:
            if first is not None:
                side.disputed[answer] = first
        side.contests.update(met)
    return side


def _following(part: Slice, proof: Proof, contests: Mapping[Atom, Contest]) -> dict[Atom, Contest]:
    """Give the contests of atoms that follow from the leaves of a proof."""
    if not contests:
        return {}
    leaves = {(fact.atom, fact.leaf) for _, fact in proof.steps if isinstance(fact, Fact)}
    facts = tuple(fact for fact in part.facts if (fact.atom, fact.leaf) in leaves)
    closed = close_slice(replace(part, facts=facts))
    return {atom: contest for atom, contest in contests.items() if closed.derives(atom)}


def _passing(proof: Proof) -> set[Atom]:
    """Give what held for a time only, in a proof that needs one value at a time.

    Asked of any time, such a value excludes no other: that may have held before or after.
    """
    if not any(isinstance(origin, Fact) and origin.leaf == "declared" for _, origin in proof.steps):
        return set()
    return {
        without_statement(atom)
        for atom, origin in proof.steps
        if isinstance(origin, Fact) and origin.leaf.startswith("st:") and origin.validity != ALWAYS
    }


def _contested(proof: Proof, contests: Contests) -> dict[Atom, Contest]:
    found: dict[Atom, Contest] = {}
    for atom, origin in proof.steps:
        if isinstance(origin, Instance) and origin.rule_id.startswith(VALUE_RULES):
            continue  # what excludes the value is weighed where it is stated
        contest = contests.of(atom, origin if isinstance(origin, Fact) else None)
        if contest is not None:
            found[contest.atom] = contest
    return found


def write_conflicts(
    inquiry: Inquiry, contests: Mapping[Atom, Contest], steps: StepList
) -> tuple[list[Json], tuple[OpenRequirement, ...]]:
    """Write both sides of each conflict, with their proofs, and what is to be resolved."""
    pairs: dict[tuple[str, str, str], Contest] = {}
    for contest in contests.values():
        first, second = sorted((str(contest.atom), str(contest.other)))
        pairs.setdefault((contest.reason, first, second), contest)
    records: list[Json] = []
    requirements: list[OpenRequirement] = []
    for _, contest in sorted(pairs.items()):
        sides = [
            {"atom": str(atom), "step": _side_step(inquiry, atom, steps)}
            for atom in sorted((contest.atom, contest.other), key=str)
        ]
        records.append({"reason": contest.reason, "sides": sides})
        text = render_pattern(contest.atom)
        requirements.append(
            OpenRequirement(
                id=requirement_id(text, ""),
                atom=text,
                code=AbstentionCode.CONFLICT,
                rule="",
                query="",
                expected="resolution",
                entity_test="",
                detail=f"{contest.atom} and {contest.other} cannot both hold ({contest.reason})",
                conflicting=tuple(sorted(_statements_behind(sides, steps))),
            )
        )
    return records, tuple(requirements)


def slices_behind(inquiry: Inquiry, contests: Mapping[Atom, Contest]) -> list[Slice]:
    """Give the slices from which sides of conflicts were derived, by the text of the side."""
    sides = {side for contest in contests.values() for side in (contest.atom, contest.other)}
    return [
        inquiry.slice(side)
        for side in sorted(sides, key=str)
        if inquiry.derives(side) or not inquiry.facts.match(side, inquiry.valid_on)
    ]


def _side_step(inquiry: Inquiry, atom: Atom, steps: StepList) -> str:
    stated = inquiry.facts.match(atom, inquiry.valid_on)
    if stated:
        return steps.add_fact(stated[0])
    proof = close_slice(inquiry.slice(atom).grounded()).proof(atom)
    assert proof is not None, "both sides of a conflict are derived"
    return steps.add(proof)


def _statements_behind(sides: Sequence[Json], steps: StepList) -> set[str]:
    waiting = [side["step"] for side in sides]
    found: set[str] = set()
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        step = steps.steps[int(name[1:]) - 1]
        waiting.extend(step["premises"])
        if "statement" in step:
            found.add(step["statement"])
    return found
