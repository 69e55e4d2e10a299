"""Checks of a policy that need more than one clause, or more than its syntax."""

from __future__ import annotations

from collections.abc import Collection

from .clause import Policy
from .errors import Finding


def check_policy(
    policy: Policy, *, known: Collection[tuple[str, int]] | None = None
) -> tuple[Finding, ...]:
    """Find what is wrong with a policy."""
    return ()
