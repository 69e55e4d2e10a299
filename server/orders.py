"""What the command line says about the order of a dimension."""

from __future__ import annotations

from collections.abc import Sequence

from proofweave.v1 import knowledge_pb2

from kb.dimension import Dimension, dimension_to_json
from kb.poset import Poset

from .errors import RequestRejected
from .nearest import nearest
from .translate import dimension_of


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
