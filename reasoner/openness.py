"""Open requirements: what is missing, for the rules closest to firing.

Each rule body is walked over what is known; a missing atom that rules could derive is replaced by
what these rules miss, along the way that lacks the least.
"""

from __future__ import annotations

from collections.abc import Sequence

from .atom import Atom
from .bodies import Answers, NotCovered, unify_head
from .body_walk import Known, as_stated, walk_body
from .closed_slice import is_certain, merge_slices, uncertain_rows
from .facts import Signature
from .heads import Heads
from .inquiry import Inquiry
from .missing import Derived, Missing, call_text
from .prelude import SAME_AS
from .ranking import Ranked, Way, rank
from .slice import Slice

MOST_REQUIREMENTS = 40
MOST_CALLS = 200


class Openness:
    """Finds the open requirements of a goal.

    A requirement is traced through the policy's own rules; predicates of the prelude are asked for
    as they are. Undetermined tests are named where the goal is possible but for them. Calls that
    the slice of the goal did not make are made now, so that the witness can show them.
    """

    def __init__(self, inquiry: Inquiry, part: Slice) -> None:
        self.inquiry = inquiry
        self.slices = [part]
        self.is_possible = bool(part.possible)
        self.answers = self._all_answers()
        self._heads: dict[Signature, Heads] = {}
        self.known = Known(
            inquiry.own_clauses(),
            inquiry.facts,
            inquiry.valid_on,
            rows=self._rows,
            answers=lambda: self.answers,
            sources_below=inquiry.sources_below,
        )

    def _all_answers(self) -> Answers:
        part = merge_slices(self.slices)
        uncertain = uncertain_rows(part)
        renamed = SAME_AS in self.inquiry.facts.signatures()
        return Answers(part.demands, part.lookups, uncertain, renamed=renamed)

    def _rows(self, pattern: Atom) -> Sequence[Atom]:
        """Make a call unless another covers it. Raises NotCovered if the budget is spent."""
        try:
            return self.answers.rows(pattern)
        except NotCovered:
            part = self.inquiry.slice(pattern)
            if not part.complete:
                raise
            self.slices.append(part)
            self._take_in(part)
            return self.answers.rows(pattern)

    def _take_in(self, part: Slice) -> None:
        """Add the calls of a slice; where something is undetermined, judge all anew."""
        if all(map(is_certain, self.slices)):
            self.answers.extend(part.demands, part.lookups)
        else:
            self.answers = self._all_answers()

    def missing(self, goal: Atom) -> tuple[Missing, ...]:
        """Give everything missing: that of the closest rule first, then that of the next.

        After the rules of the goal come the other rules of the calls that the first ones make. The
        goal itself is listed only where nothing else would close it.
        """
        ranked = self.ranked(goal)
        start = call_text(goal)
        found: dict[tuple[str, str], Missing] = {}
        calls = [start]
        seen = {start}
        for call in calls:
            for way in ranked.of_rules(call):
                missing, met = ranked.spread(way)
                if start in met:
                    continue
                for item in missing if self.is_possible else [item.as_gap() for item in missing]:
                    found.setdefault((item.text, item.rule), item)
                calls += [other for other in met if other not in seen]
                seen.update(met)
            if len(found) >= MOST_REQUIREMENTS:
                break
        listed = [item for item in found.values() if item.atom != goal or item.undetermined]
        listed = (listed or list(found.values()))[:MOST_REQUIREMENTS]
        for item in listed:
            self._rows(item.atom)
        return tuple(listed)

    def ranked(self, goal: Atom) -> Ranked:
        """Walk the rules of every call below a goal, level by level, and rank the calls.

        Beyond `MOST_CALLS` calls, further ones count as missing themselves.
        """
        start = call_text(goal)
        names = {start: Missing(as_stated(goal), "")}
        ways: dict[str, list[Way]] = {}
        level = {start: goal}
        while level and len(ways) < MOST_CALLS:
            following: dict[str, Atom] = {}
            for call in sorted(level)[: MOST_CALLS - len(ways)]:
                ways[call] = self._ways(level[call])
                for way in ways[call]:
                    for need in way.needs:
                        if isinstance(need, Derived):
                            named = Missing(need.atom, need.rule)
                            known = names.setdefault(need.key, named)
                            if (need.rule, named.text) < (known.rule, known.text):
                                names[need.key] = named
                            following.setdefault(need.key, need.atom)
            level = {key: atom for key, atom in following.items() if key not in ways}
        for call in names:
            ways.setdefault(call, [])
        return rank(start, ways, names)

    def _ways(self, pattern: Atom) -> list[Way]:
        """Give the ways to conclude a call, by every rule for it."""
        self._rows(pattern)
        found = []
        signature = pattern.signature
        if signature not in self._heads:
            self._heads[signature] = Heads(self.known.clauses.get(signature, ()))
        for clause in self._heads[signature].meeting(pattern):
            bindings = unify_head(clause.head, pattern)
            if bindings is not None and clause.body:
                text = clause.text or clause.id
                found += [
                    Way(text, needs) for needs in walk_body(clause, pattern, bindings, self.known)
                ]
        return found
