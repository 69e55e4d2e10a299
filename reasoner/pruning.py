"""Ordered deletion of given atoms a goal can do without, without closing anew for each.

The answer is exactly that of the plain loop (for each candidate in turn: drop it, close, keep it if
the goal is lost). Four things keep it from being quadratic: atoms that every derivation passes
through are followed from the goal; all others are judged together by one sweep of bit sets; a drop
repairs the recorded derivation only where it was hit; and where drops hit much, a sweep tells how
many of the next candidates go together, and which have to stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np

from .engines.layout import index_lists
from .engines.linear import UNDERIVED, Firing
from .expiry import STRIDE, Expired, never, stop_if
from .horn import HornProgram

SWEEP_BITS = 64 * 2**23
"""Bits all sets of one sweep may take together (64 MiB)."""

WASTE = 8
"""Another sweep is due once failed drops have visited this many times the whole program."""

TOGETHER = 256
"""How many candidates one sweep tries, each alone and each with all before it."""


def ordered_deletion(
    program: HornProgram,
    goal: int,
    firing: Firing,
    *,
    candidates: Iterable[int],
    expired: Expired = never,
) -> set[int]:
    """Drop candidates in turn while `goal` still follows, and give those that had to stay.

    `firing` closes the program, all of whose atoms are derivable from the given ones, which include
    the candidates. Raises EngineTimedOut soon after `expired` turns true. Source: Marques-Silva,
    Janota and Mencia, Minimal sets on propositional formulae (2017), section 4 (deletion); the
    repair follows Gupta, Mumick and Subrahmanian, Maintaining views incrementally (1993), section 7.
    """
    turns = list(candidates)
    network = _Network(program, goal, firing, expired)
    network.follow([goal])
    needed = network.forced.intersection(turns)
    if len(needed) < len(turns):
        needed |= network.sweep(sorted(set(turns) - needed))
    left = [atom for atom in reversed(turns) if atom not in needed]
    kept = set(turns)
    wasted = spent = 0
    while left:
        if spent > program.atom_count // 4:
            spent = 0
            left = [atom for atom in left if atom not in needed and atom not in network.forced]
            chunk = left[: -TOGETHER - 1 : -1]
            count, lost_without = network.outlook(chunk)
            needed |= lost_without
            if count:
                del left[len(left) - count :]
                kept.difference_update(chunk[:count])
                network.drop(chunk[:count])
            if count < len(chunk):
                needed.add(left.pop())
            continue
        candidate = left.pop()
        if candidate in needed or candidate in network.forced:
            continue
        lost, visited = network.drop([candidate])
        spent += visited
        if not lost:
            kept.discard(candidate)
            continue
        needed.add(candidate)
        wasted += visited
        if wasted > WASTE * max(64, program.size):
            wasted = 0
            needed |= network.sweep(sorted(kept - needed - network.forced))
            left = [atom for atom in left if atom not in needed]
    return kept


def indispensable(
    program: HornProgram,
    goal: int,
    firing: Firing,
    candidates: Iterable[int],
    expired: Expired = never,
) -> set[int]:
    """Give exactly the candidates that every derivation of the goal rests on.

    The program, its `firing` and `expired` are as for `ordered_deletion`.
    """
    turns = set(candidates)
    network = _Network(program, goal, firing, expired)
    network.follow([goal])
    forced = network.forced.intersection(turns)
    return forced | network.sweep(sorted(turns - forced))


class _Network:
    """A program with one recorded derivation per atom, from which given atoms are dropped.

    `why[atom]` is the clause that derives it, GIVEN or UNDERIVED; the tail of that clause always
    has lower ranks than the atom. `alive[clause]` says that its whole tail is derivable and does
    not hold its head; `tails` name each atom once.
    """

    def __init__(self, program: HornProgram, goal: int, firing: Firing, expired: Expired) -> None:
        rows = program.rows
        self.goal = goal
        self.expired = expired
        self.heads = rows.heads
        self.tails = [rows.tails[start:end] for start, end in pairwise(rows.tail_starts)]
        self.given = set(program.given.tolist())
        self.rank: list[int] = firing.ranks.tolist()
        self.next_rank = program.atom_count
        self.why: list[int] = firing.clauses.tolist()
        owners = np.repeat(np.arange(program.clause_count), program.tail_lengths)
        alive = np.ones(program.clause_count, np.bool_)
        alive[owners[program.heads[owners] == program.tails]] = False
        self.alive = bytearray(alive.tobytes())
        self._repeats = False
        for clause in np.flatnonzero(program.tail_lengths > 1).tolist():
            tail = self.tails[clause]
            once = list(dict.fromkeys(tail)) if len(tail) > 2 or tail[0] == tail[1] else tail
            if len(once) < len(tail):
                self.tails[clause] = once
                self._repeats = True
        singles = np.arange(program.clause_count + 1)
        self._clauses = index_lists(program.atom_count, singles, program.heads)
        self._uses = index_lists(program.atom_count, program.tail_starts, program.tails)
        self.forced: set[int] = set()
        self._passed = {goal}

    def _open_clauses(self, atom: int) -> list[int]:
        """Give the clauses for an atom whose tail is alive, ascending."""
        starts, alive = self._clauses.starts, self.alive
        rows: list[int] = self._clauses.clauses[starts[atom] : starts[atom + 1]]
        for clause in rows:
            if not alive[clause]:
                return [clause for clause in rows if alive[clause]]
        return rows

    def _uses_of(self, atom: int) -> list[int]:
        """Give the clauses with an atom in their tail, ascending, dead ones included."""
        starts = self._uses.starts
        rows: list[int] = self._uses.clauses[starts[atom] : starts[atom + 1]]
        return list(dict.fromkeys(rows)) if self._repeats else rows

    def _lower(self, atom: int, broken: Collection[int]) -> int | None:
        """Find a clause for `atom` whose tail has lower ranks and nothing broken."""
        rank, tails, limit = self.rank, self.tails, self.rank[atom]
        for clause in self._open_clauses(atom):
            for premise in tails[clause]:
                if rank[premise] >= limit or premise in broken:
                    break
            else:
                return clause
        return None

    def follow(self, atoms: list[int]) -> None:
        """Go back from atoms every derivation passes through, along what all their clauses share.

        Adds to `forced` the given atoms met that have no other derivation.
        """
        tails, passed = self.tails, self._passed
        stack = list(atoms)
        while stack:
            atom = stack.pop()
            clauses = self._open_clauses(atom)
            if atom in self.given:
                if not clauses:
                    self.forced.add(atom)
                continue
            if not clauses:
                continue
            shared = tails[clauses[0]]
            for clause in clauses[1:]:
                tail = tails[clause]
                shared = [premise for premise in shared if premise in tail]
            for premise in shared:
                if premise not in passed:
                    passed.add(premise)
                    stack.append(premise)

    def drop(self, candidates: list[int]) -> tuple[bool, int]:
        """Drop given atoms unless the goal is lost; give whether it is, and how much was visited."""
        why: dict[int, int] = {}
        broken: set[int] = set()
        order = []
        rank, heads, recorded = self.rank, self.heads, self.why
        self.given.difference_update(candidates)
        heap = [(rank[candidate], candidate) for candidate in candidates]
        heapify(heap)
        waiting = set(candidates)
        while heap:
            _, atom = heappop(heap)
            other = self._lower(atom, broken)
            if other is not None:
                why[atom] = other
                continue
            broken.add(atom)
            order.append(atom)
            if not len(order) % STRIDE:
                stop_if(self.expired)
            for clause in self._uses_of(atom):
                head = heads[clause]
                if recorded[head] == clause and head not in waiting:
                    waiting.add(head)
                    heappush(heap, (rank[head], head))
        stop_if(self.expired)
        revived = self._revive(order, broken, why)
        if self.goal in broken:
            self.given.update(candidates)
            return True, len(waiting)
        for atom, clause in why.items():
            recorded[atom] = clause
        for atom in revived:
            rank[atom] = self.next_rank
            self.next_rank += 1
        hit = [candidate for candidate in candidates if candidate in self._passed]
        for atom in order:
            if atom in broken:
                recorded[atom] = UNDERIVED
                for clause in self._uses_of(atom):
                    if self.alive[clause]:
                        self.alive[clause] = 0
                        if heads[clause] in self._passed:
                            hit.append(heads[clause])
        self.follow(hit)
        return False, len(waiting)

    def _revive(self, order: list[int], broken: set[int], why: dict[int, int]) -> list[int]:
        """Derive broken atoms anew from the others, taking them out of `broken`, in queue order."""
        missing: dict[int, int] = {}
        queue = []
        for atom in order:
            for clause in self._open_clauses(atom):
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
            for clause in self._uses_of(atom):
                if clause in missing:
                    missing[clause] -= 1
                    head = self.heads[clause]
                    if not missing[clause] and head in broken and head not in why:
                        why[head] = clause
                        queue.append(head)
        return queue

    def sweep(self, candidates: list[int]) -> set[int]:
        """Give exactly those candidates without which the goal is lost as things stand."""
        alive = self._by_rank()
        width = max(64, SWEEP_BITS // max(1, len(alive)))
        found: set[int] = set()
        for start in range(0, len(candidates), width):
            chunk = candidates[start : start + width]
            everything = (1 << len(chunk)) - 1
            bits = {atom: everything ^ (1 << bit) for bit, atom in enumerate(chunk)}
            without = self._derivable_without(alive, everything, bits)
            found.update(atom for bit, atom in enumerate(chunk) if not without >> bit & 1)
        return found

    def outlook(self, candidates: list[int]) -> tuple[int, set[int]]:
        """Give how many candidates can be dropped together, from the first on, and which cannot.

        The latter are those without which the goal is lost as things stand.
        """
        size = len(candidates)
        everything = (1 << 2 * size) - 1
        bits = {
            atom: everything ^ (1 << size + place) ^ ((1 << size) - (1 << place))
            for place, atom in enumerate(candidates)
        }
        lost = everything ^ self._derivable_without(self._by_rank(), everything, bits)
        together = lost & (1 << size) - 1
        count = (together & -together).bit_length() - 1 if together else size
        return count, {atom for place, atom in enumerate(candidates) if lost >> size + place & 1}

    def _by_rank(self) -> list[int]:
        alive = [atom for atom, clause in enumerate(self.why) if clause != UNDERIVED]
        alive.sort(key=self.rank.__getitem__)
        return alive

    def _derivable_without(self, alive: list[int], everything: int, bits: dict[int, int]) -> int:
        """Give the bits under which the goal can be derived.

        Each bit stands for one choice of given atoms: those in `bits` are there where their own
        bits say so, all others always. The least fixpoint: one pass by rank, then second looks
        where the tail of a clause has higher ranks than its head.
        """
        without = [0] * len(self.rank)
        for atom in self.given:
            without[atom] = everything
        for atom, own in bits.items():
            without[atom] = own
        rank, tails, state = self.rank, self.tails, self.alive
        starts, rows = self._clauses.starts, self._clauses.clauses
        again: set[int] = set()
        for turn, atom in enumerate(alive):
            if not turn % STRIDE:
                stop_if(self.expired)
            result = without[atom]
            if result == everything:
                continue
            place = rank[atom]
            early = False
            for clause in rows[starts[atom] : starts[atom + 1]]:
                if state[clause]:
                    both = everything
                    for premise in tails[clause]:
                        both &= without[premise]
                        if rank[premise] > place:
                            early = True
                    result |= both
            without[atom] = result
            if early and result != everything:
                again.add(atom)
        self._look_again(without, again, everything)
        return without[self.goal]

    def _look_again(self, without: list[int], waiting: set[int], everything: int) -> None:
        """Bring the bits of waiting atoms, and of what builds on them, to the fixpoint."""
        rank, heads, tails = self.rank, self.heads, self.tails
        sweep = [(rank[atom], atom) for atom in waiting]
        heapify(sweep)
        turn = 0
        while sweep:
            turn += 1
            if not turn % STRIDE:
                stop_if(self.expired)
            _, atom = heappop(sweep)
            waiting.discard(atom)
            result = without[atom]
            for clause in self._open_clauses(atom):
                both = everything
                for premise in tails[clause]:
                    both &= without[premise]
                result |= both
            if result == without[atom]:
                continue
            without[atom] = result
            for clause in self._uses_of(atom):
                head = heads[clause]
                if head not in waiting and self.alive[clause]:
                    waiting.add(head)
                    heappush(sweep, (rank[head], head))
