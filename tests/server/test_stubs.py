"""The committed stubs are those of the committed protocol."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from server.stubs import stale

PROTOS = Path(__file__).resolve().parents[2] / "protos"


def test_stubs_are_fresh() -> None:
    assert stale(PROTOS) == (), "run python -m server.stubs"


def test_an_outdated_stub_is_noticed(tmp_path: Path) -> None:
    shutil.copytree(PROTOS, tmp_path / "protos", ignore=shutil.ignore_patterns("__pycache__"))
    stub = tmp_path / "protos/proofweave/v1/common_pb2.py"
    stub.write_text(stub.read_text() + "\n")
    assert stale(tmp_path / "protos") == ("proofweave/v1/common_pb2.py",)


def test_protos_pass_the_linter() -> None:
    buf = shutil.which("buf")
    if buf is None:
        from_environment = Path(__import__("sys").executable).parent / "buf"
        if not from_environment.exists():
            pytest.skip("buf is not installed")
        buf = str(from_environment)
    result = subprocess.run([buf, "lint", str(PROTOS)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
