"""Entry of the command line: runs it, and turns errors into one line and an exit code."""

from __future__ import annotations

import os
import re
import sys

from kb.errors import ProofweaveError

from .cli.app import build
from .errors import RequestRejected

_DENIAL = re.compile(r"-[a-z][A-Za-z0-9_]*\(")


def main() -> None:
    """Run the command line; leaves by `SystemExit` with the code of the contract."""
    try:
        _check_denials(sys.argv[1:])
        _run()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        try:
            sys.exit(_explain(error))
        except BrokenPipeError:  # who reads has heard enough
            sys.stderr.close()
            sys.exit(1)


def _explain(error: Exception) -> int:
    """Print an error as the contract says; the trace only where it is asked for."""
    import grpc  # with what follows a third of a second, which only errors and calls need

    from .cli.outcome import Exit, report
    from .status import Failure, code_of, failure_of, problems_of

    as_json = "--json" in sys.argv
    if isinstance(error, ProofweaveError):
        failure = Failure(code_of(error), error.code, str(error), problems_of(error))
        return report(failure, as_json=as_json)
    if isinstance(error, grpc.RpcError):
        return report(failure_of(error), as_json=as_json)
    if os.environ.get("PROOFWEAVE_TRACE"):
        raise error
    words = " ".join(f"{type(error).__name__}: {error}".split())
    print(f"error: internal error: {words} (PROOFWEAVE_TRACE=1 shows where)", file=sys.stderr)
    return Exit.ERROR


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
        build(_word())(prog_name="proofweave")
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            raise
        raise RequestRejected(f"{error.filename} cannot be used: {error.strerror}") from error


def _word() -> str | None:
    """Give the command asked for, empty if none; None where a shell asks what could follow."""
    if any(name.endswith("_COMPLETE") for name in os.environ):
        return None
    return next((word for word in sys.argv[1:] if not word.startswith("-")), "")


if __name__ == "__main__":
    main()
