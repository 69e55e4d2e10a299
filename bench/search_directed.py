"""Search requirement by requirement: each hop of a plan is a search for a named subject.

A hop searches for its subject and the words of its relation, five passages at a time. A passage is
read if its title is the subject's name (the entity check); the values it states are the subjects of
the next hop. What was found is ranked by turns: the best of each search, then the second of each.

Source: Certify (arXiv 2610.34684), Algorithm 1; here without its second and third round.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from extract.ingest import ingest_document
from extract.names import NameIndex, bare
from extract.pack import Pack
from extract.question_grammar import PlanRejected, QuestionGrammar
from kb.document import decode
from kb.search import Place
from kb.statement import Entity, Polarity
from reasoner.atom import fold
from reasoner.hop import Direction, Elapsed, Hop
from reasoner.plan import Constraint, Meet, Named, Plan, Reference

AT_ONCE = 5
_MOST_SUBJECTS = 8

Search = Callable[[str, int], Sequence[Place]]
Read = Callable[[Place], tuple[str, str]]


@dataclass(slots=True)
class Directed:
    """A searcher that follows plans; passages are read once."""

    grammar: QuestionGrammar
    packs: tuple[Pack, ...]
    search: Search
    read: Read
    _statements: dict[tuple[str, int], dict[str, list[str]]] = field(default_factory=dict)

    def find(self, question: str, names: NameIndex, limit: int) -> tuple[Place, ...] | None:
        """Give the passages that a plan's hops find; None for a question without a plan."""
        plan = self.grammar.plan(question, names)
        if isinstance(plan, PlanRejected):
            return None
        searches: list[Sequence[Place]] = []
        answers: list[tuple[str, ...]] = []
        for step in plan.steps:
            values: list[str] = []
            for condition in step.conditions if isinstance(step, Meet) else ():
                if isinstance(condition, Constraint):
                    subjects: Sequence[str] = ()
                    if isinstance(condition.operand, Named):
                        subjects = condition.operand.readings
                    elif isinstance(condition.operand, Reference):
                        subjects = answers[condition.operand.step]
                    values += self._follow(plan, condition.hop, subjects, searches)
            answers.append(tuple(dict.fromkeys(values)))
        seen: dict[tuple[str, int], Place] = {}
        for row in zip_longest(*searches):
            for place in row:
                if place is not None:
                    seen.setdefault((place.source_sha256, place.start), place)
        return tuple(seen.values())[:limit]

    def _follow(
        self, plan: Plan, hop: Hop, subjects: Sequence[str], searches: list[Sequence[Place]]
    ) -> Iterator[str]:
        for path in _paths(plan, hop):
            current = tuple(subjects)
            for part in path:
                following: list[str] = []
                for subject in current[:_MOST_SUBJECTS]:
                    query = f"{subject} {part.dimension.replace('_', ' ')}"
                    found = self.search(query, AT_ONCE)
                    searches.append(found)
                    following += self._values(found, subject, part)
                current = tuple(dict.fromkeys(following))
            yield from current

    def _values(self, found: Sequence[Place], subject: str, hop: Hop) -> Iterator[str]:
        name = fold(bare(subject))
        for place in found:
            if hop.direction is Direction.FORWARD and fold(bare(place.title)) == name:
                yield from self._stated(place).get(hop.dimension, ())

    def _stated(self, place: Place) -> dict[str, list[str]]:
        key = (place.source_sha256, place.start)
        if key not in self._statements:
            title, text = self.read(place)
            page = json.dumps([{"title": title, "text": text}]).encode()
            stated: dict[str, list[str]] = {}
            document = decode(page, name="page.json")
            for statement, _ in ingest_document([], self.packs, document).grounded:
                affirmed = statement.polarity is Polarity.AFFIRMED
                if affirmed and statement.subject == title and isinstance(statement.value, Entity):
                    stated.setdefault(statement.dimension, []).append(statement.value.name)
            self._statements[key] = stated
        return self._statements[key]


def _paths(plan: Plan, hop: Hop) -> tuple[tuple[Hop, ...], ...]:
    """Give the chains of stored dimensions that a hop stands for."""
    for definition in plan.definitions:
        if definition.type.name == hop.dimension:
            return tuple(
                (Hop(path.start), Hop(path.end)) if isinstance(path, Elapsed) else path
                for path in definition.alternatives
            )
    return ((hop,),)
