"""A warm worker process that answers requests one by one and can always be stopped.

Requests and replies are pickled values in frames of a length and that many bytes. Only our own
child writes to the pipe, so unpickling is safe.
"""

from __future__ import annotations

import atexit
import os
import pickle
import selectors
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import EngineFailed, EngineTimedOut

GRACE_SECONDS = 0.5
"""How long beyond its deadline a worker may take to stop by itself."""


_START = """
import importlib, sys, types
package = types.ModuleType("worker_modules")
package.__path__ = [sys.argv[1]]
sys.modules[package.__name__] = package
importlib.import_module("worker_modules." + sys.argv[2]).main()
"""
"""Runs one module of this folder without importing the packages around it, which takes longer."""


class Worker:
    """A child process running `main` of one module of this folder.

    Started on first use and again after it was killed. Threads take turns; waiting for a turn
    counts towards the deadline. A fork of the parent starts a child of its own.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        atexit.register(self.stop)

    def start(self) -> None:
        """Start the child in advance; returns at once."""
        if self._process is not None and self._owner == os.getpid():
            if self._process.poll() is None:
                return
            self.stop()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, str(Path(__file__).parent), self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._owner = os.getpid()

    def stop(self) -> None:
        """Kill the child, if it is ours."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def replies(self, request: tuple[Any, ...], *, seconds: float | None) -> Iterator[Any]:
        """Send a request and give its replies until the child says it is done.

        Raises EngineTimedOut when `seconds` have passed, after which the child is replaced, and
        EngineFailed when it dies or reports an error.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        if not self._turn.acquire(timeout=-1 if seconds is None else max(0.0, seconds)):
            raise EngineTimedOut(
                f"{self._module} was busy for all of {seconds:.3f} s; expected a free worker"
            )
        done = False
        try:
            self.start()
            assert self._process is not None
            _send(self._process, request)
            while True:
                kind, value = _receive(self._process, self._module, deadline)
                if kind == "done":
                    done = True
                    return
                if kind == "error":
                    done = True
                    raise EngineFailed(f"{self._module} reports {value}; expected a result")
                yield value
        finally:
            if not done:  # timed out, died or abandoned: its pipe is in an unknown state
                self.stop()
                self.start()
            self._turn.release()

    def ask(self, request: tuple[Any, ...], *, seconds: float | None) -> Any:
        """Send a request that has exactly one reply."""
        (reply,) = self.replies(request, seconds=seconds)
        return reply


def _send(process: subprocess.Popen[bytes], request: tuple[Any, ...]) -> None:
    assert process.stdin is not None
    data = pickle.dumps(request, protocol=5)
    try:
        process.stdin.write(struct.pack(">Q", len(data)) + data)
        process.stdin.flush()
    except OSError as error:
        raise EngineFailed("a worker closed its input; expected it to read a request") from error


def _receive(
    process: subprocess.Popen[bytes], name: str, deadline: float | None
) -> tuple[str, Any]:
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)

        def read(length: int) -> bytes:
            parts = []
            while length:
                left = None
                if deadline is not None:
                    left = max(0.0, deadline + GRACE_SECONDS - time.monotonic())
                if not selector.select(left):
                    raise EngineTimedOut(f"{name} gave no answer within its deadline")
                part = os.read(descriptor, min(length, 1 << 20))
                if not part:
                    raise EngineFailed(f"{name} died with exit code {process.wait()}")
                parts.append(part)
                length -= len(part)
            return b"".join(parts)

        (size,) = struct.unpack(">Q", read(8))
        kind, value = pickle.loads(read(size))
    return kind, value
