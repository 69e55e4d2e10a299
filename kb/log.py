"""The append-only, hash-chained event log on SQLite; the one mutable object (DESIGN section 3).

Each event's link is the SHA-256 of the link before it, its number, its kind and the *digest* of
its payload. So a payload can be erased while the chain still holds; an erased payload must be named
by a later tombstone event. The newest link is anchored in a file beside the database, so that a cut
tail shows. A commit is on disk before its anchor is: a crash leaves the anchor behind, never ahead.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .database import translated_errors
from .errors import LogCorrupt

TOMBSTONE = "payloads_erased"
"""Kind of the event that names erased payloads: `{"events": [numbers], ...}`."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS event (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    payload BLOB,
    payload_sha256 TEXT NOT NULL,
    link TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS event_kind ON event (kind, number);
"""


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `number` counts from 1. `payload` is None once erased."""

    number: int
    kind: str
    payload: dict[str, object] | None


class Log:
    """One hash chain in the table `event` of a SQLite database, anchored in a file.

    `name` is hashed into the chain's start. Not safe for use by several threads at once; several
    processes may append, since each reads the head inside its write transaction.
    """

    def __init__(self, connection: sqlite3.Connection, *, name: str, anchor: Path) -> None:
        self._connection = connection
        self._anchor = anchor
        self._start = hashlib.sha256(f"proofweave log {name}".encode()).hexdigest()
        self._writing = False

    def create(self) -> None:
        """Make the table where it does not exist."""
        self._connection.executescript(_SCHEMA)

    @property
    def revision(self) -> int:
        """Number of the newest event; 0 if there is none."""
        return self._newest()[0]

    @property
    def head(self) -> str:
        """Link of the newest event, in hex."""
        return self._newest()[1]

    def _newest(self) -> tuple[int, str]:
        row = self._connection.execute(
            "SELECT number, link FROM event ORDER BY number DESC LIMIT 1"
        ).fetchone()
        return (row[0], row[1]) if row else (0, self._start)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what is appended inside durable as a whole, or not at all."""
        if self._writing:
            yield
            return
        with translated_errors("the log"):
            self._connection.execute("BEGIN IMMEDIATE")
        self._writing = True
        try:
            before = self._newest()
            yield
            newest = self._newest()
            with translated_errors("the log"):
                self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._writing = False
        if newest != before:
            self._write_anchor(*newest)

    def renew_anchor(self) -> None:
        """Anchor what a crash left unanchored; call it after `check_anchor`."""
        newest = self._newest()
        if newest[0] and self._read_anchor() != newest:
            self._write_anchor(*newest)

    def _read_anchor(self) -> tuple[int, str]:
        """Give the number and the link anchored; number 0 if there is no anchor."""
        if not self._anchor.exists():
            return 0, self._start
        text = self._anchor.read_text(encoding="utf-8", errors="replace")
        number, _, link = text.strip().partition(" ")
        if not (number.isascii() and number.isdigit()) or number == "0":
            raise LogCorrupt(
                f"the anchor {self._anchor.name} holds {text!r}; expected a number and a link"
            )
        return int(number), link

    def _write_anchor(self, number: int, link: str) -> None:
        write_atomically(self._anchor, f"{number} {link}\n".encode())

    def append(self, kind: str, payload: dict[str, object]) -> int:
        """Append inside a transaction and give the event's number."""
        if not self._writing:
            raise LogCorrupt(f"an event {kind!r} came outside a transaction; expected one inside")
        previous, link = self._newest()
        body = canonical_bytes(payload)
        digest = hashlib.sha256(body).hexdigest()
        self._connection.execute(
            "INSERT INTO event VALUES (?, ?, ?, ?, ?)",
            (
                previous + 1,
                kind,
                zlib.compress(body, 1),
                digest,
                _link(link, previous + 1, kind, digest),
            ),
        )
        return previous + 1

    def erase(self, numbers: Sequence[int], about: dict[str, object]) -> int:
        """Empty the payloads of these events and append the tombstone that names them."""
        self._connection.executemany(
            "UPDATE event SET payload = NULL WHERE number = ?", ((number,) for number in numbers)
        )
        return self.append(TOMBSTONE, {**about, "events": sorted(numbers)})

    def events(self, *, after: int = 0) -> Iterator[Event]:
        """Yield the events with a greater number, in order."""
        number = after
        while True:  # in short reads, so that no reader holds the database over a slow consumer
            rows = self._connection.execute(
                "SELECT number, kind, payload FROM event WHERE number > ?"
                " ORDER BY number LIMIT 100",
                (number,),
            ).fetchall()
            if not rows:
                return
            for number, kind, packed in rows:
                yield _event(number, kind, packed)

    def of_kinds(self, kinds: Collection[str], *, until: int | None = None) -> tuple[Event, ...]:
        """Give the events of some kinds, up to a number and including it, in order."""
        rows = self._connection.execute(
            "SELECT number, kind, payload FROM event WHERE kind IN"
            " (SELECT value FROM json_each(?)) AND number <= ? ORDER BY number",
            (json.dumps(sorted(kinds)), self.revision if until is None else until),
        ).fetchall()
        return tuple(_event(*row) for row in rows)

    def link(self, number: int) -> str:
        """Give the link of an event.

        Raises LogCorrupt where it is not there.
        """
        row = self._connection.execute(
            "SELECT link FROM event WHERE number = ?", (number,)
        ).fetchone()
        if row is None:
            raise LogCorrupt(f"event {number} is missing")
        return str(row[0])

    def kinds(self, *, after: int, until: int | None = None) -> frozenset[str]:
        """Give the kinds of the events with a greater number, up to `until` and including it."""
        rows = self._connection.execute(
            "SELECT DISTINCT kind FROM event NOT INDEXED WHERE number > ? AND number <= ?",
            (after, self.revision if until is None else until),
        )
        return frozenset(kind for (kind,) in rows)

    def check_anchor(self) -> None:
        """Check that the anchored event stands in the table.

        Raises LogCorrupt if the tail is cut, the anchored event altered, or the anchor missing.
        """
        newest = self.revision
        number, link = self._read_anchor()
        if not number and newest > 1:  # one event: creation stopped before its first anchor
            raise LogCorrupt(
                f"the anchor {self._anchor.name} is missing; the log has {newest} events"
            )
        if number > newest:
            raise LogCorrupt(
                f"the log ends at event {newest}, but its anchor names event {number}: "
                "the tail is cut"
            )
        found = self._connection.execute("SELECT link FROM event WHERE number = ?", (number,))
        if number and found.fetchone() != (link,):
            raise LogCorrupt(
                f"event {number} has another link than its anchor: the log was altered"
            )

    def verify(self) -> None:
        """Recompute the whole chain.

        Raises LogCorrupt naming the first event that was altered, moved, removed, or erased
        without a tombstone.
        """
        with translated_errors("the log"):
            self._verify()

    def _verify(self) -> None:
        self.check_anchor()
        link = self._start
        erased: dict[int, None] = {}
        rows = self._connection.execute(
            "SELECT number, kind, payload, payload_sha256, link FROM event ORDER BY number"
        )
        for expected, (number, kind, packed, digest, stored) in enumerate(rows, start=1):
            if number != expected:
                raise LogCorrupt(f"event {expected} is missing; found event {number} in its place")
            link = _link(link, number, kind, digest)
            if link != stored:
                raise LogCorrupt(f"event {number} does not follow from the one before it")
            if packed is None:
                erased[number] = None
                continue
            body = _unpack(packed, number)
            if hashlib.sha256(body).hexdigest() != digest:
                raise LogCorrupt(f"the payload of event {number} is not what was recorded")
            if kind == TOMBSTONE:
                for named in json.loads(body)["events"]:
                    erased.pop(named, None)
        if erased:
            raise LogCorrupt(f"the payload of event {min(erased)} is gone without a tombstone")


def canonical_bytes(payload: object) -> bytes:
    """Write JSON of strings, integers, lists and objects in the one form of RFC 8785."""
    text = json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode()


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file so that a crash leaves the old or the new content, on disk."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _event(number: int, kind: str, packed: bytes | None) -> Event:
    return Event(number, kind, None if packed is None else json.loads(_unpack(packed, number)))


def _link(previous: str, number: int, kind: str, digest: str) -> str:
    return hashlib.sha256(f"{previous}\n{number}\n{kind}\n{digest}".encode()).hexdigest()


def _unpack(packed: bytes, number: int) -> bytes:
    try:
        return zlib.decompress(packed)
    except (zlib.error, TypeError) as error:
        raise LogCorrupt(f"the payload of event {number} cannot be read: {error}") from error
