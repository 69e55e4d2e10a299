"""What the command line says about the order of a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proofweave.v1 import knowledge_pb2

from kb.dimension import Dimension, dimension_to_json, taxonomy_problems
from kb.poset import Poset

from .errors import RequestRejected
from .nearest import nearest
from .translate import dimension_of


@dataclass(frozen=True, slots=True)
class OrderReport:
    """What was found of one dimension; problems keep it from going live."""

    name: str
    classes: int
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Give the report as JSON."""
        return {"name": self.name, "classes": self.classes, "problems": list(self.problems)}

    def text(self) -> str:
        """Give the report in words."""
        if not self.classes:
            return f"{self.name}: no classes to check"
        verdict = "may go live" if not self.problems else "may not go live"
        lines = [f"{self.name}: {self.classes} classes, {verdict}"]
        return "\n".join([*lines, *(f"  {problem}" for problem in self.problems)])


def dimension_json(message: knowledge_pb2.Dimension) -> dict[str, object]:
    """Give a dimension as JSON."""
    return dimension_to_json(dimension_of(message))


def tree_lines(message: knowledge_pb2.Dimension) -> tuple[str, ...]:
    """Draw the classes below the root, two spaces per level; a class with several parents repeats
    its name only.
    """
    order = dimension_of(message).taxonomy
    if order is None:
        return ()
    lines: list[str] = []
    drawn: set[str] = set()
    stack = [(element, 1) for element in reversed(order.maximal())]
    while stack:
        element, depth = stack.pop()
        repeated = element in drawn and order.children(element)
        lines.append("  " * depth + element + (" (above)" if repeated else ""))
        if element not in drawn:
            drawn.add(element)
            stack.extend((child, depth + 1) for child in reversed(order.children(element)))
    return tuple(lines)


def meet_of(message: knowledge_pb2.Dimension, values: Sequence[str]) -> tuple[str, ...]:
    """Give the maximal common descendants of classes, sorted."""
    order = _order(dimension_of(message), values)
    return order.meet(values)


def relation_of(message: knowledge_pb2.Dimension, first: str, second: str) -> str:
    """Say in words how two classes lie to each other."""
    order = _order(dimension_of(message), (first, second))
    if first == second:
        return "is the same as"
    if order.leq(first, second):
        return "is a kind of"
    if order.leq(second, first):
        return "is more general than"
    return "is neither above nor below"


def check_order(message: knowledge_pb2.Dimension) -> OrderReport:
    """Check a dimension as admission does."""
    name = message.name.rpartition("/")[2]
    problems = (
        taxonomy_problems(
            [(edge.child, edge.parent) for edge in message.taxonomy],
            message.classes,
            allowed=[(pair.first, pair.second) for pair in message.allowed_ambiguities],
        )
        if message.kind == knowledge_pb2.DIMENSION_KIND_TAXONOMIC
        else ()
    )
    return OrderReport(name, len(message.classes), problems)


def _order(dimension: Dimension, values: Sequence[str]) -> Poset:
    """Give the order, checked to hold the values.

    Raises RequestRejected, naming the nearest class, for others.
    """
    if dimension.taxonomy is None:
        raise RequestRejected(f"the dimension {dimension.name} has no classes")
    for value in values:
        if value not in dimension.taxonomy:
            near = nearest(value, dimension.taxonomy.elements)
            raise RequestRejected(f"{dimension.name} has no class {value!r}{near}")
    return dimension.taxonomy
