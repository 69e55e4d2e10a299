"""Check a certificate without trusting the program that made it.

Runs alone, on the standard library only: `python -I reasoner/verify.py CERT --sources DIR`. It is
one file on purpose: a reviewer reads it, copies it and runs it anywhere. It shares no code with the
engine, so it reads policies and facts with its own parser, compares values with its own arithmetic
and re-enumerates rule bodies itself. Nothing recurses over a proof, so proofs may be deep.

Sections, in the order of the work: rejections, canonical JSON, terms, units, the language of
policies, rules, sources, statements, steps, witness, minimality, verdict, report, command line.
The format and the rejection classes are described in `docs/verifying.md`.
"""

from __future__ import annotations

import argparse
import calendar
import csv
import datetime
import functools
import gc
import gzip
import hashlib
import json
import operator
import re
import sys
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

LARGEST_BITS = 4000
"""Size of numerator and denominator beyond which a computed number is no value."""
FORMAT = "proofweave.certificate/1"
PRELUDE_SHA256 = "f5f63f4afaabfa980ea18ccc46fadd4b83db13c43dca250c73825619fc505f87"
"""Digest of the rules that stand beside every policy."""
PRELUDE_HEADS = frozenset(
    (
        *("under/2", "alias/2", "stated_by/4", "may_coincide/2", "in_taxonomy/1"),
        *("told_apart/2", "told_disjoint/2"),
    )
)
"""What these rules conclude."""
NEVER_STATED = PRELUDE_HEADS | {"valid_on/1", "stated_in/2", "same_name/2"}
"""What follows from rules, the request, evidence or spelling; no source states it."""
FACTS_DECODER = "facts/1"
"""Decoder of facts files; their lookups are read again from the file."""
IDENTITY = "prelude.identity:"
"""Begins the names of rules that carry a predicate over to other names of an entity."""
VALUE_RULES = {
    "prelude.one_value:": (
        '-{d}(X, V) :- {d}(X, W), functional("{d}"), told_apart(W, V).',
        "{{X}} has one {d}, which is {{W}}; nothing lies under both {{W}} and {{V}}",
    ),
    "prelude.one_value_named:": (
        '-{d}(X, V) :- {d}(X, W), functional("{d}"), W != V, not in_taxonomy(W), '
        "not in_taxonomy(V), not may_coincide(W, V).",
        "{{X}} has one {d}, which is {{W}} and not {{V}}",
    ),
    "prelude.disjoint_values:": (
        "-{d}(X, V) :- {d}(X, W), told_disjoint(W, V).",
        "the {d} of {{X}} is {{W}}, which excludes {{V}}",
    ),
}
"""Rules by which one value of a dimension excludes another: text and sentence, by their names."""
COMPLETE_ORDER = frozenset(("may_coincide/2", "in_taxonomy/1"))
"""What is closed because taxonomies and names are complete for meets (as the request has them)."""
DECLARATIONS = frozenset(("functional/1", "disjoint/2"))
"""What declarations say."""
NEVER_RENAMED = frozenset(
    (
        *("stated_in/2", "valid_on/1", "same_name/2", "document_kind/2", "issuer/2"),
        *("issued_on/2", "same_as/2", "subclass_of/2"),
    )
)

# ---------------------------------------------------------------- rejections

REJECTIONS = {
    "MALFORMED": 10,  # no UTF-8, no JSON, nested too deep
    "NOT_CANONICAL": 11,  # white space, byte order mark, key order or number form differ
    "DUPLICATE_KEY": 12,
    "UNKNOWN_FIELD": 13,
    "STRUCTURE": 14,  # a field is missing or of the wrong type
    "FORMAT_VERSION": 15,
    "GOAL_MISMATCH": 16,  # another goal than expected, or answers that are none of the goal
    "POLICY_MISMATCH": 17,  # another policy than expected, or than its digest says
    "RULE_MISMATCH": 18,  # a rule that the policy does not state like this
    "NOT_WELL_FOUNDED": 19,  # a premise that is proved later, or by itself
    "UNKNOWN_REFERENCE": 20,  # a step, statement, source or rule that is not there
    "RULE_INSTANCE": 21,  # conclusion, bindings or premises are no instance of the rule
    "COMPARISON": 22,  # false or undetermined
    "CONVERSION": 23,
    "STATEMENT_MISMATCH": 24,  # not its digest, not visible, or states something else
    "QUOTE_MISMATCH": 25,
    "SOURCE_MISSING": 26,
    "SOURCE_MISMATCH": 27,
    "LEAF_MISMATCH": 28,  # provenance, request, assumption, identity or subsumption unjustified
    "UNUSED": 29,
    "NOT_MINIMAL": 30,
    "WITNESS_INCOMPLETE": 31,
    "WITNESS_UNPROVED": 32,
    "LOOKUP_MISMATCH": 33,  # a source re-read has other rows
    "NOT_CLOSED": 34,
    "VERDICT_MISMATCH": 35,
    "OPEN_MISMATCH": 36,
    "KNOWLEDGE_MISMATCH": 37,
    "VALIDITY_MISMATCH": 38,
}
"""Rejection classes with their exit codes; neither ever changes its meaning."""


class Rejected(Exception):
    """The certificate does not hold; `where` is a path into it."""

    def __init__(self, rejection: str, where: str, message: str) -> None:
        super().__init__(message)
        self.rejection = rejection
        self.where = where
        self.message = message


def reject(rejection: str, where: str, message: str) -> NoReturn:
    """Stop with a named class."""
    raise Rejected(rejection, where, message)


# ---------------------------------------------------------------- canonical JSON


def canonical(value: object) -> bytes:
    """Write RFC 8785 for what certificates hold: texts, integers, ASCII keys."""
    return _ENCODER.encode(value).encode()


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            reject("DUPLICATE_KEY", key, f"the key {key!r} stands twice in one object")
    return dict(pairs)


def _no_number(text: str) -> NoReturn:
    reject("NOT_CANONICAL", "", f"{text} is no integer; the format has no other numbers")


def read_canonical(data: bytes) -> dict[str, Any]:
    """Read a certificate whose bytes are exactly their canonical form."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        reject("MALFORMED", "", f"no UTF-8 at byte {error.start}")
    if text.startswith("\ufeff"):
        reject("NOT_CANONICAL", "", "the certificate begins with a byte order mark")
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_no_number)
        same = canonical(value) == data
        if not same:
            json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        reject("MALFORMED", "", "the JSON is nested too deep")
    except UnicodeEncodeError:
        reject("MALFORMED", "", "a text holds half a surrogate pair")
    except ValueError as error:
        reject("MALFORMED", "", f"no JSON: {error}")
    if not same:
        reject(
            "NOT_CANONICAL",
            "",
            "the bytes are not the canonical form (RFC 8785): white space, key order or numbers",
        )
    if not isinstance(value, dict):
        reject("STRUCTURE", "", "a certificate is a JSON object")
    return value


_TEXT, _COUNT, _TEXT_OR_NULL, _FLAG = "text", "count", "text or null", "flag"
_ID_TEXT = {"atom": _TEXT, "step": _TEXT}
_CALL_ANSWERS = [_ID_TEXT]
SHAPE: dict[str, Any] = {
    "format": _TEXT,
    "verdict": _TEXT,
    "code": _TEXT_OR_NULL,
    "question": _TEXT_OR_NULL,
    "understood_as": _TEXT_OR_NULL,
    "goal": _TEXT,
    "valid_on": _TEXT_OR_NULL,
    "knowledge": _TEXT,
    "complete": _FLAG,
    "answers": [_ID_TEXT],
    "refuted": [_ID_TEXT],
    "policies": [
        {"id": _TEXT, "version": _TEXT, "digest": _TEXT, "effective": _TEXT, "text": _TEXT}
    ],
    "rules": {"*": {"clause": "clause", "text": _TEXT, "cite": _TEXT, "says": _TEXT}},
    "sources": {"*": {"media_type": _TEXT, "title": _TEXT, "decoder": _TEXT, "text_sha256": _TEXT}},
    "statements": {"*": "statement"},
    "steps": ["step"],
    "open": [
        {
            "id": _TEXT,
            "atom": _TEXT,
            "code": _TEXT,
            "rule": _TEXT,
            "query": _TEXT,
            "expected": _TEXT,
            "entity_test": _TEXT,
            "detail": _TEXT,
            "rejected": [_TEXT],
            "conflicting": [_TEXT],
        }
    ],
    "assumptions": [_TEXT],
    "witness": {
        "demands": [{"pattern": _TEXT, "answers": _CALL_ANSWERS, "possible": [_TEXT]}],
        "lookups": [{"pattern": _TEXT, "answers": _CALL_ANSWERS, "basis": _TEXT}],
        "contested": [{"reason": _TEXT, "sides": [_ID_TEXT]}],
    },
    "validity": {"start": _TEXT_OR_NULL, "end": _TEXT_OR_NULL, "next_change": _TEXT_OR_NULL},
}
"""Fields of a certificate; `*` stands for any key. Steps and statements are checked in place."""


def check_shape(value: object, shape: object, where: str) -> None:
    """Compare a value with a shape; every field must be there, and no other."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            reject("STRUCTURE", where, "expected an object")
        if "*" in shape:
            for key, item in value.items():
                check_shape(item, shape["*"], f"{where}/{key}")
            return
        for key in value:
            if key not in shape:
                reject("UNKNOWN_FIELD", f"{where}/{key}", f"{key!r} is no field of the format")
        for key, item in shape.items():
            if key not in value:
                reject("STRUCTURE", where, f"the field {key!r} is missing")
            check_shape(value[key], item, f"{where}/{key}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            reject("STRUCTURE", where, "expected a list")
        if shape[0] in ("step", "statement"):
            return
        for index, item in enumerate(value):
            check_shape(item, shape[0], f"{where}/{index}")
    elif shape == _TEXT:
        if not isinstance(value, str):
            reject("STRUCTURE", where, "expected a text")
    elif shape == _TEXT_OR_NULL:
        if value is not None and not isinstance(value, str):
            reject("STRUCTURE", where, "expected a text or null")
    elif shape == _FLAG and not isinstance(value, bool):
        reject("STRUCTURE", where, "expected true or false")


# ---------------------------------------------------------------- terms

Value = tuple[Any, ...]
"""A ground value: ("number", n), ("date", first, last), ("quantity", n, unit), ("text", s) or
("symbol", s)."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+|/[1-9]\d*)?", re.ASCII)
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
_TERM = re.compile(
    r'"(?:[^"\\]|\\.)*"|@(?:decimal|date|quantity)\("[^"\\]*"\)|-?\d+'
    r"|_*[a-z][A-Za-z0-9_]*|#inf|#sup",
    re.ASCII,
)


_PLAIN_ATOM = re.compile(r"(-?_*[a-z][A-Za-z0-9_]*)(?:\((.+)\))?", re.ASCII | re.DOTALL)
_PLAIN_ARGUMENT = re.compile(rf"({_TERM.pattern})(, |\Z)", re.ASCII)
_UNKNOWN = "#undetermined"  # stands in possible answers for a value that could not be computed
_POSSIBLE_ARGUMENT = re.compile(rf"({_TERM.pattern}|{_UNKNOWN})(, |\Z)", re.ASCII)


def write_text(text: str) -> str:
    """Write a text as term."""
    return json.encoder.encode_basestring(text)


def read_number(text: str) -> Fraction:
    """Read `12`, `-0.05` or `1/3`; raises ValueError for anything else."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is no exact number")
    return Fraction(text)


def write_number(number: Fraction) -> str:
    """Write the one form of a number: `12`, `0.05`, or `1/3` where no finite decimal exists."""
    rest, places = number.denominator, 0
    while rest % 10 == 0:
        rest, places = rest // 10, places + 1
    for prime in (2, 5):
        while rest % prime == 0:
            rest, places = rest // prime, places + 1
    if rest != 1:
        return f"{number.numerator}/{number.denominator}"
    if places == 0:
        return str(number.numerator)
    digits = f"{abs(number.numerator) * 10**places // number.denominator:0{places + 1}d}"
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
    return f"-{text}" if number < 0 else text


def read_date(text: str) -> tuple[datetime.date, datetime.date]:
    """Read `1952`, `1952-03`, `1952-03-04` or `FIRST/LAST` as first and last day."""
    first, slash, last = text.partition("/")
    if slash:
        days = read_date(first)[0], read_date(last)[1]
        if days[0] > days[1]:
            raise ValueError(f"{text!r} ends before it begins")
        return days
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no date")
    year, month, day = (int(part) if part else 0 for part in match.groups())
    if not month:
        return datetime.date(year, 1, 1), datetime.date(year, 12, 31)
    if not day:
        start = datetime.date(year, month, 1)
        return start, start.replace(day=calendar.monthrange(year, month)[1])
    exact = datetime.date(year, month, day)
    return exact, exact


def write_date(first: datetime.date, last: datetime.date) -> str:
    """Write the one form of a date: a day, a month, a year, or `FIRST/LAST`."""
    if first == last:
        return first.isoformat()
    for text in (first.isoformat()[:4], first.isoformat()[:7]):
        if read_date(text) == (first, last):
            return text
    return f"{first.isoformat()}/{last.isoformat()}"


def read_quantity(text: str) -> tuple[Fraction, str]:
    """Read `5000000 EUR`."""
    number, _, unit = text.partition(" ")
    if not unit or " " in unit or unit != unit.strip():
        raise ValueError(f"{text!r} is no quantity")
    return read_number(number), unit


def read_value(term: str) -> Value:
    """Read a ground term; raises ValueError for anything else."""
    if not _TERM.fullmatch(term):
        raise ValueError(f"{term} is no ground term")
    if term[0] == '"':
        return ("text", term[1:-1] if "\\" not in term else json.loads(term))
    if term[0] == "@":
        name, inner = term[1:].split("(", 1)
        inner = inner[1:-2]
        if name == "decimal":
            return ("number", read_number(inner))
        if name == "date":
            return ("date", *read_date(inner))
        return ("quantity", *read_quantity(inner))
    if term[0] == "-" or term[0].isdigit():
        return ("number", Fraction(int(term)))
    return ("symbol", term)


def write_value(value: Value) -> str:
    """Write a ground term canonically."""
    match value:
        case ("number", number):
            text = write_number(number)
            return text if number.denominator == 1 else f'@decimal("{text}")'
        case ("date", first, last):
            return f'@date("{write_date(first, last)}")'
        case ("quantity", number, unit):
            return f'@quantity("{write_number(number)} {unit}")'
        case ("text", text):
            return write_text(text)
    return str(value[1])


TRUE, FALSE, UNDETERMINED = "true", "false", "undetermined"
_NEGATION = {TRUE: FALSE, FALSE: TRUE, UNDETERMINED: UNDETERMINED}
LEAST, GREATEST = ("symbol", "#inf"), ("symbol", "#sup")


def _span(value: Value, other: Value) -> tuple[Any, Any] | None:
    """Give least and greatest of a value on the scale of another; None where there is none."""
    match value[0], other[0]:
        case ("date", "date"):
            return value[1], value[2]
        case ("number", "number"):
            return value[1], value[1]
        case ("quantity", "quantity"):
            magnitude = converted(value[1], value[2], other[2])
            return None if magnitude is None else (magnitude, magnitude)
        case ("quantity", "number"):  # nothing is nothing in every unit
            return (value[1], value[1]) if other[1] == 0 else None
        case ("number", "quantity"):
            return (value[1], value[1]) if value[1] == 0 else None
    return None


def compare(sign: str, left: Value, right: Value) -> str:
    """Compare two ground values three-valued: values are intervals, `<=` asks for the worst case.

    Values without a common unit are undetermined; values of two kinds are unequal, without order.
    """
    match sign:
        case ">":
            return compare("<", right, left)
        case ">=":
            return compare("<=", right, left)
        case "!=":
            return _NEGATION[compare("=", left, right)]
        case "<":
            return _NEGATION[compare("<=", right, left)]
    here, there = _span(left, right), right
    if here is not None:
        # On one scale: the right side in its own terms.
        low, high = (there[1], there[2]) if there[0] == "date" else (there[1], there[1])
        if sign == "<=":
            return TRUE if here[1] <= low else FALSE if here[0] > high else UNDETERMINED
        if here[1] < low or high < here[0]:
            return FALSE
        return TRUE if here[0] == here[1] == low == high else UNDETERMINED
    if {left[0], right[0]} <= {"quantity", "number"}:
        return UNDETERMINED
    if sign == "=":
        return TRUE if left == right else FALSE
    if left in (right, LEAST) or right == GREATEST:
        return TRUE
    if left == GREATEST or right == LEAST:
        return FALSE
    if left[0] == right[0] and left[0] in ("text", "symbol"):
        return TRUE if left[1] <= right[1] else FALSE
    return UNDETERMINED


# ---------------------------------------------------------------- units

_SYMBOLS_OF_POWERS = (
    "Y:24 Z:21 E:18 P:15 T:12 G:9 M:6 k:3 h:2 da:1 d:-1 c:-2 m:-3 u:-6 µ:-6 μ:-6 n:-9 p:-12 f:-15 "
    "a:-18"
)
_NAMES_OF_POWERS = (
    "tera:12 giga:9 mega:6 kilo:3 hecto:2 deca:1 deci:-1 centi:-2 milli:-3 micro:-6 nano:-9 "
    "pico:-12"
)
_PREFIXES = dict(pair.split(":") for pair in _SYMBOLS_OF_POWERS.split())
_PREFIX_NAMES = dict(pair.split(":") for pair in _NAMES_OF_POWERS.split())
_PREFIXED = {
    "m meter metre": ("1", "L"),
    "g gram": ("1/1000", "M"),
    "s second": ("1", "T"),
    "A ampere": ("1", "I"),
    "K kelvin": ("1", "K"),
    "mol mole": ("1", "N"),
    "Hz hertz": ("1", "T-1"),
    "N newton": ("1", "L M T-2"),
    "Pa pascal": ("1", "L-1 M T-2"),
    "J joule": ("1", "L2 M T-2"),
    "W watt": ("1", "L2 M T-3"),
    "V volt": ("1", "L2 M T-3 I-1"),
    "Wh watt_hour": ("3600", "L2 M T-2"),
    "l L liter litre": ("1/1000", "L3"),
    "cal calorie": ("4.184", "L2 M T-2"),
    "bar": ("100000", "L-1 M T-2"),
    "bit": ("1", "B"),
    "B byte": ("8", "B"),
}
_PLAIN = {
    "min minute": ("60", "T"),
    "h hr hour": ("3600", "T"),
    "d day": ("86400", "T"),
    "week": ("604800", "T"),
    "in inch inches": ("0.0254", "L"),
    "ft foot feet": ("0.3048", "L"),
    "yd yard": ("0.9144", "L"),
    "mi mile": ("1609.344", "L"),
    "nmi nautical_mile": ("1852", "L"),
    "t tonne metric_ton": ("1000", "M"),
    "lb pound": ("0.45359237", "M"),
    "oz ounce": ("0.028349523125", "M"),
    "ha hectare": ("10000", "L2"),
    "gal gallon": ("0.003785411784", "L3"),
    "atm atmosphere": ("101325", "L-1 M T-2"),
    "psi": ("44482216152605/6451600000", "L-1 M T-2"),
    "hp horsepower": ("745.69987158227022", "L2 M T-3"),
    "percent %": ("1/100", ""),
}
_SCALES = {
    "degC °C celsius degree_Celsius": ("1", "273.15"),
    "degF °F fahrenheit degree_Fahrenheit": ("5/9", "229835/900"),
}
"""Temperatures: factor and offset to kelvin; they stand alone."""
_FACTOR = re.compile(r"([*/·]|\A)([^*/·^\d\s²³-]+)(²|³|(?:\^|\*\*)?-?\d+)?")
_POWERS = {"²": 2, "³": 3}


