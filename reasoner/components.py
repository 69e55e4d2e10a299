"""Strongly connected components, for recursion of predicates, calls and argument positions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def components(edges: Mapping[T, Iterable[T]]) -> dict[T, int]:
    """Number the strongly connected components, each after those it reaches; without recursion.

    Source: Tarjan 1972, "Depth-first search and linear graph algorithms".
    """
    order: dict[T, int] = {}
    low: dict[T, int] = {}
    found: dict[T, int] = {}
    stack: list[T] = []
    count = 0
    for start in edges:
        if start in order:
            continue
        order[start] = low[start] = len(order)
        stack.append(start)
        path = [(start, iter(edges.get(start, ())))]
        while path:
            node, successors = path[-1]
            for other in successors:
                if other not in order:
                    order[other] = low[other] = len(order)
                    stack.append(other)
                    path.append((other, iter(edges.get(other, ()))))
                    break
                if other not in found:
                    low[node] = min(low[node], order[other])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    while True:
                        member = stack.pop()
                        found[member] = count
                        if member == node:
                            break
                    count += 1
    return found
