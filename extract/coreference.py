"""Coreference by rule: names, pronouns and descriptions to the entity they stand for.

In a titled passage the title is the *anchor*: its name with or without a parenthetical, the name
the first sentence opens with, a part of that name, `he`, `she`, `it` and `the film` stand for the
whole title. Elsewhere a pronoun stands for the subject of the sentence before.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Container, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from spacy.tokens import Doc, Span, Token

from .anchor import RANKS, anchor_forms, lead_gender, lead_kind, lead_name
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
    titled: bool
    kind: str | None
    lead_name: Name | None


_PERSON = {
    "he": "he", "him": "he", "his": "he", "himself": "he",
    "she": "she", "her": "she", "hers": "she", "herself": "she",
}  # fmt: skip
_THING = frozenset({"it", "its", "itself"})
_ALIAS_OPEN = re.compile(
    r"\(\s*(?P<cue>(?:(?:hereinafter|hereafter|the|in short|short|referred to as)\W+)*)[\"“„'‘]"
)
_ADDRESSES = frozenset({
    "Sir", "Lord", "Lady", "Dame", "Saint", "St", "Mr.", "Mrs.", "Ms.", "Dr.", "Mr", "Mrs", "Ms",
    "Dr", "Miss", "Prince", "Princess", "King", "Queen", "Duke", "Duchess", "Emperor", "Empress",
})  # fmt: skip
_MATES = frozenset({"wife", "husband", "consort", "spouse", "mistress", "widow", "widower"})
_LINKS = frozenset({"and", "by", "with", "of", "through", ",", "("})


@dataclass(slots=True)
class _State:
    """Reading state: entities by name met so far, and the last subject of a sentence."""

    names: MutableMapping[str, str]
    surnames: dict[str, str] = field(default_factory=dict)
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
    lead = lead_name(doc, names, anchor)
    forms = anchor_forms(anchor, lead)
    kind = lead_kind(doc, anchor, lead, noun_kind) if anchor is not None else None
    person_forms = [_plain_words(name) for name, full in forms.items() if full]
    if titled and kind is None:
        kind = "person"
    if anchor is not None and (gender := lead_gender(doc)) is not None:
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
                if index > 0 and doc[index - 1].lower_ == "another":
                    index = name.end  # a namesake, who has no name to be told by
                    continue
                is_lead = lead is not None and name.start == lead.start
                if titled and kind == "person" and _means_person(doc, name, sentence, person_forms):
                    mention = Mention(name.start, name.end, anchor or "", Form.ALIAS, anchor_at)
                else:
                    mention = _resolve_name(name, state, anchor, forms, anchor_at, is_lead)
                alias = _alias_after(doc, name, mention.entity)
                if alias is not None:
                    aliases.append(alias)
                    state.names[alias.name] = alias.entity  # the text may give it to another
            else:
                token = doc[index]
                mention = _resolve_possessive(token, mentions, state, anchor)
                if mention is None and not _is_unclear(token, mentions, anchor):
                    mention = _resolve_pronoun(token, state, anchor, kind, anchor_at)
                if mention is None:
                    mention = _resolve_description(
                        doc, index, state, anchor, kind, noun_kind, anchor_at, by_start
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
    return Resolved(tuple(mentions), tuple(aliases), anchor, titled, kind, lead)


def _resolve_name(
    name: Name,
    state: _State,
    anchor: str | None,
    forms: Mapping[str, bool],
    anchor_at: int,
    is_lead: bool,
) -> Mention:
    if anchor is not None:
        full = forms.get(name.text)
        if is_lead or full is True:
            return Mention(name.start, name.end, anchor, Form.NAME, name.start)
        if full is False and _part_means_anchor(name, state):
            return Mention(name.start, name.end, anchor, Form.ALIAS, anchor_at)
    entity = state.names.get(name.text) or state.names.get(_without_rank(name.text))
    if entity is None and not name.is_place:
        entity = state.surnames.get(name.text)
    if entity is None:
        entity = name.text
        state.names.setdefault(_without_rank(name.text), entity)
        state.names[name.text] = entity
        words = name.text.split()
        if len(words) > 1 and not name.quoted:
            if words[0][0].isupper() or words[0][0].isdigit():  # not `ibn Ali`
                state.surnames.setdefault(words[-1], entity)
            numbered = name.text.split(" of ")[0]
            if set(numbered.split()[-1]) <= set("IVX"):  # `Thomas II` is `Thomas II of Savoy`
                state.names.setdefault(numbered, entity)
        return Mention(name.start, name.end, entity, Form.NAME, name.start)
    form = Form.NAME if entity == name.text else Form.ALIAS
    return Mention(name.start, name.end, entity, form, name.start)


def _plain_words(name: str) -> list[str]:
    """Give the words of a name without forms of address and what a comma parts from it."""
    return [word for word in name.split(",")[0].split() if word not in _ADDRESSES]


def _means_person(doc: Doc, name: Name, sentence: Span, full: Sequence[Sequence[str]]) -> bool:
    """Whether a name means the person that a titled passage is about.

    Where a later sentence opens with it, so does the surname, for relatives go by given names, or
    several words of the full name in their order; and so does a name behind `Born`.
    """
    if name.quoted or sentence.start == 0:
        return False
    first = name.start == sentence.start
    words = _plain_words(name.text)
    subject = first or doc[name.start : name.end].root.dep_ in ("nsubj", "nsubjpass")
    whole = first or (subject and len(words) > 1)
    if whole and words and any(words == form[-len(words) :] for form in full):
        return True
    if name.start - sentence.start in (1, 2) and doc[sentence.start].lower_ == "born":
        return doc[name.start - 1].lower_ in ("born", "as")
    if len(words) < 2 or "," in name.text or not subject:
        return False
    return any(
        words[0] == form[0]
        and _in_order(words, form)
        and all(word in words for word in form if set(word) <= set("IVX"))
        for form in full
        if form
    )


def _in_order(words: Sequence[str], form: Sequence[str]) -> bool:
    rest = iter(form)
    return all(word in rest for word in words)


def _without_rank(name: str) -> str:
    """Leave out the rank a longer name begins with: `Queen Ann Lee` -> `Ann Lee`."""
    words = name.split()
    if len(words) > 2 and words[0] in RANKS and words[1] not in ("of", "de"):
        return " ".join(words[1:])
    return name


def _part_means_anchor(name: Name, state: _State) -> bool:
    """A part of the anchor's name means the anchor unless another name met since ends with it."""
    return name.text not in state.names and name.text not in state.surnames and not name.quoted


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
    before, index = _name_before(token, mentions)
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