def _ratio(text: str) -> Fraction:
    top, _, bottom = text.partition("/")
    return Fraction(top) / Fraction(bottom or 1)


def _dimensions(text: str) -> dict[str, int]:
    return {part[0]: int(part[1:] or 1) for part in text.split()}


@functools.lru_cache(maxsize=1)
def _units() -> dict[str, tuple[Fraction, dict[str, int]]]:
    units: dict[str, tuple[Fraction, dict[str, int]]] = {}
    for names, (factor, dimensions) in (*_PREFIXED.items(), *_PLAIN.items()):
        for name in names.split():
            unit = _ratio(factor), _dimensions(dimensions)
            is_symbol = len(name) < 3 or name in ("mol", "cal", "bar", "bit")
            units[name] = unit
            if not is_symbol or name in ("cal", "bit"):
                units.setdefault(name + "s", unit)
            if names not in _PREFIXED:
                continue
            for prefix, power in (_PREFIXES if is_symbol else _PREFIX_NAMES).items():
                scaled = unit[0] * Fraction(10) ** int(power), unit[1]
                units.setdefault(prefix + name, scaled)
                if not is_symbol:
                    units.setdefault(prefix + name + "s", scaled)
    del units["dB"], units["hbar"]  # decibel, and Planck's constant
    return units


def read_unit(unit: str) -> tuple[Fraction, Fraction, dict[str, int]] | None:
    """Give exact factor and offset to SI units and the dimensions; None for an unknown unit."""
    for names, (factor, offset) in _SCALES.items():
        if unit in names.split():
            return _ratio(factor), _ratio(offset), {"K": 1}
    total, dimensions, position = Fraction(1), dict[str, int](), 0
    while position < len(unit):
        match = _FACTOR.match(unit, position)
        known = _units().get(match[2]) if match else None
        if match is None or known is None:
            return None
        written = (match[3] or "1").lstrip("^*")
        power = _POWERS.get(written) or int(written)
        if abs(power) > 9:
            return None
        power = -power if match[1] == "/" else power
        total *= known[0] ** power
        for name, exponent in known[1].items():
            dimensions[name] = dimensions.get(name, 0) + exponent * power
        position = match.end()
    return total, Fraction(0), {name: power for name, power in dimensions.items() if power}


@functools.lru_cache(maxsize=4096)
def conversion(source: str, target: str) -> tuple[Fraction, Fraction] | None:
    """Give exact factor and offset from one unit to another; None if there is no conversion."""
    if source == target:
        return Fraction(1), Fraction(0)
    left, right = read_unit(source), read_unit(target)
    if left is None or right is None or left[2] != right[2]:
        return None
    return left[0] / right[0], (left[1] - right[1]) / right[0]


def converted(magnitude: Fraction, source: str, target: str) -> Fraction | None:
    """Convert a magnitude exactly; None if there is no conversion."""
    found = conversion(source, target)
    return None if found is None else magnitude * found[0] + found[1]


# ---------------------------------------------------------------- the language of policies

Tree = dict[str, Any]
"""A syntax tree as certificates hold it: plain JSON."""

