"""The anchor of a titled text: what its title names, and what the first sentence says it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from spacy.tokens import Doc

from .mentions import Name

_PARENTHETICAL = re.compile(r"\s*\([^()]*\)\s*\Z")
_LIFE = re.compile(r"\(.{0,60}\bborn\b|\bdied\b|\d{3,4}\s?[–-]\s?.{0,25}\d{3,4}\)", re.IGNORECASE)
_OPENING = 60
_LONGEST_LEAD = 14
_HE = frozenset(
    {"son", "king", "prince", "duke", "husband", "father", "brother", "actor", "emperor", "nephew"}
)
_SHE = frozenset({
    "daughter", "queen", "princess", "duchess", "wife", "mother", "sister", "actress", "empress",
    "niece", "consort", "noblewoman", "businesswoman",
})  # fmt: skip
RANKS = frozenset({
    "King", "Queen", "Prince", "Princess", "Duke", "Duchess", "Emperor", "Empress", "Sir", "Lord",
    "Lady", "Saint", "St",
})  # fmt: skip
"""Words that a name may begin with without being another name."""


def bare_title(title: str) -> str:
    """Give a title without its trailing disambiguation: `Ann Lee (poet)` -> `Ann Lee`."""
    bare = _PARENTHETICAL.sub("", title)
    return bare or title


def lead_name(doc: Doc, names: Sequence[Name], anchor: str | None) -> Name | None:
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


def anchor_forms(anchor: str | None, lead: Name | None) -> dict[str, bool]:
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
            if len(word) > 2 and word[0].isupper() and word not in RANKS:
                forms.setdefault(word, False)
    return forms


def lead_kind(doc: Doc, anchor: str, lead: Name | None, noun_kind: Mapping[str, str]) -> str | None:
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


def lead_gender(doc: Doc) -> str | None:
    """Tell the gender of the anchor from the nouns that the first sentence says it is."""
    for token in next(iter(doc.sents), ()):
        if token.dep_ == "attr" and token.head.lower_ in ("is", "was"):
            for word in (token, *token.conjuncts):
                if word.lower_ in _HE or word.lower_ in _SHE:
                    return "he" if word.lower_ in _HE else "she"
    return None
