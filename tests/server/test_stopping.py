"""A server stops when it is told to, whichever of its threads the system tells."""

from __future__ import annotations

import ctypes
import signal
import time
from pathlib import Path

import pytest
from served import served

from server.knowledge import create_knowledge


def threads_of(pid: int) -> set[int]:
    """Give the threads of a process."""
    return {int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()}


@pytest.mark.parametrize("which", [0, 1, -1], ids=["main", "second", "last"])
def test_a_signal_to_any_thread_stops_the_server(tmp_path: Path, which: int) -> None:
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("supplier",))
    tgkill = getattr(ctypes.CDLL(None), "tgkill", None)
    if tgkill is None:
        pytest.skip("the C library has no tgkill, which sends a signal to one thread")
    with served(tmp_path / "kb") as found:
        pid = found.process.pid
        before = threads_of(pid)
        time.sleep(1)  # those that prepare the knowledge base end by themselves
        threads = sorted(before & threads_of(pid))
        assert tgkill(pid, threads[which], signal.SIGTERM) == 0
        assert found.process.wait(timeout=30) == 0
