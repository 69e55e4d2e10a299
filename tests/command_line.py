"""The command line run in this process: what it printed, and its exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from server.__main__ import main


class Outcome(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # whatever the command printed
        """The one object on standard output."""
        return json.loads(self.out)


Run = Callable[..., Outcome]


def runner(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Give a function that runs the command line."""

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["proofweave", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        sys.stdout.flush()
        captured = capfdbinary.readouterr()
        return Outcome(int(left.value.code or 0), captured.out.decode(), captured.err.decode())

    return call
