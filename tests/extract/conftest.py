"""Packs of the project, loaded once per session."""

from __future__ import annotations

from pathlib import Path

import pytest

from extract.pack import Pack
from extract.packs import load_pack

PACKS = Path(__file__).resolve().parents[2] / "packs"


@pytest.fixture(scope="session")
def supplier() -> Pack:
    """The supplier pack."""
    return load_pack(PACKS / "supplier")


@pytest.fixture(scope="session")
def wiki() -> Pack:
    """The pack of encyclopedic relations."""
    return load_pack(PACKS / "wiki")