_TOKEN = re.compile(
    r"""(?P<space>[ \t\f\n]+)
    |(?P<metadata>%![^\n]*)
    |(?P<block>%\*)
    |(?P<comment>%[^\n]*)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<number>[0-9]+)
    |(?P<variable>_*[A-Z][A-Za-z0-9_]*)
    |(?P<name>_*[a-z][A-Za-z0-9_]*)
    |(?P<anonymous>_)
    |(?P<at>@[a-z][A-Za-z0-9_]*)
    |(?P<hash>\#(?:count|sum|min|max|inf|sup)\b)
    |(?P<sign>:-|<=|>=|!=|==|[<>=+\-*/(){}:;,.])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_BLOCK_EDGE = re.compile(r"%\*|\*%")
_RELATIONS = frozenset(("<=", ">=", "!=", "==", "<", ">", "="))
_DEEPEST = 60


class Unreadable(Exception):
    """A text that does not follow the language; `position` is in code points."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


_LOOSE = json.JSONDecoder(strict=False)


class Reader:
    """Reads atoms, facts, rules and declarations into syntax trees, one statement at a time."""

    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position
        self.kind = ""
        self.token = ""
        self.start = 0
        self.end = 0
        self.metadata: list[tuple[int, str]] = []
        self.depth = 0
        self.advance()

    def advance(self) -> None:
        """Go to the next token; comments are skipped."""
        self.end = self.position
        while self.position < len(self.text):
            match = _TOKEN.match(self.text, self.position)
            if match is None:
                raise Unreadable(f"unexpected {self.text[self.position]!r}", self.position)
            self.position = match.end()
            kind = match.lastgroup
            if kind == "block":
                self.position = self.block_end(match.start())
            elif kind == "metadata":
                self.metadata.append((match.start(), match[0][2:]))
            elif kind not in ("space", "comment"):
                self.kind, self.token, self.start = str(kind), match[0], match.start()
                return
        self.kind, self.token, self.start = "end", "", self.position

    def block_end(self, start: int) -> int:
        """Give the end of a block comment; they nest."""
        depth = 0
        for edge in _BLOCK_EDGE.finditer(self.text, start):
            depth += 1 if edge[0] == "%*" else -1
            if not depth:
                return edge.end()
        raise Unreadable("a block comment is not closed", start)

    def accept(self, token: str) -> bool:
        """Take a token if it comes next."""
        if self.token == token and self.kind != "string":
            self.advance()
            return True
        return False

    def expect(self, token: str) -> None:
        """Take a token that must come next."""
        if not self.accept(token):
            raise Unreadable(f"found {self.token!r}, expected {token!r}", self.start)

    def statement(self) -> Tree:
        """Read `head.` or `head :- body.`"""
        head = self.atom(self.expression())
        body: list[Tree] = []
        if self.accept(":-"):
            body.append(self.literal(aggregates=True))
            while self.accept(",") or self.accept(";"):
                body.append(self.literal(aggregates=True))
        self.expect(".")
        name_anonymous(head, *body)
        return {"head": head, "body": body}

    def literal(self, *, aggregates: bool) -> Tree:
        """Read a body literal."""
        if self.kind == "name" and self.token == "not":
            self.advance()
            return {"absent": self.atom(self.expression())}
        if aggregates and self.kind == "hash" and self.token not in ("#inf", "#sup"):
            tree = self.aggregate()
            sign = self.relation()
            flipped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(sign, sign)
            return {"aggregate": {"operator": flipped, "result": self.expression(), **tree}}
        left = self.expression()
        if self.token not in _RELATIONS or self.kind != "sign":
            return {"positive": self.atom(left)}
        sign = self.relation()
        if aggregates and self.kind == "hash" and self.token not in ("#inf", "#sup"):
            return {"aggregate": {"operator": sign, "result": left, **self.aggregate()}}
        return {"comparison": {"operator": sign, "left": left, "right": self.expression()}}

    def relation(self) -> str:
        """Read a comparison sign; `==` is `=`."""
        sign = self.token
        if self.kind != "sign" or sign not in _RELATIONS:
            raise Unreadable(f"found {sign!r}, expected a comparison", self.start)
        self.advance()
        return "=" if sign == "==" else sign

    def aggregate(self) -> Tree:
        """Read `#sum{ terms : conditions }`."""
        function = self.token[1:]
        self.advance()
        self.expect("{")
        terms = [self.expression()]
        while self.accept(","):
            terms.append(self.expression())
        conditions: list[Tree] = []
        if self.accept(":"):
            conditions.append(self.literal(aggregates=False))
            while self.accept(","):
                conditions.append(self.literal(aggregates=False))
        self.expect("}")
        return {"function": function, "terms": terms, "conditions": conditions}

    def expression(self) -> Tree:
        """Read sums of products."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable("an expression is nested too deep", self.start)
        left = self.product()
        while self.kind == "sign" and self.token in "+-":
            sign = self.token
            self.advance()
            left = {"operation": sign, "arguments": [left, self.product()]}
        self.depth -= 1
        return left

    def product(self) -> Tree:
        """Read products of primaries."""
        left = self.unary()
        while self.kind == "sign" and self.token in "*/":
            sign = self.token
            self.advance()
            left = {"operation": sign, "arguments": [left, self.unary()]}
        return left

    def unary(self) -> Tree:
        """Read a primary with its minus signs; `-` before a number belongs to it."""
        signs = 0
        while self.kind == "sign" and self.token == "-":
            signs += 1
            self.advance()
        if signs > _DEEPEST:
            raise Unreadable("too many minus signs", self.start)
        tree = self.primary()
        for _ in range(signs):
            if "number" in tree:
                tree = {"number": write_number(-Fraction(tree["number"]))}
            else:
                tree = {"operation": "-", "arguments": [tree]}
        return tree

    def primary(self) -> Tree:
        """Read a term, a call or a group."""
        kind, token, start = self.kind, self.token, self.start
        self.advance()
        match kind:
            case "number":
                return {"number": str(int(token))}
            case "string":
                return {"text": self.string(token, start)}
            case "variable":
                return {"variable": token}
            case "anonymous":
                return {"variable": ""}
            case "hash":
                return {"symbol": token}
            case "at":
                self.expect("(")
                if self.kind != "string":
                    raise Unreadable(f"{token} needs a text", self.start)
                inner = self.string(self.token, self.start)
                self.advance()
                self.expect(")")
                return self.value(token[1:], inner, start)
            case "name":
                if not self.accept("("):
                    return {"symbol": token}
                arguments = [self.expression()]
                while self.accept(","):
                    arguments.append(self.expression())
                self.expect(")")
                return {"operation": token, "arguments": arguments}
        if kind == "sign" and token == "(":
            tree = self.expression()
            self.expect(")")
            return tree
        raise Unreadable(f"unexpected {token!r}" if token else "the text ends too early", start)

    @staticmethod
    def string(token: str, start: int) -> str:
        """Give the text between the quotes."""
        try:
            return token[1:-1] if "\\" not in token else str(_LOOSE.decode(token))
        except ValueError:
            raise Unreadable(f"{token} is no text", start) from None

    @staticmethod
    def value(name: str, inner: str, start: int) -> Tree:
        """Read `@date("..")` and its like."""
        try:
            if name == "decimal":
                return {"number": write_number(read_number(inner))}
            if name == "date":
                return {"date": write_date(*read_date(inner))}
            if name == "quantity":
                number, unit = read_quantity(inner)
                return {"quantity": f"{write_number(number)} {unit}"}
        except ValueError as error:
            raise Unreadable(str(error), start) from None
        raise Unreadable(f"@{name} is no kind of value", start)

    def atom(self, tree: Tree) -> Tree:
        """Take an expression as the atom it must be."""
        negated = False
        if tree.get("operation") == "-" and len(tree["arguments"]) == 1:
            tree, negated = tree["arguments"][0], True
        if "symbol" in tree:
            return {"predicate": tree["symbol"], "negated": negated, "arguments": []}
        if "operation" in tree and re.match(r"_*[a-z]", tree["operation"]):
            for argument in tree["arguments"]:
                if "operation" in argument:
                    raise Unreadable("an atom holds terms, not expressions", self.start)
            return {
                "predicate": tree["operation"],
                "negated": negated,
                "arguments": tree["arguments"],
            }
        raise Unreadable("expected an atom", self.start)


def name_anonymous(*trees: Tree) -> None:
    """Name each `_` of a clause `_1`, `_2`, ...; conditions of an aggregate come before it."""
    waiting, number = list(trees[::-1]), 0
    while waiting:
        tree = waiting.pop()
        if tree.get("variable") == "":
            number += 1
            tree["variable"] = f"_{number}"
        elif "aggregate" in tree:
            inner = tree["aggregate"]
            waiting += [*inner["conditions"], inner["result"], *inner["terms"]][::-1]
        elif "comparison" in tree:
            waiting += [tree["comparison"]["right"], tree["comparison"]["left"]]
        else:
            for key in ("positive", "absent"):
                tree = tree.get(key, tree)
            waiting += tree.get("arguments", ())[::-1]


def write_term(tree: Tree, bindings: Mapping[str, str]) -> str:
    """Write a term, bound variables as their values."""
    ((kind, content),) = tree.items()
    match kind:
        case "variable":
            return bindings.get(content, content)
        case "text":
            return write_text(content)
        case "number":
            return (
                content if "." not in content and "/" not in content else f'@decimal("{content}")'
            )
        case "date" | "quantity":
            return f'@{kind}("{content}")'
    return str(content)


_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
_UNBOUND: Mapping[str, str] = {}


def write_expression(tree: Tree, bindings: Mapping[str, str] = _UNBOUND, level: int = 0) -> str:
    """Write an expression with the fewest parentheses."""
    if "operation" not in tree:
        return write_term(tree, bindings)
    name, arguments = tree["operation"], tree["arguments"]
    own = _PRECEDENCE.get(name)
    if own is None:
        inner = ", ".join(write_expression(item, bindings) for item in arguments)
        return f"{name}({inner})"
    if len(arguments) == 1:
        return f"{name}{write_expression(arguments[0], bindings, 3)}"
    left = write_expression(arguments[0], bindings, own)
    text = f"{left} {name} {write_expression(arguments[1], bindings, own + 1)}"
    return f"({text})" if own < level else text


def write_atom(tree: Tree, bindings: Mapping[str, str] = _UNBOUND) -> str:
    """Write an atom canonically."""
    sign = "-" if tree["negated"] else ""
    if not tree["arguments"]:
        return f"{sign}{tree['predicate']}"
    inner = ", ".join(write_term(item, bindings) for item in tree["arguments"])
    return f"{sign}{tree['predicate']}({inner})"


def write_literal(tree: Tree, bindings: Mapping[str, str] = _UNBOUND) -> str:
    """Write a body literal canonically, bound variables as their values."""
    ((kind, content),) = tree.items()
    match kind:
        case "positive":
            return write_atom(content, bindings)
        case "absent":
            return f"not {write_atom(content, bindings)}"
        case "comparison":
            left = write_expression(content["left"], bindings)
            right = write_expression(content["right"], bindings)
            return f"{left} {content['operator']} {right}"
    result = write_expression(content["result"], bindings)
    terms = ", ".join(write_expression(item, bindings) for item in content["terms"])
    conditions = ", ".join(write_literal(item, bindings) for item in content["conditions"])
    return f"{result} {content['operator']} #{content['function']}{{{terms} : {conditions}}}"


Arguments = tuple[str | None, ...]
"""Arguments of a call or an answer as canonical terms; None where unbound."""

Ground = tuple[str, Arguments]
"""An atom as signature and arguments."""


def read_atom(text: str) -> tuple[str, Arguments, Tree]:
    """Read an atom as signature, arguments (None for variables) and tree.

    Raises Unreadable.
    """
    reader = Reader(text)
    tree = reader.atom(reader.expression())
    name_anonymous(tree)
    reader.accept(".")
    if reader.kind != "end":
        raise Unreadable(f"unexpected {reader.token!r} after an atom", reader.start)
    return signature(tree), arguments(tree), tree


def signature(tree: Tree) -> str:
    """Give `p/2` or `-p/2`."""
    return f"{'-' if tree['negated'] else ''}{tree['predicate']}/{len(tree['arguments'])}"


def arguments(tree: Tree, bindings: Mapping[str, str] = _UNBOUND) -> Arguments:
    """Give the arguments as canonical terms, None for unbound variables."""
    return tuple(
        bindings.get(item["variable"]) if "variable" in item else write_term(item, bindings)
        for item in tree["arguments"]
    )


def write_call(sign: str, call: Arguments) -> str:
    """Write a signature with arguments, `_` for what is unbound."""
    name = sign.rpartition("/")[0]
    if not call:
        return name
    return f"{name}({', '.join('_' if item is None else item for item in call)})"


# ---------------------------------------------------------------- expressions


def evaluate(tree: Tree, bindings: Mapping[str, str]) -> Value | None:
    """Evaluate an expression exactly; None where a value has the wrong kind or is not exact.

    Raises KeyError for an unbound variable.
    """
    if "operation" not in tree:
        if "variable" in tree:
            term = bindings[tree["variable"]]
            return None if term == _UNKNOWN else _value_of(term)
        return _value_of(write_term(tree, _UNBOUND))
    values: list[Value] = []
    for item in tree["arguments"]:
        value = evaluate(item, bindings)
        if value is None:
            return None
        values.append(value)
    name = tree["operation"]
    try:
        if name == "-":
            left, right = values if len(values) == 2 else (("number", Fraction(0)), *values)
            return _bounded(_add(left, right, -1))
        return _bounded(_FUNCTIONS[name](*values))
    except (KeyError, TypeError, ValueError, OverflowError, ZeroDivisionError, _NoValue):
        return None


class _NoValue(Exception):
    """An operation has no exact value for these arguments."""


def _bounded(value: Value) -> Value:
    if value[0] in ("number", "quantity"):
        size = max(value[1].numerator.bit_length(), value[1].denominator.bit_length())
        if size > LARGEST_BITS:
            raise _NoValue
    return value


@functools.lru_cache(maxsize=65536)
def _value_of(term: str) -> Value:
    return read_value(term)


def _number(value: Value) -> Fraction:
    if value[0] != "number":
        raise _NoValue
    number: Fraction = value[1]
    return number


def _whole(value: Value) -> int:
    number = _number(value)
    if number.denominator != 1:
        raise _NoValue
    return int(number)


def _days_of(value: Value) -> tuple[datetime.date, datetime.date]:
    if value[0] != "date":
        raise _NoValue
    return value[1], value[2]


def _add(left: Value, right: Value, sign: int = 1) -> Value:
    match left[0], right[0]:
        case ("number", "number"):
            return ("number", left[1] + sign * right[1])
        case ("quantity", "quantity"):
            magnitude = converted(right[1], right[2], left[2])
            if magnitude is not None:
                return ("quantity", left[1] + sign * magnitude, left[2])
        case ("quantity", "number") if right[1] == 0:
            return left
        case ("number", "quantity") if left[1] == 0:
            return ("quantity", sign * right[1], right[2])
    raise _NoValue


def _multiply(left: Value, right: Value) -> Value:
    if right[0] == "quantity":
        left, right = right, left
    if left[0] == "quantity":
        return ("quantity", left[1] * _number(right), left[2])
    return ("number", _number(left) * _number(right))


def _divide(left: Value, right: Value) -> Value:
    match left[0], right[0]:
        case ("quantity", "quantity"):
            magnitude = converted(right[1], right[2], left[2])
            if magnitude is None:
                raise _NoValue
            return ("number", left[1] / magnitude)
        case ("quantity", _):
            return ("quantity", left[1] / _number(right), left[2])
    return ("number", _number(left) / _number(right))


def _on_magnitude(change: Callable[[Fraction], Any], value: Value) -> Value:
    if value[0] == "quantity":
        return ("quantity", Fraction(change(value[1])), value[2])
    return ("number", Fraction(change(_number(value))))


def _half_up(number: Fraction) -> int:
    size = (abs(number) + Fraction(1, 2)).__floor__()
    return size if number >= 0 else -size


def best_of(values: Sequence[Value], *, greatest: bool) -> Value:
    """Give the least or greatest of values whose order is determined."""
    best = values[0]
    for value in values[1:]:
        low, high = (best, value) if greatest else (value, best)
        if value == best:
            continue
        truth = compare("<=", low, high)
        if truth == TRUE:
            best = value
        elif truth == UNDETERMINED and compare("<=", high, low) != TRUE:
            raise _NoValue
    return best


def _part(read: Callable[[datetime.date], tuple[int, ...]], value: Value) -> Value:
    """Read a part of a date that is the same for all its days."""
    first, last = _days_of(value)
    if read(first) != read(last) or (last - first).days > 366:
        raise _NoValue
    return ("number", Fraction(read(first)[-1]))


def _later(day: datetime.date, months: int) -> datetime.date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return datetime.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _moved(move: Callable[[datetime.date, int], datetime.date], value: Value, by: Value) -> Value:
    first, last = _days_of(value)
    return ("date", move(first, _whole(by)), move(last, _whole(by)))


def _months_between(start: datetime.date, end: datetime.date) -> int:
    if start > end:
        return -_months_between(end, start)
    months = (end.year - start.year) * 12 + end.month - start.month
    return months - (_later(start, months) > end)


def _years_between(start: datetime.date, end: datetime.date) -> int:
    months = _months_between(start, end)
    return months // 12 if months >= 0 else -(-months // 12)


def _between(
    count: Callable[[datetime.date, datetime.date], int], start: Value, end: Value
) -> Value:
    (first, last), (other_first, other_last) = _days_of(start), _days_of(end)
    least = count(last, other_first)
    if least != count(first, other_last):
        raise _NoValue
    return ("number", Fraction(least))


def _edge_of_year(month: int, day: int, year: Value) -> Value:
    edge = datetime.date(_whole(year), month, day)
    return ("date", edge, edge)


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "+": _add,
    "*": _multiply,
    "/": _divide,
    "min": lambda *values: best_of(values, greatest=False),
    "max": lambda *values: best_of(values, greatest=True),
    "abs": lambda value: _on_magnitude(abs, value),
    "floor": lambda value: _on_magnitude(Fraction.__floor__, value),
    "ceil": lambda value: _on_magnitude(Fraction.__ceil__, value),
    "round": lambda value: _on_magnitude(_half_up, value),
    "year": lambda value: _part(lambda day: (day.year,), value),
    "month": lambda value: _part(lambda day: (day.year, day.month), value),
    "day": lambda value: _part(lambda day: (day.year, day.month, day.day), value),
    "week": lambda value: _part(lambda day: tuple(day.isocalendar())[:2], value),
    "days": lambda start, end: _between(lambda a, b: (b - a).days, start, end),
    "months": lambda start, end: _between(_months_between, start, end),
    "years": lambda start, end: _between(_years_between, start, end),
    "add_days": lambda value, by: _moved(lambda d, n: d + datetime.timedelta(n), value, by),
    "add_months": lambda value, by: _moved(_later, value, by),
    "add_years": lambda value, by: _moved(lambda d, n: _later(d, 12 * n), value, by),
    "earliest": lambda value: ("date", _days_of(value)[0], _days_of(value)[0]),
    "latest": lambda value: ("date", _days_of(value)[1], _days_of(value)[1]),
    "first_day": lambda year: _edge_of_year(1, 1, year),
    "last_day": lambda year: _edge_of_year(12, 31, year),
}


# ---------------------------------------------------------------- rules


class Literal:
    """A body literal made ready: what it is, and its text under bindings.

    `names` are the variables it shares with its clause: of an aggregate those of its result. An
    equation `defines` if one of its sides is a variable that no atom of the body holds: then it is
    true if both sides are the same value, elsewhere it compares.
    """

    __slots__ = ("conditions", "defines", "kind", "names", "sign", "text", "tree", "variables")

    def __init__(self, tree: Tree) -> None:
        ((self.kind, content),) = tree.items()
        self.tree: Tree = content
        self.sign = signature(content) if self.kind in ("positive", "absent") else ""
        self.variables = literal_variables(tree)
        self.names = self.variables
        self.defines = False
        self.conditions: list[Literal] = []
        self.text: Callable[[Mapping[str, str]], str]
        if self.kind == "positive":
            self.text = atom_writer(content)
        else:
            self.text = functools.partial(write_literal, tree)
        if self.kind == "absent":
            self.names = frozenset(name for name in self.variables if not _ANONYMOUS.match(name))
        elif self.kind == "aggregate":
            self.names = frozenset(expression_variables(content["result"]))
            self.conditions = read_body(content["conditions"])


_ANONYMOUS = re.compile(r"_[0-9]+\Z")


def read_body(trees: Sequence[Tree]) -> list[Literal]:
    """Make the literals of a body ready."""
    body = [Literal(tree) for tree in trees]
    held = held_names(body)
    for literal in body:
        if literal.kind == "comparison" and literal.tree["operator"] == "=":
            sides = (literal.tree["left"], literal.tree["right"])
            literal.defines = any(
                "variable" in side and side["variable"] not in held for side in sides
            )
    return body


def held_names(body: Sequence[Literal]) -> frozenset[str]:
    """Give the names that atoms of a body bind."""
    return frozenset[str]().union(*(item.names for item in body if item.kind == "positive"))


def atom_writer(tree: Tree) -> Callable[[Mapping[str, str]], str]:
    """Make a fast writer of one atom under bindings that hold all its variables."""
    names = [item["variable"] for item in tree["arguments"] if "variable" in item]
    marks = dict.fromkeys(names, "\x00")
    pattern = write_atom(tree, marks).replace("%", "%%").replace("\0", "%s")
    if not names:
        constant = write_atom(tree)
        return lambda _: constant
    getter = operator.itemgetter(*names)
    return lambda bindings: pattern % getter(bindings)


def expression_variables(tree: Tree) -> set[str]:
    """Give the names of the variables of an expression."""
    if "variable" in tree:
        return {tree["variable"]}
    found: set[str] = set()
    for item in tree.get("arguments", ()):
        found |= expression_variables(item)
    return found


def literal_variables(tree: Tree) -> frozenset[str]:
    """Give the names of all variables of a literal, also those local to it."""
    ((kind, content),) = tree.items()
    match kind:
        case "positive" | "absent":
            parts = content["arguments"]
        case "comparison":
            parts = [content["left"], content["right"]]
        case _:
            found = frozenset(expression_variables(content["result"]))
            for item in content["terms"]:
                found |= expression_variables(item)
            for item in content["conditions"]:
                found |= literal_variables(item)
            return found
    return frozenset().union(*(expression_variables(item) for item in parts))


class Rule:
    """A rule made ready. `variables` are those that a binding must give."""

    __slots__ = (
        *("body", "cite", "head", "head_names", "head_text", "id", "plans", "says", "sign", "text"),
        *("head_row", "tree", "variables"),
    )

    def __init__(
        self, name: str, tree: Tree, text: str, cite: str | None, says: str | None
    ) -> None:
        self.id, self.tree, self.text, self.cite, self.says = name, tree, text, cite, says
        self.head: Tree = tree["head"]
        self.sign = signature(self.head)
        self.head_text = atom_writer(self.head)
        self.head_names = frozenset(expression_variables(self.head))
        self.head_row = row_maker(self.head)
        self.body = read_body(tree["body"])
        self.variables = self.head_names.union(
            *(literal.names for literal in self.body if literal.kind != "absent")
        )
        self.plans: dict[frozenset[str], list[Planned]] = {}

    def plan(self, bound: Iterable[str]) -> list[Planned]:
        """Give the body in the order in which it is enumerated for a call that knows `bound`."""
        key = frozenset(bound)
        if key not in self.plans:
            self.plans[key] = ordered(self.body, set(key), self.head_names)
        return self.plans[key]


Bindings = dict[str, str]
"""Values of variables, as canonical terms."""


class Planned:
    """A body literal in its place, where the variables in `known` are bound.

    `assigns` is the variable a test computes, if it does. Of an aggregate, `shared` are the names
    it shares with its clause, `inner` its conditions. Of an atom, `bound` are the positions known
    beforehand, `fresh` the variables a row binds, `repeats` pairs of positions that must agree.
    """

    __slots__ = ("assigns", "bound", "call", "fresh", "inner", "literal", "repeats", "shared")

    def __init__(
        self,
        literal: Literal,
        known: set[str],
        *,
        assigns: str = "",
        shared: frozenset[str] = frozenset(),
        inner: tuple[Planned, ...] = (),
    ) -> None:
        self.literal, self.assigns, self.shared, self.inner = literal, assigns, shared, inner
        bound: list[int] = []
        fresh: dict[str, int] = {}
        repeats: list[tuple[int, int]] = []
        for position, item in enumerate(literal.tree.get("arguments", ())):
            name = item.get("variable")
            if name is None or name in known:
                bound.append(position)
            elif name in fresh:
                repeats.append((fresh[name], position))
            else:
                fresh[name] = position
        self.bound, self.repeats = tuple(bound), repeats
        self.fresh = list(fresh.items())
        self.call = row_maker(literal.tree, known)

    def extend(self, bindings: Bindings, row: Arguments) -> Bindings | None:
        """Bind what a row binds; None where a variable would have two values."""
        for first, second in self.repeats:
            if row[first] != row[second]:
                return None
        if not self.fresh:
            return bindings
        extended = bindings.copy()
        for name, position in self.fresh:
            extended[name] = row[position]  # type: ignore[assignment]  # rows are ground
        return extended


def row_maker(tree: Tree, known: set[str] | None = None) -> Callable[[Bindings], Arguments]:
    """Make a fast writer of the arguments of an atom; None for variables not in `known`."""
    items = tree.get("arguments", ())
    names = [item.get("variable") for item in items]
    if len(items) > 1 and all(name and (known is None or name in known) for name in names):
        return operator.itemgetter(*names)
    parts = [
        (name if known is None or name in known else "", None)
        if name
        else ("", write_term(item, _UNBOUND))
        for name, item in zip(names, items, strict=True)
    ]
    return lambda bindings: tuple([bindings[name] if name else text for name, text in parts])


def ordered(body: Sequence[Literal], bound: set[str], outer: frozenset[str]) -> list[Planned]:
    """Order a body: whatever only checks or computes as soon as it can.

    Of the atoms the first with a known variable is next, else the first with a constant, else the
    first. Any order would be sound; this one makes the calls that a witness lists.
    """
    waiting, plan, held = list(body), list[Planned](), held_names(body)
    while waiting:
        for literal in waiting:
            planned = _ready(literal, body, bound, held, outer)
            if planned is not None:
                break
        else:
            literal = min(waiting, key=lambda item: _rank(item, bound))
            planned = Planned(literal, bound)
        waiting.remove(literal)
        plan.append(planned)
        bound |= literal.names
    return plan


def _rank(literal: Literal, bound: set[str]) -> int:
    if literal.kind != "positive":
        return 4
    if literal.names & bound:
        return 0
    if any("variable" not in item for item in literal.tree["arguments"]):
        return 1
    return 3 if literal.sign == "under/2" else 2


def _ready(
    literal: Literal,
    body: Sequence[Literal],
    bound: set[str],
    held: frozenset[str],
    outer: frozenset[str],
) -> Planned | None:
    """Place a literal that can be checked or computed now."""
    free = literal.names - bound
    match literal.kind:
        case "comparison":
            if not free:
                return Planned(literal, bound)
            if literal.tree["operator"] != "=":
                return None
            for side, other in (("left", "right"), ("right", "left")):
                name = literal.tree[side].get("variable", "")
                if free == {name} and name not in held | expression_variables(literal.tree[other]):
                    return Planned(literal, bound, assigns=name)
            return None
        case "aggregate":
            inside = (
                literal.variables - literal.names
                | expression_variables_of(literal.tree["terms"])
                | frozenset().union(*(item.names for item in literal.conditions))
            )
            shared = frozenset(inside & outer.union(*(item.names for item in body)))
            if not shared <= bound:
                return None
            name = ""
            if free:
                name = literal.tree["result"].get("variable", "")
                if literal.tree["operator"] != "=" or not name or name in held:
                    return None
            inner = tuple(ordered(literal.conditions, set(shared), shared))
            return Planned(literal, bound, assigns=name, shared=shared, inner=inner)
    return None if free else Planned(literal, bound)


@dataclass(frozen=True)
class PolicyText:
    """A policy read from its text."""

    id: str
    version: str
    effective: str
    rules: dict[str, Rule]
    closed: dict[str, str]
    functional: frozenset[str]
    disjoint: frozenset[tuple[str, str]]
    has_precedence: bool
    uses: dict[str, frozenset[str]] = field(default_factory=dict)


_METADATA = re.compile(r"\s*([a-z]+)\s*:(?:\s+(.*))?\Z")


def read_metadata(lines: Sequence[tuple[int, str]]) -> dict[str, str | None]:
    """Read `key: value` lines; a value that is not one plain or quoted scalar gives None."""
    values: dict[str, str | None] = {}
    last = ""
    for _, line in lines:
        match = _METADATA.match(line)
        if match is None:
            if last and line.strip():
                values[last] = None  # continued over several lines: left to the reader
            continue
        last, value = match[1], (match[2] or "").strip()
        if value[:1] == '"':
            try:
                values[last] = str(json.loads(value)).strip()
            except ValueError:
                values[last] = None
        elif value[:1] == "'":
            plain = re.fullmatch(r"'((?:[^']|'')*)'", value)
            values[last] = plain[1].replace("''", "'").strip() if plain else None
        elif value[:1] in ("|", ">", "&", "*", "!", "[", "{", "") or " #" in value:
            values[last] = None
        else:
            values[last] = value
    return values


def normalized(text: str) -> str:
    """Drop a byte order mark and write every line end as one line feed."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _label(tree: Tree) -> str:
    label = tree.get("text", tree.get("symbol"))
    if not isinstance(label, str):
        raise Unreadable("a declaration holds names", 0)
    return label


_LINE_END = re.compile(r"[ \t\f]*\n\s*")


def _blank_comments(text: str, start: int, end: int) -> str:
    pieces, position = [], start
    while position < end:
        match = _TOKEN.match(text, position)
        assert match is not None
        stop = match.end()
        if match.lastgroup == "block":
            depth = 0
            for edge in _BLOCK_EDGE.finditer(text, position):
                depth += 1 if edge[0] == "%*" else -1
                stop = edge.end()
                if not depth:
                    break
        blank = match.lastgroup in ("block", "comment", "metadata")
        pieces.append(" " * (stop - position) if blank else text[position:stop])
        position = stop
    return _LINE_END.sub(" ", "".join(pieces))


@functools.lru_cache(maxsize=64)
def read_policy(text: str) -> PolicyText:
    """Read a whole policy text; raises Unreadable."""
    reader = Reader(text)
    found: list[Rule] = []
    closed: dict[str, str] = {}
    functional, disjoint = set(), set()
    has_precedence = False
    header: dict[str, str | None] = {}
    taken = 0
    while True:
        blocks: list[list[tuple[int, str]]] = []
        for line in reader.metadata[taken:]:
            if blocks and text.count("\n", blocks[-1][-1][0], line[0]) == 1:
                blocks[-1].append(line)
            else:
                blocks.append([line])
        taken = len(reader.metadata)
        own: dict[str, str | None] = {}
        for block in map(read_metadata, blocks):
            if "policy" in block:
                header = block
            else:
                own = block
        if reader.kind == "end":
            break
        start = reader.start
        name = reader.token
        if reader.kind == "name" and name in ("closed", "functional", "disjoint", "precedence"):
            tree = reader.expression()
            reader.expect(".")
            items = tree.get("arguments", [])
            if name == "closed":
                division = items[0].get("arguments", [])
                sign = "-" if "operation" in division[0] else ""
                symbol = division[0]["arguments"][0] if sign else division[0]
                closed[f"{sign}{_label(symbol)}/{division[1]['number']}"] = _label(items[1])
            elif name == "functional":
                functional.add(_label(items[0]))
            elif name == "disjoint":
                disjoint.add((_label(items[0]), _label(items[1])))
            else:
                has_precedence = True
            continue
        clause = reader.statement()
        rule_text = _blank_comments(text, start, reader.end)
        rule = Rule(
            own.get("rule") or "", clause, rule_text, own.get("cite", ""), own.get("says", "")
        )
        found.append(rule)
    rules = name_rules(found)
    uses: dict[str, set[str]] = {}
    for rule in rules.values():
        below = uses.setdefault(rule.sign, set())
        for literal in rule.body:
            below.update(literal_signatures(literal))
    return PolicyText(
        header.get("policy") or "",
        header.get("version", "0") or "",
        header.get("effective", "../..") or "",
        rules,
        closed,
        frozenset(functional),
        frozenset(disjoint),
        has_precedence,
        {sign: frozenset(below) for sign, below in uses.items()},
    )


def name_rules(found: Sequence[Rule]) -> dict[str, Rule]:
    """Give rules by id; a rule without one is `PREDICATE.N`."""
    taken = {rule.id for rule in found if rule.id}
    ordinals: dict[str, int] = {}
    rules = {}
    for rule in found:
        while not rule.id:
            predicate = rule.sign.rpartition("/")[0]
            ordinals[predicate] = ordinals.get(predicate, 0) + 1
            name = f"{predicate}.{ordinals[predicate]}"
            rule.id = name if name not in taken else ""
        if rule.id in rules:
            raise Unreadable(f"two rules are named {rule.id!r}", 0)
        rules[rule.id] = rule
    return rules


def identity_rule(sign: str) -> Rule:
    """Give the rule by which what holds of one name holds of the entity's other names."""
    name, _, arity = sign.rpartition("/")
    others = "".join(f", V{number}" for number in range(1, int(arity)))
    text = f"{name}(X{others}) :- alias(X, Y), {name}(Y{others})."
    says = "What is stated of {Y} holds of {X}: both name one entity"
    tree = Reader(text).statement()
    return Rule(f"{IDENTITY}{sign}", tree, text, "Proofweave prelude, identity", says)


def value_rule(name: str) -> Rule:
    """Give a rule by which one value of a dimension excludes another."""
    kind = next(kind for kind in VALUE_RULES if name.startswith(kind))
    dimension = name.removeprefix(kind).removesuffix("/2")
    if not re.fullmatch(r"_*[a-z][A-Za-z0-9_]*", dimension, re.ASCII):
        raise ValueError(name)
    text, says = (part.format(d=dimension) for part in VALUE_RULES[kind])
    tree = Reader(text).statement()
    return Rule(f"{kind}{dimension}/2", tree, text, "Proofweave prelude, meet", says)


def literal_signatures(literal: Literal) -> Iterator[str]:
    """Yield the signatures that a body literal reads."""
    if literal.sign:
        yield literal.sign
    for item in literal.tree.get("conditions", ()):
        for kind in ("positive", "absent"):
            if kind in item:
                yield signature(item[kind])


# ---------------------------------------------------------------- how long a rule instance holds

_GROWING = frozenset(
    (
        *("min", "max", "floor", "ceil", "round", "year", "earliest", "latest", "first_day"),
        *("last_day", "add_days", "add_months", "add_years", "+"),
    )
)
Days = tuple[datetime.date | None, datetime.date | None]


class DayTests:
    """The tests of a rule instance that depend on the day, which goes into tests only.

    `moves` holds for each variable that depends on the day whether it grows (1) or shrinks (-1) as
    days go by; `definitions` are computed anew for each day.
    """

    def __init__(self, rule: Rule, bindings: Mapping[str, str]) -> None:
        self.bindings = bindings
        self.days = {
            literal.tree["arguments"][0].get("variable", "")
            for literal in rule.body
            if literal.kind == "positive" and literal.sign == "valid_on/1"
        }
        self.moves: dict[str, int | None] = dict.fromkeys(self.days, 1)
        self.definitions: list[Planned] = []
        self.tests: list[Literal] = []
        bound = set[str]().union(
            *(item.names for item in rule.body if item.kind in ("positive", "aggregate"))
        )
        comparisons = [item for item in rule.body if item.kind == "comparison"]
        for planned in ordered(comparisons, bound, rule.head_names):
            literal = planned.literal
            if self.moves.keys().isdisjoint(literal.variables):
                continue
            if planned.assigns:
                self.definitions.append(planned)
                tree = literal.tree
                is_left = tree["left"].get("variable") == planned.assigns
                self.moves[planned.assigns] = self.move(tree["right" if is_left else "left"])
            else:
                self.tests.append(literal)
        self.flows = (
            "" in self.days
            or None in self.moves.values()
            or not rule.head_names.isdisjoint(self.moves)
            or any(
                not literal.variables.isdisjoint(self.moves)
                for literal in rule.body
                if literal.kind != "comparison" and literal.sign != "valid_on/1"
            )
        )

    def move(self, tree: Tree) -> int | None:
        """Tell how a value moves as days go by; None if that is not known."""
        if "variable" in tree:
            return self.moves.get(tree["variable"], 0)
        if self.moves.keys().isdisjoint(expression_variables(tree)):
            return 0
        name, arguments = tree["operation"], tree["arguments"]
        inner = [self.move(item) for item in arguments]
        if None in inner:
            return None
        numbers = [move or 0 for move in inner]
        if name in ("days", "months", "years", "year") and not all(map(self._is_exact, arguments)):
            return None
        if name in ("days", "months", "years"):
            numbers[0] = -numbers[0]
        elif name == "-":
            numbers[-1] = -numbers[-1]
        elif name in ("*", "/"):
            fixed = 1 if numbers[1] == 0 else 0
            if numbers[fixed] or (name == "/" and not fixed):
                return None
            value = evaluate(arguments[fixed], self.bindings)
            if value is None or value[0] not in ("number", "quantity") or not value[1]:
                return None
            sign = 1 if value[1] > 0 else -1
            return sign * numbers[1 - fixed]
        elif name not in _GROWING:
            return None
        moving = set(numbers) - {0}
        return moving.pop() if len(moving) == 1 else None

    def _is_exact(self, tree: Tree) -> bool:
        if not self.moves.keys().isdisjoint(expression_variables(tree)):
            return True
        value = evaluate(tree, self.bindings)
        return value is None or value[0] != "date" or value[1] == value[2]

    def holds(self, literal: Literal, day: datetime.date) -> bool:
        """Whether a test is true on another day."""
        term = write_value(("date", day, day))
        changed = {**self.bindings, **dict.fromkeys(self.days, term)}
        for planned in self.definitions:
            value = computed(planned, changed)
            if value is None:
                return False
            changed[planned.assigns] = value
        return comparison_truth(literal, changed) == TRUE


def days_around(rule: Rule, bindings: Mapping[str, str], day: datetime.date) -> Days | None:
    """Give the days around one on which a rule instance holds as it does; None if only that day.

    Each test must be one that changes once as days go by; the change is found by bisection.
    """
    tests = DayTests(rule, bindings)
    if tests.flows:
        return None
    starts: list[datetime.date] = []
    ends: list[datetime.date] = []
    for literal in tests.tests:
        left, right = tests.move(literal.tree["left"]), tests.move(literal.tree["right"])
        sign = literal.tree["operator"]
        if left is None or right is None or sign in ("=", "!="):
            return None
        if sign in (">", ">="):
            left, right = right, left
        if left <= 0 <= right:
            limit = datetime.date.min
        elif right <= 0 <= left:
            limit = datetime.date.max
        else:
            return None
        if tests.holds(literal, limit):
            continue
        near, far = day.toordinal(), limit.toordinal()
        while abs(far - near) > 1:
            middle = (near + far) // 2
            if tests.holds(literal, datetime.date.fromordinal(middle)):
                near = middle
            else:
                far = middle
        if limit == datetime.date.min:
            starts.append(datetime.date.fromordinal(near))
        else:
            ends.append(datetime.date.fromordinal(near + 1))
    return max(starts, default=None), min(ends, default=None)


# ---------------------------------------------------------------- calls with complete answers


class Calls:
    """Rows by signature, found again by any pattern of bound arguments."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[Arguments, bool]] = {}
        self._indexes: dict[tuple[str, tuple[int, ...]], dict[object, list[Arguments]]] = {}

    def add(self, sign: str, row: Arguments, *, certain: bool = True) -> bool:
        """Add a row; False if it was there already."""
        rows = self.rows.setdefault(sign, {})
        if row in rows:
            return False
        rows[row] = certain
        for (other, bound), index in self._indexes.items():
            if other == sign:
                key = row[bound[0]] if len(bound) == 1 else tuple([row[i] for i in bound])
                index.setdefault(key, []).append(row)
        return True

    def matching(
        self, sign: str, call: Arguments, bound: tuple[int, ...] | None = None
    ) -> Sequence[Arguments]:
        """Give the rows that agree with the bound arguments of a call, in order of addition."""
        rows = self.rows.get(sign)
        if not rows:
            return ()
        if bound is None:
            bound = tuple(i for i, item in enumerate(call) if item is not None)
        if len(bound) == len(call):
            return (call,) if call in rows else ()
        if not bound:
            return list(rows)
        single = bound[0] if len(bound) == 1 else None
        index = self._indexes.get((sign, bound))
        if index is None:
            index = {}
            for row in rows:
                key = row[single] if single is not None else tuple([row[i] for i in bound])
                index.setdefault(key, []).append(row)
            self._indexes[sign, bound] = index
        wanted = call[single] if single is not None else tuple([call[i] for i in bound])
        return index.get(wanted, ())


def extend(tree: Tree, bindings: dict[str, str], row: Arguments) -> dict[str, str] | None:
    """Bind the variables of an atom to a row; None where they disagree."""
    extended = bindings
    for item, value in zip(tree["arguments"], row, strict=True):
        if "variable" in item:
            name = item["variable"]
            known = extended.get(name)
            if known is None:
                if extended is bindings:
                    extended = dict(bindings)
                extended[name] = str(value)
            elif known != value:
                return None
    return extended


def unify_head(head: Tree, call: Arguments) -> dict[str, str] | None:
    """Bind a head to a call; None where they cannot agree."""
    bindings: dict[str, str] = {}
    for item, value in zip(head["arguments"], call, strict=True):
        if value is None:
            continue
        if "variable" in item:
            if bindings.setdefault(item["variable"], value) != value:
                return None
        elif write_term(item, _UNBOUND) != value:
            return None
    return bindings


def by_first_constant(rules: Sequence[Rule]) -> Callable[[str], Sequence[Rule]]:
    """Give a look-up of the rules whose head can have a value as its first argument, in order."""
    constants: dict[str, list[int]] = {}
    others: list[int] = []
    for place, rule in enumerate(rules):
        items = rule.head["arguments"]
        if items and "variable" not in items[0]:
            constants.setdefault(write_term(items[0], _UNBOUND), []).append(place)
        else:
            others.append(place)

    def find(value: str) -> Sequence[Rule]:
        return [rules[place] for place in sorted([*constants.get(value, ()), *others])]

    return find


@dataclass
class Call:
    """A call of the witness: a pattern with its complete answers."""

    sign: str
    pattern: Arguments
    answers: Calls
    basis: str
    where: str
    is_used: bool = False


# ---------------------------------------------------------------- sources


class Texts:
    """Decoded texts by digest; what has been checked or read once is kept.

    `texts` maps the digest of a decoded text to the text itself. `tables` are tables that are at
    hand by file name, each with the digest of its source: declarations that name one are held
    against it even where the certificate does not cite it. `originals` are the digests of sources
    whose bytes were decoded here.
    """

    def __init__(
        self,
        texts: Mapping[str, str],
        tables: Mapping[str, tuple[str, str]] | None = None,
        originals: Iterable[str] = (),
    ) -> None:
        self._texts = texts
        self.tables = tables or {}
        self.originals = frozenset(originals)
        self._checked: set[str] = set()
        self._facts: dict[str, tuple[Calls, dict[tuple[int, int], Ground]]] = {}

    def text(self, source: str, record: Mapping[str, str]) -> str:
        """Give the text of a source; the digest is checked the first time."""
        digest = record["text_sha256"]
        text = self._texts.get(digest)
        if text is None:
            reject("SOURCE_MISSING", f"sources/{source}", f"no text with the digest {digest}")
        if digest not in self._checked:
            if hashlib.sha256(text.encode()).hexdigest() != digest:
                reject("SOURCE_MISMATCH", f"sources/{source}", "the text has another digest")
            self._checked.add(digest)
        return text

    def facts(self, source: str, record: Mapping[str, str]) -> Calls:
        """Read a facts file again, whole."""
        return self._read(source, record)[0]

    def fact_at(
        self, source: str, record: Mapping[str, str], span: tuple[int, int]
    ) -> Ground | None:
        """Give the fact that a span of a facts file is, its stop included."""
        return self._read(source, record)[1].get(span)

    def _read(
        self, source: str, record: Mapping[str, str]
    ) -> tuple[Calls, dict[tuple[int, int], Ground]]:
        digest = record["text_sha256"]
        if digest not in self._facts:
            self._facts[digest] = read_facts(self.text(source, record), source)
        return self._facts[digest]


_FACT_TERM = (
    r'"(?:[^"\\\n]|\\[^\n])*"|@(?:decimal|date|quantity)\("[^"\\\n]*"\)|-?[0-9]+'
    r"|(?!not\b)[a-z][A-Za-z0-9_]*"
)
_PLAIN_FACT = re.compile(
    rf"\s*(-?(?!not\b)[a-z][A-Za-z0-9_]*)"
    rf"(?:\(\s*((?:{_FACT_TERM})(?:\s*,\s*(?:{_FACT_TERM}))*)\s*\))?\s*\.(?![.0-9])",
    re.ASCII,
)
_FACT_ARGUMENTS = re.compile(_FACT_TERM, re.ASCII)


def read_facts(text: str, source: str) -> tuple[Calls, dict[tuple[int, int], Ground]]:
    """Read all facts of a text, also by their spans: plain ones fast, others by the full reader."""
    found, places = Calls(), dict[tuple[int, int], Ground]()
    terms: dict[str, str] = {}
    position = 0
    while True:
        match = _PLAIN_FACT.match(text, position)
        if match is not None:
            row = _plain_row(match[2], terms)
            if row is not None:
                sign = f"{match[1]}/{len(row)}"
                found.add(sign, row)
                places[match.start(1), match.end()] = sign, row
                position = match.end()
                continue
        try:
            reader = Reader(text, position)
            start = reader.start
            if reader.kind == "end":
                return found, places
            tree = reader.atom(reader.expression())
            if None in arguments(tree):
                raise Unreadable("it holds a variable", reader.start)
            reader.expect(".")
        except Unreadable as error:
            line = text.count("\n", 0, error.position) + 1
            reject("SOURCE_MISMATCH", f"sources/{source}", f"line {line} is no fact: {error}")
        found.add(signature(tree), arguments(tree))
        places[start, reader.end] = signature(tree), arguments(tree)
        position = reader.end


def _plain_row(written: str | None, terms: dict[str, str]) -> Arguments | None:
    """Give the arguments of a plain fact in canonical form; None if one is in no form at all."""
    row: list[str] = []
    for term in _FACT_ARGUMENTS.findall(written) if written else ():
        known = terms.get(term)
        if known is None:
            try:
                known = terms[term] = write_value(read_value(term))
            except ValueError:
                return None
        row.append(known)
    return tuple(row)


TABLE_TYPES = ("text/csv", "text/tab-separated-values")


def is_named(title: str, label: str) -> bool:
    """Whether a declaration means a table: by its title, or by its file name."""
    return label in (title, f"{title}.csv", f"{title}.tsv")


def table_spans(text: str, sign: str, call: Arguments) -> set[tuple[int, int]] | None:
    """Give the spans of the table rows that answer a call to a dimension, from the text alone.

    The first column names the entity, the header the dimensions; an empty cell states nothing. None
    where the table cannot be read like this, or the call asks for more than names.
    """
    name, _, arity = sign.rpartition("/")
    if arity not in ("2", "3") or name.startswith("-") or (arity == "3" and call[2]):
        return None
    wanted = [None if term is None else read_value(term) for term in call[:2]]
    if any(value is not None and value[0] != "text" for value in wanted):
        return None
    delimiter = delimiter_of(text)
    header: list[str] | None = None
    column, spans = 0, set[tuple[int, int]]()
    for start, end, cells in table_rows(text, delimiter):
        cells = [cell.strip() for cell in cells]
        if not any(cells):
            continue
        if header is None:
            header = [_column_name(cell) for cell in cells]
            if name not in header[1:]:
                return None
            column = header.index(name, 1)
            continue
        if len(cells) != len(header) or not cells[0] or not cells[column]:
            continue
        shown = (cells[0], cells[column])
        if all(
            value is None or value[1] == cell for value, cell in zip(wanted, shown, strict=True)
        ):
            spans.add((start, end))
    return spans if header is not None else None


def delimiter_of(text: str) -> str:
    """Give the delimiter that the first line of a table holds most often."""
    line = text.lstrip("\n").partition("\n")[0]
    return max((",", ";", "\t", "|"), key=line.count)


def table_rows(text: str, delimiter: str) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the rows of a table with their spans, without the line end; quotation as RFC 4180."""
    position = 0
    cells: list[str]
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if delimiter in (",", ";"):
            while text.count('"', position, end) % 2 and end < len(text):
                end = text.find("\n", end + 1)
                end = len(text) if end < 0 else end
            try:
                cells = next(csv.reader([text[position:end]], delimiter=delimiter), [])
            except csv.Error:
                cells = []  # no row; it states nothing
        else:
            cells = text[position:end].split(delimiter)
        yield position, end, cells
        position = end + 1


def _column_name(header: str) -> str:
    if re.fullmatch(r"[a-z][A-Za-z0-9_]*", header):
        return header
    return re.sub(r"[\W_]+", "_", header.lower()).strip("_")


_HIDDEN_MARKDOWN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<tag>del|s|strike|script|style|template)\b[^>]*>.*?(?:</(?P=tag)\s*>|\Z)"
    r"|~~(?=\S)(?:(?!\n\n).)+?~~"
    r"|^[ ]{0,3}\[(?://|comment)\]:.*?$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)


