"""What is found when the order of a dimension is checked, as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from proofweave.v1 import knowledge_pb2

from kb.antichain import width
from kb.completion import Witness, complete, distributivity_witness
from kb.dimension import taxonomy_problems
from kb.errors import DimensionRejected
from kb.poset import Poset

from .translate import dimension_of

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class OrderReport:
    """What was found of one dimension; `problems` keep it from going live.

    `antichain` is a largest one. `witness` shows that the completed lattice is not distributive;
    `distributive` is None where that was too large to tell.
    """

    name: str
    classes: int
    problems: tuple[str, ...] = ()
    antichain: tuple[str, ...] = ()
    distributive: bool | None = None
    witness: Witness | None = None

    def to_json(self) -> dict[str, object]:
        """Give the report as JSON."""
        witness = self.witness
        return {
            "name": self.name,
            "classes": self.classes,
            "problems": list(self.problems),
            "width": len(self.antichain),
            "antichain": list(self.antichain),
            "distributive": self.distributive,
            "witness": None
            if witness is None
            else {
                "shape": witness.shape.value,
                "bottom": witness.bottom,
                "middle": list(witness.middle),
                "top": witness.top,
            },
        }

    def text(self) -> str:
        """Give the report in words."""
        if not self.classes:
            return f"{self.name}: no classes to check"
        verdict = "may not go live" if self.problems else "may go live"
        lines = [f"{self.name}: {self.classes} classes, {verdict}"]
        lines += [f"  {problem}" for problem in self.problems]
        if self.antichain:
            more = len(self.antichain) - _SHOWN
            shown = ", ".join(self.antichain[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
            lines.append(f"  width {len(self.antichain)}: {shown}")
        if self.distributive:
            lines.append("  distributive")
        if self.witness is not None:
            lines.append(f"  not distributive: {_witness_text(self.witness)}")
        return "\n".join(lines)


def check_order(message: knowledge_pb2.Dimension) -> OrderReport:
    """Check a dimension as admission does, and tell what its lattice is like."""
    name = message.name.rpartition("/")[2]
    if message.kind != knowledge_pb2.DIMENSION_KIND_TAXONOMIC:
        return OrderReport(name, 0)
    problems = taxonomy_problems(
        [(edge.child, edge.parent) for edge in message.taxonomy],
        message.classes,
        allowed=[(pair.first, pair.second) for pair in message.allowed_ambiguities],
    )
    if problems:
        return OrderReport(name, len(message.classes), problems)
    order = dimension_of(message).taxonomy
    assert order is not None
    distributive, witness = _shape(order)
    return OrderReport(
        name, len(message.classes), (), width(order).antichain, distributive, witness
    )


def _shape(order: Poset) -> tuple[bool | None, Witness | None]:
    try:
        witness = distributivity_witness(complete(order))
    except DimensionRejected:  # too many cuts
        return None, None
    return witness is None, witness


def _witness_text(witness: Witness) -> str:
    one, other, third = witness.middle
    if witness.shape.value == "N5":
        return (
            f"N5: {one} lies below {other}, and {third} with either meets in {witness.bottom} and "
            f"joins in {witness.top}"
        )
    return (
        f"M3: any two of {one}, {other} and {third} meet in {witness.bottom} and join in "
        f"{witness.top}"
    )
