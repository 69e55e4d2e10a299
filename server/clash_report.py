"""What cannot be true together in a knowledge base, as text and as JSON."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kb.dimension import Dimension
from kb.owl import Satisfiability
from kb.statement import Statement
from reasoner.clash import Clash, Reading, class_clashes, statement_clashes


@dataclass(frozen=True, slots=True)
class ClashReport:
    """Classes that can have no member, statements that cannot hold together, and HermiT's view.

    `satisfiability` is None where HermiT was not asked.
    """

    classes: tuple[Clash, ...]
    statements: tuple[Clash, ...]
    satisfiability: Satisfiability | None = None

    @property
    def found(self) -> bool:
        """Whether anything is wrong."""
        verdict = self.satisfiability
        wrong = verdict is not None and (not verdict.consistent or bool(verdict.unsatisfiable))
        return bool(self.classes or self.statements or wrong)

    def to_json(self) -> dict[str, object]:
        """Give the report as JSON."""
        verdict = self.satisfiability
        return {
            "empty_classes": [_clash_json(clash) for clash in self.classes],
            "clashes": [_clash_json(clash) for clash in self.statements],
            "owl": None
            if verdict is None
            else {
                "consistent": verdict.consistent,
                "unsatisfiable": list(verdict.unsatisfiable),
            },
        }

    def text(self) -> str:
        """Give the report in words; empty where nothing was found and HermiT not asked."""
        lines: list[str] = []
        for clash in self.classes:
            lines.append(f"no member is possible of {clash.subject!r}:")
            lines += _explained(clash)
        for clash in self.statements:
            lines.append(f"{clash.subject}: {clash.dimension} cannot be as stated:")
            lines += _explained(clash)
        if self.satisfiability is not None:
            lines.append(_satisfiability_text(self.satisfiability))
        return "\n".join(lines)


def check_clashes(
    dimensions: Sequence[Dimension],
    statements: Iterable[Statement],
    *,
    valid_on: datetime.date | None,
    satisfiability: Satisfiability | None = None,
) -> ClashReport:
    """Find empty classes and clashing statements, with their explanations.

    Each dimension is looked at by itself: classes that two name alike need not be the same.
    """
    stated = list(statements)
    classes: dict[Clash, None] = {}
    clashes: list[Clash] = []
    for dimension in dimensions:
        classes.update(dict.fromkeys(class_clashes([dimension], derived=False)))
        clashes += statement_clashes(
            [dimension],
            (item for item in stated if item.dimension == dimension.name),
            reading=Reading.CLOSED,
            valid_on=valid_on,
        )
    return ClashReport(
        tuple(sorted(classes, key=lambda clash: clash.subject)),
        tuple(sorted(clashes, key=lambda clash: (clash.subject, clash.dimension))),
        satisfiability,
    )


def _satisfiability_text(verdict: Satisfiability) -> str:
    if not verdict.consistent:
        return "HermiT: this cannot be true together"
    if verdict.unsatisfiable:
        return f"HermiT: no member is possible of {', '.join(verdict.unsatisfiable)}"
    return "HermiT: satisfiable, and so is every class"


def _explained(clash: Clash) -> list[str]:
    lines: list[str] = []
    for number, axioms in enumerate(clash.explanations):
        lines += ["  or"] if number else []
        lines += [f"    {axiom}" for axiom in axioms]
    return lines if clash.complete else [*lines, "  and there are more explanations"]


def _clash_json(clash: Clash) -> dict[str, object]:
    return {
        "subject": clash.subject,
        "dimension": clash.dimension or None,
        "complete": clash.complete,
        "explanations": [
            [
                {
                    "kind": axiom.kind.name.lower(),
                    "left": axiom.left,
                    "right": axiom.right,
                    "statement": axiom.statement or None,
                    "text": str(axiom),
                }
                for axiom in axioms
            ]
            for axioms in clash.explanations
        ],
    }
