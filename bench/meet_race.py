"""Peers asked within caps: a query that has not ended by then is ended, and says so.

A peer may need minutes for one query and cannot be interrupted; so it runs in a process that is
killed, and begins again with the next query.
"""

from __future__ import annotations

import json
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .meet_world import Wanted

_START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Caps:
    """Seconds for loading, for one query, and for all queries of one peer."""

    load: float = 180.0
    query: float = 5.0
    queries: float = 40.0


def race(
    peer: str, instances: int, wanted: Sequence[Wanted], expected: Sequence[set[int]], caps: Caps
) -> dict[str, Any]:
    """Give the row of a peer: its times, how many queries did not end, whether answers are right.

    What did not end counts in the percentiles as what it is at least: the cap.
    """
    with TemporaryDirectory() as place:
        loaded = _load(peer, instances, Path(place), caps.load)
        if loaded is None:
            why = f"loading not ended in {caps.load:g} s"
            return {"queries": 0, "ended": 0, "outcome": why, "equal_to_oracle": None}
        times, found = _answers(peer, Path(place), wanted, caps)
    ended = {number: answer for number, answer in enumerate(found) if answer is not None}
    ordered = sorted(times)
    row: dict[str, Any] = {**loaded, "queries": len(found), "ended": len(ended)}
    if ordered:
        row |= {
            "p50_ms": ordered[len(ordered) // 2],
            "p95_ms": ordered[len(ordered) * 95 // 100],
            "max_ms": ordered[-1],
        }
    if len(ended) < len(found):
        row["outcome"] = (
            f"{len(found) - len(ended)} of {len(found)} queries not ended in {caps.query:g} s each"
        )
    if len(found) < len(wanted):
        row["outcome"] = (
            f"{row.get('outcome', '')}; {len(wanted) - len(found)} queries not asked, since "
            f"{caps.queries:g} s were over"
        ).removeprefix("; ")
    right = all(answer == expected[number] for number, answer in ended.items())
    return {**row, "equal_to_oracle": right if ended else None}


def _load(peer: str, instances: int, directory: Path, seconds: float) -> dict[str, float] | None:
    try:
        done = subprocess.run(
            _command(peer, "load", directory, instances),
            capture_output=True,
            text=True,
            check=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return None
    return dict(json.loads(done.stdout))


def _answers(
    peer: str, directory: Path, wanted: Sequence[Wanted], caps: Caps
) -> tuple[list[float], list[set[int] | None]]:
    """Give the times, and the answers to the queries that were asked; None for one without end."""
    times: list[float] = []
    found: list[set[int] | None] = []
    spent = 0.0
    asked: _Asked | None = None
    try:
        for query in wanted:
            if spent >= caps.queries:
                break
            asked = asked or _Asked(peer, directory)
            begun = time.perf_counter()
            reply = asked.ask(query, caps.query)
            spent += time.perf_counter() - begun
            if reply is None:
                asked.end()
                asked = None
                times.append(caps.query * 1000)
                found.append(None)
            else:
                times.append(reply["ms"])
                found.append(set(reply["found"]))
    finally:
        if asked is not None:
            asked.end()
    return times, found


class _Asked:
    """A process of a peer that is asked."""

    def __init__(self, peer: str, directory: Path) -> None:
        self._process = subprocess.Popen(
            _command(peer, "answer", directory),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._selector = selectors.DefaultSelector()
        assert self._process.stdout is not None
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        if self._line(_START_SECONDS) != "ready":
            raise RuntimeError(f"the peer {peer} does not start")

    def ask(self, wanted: Wanted, seconds: float) -> dict[str, Any] | None:
        """Give the reply to a query, or None where it does not come in time."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(wanted).encode() + b"\n")
        reply = self._line(seconds)
        return dict(reply) if reply is not None else None

    def end(self) -> None:
        """End the process."""
        self._selector.close()
        self._process.kill()
        self._process.communicate()

    def _line(self, seconds: float) -> Any:  # whatever the process prints as JSON
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        received = b""
        while not received.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not self._selector.select(left):
                return None
            piece = self._process.stdout.read(1 << 16)
            if not piece:
                raise EOFError("a peer ended by itself")
            received += piece
        return json.loads(received)


def _command(peer: str, job: str, directory: Path, instances: int = 0) -> list[str]:
    return [
        *(sys.executable, "-m", "bench.meet_peers", "--peer", peer, "--job", job),
        *("--directory", str(directory), "--instances", str(instances)),
    ]
