"""Decoded texts of a folder of sources, by digest: read as the service reads documents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kb.document import decode
from kb.errors import DocumentRejected
from reasoner.source_text import normalize
from reasoner.sources import FACTS_DECODER

from .errors import RequestRejected

# Certificates are JSON whose schema the verifier checks; here members are read as they are.
Json = Mapping[str, Any]


def texts_in(folder: Path, sources: Mapping[str, Json]) -> dict[str, str]:
    """Give the texts, by `text_sha256`, of the files in the folder that are these sources.

    A file counts by the digest of its bytes, whatever its name; a file that is itself a decoded
    text counts too. Raises RequestRejected where the folder is none.
    """
    if not folder.is_dir():
        raise RequestRejected(f"{str(folder)!r} is no directory of sources")
    wanted = {source["text_sha256"] for source in sources.values()}
    found: dict[str, str] = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = file.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        if digest in wanted:
            found[digest] = data.decode(errors="replace")
        source = sources.get(digest)
        if source is None:
            continue
        text = _decoded(data, file.name, source)
        if text is not None:
            found[source["text_sha256"]] = text
    return found


def _decoded(data: bytes, name: str, source: Json) -> str | None:
    """Decode as the certificate says it was; None where that gives no text."""
    try:
        if source["decoder"] == FACTS_DECODER:
            return normalize(data.decode())
        return decode(data, name=name, media_type=source["media_type"]).text
    except (DocumentRejected, UnicodeDecodeError, KeyError):
        return None
