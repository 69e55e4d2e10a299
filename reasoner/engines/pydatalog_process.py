"""Worker process of the pyDatalog engine; the only place that imports pyDatalog."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyDatalog import pyDatalog  # type: ignore[import-untyped]  # has no types

from .serving import serve


def answer(request: tuple[Any, ...]) -> Iterator[list[int]]:
    """Give the atoms whose query has an answer, in the order of the names."""
    text, names = request
    pyDatalog.clear()
    if text:
        pyDatalog.load(text)
    yield [atom for atom, name in names.items() if pyDatalog.ask(name)]


def main() -> None:
    """Serve requests until standard input closes."""
    serve(answer)
