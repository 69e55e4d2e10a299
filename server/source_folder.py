"""Decoded texts of a folder of sources, by digest: read as the service reads documents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kb.document import decode
from kb.errors import DocumentRejected

from .errors import RequestRejected

# Certificates are JSON whose schema the verifier checks; here members are read as they are.
Json = Mapping[str, Any]


def texts_in(folder: Path, certificate: Json) -> dict[str, str]:
    """Give the texts, by `text_sha256`, of the files in the folder that the certificate quotes.

    A file counts by the digest of its bytes, whatever its name; a file that is itself a decoded
    text counts too. Raises RequestRejected where the folder is none.
    """
    if not folder.is_dir():
        raise RequestRejected(f"{str(folder)!r} is no directory of sources")
    sources = certificate["sources"]
    wanted = {source["text_sha256"] for source in sources.values()}
    found: dict[str, str] = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = file.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        if digest in wanted:
            found[digest] = data.decode()
        source = sources.get(digest)
        if source is None:
            continue
        try:
            text = decode(data, name=file.name, media_type=source["media_type"]).text
        except DocumentRejected:
            continue
        found[source["text_sha256"]] = text
    return found