def decoded(data: bytes, decoder: str) -> str | None:
    """Decode a file as a decoder that needs no library does; None where this gives no text."""
    name = decoder.partition("/")[0]
    if name not in NATIVE_DECODERS:
        return None
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return None
    try:
        text = normalized(data.decode())
    except UnicodeDecodeError:
        return None
    if name == "markdown":
        return _HIDDEN_MARKDOWN.sub("\n\n", text)
    if name != "passages-json":
        return text
    try:
        items = json.loads(text)
        items = items if isinstance(items, list) else [items]
        return "".join(normalized(f"{item['title']}\n{item['text']}") + "\n\n" for item in items)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


NATIVE_DECODERS = frozenset(("text", "table", "facts", "markdown", "passages-json"))
"""Decoders that the checker has itself."""
_DECODERS_BY_ENDING = {
    **dict.fromkeys((".csv", ".tsv", ".lp", ".facts"), ("text", "table", "facts")),
    **dict.fromkeys((".txt", ".text"), ("text", "table", "facts", "markdown")),
    **dict.fromkeys((".md", ".markdown"), ("markdown",)),
    ".json": ("passages-json",),
}


def is_decoder_of(file: Path, decoder: str) -> bool:
    """Whether a file of this name can be decoded so: a name that says its kind is believed."""
    endings = [item.lower() for item in file.suffixes if item.lower() != ".gz"]
    known = _DECODERS_BY_ENDING.get(endings[-1] if endings else "")
    return known is None or decoder.partition("/")[0] in known


class Folder(Mapping[str, str]):
    """Texts from a folder with original files, or decoded texts under any name.

    Every file is hashed; names do not matter. Originals win only through their own digest.
    """

    def __init__(self, path: Path, sources: Mapping[str, Mapping[str, str]]) -> None:
        self._found: dict[str, str] = {}
        self.tables: dict[str, tuple[str, str]] = {}
        self.originals: set[str] = set()
        wanted = {record["text_sha256"] for record in sources.values()}
        for file in sorted(item for item in path.rglob("*") if item.is_file()):
            try:
                data = file.read_bytes()
            except OSError:
                continue  # a source that is needed will be missed
            digest = hashlib.sha256(data).hexdigest()
            if digest in sources:
                self._take(file, data, f"sources/{digest}", sources[digest])
            if digest in wanted and digest not in self._found:
                try:
                    self._found[digest] = data.decode()
                except UnicodeDecodeError:
                    continue  # no text, so nothing is quoted from it
            if file.suffix.lower() in (".csv", ".tsv"):
                text = decoded(data, "table/1")
                if text is not None:
                    self.tables.setdefault(file.name, (digest, text))

    def _take(self, file: Path, data: bytes, where: str, record: Mapping[str, str]) -> None:
        """Decode an original as the certificate says, if the checker knows how."""
        decoder, target = record["decoder"], record["text_sha256"]
        if not is_decoder_of(file, decoder):
            reject("SOURCE_MISMATCH", where, f"{file.name} is not read by {decoder}")
        text = decoded(data, decoder)
        if text is not None and hashlib.sha256(text.encode()).hexdigest() == target:
            self._found[target] = text
            self.originals.add(hashlib.sha256(data).hexdigest())
        elif decoder.partition("/")[0] in NATIVE_DECODERS:
            reject(
                "SOURCE_MISMATCH",
                where,
                "the original decodes to another text than the certificate says",
            )

    def __getitem__(self, digest: str) -> str:
        return self._found[digest]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


# ---------------------------------------------------------------- the examination


