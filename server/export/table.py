"""The one table of exporters: a certificate and its texts to bytes of a media type."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from reasoner.render import render_text

from .html import render_html


@dataclass(frozen=True, slots=True)
class Exporter:
    """How one form is written: from canonical bytes and the decoded texts by `text_sha256`."""

    media_type: str
    write: Callable[[bytes, Mapping[str, str]], bytes]


def _html(certificate: bytes, texts: Mapping[str, str]) -> bytes:
    return render_html(json.loads(certificate), texts).encode()


def _json(certificate: bytes, _: Mapping[str, str]) -> bytes:
    return certificate


def _text(certificate: bytes, texts: Mapping[str, str]) -> bytes:
    return render_text(json.loads(certificate), texts).encode()


EXPORTERS = {
    "html": Exporter("text/html; charset=utf-8", _html),
    "json": Exporter("application/json", _json),
    "text": Exporter("text/plain; charset=utf-8", _text),
}
