"""What becomes of a certified goal without one of its leaves, from closures of its slice.

The slice is evaluated and compiled once. Without a leaf, what still follows is a closure of that
program without it: for definite rules the slice holds every instance that could matter, and each
of its calls is answered by the rows that are still derived. Where an absence or an aggregate reads
the leaf, or something is undetermined or contested, the goal has to be decided afresh.

Source: Gupta, Mumick and Subrahmanian, Maintaining views incrementally (1993), section 7; we close
anew instead of repairing, since the slice of one goal is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .atom import Atom
from .bodies import Answers, NotCovered, without_statement
from .clause import Absent, Aggregate, Policy
from .closed_slice import is_certain
from .closedness import dependencies
from .compiled_slice import SliceNames, compile_slice
from .contest import Contests
from .derivation import certify
from .engines.linear import UNDERIVED, Firing, Form, fire
from .facts import Fact, FactBase, Signature
from .horn import HornProgram, IntArray
from .inquiry import Inquiry
from .openness import Openness
from .prelude import ABOUT_NAMES, SAME_AS, atoms_of, prelude
from .scope import write_missing
from .slice import Slice
from .verdict import AbstentionCode, OpenRequirement, Verdict, first_code

_KERNEL_FROM = 2_000_000
"""Clauses and tail atoms of all closures together from which loading the kernel is worth it."""


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a goal: its verdict, what is open, or the facts its proof rests on then."""

    verdict: Verdict
    code: AbstentionCode | None = None
    open: tuple[OpenRequirement, ...] = ()
    support: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Deletions:
    """A goal that follows, with its slice closed once.

    Leaves of predicates `read_closed` are never deleted here. Where `contests` are looked for, a
    proof that is left must not rest on contested atoms.
    """

    inquiry: Inquiry
    part: Slice
    program: HornProgram
    names: SliceNames
    leaf_numbers: dict[tuple[str, str], int]
    rows: _NumberedRows
    read_closed: frozenset[Signature]
    contests: Contests | None

    def without(self, dropped: Fact, facts: FactBase) -> Left | None:
        """Say what is left of the goal without a leaf; `facts` are what counts without it.

        None where that has to be decided afresh.
        """
        plain = without_statement(dropped.atom)
        if plain.signature in self.read_closed or dropped.atom.signature in self.read_closed:
            return None
        given = self._given_without(dropped)
        number = self.names.number(self.inquiry.goal)
        assert number is not None, "the goal is in its slice"
        work = self.program.size * len(self.leaf_numbers)
        form = Form.ARRAYS if work >= _KERNEL_FROM else Form.AUTO
        firing = fire(self.program, given=given, form=form)
        if firing.clauses[number] != UNDERIVED:
            return self._another(number, given, firing)
        says = self.contests is not None and dropped.leaf.startswith("st:")
        retracted = (plain,) if says else ()
        inquiry = self.inquiry.over(facts, retracted)
        try:
            missing = _Reduced(inquiry, self, firing).missing(inquiry.goal)
        except _Doubtful:
            return None
        except NotCovered:
            return Left(Verdict.ABSTAINED, AbstentionCode.BUDGET)
        requirements = tuple(write_missing(inquiry, item) for item in missing)
        code = first_code(tuple(item.code for item in requirements))
        return Left(Verdict.ABSTAINED, code, requirements)

    def _given_without(self, dropped: Fact) -> IntArray:
        """Give the leaves but one: a statement with all it states, or an assumption."""
        number = self.leaf_numbers[_leaf_key(dropped.leaf, dropped.atom)]
        given: IntArray = self.program.given[self.program.given != number]
        return given

    def _another(self, number: int, given: IntArray, firing: Firing) -> Left | None:
        """Give the facts of the proof that is left; None where something in it is contested."""
        found = certify(self.program, number, given=given.tolist(), firing=firing)
        assert found is not None, "the goal is derived"
        count = len(self.names.atoms)
        support: dict[str, Fact] = {}
        for atom, clause in found.steps:
            if atom >= count:
                continue
            origin = self.names.origins[clause]
            fact = origin if isinstance(origin, Fact) else None
            if self.contests is not None:
                if self.contests.of(self.names.atoms[atom], fact) is not None:
                    return None
                if fact is not None and fact.leaf == "declared":
                    return None
            if fact is not None and fact.leaf.startswith(("st:", "assumed")):
                key = str(fact.atom) if fact.leaf == "assumed" else fact.leaf
                support.setdefault(key, fact)
        return Left(Verdict.CERTIFIED, support=tuple(support.values()))


