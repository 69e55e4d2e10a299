"""Validity intervals: from when until when the source says that something holds."""

from __future__ import annotations

import datetime
import re

from kb.errors import ProofweaveError
from kb.statement import ALWAYS, Validity

from .normalize import DATE_PATTERN, end_certain, first_day_certain, read_date

_START = rf"(?:the\s+)?(?P<start>(?i:{DATE_PATTERN}))"
_END = rf"(?:the\s+)?(?P<end>(?i:{DATE_PATTERN}))"
_FROM_TO = re.compile(
    rf"(?:\b(?:from|of|between|period|valid|term|cover|effective|in\s+force)\b:?\s*(?:from\s+)?)?"
    rf"{_START}\s*(?:\(?inclusive\)?\s*)?"
    rf"(?:\bto\b|\buntil\b|\btill\b|\bthrough\b|\band\b|\bup\s+to\b|–|—|-|\bbis\b)\s*(?:and\s+including\s+)?"
    rf"{_END}",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    r"\b(?:until|till|through|expir(?:es|ed|ing|y)(?:\s+date)?|valid\s+(?:to|until|through)|up\s+to"
    r"|ends|ended|ending|no\s+later\s+than|terminat(?:es|ed|ing)|lapse[sd]?|gültig\s+bis)\b"
    rf"(?:\s+(?:on|at\s+the\s+end\s+of))?:?\s*{_END}",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"\b(?:since|from|as\s+of|as\s+from|effective|starting|beginning|commenc(?:es|ing)|with\s+effect\s+from"
    r"|valid\s+from|in\s+force\s+since|gültig\s+ab)\b"
    rf"(?:\s+(?:on|from))?:?\s*{_START}",
    re.IGNORECASE,
)


def find_validity(text: str, *, bare: bool = False) -> Validity:
    """Give the interval a text states: `from .. to ..`, `until ..`, `expires on ..`, `since ..`.

    With `bare`, two dates with a dash are one too, as in tables; in sentences they may be a life.

    An exact last day is included. Where a bound is a month or year, only the days that are
    certainly inside count. Text that states no interval, or an impossible one, gives the unbounded
    one.
    """
    match = _FROM_TO.search(text)
    if match is not None and (bare or _has_cue(match)):
        return _interval(match["start"], match["end"])
    until, since = _UNTIL.search(text), _SINCE.search(text)
    return _interval(since["start"] if since else None, until["end"] if until else None)


def _has_cue(match: re.Match[str]) -> bool:
    return bool(match.group()[: match.start("start") - match.start()].strip())


def _interval(start: str | None, end: str | None) -> Validity:
    try:
        first: datetime.date | None = first_day_certain(read_date(start)) if start else None
        last = end_certain(read_date(end)) if end else None
        return Validity(first, last)
    except ProofweaveError:
        return ALWAYS
