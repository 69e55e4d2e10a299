"""Canonical atom text made readable: terms without their notation, rule sentences filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_TERM = re.compile(
    r"""@(?:date|quantity|decimal)\(\s*(?P<quoted>"(?:[^"\\]|\\.)*")\s*\)"""
    r"""|(?P<text>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<bare>[^\s,()"]+)"""
)
_HEAD = re.compile(r"(?P<sign>not |-)?(?P<predicate>[a-z][A-Za-z0-9_]*)(?P<rest>\(.*\))?\Z", re.S)
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NUMBER = re.compile(r"(-?)(\d{5,})(\.\d+)?((?: \S+)?)\Z", re.ASCII)


def plain_term(text: str) -> str:
    """Write a canonical term as people do: `@quantity("5000000 EUR")` is `5 000 000 EUR`."""
    match = _TERM.match(text)
    if match is None:
        return text
    if match["quoted"] is not None:
        return _grouped(str(json.loads(match["quoted"])))
    if match["text"] is not None:
        return str(json.loads(match["text"]))
    return _grouped(match["bare"])


def _grouped(text: str) -> str:
    """Group the thousands of a number of five digits or more by narrow no-break spaces."""
    match = _NUMBER.match(text)
    if match is None:
        return text
    sign, whole, fraction, unit = match.groups()
    grouped = f"{int(whole):,}".replace(",", "\u202f") if whole[0] != "0" else whole
    return f"{sign}{grouped}{fraction or ''}{unit}"


def plain_atom(text: str) -> str:
    """Write an atom without notation: `liability_cover("A", 5)` is `liability cover: A, 5`.

    Text that is no atom, such as a comparison, keeps its words and loses only the notation of its
    terms.
    """
    match = _HEAD.match(text)
    if match is None:
        return _TERM.sub(lambda term: plain_term(term.group()), text)
    sign = {"not ": "not ", "-": "denied: ", None: ""}[match["sign"]]
    name = match["predicate"].replace("_", " ")
    if match["rest"] is None:
        return sign + name
    terms = [term.group() for term in _TERM.finditer(match["rest"])]
    shown = [plain_term(term) for term in terms if not term.startswith('"st:')]
    return f"{sign}{name}: {', '.join(shown)}"


def sentence(says: str, bindings: Mapping[str, str]) -> str:
    """Fill a rule's sentence `"{S} is insured for {C}"` with the values of its variables.

    A place without a value keeps its name in braces.
    """
    return _PLACE.sub(
        lambda place: plain_term(bindings[place[1]]) if place[1] in bindings else place[0], says
    )
