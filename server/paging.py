"""Pages of sorted lists; a token is the key of the last item given."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import TypeVar

from .errors import RequestRejected

Item = TypeVar("Item")

LARGEST = 1_000


def page(
    items: Iterable[Item], *, size: int, default: int, token: str, key: Callable[[Item], str]
) -> tuple[tuple[Item, ...], str]:
    """Give the items after `token`, at most `size`, and the next token, empty at the end.

    `items` must come sorted by `key`. Raises RequestRejected for a token we did not give or a
    negative size.
    """
    if size < 0:
        raise RequestRejected(f"page_size is {size}; expected 0 for the default, or more")
    wanted = min(size or default, LARGEST)
    after = _read(token)
    found: list[Item] = []
    for item in items:
        if after is not None and key(item) <= after:
            continue
        if len(found) == wanted:
            return tuple(found), base64.urlsafe_b64encode(key(found[-1]).encode()).decode()
        found.append(item)
    return tuple(found), ""


def _read(token: str) -> str | None:
    if not token:
        return None
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except ValueError as error:
        raise RequestRejected(f"page_token {token!r} is none of ours") from error
