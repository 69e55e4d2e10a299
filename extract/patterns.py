"""Applies the patterns of packs to running text: sentences to findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from spacy.tokens import Doc, Span

from kb.dimension import DimensionKind
from kb.statement import Entity, Modality, Polarity, Text, Validity, Value

from .candidate import LONGEST_QUOTE
from .coreference import Form, Mention, Resolved
from .matching import Match, match_path, match_phrase
from .mentions import Name, without_rank
from .normalize import FoundDate
from .notation import Notation
from .pack import Pack, PackDimension, Pattern, Relation, ValidityScope
from .phrase import Path, Phrase, TextPattern, compile_pattern
from .polarity import (
    clause_around,
    is_one_of_several,
    sentence_modality,
    sentence_polarity,
)
from .read_text import ReadText
from .slots import Slots
from .subjects import Subjects
from .validity import find_validity

DOCUMENT = ""
"""The subject of a finding about the document itself."""

_BE = frozenset({"is", "was", "are", "were"})
_CONTEXT = 9


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement found in running text; character spans of the text read, half-open.

    `subject` is the entity, or DOCUMENT, and `mention` the words that stand for it. The quote spans
    `start` to `end`.
    """

    subject: str
    mention: str
    dimension: str
    relation: Relation
    value: Value
    written: str
    start: int
    end: int
    polarity: Polarity
    modality: Modality
    validity: Validity


@dataclass(frozen=True, slots=True)
class Refusal:
    """A sentence, half-open, that states a value which cannot be read, and why."""

    reason: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    pack: Pack
    relation: Relation
    dimension: PackDimension
    pattern: Pattern
    compiled: Phrase | Path | TextPattern
    unless: re.Pattern[str] | None
    not_before: re.Pattern[str] | None
    opening: re.Pattern[str] | None


class RelationPatterns:
    """The patterns of some packs, ready to run over read texts."""

    def __init__(self, packs: Sequence[Pack]) -> None:
        self._by_trigger: dict[str, list[int]] = {}
        self._always: list[int] = []
        self._triggers: frozenset[str] = frozenset()
        self._rules: list[_Rule] = []
        for pack in packs:
            for relation in pack.relations:
                for pattern in relation.patterns:
                    self._add(pack, relation, pattern)
        self._triggers = frozenset(self._by_trigger)

    def _add(self, pack: Pack, relation: Relation, pattern: Pattern) -> None:
        compiled = compile_pattern(pattern)
        number = len(self._rules)
        unless = re.compile(pattern.unless, re.IGNORECASE) if pattern.unless else None
        before = re.compile(pattern.not_before, re.IGNORECASE) if pattern.not_before else None
        opening = re.compile(pattern.opening, re.IGNORECASE) if pattern.opening else None
        dimension = pack.dimension_of[relation.dimension]
        self._rules.append(
            _Rule(pack, relation, dimension, pattern, compiled, unless, before, opening)
        )
        if isinstance(compiled, TextPattern):
            self._always.append(number)
        else:
            for trigger in compiled.triggers:
                self._by_trigger.setdefault(trigger, []).append(number)

    def find(
        self,
        doc: Doc,
        names: Sequence[Name],
        dates: Sequence[FoundDate],
        resolved: Resolved,
        *,
        notation: Notation | None = None,
    ) -> Iterator[Finding | Refusal]:
        """Give the findings of a read text, sentence by sentence, in the order of the packs.

        Values that cannot be read come last, each once. `notation` is that of the document; without
        it, that of the text.
        """
        text = ReadText(doc, names, dates, resolved, notation=notation)
        sentences = _Sentences(text)
        opening = next(doc.sents).text if resolved.titled and len(doc) else ""
        for sentence in doc.sents:
            span = slice(sentence.start, sentence.end)
            words = {*text.places.words[span], *text.places.lemmas[span]}
            numbers = {*self._always}
            for word in words & self._triggers:
                numbers.update(self._by_trigger[word])
            lead = sentence.start == 0 and resolved.anchor is not None
            # Of a functional dimension a sentence gives one value: what the first pattern says.
            taken: dict[tuple[str, str], Value] = {}
            for index in sorted(numbers):
                rule = self._rules[index]
                if rule.pattern.lead and not lead:
                    continue
                if rule.opening is not None and not rule.opening.search(opening):
                    continue
                for finding in sentences.apply(rule, sentence):
                    place = (rule.dimension.name, finding.subject)
                    if rule.dimension.functional and taken.setdefault(place, finding.value) != (
                        finding.value
                    ):
                        continue
                    yield finding
                    if rule.relation.as_written:
                        yield replace(
                            finding,
                            dimension=rule.relation.as_written,
                            value=Text(finding.written),
                        )
        for (first, _), reason in sorted(sentences.slots.refused.items()):
            sentence = doc[first].sent
            yield Refusal(reason, sentence.start_char, sentence.end_char)


