"""What all tests share: settings of property tests, and the folder of shared benchmark data.

Property tests see the same examples in every run, however slow the machine.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared benchmark data; the test is skipped where there is none."""
    folder = (
        Path(os.environ.get("PROOFWEAVE_SHARED", Path(__file__).parents[2] / "shared")) / "data"
    )
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}")
    return folder
