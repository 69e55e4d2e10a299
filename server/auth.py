"""Who asks: bearer tokens, and the knowledge bases they lead to."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from .errors import NotPermitted, Unauthenticated
from .settings import AuthSection

ANONYMOUS = "anonymous"


def requester(auth: AuthSection, metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """Give the name behind the bearer token of a call; `anonymous` where no tokens are set.

    Raises Unauthenticated for a missing or unknown token.
    """
    if not auth.tokens:
        return ANONYMOUS
    header = next((value for key, value in metadata if key.lower() == "authorization"), "")
    text = header.decode("utf-8", "replace") if isinstance(header, bytes) else header
    scheme, _, token = text.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("the call has no credentials; expected 'authorization: Bearer TOKEN'")
    digest = hashlib.sha256(token.strip().encode()).hexdigest()
    for name, expected in sorted(auth.tokens.items()):
        if hmac.compare_digest(digest, expected.lower()):
            return name
    raise Unauthenticated("the token of the call is not known")


def permit(auth: AuthSection, name: str, knowledge_base: str) -> None:
    """Raise NotPermitted unless the requester may use the knowledge base."""
    allowed = auth.access.get(name)
    if allowed is not None and knowledge_base not in allowed:
        raise NotPermitted(f"{name} may not use the knowledge base {knowledge_base!r}")
