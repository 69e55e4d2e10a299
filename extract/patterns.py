"""Applies the patterns of packs to running text: sentences to findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from spacy.tokens import Doc, Span, Token

from kb.dimension import DimensionKind
from kb.errors import ValueUnreadable
from kb.statement import Entity, Modality, Polarity, TaxonClass, Text, Validity, Value

from .amounts import find_amounts, read_numeral
from .coreference import Form, Mention, Resolved
from .matching import Match, Places, match_path, match_phrase
from .mentions import Name
from .normalize import FoundDate, read_date
from .pack import Pack, PackDimension, Pattern, Relation, SubjectSource, ValidityScope
from .phrase import Path, Phrase, TextPattern, compile_pattern
from .polarity import sentence_modality, sentence_polarity
from .validity import find_validity

DOCUMENT = ""
"""The subject of a finding about the document itself."""

_LONGEST_CLASS = 8
_MOST_MODIFIERS = 9
_MODIFIER_TAGS = frozenset({"NOUN", "ADJ", "DET", "ADV", "NUM", "PRON", "PROPN", "SYM"})
_SUBJECT_ARCS = ("nsubj", "nsubjpass")
_CLIMBING_ARCS = frozenset({
    "advcl", "xcomp", "ccomp", "prep", "pcomp", "agent", "conj", "dep", "pobj", "acomp", "oprd",
    "npadvmod",
})  # fmt: skip
_REACH = 6


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement found in running text; character spans of the text read, half-open.

    `subject` is the entity, or DOCUMENT. The quote spans `start` to `end`.
    """

    subject: str
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
class _Rule:
    pack: Pack
    relation: Relation
    dimension: PackDimension
    pattern: Pattern
    compiled: Phrase | Path | TextPattern
    unless: re.Pattern[str] | None
    not_before: re.Pattern[str] | None


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
        dimension = pack.dimension_of[relation.dimension]
        self._rules.append(_Rule(pack, relation, dimension, pattern, compiled, unless, before))
        if isinstance(compiled, TextPattern):
            self._always.append(number)
        else:
            for trigger in compiled.triggers:
                self._by_trigger.setdefault(trigger, []).append(number)

    def find(
        self, doc: Doc, names: Sequence[Name], dates: Sequence[FoundDate], resolved: Resolved
    ) -> Iterator[Finding]:
        """Give the findings of a read text, sentence by sentence, in the order of the packs."""
        text = _ReadText(doc, names, dates, resolved)
        for number, sentence in enumerate(doc.sents):
            span = slice(sentence.start, sentence.end)
            words = {*text.places.words[span], *text.places.lemmas[span]}
            numbers = {*self._always}
            for word in words & self._triggers:
                numbers.update(self._by_trigger[word])
            lead = number == 0 and resolved.anchor is not None
            # A functional dimension takes what the first pattern that matches a sentence says.
            taken: dict[tuple[str, str], int] = {}
            for index in sorted(numbers):
                rule = self._rules[index]
                if rule.pattern.lead and not lead:
                    continue
                for finding in text.apply(rule, sentence, is_first=number == 0):
                    place = (rule.dimension.name, finding.subject)
                    if rule.dimension.functional and taken.setdefault(place, index) != index:
                        continue
                    yield finding
                    if rule.relation.as_written:
                        yield replace(
                            finding,
                            dimension=rule.relation.as_written,
                            value=Text(finding.written),
                        )


