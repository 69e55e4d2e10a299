"""The answers of a certificate as messages: bindings, words, and the quotes below each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proofweave.v1 import common_pb2

from reasoner.atom import Atom, Variable, render_term
from reasoner.policy import parse_atom

from .export.wording import plain_atom, sentence

# Certificates are JSON whose schema the verifier checks; here members are read as they are.
Json = Mapping[str, Any]

QUOTES = 50
"""Quotes shown with one answer; its certificate holds them all."""

QUOTE_BYTES = 1024 * 1024
"""Size from which further answers come without quotes, so that a message never grows too large."""


def answer_messages(
    goal: Atom, found: Iterable[Json], certificate: Json
) -> list[common_pb2.Answer]:
    """Translate answers `{"atom", "step"}` in their order."""
    steps = {step["id"]: step for step in certificate["steps"]}
    names = _other_names(certificate)
    messages: list[common_pb2.Answer] = []
    size = 0
    for answer in found:
        message = common_pb2.Answer(
            atom=answer["atom"],
            bindings=_bindings(goal, answer["atom"]),
            label=_label(steps.get(answer["step"]), answer["atom"], certificate),
            names=_names_in(answer["atom"], goal, names),
        )
        if size < QUOTE_BYTES:
            message.quotes.extend(_quotes(answer["step"], steps, certificate))
        size += message.ByteSize()
        messages.append(message)
    return messages


def _bindings(goal: Atom, text: str) -> dict[str, str]:
    """Give the values of the goal's named variables."""
    if goal.is_ground:
        return {}
    atom = parse_atom(text)
    return {
        pattern.name: render_term(term)
        for pattern, term in zip(goal.arguments, atom.arguments, strict=True)
        if isinstance(pattern, Variable) and not pattern.name.startswith("_")
    }


def _other_names(certificate: Json) -> dict[str, list[str]]:
    """Give the other names that a certificate shows for entities, by name."""
    found: dict[str, list[str]] = {}
    for demand in certificate["witness"]["demands"]:
        call = parse_atom(demand["pattern"])
        if call.signature == ("alias", 2) and isinstance(call.arguments[1], Variable):
            rows = [parse_atom(answer["atom"]).arguments[1] for answer in demand["answers"]]
            found[str(call.arguments[0])] = sorted(str(row) for row in rows)
    return found


def _names_in(text: str, goal: Atom, names: Mapping[str, list[str]]) -> list[str]:
    """Give the other names of what an answer puts at the open places of a goal."""
    if not names or goal.is_ground:
        return []
    found = parse_atom(text).arguments
    return [
        other
        for term, pattern in zip(found, goal.arguments, strict=True)
        if isinstance(pattern, Variable) and isinstance(term, str)
        for other in names.get(term, ())
    ]


def _label(step: Json | None, atom: str, certificate: Json) -> str:
    if step is None:
        return plain_atom(atom)
    says = certificate["rules"].get(step.get("rule") or "", {}).get("says", "")
    return sentence(says, step.get("bindings") or {}) if says else plain_atom(atom)


def _quotes(root: str, steps: Mapping[str, Json], certificate: Json) -> list[common_pb2.Quote]:
    """Give the quotes of the stated steps below a step, depth first, each statement once."""
    quotes: list[common_pb2.Quote] = []
    seen: set[str] = set()
    statements: set[str] = set()
    stack = [root]
    while stack and len(quotes) < QUOTES:
        name = stack.pop()
        step = steps.get(name)
        if step is None or name in seen:
            continue
        seen.add(name)
        stack.extend(reversed(step["premises"]))
        statement = step.get("statement")
        if statement is None or statement in statements:
            continue
        statements.add(statement)
        for found in certificate["statements"][statement]["evidence"][:1]:
            source = certificate["sources"][found["source_sha256"]]
            quotes.append(
                common_pb2.Quote(
                    statement=statement,
                    source_sha256=found["source_sha256"],
                    title=source["title"],
                    start=found["start"],
                    end=found["end"],
                    quote=found["quote"],
                )
            )
    return quotes
