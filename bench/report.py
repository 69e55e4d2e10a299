"""The one form in which benchmarks report: rows measured, goals met or missed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def goal(name: str, value: float, limit: float, *, at_most: bool) -> dict[str, Any]:
    """Hold a value against a goal that is an upper or a lower limit."""
    met = value <= limit if at_most else value >= limit
    return {"name": name, "value": round(value, 4), "goal": limit, "met": met}


def publish(report: dict[str, Any], *, as_json: bool, out: Path | None = None) -> None:
    """Print a report, as one JSON object or as lines for people, and write it to `out`."""
    text = json.dumps(report, indent=1)
    if out is not None:
        out.write_text(text + "\n", encoding="utf-8")
    if as_json:
        print(text)
        return
    for row in report["rows"]:
        print("  ".join(f"{name} {_short(value)}" for name, value in row.items()))
    for entry in report["goals"]:
        verdict = "met " if entry["met"] else "MISS"
        print(f"{verdict} {entry['name']}: {entry['value']} (goal {entry['goal']})")


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
