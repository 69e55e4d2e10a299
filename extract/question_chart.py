"""Parse a question bottom-up into the cheapest meanings, over every span (weighted chart).

Cost prefers what packs know: words of forms and lexical phrases are free, known names are cheap,
unknown names cost per word. So "the father of Kismet" is a relation and a name, not one name.
Source: bottom-up chart parsing (Kay 1980), with rules shared by prefix and k best meanings a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .logical_form import Mistyped
from .question_forms import WORD, Call, Grammar, Node

Meaning = object
Leaf = tuple[str, Meaning, int]
"""A symbol, what it means and what it costs, over some span of tokens."""

Operations = Mapping[str, Callable[..., Meaning]]
Cell = dict[str, dict[Meaning, int]]
Prefix = tuple[Meaning, ...]

BEST = 8
"""Meanings kept per symbol and span."""


@dataclass(frozen=True)
class Chart:
    """Every constituent found: per span `(i, j)` of tokens and symbol, meanings with costs."""

    cells: Mapping[tuple[int, int], Mapping[str, Mapping[Meaning, int]]]

    def meanings(self, symbol: str, start: int, end: int) -> list[tuple[int, Meaning]]:
        """Give the meanings of a symbol over a span, cheapest first, ties by text."""
        found = self.cells.get((start, end), {}).get(symbol, {})
        return sorted(
            ((cost, meaning) for meaning, cost in found.items()),
            key=lambda item: (item[0], repr(item[1])),
        )


def parse(
    count: int,
    leaves: Callable[[int, int], list[Leaf]],
    grammar: Grammar,
    operations: Operations,
) -> Chart:
    """Fill the chart of a question of `count` tokens; cubic in `count`.

    `leaves` gives the words, lexical phrases and names that cover exactly a span of tokens.
    """
    filling = _Filling(grammar, operations, count)
    for length in range(1, count + 1):
        for start in range(count - length + 1):
            filling.fill(start, start + length, leaves(start, start + length))
    return Chart(filling.cells)


class _Filling:
    """The chart while it is filled, shortest spans first."""

    def __init__(self, grammar: Grammar, operations: Operations, count: int) -> None:
        self.grammar = grammar
        self.operations = operations
        self.cells: dict[tuple[int, int], Cell] = {}
        # active[start][end]: nodes reached over the span, by identity, with what was gathered
        self.active: list[dict[int, dict[int, tuple[Node, dict[Prefix, int]]]]] = [
            {} for _ in range(count)
        ]

    def fill(self, start: int, end: int, leaves: list[Leaf]) -> None:
        """Find every constituent of a span, all shorter spans being filled."""
        cell = _Agenda(self, start, end)
        for symbol, meaning, cost in leaves:
            cell.offer(symbol, meaning, cost)
        for middle, nodes in self.active[start].items():
            right = self.cells.get((middle, end))
            if middle >= end or not right:
                continue
            for node, states in list(nodes.values()):
                for symbol in node.following.keys() & right.keys():
                    for prefix, left_cost in states.items():
                        for meaning, cost in right[symbol].items():
                            cell.advance(node, prefix, left_cost + cost, symbol, meaning)
        cell.close()

    def evaluate(self, meaning: Call | int | str, arguments: Prefix) -> Meaning:
        """Apply a meaning to the constituents of its pattern."""
        if isinstance(meaning, int):
            return arguments[meaning]
        if isinstance(meaning, str):
            return self.operations[meaning]() if meaning.startswith("$") else meaning
        values = [self.evaluate(each, arguments) for each in meaning.arguments]
        return self.operations[meaning.operation](*values)


class _Agenda:
    """One span: constituents found so far and those not yet tried as the start of a form."""

    def __init__(self, filling: _Filling, start: int, end: int) -> None:
        self.filling = filling
        self.start = start
        self.end = end
        self.cell: Cell = {}
        self.waiting: list[Leaf] = []
        self.reached: dict[int, tuple[Node, dict[Prefix, int]]] = {}

    def offer(self, symbol: str, meaning: Meaning, cost: int) -> None:
        """Keep a constituent if it is new or cheaper, dropping the worst beyond `BEST`."""
        known = self.cell.setdefault(symbol, {})
        if meaning in known:
            if known[meaning] <= cost:
                return
        elif len(known) >= BEST:
            worst = max(known, key=lambda each: (known[each], repr(each)))
            if (known[worst], repr(worst)) <= (cost, repr(meaning)):
                return
            del known[worst]
        known[meaning] = cost
        self.waiting.append((symbol, meaning, cost))

    def advance(self, node: Node, prefix: Prefix, cost: int, symbol: str, meaning: Meaning) -> None:
        """Go on in the trie with one more constituent; offer the forms that end there."""
        following = node.following.get(symbol)
        if following is None:
            return
        values = prefix if symbol.startswith(WORD) else (*prefix, meaning)
        _, states = self.reached.setdefault(id(following), (following, {}))
        if states.get(values, cost + 1) <= cost:
            return
        states[values] = cost
        for production in following.complete:
            try:
                result = self.filling.evaluate(production.meaning, values)
            except Mistyped:
                continue
            self.offer(production.symbol, result, cost + production.cost)

    def close(self) -> None:
        """Try every constituent as the start of forms, until nothing new appears."""
        while self.waiting:
            symbol, meaning, cost = self.waiting.pop()
            if self.cell.get(symbol, {}).get(meaning) == cost:
                self.advance(self.filling.grammar.root, (), cost, symbol, meaning)
        if self.cell:
            self.filling.cells[self.start, self.end] = self.cell
        if self.reached:
            self.filling.active[self.start][self.end] = self.reached
