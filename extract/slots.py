"""Slots: which words of a read text may be the value of a dimension, and the value they are."""

from __future__ import annotations

from spacy.tokens import Token

from kb.dimension import DimensionKind
from kb.errors import ValueUnreadable
from kb.statement import Entity, TaxonClass, Text, Value

from .amounts import amount_places, read_amount, read_numeral
from .mentions import Name, names_office, without_rank
from .normalize import read_date
from .pack import PackDimension
from .read_text import ReadText
from .taxonomy import Taxonomy
from .values import has_unit_of

_LONGEST_CLASS = 8
_LONGEST_AMOUNT = 8
_MOST_MODIFIERS = 9
_MODIFIER_TAGS = frozenset({"NOUN", "ADJ", "DET", "ADV", "NUM", "PRON", "PROPN", "SYM"})
_NOT_A_PERSON = frozenset({"GPE", "LOC", "NORP", "DATE", "LANGUAGE"})
_DIVISIONS = frozenset({"District", "Province", "County", "Region", "Department", "Governorate"})
_HEADS_OF_NO_PERSON = frozenset({
    "airport", "area", "association", "band", "club", "college", "company", "corporation",
    "county", "department", "dynasty", "empire", "entertainment", "films", "foundation",
    "government", "hospital", "hotel", "institute", "league", "ministry", "mountains", "museum",
    "orchestra", "organisation", "organization", "party", "pictures", "productions", "records",
    "republic", "river", "school", "society", "station", "studio", "studios", "union",
    "university",
})  # fmt: skip


