"""How a SQLite database is opened: write-ahead log, durable commits, explicit transactions."""

from __future__ import annotations

import sqlite3
from pathlib import Path


def open_database(path: Path) -> sqlite3.Connection:
    """Open for use by several threads in turn; transactions are begun explicitly.

    Readers never wait for a writer; a second writer waits up to a minute.
    """
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, timeout=60, cached_statements=256
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -65536")
    connection.execute("PRAGMA mmap_size = 268435456")
    return connection
