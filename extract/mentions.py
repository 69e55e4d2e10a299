"""Name mentions: where running text names something, found by form and checked by the tagger."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc, Token

from .joined_names import NO_NAME, is_capitalised, is_month_in_name, joins, may_begin_name
from .normalize import is_numbered_name

_CONNECTORS = frozenset({
    "of", "the", "de", "la", "le", "von", "van", "der", "den", "del", "della", "di", "da", "dos",
    "das", "du", "des", "al", "el", "bin", "ibn", "bint", "y", "zu", "zum", "zur", "und", "et", "&",
    "e", "'", "d'", "no", "à", "upon", "am", "af", "av", "ter", "ten", "op", "sur", "do", "dei",
    "degli", "delle", "dello", "dal", "abu", "ap", "ferch", "vom",
})  # fmt: skip
_OPENING_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»"}
_LONGEST_TITLE = 16
_TITLE_AFTER_COMMA = frozenset({
    "Earl", "Baron", "Baroness", "Duke", "Duchess", "Count", "Countess", "Viscount", "Viscountess",
    "Marquess", "Marquis", "Margrave", "Margravine", "Lord", "Lady", "Prince", "Princess", "King",
    "Queen", "Elector", "Landgrave", "Baronet", "Emperor", "Empress", "Infanta", "Infante",
    "Archduke", "Archduchess", "Dauphin", "Grandee",
})  # fmt: skip
_BEFORE_TITLES = frozenset({"Grand", "Crown", "Hereditary", "German", "Electoral", "Dowager"})
_OFFICES = _TITLE_AFTER_COMMA | frozenset({
    "Sultan", "Caliph", "Palatine", "Landgravine", "President", "Bishop",
})  # fmt: skip
_AFTER_COMMA = frozenset({
    "Jr", "Jr.", "Sr", "Sr.", "Inc", "Inc.", "Ltd", "Ltd.", "LLC", "Esq.", "L.L.C.",
})  # fmt: skip
_COMPOUNDS = frozenset(
    {
        "this",
        "that",
        "which",
        "and",
        "but",
        "now",
        "then",
        "born",
        "based",
        "language",
        "speaking",
        "bred",
        "style",
        "made",
        "era",
    }
)
_OPENING_PARTICIPLES = frozenset({
    "Born", "Starring", "Directed", "Written", "Produced", "Composed", "Released", "Founded",
    "Based", "Located", "Set", "Published", "Educated", "Raised", "Built", "Established", "Married",
    "Featuring", "Named", "Called", "Known", "Filmed", "Shot", "Adapted",
})  # fmt: skip
_NUMERAL_AND_STOP = re.compile(r"\s[IVX]+\.\Z")
_ELIDED = re.compile(r"(?:[dlDL]|[dD]ell|[dD]all|[nN]ell|[aA]ll)['’][A-ZÀ-ÖØ-Þ]")
_NO_START = frozenset({"PRON", "DET", "ADP", "SCONJ", "CCONJ", "AUX", "PART", "INTJ"})
_FEW_START = frozenset({"ADV", "VERB", "ADJ", "NOUN"})


NameIndex = Mapping[str, Sequence[tuple[str, ...]]]
"""Names as token sequences by their first token, the longest first."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name of something, half-open token span; `quoted` names stood in quotation marks.

    `is_place` is one word that the tagger takes for a place.
    """

    start: int
    end: int
    text: str
    quoted: bool = False
    is_place: bool = False


def find_names(
    doc: Doc,
    *,
    known: Sequence[NameIndex],
    titles: NameIndex,
    dated: Collection[int],
    suffixes: Collection[str] = (),
    own: Collection[str] = (),
) -> tuple[Name, ...]:
    """Give the names of a text from left to right, none overlapping.

    Names of `known` win over the form of the words, those of `titles` only where they are longer;
    `dated` are the tokens inside dates; `suffixes` are words that may end a name in lower case;
    `own` are the words of the title, names even where they open a sentence.
    """
    names: list[Name] = []
    for sentence in doc.sents:
        index, stop = sentence.start, sentence.end
        while index < stop:
            name = (
                _first_known(doc, index, stop, known)
                or _quoted_name(doc, index, stop)
                or _longer(
                    _known_name(doc, index, stop, titles),
                    _capitalised_name(doc, index, stop, dated, own),
                )
            )
            if name is not None and not name.quoted and name.text in _TITLE_AFTER_COMMA:
                name = None
            if name is not None and not name.quoted and name.text in suffixes:
                name = None  # a legal form alone, as in `the GmbH`, names nobody
            if name is None:
                index += 1
            else:
                if not name.quoted and name.end < stop and doc[name.end].text in suffixes:
                    name = Name(name.start, name.end + 1, doc[name.start : name.end + 1].text)
                names.append(name)
                index = name.end + 1 if name.quoted else name.end
    return tuple(names)


def _longer(titled: Name | None, formed: Name | None) -> Name | None:
    if titled is None or (formed is not None and formed.end >= titled.end):
        return formed
    return titled


def _first_known(doc: Doc, index: int, stop: int, known: Sequence[NameIndex]) -> Name | None:
    found = (_known_name(doc, index, stop, names) for names in known)
    return next((name for name in found if name is not None), None)


def _known_name(doc: Doc, index: int, stop: int, known: NameIndex) -> Name | None:
    for tokens in known.get(doc[index].text, ()):
        end = index + len(tokens)
        if end <= stop and all(doc[index + i].text == token for i, token in enumerate(tokens)):
            if (
                end < stop
                and is_capitalised(doc[end])
                and doc[end - 1].whitespace_
                and not doc[end].is_sent_start
            ):
                following = doc[end].text
                if following not in NO_NAME and doc[end].pos_ == "PROPN" and len(tokens) == 1:
                    continue
            return Name(index, end, doc[index:end].text)
    return None


def _quoted_name(doc: Doc, index: int, stop: int) -> Name | None:
    closing = _OPENING_QUOTES.get(doc[index].text)
    if closing is None or index + 1 >= stop:
        return None
    first = doc[index + 1].text
    if not (first[0].isupper() or first[0].isdigit()):
        return None
    for end in range(index + 2, min(stop, index + 2 + _LONGEST_TITLE)):
        if doc[end].text == closing:
            text = doc[index + 1 : end].text.strip().rstrip(",.")
            return Name(index + 1, end, text, quoted=True) if text else None
    return None


def _glued(doc: Doc, index: int) -> bool:
    """Whether token `index` follows its predecessor without a space."""
    return index > 0 and not doc[index - 1].whitespace_


def _capitalised_name(
    doc: Doc, index: int, stop: int, dated: Collection[int], own: Collection[str]
) -> Name | None:
    token = doc[index]
    if index in dated:
        return None
    if not is_capitalised(token):
        prefixed = (
            token.text in ("al", "ibn", "bin", "de", "von", "van", "el")
            and index + 1 < stop
            and token.pos_ == "PROPN"
        )
        numbered = (
            token.text[0].isdigit()
            and token.text.endswith(("st", "nd", "rd", "th"))
            and index + 2 < stop
            and is_capitalised(doc[index + 1])
            and (token.ent_type_ == "ORG" or is_capitalised(doc[index + 2]))
            and doc[index + 2].ent_type_ != "NORP"
            and not doc[index + 1].text.startswith(tuple(_TITLE_AFTER_COMMA))
        )  # `20th Century Fox`
        if not prefixed and not numbered:
            return None
    if token.is_sent_start and (
        token.text in _OPENING_PARTICIPLES
        or (token.pos_ == "NUM" and token.is_alpha and doc[min(index + 1, stop - 1)].text == "of")
    ):
        return None
    if token.pos_ in _NO_START and token.is_sent_start:
        return None
    if token.pos_ in ("PRON", "DET") and token.ent_type_ == "":
        return None
    end = _extend(doc, index, stop, dated)
    if (
        token.is_sent_start
        and end == index + 1
        and token.pos_ in _FEW_START
        and not token.ent_type_
        and token.text not in own
    ):
        return None
    start = index
    while start + 1 < end and doc[start].ent_type_ == "NORP" and _begins_name(doc[start + 1]):
        start += 1
    if start == index and _glued(doc, index) and doc[index - 1].text.isdecimal():
        start -= 1  # the tokeniser parts `3M`
    text = doc[start:end].text
    if _NUMERAL_AND_STOP.search(text):
        text = text[:-1]  # `Albert I.` at the end of a sentence
    place = end == start + 1 and doc[start].ent_type_ in ("GPE", "LOC", "FAC")
    return Name(start, end, text, is_place=place)


def _begins_name(token: Token) -> bool:
    return may_begin_name(token.text[0]) and not set(token.text) <= set("IVX.")


def _extend(doc: Doc, index: int, stop: int, dated: Collection[int]) -> int:
    end = index + 1
    while end < stop and end not in dated:
        token = doc[end]
        if (
            is_capitalised(token)
            or (token.text == "I" and token.dep_ != "nsubj")
            or (token.text[0].isdigit() and _is_part_of_name(token))
        ):
            end += 1
        elif (
            token.text in ("-", "–", "/", "'", "’")
            and _glued(doc, end)
            and not token.whitespace_
            and end + 1 < stop
            and doc[end + 1].lower_ not in _COMPOUNDS
        ):
            end += 2
        elif (
            (_glued(doc, end) and token.text[0].isalpha())
            or _ELIDED.match(token.text)
            or is_month_in_name(doc, end, stop)
        ):
            end += 1
        elif joins(doc, index, end, stop):
            end += 2
        elif token.text in ("al", "el", "an", "ad") and end + 2 < stop and doc[end + 1].text == "-":
            end += 3
        elif token.text in _CONNECTORS:
            reach = end + 1
            while reach < stop and reach - end < 3 and doc[reach].text in _CONNECTORS:
                reach += 1
            if (
                reach + 1 < stop
                and doc[reach].text == "-"
                and doc[reach - 1].text in ("al", "el", "an", "ad")
                and is_capitalised(doc[reach + 1])
            ):
                end = reach + 2  # `Fatima bint al-Husayn`
            elif reach < stop and is_capitalised(doc[reach]) and reach not in dated:
                if (
                    token.text == "the"
                    and doc[end - 1].text not in _CONNECTORS
                    and doc[reach].ent_type_ in ("NORP",)
                ):
                    break
                end = reach + 1
            else:
                break
        elif token.text == "," and end + 1 < stop and _continues_after_comma(doc, end + 1, stop):
            end += 2
        else:
            break
    return end


def _is_part_of_name(number: Token) -> bool:
    """Whether a number after a name belongs to it; the tagger takes some such names for dates."""
    if number.ent_type_ == "DATE":
        numbered = number.text.isdigit() and is_numbered_name(number.doc.text, number.idx)
        return number.ent_iob_ == "I" or (numbered and len(number.text) == 4)
    return number.ent_type_ not in ("MONEY", "TIME")


def _continues_after_comma(doc: Doc, index: int, stop: int) -> bool:
    text = doc[index].text
    if text in _AFTER_COMMA or text in _TITLE_AFTER_COMMA:
        return True
    if text in _BEFORE_TITLES:  # `Grand Duke`, `German Emperor`
        return index + 1 < stop and doc[index + 1].text in _TITLE_AFTER_COMMA
    ordinal = text[0].isdigit() and text[-2:] in ("st", "nd", "rd", "th")
    return ordinal and index + 1 < stop and doc[index + 1].text in _TITLE_AFTER_COMMA


def names_office(name: str) -> bool:
    """Whether a name is that of an office: `Count of Perche`, `7th Marquess of Ely`."""
    words = name.split()
    if words and words[0][0].isdigit():
        words = words[1:]
    return (
        len(words) > 1
        and words[0] in _OFFICES
        and (words[1] in ("of", "de") or (words[1] == "Consort" and len(words) > 2))
    )


_FORMS_OF_ADDRESS = frozenset({
    "King", "Queen", "Emperor", "Empress", "Sultan", "President", "Sir", "Dame", "Dr.", "Dr", "Mr.",
    "Mr", "Mrs.", "Mrs", "Ms.", "Ms", "Prof.", "Professor", "General", "Colonel", "Captain",
    "Senator", "Judge", "Rev.", "Reverend", "Hon.", "Major", "Admiral", "Commander", "Governor",
    "Minister", "Chancellor", "Ambassador", "Lieutenant", "Sergeant", "Major-General",
    "Lieutenant-General", "Brigadier", "Congressman",
})  # fmt: skip


_OF_EMPIRE = re.compile(
    r"(?<!Emperor)(?<!Empress)(?<!Sultan)(?<!President)\sof the [A-Z]\w+ (?:Empire|[Dd]ynasty)\Z"
)
_OFFICES_BEFORE_NAMES = (
    "Member of Parliament ",
    "Prime Minister ",
    "Vice President ",
    "First Lady ",
)


def without_rank(name: str) -> str:
    """Give a person's name without the form of address before it: `King Magnus Barefoot`.

    It stays where a single name follows, alone or with a realm: `Queen Mary`, `King Wu of Zhou`.
    """
    words = name.split()
    for office in _OFFICES_BEFORE_NAMES:
        if name.startswith(office) and len(words) > len(office.split()) + 1:
            words = words[len(office.split()) :]
    while len(words) > 2 and words[0] in _FORMS_OF_ADDRESS and words[2] not in ("of", "de"):
        words = words[1:]
    return _OF_EMPIRE.sub("", " ".join(words))


def index_names(names: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """Index token sequences by their first token, the longest first."""
    index: dict[str, list[tuple[str, ...]]] = {}
    for tokens in sorted(names, key=lambda tokens: (-len(tokens), tokens)):
        if tokens:
            index.setdefault(tokens[0], []).append(tokens)
    return index
