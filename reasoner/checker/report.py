"""The examination as a whole, and what came out: checked, trusted, not given."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from .case import Case
from .conclusion import check_use, check_verdict
from .format import REJECTIONS, Rejected, check_shape, read_canonical, require
from .lookups import check_lookup
from .minimal import check_minimality
from .openness import check_open
from .proof import check_quotes, check_statements, check_steps
from .sources import Texts, read_folder
from .validity import check_validity
from .values import read_day
from .witness import Witness

_LARGE = 1_000_000
"""Bytes from which garbage collection waits until a certificate is examined."""


@dataclass(frozen=True)
class Report:
    """What came out: what was checked, what is trusted, what was not given."""

    valid: bool
    rejection: str = ""
    where: str = ""
    message: str = ""
    verdict: str = ""
    code: str | None = None
    goal: str = ""
    valid_on: str | None = None
    answers: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    not_given: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 if valid, else the number of the rejection class."""
        return 0 if self.valid else REJECTIONS[self.rejection]


def _examine(case: Case, expect_policy: str | None, expect_goal: str | None) -> Witness:
    """Check everything but minimality, in the order of the sections."""
    read_day(case.certificate["valid_on"])
    case.check_policies(expect_policy)
    case.check_goal(expect_goal)
    case.check_retractions()
    concluded = check_statements(case)
    check_quotes(case)
    witness = Witness(case)
    check_steps(case, concluded, witness)
    witness.check_calls()
    for lookup in witness.lookups:
        check_lookup(case, witness, lookup)
    check_verdict(case, witness)
    check_open(case, witness)
    check_validity(case)
    check_use(case, witness)
    return witness


def verify_bytes(
    data: bytes,
    sources: Mapping[str, str] | Texts | Path | None = None,
    *,
    expect_policy: str | None = None,
    expect_goal: str | None = None,
    expect_day: str | None = None,
    minimality: bool = True,
) -> Report:
    """Examine a certificate; `sources` are texts by digest, or a folder.

    Never raises for what a certificate holds: a rejection is in the report.
    """
    pause = len(data) > _LARGE and gc.isenabled()
    if pause:  # a large certificate is many small objects and no cycles
        gc.disable()
    case = Case({}, None)
    try:
        case.certificate = certificate = read_canonical(data)
        check_shape(certificate, "certificate")
        if isinstance(sources, Path):
            case.texts = read_folder(sources, certificate["sources"])
        else:
            case.texts = Texts(sources) if isinstance(sources, Mapping) else sources
        witness = _examine(case, expect_policy, expect_goal)
        if minimality:
            check_minimality(case, witness)
        else:
            case.not_given.append("minimality: it was left out on request")
        day, case.where = certificate["valid_on"], "valid_on"
        same = expect_day in (None, day)
        require(same, "GOAL_MISMATCH", f"it counts for {day}, expected {expect_day}")
    except Rejected as found:
        return Report(False, found.rejection, found.where or case.where, found.message)
    except RecursionError:
        return Report(False, "MALFORMED", "", "something is nested too deep")
    except (TypeError, AttributeError, ValueError, LookupError, ArithmeticError) as error:
        message = f"a field has the wrong type or form: {type(error).__name__} {error}"
        return Report(False, "STRUCTURE", case.where, message)
    finally:
        if pause:
            gc.enable()
    return Report(
        valid=True,
        **{name: certificate[name] for name in ("verdict", "code", "goal", "valid_on")},
        answers=tuple(answer["atom"] for answer in certificate["answers"]),
        checked=tuple(case.checked),
        trusted=tuple(case.trusted),
        not_given=tuple(case.not_given),
    )


def report_text(report: Report) -> str:
    """Write a report for people."""
    if not report.valid:
        return f"rejected: {report.rejection} at {report.where or 'the top'}: {report.message}\n"
    code = f" ({report.code})" if report.code else ""
    day = f"on {report.valid_on}" if report.valid_on else "on no day in particular"
    lines = [f"valid: {report.verdict}{code} {report.goal} {day}"]
    lines += [f"  answer: {answer}" for answer in report.answers if answer != report.goal]
    for title in ("checked", "trusted", "not_given"):
        items = getattr(report, title)
        if items:
            lines += [f"{title.replace('_', ' ')}:", *(f"  - {item}" for item in items)]
    return "\n".join(lines) + "\n"


def report_json(report: Report) -> dict[str, object]:
    """Give a report as one JSON object."""
    absent = {key: getattr(report, key) or None for key in ("rejection", "verdict", "goal")}
    return {**asdict(report), **absent, "exit_code": report.exit_code}
