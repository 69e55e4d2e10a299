"""Exit codes, and how results and errors leave the command line."""

from __future__ import annotations

import json
import sys
from enum import IntEnum

from proofweave.v1 import common_pb2
from rich.console import Console
from rich.progress import Progress, ProgressColumn

from ..status import Failure


class Exit(IntEnum):
    """Exit codes of the stable contract."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    ABSTAINED = 3
    REFUTED = 4
    VERIFICATION_REJECTED = 5


BY_VERDICT = {
    common_pb2.VERDICT_CERTIFIED: Exit.DONE,
    common_pb2.VERDICT_ABSTAINED: Exit.ABSTAINED,
    common_pb2.VERDICT_REFUTED: Exit.REFUTED,
}

USAGE_REASONS = frozenset(
    {
        "ENGINE_UNKNOWN",
        "FORMAT_UNAVAILABLE",
        "GOAL_REJECTED",
        "NOT_FOUND",
        "NOT_PROVIDED",
        "QUESTION_REJECTED",
        "REQUEST_REJECTED",
        "RESUME_REJECTED",
        "REVISION_UNKNOWN",
        "SETTINGS_REJECTED",
        "VALUE_UNREADABLE",
    }
)
"""What was typed: it cannot be read, does not go together, or names what is not there.

Everything else is an error: of what a file holds, or of the work.
"""


def console() -> Console:
    """Give the console for people, on standard output; plain where it is no terminal."""
    return Console(highlight=False, soft_wrap=True, markup=False)


def progress(*columns: ProgressColumn, quiet: bool) -> Progress:
    """Give a progress display on standard error that goes away; none where that is no terminal."""
    out = Console(stderr=True)
    return Progress(*columns, console=out, disable=quiet or not out.is_terminal, transient=True)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun: `1 support`, `2 supports`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def print_json(value: object) -> None:
    """Print one JSON object, and nothing else, on standard output."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, sort_keys=True)
    sys.stdout.write("\n")


def error_json(failure: Failure) -> dict[str, object]:
    """Give an error with its findings as JSON."""
    return {
        "reason": failure.reason,
        "message": failure.message,
        "problems": [
            {
                "file": problem.file or None,
                "line": problem.line or None,
                "column": problem.column or None,
                "severity": severity_word(problem),
                "reason": problem.reason,
                "message": problem.message,
            }
            for problem in failure.problems
        ],
    }


def severity_word(problem: common_pb2.Problem) -> str:
    """Give `error` or `warning`."""
    return "warning" if problem.severity == common_pb2.SEVERITY_WARNING else "error"


def exit_code(reason: str) -> Exit:
    """Give the exit code for the stable code of an error."""
    return Exit.USAGE if reason in USAGE_REASONS else Exit.ERROR


def report(failure: Failure, *, as_json: bool) -> Exit:
    """Print an error on standard error, one line per finding, and give the exit code.

    With `as_json` the one object on standard output is the error.
    """
    if as_json:
        print_json({"error": error_json(failure)})
    listed = failure.problems if len(failure.problems) > 1 else ()
    located = [problem for problem in failure.problems if problem.line] or listed
    for problem in located:
        place = ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part)
        where = f"{place}: " if place else ""
        words = " ".join(problem.message.split())
        print(f"{severity_word(problem)}: {where}{words}", file=sys.stderr)
    if not located:
        print(f"error: {' '.join(failure.message.split())}", file=sys.stderr)
    return exit_code(failure.reason)
