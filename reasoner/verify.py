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
import json
import sys
import types
from collections.abc import Sequence
from pathlib import Path

if not __package__:  # run as a file: the folder beside it is found without changing the path
    __package__ = "proofweave_checker"
    sys.modules[__package__] = types.ModuleType(__package__)
    sys.modules[__package__].__path__ = [str(Path(__file__).resolve().parent)]

# What the engine takes from here is named twice: these are exports.
from .checker.arithmetic import LARGEST_BITS as LARGEST_BITS
from .checker.format import REJECTIONS as REJECTIONS
from .checker.report import Report as Report
from .checker.report import report_json, report_text
from .checker.report import verify_bytes as verify_bytes
from .checker.rules import NEVER_STATED as NEVER_STATED
from .checker.sources import TABLE_ENDINGS as TABLE_ENDINGS
from .checker.sources import TABLE_TYPES as TABLE_TYPES
from .checker.sources import Texts as Texts
from .checker.sources import is_named as is_named
from .checker.sources import read_folder as read_folder
from .checker.sources import retracted_spans as retracted_spans
from .checker.sources import table_spans as table_spans
from .checker.units import conversion as conversion
from .checker.values import day_after as day_after


def main(arguments: Sequence[str] | None = None) -> int:
    """Examine the certificate named on the command line; gives the exit code."""
    parser = argparse.ArgumentParser(prog="verify", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("certificate", type=Path, help="file with the canonical certificate")
    add("--sources", type=Path, help="folder with originals or decoded texts")
    add("--expect-policy", help="SHA-256 of the text of the policy")
    add("--expect-goal", help="text of the goal")
    add("--expect-day", help="day for which facts must count, YYYY-MM-DD")
    add("--skip-minimality", action="store_true", help="do not look for leaves to spare")
    add("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
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
    shown = json.dumps(report_json(report), ensure_ascii=False, indent=2) + "\n"
    print(shown if options.json else report_text(report), end="")
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
