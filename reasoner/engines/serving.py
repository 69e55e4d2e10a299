"""The child's side of `worker`: read requests, write replies; standard library only."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable, Iterable
from typing import Any


def serve(answer: Callable[[tuple[Any, ...]], Iterable[Any]]) -> None:
    """Answer requests from standard input until it closes.

    Whatever else writes to standard output goes to standard error instead. An interrupt at the
    terminal is the parent's to handle.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def write(kind: str, value: Any) -> None:
        data = pickle.dumps((kind, value), protocol=5)
        sink.write(struct.pack(">Q", len(data)) + data)
        sink.flush()

    while len(head := source.read(8)) == 8:
        (size,) = struct.unpack(">Q", head)
        request = pickle.loads(source.read(size))
        try:
            for reply in answer(request):
                write("reply", reply)
            write("done", None)
        except BrokenPipeError:
            return
        except Exception as error:  # whatever it is, the parent reports it and goes on
            write("error", f"{type(error).__name__}: {error}")
    sys.exit(0)
