"""Spans in bytes and UTF-16, against slices of the source itself."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.document import decode
from kb.offsets import OffsetReader

PIECES = ("a", "e\u0301", "\u00e9", "株式会社", "😀", "👨‍👩‍👧", "\u2028", " ", "x" * 5)
ENDS = ("\n", "\r\n", "\r", "\n\n", "\r\n\r\n")
TEXTS = st.lists(st.sampled_from((*PIECES, *ENDS)), min_size=1, max_size=40).map("".join)


@given(text=TEXTS, bom=st.booleans(), packed=st.booleans(), data=st.data())
def test_every_span_is_the_same_text_in_every_unit(
    text: str, bom: bool, packed: bool, data: st.DataObject
) -> None:
    raw = (b"\xef\xbb\xbf" if bom else b"") + f"A{text}Z".encode()
    source = gzip.compress(raw) if packed else raw
    document = decode(source, name="note.txt.gz" if packed else "note.txt")
    start = data.draw(st.integers(0, len(document.text) - 1))
    end = data.draw(st.integers(start + 1, len(document.text)))
    quote = document.text[start:end]
    offsets = OffsetReader(document, source).read(start, end)
    first, last = offsets.text_bytes
    assert document.text.encode()[first:last].decode() == quote
    first, last = offsets.utf16
    units = document.text.encode("utf-16-le")[2 * first : 2 * last]
    assert units.decode("utf-16-le") == quote
    assert offsets.source_bytes is not None
    first, last = offsets.source_bytes
    written = raw[first:last].decode()
    assert written.replace("\r\n", "\n").replace("\r", "\n") == quote


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_quote_that_occurs_twice_is_bound_to_its_occurrence(ending: str) -> None:
    source = ending.join(("株 é", "same", "😀", "same", "")).encode()
    document = decode(source, name="note.txt")
    reader = OffsetReader(document, source)
    first = document.text.index("same")
    second = document.text.index("same", first + 1)
    places = [reader.read(at, at + 4).source_bytes for at in (first, second)]
    assert places == [(at, at + 4) for at in (source.index(b"same"), source.rindex(b"same"))]


def test_a_source_that_is_not_its_text_has_no_bytes_for_it() -> None:
    source = b"<p>Acme &amp; Co</p>"
    document = decode(source, name="page.html")
    offsets = OffsetReader(document, source).read(0, 4)
    assert offsets.source_bytes is None
    assert offsets.text_bytes == (0, 4)
    assert OffsetReader(document, None).read(0, 4).source_bytes is None
