"""A quote in its context: what stands before and after it, under which heading, on which line."""

from __future__ import annotations

import re
from dataclasses import dataclass

REACH = 220
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.M)


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quote with the text around it. `line` is 1-based; `before`, `after` are whole words.

    `in_context` is false where the text of the source was not given; `matches` is false where the
    text does not hold the quote at its span.
    """

    quote: str
    before: str
    after: str
    heading: str
    line: int
    start: int
    end: int
    in_context: bool
    matches: bool


def quotation(quote: str, start: int, end: int, text: str | None) -> Quotation:
    """Place a quote at the half-open span `[start, end)` of code points of its source's text."""
    if text is None:
        return Quotation(quote, "", "", "", 0, start, end, in_context=False, matches=True)
    matches = text[start:end] == quote
    first, last = max(0, start - REACH), min(len(text), end + REACH)
    before, after = text[first:start], text[end:last]
    paragraph = before.rfind("\n\n")
    if paragraph >= 0:
        before = before[paragraph + 2 :]
    elif first > 0:
        before = "… " + before.partition(" ")[2]
    paragraph = after.find("\n\n")
    if paragraph >= 0:
        after = after[:paragraph]
    elif last < len(text):
        after = after.rpartition(" ")[0] + " …"
    headings = _HEADING.findall(text, 0, start)
    return Quotation(
        quote,
        before,
        after,
        headings[-1] if headings else "",
        text.count("\n", 0, start) + 1,
        start,
        end,
        in_context=True,
        matches=matches,
    )
