"""Steps of a written certificate, read back: in order, with their leaves, as messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from reasoner.render import sentence

# Certificates are JSON whose schema the verifier checks; here members are read as they are.
Json = Mapping[str, Any]


def roots_of(certificate: Json) -> tuple[str, ...]:
    """Give the steps that prove its answers, certified and refuted, each once."""
    found = (*certificate["answers"], *certificate["refuted"])
    return tuple(dict.fromkeys(answer["step"] for answer in found))


def steps_below(certificate: Json, roots: Iterable[str]) -> list[Json]:
    """Give the steps that some steps rest on, these included, premises first."""
    needed = set(roots)
    found: list[Json] = []
    for step in reversed(certificate["steps"]):
        if step["id"] in needed:
            needed.update(step["premises"])
            found.append(step)
    return found[::-1]


def leaf_steps(certificate: Json) -> list[Json]:
    """Give what the answers rest on: one step for each statement and each assumption, in order."""
    found: dict[str, Json] = {}
    for step in steps_below(certificate, roots_of(certificate)):
        if step["kind"] in ("stated", "assumed"):
            found.setdefault(step.get("statement") or step["conclusion"], step)
    return list(found.values())


def quote_messages(certificate: Json, statement: str) -> Iterator[common_pb2.Quote]:
    """Give the quotes of a statement of a certificate."""
    for evidence in certificate["statements"][statement]["evidence"]:
        source = evidence["source_sha256"]
        yield common_pb2.Quote(
            statement=statement,
            source_sha256=source,
            title=certificate["sources"][source]["title"],
            start=evidence["start"],
            end=evidence["end"],
            quote=evidence["quote"],
        )


def leaf_of(step: Json, certificate: Json) -> pb.SupportLeaf:
    """Translate a leaf with the first quote of its statement."""
    statement = step.get("statement")
    quotes = list(quote_messages(certificate, statement))[:1] if statement else []
    return pb.SupportLeaf(id=statement or "assumed", atom=step["conclusion"], quotes=quotes)


def step_message(step: Json, certificate: Json) -> common_pb2.ProofStep:
    """Translate a step, with the sentence of its rule or the quotes of its statement."""
    rule = certificate["rules"][step["rule"]] if "rule" in step else None
    stated = step["statement"] if step["kind"] == "stated" else None
    return common_pb2.ProofStep(
        id=step["id"],
        kind=step["kind"],
        conclusion=step["conclusion"],
        premises=step["premises"],
        rule=step.get("rule", ""),
        cite=(rule or {}).get("cite") or "",
        says=sentence(rule["says"], step["bindings"]) if rule and rule["says"] else "",
        quotes=quote_messages(certificate, stated) if stated else (),
    )