def prepare_deletions(inquiry: Inquiry, *, looks_for_conflicts: bool) -> Deletions | None:
    """Close the slice of a ground goal for deletions; None where each has to be decided afresh.

    That is where the goal does not follow, something is undetermined or was cut, or something
    gives the complement of the goal.
    """
    goal = inquiry.goal
    part = inquiry.slice(goal)
    if not (part.complete and is_certain(part) and goal in part.answers):
        return None
    if inquiry.valid_on is None and looks_for_conflicts:
        return None
    names_count = False
    if inquiry.is_refutable(goal):
        against = inquiry.slice(goal.complement)
        if against.answers or against.possible or not against.complete:
            return None
        names_count = True
    program, names = compile_slice(part)
    contests = inquiry.contests() if looks_for_conflicts else None
    read = read_by_absences(inquiry.policy)
    renamed = SAME_AS in inquiry.facts.signatures()
    answers = Answers(part.demands, part.lookups, renamed=renamed)
    return Deletions(
        inquiry,
        part,
        program,
        names,
        {
            _leaf_key(leaf.name, leaf.facts[0].atom): number
            for number, leaf in zip(names.leaf_numbers, names.leaves, strict=True)
        },
        _NumberedRows(answers, names, program.atom_count),
        read | ABOUT_NAMES if read or names_count else read,
        contests,
    )


def read_by_absences(policy: Policy) -> frozenset[Signature]:
    """Give every predicate that a `not` or an aggregate of a policy reads, over any rules."""
    waiting = [
        atom.signature
        for clause in policy.clauses
        for atom in atoms_of(
            literal for literal in clause.body if isinstance(literal, (Absent, Aggregate))
        )
    ]
    reads = dependencies((*policy.clauses, *prelude().clauses))
    found = set(waiting)
    for current in waiting:
        fresh = reads.get(current, set()) - found
        found |= fresh
        waiting.extend(sorted(fresh))
    return frozenset(found)


def _leaf_key(leaf: str, atom: Atom) -> tuple[str, str]:
    """Tell leaves apart: statements by id, all others by what they say."""
    return leaf, "" if leaf.startswith("st:") else str(atom)


class _Doubtful(Exception):
    """A further call came out undetermined."""


class _NumberedRows:
    """The calls of a slice with the numbers of their rows, shared between deletions.

    A row that the program does not hold has a number beyond all atoms, and always stays.
    """

    def __init__(self, base: Answers, names: SliceNames, beyond: int) -> None:
        self.base = base
        self._names, self._beyond = names, beyond
        self._found: dict[Atom, tuple[Sequence[Atom], IntArray]] = {}

    def of(self, pattern: Atom) -> tuple[Sequence[Atom], IntArray]:
        """Give the rows of a call with their numbers. Raises NotCovered."""
        if pattern not in self._found:
            rows = self.base.rows(pattern)
            numbers = [self._names.number(row) for row in rows]
            beyond = self._beyond
            array = np.array([beyond if n is None else n for n in numbers], np.int32)
            self._found[pattern] = rows, array
        return self._found[pattern]


class _KeptAnswers(Answers):
    """The answers of a slice that are still derived, and those of further calls beside them."""

    def __init__(self, shared: _NumberedRows, derived: NDArray[np.bool_]) -> None:
        super().__init__((), (), renamed=shared.base.renamed)
        self._shared, self._derived = shared, derived
        self._kept: dict[Atom, Sequence[Atom]] = {}

    def rows(self, pattern: Atom) -> Sequence[Atom]:
        """Give the answers to a call. Raises NotCovered."""
        found = self._kept.get(pattern)
        if found is None:
            try:
                rows, numbers = self._shared.of(pattern)
            except NotCovered:
                return super().rows(pattern)
            kept = np.flatnonzero(self._derived[numbers]).tolist()
            found = rows if len(kept) == len(rows) else tuple([rows[at] for at in kept])
            self._kept[pattern] = found
        return found


class _Reduced(Openness):
    """The open requirements of a goal whose slice has lost a leaf."""

    def __init__(self, inquiry: Inquiry, deletions: Deletions, firing: Firing) -> None:
        derived = np.append(firing.derived, True)
        self._start = _KeptAnswers(deletions.rows, derived)
        super().__init__(inquiry, deletions.part)

    def _all_answers(self) -> Answers:
        return self._start

    def _take_in(self, part: Slice) -> None:
        if not is_certain(part) or part.possible:
            raise _Doubtful
        self._start.extend(part.demands, part.lookups)
