"""Dates as people write them, to exact intervals of days; text mended for reading.

A date keeps the precision of its source: `March 1952` is that month, `03/04/1952` (day and month in
doubt) is the year, `1549/1550` spans both years. Nothing is guessed.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from dataclasses import dataclass

from kb.errors import ValueUnreadable
from kb.quantity import Date, parse_date

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan", "januar", "jänner"),
            ("february", "feb", "februar"),
            ("march", "mar", "märz", "mrz"),
            ("april", "apr"),
            ("may", "mai"),
            ("june", "jun", "juni"),
            ("july", "jul", "juli"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct", "oktober", "okt"),
            ("november", "nov"),
            ("december", "dec", "dezember", "dez"),
        ),
        start=1,
    )
    for name in names
}
_MONTH = r"(?:" + "|".join(sorted(_MONTHS, key=lambda name: (-len(name), name))) + r")\b\.?"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th|\.)?"
_YEAR = r"\d{4}(?!\d)"
_SHORT_YEAR = r"\d{3,4}(?!\d)"
_OR = r"\s*(?:/|–|-|\bor\b)\s*"

# Longest forms first: the alternatives are tried in this order.
_FORMS: tuple[tuple[str, str], ...] = (
    ("iso", rf"{_YEAR}-\d\d-\d\d(?!\d)"),
    ("iso_month", rf"{_YEAR}-\d\d(?![\d-])"),
    ("days_in_month", rf"{_DAY}{_OR}{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_SHORT_YEAR}"),
    (
        "two_dates",
        rf"{_DAY}\s+{_MONTH}\s+{_SHORT_YEAR}\s*(?:/|\bor\b)\s*{_DAY}\s+{_MONTH}\s+{_SHORT_YEAR}",
    ),
    ("two_months", rf"{_MONTH}\s+{_SHORT_YEAR}\s*(?:/|\bor\b)\s*{_MONTH}\s+{_SHORT_YEAR}"),
    ("day_years", rf"{_DAY}\s+{_MONTH},?\s+{_SHORT_YEAR}\s*(?:/|\bor\b)\s*{_YEAR}"),
    ("us_years", rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}\s*(?:/|\bor\b)\s*{_YEAR}"),
    ("day_month", rf"(?:the\s+)?{_DAY}\s+(?:day\s+of\s+|of\s+)?{_MONTH},?\s+{_SHORT_YEAR}"),
    ("day_month_dashed", rf"{_DAY}-{_MONTH}-{_YEAR}"),
    ("month_day", rf"{_MONTH}\s+(?:the\s+)?{_DAY}\s?,?\s+{_SHORT_YEAR}"),
    ("month_year", rf"{_MONTH},?\s+(?:of\s+)?{_SHORT_YEAR}"),
    ("dotted", rf"(?:3[01]|[12]\d|0?[1-9])\.\s?(?:1[0-2]|0?[1-9])\.\s?{_YEAR}"),
    ("slashed", rf"\d{{1,2}}(?P<slash>[/-])\d{{1,2}}(?P=slash){_YEAR}"),
    ("quarter", rf"Q[1-4][\s/]*{_YEAR}"),
    ("decade", r"\d{3}0s"),
    ("two_years", rf"{_YEAR}\s*(?:/|\bor\b)\s*{_YEAR}"),
    ("between_years", rf"between\s+{_SHORT_YEAR}\s+and\s+{_SHORT_YEAR}"),
    ("year", _YEAR),
)
DATE_PATTERN = (
    r"(?<![\w/.-])(?:"
    + "|".join(
        form.replace("(?P<slash>[/-])", "(?:/|-)").replace("(?P=slash)", "(?:/|-)")
        for _, form in _FORMS
    )
    + r")(?!\s?(?:BCE?|B\.C\.)\b)(?!\w)"
)
"""A regular expression for any date this module reads; use it with IGNORECASE."""

_FIND = re.compile(DATE_PATTERN, re.IGNORECASE)
_READ = tuple((name, re.compile(form, re.IGNORECASE)) for name, form in _FORMS)
_PIECE = re.compile(rf"(?P<month>{_MONTH})|(?P<number>\d+)", re.IGNORECASE)


def _day(year: int, month: int, day: int) -> Date:
    return parse_date(f"{year:04d}-{month:02d}-{day:02d}")


def _month(year: int, month: int) -> Date:
    return parse_date(f"{year:04d}-{month:02d}")


def _year(year: int) -> Date:
    return parse_date(f"{year:04d}")


def read_date(text: str) -> Date:
    """Read one date in any form people use, keeping its precision.

    Raises ValueUnreadable for text that is no date, a day that does not exist, or years before 1.
    """
    trimmed = text.strip().strip(",;").strip()
    for name, pattern in _READ:
        if pattern.fullmatch(trimmed):
            return _read_form(name, trimmed)
    if re.fullmatch(r"\d{3}", trimmed):
        return _year(int(trimmed))
    raise ValueUnreadable(f"{text!r} is no date; expected a form such as 31 January 2026 or 2026")


def _read_form(name: str, text: str) -> Date:
    pieces = [
        _MONTHS[found["month"].rstrip(".").lower()] if found["month"] else int(found["number"])
        for found in _PIECE.finditer(text)
    ]
    match name:
        case "iso" | "iso_month":
            return parse_date(text)
        case "days_in_month":
            first, last, month, year = pieces
            return Date(_day(year, month, first).first, _day(year, month, last).last)
        case "two_dates":
            return Date(_day(*pieces[2::-1]).first, _day(*pieces[5:2:-1]).last)
        case "two_months":
            return Date(_month(*pieces[1::-1]).first, _month(*pieces[3:1:-1]).last)
        case "day_years":
            day, month, year, other = pieces
            return Date(_day(year, month, day).first, _day(other, month, day).last)
        case "us_years":
            month, day, year, other = pieces
            return Date(_day(year, month, day).first, _day(other, month, day).last)
        case "day_month" | "dotted" | "day_month_dashed":
            return _day(*pieces[::-1])
        case "month_day":
            month, day, year = pieces
            return _day(year, month, day)
        case "month_year":
            return _month(*pieces[::-1])
        case "slashed":
            return _slashed(*pieces)
        case "quarter":
            quarter, year = pieces
            return Date(_month(year, 3 * quarter - 2).first, _month(year, 3 * quarter).last)
        case "decade":
            return Date(_year(pieces[0]).first, _year(pieces[0] + 9).last)
        case "two_years" | "between_years":
            return Date(_year(pieces[0]).first, _year(pieces[1]).last)
        case _:
            return _year(pieces[0])


def _slashed(first: int, second: int, year: int) -> Date:
    """Day and month in doubt give the year; where only one order makes a date, it is that date."""
    readings = set()
    for day, month in ((first, second), (second, first)):
        try:
            readings.add(_day(year, month, day))
        except ValueUnreadable:
            continue
    if not readings:
        raise ValueUnreadable(f"{first}/{second}/{year} is no date in either order")
    return readings.pop() if len(readings) == 1 else _year(year)


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date and its half-open span in the text searched."""

    start: int
    end: int
    date: Date


