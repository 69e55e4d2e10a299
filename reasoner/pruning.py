"""Ordered deletion of given atoms a goal can do without, without closing anew for each.

The answer is exactly that of the plain loop (for each candidate in turn: drop it, close, keep it if
the goal is lost). Three things keep it from being quadratic on long proofs: atoms that every
derivation passes through are followed from the goal; all others are judged together by one sweep of
bit sets; and a drop repairs the recorded derivation only where it was hit.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from itertools import pairwise

from .engines.linear import UNDERIVED, Firing
from .horn import HornProgram

SWEEP_BITS = 64 * 2**23
"""Bits all sets of one sweep may take together (64 MiB)."""

WASTE = 8
"""Another sweep is due once failed drops have visited this many times the whole program."""


def ordered_deletion(
    program: HornProgram, goal: int, firing: Firing, *, candidates: Iterable[int]
) -> set[int]:
    """Drop candidates in turn while `goal` still follows, and give those that had to stay.

    `firing` closes the program, all of whose atoms are derivable from the given ones, which include
    the candidates. Source: Marques-Silva, Janota and
    Mencia, Minimal sets on propositional formulae (2017), section 4 (deletion); the repair follows
    Gupta, Mumick and Subrahmanian, Maintaining views incrementally (1993), section 7.
    """
    turns = list(candidates)
    network = _Network(program, goal, firing)
    network.follow([goal])
    needed = network.forced.intersection(turns)
    if len(needed) < len(turns):
        needed |= network.sweep(sorted(set(turns) - needed))
    kept = set(turns)
    budget = WASTE * max(64, program.size)
    for candidate in turns:
        if candidate in needed or candidate in network.forced:
            continue
        visited = network.drop(candidate)
        if visited is None:
            kept.discard(candidate)
            continue
        needed.add(candidate)
        budget -= visited
        if budget < 0:
            budget = WASTE * program.size
            needed |= network.sweep(sorted(kept - needed - network.forced))
    return kept


def indispensable(
    program: HornProgram, goal: int, firing: Firing, candidates: Iterable[int]
) -> set[int]:
    """Give exactly the candidates that every derivation of the goal rests on.

    The program and its `firing` are as for `ordered_deletion`.
    """
    turns = set(candidates)
    network = _Network(program, goal, firing)
    network.follow([goal])
    forced = network.forced.intersection(turns)
    return forced | network.sweep(sorted(turns - forced))


class _Network:
    """A program with one recorded derivation per atom, from which given atoms are dropped.

    `why[atom]` is the clause that derives it, GIVEN or UNDERIVED; the tail of that clause always
    has lower ranks than the atom. `open_clauses[atom]` are the clauses for it whose tail is alive.
    """

    def __init__(self, program: HornProgram, goal: int, firing: Firing) -> None:
        count = program.atom_count
        rows = program.rows
        self.goal = goal
        self.heads = rows.heads
        self.tails = [rows.tails[start:end] for start, end in pairwise(rows.tail_starts)]
        self.given = set(program.given.tolist())
        self.rank: list[int] = firing.ranks.tolist()
        self.next_rank = count
        self.why: list[int] = firing.clauses.tolist()
        self.open_clauses: list[dict[int, None]] = [{} for _ in range(count)]
        self.uses: list[list[int]] = [[] for _ in range(count)]
        open_clauses, uses, tails = self.open_clauses, self.uses, self.tails
        for clause, head in enumerate(self.heads):
            tail = tails[clause]
            if len(tail) > 2 or (len(tail) == 2 and tail[0] == tail[1]):
                tail = tails[clause] = list(dict.fromkeys(tail))
            if head not in tail:
                open_clauses[head][clause] = None
                for atom in tail:
                    uses[atom].append(clause)
        self.forced: set[int] = set()
        self._passed = {goal}

    def _lower(self, atom: int, broken: frozenset[int] | set[int]) -> int | None:
        """Find a clause for `atom` whose tail has lower ranks and nothing broken."""
        rank, limit = self.rank, self.rank[atom]
        for clause in self.open_clauses[atom]:
            for premise in self.tails[clause]:
                if rank[premise] >= limit or premise in broken:
                    break
            else:
                return clause
        return None

    def follow(self, atoms: list[int]) -> None:
        """Go back from atoms every derivation passes through, along what all their clauses share.

        Adds to `forced` the given atoms met that have no other derivation.
        """
        stack = list(atoms)
        while stack:
            atom = stack.pop()
            clauses = list(self.open_clauses[atom])
            if atom in self.given:
                if not clauses:
                    self.forced.add(atom)
                continue
            if not clauses:
                continue
            shared = self.tails[clauses[0]]
            for clause in clauses[1:]:
                tail = self.tails[clause]
                shared = [premise for premise in shared if premise in tail]
            for premise in shared:
                if premise not in self._passed:
                    self._passed.add(premise)
                    stack.append(premise)

    def drop(self, candidate: int) -> int | None:
        """Drop a given atom unless the goal is lost.

        Gives None when it is dropped, else the number of atoms visited in vain.
        """
        why: dict[int, int] = {}
        broken: set[int] = set()
        order = []
        self.given.discard(candidate)
        heap = [(self.rank[candidate], candidate)]
        waiting = {candidate}
        while heap:
            _, atom = heappop(heap)
            other = self._lower(atom, broken)
            if other is not None:
                why[atom] = other
                continue
            broken.add(atom)
            order.append(atom)
            for clause in self.uses[atom]:
                head = self.heads[clause]
                if self.why[head] == clause and head not in waiting:
                    waiting.add(head)
                    heappush(heap, (self.rank[head], head))
        revived = self._revive(order, broken, why)
        if self.goal in broken:
            self.given.add(candidate)
            return len(waiting)
        for atom, clause in why.items():
            self.why[atom] = clause
        for atom in revived:
            self.rank[atom] = self.next_rank
            self.next_rank += 1
        hit = [candidate] if candidate in self._passed else []
        for atom in order:
            if atom in broken:
                self.why[atom] = UNDERIVED
                for clause in self.uses[atom]:
                    head = self.heads[clause]
                    if (
                        self.open_clauses[head].pop(clause, UNDERIVED) is None
                        and head in self._passed
                    ):
                        hit.append(head)
        self.follow(hit)
        return None

    def _revive(self, order: list[int], broken: set[int], why: dict[int, int]) -> list[int]:
        """Derive broken atoms anew from the others, taking them out of `broken`, in queue order."""
        missing: dict[int, int] = {}
        queue = []
        for atom in order:
            for clause in self.open_clauses[atom]:
                lacking = 0
                for premise in self.tails[clause]:
                    if premise in broken:
                        lacking += 1
                missing[clause] = lacking
                if not lacking and atom not in why:
                    why[atom] = clause
                    queue.append(atom)
        for atom in queue:
            broken.discard(atom)
            for clause in self.uses[atom]:
                if clause in missing:
                    missing[clause] -= 1
                    head = self.heads[clause]
                    if not missing[clause] and head in broken and head not in why:
                        why[head] = clause
                        queue.append(head)
        return queue

    def sweep(self, candidates: list[int]) -> set[int]:
        """Give exactly those candidates without which the goal is lost as things stand."""
        alive = [atom for atom in range(len(self.rank)) if self.why[atom] != UNDERIVED]
        alive.sort(key=self.rank.__getitem__)
        width = max(64, SWEEP_BITS // max(1, len(alive)))
        found: set[int] = set()
        for start in range(0, len(candidates), width):
            chunk = candidates[start : start + width]
            without = self._derivable_without(alive, chunk)[self.goal]
            found.update(atom for bit, atom in enumerate(chunk) if not without >> bit & 1)
        return found

    def _derivable_without(self, alive: list[int], chunk: list[int]) -> list[int]:
        """Give for each atom the bits of those of `chunk` without which it can still be derived.

        The least fixpoint: one pass by rank, then second looks where the tail of a clause has
        higher ranks than its head.
        """
        everything = (1 << len(chunk)) - 1
        without = [0] * len(self.rank)
        for atom in self.given:
            without[atom] = everything
        for bit, atom in enumerate(chunk):
            without[atom] = everything ^ (1 << bit)
        rank, heads, tails, open_clauses = self.rank, self.heads, self.tails, self.open_clauses
        again: set[int] = set()
        for atom in alive:
            result = without[atom]
            place = rank[atom]
            for clause in open_clauses[atom]:
                both = everything
                for premise in tails[clause]:
                    both &= without[premise]
                    if rank[premise] > place:
                        again.add(atom)
                result |= both
            without[atom] = result
        waiting = again
        sweep = [(rank[atom], atom) for atom in again]
        heapify(sweep)
        while sweep:
            _, atom = heappop(sweep)
            waiting.discard(atom)
            result = without[atom]
            for clause in open_clauses[atom]:
                both = everything
                for premise in tails[clause]:
                    both &= without[premise]
                result |= both
            if result == without[atom]:
                continue
            without[atom] = result
            for clause in self.uses[atom]:
                head = heads[clause]
                if head not in waiting and clause in open_clauses[head]:
                    waiting.add(head)
                    heappush(sweep, (rank[head], head))
        return without
