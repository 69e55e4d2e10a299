"""The published schema, the shape the checker asks for and what is written agree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import rfc8785
from golden import Case, decide_case, golden_cases, load
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoner.certificate import canonical_bytes
from reasoner.checker.format import SHAPES, OneOf
from reasoner.verify import REJECTIONS, verify_bytes

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA: dict[str, Any] = json.loads((DOCS / "certificate.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case.name)
def test_certificates_follow_the_schema_and_are_canonical(case: Case) -> None:
    data = decide_case(case).certificate
    certificate = json.loads(data)
    VALIDATOR.validate(certificate)
    assert rfc8785.dumps(certificate) == data == canonical_bytes(certificate)


def test_unknown_fields_do_not_follow_the_schema() -> None:
    certificate = json.loads(decide_case(golden_cases()[0]).certificate)
    places = [
        certificate,
        certificate["witness"],
        certificate["steps"][0],
        next(iter(certificate["statements"].values())),
    ]
    for place in places:
        place["note"] = ""
        assert not VALIDATOR.is_valid(certificate)
        del place["note"]
    assert VALIDATOR.is_valid(certificate)


def as_schema(shape: Any) -> Any:
    """Write a shape of the checker as JSON Schema, names of shapes resolved."""
    match shape:
        case str():
            return as_schema(SHAPES[shape]) if shape not in RECURSIVE else {"$ref": shape}
        case type():
            return {"type": {str: "string", bool: "boolean", int: "integer"}[shape]}
        case re.Pattern():
            return {"type": "string", "pattern": f"^{shape.pattern}$"}
        case OneOf():
            return {"enum": list(shape.values)}
        case [item]:
            return {"type": "array", "items": as_schema(item)}
        case (item, None):
            return {**as_schema(item), "type": [as_schema(item)["type"], "null"]}
        case tuple():
            return {"oneOf": [as_schema(item) for item in shape]}
    (first, *_) = shape
    if first == "*":
        return {"type": "object", "additionalProperties": as_schema(shape["*"])}
    if isinstance(first, re.Pattern):
        names = {"propertyNames": as_schema(first), "additionalProperties": as_schema(shape[first])}
        return {"type": "object", **names}
    return {
        "type": "object",
        "properties": {key.removesuffix("?"): as_schema(item) for key, item in shape.items()},
        "required": [key for key in shape if not key.endswith("?")],
        "additionalProperties": False,
    }


RECURSIVE = ("expression", "literal")
WORDS = ("$schema", "$id", "title", "description", "minItems", "maxItems", "minimum", "format")


def resolved(part: Any) -> Any:
    """Give the published schema without words for people and limits, references resolved."""
    match part:
        case {"$ref": str(name)}:
            name = name.rpartition("/")[2]
            return {"$ref": name} if name in RECURSIVE else resolved(SCHEMA["$defs"][name])
        case {"const": value}:
            return {"enum": [value]}
        case {"properties": properties, "required": required, **rest}:
            assert set(properties) - set(required) <= {"retractions"}
            fields = {key: resolved(item) for key, item in properties.items()}
            return {**resolved(rest), "properties": fields, "required": list(required)}
        case dict():
            return {k: resolved(v) for k, v in part.items() if k not in (*WORDS, "$defs")}
        case list():
            return [resolved(item) for item in part]
    return part


def unordered(part: Any) -> Any:
    """Sort a schema: the order of fields and alternatives means nothing."""
    if isinstance(part, dict):
        return {key: unordered(part[key]) for key in sorted(part)}
    if isinstance(part, list):
        return sorted(map(unordered, part), key=json.dumps)
    return part


@pytest.mark.parametrize("name", ["certificate", *RECURSIVE])
def test_the_checker_asks_for_what_the_schema_says(name: str) -> None:
    published = SCHEMA if name == "certificate" else SCHEMA["$defs"][name]
    assert unordered(as_schema(SHAPES[name])) == unordered(resolved(published))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value below."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in pairs:
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))


ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    "",
    "x",
    "2026-13-99",
    [],
    ["x"],
    [[]],
    {},
    {"x": "y"},
    {"atom": 5},
)


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_what_the_schema_forbids_the_checker_rejects(data: st.DataObject) -> None:
    """Change any place of a certificate: what is no certificate for one is none for the other."""
    case = data.draw(st.sampled_from(golden_cases()))
    certificate = json.loads(decided(case.name))
    *path, last = data.draw(st.sampled_from(list(places(certificate))))
    target: Any = certificate
    for key in path:
        target = target[key]
    change = data.draw(st.sampled_from(["replace", "delete", "add", "rename"]))
    odd = data.draw(st.sampled_from(ODD))
    if change == "delete":
        del target[last]
    elif change == "replace" or isinstance(target, list):
        target[last] = odd
    elif change == "add":
        target["x"] = odd
    else:
        target[f"{last}x"] = target.pop(last)
    report = verify_bytes(canonical_bytes(certificate), load(case.facts)[1].texts)
    assert not report.valid or VALIDATOR.is_valid(certificate), (path, last, change, odd)


@cache
def decided(name: str) -> bytes:
    """Give the certificate of a case."""
    (case,) = (case for case in golden_cases() if case.name == name)
    return decide_case(case).certificate


def test_every_rejection_class_is_documented_with_its_exit_code() -> None:
    text = (DOCS / "verifying.md").read_text(encoding="utf-8")
    for name, code in REJECTIONS.items():
        assert f"| {code} | `{name}` |" in text
    assert len(set(REJECTIONS.values())) == len(REJECTIONS)
    assert min(REJECTIONS.values()) == 10
