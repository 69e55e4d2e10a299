"""Processes that are asked one thing at a time and killed when they take too long.

Requests and replies are frames on stdin and stdout: four bytes of length, big-endian, then as many
bytes. A request is a JSON object; a reply is a JSON object on a line, then perhaps bytes. The first
reply comes unasked, once the process is ready.
"""

from __future__ import annotations

import json
import os
import select
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .errors import KnowledgeError

Process = subprocess.Popen[bytes]

_START_SECONDS = 60
_HEAD = 4
_MOST_AT_ONCE = 1 << 20


class LateError(Exception):
    """The deadline has passed; the process has been killed."""


class EndedError(Exception):
    """The process has ended by itself."""


class WorkerPool:
    """Up to `size` warm processes that run `main` of a module of this package; more asks wait."""

    def __init__(self, module: str, *, size: int) -> None:
        self._module = module
        self._free = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[Process] = []
        self._all: list[Process] = []
        self._finalizer = weakref.finalize(self, _end, self._all)

    def close(self) -> None:
        """End the processes; what they are at work on fails."""
        with self._lock:
            self._idle.clear()
            _end(self._all)

    @contextmanager
    def place(self, seconds: float) -> Iterator[None]:
        """Hold one of the places meanwhile; raises LateError where none is free in time."""
        if not self._free.acquire(timeout=max(seconds, 0)):
            raise LateError
        try:
            yield
        finally:
            self._free.release()

    def ask(
        self, request: Mapping[str, object], *, seconds: float
    ) -> tuple[dict[str, object], memoryview]:
        """Send a request and give the reply, from within a `place`.

        Raises LateError and EndedError; both have cost the process.
        """
        worker = self._take()
        deadline = time.monotonic() + seconds
        try:
            _send(worker, json.dumps(request).encode())
            frame = _receive(worker, deadline)
        except BrokenPipeError as error:
            self._discard(worker)
            raise EndedError from error
        except BaseException:
            self._discard(worker)
            raise
        with self._lock:
            if worker in self._all:
                self._idle.append(worker)
        head = frame.index(b"\n")
        return json.loads(frame[:head]), memoryview(frame)[head + 1 :]

    def _take(self) -> Process:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.poll() is None:
                    return worker
                self._all.remove(worker)
            worker = _start(self._module)
            self._all.append(worker)
        try:
            _receive(worker, time.monotonic() + _START_SECONDS)
        except (LateError, EndedError) as error:
            self._discard(worker)
            raise KnowledgeError(f"a process for {self._module} does not start") from error
        return worker

    def _discard(self, worker: Process) -> None:
        with self._lock:
            if worker in self._all:
                self._all.remove(worker)
        _end([worker])


def _start(module: str) -> Process:
    root = str(Path(__file__).resolve().parent.parent)
    code = (
        f"import sys; sys.path.insert(0, {root!r})\nfrom {__package__}.{module} import main; main()"
    )
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )


def _end(workers: list[Process]) -> None:
    for worker in workers:
        worker.kill()
        worker.wait()
        for pipe in (worker.stdin, worker.stdout):
            if pipe is not None:
                pipe.close()
    workers.clear()


def _send(worker: Process, frame: bytes) -> None:
    if worker.stdin is None:
        raise EndedError
    descriptor = worker.stdin.fileno()
    content = struct.pack(">I", len(frame)) + frame
    sent = os.write(descriptor, content)
    while sent < len(content):
        content = content[sent:]
        sent = os.write(descriptor, content)


def _receive(worker: Process, deadline: float) -> bytes:
    """Read one frame; there is never more than one on its way."""
    if worker.stdout is None:
        raise EndedError
    descriptor = worker.stdout.fileno()
    received = bytearray()
    size = _HEAD
    while len(received) < size:
        wait = deadline - time.monotonic()
        if wait <= 0 or not select.select([descriptor], [], [], wait)[0]:
            raise LateError
        part = os.read(descriptor, _MOST_AT_ONCE)
        if not part:
            raise EndedError
        if not received and len(part) > _HEAD:
            size = _HEAD + struct.unpack(">I", part[:_HEAD])[0]
            if len(part) == size:
                return part[_HEAD:]
        received += part
        if size == _HEAD and len(received) >= _HEAD:
            size += struct.unpack(">I", received[:_HEAD])[0]
    return bytes(received[_HEAD:])