@dataclass(frozen=True)
class Report:
    """What came out: what was checked, what is trusted, what was not given."""

    valid: bool
    rejection: str = ""
    where: str = ""
    message: str = ""
    verdict: str = ""
    code: str | None = None
    goal: str = ""
    valid_on: str | None = None
    answers: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    not_given: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 if valid, else the number of the rejection class."""
        return 0 if self.valid else REJECTIONS[self.rejection]


RULE_KEYS = frozenset(("id", "kind", "conclusion", "premises", "rule", "bindings"))
STATEMENT_KEYS = frozenset(("id", "kind", "conclusion", "premises", "statement"))
PLAIN_KEYS = frozenset(("id", "kind", "conclusion", "premises"))
STEP_KEYS = {
    "rule": (RULE_KEYS,),
    "identity": (RULE_KEYS, PLAIN_KEYS),
    "subsumption": (RULE_KEYS,),
    "meet": (RULE_KEYS,),
    "stated": (STATEMENT_KEYS,),
    "provenance": (STATEMENT_KEYS,),
    **dict.fromkeys(
        ("request", "assumed", "declared", "comparison", "arithmetic", "conversion", "closed"),
        (PLAIN_KEYS,),
    ),
}
"""Kinds of steps with the fields they have."""

_ATOM_STATEMENT = frozenset(("atom", "evidence"))
_STATEMENT = frozenset(("subject", "dimension", "value", "polarity", "validity", "evidence"))
_EVIDENCE = frozenset(("source_sha256", "text_sha256", "start", "end", "quote", "extractor"))
_CODES = (
    "BUDGET",
    "CONFLICT",
    "UNDETERMINED",
    "UNVERIFIED_ENTITY",
    "GAP_IN_EXTRACTION",
    "GAP_IN_CORPUS",
    "OUT_OF_SCOPE",
    "EXCLUDED",
)
_CLAUSE_FIELDS = frozenset(
    (
        *("head", "body", "predicate", "negated", "arguments", "variable", "text", "number"),
        *("date", "quantity", "symbol", "operation", "positive", "absent", "comparison"),
        *("operator", "left", "right", "aggregate", "result", "function", "terms", "conditions"),
    )
)
_COMPUTED = {"valid_on/1": "request", "stated_in/2": "provenance", "same_name/2": "identity"}
_ALWAYS_CLOSED = frozenset(("valid_on/1", "stated_in/2"))


def day_after(day: datetime.date) -> datetime.date | None:
    """Give the next day; None after the last of the calendar."""
    return None if day == datetime.date.max else day + datetime.timedelta(days=1)


def read_day(text: str | None, where: str) -> datetime.date | None:
    """Read a day in its one form, or null."""
    if text is None:
        return None
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        reject("STRUCTURE", where, f"{text!r} is no day")
    if day.isoformat() != text:
        reject("STRUCTURE", where, f"{text!r} is no day in the form YYYY-MM-DD")
    return day


class Examination:
    """One certificate under examination; each method checks one section and may reject."""

    def __init__(self, data: bytes, texts: Texts | None) -> None:
        self.certificate = read_canonical(data)
        self.texts = texts
        self.checked: list[str] = []
        self.trusted: list[str] = []
        self.not_given: list[str] = []
        self.terms: set[str] = set()
        self.ground: dict[str, Ground] = {}
        self.policies: list[PolicyText] = []
        self.rules: dict[str, Rule] = {}
        self.rules_by_sign: dict[str, list[Rule]] = {}
        self.conclusions: dict[str, tuple[str, ...]] = {}
        self.atoms: dict[str, str] = {}
        self.claims: dict[str, tuple[str, str]] = {}
        self.truths: dict[str, bool] = {}
        self.calls: dict[str, dict[tuple[int, ...], dict[Arguments, Call]]] = {}
        self.demands: list[Call] = []
        self.lookups: list[Call] = []
        self.masked: set[Ground] = set()
        self.undetermined: set[str] = set()
        self.identity_rules: list[Rule] = []
        self.reading: dict[Ground, None] = {}
        self.reads: dict[Ground, list[Ground]] = {}
        self.closed_reads: dict[Ground, None] = {}
        self.closed_memo: dict[str, bool] = {}
        self.unknown_signs: set[str] = set()
        self.lacking_memo: dict[str, bool] = {}
        self.renaming: bool | None = None
        self.closed_used: set[str] = set()
        self.out_of_scope = False
        self.used_sources: set[str] = set()
        self.lookup_sources: set[str] = set()
        self.aggregate_results: dict[str, str] = {}
        self.used_rules: set[str] = set()
        self.rows_of_tables: dict[str, tuple[list[str], dict[tuple[int, int], list[str]]]] = {}

    def run(self, expect_policy: str | None, expect_goal: str | None) -> Report:
        """Check everything, in the order of the sections."""
        certificate = self.certificate
        check_shape(certificate, SHAPE, "")
        if certificate["format"] != FORMAT:
            reject("FORMAT_VERSION", "format", f"{certificate['format']!r} is not {FORMAT!r}")
        self.valid_on = read_day(certificate["valid_on"], "valid_on")
        self.check_policies(expect_policy)
        self.check_goal(expect_goal)
        self.check_statements()
        self.check_sources()
        self.read_witness()
        self.check_prelude()
        self.check_steps()
        self.check_calls()
        self.check_verdict()
        self.check_use()
        self.check_minimality()
        return Report(
            valid=True,
            verdict=certificate["verdict"],
            code=certificate["code"],
            goal=certificate["goal"],
            valid_on=certificate["valid_on"],
            answers=tuple(answer["atom"] for answer in certificate["answers"]),
            checked=tuple(self.checked),
            trusted=tuple(self.trusted),
            not_given=tuple(self.not_given),
        )

    # ------------------------------------------------------------ policies and goal

    def check_policies(self, expected: str | None) -> None:
        """Compare policies with their digests and rules with what the policies say."""
        certificate = self.certificate
        digests = []
        for index, record in enumerate(certificate["policies"]):
            where = f"policies/{index}"
            if hashlib.sha256(record["text"].encode()).hexdigest() != record["digest"]:
                reject("POLICY_MISMATCH", where, "the text of the policy has another digest")
            try:
                policy = read_policy(record["text"])
            except (Unreadable, KeyError, IndexError, TypeError) as error:
                reject("POLICY_MISMATCH", where, f"the policy cannot be read: {error}")
            for name in ("id", "version", "effective"):
                stated = getattr(policy, name)
                if stated and stated != record[name]:
                    reject("POLICY_MISMATCH", f"{where}/{name}", f"the policy says {stated!r} here")
            digests.append(record["digest"])
            self.policies.append(policy)
            for rule in policy.rules.values():
                self.rules_by_sign.setdefault(rule.sign, []).append(rule)
            self._check_effective(record["effective"], where)
        if digests != sorted(set(digests)):
            reject("NOT_CANONICAL", "policies", "policies are not sorted by digest, or repeated")
        if expected is not None:
            if expected not in digests:
                reject("POLICY_MISMATCH", "policies", f"no policy has the digest {expected}")
            for digest in digests:
                if digest not in (expected, PRELUDE_SHA256):
                    reject("POLICY_MISMATCH", "policies", f"the policy {digest} is not expected")
            self.checked.append("the policy is the expected one")
        else:
            self.not_given.append("the digest of the expected policy")
        for name, record in certificate["rules"].items():
            self._check_rule(name, record)
        for rule in self.identity_rules:
            self.rules_by_sign.setdefault(rule.sign, []).append(rule)
        self.checked.append("the rules are as the texts of the policies state them")

    def check_prelude(self) -> None:
        """Ask for the prelude where the witness calls one of its predicates."""
        if PRELUDE_HEADS.isdisjoint(self.calls):
            return
        if all(record["digest"] != PRELUDE_SHA256 for record in self.certificate["policies"]):
            reject("WITNESS_INCOMPLETE", "policies", "the witness needs the rules of the prelude")

    def _check_effective(self, effective: str, where: str) -> None:
        start, slash, end = effective.partition("/")
        if not slash:
            reject("STRUCTURE", where, f"{effective!r} is no interval")
        first = None if start == ".." else read_day(start, where)
        last = None if end == ".." else read_day(end, where)
        day = self.valid_on
        outside = day is not None and bool(
            (first is not None and day < first) or (last is not None and day >= last)
        )
        if outside and self.certificate["code"] != "OUT_OF_SCOPE":
            reject("POLICY_MISMATCH", where, f"the policy does not apply on {day}")
        self.out_of_scope = self.out_of_scope or outside

    def _check_rule(self, name: str, record: dict[str, Any]) -> None:
        where = f"rules/{name}"
        waiting = [record["clause"]]
        while waiting:
            tree = waiting.pop()
            if isinstance(tree, dict):
                for key in tree:
                    if key not in _CLAUSE_FIELDS:
                        reject("UNKNOWN_FIELD", where, f"{key!r} is no field of a clause")
                waiting.extend(tree.values())
            elif isinstance(tree, list):
                waiting.extend(tree)
        for policy in self.policies:
            rule = policy.rules.get(name)
            if rule is None:
                continue
            if rule.tree != record["clause"]:
                reject("RULE_MISMATCH", where, "the policy states this rule differently")
            if rule.text != record["text"]:
                reject("RULE_MISMATCH", f"{where}/text", "the policy words this rule differently")
            for field_name in ("cite", "says"):
                stated = getattr(rule, field_name)
                if stated is not None and stated != record[field_name]:
                    reject(
                        "RULE_MISMATCH", f"{where}/{field_name}", "the policy says something else"
                    )
            self.rules[name] = rule
            return
        if name.startswith(IDENTITY):
            self._check_identity_rule(name, record, where)
            return
        if name.startswith(tuple(VALUE_RULES)):
            self._check_value_rule(name, record, where)
            return
        reject("RULE_MISMATCH", where, "no policy of the certificate has this rule")

    def _check_identity_rule(self, name: str, record: dict[str, Any], where: str) -> None:
        """Compare a rule that carries a predicate over to other names of an entity."""
        try:
            rule = identity_rule(name.removeprefix(IDENTITY))
        except (ValueError, Unreadable):
            reject("RULE_MISMATCH", where, f"{name!r} names no identity rule")
        stated = {"clause": rule.tree, "text": rule.text, "cite": rule.cite, "says": rule.says}
        if stated != record:
            reject("RULE_MISMATCH", where, "an identity rule has another form")
        if rule.sign in self.rules_by_sign or rule.sign in NEVER_RENAMED:
            reject("RULE_MISMATCH", where, f"{rule.sign} is not carried over to other names")
        self.rules[name] = rule
        self.identity_rules.append(rule)

    def _check_value_rule(self, name: str, record: dict[str, Any], where: str) -> None:
        """Compare a rule by which one value of a dimension excludes another."""
        try:
            rule = value_rule(name)
        except (ValueError, Unreadable):
            reject("RULE_MISMATCH", where, f"{name!r} names no rule about values")
        stated = {"clause": rule.tree, "text": rule.text, "cite": rule.cite, "says": rule.says}
        if stated != record:
            reject("RULE_MISMATCH", where, "a rule about values has another form")
        self.rules[name] = rule
        self.identity_rules.append(rule)

    def check_goal(self, expected: str | None) -> None:
        """Read the goal and compare it with the expected one, up to names of variables."""
        goal = self.certificate["goal"]
        try:
            self.goal_sign, self.goal, tree = read_atom(goal)
            names = (item.get("variable", "") for item in tree["arguments"])
            written = write_atom(tree, {name: "_" for name in names if _ANONYMOUS.match(name)})
            if written != goal:
                reject("NOT_CANONICAL", "goal", f"the canonical form is {written}")
            if expected is not None:
                other = read_atom(expected)[2]
                if write_atom(_renamed(other)) != write_atom(_renamed(tree)):
                    reject("GOAL_MISMATCH", "goal", f"the goal is {goal}, expected {expected}")
                self.checked.append("the goal is the expected one")
            else:
                self.not_given.append("the text of the expected goal")
        except Unreadable as error:
            reject("GOAL_MISMATCH", "goal", f"the goal cannot be read: {error}")
        self.goal_tree = tree
        self.is_ground = None not in self.goal

    # ------------------------------------------------------------ statements and sources

    def check_statements(self) -> None:
        """Compare statements with their identifiers, and find out what each concludes."""
        for name, record in self.certificate["statements"].items():
            where = f"statements/{name}"
            if not isinstance(record, dict):
                reject("STRUCTURE", where, "expected an object")
            keys = record.keys()
            if keys == _ATOM_STATEMENT:
                atom = record["atom"]
                digest = hashlib.sha256(atom.encode()).hexdigest()
                self.conclusions[name] = (atom,)
                self.check_atom(atom, where)
            elif keys == _STATEMENT:
                digest = self._check_dimension_statement(name, record, where)
            else:
                _explain_keys(keys, (_ATOM_STATEMENT, _STATEMENT), where)
            sign = self.conclusion_sign(name, where)
            if sign in NEVER_STATED:
                reject("STATEMENT_MISMATCH", where, f"no source states {sign}")
            if name != f"st:{digest[:32]}":
                reject("STATEMENT_MISMATCH", where, "the identifier is not the digest")
            evidence = record["evidence"]
            if not isinstance(evidence, list) or not evidence:
                reject("STRUCTURE", where, "a statement needs evidence")
            for index, item in enumerate(evidence):
                if item.keys() != _EVIDENCE:
                    _explain_keys(item.keys(), (_EVIDENCE,), f"{where}/evidence/{index}")
        names = sorted(self.certificate["statements"])
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
        if digest != self.certificate["knowledge"]:
            reject("KNOWLEDGE_MISMATCH", "knowledge", "not the digest of the statements used")
        self.checked.append(f"{len(names)} statements are what their identifiers digest")

    def conclusion_sign(self, name: str, where: str) -> str:
        """Give the signature of what a statement concludes."""
        return self.check_atom(self.conclusions[name][0], where)[0]

    def _check_dimension_statement(self, name: str, record: dict[str, Any], where: str) -> str:
        value, validity = record["value"], record["validity"]
        if value.keys() != {"kind", "value"} or validity.keys() != {"start", "end"}:
            reject("UNKNOWN_FIELD", where, "unexpected fields of value or validity")
        kind, text = value["kind"], value["value"]
        try:
            match kind:
                case "entity" | "class" | "text":
                    term = write_text(text)
                case "number":
                    term = write_value(("number", read_number(text)))
                case "quantity":
                    term = write_value(("quantity", *read_quantity(text)))
                case "date":
                    term = write_value(("date", *read_date(text)))
                case _:
                    reject("STRUCTURE", where, f"{kind!r} is no kind of value")
        except ValueError as error:
            reject("STRUCTURE", where, str(error))
        if kind in ("number", "quantity", "date") and text not in term:
            reject("NOT_CANONICAL", where, f"{text!r} is not in its canonical form")
        if record["polarity"] not in ("affirmed", "denied"):
            reject("STRUCTURE", where, f"{record['polarity']!r} is no polarity")
        start = read_day(validity["start"], where)
        end = read_day(validity["end"], where)
        day = self.valid_on
        if day is not None and (
            (start is not None and day < start) or (end is not None and day >= end)
        ):
            reject("STATEMENT_MISMATCH", where, f"the statement does not hold on {day}")
        if not re.fullmatch(r"_*[a-z][A-Za-z0-9_]*", str(record["dimension"]), re.ASCII):
            reject("STRUCTURE", where, f"{record['dimension']!r} is no name of a dimension")
        sign = "-" if record["polarity"] == "denied" else ""
        head = f"{sign}{record['dimension']}({write_text(record['subject'])}, {term}"
        self.conclusions[name] = (f"{head})", f'{head}, "{name}")')
        form = {key: record[key] for key in _STATEMENT if key != "evidence"}
        return hashlib.sha256(canonical({**form, "modality": "asserted"})).hexdigest()

    def check_atom(self, text: str, where: str) -> Ground:
        """Read a ground atom in its canonical form; each once."""
        found = self.ground.get(text)
        if found is None:
            found = self.ground[text] = self._read_plain(text) or self._read_ground(text, where)
        return found

    def _read_plain(self, text: str, pattern: re.Pattern[str] = _PLAIN_ARGUMENT) -> Ground | None:
        """Read `p(term, term)` fast; None where the full reader must look."""
        match = _PLAIN_ATOM.fullmatch(text)
        if match is None:
            return None
        name, inner = match.groups("")
        row: list[str | None] = []
        position, is_last = 0, not inner
        while position < len(inner):
            argument = pattern.match(inner, position)
            if argument is None:
                return None
            term = argument[1]
            if term not in self.terms and term != _UNKNOWN:
                try:
                    if write_value(read_value(term)) != term:
                        return None
                except (ValueError, TypeError):
                    return None
                self.terms.add(term)
            row.append(term)
            position, is_last = argument.end(), not argument[2]
        return (f"{name}/{len(row)}", tuple(row)) if is_last else None

    @staticmethod
    def _read_ground(text: str, where: str) -> Ground:
        try:
            sign, row, tree = read_atom(text)
        except Unreadable as error:
            reject("STRUCTURE", where, f"{text!r} is no atom: {error}")
        if None in row or write_atom(tree) != text:
            reject("STRUCTURE", where, f"{text!r} is no ground atom in canonical form")
        return sign, row

    def check_sources(self) -> None:
        """Compare every quote with its source text at its span."""
        certificate, texts = self.certificate, self.texts
        sources = certificate["sources"]
        used: set[str] = set()
        extractors: set[str] = set()
        loaded: dict[str, str] = {}
        tables = {name for name, record in sources.items() if record["media_type"] in TABLE_TYPES}
        if texts is not None:
            tables |= {source for source, _ in texts.tables.values()}
            for source, record in sources.items():
                loaded[source] = texts.text(source, record)
        for name, statement in certificate["statements"].items():
            atom = statement.get("atom")
            for index, item in enumerate(statement["evidence"]):
                source, quote = item["source_sha256"], item["quote"]
                start, end = item["start"], item["end"]
                record = sources.get(source)
                if record is None:
                    reject(
                        "UNKNOWN_REFERENCE",
                        f"statements/{name}/evidence/{index}",
                        f"the source {source} is not listed",
                    )
                used.add(source)
                if (
                    item["text_sha256"] != record["text_sha256"]
                    or type(start) is not int
                    or type(end) is not int
                    or not 0 <= start < end
                    or end - start != len(quote)
                ):
                    reject(
                        "QUOTE_MISMATCH",
                        f"statements/{name}/evidence/{index}",
                        "the span is not that of the quote",
                    )
                if texts is not None and loaded[source][start:end] != quote:
                    reject(
                        "QUOTE_MISMATCH",
                        f"statements/{name}/evidence/{index}",
                        f"the source does not say {quote!r} at [{start}, {end})",
                    )
                where = f"statements/{name}/evidence/{index}"
                if atom is None:
                    extractors.add(item["extractor"])
                    if texts is not None and source in tables:
                        self._check_row(statement, loaded[source], (start, end), where)
                    continue
                if record["decoder"] != FACTS_DECODER:
                    reject("QUOTE_MISMATCH", where, "only a facts file states a whole atom")
                if quote.rstrip(". \n") != atom:
                    self._check_fact_quote(quote, atom, where)
                if texts is not None and texts.fact_at(source, record, (start, end)) is None:
                    reject("QUOTE_MISMATCH", where, f"{quote!r} is no whole fact of its file")
        self.used_sources = used
        count = len(certificate["statements"])
        if texts is None:
            self.not_given.append("the source texts: quotes were not compared with them")
        elif count:
            self.checked.append(f"the quotes of {count} statements stand in their sources")
        undecoded = used - (texts.originals if texts is not None else set())
        if undecoded:
            decoders = ", ".join(sorted({sources[source]["decoder"] for source in undecoded}))
            self.trusted.append(
                f"the decoding of {len(undecoded)} sources by {decoders}: their originals were not "
                "decoded here"
            )
        if extractors:
            self.trusted.append(f"that {', '.join(sorted(extractors))} read the quotes rightly")
        if count:
            self.trusted.append("the truth of what the sources say")

    def _check_row(
        self, statement: dict[str, Any], text: str, span: tuple[int, int], where: str
    ) -> None:
        """Compare a statement with the row of a table that it quotes, as far as cells show it.

        What a column means is up to a mapping; but the row is whole, it names the entity, and
        under a header that is the dimension itself stands the value.
        """
        header, rows = self.rows_of_tables.get(text) or ([], {})
        if not header:
            for start, end, cells in table_rows(text, delimiter_of(text)):
                cells = [" ".join(cell.split()) for cell in cells]
                header = header or [_column_name(cell) for cell in cells]
                rows[start, end] = cells
            self.rows_of_tables[text] = header, rows
        if span not in rows:
            reject("QUOTE_MISMATCH", where, "the quote is no whole row of its table")
        cells = rows[span]
        subject = " ".join(str(statement["subject"]).split())
        if subject not in cells and not subject.startswith("doc:"):
            reject("QUOTE_MISMATCH", where, f"no cell of the row names {subject!r}")
        if len(cells) != len(header) or header.count(statement["dimension"]) != 1:
            return
        cell = cells[header.index(statement["dimension"])]
        kind, value = statement["value"]["kind"], " ".join(str(statement["value"]["value"]).split())
        try:
            match kind:
                case "entity" | "text":  # a cell may list several
                    agrees = value.casefold() in cell.casefold()
                case "number" | "quantity":
                    agrees = read_number(cell) == read_number(value.partition(" ")[0])
                case "date":
                    agrees = read_date(cell) == read_date(value)
                case _:
                    return
        except ValueError:
            return  # written in a way that only the extractor knows
        if not agrees:
            reject("QUOTE_MISMATCH", where, f"the row has {cell!r} there, not {value!r}")

    def _check_fact_quote(self, quote: str, atom: str, where: str) -> None:
        try:
            tree = read_atom(quote)[2]
        except Unreadable as error:
            reject("QUOTE_MISMATCH", where, f"the quote {quote!r} is no fact: {error}")
        if write_atom(tree) != atom:
            reject("QUOTE_MISMATCH", where, f"the quote states {write_atom(tree)}, not {atom}")

    # ------------------------------------------------------------ steps

    def check_steps(self) -> None:
        """Check every step in order; premises must stand before what they prove."""
        terms, atoms, rules = self.terms, self.atoms, self.rules
        for number, step in enumerate(self.certificate["steps"], 1):
            name, kind = step["id"], step["kind"]
            where = f"steps/{number - 1}"
            if name != f"s{number}":
                reject("STRUCTURE", where, f"the step is named {name!r}, expected 's{number}'")
            if step.keys() not in STEP_KEYS.get(kind, ()):
                _explain_keys(step.keys(), STEP_KEYS.get(kind, (PLAIN_KEYS,)), where)
            if "rule" not in step:
                self._check_leaf(step, kind, where)
                continue
            rule = rules.get(step["rule"])
            if rule is None:
                reject("UNKNOWN_REFERENCE", where, f"no rule is named {step['rule']!r}")
            self.used_rules.add(rule.id)
            bindings, premises = step["bindings"], step["premises"]
            if bindings.keys() != rule.variables:
                reject("RULE_INSTANCE", where, f"the bindings are not those of rule {rule.id}")
            for term in bindings.values():
                if term not in terms:
                    self._check_term(term, where)
            conclusion = rule.head_text(bindings)
            if conclusion != step["conclusion"]:
                reject("RULE_INSTANCE", where, f"rule {rule.id} concludes {conclusion} here")
            if len(premises) != len(rule.body):
                reject(
                    "RULE_INSTANCE",
                    where,
                    f"rule {rule.id} has {len(rule.body)} premises, found {len(premises)}",
                )
            for premise, literal in zip(premises, rule.body, strict=True):
                if literal.kind == "positive":
                    if atoms.get(premise) != literal.text(bindings):
                        self._explain_premise(premise, literal.text(bindings), where, number)
                else:
                    self._check_claim(premise, rule, literal, bindings, where, number)
            atoms[name] = conclusion
        self.checked.append(
            f"{len(self.certificate['steps'])} steps follow, each from earlier ones"
        )

    def _explain_premise(self, premise: object, expected: str, where: str, number: int) -> NoReturn:
        found = self.atoms.get(str(premise)) or self.claims.get(str(premise), ("", None))[1]
        if found is not None:
            reject("RULE_INSTANCE", where, f"premise {premise} is {found}, expected {expected}")
        match = re.fullmatch(r"s([1-9]\d*)", str(premise))
        if match is None or int(match[1]) > len(self.certificate["steps"]):
            reject("UNKNOWN_REFERENCE", where, f"no step is named {premise!r}")
        reject("NOT_WELL_FOUNDED", where, f"premise {premise} does not stand before step s{number}")

    def _check_term(self, term: str, where: str) -> None:
        try:
            if write_value(read_value(term)) != term:
                reject("RULE_INSTANCE", where, f"{term} is not in its canonical form")
        except (ValueError, TypeError):
            reject("RULE_INSTANCE", where, f"{term!r} is no ground term")
        self.terms.add(term)

    def _check_leaf(self, step: dict[str, Any], kind: str, where: str) -> None:
        conclusion, name = step["conclusion"], step["id"]
        if kind in ("comparison", "arithmetic", "conversion", "closed"):
            self._check_claim_step(step, kind, where)
            self.claims[name] = (kind, conclusion)
            return
        if step["premises"] != []:
            reject("STRUCTURE", where, f"a step of kind {kind!r} without a rule has no premises")
        match kind:
            case "stated" | "provenance":
                known = self.conclusions.get(step["statement"])
                if known is None:
                    reject("UNKNOWN_REFERENCE", where, f"no statement {step['statement']!r}")
                if kind == "provenance":
                    evidence = self.certificate["statements"][step["statement"]]["evidence"]
                    known = tuple(
                        f'stated_in("{step["statement"]}", "doc:{item["source_sha256"]}")'
                        for item in evidence
                    )
                if conclusion not in known:
                    reject(
                        "STATEMENT_MISMATCH" if kind == "stated" else "LEAF_MISMATCH",
                        where,
                        f"the statement says {known[0]}, not {conclusion}",
                    )
            case "request":
                if self.valid_on is None or conclusion != f'valid_on(@date("{self.valid_on}"))':
                    reject("LEAF_MISMATCH", where, f"the request does not give {conclusion}")
            case "declared":
                self._check_declared(conclusion, where)
            case "assumed":
                if conclusion not in self.certificate["assumptions"]:
                    reject("LEAF_MISMATCH", where, f"{conclusion} is not among the assumptions")
            case _:
                self._check_computed(conclusion, where)
        self.atoms[name] = conclusion

    def _check_declared(self, conclusion: str, where: str) -> None:
        """Check what policies declare; what dimensions declare beside that is trusted, and said."""
        sign, row = self.check_atom(conclusion, where)
        names = [json.loads(str(term)) for term in row if str(term).startswith('"')]
        if sign == "functional/1" and len(names) == 1:
            if not any(names[0] in policy.functional for policy in self.policies):
                self.trust(f"that the dimension {names[0]} has one value at a time")
        elif sign == "disjoint/2" and len(names) == 2:
            pair = {names[0], names[1]}
            if not any(set(known) == pair for policy in self.policies for known in policy.disjoint):
                self.trust(f"that {row[0]} and {row[1]} are disjoint")
        else:
            reject("LEAF_MISMATCH", where, f"nothing declares {conclusion}")

    def _check_computed(self, conclusion: str, where: str) -> None:
        sign, row = self.check_atom(conclusion, where)
        holds = False
        if sign == "same_name/2":
            names = [json.loads(term) if str(term)[0] == '"' else term for term in map(str, row)]
            holds = _folded(names[0]) == _folded(names[1])
        if not holds:
            reject("LEAF_MISMATCH", where, f"{conclusion} does not hold by itself")

    def _check_claim_step(self, step: dict[str, Any], kind: str, where: str) -> None:
        premises = step["premises"]
        for premise in premises:
            if self.claims.get(premise, ("",))[0] != "conversion" or kind == "conversion":
                self._explain_premise(premise, "a conversion", where, int(step["id"][1:]))
        if kind != "conversion":
            return
        try:
            texts = step["conclusion"].split(" = ")
            left, right = map(read_value, texts)
            holds = (
                left[0] == right[0] == "quantity"
                and converted(left[1], left[2], right[2]) == right[1]
                and [write_value(left), write_value(right)] == texts
            )
        except (ValueError, IndexError):
            holds = False
        if not holds:
            reject("CONVERSION", where, f"{step['conclusion']} is no exact conversion")

    def _check_claim(
        self,
        premise: str,
        rule: Rule,
        literal: Literal,
        bindings: dict[str, str],
        where: str,
        number: int,
    ) -> None:
        """Check a premise that is no atom: a comparison, an absence or an aggregate."""
        text = literal.text(bindings)
        claim = self.claims.get(premise)
        if claim is None or claim[1] != text:
            self._explain_premise(premise, text, where, number)
        kind = claim_kind(literal)
        if claim[0] != kind:
            reject("RULE_INSTANCE", where, f"premise {premise} is of kind {claim[0]}, not {kind}")
        key = f"{text} by definition" if literal.defines else text
        if key in self.truths:
            return
        self.reading = self.closed_reads
        if literal.kind == "comparison":
            truth = comparison_truth(literal, bindings)
            if truth != TRUE:
                reject("COMPARISON", where, f"{text} is {truth}")
            self._check_conversions(premise, literal.tree, bindings, where)
        else:
            self._check_closed(rule, literal, bindings, text, where)
        self.truths[key] = True

    def _check_conversions(
        self, premise: str, tree: Tree, bindings: Mapping[str, str], where: str
    ) -> None:
        given = [
            self.claims[name][1]
            for name in self.certificate["steps"][int(premise[1:]) - 1]["premises"]
        ]
        if given != conversions_needed(tree, bindings):
            reject("CONVERSION", where, f"premise {premise} does not list the conversions it needs")

    # ------------------------------------------------------------ the witness

    def read_witness(self) -> None:
        """Read the calls with their answers, and the contested atoms."""
        witness = self.certificate["witness"]
        for index, conflict in enumerate(witness["contested"]):
            if len(conflict["sides"]) != 2:
                reject("STRUCTURE", f"witness/contested/{index}", "a conflict has two sides")
            for item in conflict["sides"]:
                self.masked.add(self.check_atom(item["atom"], "witness/contested"))
        for name, calls in (("demands", self.demands), ("lookups", self.lookups)):
            patterns = [record["pattern"] for record in witness[name]]
            if patterns != sorted(set(patterns)):
                reject("NOT_CANONICAL", f"witness/{name}", "patterns are not sorted, or repeated")
            for index, record in enumerate(witness[name]):
                calls.append(self._read_call(record, f"witness/{name}/{index}"))
        for demand in self.demands:
            if demand.sign not in self.rules_by_sign and demand.sign not in NEVER_RENAMED:
                # A stored predicate is demanded where entities have other names.
                self.rules_by_sign[demand.sign] = [identity_rule(demand.sign)]
        for sign, groups in self.calls.items():  # the closest call covers first
            closest = sorted(groups, key=lambda bound: (-len(bound), bound))
            self.calls[sign] = {bound: groups[bound] for bound in closest}

    def _read_call(self, record: dict[str, Any], where: str) -> Call:
        try:
            sign, pattern, _ = read_atom(record["pattern"])
        except Unreadable as error:
            reject("STRUCTURE", where, f"the pattern cannot be read: {error}")
        if write_call(sign, pattern) != record["pattern"]:
            reject("NOT_CANONICAL", where, f"the pattern is {write_call(sign, pattern)}")
        call = Call(sign, pattern, Calls(), record.get("basis", ""), where)
        rows = [(answer["atom"], True) for answer in record["answers"]]
        rows += [(atom, False) for atom in record.get("possible", ())]
        if [text for text, _ in rows] != sorted({text for text, _ in rows}) and (
            [text for text, certain in rows if certain]
            != sorted({text for text, certain in rows if certain})
        ):
            reject("NOT_CANONICAL", where, "the answers are not sorted, or repeated")
        for text, certain in rows:
            row_sign, row = self._check_answer(text, where, certain=certain)
            if row_sign != sign or not _agrees(pattern, row):
                reject("WITNESS_UNPROVED", where, f"{text} is no answer to {record['pattern']}")
            call.answers.add(sign, row, certain=certain)
        bound = tuple(i for i, item in enumerate(pattern) if item is not None)
        group = self.calls.setdefault(sign, {}).setdefault(bound, {})
        key = tuple(pattern[i] for i in bound)
        if key in group:
            other = group[key]  # a predicate with rules and facts: both calls answer together
            for row, certain in call.answers.rows.get(sign, {}).items():
                other.answers.add(sign, row, certain=certain)
            call.answers = other.answers
            return call
        group[key] = call
        return call

    def _check_answer(self, text: str, where: str, *, certain: bool) -> Ground:
        """Read an answer; only what is merely possible may lack a value."""
        if certain or _UNKNOWN not in text:
            return self.check_atom(text, where)
        found = self._read_plain(text, _POSSIBLE_ARGUMENT)
        if found is None:
            return self.check_atom(text, where)
        if _UNKNOWN in found[1]:
            self.unknown_signs.add(found[0])
        return found

    def is_lacking(self, sign: str) -> bool:
        """Whether a predicate may have answers that nobody could find, for want of a value."""
        if not self.unknown_signs:
            return False
        if sign not in self.lacking_memo:
            seen, waiting = {sign}, [sign]
            for current in waiting:
                for policy in self.policies:
                    fresh = policy.uses.get(current, frozenset()) - seen
                    seen |= fresh
                    waiting += fresh
            self.lacking_memo[sign] = not seen.isdisjoint(self.unknown_signs)
        return self.lacking_memo[sign]

    def is_masked(self, sign: str, row: Arguments) -> bool:
        """Whether an atom is contested, also where it names its statement."""
        if not self.masked:
            return False
        if len(row) == 3 and str(row[2]).startswith('"st:'):
            sign, row = f"{sign[:-1]}2", row[:2]
        return (sign, row) in self.masked

    def rows_of(
        self, sign: str, args: Arguments, where: str, *, positive: bool = False
    ) -> list[tuple[Arguments, bool]]:
        """Give the answers of the call that covers a call, each with whether it is certain.

        What contested rows support is not certain, but they are not absent either. A call with a
        value that nobody knows has no answers; what lacks them for that is not certain.
        """
        if _UNKNOWN in args:
            return []
        for bound, group in self.calls.get(sign, {}).items():
            if any(args[i] is None for i in bound):
                continue
            call = group.get(tuple(args[i] for i in bound))
            if call is None:
                continue
            call.is_used = True
            self.reading[call.sign, call.pattern] = None
            certain = call.answers.rows.get(sign, {})
            return [
                (row, certain[row] and not (positive and self.is_masked(sign, row)))
                for row in call.answers.matching(sign, args)
            ]
        reject("WITNESS_INCOMPLETE", where, f"no call covers {write_call(sign, args)}")

    def enumerate(
        self,
        plan: Sequence[Planned],
        bindings: dict[str, str],
        where: str,
        *,
        frozen: bool = False,
    ) -> Iterator[tuple[dict[str, str], bool]]:
        """Yield every way a body can hold over the answers, with whether that is certain.

        What contested rows support is possible, and nothing is absent because of them: where there
        are any, an absence holds only if the call has no row, and aggregates (`frozen`) count them.
        """
        stack: list[tuple[int, dict[str, str], bool]] = [(0, bindings, True)]
        while stack:
            index, bound, certain = stack.pop()
            if index == len(plan):
                yield bound, certain
                continue
            planned = plan[index]
            literal = planned.literal
            match literal.kind:
                case "positive":
                    for row, sure in reversed(
                        self.rows_of(literal.sign, planned.call(bound), where, positive=not frozen)
                    ):
                        extended = planned.extend(bound, row)
                        if extended is not None:
                            stack.append((index + 1, extended, certain and sure))
                case "absent":
                    rows = self.rows_of(literal.sign, planned.call(bound), where)
                    if not any(sure or self.masked for _, sure in rows):
                        sure = not rows and not self.is_lacking(literal.sign)
                        stack.append((index + 1, bound, certain and sure))
                case "comparison":
                    for extended, sure in self._compared(planned, bound):
                        stack.append((index + 1, extended, certain and sure))
                case _:
                    for extended, sure in self._aggregated(planned, bound, where):
                        stack.append((index + 1, extended, certain and sure))

    def _compared(
        self, planned: Planned, bound: dict[str, str]
    ) -> Iterator[tuple[dict[str, str], bool]]:
        literal = planned.literal
        if planned.assigns:
            value = computed(planned, bound)
            if value is None:
                self.undetermined.add(literal.text(bound))
                yield {**bound, planned.assigns: _UNKNOWN}, False
            else:
                yield {**bound, planned.assigns: value}, True
            return
        truth = comparison_truth(literal, bound)
        if truth == UNDETERMINED:
            self.undetermined.add(literal.text(bound))
        if truth != FALSE:
            yield bound, truth == TRUE

    def _aggregated(
        self, planned: Planned, bound: dict[str, str], where: str
    ) -> Iterator[tuple[dict[str, str], bool]]:
        literal = planned.literal
        value, certain = self.aggregate(planned, bound, where)
        if value is None or not certain:
            self.undetermined.add(literal.text(bound))
            yield ({**bound, planned.assigns: _UNKNOWN} if planned.assigns else bound), False
            return
        if planned.assigns:
            yield {**bound, planned.assigns: write_value(value)}, True
            return
        result = evaluate(literal.tree["result"], bound)
        truth = UNDETERMINED if result is None else compare(literal.tree["operator"], result, value)
        if truth == UNDETERMINED:
            self.undetermined.add(literal.text(bound))
        if truth != FALSE:
            yield bound, truth == TRUE

    def aggregate(
        self, planned: Planned, bindings: dict[str, str], where: str
    ) -> tuple[Value | None, bool]:
        """Compute an aggregate over complete answers, and whether all its rows are certain."""
        tree = planned.literal.tree
        start = {name: bindings[name] for name in planned.shared}
        rows: dict[tuple[str, ...], None] = {}
        certain = True
        for bound, sure in self.enumerate(planned.inner, start, where, frozen=True):
            certain = certain and sure
            terms = [write_term(term, bound) for term in tree["terms"]]
            rows[tuple(self.first_name(term, where) for term in terms)] = None
        if not certain or any(
            item.literal.kind in ("positive", "absent") and self.is_lacking(item.literal.sign)
            for item in planned.inner
        ):
            return None, False
        values = [_value_of(row[0]) for row in sorted(rows)]
        return aggregate_value(tree["function"], values), certain

    def is_renaming(self) -> bool:
        """Whether a step, or a facts file at hand, gives some entity another name."""
        if self.renaming is None:
            steps = self.certificate["steps"]
            self.renaming = self._is_stored("same_as/2") or any(
                str(step["conclusion"]).startswith("same_as(") for step in steps
            )
        return self.renaming

    def first_name(self, term: str, where: str) -> str:
        """Give one name, first by text, that stands for all names of an entity.

        Where entities have other names, the names of everything that is counted must be shown.
        """
        if term[0] != '"' or ("alias/2" not in self.calls and not self.is_renaming()):
            return term
        covered = any(
            all(bound < 1 for bound in bounds) and (not bounds or (term,) in group)
            for bounds, group in self.calls.get("alias/2", {}).items()
        )
        if not covered and not self.is_renaming():
            return term
        rows = self.rows_of("alias/2", (term, None), where)
        return min([term, *(str(row[1]) for row, _ in rows)])

    def _check_closed(
        self, rule: Rule, literal: Literal, bindings: dict[str, str], text: str, where: str
    ) -> None:
        for sign in literal_signatures(literal):
            if not self.is_closed(sign):
                reject("NOT_CLOSED", where, f"{text} reads {sign}, which is not closed")
        if literal.kind == "absent":
            rows = self.rows_of(literal.sign, arguments(literal.tree, bindings), where)
            if rows:
                reject("COMPARISON", where, f"{text} fails: the witness has an answer")
            return
        rule_body = ordered(rule.body, set(rule.variables), rule.head_names)
        planned = next(item for item in rule_body if item.literal is literal)
        value, certain = self.aggregate(planned, bindings, where)
        result = evaluate(literal.tree["result"], bindings)
        name = literal.tree["result"].get("variable")
        if name is not None:
            open_bindings = {key: item for key, item in bindings.items() if key != name}
            self.aggregate_results[literal.text(open_bindings)] = bindings[name]
        if value is None or result is None or not certain:
            reject("COMPARISON", where, f"{text} is undetermined")
        truth = compare(literal.tree["operator"], result, value)
        if truth != TRUE:
            reject("COMPARISON", where, f"{text} is {truth}: the aggregate is {write_value(value)}")

    def is_closed(self, sign: str) -> bool:
        """Whether a predicate is closed: declared, or derived from closed predicates only."""
        if sign == "same_name/2":  # names alike are found only where asked for
            return False
        if sign in COMPLETE_ORDER:
            self.trust("that taxonomies and names of entities show all that values have in common")
            return True
        if sign in self.closed_memo:
            return self.closed_memo[sign]
        seen, waiting, closed = {sign}, [sign], True
        while waiting and closed:
            current = waiting.pop()
            declared = any(current in policy.closed for policy in self.policies)
            below = [policy.uses[current] for policy in self.policies if current in policy.uses]
            if declared:
                self.closed_used.add(current)
            elif not below and current not in _ALWAYS_CLOSED:
                closed = False
            for signs in below:
                for other in signs - seen:
                    seen.add(other)
                    waiting.append(other)
        self.closed_memo[sign] = closed
        return closed

    def check_calls(self) -> None:
        """Re-enumerate the rule bodies of every demand, and re-read every lookup."""
        demanded = {demand.sign for demand in self.demands}
        looked_up = {(lookup.sign, lookup.pattern) for lookup in self.lookups}
        for call in (*self.demands, *self.lookups):
            self._check_facts_at_hand(call)
        for demand in self.demands:
            if (demand.sign, demand.pattern) in looked_up or demand.sign in PRELUDE_HEADS:
                continue
            if not any(demand.sign in policy.uses for policy in self.policies):
                reject(
                    "WITNESS_INCOMPLETE",
                    demand.where,
                    f"{demand.sign} is stored; expected a lookup beside the demand",
                )
            if self.texts is None or any(lookup.basis != "facts" for lookup in self.lookups):
                self.trust(f"that {demand.sign} is concluded by rules only, and stated nowhere")
        renamed = bool(self.lookups) and self._has_other_names()
        for demand in self.demands:
            self._check_demand(demand)
        for lookup in self.lookups:
            carried = renamed and lookup.sign not in NEVER_RENAMED and self._is_stored(lookup.sign)
            if lookup.sign not in demanded and (carried or lookup.sign in self.rules_by_sign):
                reject(
                    "WITNESS_INCOMPLETE",
                    lookup.where,
                    f"rules conclude {lookup.sign} too; expected a demand",
                )
            self._check_lookup(lookup)
        self._check_no_open_lookup()
        if self.demands or self.lookups:
            self.checked.append(
                f"{len(self.demands)} demands and {len(self.lookups)} lookups are complete"
            )

    def _check_facts_at_hand(self, call: Call) -> None:
        """Whatever a call is said to rest on: the facts files that are at hand answer it, too."""
        rows = call.answers.rows.get(call.sign, {})
        for name, record in self.certificate["sources"].items():
            if self.texts is None or record["decoder"] != FACTS_DECODER:
                continue
            found = self.texts.facts(name, record)
            if any(row not in rows for row in found.matching(call.sign, call.pattern)):
                reject("LOOKUP_MISMATCH", call.where, "the facts hold more rows")

    def _check_no_open_lookup(self) -> None:
        """Reject absences that rest on what is merely not in a knowledge base."""
        waiting, seen = list(self.closed_reads), set(self.closed_reads)
        while waiting:
            for call in self.reads.get(waiting.pop(), ()):
                if call not in seen:
                    seen.add(call)
                    waiting.append(call)
        for lookup in self.lookups:
            if (lookup.sign, lookup.pattern) not in seen or lookup.basis != "knowledge":
                continue
            # Names and classes that a knowledge base does not have are no gap: see is_closed.
            if lookup.sign not in ("same_as/2", "subclass_of/2"):
                reject("NOT_CLOSED", lookup.where, f"{lookup.sign} is not closed")

    def _check_demand(self, demand: Call) -> None:
        rows = demand.answers.rows.get(demand.sign, {})
        self.reading = {}
        for rule in self.rules_by_sign.get(demand.sign, ()):
            bindings = unify_head(rule.head, demand.pattern)
            if bindings is None:
                continue
            if not self._binds_head(rule, bindings):
                continue  # a fact about everything, such as under(V, V), binds nothing here
            for bound, certain in self.enumerate(rule.plan(bindings), bindings, demand.where):
                head = rule.head_row(bound)
                sure = certain and not self.is_masked(demand.sign, head)
                if head not in rows or (sure and not rows[head]):
                    reject(
                        "WITNESS_INCOMPLETE",
                        demand.where,
                        f"rule {rule.id} gives {write_call(demand.sign, head)}, "
                        "which is not among the answers",
                    )
        self.reads[demand.sign, demand.pattern] = list(self.reading)

    @staticmethod
    def _binds_head(rule: Rule, bindings: Bindings) -> bool:
        return bool(rule.body) or rule.head_names <= bindings.keys()

    def _check_lookup(self, lookup: Call) -> None:
        rows = set(lookup.answers.rows.get(lookup.sign, {}))
        sources = self.certificate["sources"]
        match lookup.basis:
            case "facts":
                files = {
                    name for name, record in sources.items() if record["decoder"] == FACTS_DECODER
                }
                if not files:
                    reject("LOOKUP_MISMATCH", lookup.where, "no facts file is among the sources")
                self.lookup_sources |= files
                shown = ", ".join(sorted(sources[name]["title"] for name in files))
                self.trust(f"that the facts of the request all stand in {shown}")
                if self.texts is None:
                    return
                expected = {
                    row
                    for name in files
                    for row in self.texts.facts(name, sources[name]).matching(
                        lookup.sign, lookup.pattern
                    )
                }
                expected |= {
                    row
                    for sign, row in map(self._assumption, self.certificate["assumptions"])
                    if sign == lookup.sign and _agrees(lookup.pattern, row)
                }
                if lookup.sign in self.rules_by_sign:
                    if not expected <= rows:
                        reject("LOOKUP_MISMATCH", lookup.where, "the facts hold more rows")
                elif expected != rows:
                    reject("LOOKUP_MISMATCH", lookup.where, "the facts hold other rows")
            case "request":
                if lookup.sign != "valid_on/1":
                    reject("LOOKUP_MISMATCH", lookup.where, f"no request gives {lookup.sign}")
                expected = {(f'@date("{self.valid_on}")',)} if self.valid_on else set()
                if rows != {row for row in expected if _agrees(lookup.pattern, row)}:
                    reject("LOOKUP_MISMATCH", lookup.where, "the request says otherwise")
            case "provenance" | "identity":
                if _COMPUTED.get(lookup.sign) != lookup.basis:
                    reject("LOOKUP_MISMATCH", lookup.where, f"{lookup.sign} is not computed")
                expected = {
                    (write_text(name), write_text(f"doc:{item['source_sha256']}"))
                    for name, statement in self.certificate["statements"].items()
                    for item in statement["evidence"]
                }
                if lookup.basis == "provenance" and rows != {
                    row for row in expected if _agrees(lookup.pattern, row)
                }:
                    reject("LOOKUP_MISMATCH", lookup.where, "the statements have other documents")
            case "table":
                self._check_table(lookup, rows)
            case "declared" if lookup.sign in DECLARATIONS:
                self.trust(f"that dimensions declare of {lookup.sign} what the lookup shows")
            case "declared":
                if not self.is_closed(lookup.sign):
                    reject("NOT_CLOSED", lookup.where, f"{lookup.sign} is not declared closed")
                self._check_table_at_hand(lookup, rows)
                self.trust(f"that the rows of {lookup.sign} are all there are, as declared")
            case "knowledge":
                self.trust("that lookups show all statements of the revision in the receipt")
            case _:
                reject("STRUCTURE", lookup.where, f"{lookup.basis!r} is no basis of a lookup")

    def _has_other_names(self) -> bool:
        """Whether some entity is known to have another name."""
        return self._is_stored("same_as/2") or any(
            row.startswith("same_as(") for row in self.atoms.values()
        )

    def _is_stored(self, sign: str) -> bool:
        """Whether a lookup or a facts file that is at hand gives rows of a predicate."""
        if any(lookup.sign == sign and lookup.answers.rows for lookup in self.lookups):
            return True
        sources = self.certificate["sources"]
        return self.texts is not None and any(
            self.texts.facts(name, record).rows.get(sign)
            for name, record in sources.items()
            if record["decoder"] == FACTS_DECODER
        )

    def _assumption(self, text: str) -> Ground:
        return self.check_atom(text, "assumptions")

    def trust(self, what: str) -> None:
        """Note something that the examination takes for granted, once."""
        if what not in self.trusted:
            self.trusted.append(what)

    def _check_table(self, lookup: Call, rows: set[Arguments]) -> None:
        """Read the named table again: the rows that match are those that are quoted."""
        sources = self.certificate["sources"]
        labels = {policy.closed.get(lookup.sign) for policy in self.policies} - {None}
        tables = {
            name
            for name, record in sources.items()
            if record["media_type"] in TABLE_TYPES
            and any(is_named(record["title"], str(label)) for label in labels)
        }
        if not tables:
            reject("LOOKUP_MISMATCH", lookup.where, "the declared table is not among the sources")
        at_hand = self.texts.tables if self.texts is not None else {}
        for label, (source, _) in at_hand.items():
            if source not in tables and label in labels:
                reject("LOOKUP_MISMATCH", lookup.where, f"the table {label} is another file")
        self.lookup_sources |= tables
        self.trust(f"that {', '.join(sorted(map(str, labels)))} is all there is, as declared")
        if self.texts is None:
            return
        for name in tables:
            text = self.texts.text(name, sources[name])
            expected = table_spans(text, lookup.sign, lookup.pattern)
            if expected != self._quoted_spans(lookup, rows, name):
                reject("LOOKUP_MISMATCH", lookup.where, "the table has other rows")

    def _check_table_at_hand(self, lookup: Call, rows: set[Arguments]) -> None:
        """Hold a mere declaration against the table it names, if that lies in the folder."""
        for policy in self.policies:
            label = policy.closed.get(lookup.sign)
            if label is None or self.texts is None or label not in self.texts.tables:
                continue
            source, text = self.texts.tables[label]
            expected = table_spans(text, lookup.sign, lookup.pattern)
            if expected is not None and expected != self._quoted_spans(lookup, rows, source):
                reject("LOOKUP_MISMATCH", lookup.where, f"{label} has other rows")

    def _quoted_spans(
        self, lookup: Call, rows: set[Arguments], source: str
    ) -> set[tuple[int, int]]:
        return {
            (item["start"], item["end"])
            for statement in self._statements_of(lookup, rows)
            for item in self.certificate["statements"][statement]["evidence"]
            if item["source_sha256"] == source
        }

    def _statements_of(self, lookup: Call, rows: set[Arguments]) -> set[str]:
        atoms = {write_call(lookup.sign, row) for row in rows}
        return {
            step["statement"]
            for step in self.certificate["steps"]
            if step["kind"] == "stated" and step["conclusion"] in atoms
        }

    # ------------------------------------------------------------ verdict

    def check_verdict(self) -> None:
        """Compare the verdict with what was derived."""
        certificate = self.certificate
        verdict, code = certificate["verdict"], certificate["code"]
        answers = certificate["answers"]
        texts = [answer["atom"] for answer in answers]
        if texts != sorted(set(texts)):
            reject("NOT_CANONICAL", "answers", "the answers are not sorted, or repeated")
        self._check_answers(
            answers, "answers", self._flipped() if verdict == "REFUTED" else self.goal_sign
        )
        self._check_answers(certificate["refuted"], "refuted", self._flipped())
        for name in ("demands", "lookups"):
            for index, call in enumerate(certificate["witness"][name]):
                for answer in call["answers"]:
                    if self.atoms.get(answer["step"]) != answer["atom"]:
                        reject(
                            "WITNESS_UNPROVED",
                            f"witness/{name}/{index}",
                            f"step {answer['step']} does not prove {answer['atom']}",
                        )
        self._check_contested()
        if verdict == "CERTIFIED" and not self.is_ground and certificate["complete"]:
            self.trust("that the goal has no other answers than these")
        refuted = {item["atom"] for item in certificate["refuted"]}
        if any(self._complement(text) in refuted for text in texts):
            reject("VERDICT_MISMATCH", "refuted", "an answer is refuted as well")
        match verdict:
            case "CERTIFIED":
                if not answers or (self.is_ground and (len(answers) != 1 or certificate["open"])):
                    reject("VERDICT_MISMATCH", "answers", "a certified goal has its answer")
            case "REFUTED":
                if not self.is_ground or len(answers) != 1 or certificate["open"]:
                    reject("VERDICT_MISMATCH", "answers", "a refuted goal has its complement")
            case "ABSTAINED":
                if answers:
                    reject("VERDICT_MISMATCH", "answers", "an abstention has no answers")
            case _:
                reject("VERDICT_MISMATCH", "verdict", f"{verdict!r} is no verdict")
        if verdict != "ABSTAINED":
            if code is not None:
                reject("VERDICT_MISMATCH", "code", "only an abstention has a code")
        else:
            self._check_abstention(code)
        if not certificate["complete"] and self.is_ground and code != "BUDGET":
            reject("VERDICT_MISMATCH", "complete", "nothing was cut")
        self._check_open()
        self._check_validity()

    @staticmethod
    def _complement(atom: str) -> str:
        return atom[1:] if atom[0] == "-" else f"-{atom}"

    def _flipped(self) -> str:
        return self.goal_sign[1:] if self.goal_sign[0] == "-" else f"-{self.goal_sign}"

    def _check_answers(self, answers: list[dict[str, str]], where: str, expected: str) -> None:
        for answer in answers:
            sign, row = self.check_atom(answer["atom"], where)
            if (
                sign != expected
                or extend(self.goal_tree, {}, row) is None
                or not _agrees(self.goal, row)
            ):
                reject("GOAL_MISMATCH", where, f"{answer['atom']} is no answer to the goal")
            if self.atoms.get(answer["step"]) != answer["atom"]:
                reject(
                    "VERDICT_MISMATCH",
                    where,
                    f"step {answer['step']} does not prove {answer['atom']}",
                )

    def _check_abstention(self, code: str | None) -> None:
        certificate = self.certificate
        if code not in _CODES:
            reject("VERDICT_MISMATCH", "code", f"{code!r} is no code of an abstention")
        codes = [item["code"] for item in certificate["open"]]
        for item in codes:
            if item not in _CODES:
                reject("OPEN_MISMATCH", "open", f"{item!r} is no code of an open requirement")
        if not codes or min(codes, key=_CODES.index) != code:
            reject("OPEN_MISMATCH", "code", "the code is not the first of the open requirements")
        if (code == "BUDGET") == certificate["complete"]:
            reject("VERDICT_MISMATCH", "complete", "a budget cut the search, or it did not")
        if (code == "OUT_OF_SCOPE") != self.out_of_scope:
            reject("VERDICT_MISMATCH", "code", "the policy applies on this day")
        if code == "BUDGET":
            self.checked.append("nothing is concluded: the budget was used up")
        elif code == "OUT_OF_SCOPE":
            self.checked.append("the policy does not apply on this day")
        else:
            rows = self.rows_of(self.goal_sign, self.goal, "witness", positive=True)
            if any(sure and extend(self.goal_tree, {}, row) is not None for row, sure in rows):
                reject("VERDICT_MISMATCH", "witness", "the witness has an answer to the goal")
            if (code == "UNDETERMINED") and not self.undetermined:
                reject("VERDICT_MISMATCH", "code", "no comparison is undetermined")
            if (code == "CONFLICT") != bool(self.masked):
                reject("VERDICT_MISMATCH", "code", "a conflict has its two sides")
            self.checked.append("the goal does not follow from these facts under these rules")

    def _check_contested(self) -> None:
        for index, item in enumerate(self.certificate["witness"]["contested"]):
            where = f"witness/contested/{index}"
            sides = item["sides"]
            for side in sides:
                if self.atoms.get(side["step"]) != side["atom"]:
                    reject("WITNESS_UNPROVED", where, f"nothing proves {side['atom']}")
            (sign, row), (other, other_row) = (self.check_atom(s["atom"], where) for s in sides)
            reason, _, name = item["reason"].partition(" ")
            match reason:
                case "denied":
                    holds = row == other_row and {sign, other} == {
                        sign.lstrip("-"),
                        f"-{sign.lstrip('-')}",
                    }
                case "functional":
                    if not any(name in policy.functional for policy in self.policies):
                        self.trust(f"that the dimension {name} has one value at a time")
                    holds = (
                        sign == other == f"{name}/2"
                        and row[0] == other_row[0]
                        and compare("=", _value_of(str(row[1])), _value_of(str(other_row[1])))
                        != TRUE
                    )
                case "disjoint":
                    pair = (row[-1], other_row[-1])
                    if not any(
                        {write_text(a) for a in known} == set(pair)
                        for policy in self.policies
                        for known in policy.disjoint
                    ):
                        self.trust(f"that {pair[0]} and {pair[1]} are disjoint")
                    holds = sign == other and row[:-1] == other_row[:-1] and row != other_row
                case _:
                    holds = False
            if not holds:
                reject("OPEN_MISMATCH", where, "the two sides do not contradict each other")

    def _check_open(self) -> None:
        seen = set()
        for index, item in enumerate(self.certificate["open"]):
            where = f"open/{index}"
            atom, rule, code = item["atom"], item["rule"], item["code"]
            digest = hashlib.sha256(f"{atom}\n{rule}".encode()).hexdigest()
            if item["id"] != f"or:{digest[:16]}" or item["id"] in seen:
                reject("OPEN_MISMATCH", f"{where}/id", "not the digest of the requirement")
            seen.add(item["id"])
            if (
                rule
                and rule not in self.rules
                and not any(rule in policy.rules for policy in self.policies)
            ):
                reject("UNKNOWN_REFERENCE", f"{where}/rule", f"no rule is named {rule!r}")
            for name in item["conflicting"]:
                if name not in self.certificate["statements"]:
                    reject("UNKNOWN_REFERENCE", where, f"no statement {name!r}")
            if code == "UNDETERMINED" and atom not in self.undetermined:
                reject("OPEN_MISMATCH", where, f"{atom} is not undetermined")
            if code == "UNDETERMINED" or self.certificate["code"] in ("BUDGET", "OUT_OF_SCOPE"):
                continue
            absent = atom.removeprefix("not ")
            try:
                sign, row, tree = read_atom(absent)
            except Unreadable as error:
                reject("OPEN_MISMATCH", where, f"{atom} is no atom: {error}")
            if code == "CONFLICT":
                continue
            if self.certificate["verdict"] != "ABSTAINED":
                reject("OPEN_MISMATCH", where, "only conflicts stay open beside answers")
            rows = [
                found
                for found, sure in self.rows_of(sign, row, where)
                if sure and extend(tree, {}, found) is not None
            ]
            if (absent != atom) != bool(rows) and not item["detail"]:
                reject("OPEN_MISMATCH", where, f"{atom} is not open")

    def _check_validity(self) -> None:
        certificate = self.certificate
        if certificate["verdict"] == "ABSTAINED":
            start = end = None
        else:
            intervals = [
                record["validity"]
                for record in certificate["statements"].values()
                if "validity" in record
            ]
            for record in certificate["policies"]:
                first, _, last = record["effective"].partition("/")
                intervals.append(
                    {
                        "start": None if first == ".." else first,
                        "end": None if last == ".." else last,
                    }
                )
            intervals += self._intervals_of_tests()
            start = max((i["start"] for i in intervals if i["start"]), default=None)
            end = min((i["end"] for i in intervals if i["end"]), default=None)
        expected = {"start": start, "end": end, "next_change": end}
        if certificate["validity"] != expected:
            reject("VALIDITY_MISMATCH", "validity", f"the interval of the proof is {expected}")

    def _intervals_of_tests(self) -> list[dict[str, str | None]]:
        """Give how long each test against the day of the request stays true."""
        day = self.valid_on
        if day is None:
            return []
        names = ("start", "end")
        requests = {s["id"] for s in self.certificate["steps"] if s["kind"] == "request"}
        own: Days = (day, day_after(day))
        found = [own for item in self.certificate["answers"] if item["step"] in requests]
        for step in self.certificate["steps"]:
            if "rule" in step and not requests.isdisjoint(step["premises"]):
                rule = self.rules[step["rule"]]
                found.append(days_around(rule, step["bindings"], day) or own)
        return [
            {
                name: None if edge is None else edge.isoformat()
                for name, edge in zip(names, days, strict=True)
            }
            for days in found
        ]

    # ------------------------------------------------------------ use and minimality

    def check_use(self) -> None:
        """Reject every step, rule, statement, source or call that nothing needs."""
        certificate = self.certificate
        witness = certificate["witness"]
        used = {answer["step"] for answer in (*certificate["answers"], *certificate["refuted"])}
        for call in (*witness["demands"], *witness["lookups"]):
            used.update(answer["step"] for answer in call["answers"])
        for item in witness["contested"]:
            used.update(side["step"] for side in item["sides"])
        statements, assumed, seen = set(), set(), set()
        for step in reversed(certificate["steps"]):
            if step["id"] not in used:
                reject("UNUSED", f"steps/{step['id']}", f"nothing needs step {step['id']}")
            used.update(step["premises"])
            if "statement" in step:
                statements.add(step["statement"])
            elif step["kind"] == "assumed":
                assumed.add(step["conclusion"])
            key = (step["kind"], step["conclusion"], step.get("rule"), *step["premises"])
            if key in seen:
                reject("UNUSED", f"steps/{step['id']}", f"{step['conclusion']} is proved twice")
            seen.add(key)
        for item in certificate["open"]:
            statements.update(item["conflicting"])
        _require_all("statements", certificate["statements"], statements)
        _require_all("rules", certificate["rules"], self.used_rules)
        _require_all("sources", certificate["sources"], self.used_sources | self.lookup_sources)
        assumptions = certificate["assumptions"]
        if assumptions != sorted(set(assumptions)):
            reject("NOT_CANONICAL", "assumptions", "the assumptions are not sorted, or repeated")
        for atom in assumptions:
            self.check_atom(atom, "assumptions")
        if certificate["verdict"] != "ABSTAINED":
            _require_all("assumptions", assumptions, assumed)
        read = {(call.sign, call.pattern) for call in self.demands if call.is_used}
        for call in (*self.demands, *self.lookups):
            call.is_used = call.is_used or (call.sign, call.pattern) in read
            is_root = call.sign == self.goal_sign and _agrees(call.pattern, self.goal)
            is_root = is_root or self._names_an_answer(call)
            if not call.is_used and not is_root:
                reject("UNUSED", call.where, "nothing reads this call")
        for sign in sorted(self.closed_used):
            self.trust(f"that the named source is complete for {sign}, as the policy declares")
        self.checked.append("nothing is there that nothing needs")

    def _names_an_answer(self, call: Call) -> bool:
        """Whether a call gives the other names of something that an open goal found."""
        return (
            call.sign == "alias/2"
            and call.pattern[1] is None
            and not self.is_ground
            and any(
                call.pattern[0] in self.check_atom(answer["atom"], "answers")[1]
                for part in ("answers", "refuted")
                for answer in self.certificate[part]
            )
        )

    def check_minimality(self) -> None:
        """Show for each answer that without any one of its leaves it would not follow."""
        certificate = self.certificate
        if not certificate["answers"]:
            return
        steps = certificate["steps"]
        budget = 200_000 + 40 * len(steps)
        done = True
        for answer in certificate["answers"]:
            last = int(answer["step"][1:])
            needed = {answer["step"]}
            leaves: dict[str, list[Ground]] = {}
            for number in range(last - 1, -1, -1):  # premises come before what they prove
                step = steps[number]
                name = step["id"]
                if name not in needed:
                    continue
                needed.update(step["premises"])
                if name not in self.atoms:
                    continue
                conclusion = step["conclusion"]
                self._check_uncontested(conclusion, is_leaf="rule" not in step)
                if "rule" in step:
                    continue
                unit = step["statement"] if step["kind"] == "stated" else conclusion
                leaves.setdefault(unit, []).append(self.check_atom(conclusion, "steps"))
            goal = self.check_atom(answer["atom"], "answers")
            search = Derivation(self, leaves, budget)
            spare = search.spare_leaf(goal)
            if spare is not None:
                reject(
                    "NOT_MINIMAL", "answers", f"{answer['atom']} follows without {spare} as well"
                )
            done = done and not search.is_cut
        if done:
            self.checked.append("each answer needs every leaf of its proof")
        else:
            self.not_given.append("minimality: its check was cut, the proof is too large")

    def _check_uncontested(self, atom: str, *, is_leaf: bool) -> None:
        """Reject a proof with an atom that facts files, which are at hand, contradict."""
        if self.texts is None or any(policy.has_precedence for policy in self.policies):
            return
        sign, row = self.check_atom(atom, "steps")
        name = sign.removesuffix("/2")
        for source, record in self.certificate["sources"].items():
            if record["decoder"] != FACTS_DECODER:
                continue
            facts = self.texts.facts(source, record)
            if facts.matching(self._complement(sign), row):
                reject("VERDICT_MISMATCH", "answers", f"a fact denies {atom}, which the proof uses")
            if not is_leaf or not any(name in policy.functional for policy in self.policies):
                continue
            for other in facts.matching(sign, (row[0], None)):
                values = _value_of(str(row[1])), _value_of(str(other[1]))
                if compare("=", *values) == FALSE and self._told_apart(row[1], other[1]):
                    reject("VERDICT_MISMATCH", "answers", f"{name} has two values beside {atom}")

    def _told_apart(self, left: str | None, right: str | None) -> bool:
        """Whether the facts files at hand let two values of one dimension exclude each other."""
        if self._one_entity(left, right):
            return False
        broader, narrower = (self._along("subclass_of/2", at) for at in (0, 1))
        below = [self._reached(value, narrower) for value in (left, right)]
        above = [self._reached(value, broader) for value in (left, right)]
        if below[0] & below[1]:
            return False
        known = [value in broader or value in narrower for value in (left, right)]
        return bool(above[0] & above[1]) if any(known) else True

    def _along(self, sign: str, start: int) -> dict[str | None, set[str | None]]:
        """Give the steps of a relation in facts files at hand, forward (0) or back (1)."""
        steps: dict[str | None, set[str | None]] = {}
        for source, record in self.certificate["sources"].items():
            if self.texts is not None and record["decoder"] == FACTS_DECODER:
                rows = self.texts.facts(source, record).rows.get(sign, {})
                for row in rows:
                    steps.setdefault(row[start], set()).add(row[1 - start])
        return steps

    @staticmethod
    def _reached(start: str | None, steps: Mapping[str | None, set[str | None]]) -> set[str | None]:
        found, waiting = {start}, [start]
        while waiting:
            fresh = steps.get(waiting.pop(), set()) - found
            found |= fresh
            waiting += fresh
        return found

    def _one_entity(self, left: str | None, right: str | None) -> bool:
        """Whether facts files at hand join two names, over any number of others."""
        steps: dict[str | None, set[str | None]] = {}
        for start in (0, 1):
            for name, others in self._along("same_as/2", start).items():
                steps.setdefault(name, set()).update(others)
        return right in self._reached(left, steps)


class Derivation:
    """What follows from the leaves of one answer under all rules, and which leaf is spare.

    Goal-directed with tables: each call is made once, and each of its answers continues each
    body that waits for it once. Absences and aggregates hold as far as the certificate shows them.
    """

    def __init__(
        self,
        examination: Examination,
        leaves: Mapping[str, Sequence[Ground]],
        budget: int,
    ) -> None:
        self.examination = examination
        self.leaves = leaves
        self.budget = budget
        self.is_cut = False
        self.facts = Calls()
        self.given: dict[Ground, list[str]] = {}
        for unit, atoms in leaves.items():
            for sign, row in atoms:
                self.facts.add(sign, row)
                self.given.setdefault((sign, row), []).append(unit)
        self.instances: dict[Ground, dict[tuple[Ground, ...], None]] = {}

    def spare_leaf(self, goal: Ground) -> str | None:
        """Give a leaf without which the goal still follows, or None if there is none."""
        self._derive(goal)
        if self.is_cut:
            return None
        forced = self._forced(goal)
        loose = [unit for unit in self.leaves if unit not in forced]
        size = sum(len(tails) for tails in self.instances.values())
        if len(loose) * size > 5_000_000:
            self.is_cut = True
            return None
        return next((unit for unit in loose if self._follows(goal, unit)), None)

    def _derive(self, goal: Ground) -> None:
        rules = self.examination.rules_by_sign
        named = {sign: by_first_constant(found) for sign, found in rules.items()}
        tables: dict[Ground, dict[Arguments, None]] = {}
        waiting: dict[Ground, list[_Waiting]] = {}
        tasks: list[_Waiting] = []

        def call(sign: str, pattern: Arguments) -> Ground:
            key = (sign, pattern)
            if key not in tables:
                tables[key] = dict.fromkeys(self.facts.matching(sign, pattern))
                waiting[key] = []
                first = pattern[0] if pattern else None
                for rule in rules[sign] if first is None else named[sign](first):
                    bindings = unify_head(rule.head, pattern)
                    if bindings is not None and (rule.body or rule.head_names <= bindings.keys()):
                        tasks.append((rule, rule.plan(bindings), 0, bindings, key, ()))
            return key

        if goal[0] in rules:
            call(*goal)
        while tasks:
            self.budget -= 1
            if self.budget < 0:
                self.is_cut = True
                return
            rule, plan, index, bindings, key, tail = tasks.pop()
            if index == len(plan):
                head = rule.head_row(bindings)
                atom = (key[0], head)
                if atom not in tail:
                    self.instances.setdefault(atom, {})[tail] = None
                if head not in tables[key]:
                    tables[key][head] = None
                    for item in waiting[key]:
                        self._continue(item, key[0], head, tasks)
                continue
            planned = plan[index]
            literal = planned.literal
            if literal.kind != "positive":
                extended = self._test(planned, bindings)
                if extended is not None:
                    tasks.append((rule, plan, index + 1, extended, key, tail))
                continue
            item = (rule, plan, index, bindings, key, tail)
            pattern = planned.call(bindings)
            if literal.sign not in rules:
                for row in self.facts.matching(literal.sign, pattern, planned.bound):
                    self._continue(item, literal.sign, row, tasks)
                continue
            other = call(literal.sign, pattern)
            waiting[other].append(item)
            for row in list(tables[other]):
                self._continue(item, literal.sign, row, tasks)

    @staticmethod
    def _continue(item: _Waiting, sign: str, row: Arguments, tasks: list[_Waiting]) -> None:
        rule, plan, index, bindings, key, tail = item
        extended = plan[index].extend(bindings, row)
        if extended is not None:
            tasks.append((rule, plan, index + 1, extended, key, (*tail, (sign, row))))

    def _test(self, planned: Planned, bindings: dict[str, str]) -> dict[str, str] | None:
        literal, examination = planned.literal, self.examination
        if literal.kind == "comparison":
            if planned.assigns:
                value = computed(planned, bindings)
                return None if value is None else {**bindings, planned.assigns: value}
            return bindings if comparison_truth(literal, bindings) == TRUE else None
        text = literal.text(bindings)
        if planned.assigns:
            known = examination.aggregate_results.get(text)
            return None if known is None else {**bindings, planned.assigns: known}
        return bindings if text in examination.truths else None

    def _forced(self, goal: Ground) -> set[str]:
        """Leaves that every derivation of the goal uses: what each step's alternatives share."""
        forced: set[str] = set()
        seen, waiting = {goal}, [goal]
        while waiting:
            atom = waiting.pop()
            ways: list[Iterable[Any]] = [*self.instances.get(atom, ())]
            ways += [(unit,) for unit in self.given.get(atom, ())]
            shared = ways[0] if len(ways) == 1 else set.intersection(*map(set, ways))
            for item in shared:
                if isinstance(item, str):
                    forced.add(item)
                elif item not in seen:
                    seen.add(item)
                    waiting.append(item)
        return forced

    def _follows(self, goal: Ground, without: str) -> bool:
        counts: dict[int, int] = {}
        users: dict[Ground, list[tuple[int, Ground]]] = {}
        ready: list[Ground] = []
        number = 0
        for head, tails in self.instances.items():
            for tail in tails:
                parts = set(tail)
                counts[number] = len(parts)
                if not parts:
                    ready.append(head)
                for atom in parts:
                    users.setdefault(atom, []).append((number, head))
                number += 1
        ready += [atom for atom, units in self.given.items() if units != [without]]
        done = set(ready)
        while ready:
            atom = ready.pop()
            if atom == goal:
                return True
            for user, head in users.get(atom, ()):
                counts[user] -= 1
                if not counts[user] and head not in done:
                    done.add(head)
                    ready.append(head)
        return False