def _name_before(token: Token, mentions: Sequence[Mention]) -> tuple[Mention, int]:
    """Give the last mention before a pronoun, brackets apart, and the last token between."""
    at, index = len(mentions) - 1, token.i - 1
    while True:
        while index >= mentions[at].end and token.doc[index].lower_ in _LINKS:
            index -= 1
        if index < mentions[at].end or token.doc[index].text != ")":
            return mentions[at], index
        while index > 0 and token.doc[index].text != "(":
            index -= 1
        while at > 0 and mentions[at].start >= index:
            at -= 1


def _is_unclear(token: Token, mentions: Sequence[Mention], anchor: str | None) -> bool:
    """Whether `his` in `Tom and his wife Ann` may mean the name before it as well as the title."""
    if token.tag_ != "PRP$" or not mentions or token.doc[token.i - 1].lower_ not in ("and", "by"):
        return False
    for word in token.doc[token.i + 1 : token.i + 4]:
        if word.lower_ in _MATES:
            break
    else:
        return False
    before, index = _name_before(token, mentions)
    return index == before.end - 1 and before.form is Form.NAME and before.entity != anchor


def _resolve_description(
    doc: Doc,
    index: int,
    state: _State,
    anchor: str | None,
    kind: str | None,
    noun_kind: Mapping[str, str],
    anchor_at: int,
    named: Container[int],
) -> Mention | None:
    """Resolve `the film`, `this company`: the anchor or the last subject, if it is of that kind."""
    if doc[index].lower_ not in ("the", "this") or index + 1 >= len(doc):
        return None
    noun = doc[index + 1]
    described = noun_kind.get(noun.lower_)
    if described is None or noun.dep_ in ("compound", "amod", "nmod"):
        return None
    following = doc[index + 2] if index + 2 < len(doc) else None
    if following is not None and (
        following.lower_ == "of"
        or index + 2 in named
        or (following.is_quote and index + 3 in named)
    ):
        return None  # `the son of ..`, `the actor Peter Lyle`, `the song "Dawn"`
    if anchor is not None and kind == described:
        opening = next(iter(doc.sents))
        if kind == "person" and all(token.lower_ != noun.lower_ for token in opening):
            return None  # `the pilot` of somebody who is not said to be one
        return Mention(index, index + 2, anchor, Form.DESCRIPTION, anchor_at)
    if anchor is None and state.subject is not None and described == "organization":
        return Mention(index, index + 2, state.subject, Form.DESCRIPTION, state.subject_at)
    return None


def _is_subject(doc: Doc, mention: Mention) -> bool:
    span: Span = doc[mention.start : mention.end]
    return span.root.dep_ in ("nsubj", "nsubjpass")
