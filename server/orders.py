"""What the command line says about the order of a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proofweave.v1 import knowledge_pb2

from kb.class_labels import ClassLabels
from kb.dimension import Dimension, dimension_to_json
from kb.poset import Poset
from kb.quantity import Comparable, Date, Truth, compare

from .errors import RequestRejected
from .meetings import ORDERED, read_ordered
from .translate import dimension_of


def dimension_json(message: knowledge_pb2.Dimension) -> dict[str, object]:
    """Give a dimension as JSON."""
    return dimension_to_json(dimension_of(message))


def about_lines(message: knowledge_pb2.Dimension) -> tuple[str, ...]:
    """Say what the tree of classes does not show of a dimension: label, unit, pairs of classes."""
    dimension = dimension_of(message)
    lines = [f"  label: {dimension.label}"]
    if dimension.unit:
        lines.append(f"  unit: {dimension.unit}; other units are converted where that is exact")
    for what, pairs in (
        ("disjoint", dimension.disjoint),
        ("allowed ambiguity", dimension.allowed_ambiguities),
        ("the same elsewhere", dimension.equivalents),
    ):
        lines += [f"  {what}: {first}, {second}" for first, second in pairs]
    return tuple(lines)


def tree_lines(message: knowledge_pb2.Dimension) -> tuple[str, ...]:
    """Draw the classes below the root, two spaces per level; a class with several parents repeats
    its name only.
    """
    dimension = dimension_of(message)
    order, alternatives = dimension.taxonomy, dimension.alternatives
    if order is None:
        return ()
    lines: list[str] = []
    drawn: set[str] = set()
    stack = [(element, 1) for element in reversed(order.maximal())]
    while stack:
        element, depth = stack.pop()
        repeated = element in drawn and order.children(element)
        also = sorted(label for known, label in alternatives if known == element)
        said = f" (also {', '.join(also)})" if also and element not in drawn else ""
        lines.append("  " * depth + element + said + (" (above)" if repeated else ""))
        if element not in drawn:
            drawn.add(element)
            stack.extend((child, depth + 1) for child in reversed(order.children(element)))
    return tuple(lines)


def meet_of(message: knowledge_pb2.Dimension, values: Sequence[str]) -> tuple[str, ...]:
    """Give the maximal common descendants of classes, sorted."""
    order, classes = _classes(dimension_of(message), values)
    return order.meet(classes)


@dataclass(frozen=True, slots=True)
class Relation:
    """How two values of a dimension lie to each other, in words; `is_determined` unless unknown."""

    words: str
    is_determined: bool = True


def relation_of(message: knowledge_pb2.Dimension, first: str, second: str) -> Relation:
    """Say how two classes, numbers, quantities or dates lie to each other.

    Raises RequestRejected for a class that is not there, or values of a kind without an order.
    """
    dimension = dimension_of(message)
    if dimension.kind in ORDERED:
        values = [read_ordered(text, dimension.kind, dimension.unit) for text in (first, second)]
        return _ordered_relation(*values)
    order, (first, second) = _classes(dimension, (first, second))
    if first == second:
        return Relation("is the same as")
    if order.leq(first, second):
        return Relation("is a kind of")
    if order.leq(second, first):
        return Relation("is more general than")
    return Relation("is neither above nor below")


def _ordered_relation(left: Comparable, right: Comparable) -> Relation:
    for operator, words in (("=", "equals"), ("<", "is less than"), (">", "is greater than")):
        if compare(operator, left, right) is Truth.TRUE:
            earlier = {"is less than": "is before", "is greater than": "is after"}
            return Relation(earlier.get(words, words) if isinstance(left, Date) else words)
    if isinstance(left, Date) and isinstance(right, Date):
        if left == right:
            return Relation("may be another day than", is_determined=False)
        if right.first <= left.first and left.last <= right.last:
            return Relation("lies within")
        if left.first <= right.first and right.last <= left.last:
            return Relation("holds")
        return Relation("overlaps, and may be before or after,", is_determined=False)
    return Relation("does not compare, for lack of an exact conversion, with", is_determined=False)


def _classes(dimension: Dimension, values: Sequence[str]) -> tuple[Poset, tuple[str, ...]]:
    """Give the order, and the classes that the values name.

    Raises RequestRejected for a dimension without classes, and ValueUnreadable, naming the nearest
    class, for a value that names none.
    """
    if dimension.taxonomy is None:
        raise RequestRejected(f"the dimension {dimension.name} has no classes")
    labels = ClassLabels(dimension)
    return dimension.taxonomy, tuple(labels.read(value) for value in values)
