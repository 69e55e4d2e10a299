"""Errors of the reasoner.

ProofweaveError
└── ReasonerError
    ├── PolicyRejected          a policy or facts file with errors; carries every finding
    ├── GoalRejected            a goal that cannot be read, is unknown or unbound where not allowed
    ├── PlanInvalid             a plan whose steps do not fit together
    ├── HypergraphRejected      a hypergraph file that does not follow the format
    ├── GameLogRejected         a file of game logs that does not follow the format
    ├── ResumeRejected          a resume token that is damaged or belongs to another question
    ├── EngineDisagreement      two engines closed the same program differently; never an answer
    ├── EngineFailed            an engine's worker died or gave no closure
    ├── EngineTimedOut          an engine passed its deadline; says nothing about the goal
    ├── EngineUnknown           no engine of that name
    └── SelfCheckFailed         our own verifier rejects our own certificate; never an answer
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from kb.errors import ProofweaveError


class ReasonerError(ProofweaveError):
    """Root of the errors of the reasoner."""

    code: ClassVar[str] = "REASONER_ERROR"


class Severity(Enum):
    """Whether a finding stops a policy."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One problem of a policy or facts file, at a 1-based line and column in code points."""

    line: int
    column: int
    code: str
    message: str
    severity: Severity = field(default=Severity.ERROR, compare=False)

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.severity.value}: {self.message} [{self.code}]"


class PolicyRejected(ReasonerError):
    """A policy or facts file with errors; `findings` holds all of them, by position."""

    code: ClassVar[str] = "POLICY_REJECTED"

    def __init__(self, name: str, findings: tuple[Finding, ...]) -> None:
        self.name = name
        self.findings = findings
        super().__init__("\n".join(f"{name}:{finding}" for finding in findings))


class GoalRejected(ReasonerError):
    """A goal that cannot be read, is unknown, or is unbound where that is not allowed."""

    code: ClassVar[str] = "GOAL_REJECTED"


class PlanInvalid(ReasonerError):
    """A plan whose steps do not fit together: a wrong reference, an unknown dimension, no order."""

    code: ClassVar[str] = "PLAN_INVALID"


class HypergraphRejected(ReasonerError):
    """A hypergraph file that does not follow the documented format; carries every problem."""

    code: ClassVar[str] = "HYPERGRAPH_REJECTED"

    def __init__(self, name: str, problems: tuple[str, ...]) -> None:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__("\n".join([f"{name} has {count}:", *problems]))
        self.name = name
        self.problems = problems


class GameLogRejected(ReasonerError):
    """A file of game logs that does not follow the documented format; carries every problem."""

    code: ClassVar[str] = "GAME_LOG_REJECTED"

    def __init__(self, name: str, problems: tuple[str, ...]) -> None:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__("\n".join([f"{name} has {count}:", *problems]))
        self.name = name
        self.problems = problems


class ResumeRejected(ReasonerError):
    """A resume token that is damaged or belongs to another question."""

    code: ClassVar[str] = "RESUME_REJECTED"


class EngineDisagreement(ReasonerError):
    """Two engines closed the same program differently: an internal error, never an answer.

    `reproducer` is the program as a hypergraph in JSON, which shows the difference again, and
    `saved` the file that holds it.
    """

    code: ClassVar[str] = "ENGINE_DISAGREEMENT"

    def __init__(self, message: str, *, reproducer: str = "", saved: str = "") -> None:
        super().__init__(message)
        self.reproducer = reproducer
        self.saved = saved


class EngineFailed(ReasonerError):
    """An engine's worker died or gave no closure."""

    code: ClassVar[str] = "ENGINE_FAILED"


class EngineTimedOut(ReasonerError):
    """An engine passed its deadline. This says nothing about what can be derived."""

    code: ClassVar[str] = "ENGINE_TIMED_OUT"


class EngineUnknown(ReasonerError):
    """No engine of that name; the message lists those there are."""

    code: ClassVar[str] = "ENGINE_UNKNOWN"


class SelfCheckFailed(ReasonerError):
    """The verifier rejects a certificate we just built: an internal error, never an answer."""

    code: ClassVar[str] = "SELF_CHECK_FAILED"