# What may stand right before a year, with a capital, and is no name: `In 1950`, `Summer 1950`.
_BEFORE_YEAR = frozenset({
    "a", "about", "ad", "after", "and", "around", "as", "at", "autumn", "before", "between",
    "born", "but", "by", "c", "ca", "christmas", "circa", "class", "copyright", "died", "during",
    "early", "easter", "effective", "end", "est", "established", "expires", "fall", "fiscal",
    "for", "founded", "from", "fy", "in", "issued", "late", "mid", "of", "on", "or", "over",
    "published", "released", "since", "spring", "start", "summer", "the", "their", "this",
    "through", "throughout", "till", "to", "under", "until", "valid", "while", "winter", "with",
    "year", "years",
})  # fmt: skip
_WORD_BEFORE = re.compile(r"(?P<word>[^\W\d_][\w.’'-]*)[ \u00a0]\Z")


def is_numbered_name(text: str, start: int) -> bool:
    """Whether a bare number of four digits numbers a name that ends before it: `Hall 1000`.

    So it does behind a word with a capital that is no month and no word that times something.
    """
    before = _WORD_BEFORE.search(text, max(0, start - 40), start)
    if before is None:
        return False
    word = before["word"].rstrip(".").casefold()
    return before["word"][0].isupper() and word not in _BEFORE_YEAR and word not in _MONTHS


