"""A server in a process of its own, for tests that kill it or limit it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from server.cli.connection import Services, services

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{ROOT / 'protos'}"}


@dataclass(frozen=True, slots=True)
class Served:
    """A server in a process of its own."""

    services: Services
    process: subprocess.Popen[str]

    @property
    def peak_bytes(self) -> int:
        """The most memory that the process has had."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024


@contextmanager
def served(directory: Path, before: Callable[[], None] | None = None) -> Iterator[Served]:
    """Serve a knowledge base in another process, which runs `before` first."""
    command = [sys.executable, "-m", "server", "serve", "--kb", str(directory)]
    with subprocess.Popen(
        [*command, "--port", "0", "--http-port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=ENVIRONMENT,
        cwd=directory.parent,
        preexec_fn=before,  # sets a limit, starts no thread
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().partition("gRPC ")[2].partition(",")[0]
            with grpc.insecure_channel(address) as channel:
                yield Served(services(channel), process)
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()  # else the test would wait for it for ever
                raise
