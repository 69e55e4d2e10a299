"""The second chain: recorded verdicts with their certificates and receipts, and sign-offs.

Asking changes this chain and never the knowledge log. A certificate is stored once, under the
SHA-256 of its bytes, however often it is given.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .database import open_database, translated_errors
from .errors import LogCorrupt, NotFound
from .group_commit import GroupCommit
from .log import Log

_SCHEMA = """
CREATE TABLE IF NOT EXISTS certificate (
    digest TEXT PRIMARY KEY, body BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entry (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, digest TEXT NOT NULL, form TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS entry_digest ON entry (digest);
"""


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """One time a certificate was given; `number` is its place in the chain."""

    number: int
    digest: str
    receipt: dict[str, object]


@dataclass(frozen=True, slots=True)
class SignOffRecord:
    """One sign-off of a certificate; `number` is its place in the chain."""

    number: int
    digest: str
    sign_off: dict[str, object]


class VerdictLog:
    """The chain of one knowledge base, in a database of its own; threads take turns."""

    def __init__(self, directory: Path) -> None:
        self._connection = open_database(directory / "verdicts.sqlite")
        self._connection.executescript(_SCHEMA)
        self._log = Log(self._connection, name="verdicts", anchor=directory / "verdicts.head")
        self._group = GroupCommit(self._connection, self._log)
        self._lock = self._group.lock
        self._log.create()

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._connection.close()

    @property
    def head(self) -> str:
        """Link of the newest entry, in hex."""
        with self._lock:
            return self._log.head

    @property
    def revision(self) -> int:
        """Number of the newest entry; 0 at first."""
        with self._lock:
            return self._log.revision

    def record_verdict(self, certificate: bytes, receipt: Mapping[str, object]) -> str:
        """Store a certificate and the receipt that went with it; give the certificate's digest."""
        digest = hashlib.sha256(certificate).hexdigest()
        packed = zlib.compress(certificate, 1)

        def write() -> None:
            self._connection.execute(
                "INSERT OR IGNORE INTO certificate VALUES (?, ?)", (digest, packed)
            )
            self._append("verdict_recorded", digest, receipt)

        self._group.write(write)
        return digest

    def record_sign_off(self, digest: str, sign_off: Mapping[str, object]) -> int:
        """Record that somebody signed a stored certificate off; give the entry's number."""
        self.certificate(digest)
        with self._lock, self._log.transaction():
            return self._append("signed_off", digest, sign_off)

    def _append(self, kind: str, digest: str, form: Mapping[str, object]) -> int:
        number = self._log.append(kind, {"certificate": digest, "form": dict(form)})
        self._connection.execute(
            "INSERT INTO entry VALUES (?, ?, ?, ?)", (number, kind, digest, json.dumps(form))
        )
        return number

    def certificate(self, digest: str) -> bytes:
        """Give the certificate's bytes.

        Raises NotFound for an unknown digest.
        """
        with self._lock:
            row = self._connection.execute(
                "SELECT body FROM certificate WHERE digest = ?", (digest,)
            ).fetchone()
        if row is None:
            raise NotFound(f"no certificate has the digest {digest}")
        return zlib.decompress(row[0])

    def verdicts(
        self, digest: str | None = None, *, after: int = 0, until: int | None = None
    ) -> tuple[VerdictRecord, ...]:
        """Give the recorded verdicts, of one certificate if given, oldest first.

        `after` and `until` are places in the chain, the latter included.
        """
        rows = self._entries("verdict_recorded", digest, after, until)
        return tuple(VerdictRecord(*row) for row in rows)

    def sign_offs(
        self, digest: str | None = None, *, after: int = 0, until: int | None = None
    ) -> tuple[SignOffRecord, ...]:
        """Give the sign-offs, of one certificate if given, oldest first; bounds as above."""
        rows = self._entries("signed_off", digest, after, until)
        return tuple(SignOffRecord(*row) for row in rows)

    def _entries(
        self, kind: str, digest: str | None, after: int, until: int | None
    ) -> list[tuple[int, str, dict[str, object]]]:
        with self._lock:
            rows = self._connection.execute(
                "SELECT number, digest, form FROM entry"
                " WHERE kind = ?1 AND (?2 IS NULL OR digest = ?2)"
                " AND number > ?3 AND (?4 IS NULL OR number <= ?4) ORDER BY number",
                (kind, digest, after, until),
            ).fetchall()
        return [(number, of, json.loads(form)) for number, of, form in rows]

    def verify(self) -> None:
        """Check the chain, that the entries follow from it, and every certificate's digest.

        Raises LogCorrupt naming the first thing that does not hold.
        """
        with self._lock, translated_errors("the log of verdicts"):
            self._verify()

    def _verify(self) -> None:
        self._log.verify()
        entries = self._connection.execute(
            "SELECT number, kind, digest, form FROM entry ORDER BY number"
        )
        for event in self._log.events():
            payload = event.payload or {}
            row = entries.fetchone()
            if row is None or row[:3] != (event.number, event.kind, payload.get("certificate")):
                raise LogCorrupt(f"entry {event.number} of the verdicts differs from its event")
            if json.loads(row[3]) != payload.get("form"):
                raise LogCorrupt(f"entry {event.number} of the verdicts differs from its event")
        if entries.fetchone() is not None:
            raise LogCorrupt("the verdicts hold an entry without an event")
        named = {row[0] for row in self._connection.execute("SELECT DISTINCT digest FROM entry")}
        for digest, body in self._connection.execute(
            "SELECT digest, body FROM certificate ORDER BY digest"
        ):
            named.discard(digest)
            try:
                actual = hashlib.sha256(zlib.decompress(body)).hexdigest()
            except zlib.error:
                actual = "unreadable"
            if actual != digest:
                raise LogCorrupt(f"the certificate {digest} was altered")
        if named:
            raise LogCorrupt(f"the certificate {min(named)} is gone")
