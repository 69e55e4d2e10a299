"""Coreference by rule: names, pronouns and descriptions to the entity they stand for.

In a titled passage the title is the *anchor*: its name with or without a parenthetical, the name
the first sentence opens with, a part of that name, `he`, `she`, `it` and `the film` stand for the
whole title. Elsewhere a pronoun stands for the subject of the sentence before.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from spacy.tokens import Doc, Span, Token

from .mentions import Name


class Form(Enum):
    """How a mention is put."""

    NAME = "name"
    ALIAS = "alias"
    PRONOUN = "pronoun"
    DESCRIPTION = "description"


@dataclass(frozen=True, slots=True)
class Mention:
    """A half-open token span that stands for an entity.

    `antecedent` is the token from which on the text names the entity itself.
    """

    start: int
    end: int
    entity: str
    form: Form
    antecedent: int


@dataclass(frozen=True, slots=True)
class Alias:
    """A short name a text gives: `Nordwind Logistik GmbH ("Nordwind")`; half-open token span."""

    entity: str
    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Resolved:
    """What coreference found in a text; mentions are in text order."""

    mentions: tuple[Mention, ...]
    aliases: tuple[Alias, ...]
    anchor: str | None
    kind: str | None
    lead_name: Name | None


_PERSON = {
    "he": "he", "him": "he", "his": "he", "himself": "he",
    "she": "she", "her": "she", "hers": "she", "herself": "she",
}  # fmt: skip
_THING = frozenset({"it", "its", "itself"})
_PARENTHETICAL = re.compile(r"\s*\([^()]*\)\s*\Z")
_ALIAS_OPEN = re.compile(
    r"\(\s*(?P<cue>(?:(?:hereinafter|hereafter|the|in short|short|referred to as)\W+)*)[\"“„'‘]"
)
_LIFE = re.compile(r"\(.{0,60}\bborn\b|\bdied\b|\d{3,4}\s?[–-]\s?.{0,25}\d{3,4}\)", re.IGNORECASE)
_OPENING = 60
_LONGEST_LEAD = 14
_LINKS = frozenset({"and", "by", "with", "of", "through", ",", "("})
_HE = frozenset(
    {"son", "king", "prince", "duke", "husband", "father", "brother", "actor", "emperor", "nephew"}
)
_SHE = frozenset({
    "daughter", "queen", "princess", "duchess", "wife", "mother", "sister", "actress", "empress",
    "niece", "consort", "noblewoman", "businesswoman",
})  # fmt: skip
_ROYAL = frozenset({
    "King", "Queen", "Prince", "Princess", "Duke", "Duchess", "Emperor", "Empress", "Sir", "Lord",
    "Lady", "Saint", "St",
})  # fmt: skip


def bare_title(title: str) -> str:
    """Give a title without its trailing disambiguation: `Ann Lee (poet)` -> `Ann Lee`."""
    bare = _PARENTHETICAL.sub("", title)
    return bare or title


@dataclass(slots=True)
class _State:
    """Reading state: entities by name met so far, and the last subject of a sentence."""

    names: MutableMapping[str, str]
    subject: str | None = None
    subject_at: int = 0
    gender: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)


def resolve(
    doc: Doc,
    names: Sequence[Name],
    *,
    anchor: str | None,
    titled: bool,
    known: Mapping[str, str],
    kinds: Mapping[str, Sequence[str]],
) -> Resolved:
    """Resolve the mentions of a text.

    A title is taken for a person's unless the text says what it is. `known` maps short names given
    elsewhere in the document to entities; `kinds` maps a kind of entity to the nouns that call
    something so.
    """
    state = _State(names=ChainMap({}, dict(known)))
    noun_kind = {noun: kind for kind in sorted(kinds) for noun in kinds[kind]}
    lead = _lead_name(doc, names, anchor)
    anchor_forms = _anchor_forms(anchor, lead)
    kind = _lead_kind(doc, anchor, lead, noun_kind) if anchor is not None else None
    if titled and kind is None:
        kind = "person"
    if anchor is not None and (gender := _lead_gender(doc)) is not None:
        state.gender[anchor] = gender
    mentions: list[Mention] = []
    aliases: list[Alias] = []
    by_start = {name.start: name for name in names}
    if lead is not None:
        for index in range(lead.start, lead.end):
            by_start.pop(index, None)
        by_start[lead.start] = lead
    anchor_at = lead.start if lead is not None else 0
    for sentence in doc.sents:
        first_subject: Mention | None = None
        index = sentence.start
        while index < sentence.end:
            mention = None
            name = by_start.get(index)
            if name is not None:
                is_lead = lead is not None and name.start == lead.start
                mention = _resolve_name(name, state, anchor, anchor_forms, anchor_at, is_lead)
                alias = _alias_after(doc, name, mention.entity)
                if alias is not None:
                    aliases.append(alias)
                    state.names.setdefault(alias.name, alias.entity)
            else:
                token = doc[index]
                mention = _resolve_possessive(token, mentions, state, anchor)
                if mention is None:
                    mention = _resolve_pronoun(token, state, anchor, kind, anchor_at)
                if mention is None:
                    mention = _resolve_description(
                        doc, index, state, anchor, kind, noun_kind, anchor_at
                    )
            if mention is None:
                index += 1
                continue
            mentions.append(mention)
            if first_subject is None and _is_subject(doc, mention):
                first_subject = mention
                state.subject = mention.entity
                state.subject_at = mention.antecedent
            index = mention.end
    return Resolved(tuple(mentions), tuple(aliases), anchor, kind, lead)


def _lead_name(doc: Doc, names: Sequence[Name], anchor: str | None) -> Name | None:
    """Give the name that the first sentence of a titled text opens with.

    It is what stands before the first bracket, comma or form of "be".
    """
    if anchor is None or len(doc) == 0:
        return None
    first = names[0] if names else None
    bare = bare_title(anchor)
    if first is not None and first.text in (anchor, bare) and first.start <= 2:
        return first
    start = 0
    while start < len(doc) and (doc[start].is_punct or doc[start].lower_ in ("the", "a", "an")):
        start += 1
    end = start
    while end < len(doc) and end - start < _LONGEST_LEAD:
        token = doc[end]
        if token.text in ("(", ",", ";", "–", "[") or token.lower_ in ("is", "was", "are", "were"):
            break
        if token.is_sent_start and end > start:
            break
        end += 1
    while end > start and doc[end - 1].is_quote:
        end -= 1
    if end == start or not (doc[start].text[0].isupper() or doc[start].text[0].isdigit()):
        return first if first is not None and first.start <= 2 else None
    lead = Name(start, end, doc[start:end].text)
    words = {word.casefold() for word in bare.split()}
    resembles = any(token.text.casefold() in words for token in doc[start:end])
    if not resembles and end < len(doc) and doc[end].text == ",":
        return None
    if any(token.pos_ in ("VERB", "AUX") and token.text[0].islower() for token in doc[start:end]):
        return first if first is not None and first.start == start else None
    return lead


def _anchor_forms(anchor: str | None, lead: Name | None) -> dict[str, bool]:
    """Give the texts that stand for the anchor: full names true, parts of names false."""
    if anchor is None:
        return {}
    forms = {anchor: True, bare_title(anchor): True}
    bare = bare_title(anchor)
    sources = [bare.split(",")[0]]
    if lead is not None:
        forms[lead.text] = True
        sources.append(lead.text.split(",")[0])
    if bare.lower().startswith(("the ", "a ", "an ")):
        forms[bare.split(" ", 1)[1]] = True
    for source in sources:
        for word in source.split():
            if len(word) > 2 and word[0].isupper() and word not in _ROYAL:
                forms.setdefault(word, False)
    return forms


def _lead_kind(
    doc: Doc, anchor: str, lead: Name | None, noun_kind: Mapping[str, str]
) -> str | None:
    """Tell the kind of the anchor: `Dawn (1998 film)`, `is a 1998 film`, or by its last word."""
    disambiguation = _PARENTHETICAL.search(anchor)
    if disambiguation is not None:
        kind = noun_kind.get(disambiguation.group().strip(" ()").split()[-1].lower())
        if kind is not None:
            return kind
    start = lead.end if lead is not None else 0
    sentence_end = next((token.i for token in doc[start + 1 :] if token.is_sent_start), len(doc))
    for token in doc[start:sentence_end]:
        if token.lower_ not in ("is", "was", "are", "were"):
            continue
        for child in token.children:
            for word in (child, *child.conjuncts) if child.dep_ == "attr" else ():
                kind = noun_kind.get(word.lower_) or noun_kind.get(word.lemma_.lower())
                if kind is not None:
                    return kind
        for word in doc[token.i + 1 : min(sentence_end, token.i + _LONGEST_LEAD)]:
            if word.pos_ == "VERB" or (word.pos_ == "ADP" and word.lower_ != "of"):
                break
            if word.lower_ in noun_kind:
                return noun_kind[word.lower_]
        break
    last = bare_title(anchor).split(",")[0].split()[-1:]
    kind = noun_kind.get(last[0].lower()) if last else None
    if kind is not None and kind != "person":
        return kind
    return "person" if _LIFE.search(doc[: min(len(doc), _OPENING)].text) else None


def _lead_gender(doc: Doc) -> str | None:
    """Tell the gender of the anchor from the nouns that the first sentence says it is."""
    for token in next(iter(doc.sents), ()):
        if token.dep_ == "attr" and token.head.lower_ in ("is", "was"):
            for word in (token, *token.conjuncts):
                if word.lower_ in _HE or word.lower_ in _SHE:
                    return "he" if word.lower_ in _HE else "she"
    return None


def _resolve_name(
    name: Name,
    state: _State,
    anchor: str | None,
    anchor_forms: Mapping[str, bool],
    anchor_at: int,
    is_lead: bool,
) -> Mention:
    if anchor is not None:
        full = anchor_forms.get(name.text)
        if is_lead or full is True:
            return Mention(name.start, name.end, anchor, Form.NAME, name.start)
        if full is False and _part_means_anchor(name, state):
            return Mention(name.start, name.end, anchor, Form.ALIAS, anchor_at)
    entity = state.names.get(name.text)
    if entity is None:
        entity = name.text
        state.names[name.text] = entity
        words = name.text.split()
        if len(words) > 1 and not name.quoted:
            state.names.setdefault(words[-1], entity)
        return Mention(name.start, name.end, entity, Form.NAME, name.start)
    form = Form.NAME if entity == name.text else Form.ALIAS
    return Mention(name.start, name.end, entity, form, name.start)


def _part_means_anchor(name: Name, state: _State) -> bool:
    """A part of the anchor's name means the anchor unless another name met since ends with it."""
    return name.text not in state.names and not name.quoted


