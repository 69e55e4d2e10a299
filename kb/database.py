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
            connection.execute("PRAGMA cache_size = -65536")
            connection.execute("PRAGMA mmap_size = 268435456")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


@contextmanager
def translated_errors(name: str) -> Iterator[None]:
    """Raise LogUnavailable or LogCorrupt for what SQLite raises inside."""
    try:
        yield
    except sqlite3.OperationalError as error:  # locked, no space, no permission
        raise LogUnavailable(f"{name} cannot be used: {error}") from error
    except sqlite3.DatabaseError as error:
        raise LogCorrupt(f"{name} is damaged: {error}") from error
