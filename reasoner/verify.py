"""Check a certificate without trusting the program that made it.

Runs alone, on the standard library only: `python -I reasoner/verify.py CERT --sources DIR`. This
file and the folder `checker` beside it are all that is needed; copy the two anywhere. They share
no code with the engine: they read policies and facts with their own parser, compare values with
their own arithmetic and walk rule bodies themselves. Nothing recurses over a proof, which may be
deep.

`checker/__init__.py` lists the files in the order in which to read them. The format and the
rejection classes are described in `docs/verifying.md`.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import types
from collections.abc import Sequence
from pathlib import Path

if not __package__:  # run as a file: the folder beside it is found without changing the path
    __package__ = "proofweave_checker"
    sys.modules[__package__] = types.ModuleType(__package__)
    sys.modules[__package__].__path__ = [str(Path(__file__).resolve().parent)]

from .checker.arithmetic import LARGEST_BITS
from .checker.format import REJECTIONS
from .checker.report import Report, report_json, report_text, verify_bytes
from .checker.rules import NEVER_STATED
from .checker.sources import (
    TABLE_TYPES,
    Texts,
    is_named,
    read_folder,
    retracted_spans,
    table_spans,
)
from .checker.units import conversion
from .checker.values import day_after

__all__ = [
    "LARGEST_BITS",
    "NEVER_STATED",
    "REJECTIONS",
    "TABLE_TYPES",
    "Report",
    "Texts",
    "conversion",
    "day_after",
    "is_named",
    "main",
    "read_folder",
    "retracted_spans",
    "table_spans",
    "verify_bytes",
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Examine the certificate named on the command line; gives the exit code."""
    parser = argparse.ArgumentParser(prog="verify", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("certificate", type=Path, help="file with the canonical certificate")
    parser.add_argument("--sources", type=Path, help="folder with originals or decoded texts")
    parser.add_argument("--expect-policy", help="SHA-256 of the text of the policy")
    parser.add_argument("--expect-goal", help="text of the goal")
    parser.add_argument("--expect-day", help="day for which facts must count, YYYY-MM-DD")
    parser.add_argument(
        "--skip-minimality", action="store_true", help="do not look for leaves to spare"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    gc.disable()  # one certificate, then the program ends
    try:
        data = options.certificate.read_bytes()
    except OSError as error:
        print(f"verify: {options.certificate} cannot be read: {error.strerror}", file=sys.stderr)
        return 1
    if options.sources is not None and not options.sources.is_dir():
        print(f"verify: {options.sources} is no folder", file=sys.stderr)
        return 2
    report = verify_bytes(
        data,
        options.sources,
        expect_policy=options.expect_policy,
        expect_goal=options.expect_goal,
        expect_day=options.expect_day,
        minimality=not options.skip_minimality,
    )
    if options.json:
        print(json.dumps(report_json(report), ensure_ascii=False, indent=2))
    else:
        print(report_text(report), end="")
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
