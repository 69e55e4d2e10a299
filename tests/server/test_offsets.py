"""Evidence over a live server in bytes and UTF-16, checked against the bytes that were sent."""

from __future__ import annotations

import pytest
from live_server import Live, send
from proofweave.v1 import common_pb2, knowledge_pb2

SENTENCE = "Müller GmbH is certified under ISO 9001."
DECOMPOSED = "Mu\u0308ller GmbH is certified under ISO 14001."


def evidence(live: Live, subject: str, *, offsets: bool = True) -> list[common_pb2.Evidence]:
    request = knowledge_pb2.ListStatementsRequest(
        subject=subject, dimension="certified_under", offsets=offsets
    )
    (statement,) = live.services.knowledge.ListStatements(request).statements
    return list(statement.evidence)


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_quote_that_occurs_twice_has_two_exact_places(
    empty: Live, bom: bytes, ending: str
) -> None:
    lines = ("# Certificates 😀 株式会社", "", SENTENCE, "", "Nothing 👩‍🔬.", "", SENTENCE, "")
    source = bom + ending.join(lines).encode()
    send(empty.services, {"certificates.md": source})
    first, second = evidence(empty, "Müller GmbH")
    assert first.quote == second.quote == SENTENCE
    places = []
    for item in (first, second):
        start, end = item.offsets.source_byte_start, item.offsets.source_byte_end
        assert source[start:end].decode() == SENTENCE
        places.append(start)
    assert places == [source.index(SENTENCE.encode()), source.rindex(SENTENCE.encode())]
    text = b"".join(
        piece.text.encode()
        for piece in empty.services.knowledge.ReadDocument(
            knowledge_pb2.ReadDocumentRequest(name=first.document)
        )
    )
    for item in (first, second):
        offsets = item.offsets
        assert text[offsets.text_byte_start : offsets.text_byte_end].decode() == SENTENCE
        units = text.decode().encode("utf-16-le")
        written = units[2 * offsets.utf16_start : 2 * offsets.utf16_end]
        assert written.decode("utf-16-le") == SENTENCE


def test_decomposed_accents_keep_their_bytes(empty: Live) -> None:
    source = f"{DECOMPOSED}\r\n".encode()
    send(empty.services, {"note.txt": source})
    request = knowledge_pb2.ListStatementsRequest(dimension="certified_under", offsets=True)
    (statement,) = empty.services.knowledge.ListStatements(request).statements
    (item,) = statement.evidence
    start, end = item.offsets.source_byte_start, item.offsets.source_byte_end
    assert source[start:end].decode() == item.quote == DECOMPOSED


def test_offsets_come_only_where_they_are_asked_for(empty: Live) -> None:
    send(empty.services, {"note.txt": f"{SENTENCE}\n".encode()})
    (without,) = evidence(empty, "Müller GmbH", offsets=False)
    assert not without.HasField("offsets")
