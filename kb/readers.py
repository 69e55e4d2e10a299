"""Connections to read the log and the tables with, one for each thread."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .database import open_database
from .errors import NotFound
from .log import Log
from .store import Store

DATABASE = "knowledge.sqlite"


@dataclass(frozen=True, slots=True)
class _Tables:
    log: Log
    store: Store


class Readers:
    """The log and the tables of a directory, over one connection for each thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self.text = lru_cache(maxsize=16)(self._read_text)

    def close(self) -> None:
        """Close every connection. Threads must have stopped reading."""
        while self._opened:
            self._opened.pop().close()

    @property
    def log(self) -> Log:
        """The log, for this thread."""
        return self._tables.log

    @property
    def store(self) -> Store:
        """The tables, for this thread."""
        return self._tables.store

    @property
    def _tables(self) -> _Tables:
        tables: _Tables | None = getattr(self._local, "tables", None)
        if tables is None:
            connection = open_database(self._directory / DATABASE)
            self._opened.append(connection)
            tables = _Tables(knowledge_log(connection, self._directory), Store(connection))
            self._local.tables = tables
        return tables

    def _read_text(self, text_sha256: str) -> str:
        text = self.store.text(text_sha256)
        if text is None:
            raise NotFound(f"no stored text has the digest {text_sha256}")
        return text


def knowledge_log(connection: sqlite3.Connection, directory: Path) -> Log:
    """Give the knowledge log of a directory."""
    return Log(connection, name="knowledge", anchor=directory / "knowledge.head")
