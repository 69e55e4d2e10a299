"""The demo from end to end, in processes of its own, as `make demo` runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_demo_does_every_step(tmp_path: Path) -> None:
    output = tmp_path / "output"
    path = os.pathsep.join((str(ROOT), str(ROOT / "protos")))
    result = subprocess.run(
        [sys.executable, "-m", "examples.supplier.demo", "--output", str(output)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    lines = [line.strip() for line in result.stdout.splitlines()]
    verdicts = [line.split()[0] for line in lines if "  may_onboard(" in line and " on 20" in line]
    assert (
        verdicts
        == ["CERTIFIED", "ABSTAINED", "REFUTED"]
        + ["ABSTAINED"] * 2
        + ["CERTIFIED"]
        + ["ABSTAINED"] * 3
    )
    assert any(line.startswith("Germany: the insurer of") for line in lines)
    assert "exit code 0" in lines
    assert any(line.startswith("rejected: QUOTE_MISMATCH") for line in lines)
    assert sum("Supplier audits 2025" in line for line in lines if "Ordinary" not in line) >= 7
    page = (output / "certificate.html").read_text("utf-8")
    assert "Nordhafen Logistik GmbH is certified under ISO 9001" in page
    assert "<script src" not in page
