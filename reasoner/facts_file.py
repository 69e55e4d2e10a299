"""Reads facts files: ground atoms, with where each stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from kb.errors import ValueUnreadable

from .atom import Atom, Constant, Symbol
from .collection import paused_collection
from .errors import PolicyRejected
from .source_text import normalize, scan
from .syntax import (
    DECLARATIONS,
    LONGEST_NUMBER,
    READERS,
    Declaration,
    Fault,
    Rule,
    read_statement,
    read_text,
)


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact of a facts file and its span `[start, end)` in the normalized text, with the stop."""

    atom: Atom
    start: int
    end: int


_ARGUMENT = r"""(?:"(?:[^"\\\n\0]|\\[^\n])*"|-?[0-9]+|[a-z][A-Za-z0-9_]*|@[a-z]+\("[^"\\\n]*"\))"""
_SIMPLE_FACT = re.compile(
    rf"""
    (?P<sign>-?) (?!not\b) (?P<name>[a-z][A-Za-z0-9_]*)
    (?: \( \s* (?P<arguments> {_ARGUMENT} (?: \s*,\s* {_ARGUMENT} )* ) \s* \) )?
    \s* \. (?![.0-9])
    """,
    re.ASCII | re.VERBOSE,
)
_ARGUMENTS = re.compile(rf"({_ARGUMENT})\s*,?\s*", re.ASCII)
_BETWEEN = re.compile(r"(?:[ \t\f\n]+|%(?!\*)[^\n]*)*")


def _read_argument(text: str) -> Constant | None:
    """Read a simple ground argument; None where the full parser must say what is wrong."""
    first = text[0]
    if first == '"':
        if "\\" not in text:
            return text[1:-1]
        try:
            return read_text(text)
        except Fault:
            return None
    if first == "@":
        kind, _, quoted = text[1:-1].partition("(")
        try:
            return READERS[kind](quoted[1:-1])
        except (KeyError, ValueUnreadable):
            return None
    if first.islower():
        return Symbol(text) if text != "not" else None
    return Fraction(int(text)) if len(text) <= LONGEST_NUMBER else None


def _read_plain(text: str) -> tuple[FactLine, ...] | None:
    """Read a file that holds nothing but plain facts, fast; None for any other file."""
    facts: list[FactLine] = []
    offset = _skip(text, 0)
    while offset < len(text):
        match = _SIMPLE_FACT.match(text, offset)
        if match is None:
            return None
        sign, name, arguments = match.group("sign", "name", "arguments")
        constants: list[Constant] = []
        for argument in _ARGUMENTS.findall(arguments) if arguments else ():
            constant = _read_argument(argument)
            if constant is None:
                return None
            constants.append(constant)
        if name in DECLARATIONS:
            return None
        facts.append(FactLine(Atom(name, tuple(constants), sign == "-"), offset, match.end()))
        offset = _skip(text, match.end())
    return tuple(facts)


def _skip(text: str, offset: int) -> int:
    match = _BETWEEN.match(text, offset)
    return match.end() if match is not None else offset


def parse_facts(text: str, *, name: str) -> tuple[FactLine, ...]:
    """Read ground atoms, each with a full stop; comments are allowed, rules are not.

    Spans count code points of the text without byte order mark and with line feeds as line ends.
    Raises PolicyRejected with every error.
    """
    text = normalize(text)
    with paused_collection():
        plain = _read_plain(text)
    if plain is not None:
        return plain
    source = scan(text)
    findings = list(source.findings)
    facts: list[FactLine] = []
    for statement in source.statements:
        if statement.is_faulty:
            continue
        atom, faults = _read_fact(statement.text)
        if atom is not None:
            facts.append(FactLine(atom, statement.start, statement.end))
        findings += (
            source.finding(statement.start + fault.offset, fault.code, fault.message)
            for fault in faults
        )
    if findings:
        raise PolicyRejected(name, tuple(sorted(findings)))
    return tuple(facts)


def _read_fact(text: str) -> tuple[Atom | None, tuple[Fault, ...]]:
    read, faults = read_statement(text)
    match read:
        case Declaration(name):
            message = f"{name} is a declaration; declarations belong into a policy"
            return None, (Fault(0, "rule_among_facts", message),)
        case Rule(head, body):
            if body:
                message = "a rule stands among facts; rules belong into a policy"
                return None, (Fault(0, "rule_among_facts", message),)
            if not head.is_ground:
                message = f"the fact {head} holds a variable; facts are ground"
                return None, (Fault(0, "unsafe", message),)
            return head, ()
    return None, faults
