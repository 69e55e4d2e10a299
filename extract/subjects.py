"""Subjects: what a pattern without `{subject}` speaks of."""

from __future__ import annotations

from spacy.tokens import Span, Token

from .coreference import Form, Mention
from .mentions import names_office
from .pack import PackDimension, SubjectSource
from .read_text import ReadText

_SUBJECT_ARCS = ("nsubj", "nsubjpass")
_CLIMBING_ARCS = frozenset({
    "advcl", "xcomp", "ccomp", "prep", "pcomp", "agent", "conj", "dep", "pobj", "acomp", "oprd",
    "npadvmod", "amod", "compound", "attr", "appos", "dobj",
})  # fmt: skip
_REACH = 6
_OPENING = 4
_BETWEEN = frozenset({"DET", "ADJ", "NUM", "ADV"})


class Subjects:
    """Finds the subjects of patterns in a read text."""

    def __init__(self, text: ReadText) -> None:
        self.text = text
        self.doc = text.doc
        self.resolved = text.resolved
        self.mentions = text.mentions
        self.covering = text.covering

    def implied(
        self, source: SubjectSource, dimension: PackDimension, start: int, sentence: Span
    ) -> Mention | None:
        """Give the subject of a pattern whose match begins at token `start`, or None."""
        match source:
            case SubjectSource.DOCUMENT:
                return None
            case SubjectSource.TOPIC:
                return None if start in self.text.in_brackets else self._topic(sentence, start)
            case SubjectSource.ANCHOR:
                return self._anchor()
            case SubjectSource.GOVERNOR:
                if start in self.text.in_brackets:
                    return self._before_bracket(start)
                return self._governing(dimension, start, sentence)

    def _before_bracket(self, start: int) -> Mention | None:
        """Give what stands right before the brackets around a token: `James Lee (born 1950)`."""
        index, depth = start, 1
        while index > 0 and depth:
            index -= 1
            depth += (self.doc[index].text == ")") - (self.doc[index].text == "(")
        while index > 0 and (self.doc[index - 1].is_quote or self.doc[index - 1].text in "( "):
            index -= 1
        before = self.covering.get(index - 1)
        lead = self.resolved.lead_name
        if before is None and lead is not None and index > lead.end:
            first = all(token.text != "(" for token in self.doc[lead.end : index])
            if first and not any(token.is_sent_start for token in self.doc[lead.end : index + 1]):
                return self.mentions.get(lead.start)  # `Ann Lee, a painter (born 1950)`
        return before

    def suits(self, mention: Mention, dimension: PackDimension) -> bool:
        """Whether a mention may be a subject of the dimension, as far as its form tells.

        The title of a passage is of the kind its first sentence says.
        """
        types = dimension.subject_types
        if not types:
            return True
        if mention.entity == self.resolved.anchor:
            kind = self.resolved.kind
            return kind is None or kind in types
        name = self.text.names.get(mention.start)
        if mention.form is not Form.NAME or (name is not None and name.quoted):
            return True
        return types != ("work",) and not self._is_vague(mention)

    def _is_vague(self, mention: Mention) -> bool:
        """Whether a name beside the title of a corpus does not say who is meant: `Agnes`.

        Offices are vague as well: `Count of Perche`.
        """
        if self.resolved.anchor is None or not self.resolved.titled:
            return False
        return mention.end == mention.start + 1 or names_office(mention.entity)

    def _governing(self, dimension: PackDimension, start: int, sentence: Span) -> Mention | None:
        """Give the name a noun stands beside, else what governs it, else the title.

        The title stands in where the first sentence has it as subject, and for works wherever it
        opens the sentence: in `X is a film directed by A and produced by B`, A produces nothing.
        """
        trigger = self.doc[start]
        if trigger.dep_ in ("aux", "auxpass"):
            trigger = trigger.head  # `was killed`
        is_noun = trigger.pos_ == "NOUN"
        if is_noun:
            first = self._coordinated(start, sentence)
            if first is not None:
                return self._governing(dimension, first, sentence)
        named = self._named(start, is_noun=is_noun)
        if named is not None:
            return named
        beside = self._beside(start) if is_noun else None
        if beside is not None and "person" in dimension.subject_types and self._is_place(beside):
            beside = self._governor(
                self.doc[beside.start].head, _REACH
            )  # `born in Ness, the son of`
        if beside is None and is_noun and start - sentence.start < _OPENING:
            beside = self._subject_of(sentence, trigger)  # `The son of James, he ..`
            if beside is None and trigger.dep_ == "ROOT" and self.resolved.titled:
                return self._anchor()  # `The only son of James.`, a sentence without a verb
        if beside is None and is_noun and _is_object(trigger):
            return None  # `left it to the sons of James` says nothing of who left it
        governor = self._predicated(beside or self._governor(trigger, _REACH))
        if governor is not None and self._only_in_brackets(governor, start):
            governor = None  # `Der Weg ("The Road") is a film`
        if governor is not None and names_office(governor.entity):
            opening = self._topic(sentence, start)  # `Ann, Countess of Kent, married ..`
            if opening is not None and opening.entity == self.resolved.anchor:
                governor = opening
        if governor is not None and (
            dimension.subject_types != ("work",) or self.suits(governor, dimension)
        ):
            return governor
        topic = self._topic(sentence, start)
        anchored = topic is not None and topic.entity == self.resolved.anchor
        if governor is None and not (anchored and sentence.start == 0):
            return None
        return topic if anchored else governor

    def _coordinated(self, start: int, sentence: Span) -> int | None:
        """Give the noun a noun after `and` is joined to: `son` in `son of A and brother of B`.

        Both are said of the same; the name between them is not what the second is said of.
        """
        index = start - 1
        while index > sentence.start and self.doc[index].pos_ in _BETWEEN:
            index -= 1
        if self.doc[index].lower_ != "and" and not (
            self.doc[index].text == "," and self._lists_on(start, sentence)
        ):
            return None
        if self.doc[index].text != ",":
            index -= 1
        if self.doc[index].text == ",":
            index -= 1
        if self.doc[index].text == ")":
            while index > sentence.start and self.doc[index].text != "(":
                index -= 1
            index -= 1
        if index not in self.covering:
            return None
        for at in range(self.covering[index].start - 1, sentence.start, -1):
            token = self.doc[at]
            if token.pos_ in ("VERB", "AUX") or (token.is_punct and token.text != ","):
                return None
            if token.lower_ == "of" and self.doc[at - 1].pos_ == "NOUN":
                return at - 1
        return None

    def _lists_on(self, start: int, sentence: Span) -> bool:
        """Whether `and` joins a noun with `of` later: `son of A, the heir of B and uncle of C`."""
        for at in range(start + 1, sentence.end - 2):
            if self.doc[at].lower_ == "and":
                noun = at + 1
                while noun < sentence.end - 1 and self.doc[noun].pos_ in _BETWEEN:
                    noun += 1
                if self.doc[noun].pos_ == "NOUN" and self.doc[noun + 1].lower_ == "of":
                    return True
        return False

    def _named(self, start: int, *, is_noun: bool) -> Mention | None:
        """Give the title in quotation marks that follows a noun or precedes a participle.

        `the song "Dawn", which was written by`; `the album "Dawn", released in 1950`.
        """
        if is_noun:
            name = next(
                (self.text.names[i] for i in (start + 1, start + 2) if i in self.text.names), None
            )
        else:
            index = start - 1
            while index > 0 and (self.doc[index].is_quote or self.doc[index].text == ","):
                index -= 1
            name = self.text.name_at.get(index) if self.doc[start].tag_ == "VBN" else None
        return self.mentions.get(name.start) if name is not None and name.quoted else None

    def _only_in_brackets(self, mention: Mention, start: int) -> bool:
        inside = self.text.in_brackets
        return mention.start in inside and start not in inside

    def _is_place(self, mention: Mention) -> bool:
        root = self.doc[mention.start : mention.end].root
        return root.dep_ == "pobj" and root.head.lower_ in ("in", "at", "near")

    def _subject_of(self, sentence: Span, trigger: Token) -> Mention | None:
        """Give the subject of a sentence that opens with a noun in apposition to it."""
        for child in sentence.root.children:
            if child.dep_ in _SUBJECT_ARCS and child is not trigger:
                mention = self._mention_of(child)
                if mention is not None and mention.start > trigger.i:
                    return mention
        return None

    def _predicated(self, mention: Mention | None) -> Mention | None:
        """Give the subject of which a mention is predicated: `Ann was Duchess of Kent`."""
        if mention is None:
            return None
        root = self.doc[mention.start : mention.end].root
        if root.dep_ != "attr" or root.head.lemma_ not in ("be", "become"):
            return mention
        for child in root.head.children:
            if child.dep_ in _SUBJECT_ARCS:
                return self._mention_of(child) or mention
        return mention

    def _beside(self, start: int) -> Mention | None:
        """Give the name right before a noun, marks and adjectives apart: `Ann, eldest daughter`."""
        index = start - 1
        depth = 0
        while index >= 0 and not self.doc[index + 1].is_sent_start:
            token = self.doc[index]
            if token.text == ")":
                depth += 1
            elif token.text == "(" and depth:
                depth -= 1
            elif not depth:
                if index in self.covering:
                    mention = self.covering[index]
                    return mention if mention.form in (Form.NAME, Form.ALIAS) else None
                passable = token.pos_ in _BETWEEN or token.text == ","
                if not passable and token.lower_ not in ("himself", "herself"):
                    return None
            index -= 1
        return None

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
        """Give the first mention of the sentence, if it opens the sentence, or the lead of all."""
        lead = self.resolved.lead_name
        if lead is not None and sentence.start == 0 and lead.start < before:
            return self.mentions.get(lead.start)
        for index in range(sentence.start, min(before, sentence.start + _OPENING)):
            if index in self.mentions:
                return self.mentions[index]
        return None

    def _governor(self, token: Token, reach: int) -> Mention | None:
        """Give the mention that is the subject of the word's clause or the thing it modifies."""
        if reach == 0:
            return None
        subjects = [child for child in token.children if child.dep_ in _SUBJECT_ARCS]
        for child in subjects:
            if child.tag_ in ("WDT", "WP"):
                beside = self._beside(child.i)
                if beside is not None:
                    return beside
                break
            mention = self._mention_of(child)
            if mention is not None or child is subjects[-1]:
                return mention  # of `The son of a priest, he left`, the second
        if token.pos_ == "NOUN" and _is_object(token):
            return None
        if token.dep_ in ("acl", "relcl"):
            return self._thing(token.head, token, reach - 1)
        if token.dep_ in ("attr", "appos", "nsubj", "nsubjpass", "ROOT") and token.pos_ in (
            "NOUN",
            "PROPN",
        ):
            return self._thing(token, token, reach - 1)
        if token.dep_ == "prep" and token.lower_ == "as":
            for child in token.head.children:  # `names him as the son of`
                if child.dep_ == "dobj":
                    return self._mention_of(child)
        if token.dep_ in _CLIMBING_ARCS:
            return self._governor(token.head, reach - 1)
        return None

    def _thing(self, noun: Token, trigger: Token, reach: int) -> Mention | None:
        """Give what a noun stands for: its own name, a name in apposition, or its subject."""
        if noun.i in self.covering:
            return self.covering[noun.i]
        if reach == 0:
            return None
        if noun.dep_ == "appos" and (named := self._apposed(noun)) is not None:
            return named
        for child in noun.children:
            if (
                child.dep_ in ("appos", "nmod")
                and noun.i < child.i < trigger.i
                and child.i in self.covering
            ):
                return self.covering[child.i]
        if noun.dep_ == "conj" and noun.pos_ == "NOUN" and noun.head.pos_ == "PROPN":
            # `She married James, and was the mother of ..`: not James is
            return self._governor(noun.head, reach - 1)
        if noun.dep_ in ("attr", "appos", "conj", "oprd"):
            for child in noun.head.children:
                if child.dep_ in _SUBJECT_ARCS and child is not noun:
                    return self._mention_of(child)
            if noun.head.pos_ in ("AUX", "VERB"):  # `he was .., being the son of`
                return self._governor(noun.head, reach - 1)
            return self._thing(noun.head, trigger, reach - 1)
        return None

    def _apposed(self, noun: Token) -> Mention | None:
        """Give the title in quotation marks that a noun stands beside: `"Dawn", a 1950 film`."""
        index = noun.i - 1
        while index > 0 and self.doc[index].pos_ in _BETWEEN:
            index -= 1
        if self.doc[index].text != "," or not self.doc[index - 1].is_quote:
            return None
        name = self.text.name_at.get(index - 2)
        return self.mentions.get(name.start) if name is not None and name.quoted else None

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


def _is_object(noun: Token) -> bool:
    """Whether a noun is an object, or stands after a preposition.

    Not so after `as`, and where it is part of what is predicated: `is one of the sons of James`.
    """
    if noun.dep_ != "pobj":
        return noun.dep_ == "dobj"
    preposition = noun.head
    whole = preposition.head
    part = preposition.lower_ == "of" and (
        whole.dep_ in ("attr", "appos", "conj")
        or (whole.dep_ == "nsubj" and whole.head.lemma_ == "be" and whole.head.i < whole.i)
    )
    return preposition.lower_ != "as" and not part
