"""Spans in other units than code points: bytes of UTF-8, UTF-16 code units, bytes of the source."""

from __future__ import annotations

import gzip
import re
import zlib
from bisect import bisect_left
from dataclasses import dataclass

from .document import Document

_BOM = b"\xef\xbb\xbf"
_RETURN = re.compile("\r\n")


@dataclass(frozen=True, slots=True)
class Offsets:
    """Half-open ranges of one span.

    `text_bytes` and `utf16` count in the decoded text. `source_bytes` counts in the source,
    unpacked where it is gzip; None where the decoded text is not the source's but for a byte order
    mark and line ends.
    """

    text_bytes: tuple[int, int]
    utf16: tuple[int, int]
    source_bytes: tuple[int, int] | None


class OffsetReader:
    """Reads spans of one document in other units."""

    def __init__(self, document: Document, data: bytes | None) -> None:
        self._text = document.text
        self._source = None if data is None else _same_text(data, document.text)

    def read(self, start: int, end: int) -> Offsets:
        """Give the ranges of a span `[start, end)` in code points."""
        before, inside = self._text[:start], self._text[start:end]
        first, length = len(before.encode()), len(inside.encode())
        wide, width = _utf16(before), _utf16(inside)
        source = self._source
        return Offsets(
            (first, first + length),
            (wide, wide + width),
            None if source is None else (source.byte_at(start), source.byte_at(end)),
        )


class _Source:
    """The text of a source with its own line ends, and how many bytes stand before it."""

    def __init__(self, text: str, skipped: int) -> None:
        self._text = text
        self._skipped = skipped
        # places in the decoded text of the line feeds that are two characters in the source
        self._pairs = [found.start() - at for at, found in enumerate(_RETURN.finditer(text))]

    def byte_at(self, place: int) -> int:
        """Give the byte of the source at which a code point of the decoded text begins."""
        returns = bisect_left(self._pairs, place)
        return self._skipped + len(self._text[: place + returns].encode())


def _same_text(data: bytes, decoded: str) -> _Source | None:
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return None
    skipped = len(_BOM) if data.startswith(_BOM) else 0
    try:
        text = data[skipped:].decode()
    except UnicodeDecodeError:
        return None
    if text.replace("\r\n", "\n").replace("\r", "\n") != decoded:
        return None
    return _Source(text, skipped)


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
