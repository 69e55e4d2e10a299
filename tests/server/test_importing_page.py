"""The page about imports: its file, with its mapping, gives what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from server.cli.app import build

PAGE = (Path(__file__).parents[2] / "docs" / "importing.md").read_text("utf-8")


def block(language: str) -> str:
    """Give the one block of a language on the page."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_the_example_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("acme.ttl").write_text(block("turtle"))
    Path("acme.yaml").write_text(block("yaml"))
    command, _, shown = block("text").partition("\n")
    run = CliRunner()
    assert run.invoke(build(), ["init", "kb", "--pack", "supplier"]).exit_code == 0
    result = run.invoke(build(), command.removeprefix("$ proofweave ").split())
    assert result.exit_code == 0
    assert result.stdout == shown