class Slots:
    """Finds and reads values in a read text; token spans are half-open."""

    def __init__(self, text: ReadText) -> None:
        self.doc = text.doc
        self.names = text.names
        self.name_at = text.name_at
        self.dates = text.dates
        self.mentions = text.mentions
        self.anchor = text.resolved.anchor
        self.notation = text.notation
        self.nouns = frozenset(
            noun for nouns in self.doc.user_data.get("kinds", {}).values() for noun in nouns
        )
        """What packs call entities: these are nouns, whatever the tagger takes them for."""
        self.refused: dict[tuple[int, int], str] = {}
        """Spans of values that cannot be read, and why."""

    def spans(self, dimension: PackDimension, index: int, stop: int) -> list[tuple[int, int]]:
        """Give the spans that may be a value and begin at a token, best first."""
        if index >= stop:
            return []
        match dimension.kind:
            case DimensionKind.ENTITY:
                span = self._name_span(index, stop)
                if span is None:
                    return []
                return [span] if self._suits(span, dimension.value_types) else []
            case DimensionKind.TIME:
                at = index + 1 if self.doc[index].lower_ == "the" else index
                return [(at, self.dates[at][0])] if at in self.dates else []
            case DimensionKind.QUANTITY:
                return self._amount_span(dimension, index, stop)
            case DimensionKind.NUMBER:
                return [(index, index + 1)] if self.doc[index].text[0].isdigit() else []
            case DimensionKind.TAXONOMIC:
                return self._class_spans(dimension, index, stop)
            case DimensionKind.TEXT:
                end = index
                while end < stop and not self._ends_text(self.doc[end]):
                    end += 1
                return [(index, end)] if end > index else []

    def _suits(self, span: tuple[int, int], types: tuple[str, ...]) -> bool:
        """Whether a name may be of one of the types, as far as its form tells.

        Names in quotation marks are works. One word that the tagger takes for a place or a people
        is neither a person nor an organisation; nor is a person what ends in `University`.
        """
        if not types:
            return True
        name = self.names[span[0]]
        if name.quoted and "work" not in types:
            return False
        if "place" not in types and names_office(name.text):
            return False
        if "place" in types:
            return True
        if types == ("person",) and self._lends_surname(name):
            return False
        if types == ("person",) and name.text.split(" of ")[0].split()[-1].lower() in (
            _HEADS_OF_NO_PERSON
        ):
            return False
        single = " " not in name.text
        return not single or self.doc[span[0]].ent_type_ not in _NOT_A_PERSON

    def _lends_surname(self, name: Name) -> bool:
        """Whether a given name goes with the surname that follows later: `Ian and Betty Lee`."""
        if " " in name.text or name.end + 1 >= len(self.doc) or self.doc[name.end].text != "and":
            return False
        mention = self.mentions.get(name.start)
        if mention is not None and mention.entity != name.text:
            return False  # the surname of somebody named before
        other = self.names.get(name.end + 1)
        return other is not None and len(other.text.split()) == 2 and not other.quoted

    def _name_span(self, index: int, stop: int) -> tuple[int, int] | None:
        """Give the name at a token, or after words that describe it: `the Irish poet Ann Lee`."""
        passed: Name | None = None
        past = index
        for at in range(index, min(index + _MOST_MODIFIERS, stop)):
            token = self.doc[at]
            name = self.names.get(at)
            if at < past:
                continue
            if name is not None and name.end <= stop:
                if self._is_possessor(name.end):
                    past = name.end + 1  # `by the Lakers' singer Ann Lee`
                    continue
                if not self._describes(name, stop):
                    return (name.start, name.end)
                passed = name
                continue
            passable = (
                token.pos_ in _MODIFIER_TAGS
                or token.text in self.nouns
                or (token.pos_ == "VERB" and token.dep_ == "amod")
                or token.text in ("-", "/", '"', "“", "„")
                or (token.lower_ == "and" and at > index and self._joins_nouns(at, stop))
                or (at > index and self.doc[at - 1].text == "-" and token.text[0].islower())
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
            word.text[0].islower() and (word.pos_ in ("NOUN", "ADJ") or word.text in self.nouns)
            for word in (before, after)
        )

    def _describes(self, name: Name, stop: int) -> bool:
        """Whether a name only describes the noun that follows it: `Irish` in `the Irish poet`."""
        if name.quoted or name.end >= stop or (name.end > name.start + 2 and " " in name.text):
            return False
        following = self.doc[name.end]
        if following.text in ("-", "/"):
            return self.doc[name.start].ent_type_ == "NORP"
        return following.text[0].islower() and (
            following.pos_ in ("NOUN", "ADJ") or following.text in self.nouns
        )

    def _is_possessor(self, end: int) -> bool:
        if end + 1 >= len(self.doc):
            return False
        mark = self.doc[end].lower_
        plural = mark in ("'", "’") and self.doc[end - 1].text.endswith("s")
        return mark in ("'s", "’s") or (plural and self.doc[end + 1].text[0].islower())

    def _amount_span(
        self, dimension: PackDimension, index: int, stop: int
    ) -> list[tuple[int, int]]:
        start_char = self.doc[index].idx
        text = self.doc[index : min(stop, index + _LONGEST_AMOUNT)].text
        for start, end in amount_places(text, unit=dimension.unit)[:1]:
            if start == 0:
                span = self.doc.char_span(start_char, start_char + end, alignment_mode="expand")
                return [(span.start, span.end)] if span is not None else []
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
            if label is not None and label != taxonomy.root:
                alone = self._stands_alone(index, end, text == label) or self._is_second(
                    taxonomy, index, end
                )
                return [(index, end)] if alone else []
        return []

    def _is_second(self, taxonomy: Taxonomy, start: int, end: int) -> bool:
        """Whether a class is the second of two in one: `Argentine` in `French/Argentine`."""
        name = self.name_at.get(start)
        if name is None or name.end != end or self.doc[start - 1].text not in ("-", "–", "/"):
            return False
        return taxonomy.read(self.doc[name.start : start - 1].text) is not None

    def _stands_alone(self, start: int, end: int, is_noun: bool) -> bool:
        """Whether words that name a class are not part of a longer name (`New South Wales`).

        An adjective may begin one: `American Western`; and `Central District of Botswana` ends in
        what it is part of.
        """
        name = self.name_at.get(start)
        if name is None or (name.start >= start and name.end <= end):
            return True
        if name.end == end and start - 2 > name.start and self.doc[start - 1].lower_ == "of":
            return self.doc[start - 2].text in _DIVISIONS
        return not is_noun and name.start == start and not name.quoted

    def around(
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
            for span in self.spans(dimension, start, bounds[1]):
                if span[0] <= token.i < span[1]:
                    return span
        return None

    def listed(self, dimension: PackDimension, index: int, stop: int) -> list[tuple[int, int]]:
        """Give the further values of an enumeration that continues at a token.

        What a comma parts from an organisation is another only if `and` follows: `Balliol, Oxford`.
        """
        found: list[tuple[int, int]] = []
        joined = dimension.value_types != ("organization",)
        while index < stop:
            at = index
            if self.doc[at].text in ('"', "”", "“"):
                at += 1
            if (at < stop and self.doc[at].text == ",") or (
                dimension.kind is DimensionKind.TAXONOMIC and self.doc[at].text in ("-", "–", "/")
            ):
                at += 1
            conjoined = at < stop and self.doc[at].lower_ in ("and", "&", "or")
            at += conjoined
            if at == index or at >= stop:
                break
            spans = self.spans(dimension, at, stop)
            if not spans or self.doc[at].tag_ in ("NNS", "VBZ") or self.doc[at].pos_ == "VERB":
                break
            if any(self.doc[i].lower_ in ("'s", "’s") for i in range(at, spans[0][0])):
                break  # `Ann's son Tom and Jane's son Paul`
            joined = joined or conjoined
            found.append(spans[0])
            index = spans[0][1]
        return found if joined else []

    def read(
        self, dimension: PackDimension, span: tuple[int, int], written: str | None
    ) -> tuple[Value, str] | None:
        """Give the value of a span and the words that state it; `written` wins over the tokens."""
        text = self.doc[span[0] : span[1]].text
        try:
            match dimension.kind:
                case DimensionKind.ENTITY:
                    mention = self.mentions.get(span[0])
                    name = self.names.get(span[0])
                    named = name.text if name is not None else text
                    if mention is not None and mention.end == span[1]:
                        named = mention.entity
                    if dimension.value_types == ("person",) and named != self.anchor:
                        named = without_rank(named)
                    return Entity(named), text
                case DimensionKind.TIME:
                    if written is not None:
                        return read_date(written), written
                    if span[0] in self.dates:
                        return self.dates[span[0]][1].date, text
                    return None
                case DimensionKind.QUANTITY:
                    start, end = amount_places(text, unit=dimension.unit)[0]
                    amount = read_amount(
                        text[start:end], unit=dimension.unit, notation=self.notation
                    )
                    return (amount, text) if has_unit_of(dimension, amount) else None
                case DimensionKind.NUMBER:
                    return read_numeral(text, notation=self.notation), text
                case DimensionKind.TAXONOMIC:
                    label = dimension.taxonomy.read(text) if dimension.taxonomy else None
                    return (TaxonClass(label), text) if label else None
                case DimensionKind.TEXT:
                    return Text(text), text
        except ValueUnreadable as error:
            self.refused[span] = f"{error} ({dimension.name})"
            return None
