"""Numbers, amounts of money and measures as people write them, to exact values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from kb.errors import ValueUnreadable
from kb.quantity import Quantity

from .notation import ENGLISH, Notation, notation_of

_CURRENCIES: dict[str, tuple[str, ...]] = {
    "AUD": ("A$", "Australian dollars", "Australian dollar"),
    "CAD": ("C$", "Canadian dollars", "Canadian dollar"),
    "CHF": ("SFr.", "Swiss francs", "Swiss franc", "Franken"),
    "CNY": ("renminbi", "yuan"),
    "CZK": ("Kč", "Czech korunas", "Czech koruna"),
    "DKK": ("Danish kroner", "Danish krone"),
    "EUR": ("€", "euros", "euro", "Euros", "Euro"),
    "GBP": ("£", "pounds sterling", "pound sterling", "British pounds", "pounds"),
    "HUF": ("forints", "forint"),
    "INR": ("₹", "rupees", "Indian rupees"),
    "JPY": ("¥", "yen"),
    "NOK": ("Norwegian kroner", "Norwegian krone"),
    "PLN": ("zł", "zlotys", "zloty"),
    "SEK": ("Swedish kronor", "Swedish krona"),
    "USD": ("US$", "US $", "U.S. dollars", "US dollars", "United States dollars", "$", "dollars"),
}
_UNITS: dict[str, tuple[str, ...]] = {
    "percent": ("%", "per cent"),
    "kg": ("kilograms", "kilogram", "kilos"),
    "g": ("grams", "gram"),
    "tonne": ("t", "tonnes", "metric tons", "Tonnen"),
    "km": ("kilometres", "kilometers", "kilometre", "kilometer"),
    "m": ("metres", "meters", "metre", "meter"),
    "mi": ("miles", "mile"),
    "cm": ("centimetres", "centimeters"),
    "mm": ("millimetres", "millimeters"),
    "km**2": ("km²", "square kilometres", "square kilometers"),
    "m**2": ("m²", "sqm", "square metres", "square meters"),
    "liter": ("l", "litres", "liters", "litre"),
    "kWh": ("kilowatt hours", "kilowatt-hours"),
    "MWh": ("megawatt hours", "megawatt-hours"),
    "hour": ("h", "hours"),
    "day": ("days", "Tage"),
    "week": ("weeks",),
    "month": ("months", "Monate"),
    "year": ("years", "Jahre"),
    "minute": ("min", "minutes"),
}
_SCALES = {
    Fraction(1_000): ("k", "thousand", "tausend", "Tsd."),
    Fraction(1_000_000): ("m", "mn", "mln", "M", "million", "millions", "Mio.", "Mio", "Millionen"),
    Fraction(1_000_000_000): ("bn", "billion", "billions", "Mrd.", "Mrd", "Milliarden"),
}
_WORDS = {
    "one": Fraction(1), "two": Fraction(2), "three": Fraction(3), "four": Fraction(4),
    "five": Fraction(5), "six": Fraction(6), "seven": Fraction(7), "eight": Fraction(8),
    "nine": Fraction(9), "ten": Fraction(10), "eleven": Fraction(11), "twelve": Fraction(12),
}  # fmt: skip


def _names(table: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {name: code for code, names in table.items() for name in (code, *names)}


_CURRENCY_OF = _names(_CURRENCIES)
_UNIT_OF = _names(_UNITS)
_SCALE_OF = {name: scale for scale, names in _SCALES.items() for name in names}
_FOLDED_CURRENCY = {name.casefold(): code for name, code in _CURRENCY_OF.items()}
_FOLDED_SCALE = {
    name.casefold(): scale for name, scale in _SCALE_OF.items() if name not in ("m", "M")
}


def _either(names: dict[str, object] | dict[str, str] | dict[str, Fraction]) -> str:
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(
        (r"(?<![A-Za-z])" if name[0].isalpha() else "")
        + re.escape(name).replace(r"\ ", r"\s+")
        + (r"(?![A-Za-z])" if name[-1].isalnum() else "")
        for name in ordered
    )


_NUMERAL = r"\d{1,3}(?:[,.'’\s\u202f\u00a0]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)?"
_SIGN = r"[-−]?"
_SCALE = "|".join(
    re.escape(name) + (r"(?![A-Za-z])" if name[-1].isalnum() else "")
    for name in sorted(_SCALE_OF, key=lambda name: (-len(name), name))
)
_CURRENCY = _either(_CURRENCY_OF)
_UNIT = _either(_UNIT_OF)
_WORD = "|".join(_WORDS)
_AMOUNT = (
    rf"(?:(?:{_CURRENCY})\s?{_SIGN}(?:{_NUMERAL})(?:\s?(?:{_SCALE}))?(?:\s?[-–]{{1,2}})?"
    rf"|{_SIGN}(?:(?:{_NUMERAL})(?:\s?(?:{_SCALE}))?|\b(?:{_WORD})\s(?:{_SCALE}))"
    rf"(?:\s?(?:of\s)?(?:{_CURRENCY})|[\s-]?(?:{_UNIT})))"
)
AMOUNT_PATTERN = rf"(?<![\w.,]){_AMOUNT}(?!\w|[.,'’]\d)"
"""A regular expression for an amount of money or a measure; use it with IGNORECASE."""

_FIND = re.compile(AMOUNT_PATTERN, re.IGNORECASE)
_PARTS = re.compile(
    rf"(?P<before>{_CURRENCY})?\s?(?P<sign>{_SIGN})(?:(?P<numeral>{_NUMERAL})|(?P<word>{_WORD}))"
    rf"(?:\s?(?P<scale>{_SCALE}))?(?:\s?[-–]{{1,2}}(?=\Z))?"
    rf"(?:\s?(?:of\s)?(?P<after>{_CURRENCY})|[\s-]?(?P<unit>{_UNIT}))?",
    re.IGNORECASE,
)


_EITHER_WAY = re.compile(r"-?[1-9]\d{0,2}(?P<mark>[.,])\d{3}")


def read_numeral(text: str, *, money: bool = False, notation: Notation = ENGLISH) -> Fraction:
    """Read `5,000,000.00`, `5.000.000,00`, `5 000 000`, `5'000'000` or `12.5` exactly.

    One mark before three digits groups thousands or is the decimal mark, by the `notation` of the
    document. Money has no third decimal place unless other numbers show that the document writes
    it. Raises ValueUnreadable for what is left open, and for anything that is no number.
    """
    compact = re.sub(r"[\s\u202f\u00a0'’]", "", text.replace("−", "-"))
    open_mark = _EITHER_WAY.fullmatch(compact)
    points, commas = compact.count("."), compact.count(",")
    if open_mark is not None:
        mark = open_mark["mark"]
        decimal = mark == notation.decimal
        if notation.decimal is None or (decimal and money and not notation.shown):
            whole, _, rest = compact.partition(mark)
            raise ValueUnreadable(
                f"{text!r} may be {whole}{rest} or {whole} with three decimal places, and the "
                "other numbers do not show which; expected a form such as 5000 or 5,000.00"
            )
        compact = compact.replace(mark, "." if decimal else "")
    elif points and commas:
        decimal_mark = "." if compact.rfind(".") > compact.rfind(",") else ","
        grouping = "," if decimal_mark == "." else "."
        compact = compact.replace(grouping, "").replace(decimal_mark, ".")
    elif commas:
        compact = compact.replace(",", "" if commas > 1 else ".")
    elif points > 1:
        compact = compact.replace(".", "")
    if not re.fullmatch(r"-?\d+(?:\.\d+)?", compact, re.ASCII):
        raise ValueUnreadable(f"{text!r} is no number; expected digits such as 12, 0.05 or 5,000")
    return Fraction(compact)


@lru_cache(maxsize=4)
def find_notation(text: str) -> Notation:
    """Tell how a text writes numbers, by the amounts in it; kept for the last few texts."""
    numerals = (
        parts["numeral"]
        for match in _FIND.finditer(text)
        if (parts := _PARTS.fullmatch(match.group())) is not None and parts["numeral"]
    )
    return notation_of(text, numerals)


def read_amount(text: str, *, unit: str | None = None, notation: Notation = ENGLISH) -> Quantity:
    """Read an amount of money or a measure: `EUR 5 million`, `€5,000,000.00`, `12 kg`.

    `unit` is another one that is written behind the number as it stands. Raises ValueUnreadable for
    a number without a unit, one that can be read in two ways, and for anything else.
    """
    trimmed = text.strip()
    other = _other(unit)
    in_other = other.fullmatch(trimmed) if other is not None else None
    if in_other is not None and unit is not None:
        return Quantity(read_numeral(in_other["numeral"], notation=notation), unit)
    match = _PARTS.fullmatch(trimmed)
    written = match and (match["before"] or match["after"] or match["unit"])
    if match is not None and not written and match["numeral"] and match["scale"] == "m":
        metres = read_numeral(match["sign"] + match["numeral"], notation=notation)
        return Quantity(metres, "m")  # no money
    if match is None or not written:
        raise ValueUnreadable(
            f"{text!r} is no quantity; expected a number and a unit such as EUR 5 million or 12 kg"
        )
    money = match["unit"] is None
    if match["word"]:
        number = _WORDS[match["word"].lower()]
    else:
        whole = money and not match["scale"]
        number = read_numeral(match["numeral"], money=whole, notation=notation)
    if match["sign"]:
        number = -number
    if match["scale"]:
        number *= _scale(match["scale"])
    return Quantity(number, _currency(written) if money else _measure(written))


@lru_cache(maxsize=256)
def _other(unit: str | None) -> re.Pattern[str] | None:
    """What an amount in a unit looks like that is not among those of the tables here."""
    if unit is None or unit in _UNIT_OF or unit in _CURRENCY_OF:
        return None
    return re.compile(rf"(?<![\w.,])(?P<numeral>{_SIGN}(?:{_NUMERAL}))\s?{re.escape(unit)}(?!\w)")


def _scale(name: str) -> Fraction:
    return _SCALE_OF[name] if name in _SCALE_OF else _FOLDED_SCALE[name.casefold()]


def _currency(name: str) -> str:
    spaced = " ".join(name.split())
    return _CURRENCY_OF.get(spaced) or _FOLDED_CURRENCY[spaced.casefold()]


def _measure(name: str) -> str:
    spaced = " ".join(name.split())
    if spaced in _UNIT_OF:
        return _UNIT_OF[spaced]
    folded = {known.casefold(): unit for known, unit in _UNIT_OF.items()}
    return folded[spaced.casefold()]


@dataclass(frozen=True, slots=True)
class FoundAmount:
    """An amount and its half-open span in the text searched."""

    start: int
    end: int
    amount: Quantity


def amount_places(text: str, *, unit: str | None = None) -> tuple[tuple[int, int], ...]:
    """Give the half-open spans of what is written like an amount, left to right, none overlapping.

    `unit` as in `read_amount`; where two readings overlap, that in `unit` is given.
    """
    other = _other(unit)
    found: list[tuple[int, int]] = []
    for match in (*(other.finditer(text) if other is not None else ()), *_FIND.finditer(text)):
        if not any(match.start() < end and start < match.end() for start, end in found):
            found.append(match.span())
    return tuple(sorted(found))


def find_amounts(
    text: str, *, unit: str | None = None, notation: Notation = ENGLISH
) -> tuple[FoundAmount, ...]:
    """Give the amounts of a text that can be read, left to right; `unit` as in `read_amount`."""
    found: list[FoundAmount] = []
    for start, end in amount_places(text, unit=unit):
        try:
            amount = read_amount(text[start:end], unit=unit, notation=notation)
        except ValueUnreadable:
            continue
        found.append(FoundAmount(start, end, amount))
    return tuple(found)
