"""Matches compiled patterns against the words of a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc, Token

from .coreference import Mention
from .phrase import Element, Gap, Optional, Path, Phrase, Slot, Start, Word

Spans = Mapping[int, Sequence[int]]
"""Ends (exclusive) of the spans that begin at a token, longest first."""


@dataclass(frozen=True, slots=True)
class Match:
    """Half-open token spans of a match and its value; `subject` is None if it is implied.

    `written` is the text of the value where a text pattern cuts it out of tokens.
    """

    start: int
    end: int
    value: tuple[int, int]
    subject: Mention | None
    written: str | None = None


@dataclass(frozen=True, slots=True)
class Places:
    """A text by token: its words and lemmas in lower case, and where slots may match.

    Mentions, and the ends of names and dates, are by first token.
    """

    words: Sequence[str]
    lemmas: Sequence[str]
    mentions: Mapping[int, Mention]
    names: Mapping[int, int]
    dates: Mapping[int, int]


def match_phrase(
    phrase: Phrase,
    doc: Doc,
    bounds: tuple[int, int],
    places: Places,
    value_ends: Callable[[int], Sequence[tuple[int, int]]],
) -> Iterator[Match]:
    """Give the matches of a phrase in a sentence (half-open token `bounds`), at most one per start.

    `value_ends` gives the value spans that may begin at a token, best first.
    """
    for start in range(*bounds):
        first = phrase.elements[0]
        if isinstance(first, Start) and start != bounds[0]:
            return
        if isinstance(first, Word):
            here = places.lemmas[start] if first.lemma else places.words[start]
            if here not in phrase.triggers:
                continue
        for end, found in _run(phrase.elements, 0, start, doc, bounds, places, value_ends):
            value = found.get("value")
            if isinstance(value, tuple):
                subject = found.get("subject")
                yield Match(start, end, value, subject if isinstance(subject, Mention) else None)
                break


Found = dict[str, "tuple[int, int] | Mention"]


def _run(
    elements: Sequence[Element],
    at: int,
    index: int,
    doc: Doc,
    bounds: tuple[int, int],
    places: Places,
    value_ends: Callable[[int], Sequence[tuple[int, int]]],
) -> Iterator[tuple[int, Found]]:
    if at == len(elements):
        yield index, {}
        return
    element = elements[at]

    def rest(position: int) -> Iterator[tuple[int, Found]]:
        return _run(elements, at + 1, position, doc, bounds, places, value_ends)

    stop = bounds[1]
    match element:
        case Start():
            if index == bounds[0]:
                yield from rest(_skip_marks(doc, index, stop))
        case Word():
            for end in _word_ends(element, places, index, stop):
                yield from rest(end)
        case Optional(alternatives):
            for inner in alternatives:
                whole = (*inner, *elements[at + 1 :])
                yield from _run(whole, 0, index, doc, bounds, places, value_ends)
            yield from rest(index)
        case Gap(longest, plain):
            for end in range(index, min(index + longest, stop) + 1):
                if end > index and not _may_pass(doc[end - 1], plain=plain):
                    break
                yield from rest(end)
        case Slot("subject", possessive):
            mention = places.mentions.get(index)
            if mention is not None:
                position = mention.end
                if possessive:
                    after = _after_possessive(doc, mention, stop)
                    if after is None:
                        return
                    position = after
                for end, found in rest(position):
                    yield end, {**found, "subject": mention}
        case Slot("value"):
            for begin, end in value_ends(index):
                for reach, found in rest(end):
                    yield reach, {**found, "value": (begin, end)}
        case Slot("name"):
            if index in places.names:
                yield from rest(places.names[index])
        case Slot("date"):
            if index in places.dates:
                yield from rest(places.dates[index])
        case _:
            raise AssertionError(element)


def _skip_marks(doc: Doc, index: int, stop: int) -> int:
    while index < stop and (doc[index].is_quote or doc[index].is_space):
        index += 1
    return index


def _word_ends(word: Word, places: Places, index: int, stop: int) -> Iterator[int]:
    if index >= stop:
        return
    words = places.lemmas if word.lemma else places.words
    here = words[index]
    for form in word.forms:
        if form[0] == here:
            end = index + len(form)
            if len(form) == 1 or (end <= stop and tuple(words[index:end]) == form):
                yield end


def _may_pass(token: Token, *, plain: bool) -> bool:
    if token.text in (";", ":"):
        return False
    if not plain:
        return True
    return token.pos_ != "ADP" and (not token.is_punct or token.text in ("-", "'", '"'))


def _after_possessive(doc: Doc, mention: Mention, stop: int) -> int | None:
    if doc[mention.end - 1].tag_ == "PRP$" or doc[mention.start].lower_ in ("his", "her", "its"):
        return mention.end
    if mention.end < stop and doc[mention.end].lower_ in ("'s", "’s", "'", "’"):
        return mention.end + 1
    return None


def match_path(
    path: Path,
    doc: Doc,
    mentions: Sequence[Mention],
    value_of: Callable[[Token], tuple[int, int] | None],
) -> Iterator[Match]:
    """Give the matches of a path from each mention, in order of mentions and tokens."""
    for mention in mentions:
        root = doc[mention.start : mention.end].root
        for token, low, high in _walk(path, 0, root, root.i, root.i):
            value = value_of(token)
            if value is not None and not (value[0] < mention.end and mention.start < value[1]):
                yield Match(
                    min(low, mention.start, value[0]),
                    max(high + 1, mention.end, value[1]),
                    value,
                    mention,
                )


def _walk(
    path: Path, at: int, token: Token, low: int, high: int
) -> Iterator[tuple[Token, int, int]]:
    if at == len(path.steps):
        yield token, low, high
        return
    step = path.steps[at]
    if step.up:
        reached = [token.head] if token.dep_ in step.arcs and token.head is not token else []
    else:
        reached = [child for child in token.children if child.dep_ in step.arcs]
    for other in reached:
        if step.words and other.lemma_.lower() not in step.words and other.lower_ not in step.words:
            continue
        yield from _walk(path, at + 1, other, min(low, other.i), max(high, other.i))
