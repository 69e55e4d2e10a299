"""One server at a time per knowledge base: a lock on a file of its directory.

The lock ends with its process, however that ends. What starts no server, such as `backup` and
`verify`, need none.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kb.errors import LogUnavailable, NotFound

LOCK = "server.lock"
STEP_SECONDS = 0.05


@contextmanager
def occupied(directory: Path, *, wait_seconds: float = 0) -> Iterator[Callable[[str], None]]:
    """Hold a knowledge base while the block runs; gives what tells others where it is served.

    Waits for a holder without an address, which leaves soon. Raises LogUnavailable where another
    process holds it, and NotFound where there is no directory.
    """
    if not directory.is_dir():
        raise NotFound(f"{directory} holds no knowledge base; make one with init")
    with ExitStack() as stack:
        try:
            file = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise LogUnavailable(
                f"{directory} cannot be written: {error.strerror}; a server writes to its "
                "knowledge base, since verdicts are recorded"
            ) from error
        stack.callback(os.close, file)
        deadline = time.monotonic() + wait_seconds
        while not _try(file):
            process, _, where = os.pread(file, 1000, 0).decode("utf-8", "replace").partition(" ")
            where = where.strip()
            if where or time.monotonic() >= deadline:
                asked = f" at {where}; use --server {where}" if where else "; try again later"
                raise LogUnavailable(f"{directory} is in use by the process {process}{asked}")
            time.sleep(STEP_SECONDS)

        def tell(address: str) -> None:
            os.ftruncate(file, 0)
            os.pwrite(file, f"{os.getpid()} {address}".encode(), 0)

        tell("")
        stack.callback(os.ftruncate, file, 0)
        yield tell


def _try(file: int) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # not inherited by worker processes
    except (BlockingIOError, PermissionError):
        return False
    return True