_Waiting = tuple[Rule, list[Planned], int, dict[str, str], Ground, tuple[Ground, ...]]


# ---------------------------------------------------------------- small questions


def _explain_keys(keys: Iterable[str], shapes: Sequence[frozenset[str]], where: str) -> NoReturn:
    present = set(keys)
    allowed = frozenset[str]().union(*shapes)
    for key in sorted(present - allowed):
        reject("UNKNOWN_FIELD", f"{where}/{key}", f"{key!r} is no field of the format")
    closest = min(shapes, key=lambda shape: len(shape ^ present))
    for key in sorted(present - closest):
        reject("UNKNOWN_FIELD", f"{where}/{key}", f"{key!r} does not belong here")
    reject("STRUCTURE", where, f"the fields {sorted(closest - present)} are missing")


def _require_all(section: str, listed: Iterable[str], used: set[str]) -> None:
    for name in listed:
        if name not in used:
            reject("UNUSED", f"{section}/{name}", f"nothing needs {name}")


def _renamed(tree: Tree) -> Tree:
    names: dict[str, str] = {}
    renamed = [
        {"variable": names.setdefault(item["variable"], f"V{len(names)}")}
        if "variable" in item
        else item
        for item in tree["arguments"]
    ]
    return {**tree, "arguments": renamed}


