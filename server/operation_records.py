"""Records of operations beside a knowledge base, so that they outlive the server that runs them.

A record keeps the file that is imported until the import has succeeded: so an operation that was
interrupted, cancelled or has failed can be resumed without sending the file again.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path

from proofweave.v1 import knowledge_pb2

from kb.database import open_database, translated_errors

KEPT_FILES = 5
"""Files of operations without success that are kept; older ones have to be sent again."""

_NAME = "the record of operations"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS operation (
    number INTEGER PRIMARY KEY AUTOINCREMENT, message BLOB NOT NULL, start BLOB NOT NULL,
    requester TEXT NOT NULL, source_sha256 TEXT NOT NULL, data BLOB
)
"""


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """What an import is asked to do."""

    start: knowledge_pb2.ImportStart
    data: bytes
    requester: str

    @property
    def source_sha256(self) -> str:
        """The digest of the file."""
        return hashlib.sha256(self.data).hexdigest()


class OperationRecords:
    """The records of one knowledge base, in a database of their own; threads take turns."""

    def __init__(self, directory: Path) -> None:
        self._lock = threading.RLock()
        with translated_errors(_NAME):
            self._connection = open_database(directory / "operations.sqlite")
            self._connection.execute(_SCHEMA)

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._connection.close()

    def begin(self, message: knowledge_pb2.Operation, order: ImportOrder) -> int:
        """Record an operation that begins; give its number."""
        with self._lock, translated_errors(_NAME):
            cursor = self._connection.execute(
                "INSERT INTO operation VALUES (NULL, ?, ?, ?, ?, ?)",
                (
                    message.SerializeToString(),
                    order.start.SerializeToString(),
                    order.requester,
                    order.source_sha256,
                    order.data,
                ),
            )
            self._connection.execute(
                "UPDATE operation SET data = NULL WHERE data NOT NULL AND number NOT IN"
                " (SELECT number FROM operation WHERE data NOT NULL ORDER BY number DESC LIMIT ?)",
                (KEPT_FILES,),
            )
            return int(cursor.lastrowid or 0)

    def write(self, number: int, message: knowledge_pb2.Operation) -> None:
        """Record how an operation stands; after success its file is kept no longer."""
        succeeded = message.state == knowledge_pb2.Operation.STATE_SUCCEEDED
        with self._lock, translated_errors(_NAME):
            self._connection.execute(
                "UPDATE operation SET message = ?,"
                " data = CASE WHEN ? THEN NULL ELSE data END WHERE number = ?",
                (message.SerializeToString(), succeeded, number),
            )

    def every(self) -> dict[int, knowledge_pb2.Operation]:
        """Give how the operations stood when last recorded, by number, in order."""
        with self._lock, translated_errors(_NAME):
            rows = self._connection.execute(
                "SELECT number, message FROM operation ORDER BY number"
            ).fetchall()
        return {number: knowledge_pb2.Operation.FromString(message) for number, message in rows}

    def order(self, number: int) -> ImportOrder | None:
        """Give what an operation was asked to do; None where its file is kept no longer."""
        with self._lock, translated_errors(_NAME):
            row = self._connection.execute(
                "SELECT start, data, requester FROM operation WHERE number = ? AND data NOT NULL",
                (number,),
            ).fetchone()
        if row is None:
            return None
        return ImportOrder(knowledge_pb2.ImportStart.FromString(row[0]), bytes(row[1]), row[2])

    def forget(self, source_sha256: str) -> None:
        """Keep a file no longer, since its document is erased."""
        with self._lock, translated_errors(_NAME):
            found = self._connection.execute(
                "UPDATE operation SET data = NULL WHERE source_sha256 = ? AND data NOT NULL",
                (source_sha256,),
            )
            if found.rowcount:
                self._connection.execute("VACUUM")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
