"""Rows of SPARQL JSON results as bytes, told apart without reading them.

As the engine writes them there is no white space between tokens, and each row is an object of
objects, so that `},{"` before a letter lies between two rows and never within a string: there the
quote would be its end, and what follows an end is a sign.
"""

from __future__ import annotations

import re

_BEGINNING = b'"results":{"bindings":['
_END = b"]}}"
_NEXT = re.compile(rb'(?<=\}),(?=\{"[^"},:\]])')
_EMPTY = b"{}"


def rows_begun(piece: bytes) -> int:
    """Count the rows that begin in a piece of results, never too many; those without values not."""
    return len(_NEXT.findall(piece))


def json_rows(content: bytes) -> tuple[bytes, list[bytes], bytes]:
    """Give what stands before the rows, the rows in their order, and what stands behind them."""
    start = content.index(_BEGINNING) + len(_BEGINNING)
    end = len(content) - len(_END)
    rows: list[bytes] = []
    for part in _NEXT.split(content[start:end]):
        row = part
        while row.startswith(_EMPTY):  # a row that binds nothing
            rows.append(_EMPTY)
            row = row[3:]
        empty = 0
        while row.endswith(b"," + _EMPTY):
            empty += 1
            row = row[:-3]
        if row:
            rows.append(row)
        rows += [_EMPTY] * empty
    return content[:start], rows, content[end:]