def _alias_after(doc: Doc, name: Name, entity: str) -> Alias | None:
    """Read the short name a bracket after a name gives: `("Nordwind")`, `(the "Buyer")`."""
    end = name.end
    if end >= len(doc) or doc[end].text != "(":
        return None
    stop = min(len(doc), end + 14)
    text = doc[end:stop].text
    opened = _ALIAS_OPEN.match(text)
    if opened is None:
        return None
    opening = next((i for i in range(end, stop) if doc[i].text in "\"“„'‘"), None)
    if opening is None:
        return None
    closing = next((i for i in range(opening + 1, stop) if doc[i].text in "\"”“'’"), None)
    if closing is None or closing == opening + 1:
        return None
    short = doc[opening + 1 : closing].text.strip(" ,.")
    if not short or not (opened["cue"] or shortens(short, entity)):
        return None
    return Alias(entity, short, name.start, closing + 1)


def shortens(short: str, name: str) -> bool:
    """Whether a short name is made of words of a name, or of its initials."""
    words = name.casefold().split()
    initials = "".join(word[0] for word in words)
    return short.casefold() in (initials, initials[: len(short)]) or all(
        word in words for word in short.casefold().split()
    )


def _resolve_pronoun(
    token: Token, state: _State, anchor: str | None, kind: str | None, anchor_at: int
) -> Mention | None:
    word = token.lower_
    if word in _PERSON:
        gender = _PERSON[word]
        antecedent, at = (anchor, anchor_at) if anchor else (state.subject, state.subject_at)
        if antecedent is None or (anchor is not None and kind not in (None, "person")):
            return None
        if state.gender.setdefault(antecedent, gender) != gender:
            return None
        return Mention(token.i, token.i + 1, antecedent, Form.PRONOUN, at)
    if word in _THING and token.dep_ != "expl":
        if anchor is not None:
            if kind != "person":
                return Mention(token.i, token.i + 1, anchor, Form.PRONOUN, anchor_at)
            return None
        if state.subject is not None:
            return Mention(token.i, token.i + 1, state.subject, Form.PRONOUN, state.subject_at)
    return None


