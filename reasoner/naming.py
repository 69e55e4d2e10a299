"""Answers by entity: names that identity statements join are one answer, under the fullest name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .atom import Atom, Constant, Variable
from .inquiry import Inquiry

_OTHER = Variable("_1")


@dataclass(frozen=True, slots=True)
class ByEntity:
    """Answers, each entity once, sorted by text, and the calls that give all names of each."""

    answers: tuple[Atom, ...]
    names: tuple[Atom, ...]


def names_call(name: str) -> Atom:
    """Give the call whose answers are the other names of an entity."""
    return Atom("alias", (name, _OTHER))


def _is_renamed(inquiry: Inquiry, name: str) -> bool:
    """Whether a source joins a name to another."""
    return any(
        inquiry.facts.match(Atom("same_as", pair), inquiry.valid_on)
        for pair in ((name, _OTHER), (_OTHER, name))
    )


def by_entity(inquiry: Inquiry, goal: Atom, answers: Iterable[Atom]) -> ByEntity:
    """Keep of answers that differ in names of one entity only the one with the fullest names.

    The fullest name is the longest, of equally long ones the first. Only names at open places of
    the goal count; a name that the goal gives is the one that was asked for.
    """
    ordered = sorted(answers, key=str)
    if goal.is_ground or ("same_as", 2) not in inquiry.facts.signatures():
        return ByEntity(tuple(ordered), ())
    classes = _Classes(inquiry)
    open_at = [at for at, term in enumerate(goal.arguments) if isinstance(term, Variable)]
    groups: dict[tuple[Constant, ...], list[Atom]] = {}
    for atom in ordered:
        key = tuple(classes.first(atom.arguments[at]) for at in open_at)
        groups.setdefault(key, []).append(atom)
    kept = [max(group, key=lambda atom: _fullness(atom, open_at)) for group in groups.values()]
    calls: dict[Atom, None] = {}
    for atom in kept:
        for at in open_at:
            name = atom.arguments[at]
            if isinstance(name, str) and len(classes.names(name)) > 1:
                calls[names_call(name)] = None
    return ByEntity(tuple(sorted(kept, key=str)), tuple(sorted(calls, key=str)))


def _fullness(atom: Atom, open_at: list[int]) -> tuple[int, list[int]]:
    terms = [term if isinstance(term := atom.arguments[at], str) else "" for at in open_at]
    text = "\0".join(terms)
    return len(text), [-ord(character) for character in text]


@dataclass(slots=True)
class _Classes:
    inquiry: Inquiry
    _known: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def first(self, term: Constant | Variable) -> Constant:
        """Give one name that stands for all names of an entity."""
        assert not isinstance(term, Variable), "answers are ground"
        return self.names(term)[0] if isinstance(term, str) else term

    def names(self, name: str) -> tuple[str, ...]:
        """Give all names of an entity, sorted."""
        found = self._known.get(name)
        if found is None:
            found = (name,)
            if _is_renamed(self.inquiry, name):
                rows = self.inquiry.slice(names_call(name)).answers
                others = {str(row.arguments[1]) for row in rows}
                found = tuple(sorted({name, *others}))
            self._known.update(dict.fromkeys(found, found))
        return found
