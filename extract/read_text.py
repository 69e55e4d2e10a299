"""A read text: the tokens of a unit with what was found in them, by token."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.tokens import Doc, Span

from .amounts import find_notation
from .coreference import Resolved
from .matching import Places
from .mentions import Name
from .normalize import FoundDate
from .notation import Notation

_BE = frozenset({"is", "was", "are", "were"})


class ReadText:
    """Names, dates and mentions of a text by their first token, and what covers each token."""

    def __init__(
        self,
        doc: Doc,
        names: Sequence[Name],
        dates: Sequence[FoundDate],
        resolved: Resolved,
        *,
        notation: Notation | None = None,
    ) -> None:
        self.doc = doc
        self.notation = find_notation(doc.text) if notation is None else notation
        self.resolved = resolved
        self.mentions = {mention.start: mention for mention in resolved.mentions}
        self.covering = {
            index: mention
            for mention in resolved.mentions
            for index in range(mention.start, mention.end)
        }
        self.names = {name.start: name for name in names}
        self.name_at = {index: name for name in names for index in range(name.start, name.end)}
        self.token_at = {token.idx: token.i for token in doc}
        self.dates: dict[int, tuple[int, FoundDate]] = {}
        for date in dates:
            span = doc.char_span(date.start, date.end, alignment_mode="expand")
            if span is not None:
                self.dates[span.start] = (span.end, date)
        self.in_brackets = _bracketed(doc)
        self.places = Places(
            [token.lower_ for token in doc],
            [token.lemma_.lower() for token in doc],
            self.mentions,
            {start: name.end for start, name in self.names.items()},
            {start: end for start, (end, _) in self.dates.items()},
        )

    def without_names(self, sentence: Span) -> str:
        """Give a sentence with its titles and longer names blanked out, every offset kept.

        Words in a name are no cue: `Never Come Back` denies nothing.
        """
        characters = list(sentence.text)
        lead = self.resolved.lead_name
        if (
            lead is not None
            and sentence.start == 0
            and lead.end < len(self.doc)
            and self.places.words[lead.end] == "or"
        ):
            # What follows is another name: `Run Home or Do Not Run is a film`.
            verb = next(
                (i for i in range(lead.end, sentence.end) if self.places.words[i] in _BE), None
            )
            if verb is not None:
                stop = self.doc[verb].idx - sentence.start_char
                characters[:stop] = "X" * stop
        for mention in self.resolved.mentions:
            if sentence.start <= mention.start < sentence.end:
                name = self.names.get(mention.start)
                if mention.end > mention.start + 1 or (name is not None and name.quoted):
                    start = self.doc[mention.start].idx - sentence.start_char
                    last = self.doc[mention.end - 1]
                    end = last.idx + len(last) - sentence.start_char
                    characters[start:end] = "X" * (end - start)
        return "".join(characters)


def _bracketed(doc: Doc) -> frozenset[int]:
    """Give the tokens that stand in round brackets."""
    inside, depth = [], 0
    for token in doc:
        if token.is_sent_start:
            depth = 0
        if token.text == ")" and depth:
            depth -= 1
        if depth:
            inside.append(token.i)
        if token.text.startswith("("):
            depth += 1
    return frozenset(inside)
