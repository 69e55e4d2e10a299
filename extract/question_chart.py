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
from .question_tokens import Token

Meaning = object
Leaf = tuple[str, Meaning, int]
"""A symbol, what it means and what it costs, over some span of tokens."""

BEST = 8
"""Meanings kept per symbol and span."""


@dataclass(frozen=True)
class Chart:
    """Every constituent found: per span `(i, j)` of tokens and symbol, meanings with their costs."""

    cells: Mapping[tuple[int, int], Mapping[str, Mapping[Meaning, int]]]

    def meanings(self, symbol: str, start: int, end: int) -> list[tuple[int, Meaning]]:
        """Give the meanings of a symbol over a span, cheapest first."""
        found = self.cells.get((start, end), {}).get(symbol, {})
        return sorted(((cost, meaning) for meaning, cost in found.items()), key=_by_cost)


def _by_cost(item: tuple[int, Meaning]) -> tuple[int, str]:
    return item[0], repr(item[1])


def parse(
    tokens: tuple[Token, ...],
    leaves: Callable[[int, int], list[Leaf]],
    grammar: Grammar,
    operations: Mapping[str, Callable[..., Meaning]],
) -> Chart:
    """Fill the chart. `leaves` gives the lexical constituents of a span of tokens."""
    count = len(tokens)
    cells: dict[tuple[int, int], dict[str, dict[Meaning, int]]] = {}
    active: list[dict[int, dict[int, tuple[Node, dict[tuple[Meaning, ...], int]]]]] = [
        {} for _ in range(count)
    ]

    def evaluate(meaning: Call | int | str, arguments: tuple[Meaning, ...]) -> Meaning:
        if isinstance(meaning, int):
            return arguments[meaning]
        if isinstance(meaning, str):
            return meaning
        return operations[meaning.operation](
            *(evaluate(each, arguments) for each in meaning.arguments)
        )

    for length in range(1, count + 1):
        for start in range(count - length + 1):
            end = start + length
            cell: dict[str, dict[Meaning, int]] = {}
            agenda: list[tuple[str, Meaning, int]] = []

            def offer(symbol: str, meaning: Meaning, cost: int) -> None:
                known = cell.setdefault(symbol, {})  # noqa: B023 - called within this span only
                if meaning in known:
                    if known[meaning] <= cost:
                        return
                elif len(known) >= BEST:
                    worst = max(known, key=lambda each: (known[each], repr(each)))
                    if (known[worst], repr(worst)) <= (cost, repr(meaning)):
                        return
                    del known[worst]
                known[meaning] = cost
                agenda.append((symbol, meaning, cost))  # noqa: B023 - same

            def advance(
                node: Node, prefix: tuple[Meaning, ...], cost: int, symbol: str, meaning: Meaning
            ) -> None:
                following = node.following.get(symbol)
                if following is None:
                    return
                values = prefix if symbol.startswith(WORD) else (*prefix, meaning)
                if following.following:
                    _, states = (
                        active[start]
                        .setdefault(end, {})
                        .setdefault(  # noqa: B023
                            id(following), (following, {})
                        )
                    )
                    if states.get(values, cost + 1) <= cost:
                        return
                    states[values] = cost
                for production in following.complete:
                    try:
                        result = evaluate(production.meaning, values)
                    except Mistyped:
                        continue
                    offer(production.symbol, result, cost)

            for symbol, meaning, cost in leaves(start, end):
                offer(symbol, meaning, cost)
            if length == 1:
                token = tokens[start]
                if token.name is None and token.word in grammar.literals:
                    offer(WORD + token.word, None, 0)
            for middle in range(start + 1, end):
                right = cells.get((middle, end))
                if not right:
                    continue
                for node, states in active[start].get(middle, {}).values():
                    for symbol in node.following.keys() & right.keys():
                        for prefix, left_cost in list(states.items()):
                            for meaning, cost in right[symbol].items():
                                advance(node, prefix, left_cost + cost, symbol, meaning)
            while agenda:
                symbol, meaning, cost = agenda.pop()
                if cell.get(symbol, {}).get(meaning) == cost:
                    advance(grammar.root, (), cost, symbol, meaning)
            if cell:
                cells[start, end] = cell
    return Chart(cells)