def _agrees(pattern: Arguments, row: Arguments) -> bool:
    return all(item is None or item == value for item, value in zip(pattern, row, strict=True))


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def comparison_truth(literal: Literal, bindings: Mapping[str, str]) -> str:
    """Evaluate a comparison whose variables are all bound."""
    tree = literal.tree
    left, right = evaluate(tree["left"], bindings), evaluate(tree["right"], bindings)
    if left is None or right is None:
        return UNDETERMINED
    if literal.defines and left == right:
        return TRUE
    return compare(tree["operator"], left, right)


def computed(planned: Planned, bindings: Mapping[str, str]) -> str | None:
    """Compute the value an equation gives to its open side."""
    tree = planned.literal.tree
    other = "right" if tree["left"].get("variable") == planned.assigns else "left"
    value = evaluate(tree[other], bindings)
    return None if value is None else write_value(value)


def expression_variables_of(trees: Sequence[Tree]) -> set[str]:
    """Give the names of the variables of several expressions."""
    return set[str]().union(*map(expression_variables, trees))


def claim_kind(literal: Literal) -> str:
    """Give the kind of the step that stands for a premise that is no atom."""
    if literal.kind != "comparison":
        return "closed"
    sides = (literal.tree["left"], literal.tree["right"])
    return "arithmetic" if any("operation" in side for side in sides) else "comparison"


