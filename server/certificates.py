"""What two certificates differ in, and the texts a certificate quotes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from proofweave.v1 import certificate_pb2 as pb

from kb.errors import NotFound
from kb.reading import Reading
from reasoner.verify import Report, verify_bytes

# Certificates are JSON whose schema the verifier checks; here members are read as they are.
Json = Mapping[str, Any]


def changes(before: Json, after: Json) -> Iterator[pb.Change]:
    """Give what differs, part by part in a fixed order, within a part by id."""
    for part in ("verdict", "code", "question", "goal", "valid_on"):
        yield from _differences(part, {part: before[part] or ""}, {part: after[part] or ""})
    parts: dict[str, Callable[[Json], dict[str, str]]] = {
        "answer": lambda one: {found["atom"]: "" for found in one["answers"]},
        "policy": lambda one: {found["id"]: found["version"] for found in one["policies"]},
        "rule": lambda one: {name: rule["text"] for name, rule in one["rules"].items()},
        "statement": lambda one: {
            name: _statement_text(statement) for name, statement in one["statements"].items()
        },
        "open": lambda one: {found["atom"]: found["code"] for found in one["open"]},
        "assumption": lambda one: dict.fromkeys(one["assumptions"], ""),
        "retraction": lambda one: {
            found["statement"]: found["atom"] for found in one.get("retractions", ())
        },
    }
    for part, read in parts.items():
        yield from _differences(part, read(before), read(after))


def change_line(change: pb.Change) -> str:
    """Write a change in one line: `+` added, `-` removed, `~` changed."""
    sign = {pb.CHANGE_KIND_ADDED: "+", pb.CHANGE_KIND_REMOVED: "-"}.get(change.kind, "~")
    words = " -> ".join(text for text in (change.before, change.after) if text)
    name = change.part if change.id == change.part else f"{change.part} {change.id}"
    return f"{sign} {name}: {words}" if words else f"{sign} {name}"


def _statement_text(statement: Json) -> str:
    if "atom" in statement:
        return str(statement["atom"])
    sign = "" if statement["polarity"] == "affirmed" else "not "
    value = statement["value"]["value"]
    return f"{sign}{statement['dimension']} of {statement['subject']}: {value}"


def _differences(
    part: str, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[pb.Change]:
    for key in sorted(before.keys() | after.keys()):
        if key not in after:
            kind = pb.CHANGE_KIND_REMOVED
        elif key not in before:
            kind = pb.CHANGE_KIND_ADDED
        elif before[key] != after[key]:
            kind = pb.CHANGE_KIND_CHANGED
        else:
            continue
        yield pb.Change(
            kind=kind, part=part, id=key, before=before.get(key, ""), after=after.get(key, "")
        )


def quoted_sources(data: bytes) -> dict[str, Json]:
    """Give the sources of a certificate by digest; what is no certificate quotes nothing."""
    try:
        sources = json.loads(data)["sources"]
        return {
            name: source
            for name, source in sources.items()
            if isinstance(source["text_sha256"], str)
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def quoted_places(data: bytes) -> set[tuple[str, str, int, int]]:
    """Give the evidence of a certificate: statement, source and half-open span."""
    try:
        return {
            (name, item["source_sha256"], item["start"], item["end"])
            for name, statement in json.loads(data)["statements"].items()
            for item in statement["evidence"]
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return set()


def verify_stored(
    base: Reading,
    data: bytes,
    *,
    expect_policy: str | None,
    expect_goal: str | None,
    expect_day: str | None = None,
) -> Report:
    """Examine a certificate with the sources of a knowledge base.

    One that rests on an erased source or on erased evidence is rejected as `ERASED`: nobody can
    check it any more, or nobody may.
    """
    report = verify_bytes(
        data,
        stored_texts(base, data),
        expect_policy=expect_policy,
        expect_goal=expect_goal,
        expect_day=expect_day,
    )
    if report.valid or report.rejection == "SOURCE_MISSING":
        for digest, source in sorted(quoted_sources(data).items()):
            if base.is_erased(digest):
                message = f"the source {source.get('title')!r} has been erased"
                return Report(False, "ERASED", f"sources/{digest}", message)
        for statement_id, digest, start, end in sorted(quoted_places(data)):
            if base.is_evidence_erased(statement_id, digest, start, end):
                message = f"what [{start}, {end}) of the source stated has been erased"
                return Report(False, "ERASED", f"statements/{statement_id}", message)
    return report


def stored_texts(base: Reading, data: bytes) -> dict[str, str]:
    """Give the decoded texts that a certificate quotes and the knowledge base has, by digest."""
    found: dict[str, str] = {}
    for source in quoted_sources(data).values():
        try:
            found[source["text_sha256"]] = base.text(source["text_sha256"])
        except NotFound:
            continue
    return found
