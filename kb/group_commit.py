"""Group commit: what several threads write at once becomes durable with one commit.

A thread that finds nobody at work commits for all who wait; each one's changes are a savepoint of
their own, so that one's failure undoes no other's.

Source: DeWitt et al., Implementation techniques for main memory database systems (1984), section
5.2; the waiting threads form the group, no timer delays a commit.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .database import translated_errors
from .log import Log

Result = TypeVar("Result")


class _Item:
    """What one thread wants written, and what came of it."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work
        self.done = False
        self.result: Any = None  # of the type that the work gives
        self.error: Exception | None = None


class GroupCommit:
    """Runs changes inside transactions of a log, several in one where several wait.

    Whoever uses the connection otherwise holds `lock` meanwhile.
    """

    def __init__(self, connection: sqlite3.Connection, log: Log) -> None:
        self.lock = threading.RLock()
        self._connection = connection
        self._log = log
        self._waiting: list[_Item] = []
        self._queue = threading.Lock()

    def write(self, work: Callable[[], Result]) -> Result:
        """Run a change and return when it is durable; what it raises undoes it, and is raised."""
        item = _Item(work)
        with self._queue:
            self._waiting.append(item)
        with self.lock:
            if not item.done:
                with self._queue:
                    group, self._waiting = self._waiting, []
                self._commit(group)
        if item.error is not None:
            raise item.error
        return cast("Result", item.result)

    def _commit(self, group: list[_Item]) -> None:
        try:
            with translated_errors("the log"), self._log.transaction():
                for item in group:
                    self._try(item)
        except Exception as error:  # the commit itself failed, so nothing of the group is there
            for item in group:
                item.error = item.error or error
        finally:
            for item in group:
                item.done = True

    def _try(self, item: _Item) -> None:
        self._connection.execute("SAVEPOINT change")
        try:
            with translated_errors("the log"):
                item.result = item.work()
        except Exception as error:
            item.error = error
            self._connection.execute("ROLLBACK TO change")
        self._connection.execute("RELEASE change")