def conversions_needed(tree: Tree, bindings: Mapping[str, str]) -> list[str]:
    """Give the conversions a comparison of two quantities in different units needs."""
    left, right = evaluate(tree["left"], bindings), evaluate(tree["right"], bindings)
    if not (left and right and left[0] == right[0] == "quantity" and left[2] != right[2]):
        return []
    magnitude = converted(right[1], right[2], left[2])
    if magnitude is None:
        return []
    return [f"{write_value(right)} = {write_value(('quantity', magnitude, left[2]))}"]


def aggregate_value(function: str, values: Sequence[Value]) -> Value | None:
    """Compute an aggregate over the first terms of distinct tuples."""
    if function == "count":
        return ("number", Fraction(len(values)))
    try:
        if function == "sum":
            total: Value = ("number", Fraction(0))
            for value in values:
                total = _bounded(_add(total, value))
            return total
        if not values:
            return GREATEST if function == "min" else LEAST
        return best_of(values, greatest=function == "max")
    except _NoValue:
        return None


# ---------------------------------------------------------------- entry points


_LARGE = 1_000_000
"""Bytes from which garbage collection waits until a certificate is examined."""


def verify_bytes(
    data: bytes,
    sources: Mapping[str, str] | Texts | None = None,
    *,
    expect_policy: str | None = None,
    expect_goal: str | None = None,
) -> Report:
    """Examine a certificate; `sources` maps digests of decoded texts to the texts.

    Never raises for what a certificate holds: a rejection is in the report.
    """
    texts = Texts(sources) if isinstance(sources, Mapping) else sources
    pause = len(data) > _LARGE and gc.isenabled()
    if pause:  # a large certificate is many small objects and no cycles
        gc.disable()
    try:
        return Examination(data, texts).run(expect_policy, expect_goal)
    except Rejected as found:
        return Report(False, found.rejection, found.where, found.message)
    except RecursionError:
        return Report(False, "MALFORMED", "", "something is nested too deep")
    except (TypeError, KeyError, AttributeError, ValueError, LookupError, ArithmeticError) as error:
        message = f"a field has the wrong type or form: {type(error).__name__} {error}"
        return Report(False, "STRUCTURE", "", message)
    finally:
        if pause:
            gc.enable()


# ---------------------------------------------------------------- command line


def report_text(report: Report) -> str:
    """Write a report for people."""
    if not report.valid:
        return f"rejected: {report.rejection} at {report.where or 'the top'}: {report.message}\n"
    code = f" ({report.code})" if report.code else ""
    day = f"on {report.valid_on}" if report.valid_on else "on no day in particular"
    lines = [f"valid: {report.verdict}{code} {report.goal} {day}"]
    lines += [f"  answer: {answer}" for answer in report.answers if answer != report.goal]
    for title, items in (
        ("checked", report.checked),
        ("trusted", report.trusted),
        ("not given", report.not_given),
    ):
        lines += [f"{title}:", *(f"  - {item}" for item in items)] if items else []
    return "\n".join(lines) + "\n"


def report_json(report: Report) -> dict[str, object]:
    """Give a report as one JSON object."""
    return {
        "valid": report.valid,
        "rejection": report.rejection or None,
        "exit_code": report.exit_code,
        "where": report.where,
        "message": report.message,
        "verdict": report.verdict or None,
        "code": report.code,
        "goal": report.goal or None,
        "valid_on": report.valid_on,
        "answers": list(report.answers),
        "checked": list(report.checked),
        "trusted": list(report.trusted),
        "not_given": list(report.not_given),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Examine the certificate named on the command line; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="verify", description="Check a certificate without trusting the program that made it."
    )
    parser.add_argument("certificate", type=Path, help="file with the canonical certificate")
    parser.add_argument("--sources", type=Path, help="folder with originals or decoded texts")
    parser.add_argument("--expect-policy", help="SHA-256 of the text of the policy")
    parser.add_argument("--expect-goal", help="text of the goal")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--expect-day", help="day for which facts must count, YYYY-MM-DD")
    options = parser.parse_args(arguments)
    gc.disable()  # one certificate, then the program ends
    try:
        data = options.certificate.read_bytes()
    except OSError as error:
        print(f"verify: {options.certificate} cannot be read: {error.strerror}", file=sys.stderr)
        return 1
    if options.sources is not None and not options.sources.is_dir():
        print(f"verify: {options.sources} is no folder", file=sys.stderr)
        return 2
    report = verify_in_folder(data, options)
    if options.json:
        print(json.dumps(report_json(report), ensure_ascii=False, indent=2))
    else:
        print(report_text(report), end="")
    return report.exit_code


def verify_in_folder(data: bytes, options: argparse.Namespace) -> Report:
    """Examine a certificate with the sources of a folder."""
    texts: Mapping[str, str] | Texts | None = None
    if options.sources is not None:
        try:
            sources = read_canonical(data)["sources"]
            check_shape(sources, SHAPE["sources"], "sources")
            folder = Folder(options.sources, sources)
            texts = Texts(folder, folder.tables, folder.originals)
        except Rejected as found:
            return Report(False, found.rejection, found.where, found.message)
        except (KeyError, TypeError):
            texts = {}
    report = verify_bytes(
        data, texts, expect_policy=options.expect_policy, expect_goal=options.expect_goal
    )
    if report.valid and options.expect_day not in (None, report.valid_on):
        message = f"it counts for {report.valid_on}, expected {options.expect_day}"
        return Report(False, "GOAL_MISMATCH", "valid_on", message)
    return report


if __name__ == "__main__":
    sys.exit(main())