class _Sentences:
    """Applies rules to the sentences of one read text."""

    def __init__(self, text: ReadText) -> None:
        self.text = text
        self.doc = text.doc
        self.slots = Slots(text)
        self.subjects = Subjects(text)

    def apply(self, rule: _Rule, sentence: Span) -> Iterator[Finding]:
        """Give the findings of one pattern in one sentence."""
        for match in self._matches(rule, sentence):
            if rule.unless is not None and rule.unless.search(
                self.doc[match.start : max(match.end, match.value[1])].text
            ):
                continue
            if isinstance(rule.compiled, Phrase) and self._leaves_brackets(match):
                continue
            subject = match.subject
            mention: Mention | None = None
            if rule.relation.about_document and subject is None:
                name = DOCUMENT
            else:
                mention = subject or self.subjects.implied(
                    rule.pattern.subject, rule.dimension, match.start, sentence
                )
                if mention is None or not self.subjects.suits(mention, rule.dimension):
                    continue
                name = mention.entity
                if rule.dimension.subject_types == ("person",) and name != self.slots.anchor:
                    name = without_rank(name)
            values = [match.value]
            if rule.relation.lists and rule.dimension.kind in (
                DimensionKind.ENTITY,
                DimensionKind.TAXONOMIC,
            ):
                values.extend(self.slots.listed(rule.dimension, match.value[1], sentence.end))
            for span in values:
                finding = self._finding(rule, sentence, match, span, name, mention)
                if finding is not None:
                    yield finding

    def _leaves_brackets(self, match: Match) -> bool:
        """Whether a match begins in brackets and ends behind them, where other things are said."""
        depth = 0
        for token in self.doc[match.start : max(match.end, match.value[1])]:
            depth += (token.text == "(") - (token.text == ")")
            if depth < 0:
                return True
        return False

    def _allowed_spans(self, rule: _Rule, index: int, stop: int) -> list[tuple[int, int]]:
        """Give the value spans at a token that what follows does not rule out."""
        spans = self.slots.spans(rule.dimension, index, stop)
        if rule.not_before is None:
            return spans
        return [
            (start, end)
            for start, end in spans
            if not rule.not_before.match(self.doc[end : min(stop, end + _CONTEXT)].text)
        ]

    def _matches(self, rule: _Rule, sentence: Span) -> Iterator[Match]:
        bounds = (sentence.start, sentence.end)
        match rule.compiled:
            case Phrase() as phrase:
                yield from match_phrase(
                    phrase, self.doc, bounds, self.text.places,
                    lambda index: self._allowed_spans(rule, index, bounds[1]),
                )  # fmt: skip
            case Path() as path:
                mentions = [
                    self.text.mentions[i] for i in range(*bounds) if i in self.text.mentions
                ]
                yield from match_path(
                    path,
                    self.doc,
                    mentions,
                    lambda token: self.slots.around(rule.dimension, token, bounds),
                )
            case TextPattern(expression):
                end = self._lead_end(sentence) if rule.pattern.lead else len(sentence.text)
                for found in expression.finditer(sentence.text, 0, end):
                    match = self._text_match(rule, found, sentence)
                    if match is not None:
                        yield match

    def _lead_end(self, sentence: Span) -> int:
        """Give where a first sentence comes to what its subject is; brackets stand before."""
        for token in sentence:
            if token.lower_ in _BE and token.i not in self.text.in_brackets and token.i > 0:
                name = self.text.covering.get(token.i)
                if name is None:
                    return token.idx - sentence.start_char
        return len(sentence.text)

    def _text_match(self, rule: _Rule, found: re.Match[str], sentence: Span) -> Match | None:
        offset = sentence.start_char
        span = self.doc.char_span(
            found.start("value") + offset, found.end("value") + offset, alignment_mode="expand"
        )
        whole = self.doc.char_span(
            found.start() + offset, found.end() + offset, alignment_mode="expand"
        )
        if span is None or whole is None:
            return None
        value = (span.start, span.end)
        if rule.dimension.kind is DimensionKind.ENTITY:
            name = self.text.names.get(span.start)
            stop = min(max(span.end, name.end if name is not None else 0), sentence.end)
            spans = self.slots.spans(rule.dimension, span.start, stop)
            if not spans:
                return None
            value = spans[0]
        subject = None
        if "subject" in found.re.groupindex:
            at = self.text.token_at.get(found.start("subject") + offset)
            subject = self.text.mentions.get(at) if at is not None else None
            if subject is None:
                return None
        return Match(whole.start, whole.end, value, subject, found["value"])

    def _finding(
        self,
        rule: _Rule,
        sentence: Span,
        match: Match,
        span: tuple[int, int],
        subject: str,
        mention: Mention | None,
    ) -> Finding | None:
        read = self.slots.read(rule.dimension, span, match.written)
        if read is None:
            return None
        value, written = read
        if isinstance(value, Entity) and value.name == subject:
            return None
        text = sentence.text
        plain = self.text.without_names(sentence)
        first = min(
            match.start,
            span[0],
            mention.start if mention and mention.start >= sentence.start else span[0],
        )
        last = max(match.end, span[1])
        here = self.doc[first].idx - sentence.start_char
        there = self.doc[last - 1].idx + len(self.doc[last - 1]) - sentence.start_char
        start = sentence.start_char
        if mention is not None and mention.form is not Form.NAME:
            antecedent = self.doc[mention.antecedent].sent.start_char
            if antecedent < start and sentence.end_char - antecedent <= LONGEST_QUOTE:
                start = antecedent
        validity = Validity()
        if (
            rule.relation.validity is not ValidityScope.NONE
            and rule.dimension.kind is not DimensionKind.TIME
        ):
            validity = find_validity(clause_around(text, here, there))
        polarity = sentence_polarity(plain, here, there)
        modality = sentence_modality(plain, here, there)
        at, stop = self.doc[span[0]].idx, self.doc[span[1] - 1].idx + len(self.doc[span[1] - 1])
        if (
            modality is Modality.ASSERTED
            and polarity is Polarity.AFFIRMED
            and is_one_of_several(
                text,
                at - sentence.start_char,
                stop - sentence.start_char,
                amount=rule.dimension.kind is DimensionKind.QUANTITY,
            )
        ):
            modality = Modality.HEDGED
        return Finding(
            subject=subject,
            mention=self.doc[mention.start : mention.end].text if mention else "",
            dimension=rule.dimension.name,
            relation=rule.relation,
            value=value,
            written=written,
            start=start,
            end=sentence.start_char + len(text.rstrip()),
            polarity=polarity,
            modality=modality,
            validity=validity,
        )
