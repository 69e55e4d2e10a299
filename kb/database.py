"""How a SQLite database is opened: write-ahead log, durable commits, explicit transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import LogCorrupt, LogUnavailable


def open_database(path: Path) -> sqlite3.Connection:
    """Open for use by several threads in turn; transactions are begun explicitly.

    Readers never wait for a writer; a second writer waits up to a minute. Raises LogUnavailable or
    LogCorrupt.
    """
    with translated_errors(path.name):
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=60, cached_statements=256
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA cache_size = -16384")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


_UNAVAILABLE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)


@contextmanager
def translated_errors(name: str) -> Iterator[None]:
    """Raise LogUnavailable or LogCorrupt for what SQLite raises inside."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNAVAILABLE:  # extended codes share it
            raise LogUnavailable(f"{name} cannot be used: {error}") from error
        raise LogCorrupt(f"{name} is damaged: {error}") from error