def find_dates(text: str) -> tuple[FoundDate, ...]:
    """Give the dates of a text from left to right, none overlapping, no impossible days.

    The number of a name is no year.
    """
    found = []
    for match in _FIND.finditer(text):
        if match.group().isdigit() and is_numbered_name(text, match.start()):
            continue
        try:
            found.append(FoundDate(match.start(), match.end(), read_date(match.group())))
        except ValueUnreadable:
            continue
    return tuple(found)


def first_day_certain(date: Date) -> datetime.date:
    """Give the first day by which something said to begin on `date` has certainly begun."""
    return date.last


def end_certain(date: Date) -> datetime.date | None:
    """Give the half-open end up to which something said to last until `date` certainly lasts.

    An exact day is included; of a month or year no day is certain. None past the calendar's end.
    """
    if not date.is_exact:
        return date.first
    return date.first + datetime.timedelta(days=1) if date.first < datetime.date.max else None


@dataclass(frozen=True, slots=True)
class Mended:
    """A text as it is read, with the code point of the source each of its code points came from."""

    text: str
    offsets: tuple[int, ...]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Give the half-open span of the source for a non-empty half-open span of the text."""
        return self.offsets[start], self.offsets[end - 1] + 1


# What typesetting and tokenising leave behind: spaces inside hyphenated words and after opening
# brackets or quotes, line ends inside sentences, runs of spaces, invisible characters.
_MENDING = re.compile(
    r"(?P<hyphen>(?<=[^\W\d_])-)\s(?=[^\W\d_])"
    r'|(?P<bracket>(?<=[\w"])\()\s+'
    r"|(?P<apostrophe>(?<=\w))\s(?=’s\b)"
    r"|(?P<invisible>[\u00ad\u200b\u2060\ufeff])"
    r"|(?P<space>\s+)"
)


def mend(text: str, *, start: int = 0) -> Mended:
    """Give the text as a reader sees it; `start` is where it begins in its source."""
    pieces: list[str] = []
    offsets: list[int] = []
    position = 0

    def keep(part: str, at: int) -> None:
        pieces.append(part)
        offsets.extend(range(start + at, start + at + len(part)))

    for match in _MENDING.finditer(text):
        keep(text[position : match.start()], position)
        if match["hyphen"]:
            keep("-", match.start())
        elif match["bracket"]:
            keep(" ", match.start() + 1)
            keep("(", match.start())
        elif match["space"]:
            keep(" ", match.start())
        position = match.end()
    keep(text[position:], position)
    return _mend_quotes(Mended("".join(pieces), tuple(offsets)))


def _mend_quotes(mended: Mended) -> Mended:
    """Move or drop the space after an opening quote (`a" B"` -> `a "B"`, `" B"` -> `"B"`)."""
    text = mended.text
    if '"' not in text:
        return mended
    characters: list[str] = []
    offsets: list[int] = []
    opening, drop = True, False
    for index, (character, offset) in enumerate(zip(text, mended.offsets, strict=True)):
        if drop:
            drop = False
            continue
        if character == '"':
            spaced = text[index + 1 : index + 2] == " "
            if opening and spaced:
                drop = True
                if index > 0 and (text[index - 1].isalnum() or text[index - 1] in ",;:&"):
                    characters.append(" ")
                    offsets.append(mended.offsets[index + 1])
            opening = not opening
        characters.append(character)
        offsets.append(offset)
    return Mended("".join(characters), tuple(offsets))


def fold(text: str) -> str:
    """Give the form in which labels, headers and class names are compared."""
    folded = unicodedata.normalize("NFC", text).casefold().replace("_", " ")
    return " ".join(folded.split())
