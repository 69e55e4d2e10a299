"""Canonical atom text made readable: terms without their notation, rule sentences filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType

from reasoner.render import with_article

_TERM = re.compile(
    r"""@(?:date|quantity|decimal)\(\s*(?P<quoted>"(?:[^"\\]|\\.)*")\s*\)"""
    r"""|(?P<text>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<bare>[^\s,()"]+)"""
)
_HEAD = re.compile(r"(?P<sign>not |-)?(?P<predicate>[a-z][A-Za-z0-9_]*)(?P<rest>\(.*\))?\Z", re.S)
_DIGEST = re.compile(r"((?:doc|st):[0-9a-f]{8})[0-9a-f]{24,56}", re.ASCII)
_STATEMENT = re.compile(r"st:[0-9a-f]{32}\Z", re.ASCII)
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NUMBER = re.compile(r"(-?)(\d{5,})(\.\d+)?((?: \S+)?)\Z", re.ASCII)


def plain_term(text: str, titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """Write a canonical term as people do: `@quantity("5000000 EUR")` is `5 000 000 EUR`.

    `titles` are those of documents, by the digest of their source; a document is called by its
    title, a statement just that.
    """
    match = _TERM.match(text)
    if match is None:
        return text
    if match["quoted"] is not None:
        return _grouped(str(json.loads(match["quoted"])))
    if match["text"] is None:
        return _grouped(match["bare"])
    plain = str(json.loads(match["text"]))
    if plain.startswith("doc:"):
        return f"“{titles.get(plain.removeprefix('doc:')) or plain[:16]}”"
    return "the statement" if _STATEMENT.match(plain) else plain


def _grouped(text: str) -> str:
    """Group the thousands of a number of five digits or more by narrow no-break spaces."""
    match = _NUMBER.match(text)
    if match is None:
        return text
    sign, whole, fraction, unit = match.groups()
    grouped = f"{int(whole):,}".replace(",", "\u202f") if whole[0] != "0" else whole
    return f"{sign}{grouped}{fraction or ''}{unit}"


def plain_atom(text: str, titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """Write an atom without notation: `liability_cover("A", 5)` is `liability cover: A, 5`.

    Text that is no atom, such as a comparison, keeps its words and loses only the notation of its
    terms.
    """
    match = _HEAD.match(text)
    if match is None:
        return _TERM.sub(lambda term: plain_term(term.group(), titles), text)
    sign = {"not ": "not ", "-": "denied: ", None: ""}[match["sign"]]
    name = match["predicate"].replace("_", " ")
    if match["rest"] is None:
        return sign + name
    terms = [term.group() for term in _TERM.finditer(match["rest"])]
    last = len(terms) - 1
    shown = [
        plain_term(term, titles)
        for place, term in enumerate(terms)
        if not (place == last > 1 and term.startswith('"st:'))
    ]
    return f"{sign}{name}: {', '.join(shown)}"


def shortened(text: str) -> str:
    """Cut the digests in canonical text to their first digits, for the eye."""
    return _DIGEST.sub(r"\1…", text)


def sentence(
    says: str, bindings: Mapping[str, str], titles: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Fill a rule's sentence `"{S} is insured for {C}"` with the values of its variables.

    A place without a value keeps its name in braces.
    """
    return _PLACE.sub(
        lambda place: plain_term(bindings[place[1]], titles) if place[1] in bindings else place[0],
        with_article(says, bindings),
    )