def _resolve_possessive(
    token: Token, mentions: Sequence[Mention], state: _State, anchor: str | None
) -> Mention | None:
    """Resolve `his` in `son of John and his wife`, `by John with his wife`: the name before it."""
    if token.tag_ != "PRP$" or token.lower_ not in _PERSON or not mentions or token.is_sent_start:
        return None
    before = mentions[-1]
    index = token.i - 1
    while index >= before.end and token.doc[index].lower_ in _LINKS:
        index -= 1
    if index != before.end - 1 or before.end == token.i or before.entity == anchor:
        return None
    if before.form is not Form.NAME or state.gender.get(before.entity, "") not in (
        "",
        _PERSON[token.lower_],
    ):
        return None
    same = anchor is not None and state.gender.get(anchor) == _PERSON[token.lower_]
    if same and token.doc[before.start - 1].lower_ not in ("of", "to"):
        return None
    return Mention(token.i, token.i + 1, before.entity, Form.PRONOUN, before.start)


def _resolve_description(
    doc: Doc,
    index: int,
    state: _State,
    anchor: str | None,
    kind: str | None,
    noun_kind: Mapping[str, str],
    anchor_at: int,
) -> Mention | None:
    """Resolve `the film`, `this company`: the anchor or the last subject, if it is of that kind."""
    if doc[index].lower_ not in ("the", "this") or index + 1 >= len(doc):
        return None
    noun = doc[index + 1]
    described = noun_kind.get(noun.lower_)
    if described is None or noun.dep_ in ("compound", "amod", "nmod"):
        return None
    if anchor is not None and kind == described:
        return Mention(index, index + 2, anchor, Form.DESCRIPTION, anchor_at)
    if anchor is None and state.subject is not None and described == "organization":
        return Mention(index, index + 2, state.subject, Form.DESCRIPTION, state.subject_at)
    return None


def _is_subject(doc: Doc, mention: Mention) -> bool:
    span: Span = doc[mention.start : mention.end]
    return span.root.dep_ in ("nsubj", "nsubjpass")
