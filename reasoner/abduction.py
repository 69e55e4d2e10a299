"""The cheapest sets of missing facts that would close a goal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import lcm

from .bits import members
from .engines.linear import UNDERIVED, fire, focus, tails_of
from .expiry import Expired, never
from .horn import HornProgram
from .pruning import indispensable, ordered_deletion


class Optimality(Enum):
    """What is known of an answer; a deadline leaves `BEST_FOUND`, never `OPTIMAL`."""

    OPTIMAL = "optimal"
    BEST_FOUND = "best found"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class MissingFacts:
    """Atoms, ascending, whose addition derives the goal; none of them can be left out."""

    atoms: tuple[int, ...]
    cost: Fraction


@dataclass(frozen=True, slots=True)
class Abduction:
    """The cheapest sets, in order of (cost, size, atoms).

    Under `OPTIMAL` no other set comes before or between them. Under `BEST_FOUND` that holds for
    all but the last. `IMPOSSIBLE` says that all candidates together do not derive the goal.
    """

    optimality: Optimality
    sets: tuple[MissingFacts, ...]


def abduce(
    program: HornProgram,
    goal: int,
    costs: Mapping[int, Fraction | int],
    *,
    limit: int = 1,
    expired: Expired = never,
) -> Abduction:
    """Find the `limit` cheapest inclusion-minimal sets of candidates that derive `goal`.

    `costs` gives each candidate atom its cost, not negative; the program's given atoms hold for
    free. Stops soon after `expired` (a deadline on the caller's clock) turns true.

    What every derivation rests on is in each set and is set apart first. For the rest it alternates
    between the cheapest set that hits all known cuts and a new cut from the closure of that set; a
    hitting set that derives the goal is cheapest. Source: Ignatiev, Morgado and Marques-Silva,
    Propositional abduction with implicit hitting sets (2016), section 3, who begin with no cut.
    """
    for atom, cost in costs.items():
        if cost < 0:
            raise ValueError(f"candidate {atom} costs {cost}; expected a cost of at least 0")
    facts = set(program.given.tolist())
    candidates = set(costs).difference(facts)
    part = focus(program, goal, given=sorted(facts | candidates))
    if part.firing.clauses[part.goal] == UNDERIVED:
        return Abduction(Optimality.IMPOSSIBLE, ())
    narrowed = part.narrow(candidates)
    forced: set[int] = set()
    if not expired():
        forced = indispensable(part.program, part.goal, part.firing, narrowed)
    loose = sorted(narrowed - forced)
    exact = [Fraction(costs[int(part.atoms[atom])]) for atom in loose]
    search = _Search(part.program, part.goal, loose, exact)
    found: list[int] = []
    for mask in search.run(expired):
        found.append(mask)
        if len(found) == limit:
            break
    optimality = Optimality.OPTIMAL
    if len(found) < limit and expired():
        optimality = Optimality.BEST_FOUND
        found.append(search.greedy())
    sets = []
    always = sum((Fraction(costs[int(part.atoms[atom])]) for atom in forced), Fraction(0))
    for mask in dict.fromkeys(found):
        cost = sum((exact[bit] for bit in members(mask)), always)
        chosen = sorted(forced.union(loose[bit] for bit in members(mask)))
        sets.append(MissingFacts(part.widen(chosen), cost))
    return Abduction(optimality, tuple(sets))


class _Search:
    """State of one search; sets of candidates are bit masks over their order.

    `weights` make the order total: cost first, then size, then the earlier atoms, in one integer
    per candidate, so that sums compare like (cost, size, atoms).
    """

    def __init__(
        self, program: HornProgram, goal: int, loose: list[int], costs: list[Fraction]
    ) -> None:
        self.program = program
        self.goal = goal
        self.loose = loose
        self.frozen = sorted(set(program.given.tolist()).difference(loose))
        self.everything = (1 << len(loose)) - 1
        scale = lcm(*(cost.denominator for cost in costs))
        size_unit = 1 << len(loose)
        cost_unit = size_unit * (len(loose) + 1)
        self.weights = [
            int(cost * scale) * cost_unit + size_unit - (1 << (len(loose) - 1 - bit))
            for bit, cost in enumerate(costs)
        ]
        self.cuts: list[int] = []
        self.barred: list[int] = []

    def greedy(self) -> int:
        """Give a minimal set: of all candidates, what is left once the dear ones are dropped."""
        dear_first = sorted(range(len(self.loose)), key=lambda bit: (-self.weights[bit], -bit))
        turns = [self.loose[bit] for bit in dear_first]
        kept = ordered_deletion(self.program, self.goal, fire(self.program), candidates=turns)
        return sum(1 << bit for bit, atom in enumerate(self.loose) if atom in kept)

    def run(self, expired: Expired) -> Iterator[int]:
        """Give minimal sets from the cheapest on; stops early once `expired` is true."""
        while not expired():
            chosen = self._cheapest_hitting(expired)
            if chosen is None:
                return
            if self._derives(chosen):
                self.barred.append(chosen)
                yield chosen
            else:
                self.cuts.append(self._cut(chosen, expired))

    def _derives(self, mask: int) -> bool:
        given = sorted(self.frozen + [self.loose[bit] for bit in members(mask)])
        firing = fire(self.program, given=given, goal=self.goal)
        return int(firing.clauses[self.goal]) != UNDERIVED

    def _cut(self, chosen: int, expired: Expired) -> int:
        """Give a minimal set of candidates that every solution has to hit, none of it chosen.

        Once `expired`, the set is still to be hit, but need not be minimal.
        """
        atoms = [self.loose[bit] for bit in members(chosen)]
        growing = _Growing(self.program, self.goal, self.frozen + atoms)
        grown = chosen
        for bit in sorted(members(self.everything & ~chosen), key=lambda bit: -self.weights[bit]):
            if expired():
                break
            if growing.add(self.loose[bit]):
                grown |= 1 << bit
        return self.everything & ~grown

    def _cheapest_hitting(self, expired: Expired) -> int | None:
        """Give the lightest set that hits all cuts and holds no barred set; depth first, bounded.

        None where there is none, or once `expired`.
        """
        best: int | None = None
        limit = sum(self.weights) + 1
        stack = [(0, 0, 0)]
        while stack:
            if expired():
                return None
            chosen, shut, weight = stack.pop()
            if any(not barred & ~chosen for barred in self.barred):
                continue
            unhit = [cut & ~shut for cut in self.cuts if not cut & chosen]
            if weight + self._bound(unhit) >= limit:
                continue
            if not unhit:
                best, limit = chosen, weight
                continue
            children = []
            narrow = min(unhit, key=lambda cut: (cut.bit_count(), cut))
            for bit in sorted(members(narrow), key=self.weights.__getitem__):
                children.append((chosen | 1 << bit, shut, weight + self.weights[bit]))
                shut |= 1 << bit
            stack.extend(reversed(children))
        return best

    def _bound(self, cuts: list[int]) -> int:
        """Give what hitting these cuts costs at least: disjoint ones each need an atom."""
        total = taken = 0
        for cut in sorted(cuts, key=lambda cut: (cut.bit_count(), cut)):
            if not cut:
                return sum(self.weights) + 1
            if not cut & taken:
                taken |= cut
                total += min(self.weights[bit] for bit in members(cut))
        return total


class _Growing:
    """A closure that does not hold the goal, to which atoms are added while it does not.

    An addition that the goal would follow from is undone. All that stay cost one closure together.
    """

    def __init__(self, program: HornProgram, goal: int, given: Sequence[int]) -> None:
        rows = program.rows
        self.goal = goal
        self.heads = rows.heads
        self.missing = rows.tail_lengths.copy()
        index = tails_of(program)
        self.starts, self.occurrences = index.starts, index.clauses
        self.derived = bytearray(program.atom_count)
        holds = self._spread([*given, *(rows.heads[clause] for clause in rows.free)])
        assert holds, "the goal does not follow yet"

    def add(self, atom: int) -> bool:
        """Add an atom unless the goal would follow, and give whether it is added."""
        return self._spread([atom])

    def _spread(self, atoms: Iterable[int]) -> bool:
        queue: list[int] = []
        counted: list[int] = []
        derived, missing, heads, goal = self.derived, self.missing, self.heads, self.goal
        for atom in atoms:
            if not derived[atom]:
                derived[atom] = 1
                queue.append(atom)
        for atom in queue:
            if atom == goal:
                break
            for clause in self.occurrences[self.starts[atom] : self.starts[atom + 1]]:
                missing[clause] -= 1
                counted.append(clause)
                if not missing[clause]:
                    head = heads[clause]
                    if not derived[head]:
                        derived[head] = 1
                        queue.append(head)
        else:
            return True
        for clause in counted:
            missing[clause] += 1
        for atom in queue:
            derived[atom] = 0
        return False
