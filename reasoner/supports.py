"""All inclusion-minimal supports of a goal, one after the other.

Enumeration is anytime: it can stop after any support, says whether there are more, and goes on from
a token. It asks nothing of the program but closures.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from .bits import members
from .derivation import minimal_support
from .engines.linear import UNDERIVED, fire, focus
from .errors import EngineTimedOut, ResumeRejected
from .expiry import Expired, never
from .horn import HornProgram
from .pruning import indispensable


@dataclass(frozen=True, slots=True)
class Supports:
    """Supports found by one call, sorted by size and then by atoms.

    `complete` says that together with those named by the token given to the call, if any, there are
    no others. `token` continues where the call stopped; empty when complete.
    """

    found: tuple[tuple[int, ...], ...]
    complete: bool
    token: str = ""


def supports(
    program: HornProgram,
    goal: int,
    deletable: Collection[int] | None = None,
    *,
    limit: int | None = None,
    expired: Expired = never,
    resume: str = "",
) -> Supports:
    """Give inclusion-minimal sets of `deletable` (default: all given atoms) that derive `goal`.

    Other given atoms always hold and are not listed. Stops after `limit` supports, or soon after
    `expired` (a deadline on the caller's clock) turns true. The first support of a fresh call is
    that of the canonical certificate. Without limit and deadline the answer is exactly the set of
    all minimal supports, whatever their number.

    Raises ResumeRejected for a token of another program, goal or choice of deletable atoms.
    """
    loose = _loose(program, deletable)
    question = _digest(program, goal, loose)
    known = _read_token(resume, question) if resume else []
    fresh: list[tuple[int, ...]] = []
    complete = True
    search = each_support(program, goal, loose, known=known, expired=expired)
    while True:
        if limit is not None and len(fresh) >= limit:
            complete = next(search, None) is None and not expired()
            break
        support = next(search, None)
        if support is None:
            complete = not expired()
            break
        fresh.append(support)
    token = "" if complete else _write_token(question, [*known, *fresh])
    return Supports(tuple(sorted(fresh, key=lambda s: (len(s), s))), complete, token)


def each_support(
    program: HornProgram,
    goal: int,
    deletable: Collection[int] | None = None,
    *,
    known: Iterable[tuple[int, ...]] = (),
    expired: Expired = never,
) -> Iterator[tuple[int, ...]]:
    """Give minimal supports other than `known` as they are found; ends when there are no more.

    Walks sets of atoms to leave out that hit every support found so far. Where the goal still
    follows from the rest, that holds another support; where it does not, the cause (a minimal cut)
    prunes all sets that hold it. Siblings fix the atoms of those before them, so that no set is met
    twice; atoms that every support holds are set apart first. Ends early, without a sign, once
    `expired` is true.

    Source: Reiter, A theory of diagnosis from first principles (1987), section 4, with the cuts of
    Liffiton et al., Fast, flexible MUS enumeration (2016), section 3.
    """
    with suppress(EngineTimedOut):
        yield from _each_support(program, goal, deletable, known=known, expired=expired)


def _each_support(
    program: HornProgram,
    goal: int,
    deletable: Collection[int] | None,
    *,
    known: Iterable[tuple[int, ...]],
    expired: Expired,
) -> Iterator[tuple[int, ...]]:
    part = focus(program, goal, expired=expired)
    if part.firing.clauses[part.goal] == UNDERIVED:
        return
    inside = part.narrow(_loose(program, deletable))
    always = indispensable(part.program, part.goal, part.firing, inside, expired)
    search = _Search(part.program, part.goal, sorted(inside - always))
    places = {int(part.atoms[atom]): bit for bit, atom in enumerate(search.loose)}
    for support in known:
        search.found.append(sum(1 << places[atom] for atom in support if atom in places))
    for mask in search.run(expired):
        yield part.widen([*always, *search.atoms(mask)])


class _Search:
    """State of one enumeration; sets of loose atoms are bit masks over their order."""

    def __init__(self, program: HornProgram, goal: int, loose: list[int]) -> None:
        self.program = program
        self.goal = goal
        self.loose = loose
        self.frozen = sorted(set(program.given.tolist()).difference(loose))
        self.everything = (1 << len(loose)) - 1
        self.found: list[int] = []
        self.cuts: list[int] = []

    def atoms(self, mask: int) -> list[int]:
        """Give the atoms of a mask, ascending."""
        return [self.loose[bit] for bit in members(mask)]

    def run(self, expired: Expired) -> Iterator[int]:
        """Walk sets to leave out, depth first, and give each new support."""
        stack = [(0, 0)]
        while stack:
            if expired():
                return
            left_out, fixed = stack.pop()
            if any(not cut & ~left_out for cut in self.cuts):
                continue
            support = self._least_free(left_out, fixed)
            if support is None:
                support = self._new_support(left_out, expired)
                if support is None:
                    self.cuts.append(self._cut(left_out, expired))
                    continue
                self.found.append(support)
                yield support
            children = []
            for bit in members(support & ~fixed):
                children.append((left_out | 1 << bit, fixed))
                fixed |= 1 << bit
            stack.extend(reversed(children))

    def _least_free(self, left_out: int, fixed: int) -> int | None:
        """Give the found support not yet hit that leaves the fewest atoms to choose from."""
        free = [support for support in self.found if not support & left_out]
        return min(free, key=lambda support: (support & ~fixed).bit_count(), default=None)

    def _new_support(self, left_out: int, expired: Expired) -> int | None:
        rest = self.atoms(self.everything & ~left_out)
        given = [*self.frozen, *rest]
        kept = minimal_support(self.program, self.goal, rest, given=given, expired=expired)
        if kept is None:
            return None
        inside = set(kept)
        return sum(1 << bit for bit, atom in enumerate(self.loose) if atom in inside)

    def _cut(self, left_out: int, expired: Expired) -> int:
        """Shrink a set without which the goal is lost, putting back the latest atoms first."""
        for bit in reversed(list(members(left_out))):
            if expired():
                break
            smaller = left_out & ~(1 << bit)
            rest = self.atoms(self.everything & ~smaller)
            firing = fire(self.program, given=sorted([*self.frozen, *rest]), goal=self.goal)
            if firing.clauses[self.goal] == UNDERIVED:
                left_out = smaller
        return left_out


def _loose(program: HornProgram, deletable: Collection[int] | None) -> set[int]:
    given = set(program.given.tolist())
    return given if deletable is None else given.intersection(deletable)


def _digest(program: HornProgram, goal: int, loose: set[int]) -> str:
    digest = hashlib.sha256(repr((program.atom_count, goal, sorted(loose))).encode())
    for rows in (program.heads, program.tail_starts, program.tails, program.given):
        digest.update(rows.tobytes())
        digest.update(b";")
    return digest.hexdigest()[:16]


def _write_token(question: str, known: list[tuple[int, ...]]) -> str:
    text = json.dumps([question, known], separators=(",", ":"))
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


def _read_token(token: str, question: str) -> list[tuple[int, ...]]:
    try:
        found, known = json.loads(zlib.decompress(base64.urlsafe_b64decode(token)))
        supports = [tuple(map(int, support)) for support in known]
    except (binascii.Error, zlib.error, ValueError, TypeError) as error:
        raise ResumeRejected(
            f"resume token {token[:12]!r}... cannot be read; expected one from an earlier answer"
        ) from error
    if found != question:
        raise ResumeRejected(
            f"resume token {token[:12]!r}... belongs to another question; "
            "expected one for the same program, goal and deletable atoms"
        )
    return supports
