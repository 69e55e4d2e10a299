"""Titles of passages: the name without its qualifier, and what the qualifier says.

`Walter West (director)` qualifies the name `Walter West`. The first sentence of the passage shows
that it calls what it is about so.
"""

from __future__ import annotations

import re

_QUALIFIED = re.compile(r"(?P<name>.*\S)\s*\((?P<qualifier>[^()]*\S)\s*\)\s*\Z", re.DOTALL)
_YEARS = re.compile(r"(?:born |died |b\. |d\. |c\. )?\d{3,4}(?:\s?[–-]\s?(?:c\. )?\d{2,4})?\Z")
_NO_ENTITY = frozenset({"disambiguation", "surname", "name"})


def split_title(title: str) -> tuple[str, str]:
    """Give the bare name and the qualifier of a title; the qualifier is empty where it has none.

    A qualifier describes: it ends in a common noun or is a span of years. `Bank of America (Asia)`
    is a name as a whole.
    """
    found = _QUALIFIED.match(title)
    if found is None:
        return title, ""
    name, qualifier = found["name"], found["qualifier"].strip()
    last = qualifier.split()[-1]
    describes = (last.isalpha() and last.islower()) or any(
        _YEARS.match(part.strip()) for part in qualifier.split(",")
    )
    if not describes or last in _NO_ENTITY:
        return title, ""
    return name, qualifier


def calls_by_bare_name(title: str, lead: str, opening: str, after: str) -> bool:
    """Whether a passage calls what its title names by that name without the qualifier.

    `lead` is the name it opens with: it holds the words of the bare name in their order, or else
    the sentence it stands in, `opening`, has the bare name. `after` is the text behind the lead;
    where it goes on with the qualifier, that belongs to the name.
    """
    name, qualifier = split_title(title)
    if not qualifier or after.lstrip().startswith(f"({qualifier}"):
        return False
    words = iter(lead.split())
    return all(word in words for word in name.split()) or holds_name(opening, name)


def holds_name(text: str, name: str) -> bool:
    """Whether a text holds a name as a whole."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
