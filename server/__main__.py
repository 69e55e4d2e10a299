"""Entry of the command line: runs it, and turns errors into one line and an exit code."""

from __future__ import annotations

import os
import re
import sys

import grpc

from kb.errors import ProofweaveError

from .cli.app import build
from .cli.outcome import Exit, report
from .errors import RequestRejected
from .status import Failure, code_of, failure_of, problems_of

_DENIAL = re.compile(r"-[a-z][A-Za-z0-9_]*\(")


def main() -> None:
    """Run the command line; leaves by `SystemExit` with the code of the contract."""
    as_json = "--json" in sys.argv
    try:
        _check_denials(sys.argv[1:])
        _run()
    except ProofweaveError as error:
        failure = Failure(code_of(error), error.code, str(error), problems_of(error))
        sys.exit(report(failure, as_json=as_json))
    except grpc.RpcError as error:
        sys.exit(report(failure_of(error), as_json=as_json))
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(Exit.ERROR)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # the last resort: one line, unless the trace is asked for
        if os.environ.get("PROOFWEAVE_TRACE"):
            raise
        words = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"error: internal error: {words} (PROOFWEAVE_TRACE=1 shows where)", file=sys.stderr)
        sys.exit(Exit.ERROR)


def _check_denials(arguments: list[str]) -> None:
    """Raise RequestRejected where a goal with strong negation would be read as an option."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for at, argument in enumerate(before):
        is_value = at > 0 and before[at - 1] in ("--assume", "--retract")
        if _DENIAL.match(argument) and not is_value:
            raise RequestRejected(
                f"{argument!r} begins with - and reads as an option; a goal with strong negation "
                f"comes last, after --: ... -- {argument!r}"
            )


def _run() -> None:
    """Run the application; a path that cannot be used is an error of the request."""
    try:
        build()(prog_name="proofweave")
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            raise
        raise RequestRejected(f"{error.filename} cannot be used: {error.strerror}") from error


if __name__ == "__main__":
    main()
