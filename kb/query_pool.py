"""Workers that answer SPARQL, each in a process that is killed when a query outruns its time."""

from __future__ import annotations

import json
import os
import re
import select
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import FormatUnavailable, KnowledgeError, QueryOverBudget, QueryRejected
from .sparql import negotiate, read_query


@dataclass(frozen=True, slots=True)
class QueryBudget:
    """What one query may use: wall time, rows and bytes of its result, bytes of memory.

    The time is that of the answer; as long again a query may wait for a free worker.
    """

    milliseconds: int = 10_000
    rows: int = 1_000_000
    bytes: int = 256 * 1024 * 1024
    memory: int = 4 * 1024 * 1024 * 1024


DEFAULT_BUDGET = QueryBudget()

_START_SECONDS = 60


class QueryPool:
    """Up to `size` warm worker processes; more queries at once wait."""

    def __init__(self, size: int = 2) -> None:
        self._free = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[bytes]] = []
        self._all: list[subprocess.Popen[bytes]] = []
        self._finalizer = weakref.finalize(self, _end, self._all)

    def close(self) -> None:
        """End the workers; queries under way fail."""
        with self._lock:
            self._idle.clear()
            _end(self._all)

    def query(
        self,
        text: str,
        accept: str,
        *,
        store: Path,
        namespace: str,
        budget: QueryBudget = DEFAULT_BUDGET,
        default_graphs: Sequence[str] = (),
        named_graphs: Sequence[str] = (),
    ) -> tuple[str, bytes]:
        """Answer a query from the store at `store`, with the media type it is written in.

        Raises QueryRejected, FormatUnavailable or QueryOverBudget.
        """
        traits = read_query(text)
        media_type = negotiate(accept, traits.form)
        request = {
            "store": str(store),
            "namespace": namespace,
            "query": text,
            "media_type": media_type,
            "names_graphs": traits.names_graphs,
            "orders": traits.orders,
            "default_graphs": list(default_graphs) or None,
            "named_graphs": list(named_graphs) or None,
            "milliseconds": budget.milliseconds,
            "rows": budget.rows,
            "bytes": budget.bytes,
            "memory": budget.memory,
        }
        if not self._free.acquire(timeout=budget.milliseconds / 1000):
            raise _out_of_time(budget)
        try:
            return media_type, self._ask(request, budget)
        finally:
            self._free.release()

    def _ask(self, request: dict[str, object], budget: QueryBudget) -> bytes:
        worker = self._take()
        deadline = time.monotonic() + budget.milliseconds / 1000
        try:
            _send(worker, json.dumps(request).encode())
            head, _, content = _receive(worker, deadline).partition(b"\n")
            reply = json.loads(head)
        except _Late as late:
            self._discard(worker)
            raise _out_of_time(budget) from late
        except (EOFError, BrokenPipeError) as error:
            self._discard(worker)
            raise QueryOverBudget(
                "the query is too deep, or needs too much memory, and ended its worker; expected "
                f"one that needs at most {budget.memory // 1024**2} MiB; this says nothing about "
                "its answers"
            ) from error
        except BaseException:
            self._discard(worker)
            raise
        with self._lock:
            if worker in self._all:
                self._idle.append(worker)
        match reply["status"]:
            case "answered":
                return content
            case "unwritable":
                raise FormatUnavailable(
                    f"a value of the result has the character {reply['detail']}, which XML cannot "
                    f"hold; expected another format than {request['media_type']}"
                )
            case "rejected":
                raise QueryRejected(f"the query cannot be read: {_brief(reply['detail'])}")
            case "over budget":
                raise QueryOverBudget(
                    f"the result has more {reply['detail']} than allowed "
                    f"({budget.rows} rows, {budget.bytes} bytes); add LIMIT or narrow the query"
                )
        raise KnowledgeError(f"the query failed: {reply['detail']}")

    def _take(self) -> subprocess.Popen[bytes]:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.poll() is None:
                    return worker
                self._all.remove(worker)
            worker = _start()
            self._all.append(worker)
        try:
            _receive(worker, time.monotonic() + _START_SECONDS)
        except (_Late, EOFError) as error:
            self._discard(worker)
            raise KnowledgeError("a worker for SPARQL queries does not start") from error
        return worker

    def _discard(self, worker: subprocess.Popen[bytes]) -> None:
        with self._lock:
            if worker in self._all:
                self._all.remove(worker)
        _end([worker])


class _Late(Exception):
    """The deadline has passed."""


def _out_of_time(budget: QueryBudget) -> QueryOverBudget:
    return QueryOverBudget(
        f"the query ran longer than {budget.milliseconds} ms; this says nothing about its answers"
    )


def _start() -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parent.parent)
    code = (
        f"import sys; sys.path.insert(0, {root!r})\n"
        f"from {__package__}.rdf_worker import main; main()"
    )
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )


def _end(workers: list[subprocess.Popen[bytes]]) -> None:
    for worker in workers:
        worker.kill()
        worker.wait()
        for pipe in (worker.stdin, worker.stdout):
            if pipe is not None:
                pipe.close()
    workers.clear()


def _send(worker: subprocess.Popen[bytes], frame: bytes) -> None:
    if worker.stdin is None:
        raise EOFError
    content = memoryview(struct.pack(">I", len(frame)) + frame)
    while content:
        content = content[worker.stdin.write(content) or 0 :]


def _receive(worker: subprocess.Popen[bytes], deadline: float) -> bytes:
    """Read one frame; there is never more than one on its way."""
    if worker.stdout is None:
        raise EOFError
    descriptor = worker.stdout.fileno()
    parts: list[bytes] = []
    missing = 4
    length: int | None = None
    while missing > 0:
        wait = deadline - time.monotonic()
        if wait <= 0 or not select.select([descriptor], [], [], wait)[0]:
            raise _Late
        part = os.read(descriptor, 1 << 16)
        if not part:
            raise EOFError
        parts.append(part)
        missing -= len(part)
        if length is None and missing <= 0:
            parts = [b"".join(parts)]
            length = struct.unpack(">I", parts[0][:4])[0]
            missing += length
    return b"".join(parts)[4:]


_EXPECTED = re.compile(r"expected one of (.+)", re.DOTALL)
_CLASS = re.compile(r"\[['_][^\]]*\]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\b[A-Z]{2,}\b')
_MOST_EXPECTED = 8


def _brief(detail: str) -> str:
    """Shorten the parser's message to one line: of the tokens it expected, the first few."""

    def first_few(match: re.Match[str]) -> str:
        if "Prefix not found" in match[1]:
            return "the prefix of this name is not declared"
        tokens = _TOKEN.findall(_CLASS.sub("", match[1]))
        if not tokens:
            return "this cannot stand here"
        is_all = len(tokens) <= _MOST_EXPECTED and not _CLASS.search(match[1])
        return f"expected one of {', '.join(tokens[:_MOST_EXPECTED])}{'' if is_all else ', ...'}"

    return " ".join(_EXPECTED.sub(first_few, detail).split())
