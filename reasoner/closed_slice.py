"""A slice closed by an engine, and the proofs that can be read off it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from .atom import Atom
from .bodies import without_statement
from .captured import Captured
from .compiled_slice import SliceNames, compile_slice
from .derivation import certify, trace
from .engines import Firing, close
from .facts import Fact
from .horn import HornProgram
from .slice import Call, Instance, Slice
from .steps import Proof


@dataclass(frozen=True, slots=True)
class ClosedSlice:
    """What follows with certainty from the facts of a slice, and how it was derived."""

    part: Slice
    program: HornProgram
    names: SliceNames
    firing: Firing

    def derives(self, atom: Atom) -> bool:
        """Whether an atom follows."""
        number = self.names.number(atom)
        return number is not None and bool(self.firing.derived[number])

    def proof(self, atom: Atom) -> Proof | None:
        """Give the minimal proof of an atom, or None if it does not follow."""
        number = self.names.number(atom)
        if number is None or not self.firing.derived[number]:
            return None
        found = certify(self.program, number, firing=self.firing)
        assert found is not None, "a derived atom has a certificate"
        return self._proof(atom, found.steps)

    def trail(self, atom: Atom, seen: bytearray) -> Proof | None:
        """Give the recorded derivation of an atom, not made minimal, without the atoms `seen`.

        These are those of the trails before it, so that all trails together are linear.
        """
        number = self.names.number(atom)
        if number is None or not self.firing.derived[number]:
            return None
        return self._proof(atom, trace(self.program, self.firing, number, seen=seen))

    def _proof(self, atom: Atom, steps: Iterable[tuple[int, int]]) -> Proof:
        atoms, origins = self.names.atoms, self.names.origins
        count = len(atoms)  # what lies beyond stands for leaves, not for atoms
        named = [(atoms[number], origins[clause]) for number, clause in steps if number < count]
        return Proof(atom, tuple(named))


def close_slice(
    part: Slice, *, excluded: Collection[Atom] = (), engine: str = "linear"
) -> ClosedSlice:
    """Close a slice without the excluded atoms, also where these name their statement."""
    if excluded:
        part = replace(
            part,
            instances=tuple(
                item for item in part.instances if without_statement(item.head) not in excluded
            ),
            facts=tuple(
                fact for fact in part.facts if without_statement(fact.atom) not in excluded
            ),
        )
    program, names = compile_slice(part)
    return ClosedSlice(part, program, names, close(program, engine=engine))


def is_certain(part: Slice) -> bool:
    """Whether nothing in a slice is undetermined."""
    if isinstance(part.instances, Captured):
        return part.instances.is_certain
    return all(instance.is_certain for instance in part.instances)


def uncertain_rows(part: Slice, closed: ClosedSlice | None = None) -> frozenset[Atom]:
    """Give the answers of calls that hold only if something undetermined does.

    `closed` is the slice closed, where that is at hand.
    """
    if is_certain(part):
        return frozenset()
    closed = closed or close_slice(part)
    return frozenset(
        row for call in part.demands for row in call.answers if not closed.derives(row)
    )


def merge_slices(slices: Sequence[Slice]) -> Slice:
    """Join slices of one policy and fact base; instances, facts and calls come once, sorted."""
    first, *others = {id(part): part for part in slices}.values()
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
        grounds=None,
        complete=all(part.complete for part in slices),
    )
