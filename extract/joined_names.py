"""Words that belong to one name though a word without a capital parts them, or a mark."""

from __future__ import annotations

from spacy.tokens import Doc, Token

NO_NAME = frozenset({
    "I", "DJ", "MC", "MP", "January", "February", "March", "April", "May", "June", "July", "August",
    "September", "October", "November", "December", "Monday", "Tuesday", "Wednesday", "Thursday",
    "Friday", "Saturday", "Sunday",
})  # fmt: skip
_MONTHS_IN_NAMES = frozenset({"April", "May", "June", "August"})
_INSTITUTIONS = frozenset({
    "Academy", "School", "College", "Faculty", "Department", "Institute", "University", "Museum",
    "Conservatory", "Society", "House", "Ministry", "Association", "Centre", "Center", "Board",
    "Union", "Committee",
})  # fmt: skip
_RANKS = frozenset({"Prince", "Princess", "King", "Queen", "Duke", "Duchess", "Count", "Countess"})


def is_capitalised(token: Token) -> bool:
    """Whether a word is written like a name and is none of those that only look so."""
    return may_begin_name(token.text[0]) and token.text not in NO_NAME


def may_begin_name(letter: str) -> bool:
    """Whether a letter can open a name; in a script without case, any may."""
    return letter.isupper() or (letter.isalpha() and letter == letter.swapcase())


def joins(doc: Doc, start: int, index: int, stop: int) -> bool:
    """Whether the word at `index` joins the name from `start` to the word behind it."""
    return (
        _joins_realms(doc, start, index, stop)
        or _joins_institution(doc, start, index, stop)
        or _parts_university(doc, start, index, stop)
    )


def _joins_realms(doc: Doc, start: int, index: int, stop: int) -> bool:
    """Whether `and` joins the realms of a title: `Prince Paul of Greece and Denmark`."""
    return (
        doc[index].text == "and"
        and index + 1 < stop
        and any(token.text in _RANKS for token in doc[start:index])
        and doc[index - 2].text == "of"
        and doc[index + 1].ent_type_ == "GPE"
        and (index + 2 >= stop or not doc[index + 2].text[0].isupper())
        and (index + 2 >= stop or doc[index + 2].text not in ("of", "'s", "’s"))
    )


def _parts_university(doc: Doc, start: int, index: int, stop: int) -> bool:
    """Whether a comma is within the name of a university: `University of California, Berkeley`."""
    return (
        doc[index].text == ","
        and index + 1 < stop
        and doc[start].text == "University"
        and doc[index].ent_type_ == "ORG"
        and doc[index].ent_iob_ == "I"
        and is_capitalised(doc[index + 1])
    )


def is_month_in_name(doc: Doc, index: int, stop: int) -> bool:
    """Whether a word that may be a month is a name within a name: `Joseph August of Essen`."""
    return (
        doc[index].text in _MONTHS_IN_NAMES
        and doc[index - 1].pos_ == "PROPN"
        and index + 1 < stop
        and (
            is_capitalised(doc[index + 1])
            or doc[index + 1].text in ("of", "von", "de")
            or (doc[index].ent_type_ == "PERSON" and not doc[index + 1].text[0].isdigit())
        )
    )


def _joins_institution(doc: Doc, start: int, index: int, stop: int) -> bool:
    """Whether `and` is within the name of one institution: `School of Painting and Sculpture`.

    It is where the tagger takes all for one name, and only one side has the word of an institution.
    """
    if doc[index].text not in ("and", "&") or index + 1 >= stop:
        return False
    if not is_capitalised(doc[index + 1]):
        return False
    within = doc[index].ent_type_ in ("ORG", "FAC") and doc[index].ent_iob_ == "I"
    before = {token.text for token in doc[start:index]}
    after = next((i for i in range(index + 1, stop) if not is_capitalised(doc[i])), stop)
    return (
        within
        and not _INSTITUTIONS.isdisjoint(before)
        and _INSTITUTIONS.isdisjoint(token.text for token in doc[index + 1 : after])
    )
