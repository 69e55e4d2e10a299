"""Operations: work that outlives its call, in this process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from google.protobuf.timestamp_pb2 import Timestamp
from proofweave.v1 import common_pb2, knowledge_pb2

from kb.errors import NotFound, ProofweaveError

from .names import ResourceName
from .status import problems_of

LOG = logging.getLogger("proofweave.operations")


class Cancelled(Exception):
    """The operation has been cancelled; raised inside its work."""


@dataclass(slots=True)
class Progress:
    """How far the work is; the work calls `advance`, which raises Cancelled when asked to stop."""

    done: int = 0
    total: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def advance(self, count: int) -> None:
        """Count work as done."""
        self.done += count
        if self.stopped.is_set():
            raise Cancelled


Work = Callable[[Progress], knowledge_pb2.DocumentOutcome]


@dataclass(frozen=True, slots=True)
class _Entry:
    started: Timestamp
    progress: Progress
    future: Future[knowledge_pb2.DocumentOutcome]


class Operations:
    """The operations of a server since it started, one at work at a time, in order."""

    def __init__(self, now: Callable[[], Timestamp]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._entries: dict[ResourceName, _Entry] = {}
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="operation")

    def start(self, knowledge_base: str, work: Work) -> knowledge_pb2.Operation:
        """Begin the work; its id is its number."""
        progress = Progress()
        with self._lock:
            name = ResourceName(knowledge_base, "operations", str(len(self._entries) + 1))
            future = self._pool.submit(work, progress)
            self._entries[name] = _Entry(self._now(), progress, future)
        return self._message(name)

    def get(self, name: ResourceName, *, wait_seconds: float = 0) -> knowledge_pb2.Operation:
        """Give the state, after waiting for the end at most so long.

        Raises NotFound for an operation that this server has not started.
        """
        wait([self._entry(name).future], timeout=wait_seconds)
        return self._message(name)

    def every(self, knowledge_base: str) -> tuple[knowledge_pb2.Operation, ...]:
        """Give all operations of a knowledge base, in order of their start."""
        names = [name for name in self._entries if name.knowledge_base == knowledge_base]
        return tuple(self._message(name) for name in names)

    def cancel(self, name: ResourceName) -> knowledge_pb2.Operation:
        """Ask the work to stop; what is written stays."""
        entry = self._entry(name)
        entry.progress.stopped.set()
        entry.future.cancel()
        return self._message(name)

    def close(self) -> None:
        """Stop the work."""
        for entry in self._entries.values():
            entry.progress.stopped.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _entry(self, name: ResourceName) -> _Entry:
        if name not in self._entries:
            raise NotFound(f"there is no operation {name}; operations end with their server")
        return self._entries[name]

    def _message(self, name: ResourceName) -> knowledge_pb2.Operation:
        entry = self._entries[name]
        operation = knowledge_pb2.Operation(
            name=str(name),
            state=knowledge_pb2.Operation.STATE_RUNNING,
            done=entry.progress.done,
            total=entry.progress.total,
            started=entry.started,
        )
        if entry.future.cancelled():
            operation.state = knowledge_pb2.Operation.STATE_CANCELLED
            return operation
        if not entry.future.done():
            return operation
        error = entry.future.exception()
        if error is None:
            operation.state = knowledge_pb2.Operation.STATE_SUCCEEDED
            operation.outcome.CopyFrom(entry.future.result())
        elif isinstance(error, Cancelled):
            operation.state = knowledge_pb2.Operation.STATE_CANCELLED
        else:
            operation.state = knowledge_pb2.Operation.STATE_FAILED
            operation.problem.CopyFrom(_problem(error))
        return operation


def _problem(error: BaseException) -> common_pb2.Problem:
    if isinstance(error, ProofweaveError):
        return problems_of(error)[0]
    LOG.error("an operation failed", exc_info=error)
    return common_pb2.Problem(reason="INTERNAL", message="internal error; see the server's log")
