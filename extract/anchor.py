"""The anchor of a titled text: what its title names, and what the first sentence says it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

from .mentions import Name

_PARENTHETICAL = re.compile(r"\s*\([^()]*\)\s*\Z")
_LIFE = re.compile(r"\(.{0,60}\bborn\b|\bdied\b|\d{3,4}\s?[–-]\s?.{0,25}\d{3,4}\)", re.IGNORECASE)
_BORN = re.compile(r"\s*\([^()]{0,80}\bborn\b")
_LIVED = re.compile(r"\s*\([^()]{0,80}\b(?:\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4})")
_LINEAGE = re.compile(r"\s(?:ibn|bin|bint|ap|ferch)\s")
_OPENING = 60
_LONGEST_LEAD = 14
_HE = frozenset(
    {"son", "king", "prince", "duke", "husband", "father", "brother", "actor", "emperor", "nephew"}
)
_SHE = frozenset({
    "daughter", "queen", "princess", "duchess", "wife", "mother", "sister", "actress", "empress",
    "niece", "consort", "noblewoman", "businesswoman",
})  # fmt: skip
_COMPANY_FORMS = frozenset({"Inc.", "Inc", "Ltd.", "Ltd", "Corp.", "Corporation", "Company", "LLC"})
_BE = frozenset({"is", "was", "are", "were"})
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
        after = first.end
        if after < len(doc) and doc[after].text in _COMPANY_FORMS and not first.quoted:
            return Name(first.start, after + 1, doc[first.start : after + 1].text)
        return first
    named = _named_later(doc, names, (anchor, bare))
    if named is not None:
        return named
    start = 0
    while start < len(doc) and (doc[start].is_punct or doc[start].lower_ in ("the", "a", "an")):
        start += 1
    end = start
    while end < len(doc) and end - start < _LONGEST_LEAD:
        token = doc[end]
        if token.text in ("(", ",", ";", "–", "[") or token.lower_ in _BE:
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
        if first is None or first.start != start or first.end <= end:
            return None
        return first if words & {word.casefold() for word in first.text.split()} else None
    if any(token.pos_ in ("VERB", "AUX") and token.text[0].islower() for token in doc[start:end]):
        return first if first is not None and first.start == start else None
    return lead


def _named_later(doc: Doc, names: Sequence[Name], titles: Sequence[str]) -> Name | None:
    """Give the title right before the verb: `Starring Ann Lee, The Road is a film`."""
    verb = next((token for token in doc if token.lower_ in _BE), None)
    if verb is None or (verb.i and any(token.is_sent_start for token in doc[1 : verb.i])):
        return None
    return next((name for name in names if name.end == verb.i and name.text in titles), None)


def anchor_forms(anchor: str | None, lead: Name | None) -> dict[str, bool]:
    """Give the texts that stand for the anchor: full names true, parts of names false."""
    if anchor is None:
        return {}
    forms = {anchor: True, bare_title(anchor): True}
    bare = bare_title(anchor)
    sources = [bare.split(",")[0]]
    short = bare.split(" of ")[0]
    if " " in short and short.split()[0] in RANKS:
        forms[short] = True  # `King Kao` of `King Kao of Zhou`
    if lead is not None:
        forms[lead.text] = True
        sources.append(lead.text.split(",")[0])
    if bare.lower().startswith(("the ", "a ", "an ")):
        forms[bare.split(" ", 1)[1]] = True
    for source in sources:
        for word in _LINEAGE.split(source)[0].split():
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
    after = doc[start : min(sentence_end, start + _OPENING)].text
    if _BORN.match(after):
        return "person"  # `Ann Hill (born 1950)` is no hill, nor of the kind of what she makes
    said: _Said | None = None
    depth = 0
    for token in doc[start:sentence_end]:
        depth += token.text.count("(") - token.text.count(")")
        if depth > 0 or token.lower_ not in _BE:
            continue  # `Der Weg ("Life is a Road") is a film`
        for child in token.children:
            for word in (child, *child.conjuncts) if child.dep_ == "attr" else ():
                kind = _noun_kind(doc, word.i, noun_kind)
                if kind is not None:
                    return kind
        said = _first_kind(doc, token.i + 1, min(sentence_end, token.i + _LONGEST_LEAD), noun_kind)
        break
    if said is not None and not said.modifies:
        return said.kind
    if _LIVED.match(after):
        return "person"
    if said is not None:
        return said.kind
    last = bare_title(anchor).split(",")[0].split()[-1:]
    kind = noun_kind.get(last[0].lower()) if last else None
    if kind is not None and kind != "person":
        return kind
    return "person" if _LIFE.search(doc[: min(len(doc), _OPENING)].text) else None


@dataclass(frozen=True, slots=True)
class _Said:
    """The kind a noun says; `modifies` where another noun follows it: `film` in `film critic`."""

    kind: str
    modifies: bool


def _noun_kind(doc: Doc, index: int, noun_kind: Mapping[str, str]) -> str | None:
    """Give the kind of a noun, or of the last of those that follow it: `charity single`."""
    kind = noun_kind.get(doc[index].lower_) or noun_kind.get(doc[index].lemma_.lower())
    while kind is not None and index + 1 < len(doc) and doc[index + 1].lower_ in noun_kind:
        index += 1
        kind = noun_kind[doc[index].lower_]
    return kind


def _first_kind(doc: Doc, start: int, stop: int, noun_kind: Mapping[str, str]) -> _Said | None:
    """Give the kind of the first noun that says one and modifies none, else of one that does."""
    weak = None
    for word in doc[start:stop]:
        if word.pos_ == "VERB" or (word.pos_ == "ADP" and word.lower_ != "of"):
            break
        kind = noun_kind.get(word.lower_) or noun_kind.get(word.lemma_.lower())
        if kind is None:
            continue
        if word.i + 1 < stop and doc[word.i + 1].pos_ in ("NOUN", "PROPN"):
            weak = weak or _Said(kind, modifies=True)
        else:
            return _Said(kind, modifies=False)
    return weak


def lead_gender(doc: Doc) -> str | None:
    """Tell the gender of the anchor from the nouns that the first sentence says it is."""
    for token in next(iter(doc.sents), ()):
        if token.dep_ == "attr" and token.head.lower_ in ("is", "was"):
            for word in (token, *token.conjuncts):
                if word.lower_ in _HE or word.lower_ in _SHE:
                    return "he" if word.lower_ in _HE else "she"
    return None
