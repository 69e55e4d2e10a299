"""Operations: work that outlives its call, and whose record outlives its server."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from google.protobuf.timestamp_pb2 import Timestamp
from proofweave.v1 import common_pb2, knowledge_pb2

from kb.errors import NotFound, ProofweaveError

from .errors import RequestRejected
from .knowledge import Knowledge
from .names import ResourceName
from .operation_records import ImportOrder, OperationRecords
from .status import problems_of

LOG = logging.getLogger("proofweave.operations")

Operation = knowledge_pb2.Operation


class Cancelled(Exception):
    """The operation has been cancelled, or its server stops; raised inside its work."""


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


Work = Callable[[Knowledge, ImportOrder, Progress], knowledge_pb2.DocumentOutcome]


@dataclass(frozen=True, slots=True)
class _Entry:
    progress: Progress
    future: Future[None]


class Operations:
    """The operations of a server's knowledge bases, one at work at a time, in order."""

    def __init__(self, now: Callable[[], Timestamp], work: Work) -> None:
        self._now = now
        self._work = work
        self._lock = threading.RLock()
        self._stopping = False
        self._entries: dict[ResourceName, _Entry] = {}
        self._records: dict[str, OperationRecords] = {}
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="operation")

    def start(self, knowledge: Knowledge, order: ImportOrder) -> Operation:
        """Begin an import; its id is its number."""
        message = Operation(
            state=Operation.STATE_RUNNING,
            started=self._now(),
            file_name=order.start.file.file_name,
            source_sha256=order.source_sha256,
        )
        number = self._of(knowledge).begin(message, order)
        return self._run(knowledge, number, order)

    def resume(self, name: ResourceName, knowledge: Knowledge) -> Operation:
        """Go on with an operation that did not end well; what is written is not written again.

        Raises NotFound, and RequestRejected where there is nothing to go on with.
        """
        message = self.get(name, knowledge)
        state = Operation.State.Name(message.state).removeprefix("STATE_").lower()
        if message.state in (Operation.STATE_RUNNING, Operation.STATE_SUCCEEDED):
            raise RequestRejected(
                f"operation {name.id} is {state}; expected one that was interrupted, cancelled "
                "or has failed"
            )
        order = self._of(knowledge).order(int(name.id))
        if order is None:
            raise RequestRejected(
                f"the file of operation {name.id} is kept no longer; import {message.file_name} "
                "again, which goes on from what is there"
            )
        return self._run(knowledge, int(name.id), order)

    def get(
        self, name: ResourceName, knowledge: Knowledge, *, wait_seconds: float = 0
    ) -> Operation:
        """Give the state, after waiting for the end at most so long.

        Raises NotFound.
        """
        entry = self._entries.get(_full(name, knowledge))
        if entry is not None:
            wait([entry.future], timeout=wait_seconds)
        found = self._every(knowledge)
        if not name.id.isdecimal() or int(name.id) not in found:
            raise NotFound(f"there is no operation {name.id!r}; list them to see which there are")
        return found[int(name.id)]

    def every(self, knowledge: Knowledge) -> tuple[Operation, ...]:
        """Give all operations of a knowledge base, in order of their start."""
        return tuple(self._every(knowledge).values())

    def cancel(self, name: ResourceName, knowledge: Knowledge) -> Operation:
        """Ask the work to stop; what is written stays."""
        message = self.get(name, knowledge)
        entry = self._entries.get(_full(name, knowledge))
        if entry is not None and message.state == Operation.STATE_RUNNING:
            entry.progress.stopped.set()
            if entry.future.cancel():
                message.state = Operation.STATE_CANCELLED
                self._of(knowledge).write(int(name.id), _bare(message))
        return self.get(name, knowledge)

    def forget(self, knowledge: Knowledge, source_sha256: str) -> None:
        """Keep no file whose document is erased."""
        self._of(knowledge).forget(source_sha256)

    def close(self) -> None:
        """Stop the work; what has not ended is interrupted, and can be resumed."""
        with self._lock:
            self._stopping = True
        for entry in self._entries.values():
            entry.progress.stopped.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for records in self._records.values():
            records.close()

    def _of(self, knowledge: Knowledge) -> OperationRecords:
        with self._lock:
            if knowledge.name not in self._records:
                self._records[knowledge.name] = OperationRecords(knowledge.base.directory)
            return self._records[knowledge.name]

    def _run(self, knowledge: Knowledge, number: int, order: ImportOrder) -> Operation:
        records = self._of(knowledge)
        progress = Progress()
        message = records.every()[number]
        message.ClearField("problem")
        message.ClearField("outcome")
        message.state = Operation.STATE_RUNNING
        records.write(number, message)

        def work() -> None:
            ended = Operation()
            ended.CopyFrom(message)
            try:
                ended.outcome.CopyFrom(self._work(knowledge, order, progress))
                ended.state = Operation.STATE_SUCCEEDED
            except Cancelled:
                if self._stopping:
                    return  # it is recorded as running, so the next server finds it interrupted
                ended.state = Operation.STATE_CANCELLED
            except Exception as error:
                ended.state = Operation.STATE_FAILED
                ended.problem.CopyFrom(_problem(error))
            ended.done, ended.total = progress.done, progress.total
            records.write(number, ended)

        name = ResourceName(knowledge.name, "operations", str(number))
        with self._lock:
            self._entries[name] = _Entry(progress, self._pool.submit(work))
        return self.get(name, knowledge)

    def _every(self, knowledge: Knowledge) -> dict[int, Operation]:
        """Give how the operations stand now, by number."""
        found = self._of(knowledge).every()
        for number, message in found.items():
            name = ResourceName(knowledge.name, "operations", str(number))
            message.name = str(name)
            entry = self._entries.get(name)
            if message.state != Operation.STATE_RUNNING:
                continue
            if entry is None:
                message.state = Operation.STATE_INTERRUPTED
            else:
                message.done, message.total = entry.progress.done, entry.progress.total
        return found


def _full(name: ResourceName, knowledge: Knowledge) -> ResourceName:
    return ResourceName(knowledge.name, "operations", name.id)


def _bare(message: Operation) -> Operation:
    """Leave the name out, which says where the knowledge base is served, not what is recorded."""
    bare = Operation()
    bare.CopyFrom(message)
    bare.ClearField("name")
    return bare


def _problem(error: BaseException) -> common_pb2.Problem:
    if isinstance(error, ProofweaveError):
        return problems_of(error)[0]
    LOG.error("an operation failed", exc_info=error)
    return common_pb2.Problem(reason="INTERNAL", message="internal error; see the server's log")
