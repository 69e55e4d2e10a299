"""Ordered deletion of given atoms a goal can do without, without closing anew for each.

The answer is exactly that of the plain loop (for each candidate in turn: drop it, close, keep it if
the goal is lost). Three things keep it from being quadratic on long proofs: atoms that every
derivation passes through are followed from the goal; all others are judged together by one sweep of
bit sets; and a drop repairs the recorded derivation only where it was hit.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from .engines.propagation import GIVEN
from .horn import HornProgram

SWEEP_BITS = 64 * 2**23
"""Bits all sets of one sweep may take together (64 MiB)."""

WASTE = 8
"""Another sweep is due once failed drops have visited this many times the whole program."""

DEAD = -2


def ordered_deletion(
    program: HornProgram, goal: int, order: Iterable[int], *, candidates: Iterable[int]
) -> set[int]:
    """Drop candidates in turn while `goal` still follows, and give those that had to stay.

    All atoms of the program are derivable from the given ones, which include the candidates;
    `order` lists the atoms in the order a closure derived them. Source: Marques-Silva, Janota and
    Mencia, Minimal sets on propositional formulae (2017), section 4 (deletion); the repair follows
    Gupta, Mumick and Subrahmanian, Maintaining views incrementally (1993), section 7.
    """
    turns = list(candidates)
    network = _Network(program, goal, list(order))
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


class _Network:
    """A program with one recorded derivation per atom, from which given atoms are dropped.

    `why[atom]` is the clause that derives it, GIVEN or DEAD; the tail of that clause always has
    lower ranks than the atom. `open_clauses[atom]` are the clauses for it whose tail is alive.
    """

    def __init__(self, program: HornProgram, goal: int, order: list[int]) -> None:
        count = program.atom_count
        rows = program.rows
        starts = rows.tail_starts
        self.goal = goal
        self.heads = rows.heads
        self.tails = [
            rows.tails[starts[clause] : starts[clause + 1]]
            for clause in range(program.clause_count)
        ]
        self.given = set(program.given.tolist())
        self.rank = [0] * count
        for place, atom in enumerate(order):
            self.rank[atom] = place
        self.next_rank = len(order)
        self.open_clauses: list[dict[int, None]] = [{} for _ in range(count)]
        self.uses: list[list[int]] = [[] for _ in range(count)]
        for clause, head in enumerate(self.heads):
            if head not in self.tails[clause]:
                self.open_clauses[head][clause] = None
                for atom in set(self.tails[clause]):
                    self.uses[atom].append(clause)
        self.why = [DEAD] * count
        for atom in order:
            if atom in self.given:
                self.why[atom] = GIVEN
            else:
                found = self._lower(atom, frozenset())
                assert found is not None
                self.why[atom] = found
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
                self.why[atom] = DEAD
                for clause in self.uses[atom]:
                    head = self.heads[clause]
                    if self.open_clauses[head].pop(clause, DEAD) is None and head in self._passed:
                        hit.append(head)
        self.follow(hit)
        return None

    def _revive(self, order: list[int], broken: set[int], why: dict[int, int]) -> list[int]:
        """Derive broken atoms anew from the others, taking them out of `broken`, in queue order."""
        missing: dict[int, int] = {}
        queue = []
        for atom in order:
            for clause in self.open_clauses[atom]:
                missing[clause] = sum(p in broken for p in set(self.tails[clause]))
                if not missing[clause] and atom not in why:
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
        alive = [atom for atom in range(len(self.rank)) if self.why[atom] != DEAD]
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

        The least fixpoint, swept by rank: a second look is due only where a clause's tail has
        higher ranks than its head.
        """
        everything = (1 << len(chunk)) - 1
        without = [0] * len(self.rank)
        for atom in self.given:
            without[atom] = everything
        for bit, atom in enumerate(chunk):
            without[atom] = everything ^ (1 << bit)
        rank, tails = self.rank, self.tails
        sweep = [(rank[atom], atom) for atom in alive]
        while sweep:
            waiting = {atom for _, atom in sweep}
            later: set[int] = set()
            while sweep:
                place, atom = heappop(sweep)
                waiting.discard(atom)
                result = without[atom]
                for clause in self.open_clauses[atom]:
                    both = everything
                    for premise in tails[clause]:
                        both &= without[premise]
                        if not both:
                            break
                    result |= both
                if result == without[atom]:
                    continue
                without[atom] = result
                for clause in self.uses[atom]:
                    head = self.heads[clause]
                    if rank[head] <= place:
                        later.add(head)
                    elif head not in waiting and clause in self.open_clauses[head]:
                        waiting.add(head)
                        heappush(sweep, (rank[head], head))
            sweep = [(rank[atom], atom) for atom in later]
            heapify(sweep)
        return without
