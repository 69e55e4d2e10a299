"""The other end of `workers`: frames on stdin and stdout of a process that is asked."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable, Mapping
from typing import BinaryIO

Reply = tuple[Mapping[str, object], bytes]


def serve(answer: Callable[[dict[str, object]], Reply]) -> None:
    """Say that the process is ready, then answer requests until stdin ends."""
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    _write(replies, {"status": "ready"}, b"")
    while (frame := _read(requests)) is not None:
        _write(replies, *answer(json.loads(frame)))


def number(value: object) -> int:
    """Give what a request says as a number; raises ValueError for anything else."""
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is no number")
    return value


def _read(stream: BinaryIO) -> bytes | None:
    head = stream.read(4)
    if len(head) < 4:
        return None
    return stream.read(struct.unpack(">I", head)[0])


def _write(stream: BinaryIO, reply: Mapping[str, object], content: bytes) -> None:
    head = json.dumps(reply).encode() + b"\n"
    stream.write(struct.pack(">I", len(head) + len(content)) + head)
    stream.write(content)
    stream.flush()
