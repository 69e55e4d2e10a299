"""The table of commands says what each command says itself, and spares the others' modules."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from server.cli.app import COMMANDS, GROUPS, Entry, Group


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.word)
def test_a_command_is_listed_with_its_first_line_of_help(entry: Entry) -> None:
    command = getattr(import_module(f"server.cli.{entry.module}"), entry.name)
    first = (command.__doc__ or "").strip().split("\n\n")[0]
    assert entry.says == " ".join(first.split())


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.word)
def test_a_group_is_listed_with_its_help(group: Group) -> None:
    app = getattr(import_module(f"server.cli.{group.module}"), group.name)
    assert app.info.help == group.says


_LOADED = """
import sys
sys.argv = ["proofweave", "--help"]
from server.__main__ import main
try:
    main()
except SystemExit as end:
    assert end.code in (0, None), end.code
heavy = {"clingo", "grpc", "numba", "numpy", "pydantic", "spacy"}
print("LOADED", *sorted(heavy & set(sys.modules)))
"""


def test_help_loads_neither_engines_nor_protocols() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1].split() == ["LOADED"]
    assert all(entry.word in done.stdout for entry in (*COMMANDS, *GROUPS))
