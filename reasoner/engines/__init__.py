"""Engines: different ways to close one Horn program, which must agree."""

from __future__ import annotations

from .linear import Firing
from .table import ENGINES, close

__all__ = ["ENGINES", "Firing", "close"]
