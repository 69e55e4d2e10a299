"""The published schema, the shape the checker asks for and what is written agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import rfc8785
from golden import Case, decide_case, golden_cases

from reasoner.certificate import canonical_bytes
from reasoner.verify import (
    _ATOM_STATEMENT,
    _EVIDENCE,
    _STATEMENT,
    REJECTIONS,
    RETRACTIONS,
    SHAPE,
    STEP_KEYS,
)

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


OPTIONAL = {"retractions"}
"""There only where the request leaves something out."""


def fields(schema: dict[str, Any]) -> set[str]:
    """Give the required fields of an object, which are all it has."""
    assert set(schema["required"]) == set(schema["properties"]) - OPTIONAL
    assert schema["additionalProperties"] is False
    return set(schema["properties"])


def test_the_checker_asks_for_the_fields_of_the_schema() -> None:
    parts = SCHEMA["$defs"]
    assert fields(SCHEMA) == {*SHAPE, *OPTIONAL}
    retraction = SCHEMA["properties"]["retractions"]["items"]
    assert fields(retraction) == set(RETRACTIONS[0])
    assert fields(SCHEMA["properties"]["witness"]) == set(SHAPE["witness"])
    for name, shape in (
        ("policy", SHAPE["policies"][0]),
        ("rule", SHAPE["rules"]["*"]),
        ("source", SHAPE["sources"]["*"]),
        ("requirement", SHAPE["open"][0]),
        ("proved", SHAPE["answers"][0]),
        ("demand", SHAPE["witness"]["demands"][0]),
        ("lookup", SHAPE["witness"]["lookups"][0]),
        ("conflict", SHAPE["witness"]["contested"][0]),
        ("statement", _STATEMENT),
        ("fact", _ATOM_STATEMENT),
        ("evidence", _EVIDENCE),
    ):
        assert fields(parts[name]) == set(shape), name


def test_kinds_of_steps_are_the_same() -> None:
    found: dict[str, set[frozenset[str]]] = {}
    for shape in SCHEMA["properties"]["steps"]["items"]["oneOf"]:
        for kind in shape["properties"]["kind"]["enum"]:
            found.setdefault(kind, set()).add(frozenset(fields(shape)))
    assert {kind: set(keys) for kind, keys in STEP_KEYS.items()} == found


def test_every_rejection_class_is_documented_with_its_exit_code() -> None:
    text = (DOCS / "verifying.md").read_text(encoding="utf-8")
    for name, code in REJECTIONS.items():
        assert f"| {code} | `{name}` |" in text
    assert len(set(REJECTIONS.values())) == len(REJECTIONS)
    assert min(REJECTIONS.values()) == 10