class _ReadText:
    """A read text with what may fill slots, by token."""

    def __init__(
        self, doc: Doc, names: Sequence[Name], dates: Sequence[FoundDate], resolved: Resolved
    ) -> None:
        self.doc = doc
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
        self.places = Places(
            [token.lower_ for token in doc],
            [token.lemma_.lower() for token in doc],
            self.mentions,
            {start: name.end for start, name in self.names.items()},
            {start: end for start, (end, _) in self.dates.items()},
        )

    def apply(self, rule: _Rule, sentence: Span, *, is_first: bool) -> Iterator[Finding]:
        """Give the findings of one pattern in one sentence."""
        for match in self._matches(rule, sentence):
            if rule.unless is not None and rule.unless.search(
                self.doc[match.start : max(match.end, match.value[1])].text
            ):
                continue
            subject = match.subject
            mention: Mention | None = None
            if rule.relation.about_document and subject is None:
                name = DOCUMENT
            else:
                mention = subject or self._implied(
                    rule.pattern.subject, match, sentence, is_first=is_first
                )
                if mention is None or not self._suits(mention, rule.dimension):
                    continue
                name = mention.entity
            values = [match.value]
            if rule.relation.lists and rule.dimension.kind in (
                DimensionKind.ENTITY,
                DimensionKind.TAXONOMIC,
            ):
                values.extend(self._listed(rule.dimension, match.value[1], sentence.end))
            for span in values:
                finding = self._finding(rule, sentence, match, span, name, mention)
                if finding is not None:
                    yield finding

    def _allowed_spans(self, rule: _Rule, index: int, stop: int) -> list[tuple[int, int]]:
        """Give the value spans at a token that what follows does not rule out."""
        spans = self._value_spans(rule.dimension, index, stop)
        if rule.not_before is None:
            return spans
        return [
            (start, end)
            for start, end in spans
            if not rule.not_before.match(self.doc[end : min(stop, end + _MOST_MODIFIERS)].text)
        ]

    def _matches(self, rule: _Rule, sentence: Span) -> Iterator[Match]:
        bounds = (sentence.start, sentence.end)
        match rule.compiled:
            case Phrase() as phrase:
                yield from match_phrase(
                    phrase, self.doc, bounds, self.places,
                    lambda index: self._allowed_spans(rule, index, bounds[1]),
                )  # fmt: skip
            case Path() as path:
                mentions = [self.mentions[i] for i in range(*bounds) if i in self.mentions]
                yield from match_path(
                    path,
                    self.doc,
                    mentions,
                    lambda token: self._value_around(rule.dimension, token, bounds),
                )
            case TextPattern(expression):
                for found in expression.finditer(sentence.text):
                    match = self._text_match(rule, found, sentence)
                    if match is not None:
                        yield match

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
            spans = self._value_spans(rule.dimension, span.start, span.end)
            if not spans:
                return None
            value = spans[0]
        subject = None
        if "subject" in found.re.groupindex:
            at = self.token_at.get(found.start("subject") + offset)
            subject = self.mentions.get(at) if at is not None else None
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
        read = self._read(rule.dimension, span, match.written)
        if read is None:
            return None
        value, written = read
        if isinstance(value, Entity) and value.name == subject:
            return None
        text = sentence.text
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
            if antecedent < start and sentence.end_char - antecedent <= _LONGEST_QUOTE:
                start = antecedent
        validity = Validity()
        if (
            rule.relation.validity is not ValidityScope.NONE
            and rule.dimension.kind is not DimensionKind.TIME
        ):
            validity = find_validity(text)
        return Finding(
            subject=subject,
            dimension=rule.dimension.name,
            relation=rule.relation,
            value=value,
            written=written,
            start=start,
            end=sentence.start_char + len(text.rstrip()),
            polarity=sentence_polarity(text, here, there),
            modality=sentence_modality(text, here, there),
            validity=validity,
        )

    def _suits(self, mention: Mention, dimension: PackDimension) -> bool:
        types = dimension.subject_types
        kind = self.resolved.kind
        return not types or kind is None or mention.entity != self.resolved.anchor or kind in types

    def _implied(
        self, source: SubjectSource, match: Match, sentence: Span, *, is_first: bool
    ) -> Mention | None:
        if source is SubjectSource.TOPIC:
            return self._topic(sentence, match.start)
        if source is SubjectSource.ANCHOR:
            return self._anchor()
        governor = self._governor(self.doc[match.start], _REACH)
        if governor is not None:
            return governor
        return self._topic(sentence, match.start) if is_first and self.resolved.anchor else None

    def _anchor(self) -> Mention | None:
        """Give the title of the passage, named where the text names it first."""
        anchor = self.resolved.anchor
        for mention in self.resolved.mentions:
            if mention.entity == anchor:
                return Mention(
                    mention.start, mention.end, mention.entity, Form.DESCRIPTION, mention.start
                )
        return None

    def _topic(self, sentence: Span, before: int) -> Mention | None:
        """Give the first mention of the sentence, if it opens the sentence."""
        for index in range(sentence.start, min(before, sentence.start + 4)):
            if index in self.mentions:
                return self.mentions[index]
        return None

    def _governor(self, token: Token, reach: int) -> Mention | None:
        """Give the mention that is the subject of the word's clause or the thing it modifies."""
        if reach == 0:
            return None
        for child in token.children:
            if child.dep_ in _SUBJECT_ARCS:
                if child.tag_ in ("WDT", "WP"):
                    break
                return self._mention_of(child)
        if token.dep_ in ("acl", "relcl"):
            return self._thing(token.head, token, reach - 1)
        if token.dep_ in ("attr", "appos", "nsubj", "nsubjpass", "ROOT") and token.pos_ in (
            "NOUN",
            "PROPN",
        ):
            return self._thing(token, token, reach - 1)
        if token.dep_ in _CLIMBING_ARCS or token.dep_ in (
            "amod",
            "compound",
            "attr",
            "appos",
            "dobj",
        ):
            return self._governor(token.head, reach - 1)
        return None

    def _thing(self, noun: Token, trigger: Token, reach: int) -> Mention | None:
        """Give what a noun stands for: its own name, a name in apposition, or its subject."""
        if noun.i in self.covering:
            return self.covering[noun.i]
        if reach == 0:
            return None
        for child in noun.children:
            if (
                child.dep_ in ("appos", "nmod")
                and noun.i < child.i < trigger.i
                and child.i in self.covering
            ):
                return self.covering[child.i]
        if noun.dep_ in ("attr", "appos", "conj", "oprd"):
            for child in noun.head.children:
                if child.dep_ in _SUBJECT_ARCS and child is not noun:
                    return self._mention_of(child)
            return self._thing(noun.head, trigger, reach - 1)
        return None

    def _mention_of(self, token: Token) -> Mention | None:
        """Give the mention a noun phrase is or begins with."""
        if token.i in self.covering:
            return self.covering[token.i]
        first = token.left_edge.i
        while first <= token.i:
            if first in self.covering and self.covering[first].end > token.i:
                return self.covering[first]
            first += 1
        return None

    def _value_spans(
        self, dimension: PackDimension, index: int, stop: int
    ) -> list[tuple[int, int]]:
        if index >= stop:
            return []
        match dimension.kind:
            case DimensionKind.ENTITY:
                span = self._name_span(index, stop)
                if span is None:
                    return []
                quoted = self.names[span[0]].quoted and dimension.value_types
                return [span] if not quoted or "work" in dimension.value_types else []
            case DimensionKind.TIME:
                at = index + 1 if self.doc[index].lower_ == "the" else index
                return [(at, self.dates[at][0])] if at in self.dates else []
            case DimensionKind.QUANTITY:
                return self._amount_span(index, stop)
            case DimensionKind.NUMBER:
                return [(index, index + 1)] if self.doc[index].text[0].isdigit() else []
            case DimensionKind.TAXONOMIC:
                return self._class_spans(dimension, index, stop)
            case DimensionKind.TEXT:
                end = index
                while end < stop and not self._ends_text(self.doc[end]):
                    end += 1
                return [(index, end)] if end > index else []

    def _name_span(self, index: int, stop: int) -> tuple[int, int] | None:
        """Give the name at a token, or after words that describe it: `the Irish poet Ann Lee`.

        Names in quotation marks are works, which only dimensions of works take.
        """
        passed: Name | None = None
        for at in range(index, min(index + _MOST_MODIFIERS, stop)):
            token = self.doc[at]
            name = self.names.get(at)
            if name is not None and name.end <= stop:
                if not self._describes(name, stop):
                    return None if self._is_possessor(name.end) else (name.start, name.end)
                passed = name
                continue
            passable = (
                token.pos_ in _MODIFIER_TAGS
                or token.text in ("-", "/", '"', "“", "„")
                or (token.lower_ == "and" and at > index and self._joins_nouns(at, stop))
            )
            if passed is not None and passed.start < at < passed.end:
                continue
            if not passable or token.text == "," or token.tag_ in ("PRP", "WDT", "WP"):
                break
        if passed is None or self.doc[passed.start].ent_type_ == "NORP":
            return None
        return (passed.start, passed.end)

    def _ends_text(self, token: Token) -> bool:
        """Whether a text value ends before a word: at marks and prepositions, `of` apart."""
        return token.text in (",", ";", ".", ":", "(", ")") or (
            token.pos_ in ("ADP", "SCONJ", "AUX", "CCONJ") and token.lower_ != "of"
        )

    def _joins_nouns(self, at: int, stop: int) -> bool:
        """Whether `and` stands between nouns of a description: `filmmaker and artist Ann Lee`."""
        if at + 1 >= stop:
            return False
        before, after = self.doc[at - 1], self.doc[at + 1]
        return all(
            word.text[0].islower() and word.pos_ in ("NOUN", "ADJ") for word in (before, after)
        )

    def _describes(self, name: Name, stop: int) -> bool:
        """Whether a name only describes the noun that follows it: `Irish` in `the Irish poet`."""
        if name.quoted or name.end >= stop or name.end > name.start + 2:
            return False
        following = self.doc[name.end]
        if following.text in ("-", "/"):
            return self.doc[name.start].ent_type_ == "NORP"
        return following.text[0].islower() and following.pos_ in ("NOUN", "ADJ")

    def _is_possessor(self, end: int) -> bool:
        return end < len(self.doc) and self.doc[end].lower_ in ("'s", "’s")

    def _amount_span(self, index: int, stop: int) -> list[tuple[int, int]]:
        start_char = self.doc[index].idx
        text = self.doc[index : min(stop, index + 8)].text
        for amount in find_amounts(text):
            if amount.start == 0:
                span = self.doc.char_span(
                    start_char, start_char + amount.end, alignment_mode="expand"
                )
                return [(span.start, span.end)] if span is not None else []
            break
        return []

    def _class_spans(
        self, dimension: PackDimension, index: int, stop: int
    ) -> list[tuple[int, int]]:
        taxonomy = dimension.taxonomy
        if taxonomy is None:
            return []
        for end in range(min(stop, index + _LONGEST_CLASS), index, -1):
            text = self.doc[index:end].text
            label = taxonomy.read(text)
            if label is not None:
                return [(index, end)] if self._stands_alone(index, end, text == label) else []
        return []

    def _stands_alone(self, start: int, end: int, is_noun: bool) -> bool:
        """Whether words that name a class are not part of a longer name (`New South Wales`).

        An adjective may begin one: `American Western`.
        """
        name = self.name_at.get(start)
        if name is None or (name.start >= start and name.end <= end):
            return True
        return not is_noun and name.start == start and not name.quoted

    def _value_around(
        self, dimension: PackDimension, token: Token, bounds: tuple[int, int]
    ) -> tuple[int, int] | None:
        """Give the value whose words hold a token or that its noun phrase begins with."""
        if dimension.kind is DimensionKind.ENTITY:
            for start in range(token.i, max(bounds[0], token.i - _MOST_MODIFIERS) - 1, -1):
                name = self.names.get(start)
                if name is not None:
                    return (
                        (name.start, name.end)
                        if token.i < name.end and not self._is_possessor(name.end)
                        else None
                    )
            return None
        for start in range(token.left_edge.i, token.i + 1):
            for span in self._value_spans(dimension, start, bounds[1]):
                if span[0] <= token.i < span[1]:
                    return span
        return None

    def _listed(self, dimension: PackDimension, index: int, stop: int) -> Iterator[tuple[int, int]]:
        """Give the further values of an enumeration that continues at a token."""
        while index < stop:
            at = index
            if self.doc[at].text in ('"', "”", "“"):
                at += 1
            if (at < stop and self.doc[at].text == ",") or (
                dimension.kind is DimensionKind.TAXONOMIC and self.doc[at].text in ("-", "–")
            ):
                at += 1
            if at < stop and self.doc[at].lower_ in ("and", "&", "or"):
                at += 1
            if at == index or at >= stop:
                return
            spans = self._value_spans(dimension, at, stop)
            if not spans or self.doc[at].tag_ in ("NNS", "VBZ"):
                return
            yield spans[0]
            index = spans[0][1]

    def _read(
        self, dimension: PackDimension, span: tuple[int, int], written: str | None
    ) -> tuple[Value, str] | None:
        text = self.doc[span[0] : span[1]].text
        try:
            match dimension.kind:
                case DimensionKind.ENTITY:
                    mention = self.mentions.get(span[0])
                    if mention is not None and mention.end == span[1]:
                        return Entity(mention.entity), text
                    name = self.names.get(span[0])
                    return Entity(name.text if name is not None else text), text
                case DimensionKind.TIME:
                    if written is not None:
                        return read_date(written), written
                    if span[0] in self.dates:
                        return self.dates[span[0]][1].date, text
                    return None
                case DimensionKind.QUANTITY:
                    return find_amounts(text)[0].amount, text
                case DimensionKind.NUMBER:
                    return read_numeral(text), text
                case DimensionKind.TAXONOMIC:
                    label = dimension.taxonomy.read(text) if dimension.taxonomy else None
                    return (TaxonClass(label), text) if label else None
                case DimensionKind.TEXT:
                    return Text(text), text
        except ValueUnreadable:
            return None


_LONGEST_QUOTE = 600
