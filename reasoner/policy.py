"""Reads policies and goals (docs/policy-language.md); all errors come together."""

from __future__ import annotations

from .atom import Atom
from .clause import Policy
from .errors import GoalRejected, PolicyRejected, Severity
from .facts_file import FactLine, parse_facts
from .lint import check_policy
from .policy_text import read_policy
from .source_text import normalize, scan
from .syntax import Fault, read_goal

__all__ = ["FactLine", "parse_atom", "parse_facts", "parse_policy"]


def parse_policy(text: str, *, name: str) -> Policy:
    """Read a policy; `name` stands for it in messages, and as its id where it has no header.

    Its digest is the SHA-256 of the text without byte order mark and with line feeds as line ends.
    Raises PolicyRejected with every error, of reading and of `check_policy`.
    """
    policy, findings = read_policy(text, name=name)
    errors = [*findings]
    errors += (f for f in check_policy(policy) if f.severity is Severity.ERROR)
    if errors:
        raise PolicyRejected(name, tuple(sorted(errors)))
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
