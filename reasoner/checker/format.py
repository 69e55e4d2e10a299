"""What a certificate looks like: rejection classes, canonical JSON, and the shape of every field.

`SHAPES` is `docs/certificate.schema.json` as data. A shape is a type, a name of another shape, a
pattern or a choice of texts, `[items]`, `{field: shape}`, `{"*": shape}` for any key, `{pattern:
shape}` for keys of a form, or a tuple of alternatives. A field named with `?` may be missing.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

FORMAT = "proofweave.certificate/1"
Json = dict[str, Any]

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
    "ERASED": 39,  # said by who holds the sources: one of them has been erased
}
"""Rejection classes with their exit codes; neither ever changes its meaning."""


class Rejected(Exception):
    """The certificate does not hold; `where` is a path into it, "" for the place at hand."""

    def __init__(self, rejection: str, message: str, where: str = "") -> None:
        super().__init__(message)
        self.rejection, self.message, self.where = rejection, message, where

    def within(self, key: object) -> Rejected:
        """Give the same rejection, seen from one level up."""
        return Rejected(self.rejection, self.message, f"{key}/{self.where}".rstrip("/"))


def reject(rejection: str, message: str) -> NoReturn:
    """Stop with a named class."""
    raise Rejected(rejection, message)


def require(holds: object, rejection: str, message: str) -> None:
    """Stop with a named class unless something holds."""
    if not holds:
        raise Rejected(rejection, message)


# ---------------------------------------------------------------- canonical JSON


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def canonical(value: object) -> bytes:
    """Write RFC 8785 for what certificates hold: texts, integers, ASCII keys."""
    return _ENCODER.encode(value).encode()


def _unique(pairs: list[tuple[str, object]]) -> Json:
    for key, count in Counter(key for key, _ in pairs).items():
        require(count == 1, "DUPLICATE_KEY", f"{key!r} stands twice in one object")
    return dict(pairs)


def _no_number(text: str) -> NoReturn:
    reject("NOT_CANONICAL", f"{text} is no integer; the format has no other numbers")


def read_canonical(data: bytes) -> Any:
    """Read JSON whose bytes are exactly their canonical form."""
    require(data[:3] != b"\xef\xbb\xbf", "NOT_CANONICAL", "it begins with a byte order mark")
    try:
        text = data.decode()
        value = json.loads(text, parse_constant=_no_number, parse_float=_no_number)
        if canonical(value) != data:
            json.loads(text, object_pairs_hook=_unique)
            reject("NOT_CANONICAL", "other bytes than RFC 8785: white space, order or numbers")
    except RecursionError:
        reject("MALFORMED", "the JSON is nested too deep")
    except ValueError as error:  # bytes that are no UTF-8, half a surrogate pair, or no JSON
        reject("MALFORMED", f"no JSON in UTF-8: {error}")
    return value


# ---------------------------------------------------------------- shapes


@dataclass(frozen=True)
class OneOf:
    """A choice of texts (or null), and the class of rejection for any other."""

    values: tuple[str | None, ...]
    rejection: str = "STRUCTURE"


CODES = (
    *("BUDGET", "CONFLICT", "UNDETERMINED", "UNVERIFIED_ENTITY", "GAP_IN_EXTRACTION"),
    *("GAP_IN_CORPUS", "OUT_OF_SCOPE", "EXCLUDED"),
)
"""Why something is open; the first of them is the code of the abstention."""
VERDICTS = ("CERTIFIED", "REFUTED", "ABSTAINED")
BASES = ("facts", "table", "declared", "absent", "knowledge", "request", "provenance", "identity")
VALUE_KINDS = ("entity", "class", "text", "number", "quantity", "date")
DIGEST, STEP = re.compile(r"[0-9a-f]{64}"), re.compile(r"s[1-9][0-9]*")
STATEMENT, REQUIREMENT = re.compile(r"st:[0-9a-f]{32}"), re.compile(r"or:[0-9a-f]{16}")
DAY = (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), None)
DIMENSION = re.compile(r"_*[a-z][A-Za-z0-9_]*")
_STEP = {"id": STEP, "conclusion": str, "premises": [STEP]}
_PLAIN_KINDS = (
    *("request", "assumed", "declared", "identity"),
    *("comparison", "arithmetic", "conversion", "closed"),
)

SHAPES: dict[str, Any] = {
    "certificate": {
        "format": OneOf((FORMAT,), "FORMAT_VERSION"),
        "verdict": OneOf(VERDICTS, "VERDICT_MISMATCH"),
        "code": OneOf((*CODES, None), "VERDICT_MISMATCH"),
        "question": (str, None),
        "understood_as": (str, None),
        "goal": str,
        "valid_on": DAY,
        "knowledge": DIGEST,
        "complete": bool,
        "answers": ["proved"],
        "refuted": ["proved"],
        "policies": ["policy"],
        "rules": {"*": "rule"},
        "sources": {DIGEST: "source"},
        "statements": {STATEMENT: ("statement", "fact")},
        "steps": [("rule step", "statement step", "plain step")],
        "open": ["requirement"],
        "assumptions": [str],
        "retractions?": ["retraction"],
        "witness": {"demands": ["demand"], "lookups": ["lookup"], "contested": ["conflict"]},
        "validity": {"start": DAY, "end": DAY, "next_change": DAY},
    },
    "proved": {"atom": str, "step": STEP},
    "retraction": {"statement": STATEMENT, "atom": str},
    "policy": {"id": str, "version": str, "digest": DIGEST, "effective": str, "text": str},
    "rule": {"clause": "clause", "text": str, "cite": str, "says": str},
    "clause": {"head": "atom", "body": ["literal"]},
    "atom": {"predicate": str, "negated": bool, "arguments": ["expression"]},
    "expression": (
        *({kind: str} for kind in ("variable", "symbol", "text", "number", "date", "quantity")),
        {"operation": str, "arguments": ["expression"]},
    ),
    "literal": (
        {"positive": "atom"},
        {"absent": "atom"},
        {"comparison": {"operator": "operator", "left": "expression", "right": "expression"}},
        {"aggregate": "aggregate"},
    ),
    "aggregate": {
        "operator": "operator",
        "result": "expression",
        "function": OneOf(("count", "sum", "min", "max")),
        "terms": ["expression"],
        "conditions": ["literal"],
    },
    "operator": OneOf(("=", "!=", "<", "<=", ">", ">=")),
    "source": {"media_type": str, "title": str, "decoder": str, "text_sha256": DIGEST},
    "evidence": {
        **dict.fromkeys(("source_sha256", "text_sha256"), DIGEST),
        **dict.fromkeys(("start", "end"), int),
        **dict.fromkeys(("quote", "extractor"), str),
    },
    "statement": {
        "subject": str,
        "dimension": DIMENSION,
        "value": {"kind": OneOf(VALUE_KINDS), "value": str},
        "polarity": OneOf(("affirmed", "denied")),
        "validity": {"start": DAY, "end": DAY},
        "evidence": ["evidence"],
    },
    "fact": {"atom": str, "evidence": ["evidence"]},
    "rule step": {
        **_STEP,
        "kind": OneOf(("rule", "identity", "subsumption", "meet")),
        "rule": str,
        "bindings": {"*": str},
    },
    "statement step": {**_STEP, "kind": OneOf(("stated", "provenance")), "statement": STATEMENT},
    "plain step": {**_STEP, "kind": OneOf(_PLAIN_KINDS)},
    "requirement": {
        "id": REQUIREMENT,
        "atom": str,
        "code": OneOf(CODES, "OPEN_MISMATCH"),
        **dict.fromkeys(("rule", "query", "expected", "entity_test", "detail"), str),
        "rejected": [str],
        "conflicting": [STATEMENT],
    },
    "demand": {"pattern": str, "answers": ["proved"], "possible": [str]},
    "lookup": {"pattern": str, "answers": ["proved"], "basis": OneOf(BASES)},
    "conflict": {"reason": str, "sides": ["proved"]},
}


Check = Callable[[Any], None]
_NAMES = {str: "a text", bool: "true or false", int: "an integer"}


def check_shape(value: object, shape: Any) -> None:
    """Compare a value with a shape; every field must be there, and no other but optional ones."""
    _compiled(shape)(value)


@functools.cache
def _named(name: str) -> Check:
    return _compiled(SHAPES[name])


def _compiled(shape: Any) -> Check:
    """Make a function that rejects what is not of a shape."""
    match shape:
        case str():
            return lambda value: _named(shape)(value)  # shapes may hold each other
        case type():
            return _leaf(lambda value: type(value) is shape, _NAMES[shape])
        case re.Pattern():
            holds = shape.fullmatch
            return _leaf(lambda value: type(value) is str and holds(value), shape.pattern)
        case OneOf():
            return _leaf(shape.values.__contains__, f"one of {shape.values}", shape.rejection)
        case (item, None):
            check = _compiled(item)
            return lambda value: None if value is None else check(value)
        case tuple():
            return _alternatives([SHAPES[s] if isinstance(s, str) else s for s in shape])
        case [item]:
            return _collection(list, enumerate, _compiled(item), None)
        case {"*": item}:
            return _collection(dict, dict.items, _compiled(item), None)
    key, item = next(iter(shape.items()))
    if isinstance(key, re.Pattern):
        return _collection(dict, dict.items, _compiled(item), _compiled(key))
    return _object(shape)


def _leaf(holds: Callable[[Any], object], expected: str, rejection: str = "STRUCTURE") -> Check:
    def check(value: Any) -> None:
        if not holds(value):
            reject(rejection, f"expected {expected}, found {value!r:.80}")

    return check


def _collection(kind: type, pairs: Any, item: Check, key: Check | None) -> Check:
    def check(value: Any) -> None:
        require(type(value) is kind, "STRUCTURE", f"expected a {kind.__name__}")
        at: object = ""
        try:
            for at, part in pairs(value):
                if key is not None:
                    key(at)
                item(part)
        except Rejected as found:
            raise found.within(at) from None

    return check


def _object(shape: Json) -> Check:
    fields = {key.removesuffix("?"): _compiled(item) for key, item in shape.items()}
    required = shape.keys() & fields.keys()

    def check(value: Any) -> None:
        require(type(value) is dict, "STRUCTURE", "expected an object")
        if value.keys() != fields.keys():
            for key in sorted(value.keys() - fields.keys()):
                reject("UNKNOWN_FIELD", f"{key!r} is no field here")
            missing = ", ".join(sorted(required - value.keys()))
            require(not missing, "STRUCTURE", f"missing: {missing}")
        key = ""
        try:
            for key, part in value.items():
                fields[key](part)
        except Rejected as found:
            raise found.within(key) from None

    return check


def _alternatives(shapes: list[Json]) -> Check:
    """Choose the alternative with the fields of a value, or the closest."""
    checks = [(shape.keys(), _compiled(shape)) for shape in shapes]

    def check(value: Any) -> None:
        keys = value.keys() if type(value) is dict else frozenset()
        for fields, alternative in checks:
            if keys == fields:
                return alternative(value)
        return min(checks, key=lambda pair: len(pair[0] ^ keys))[1](value)

    return check
