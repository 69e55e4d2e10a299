"""Reads policies and goals (docs/policy-language.md); all errors come together."""

from __future__ import annotations

from collections.abc import Collection

from .atom import Atom
from .clause import Policy
from .errors import GoalRejected, PolicyRejected, Severity
from .facts import Signature
from .facts_file import FactLine, parse_facts
from .lint import check_policy
from .policy_text import read_policy
from .source_text import normalize, scan
from .syntax import Fault, read_goal

__all__ = ["FactLine", "parse_atom", "parse_facts", "parse_policy"]


_NEEDS_ALL_RULES = frozenset({"undefined", "never_fires"})


def parse_policy(text: str, *, name: str, known: Collection[Signature] | None = None) -> Policy:
    """Read a policy; `name` stands for it in messages, and as its id where it has no header.

    `known` predicates are those of `check_policy`.

    Its digest is the SHA-256 of the text without byte order mark and with line feeds as line ends.
    Raises PolicyRejected where there is an error, with every finding, of reading and of
    `check_policy`.
    """
    policy, findings = read_policy(text, name=name)
    checked = check_policy(policy, known=known)
    if findings:  # what cannot be read may hold the rule that another finding misses
        checked = tuple(found for found in checked if found.code not in _NEEDS_ALL_RULES)
    found = [*findings, *checked]
    if any(finding.severity is Severity.ERROR for finding in found):
        raise PolicyRejected(name, tuple(sorted(found)))
    return policy


def parse_atom(text: str) -> Atom:
    """Read a goal such as `insured("Acme")` or `-insured(X)`; a full stop may follow.

    Raises GoalRejected, naming the column.
    """
    source = scan(normalize(text))
    for finding in source.findings:
        if finding.code != "syntax":
            raise GoalRejected(f"goal {text!r}, column {finding.column}: {finding.message}")
    try:
        return read_goal(source.text)
    except Fault as fault:
        message = f"goal {text!r}, column {fault.offset + 1}: {fault.message}"
        raise GoalRejected(message) from fault
