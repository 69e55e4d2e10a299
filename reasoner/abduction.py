"""The cheapest sets of missing facts that would close a goal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import lcm

from .bits import members
from .engines.linear import UNDERIVED, Firing, fire, focus
from .horn import HornProgram
from .pruning import ordered_deletion


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
    expired: Callable[[], bool] = lambda: False,
) -> Abduction:
    """Find the `limit` cheapest inclusion-minimal sets of candidates that derive `goal`.

    `costs` gives each candidate atom its cost, not negative; the program's given atoms hold for
    free. Stops soon after `expired` (a deadline on the caller's clock) turns true.

    Alternates between the cheapest set that hits all known cuts and a new cut from the closure of
    that set; a hitting set that derives the goal is cheapest. Source: Ignatiev, Morgado and
    Marques-Silva, Propositional abduction with implicit hitting sets (2016), section 3.
    """
    for atom, cost in costs.items():
        if cost < 0:
            raise ValueError(f"candidate {atom} costs {cost}; expected a cost of at least 0")
    facts = set(program.given.tolist())
    candidates = set(costs).difference(facts)
    part = focus(program, goal, given=sorted(facts | candidates))
    if part.firing.clauses[part.goal] == UNDERIVED:
        return Abduction(Optimality.IMPOSSIBLE, ())
    loose = sorted(part.narrow(candidates))
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
        found.append(search.greedy)
    sets = []
    for mask in dict.fromkeys(found):
        cost = sum((exact[bit] for bit in members(mask)), Fraction(0))
        sets.append(MissingFacts(part.widen([loose[bit] for bit in members(mask)]), cost))
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
        dear_first = sorted(range(len(loose)), key=lambda bit: (-self.weights[bit], -bit))
        turns = [loose[bit] for bit in dear_first]
        kept = ordered_deletion(program, goal, fire(program), candidates=turns)
        self.greedy = sum(1 << bit for bit, atom in enumerate(loose) if atom in kept)

    def run(self, expired: Callable[[], bool]) -> Iterator[int]:
        """Give minimal sets from the cheapest on; stops early once `expired` is true."""
        while not expired():
            chosen = self._cheapest_hitting(expired)
            if chosen is None:
                return
            if self._derives(chosen):
                self.barred.append(chosen)
                yield chosen
            else:
                self.cuts.append(self._cut(chosen))

    def _close(self, mask: int) -> Firing:
        atoms = [self.loose[bit] for bit in members(mask)]
        return fire(self.program, given=sorted(self.frozen + atoms), goal=self.goal)

    def _derives(self, mask: int) -> bool:
        return int(self._close(mask).clauses[self.goal]) != UNDERIVED

    def _cut(self, chosen: int) -> int:
        """Give a minimal set of candidates that every solution has to hit, none of it chosen."""
        grown = chosen
        for bit in sorted(members(self.everything & ~chosen), key=lambda bit: -self.weights[bit]):
            if not self._derives(grown | 1 << bit):
                grown |= 1 << bit
        return self.everything & ~grown

    def _cheapest_hitting(self, expired: Callable[[], bool]) -> int | None:
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
