"""The places of evidence in bytes and in UTF-16, each document read once."""

from __future__ import annotations

from kb.errors import NotFound
from kb.offsets import OffsetReader, Offsets
from kb.reading import Reading
from kb.statement import Evidence


class EvidenceOffsets:
    """Reads the offsets of evidence of what is known."""

    def __init__(self, known: Reading) -> None:
        self._known = known
        self._readers: dict[str, OffsetReader] = {}

    def read(self, evidence: Evidence) -> Offsets:
        """Give the ranges of evidence in other units than code points."""
        source = evidence.source_sha256
        if source not in self._readers:
            try:
                data = self._known.source_bytes(source)
            except NotFound:
                data = None
            self._readers[source] = OffsetReader(self._known.document(source), data)
        return self._readers[source].read(evidence.start, evidence.end)
