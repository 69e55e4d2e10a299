"""Productions of the question grammar, read from the forms of packs into a shared-prefix trie.

A form reads `pattern => meaning`. In the pattern, words stand for themselves, `(a|b c)` for
alternatives, `x?` may be missing, `@list` is a word list of the pack, `{symbol}` is a constituent.
The meaning applies named operations to constituents, counted where a symbol repeats (`np`, `np2`),
and to dimensions (`$rating`). A form that ends in `!n` costs n more: it is read only where nothing
cheaper is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .errors import Finding, PackRejected
from .question_tokens import words_of


@dataclass(frozen=True, slots=True)
class Call:
    """A meaning: an operation on constituents (by position) and nested meanings."""

    operation: str
    arguments: tuple[Call | int | str, ...]


@dataclass(frozen=True, slots=True)
class Production:
    """A symbol and what it means when its pattern was matched."""

    symbol: str
    meaning: Call | int
    form: str
    cost: int = 0


@dataclass(slots=True)
class Node:
    """A state after a prefix of patterns: what may follow, and what is complete here."""

    following: dict[str, Node] = field(default_factory=dict)
    complete: list[Production] = field(default_factory=list)


@dataclass(frozen=True)
class Grammar:
    """The productions of all packs; `literals` are the words that patterns mention."""

    root: Node
    literals: frozenset[str]


WORDS = frozenset(
    ["least", "greatest", "less", "at_most", "greater", "at_least", "equal"]
)  # what meanings may say beside constituents and dimensions

WORD = "="  # prefix of symbols that stand for one literal word

_PIECE = re.compile(r"\{[a-z_]+\}|@[a-z_]+|[()|?]|[^\s(){}@?|]+")
_MEANING = re.compile(r"\s*(?:(?P<name>\$?[a-z_]+[0-9]?)|(?P<sign>[(),]))")


def compile_grammar(
    forms: tuple[tuple[str, str], ...], word_lists: Mapping[str, tuple[str, ...]]
) -> Grammar:
    """Expand every form into the trie; raises PackRejected naming every form that is faulty."""
    root = Node()
    literals: set[str] = set()
    problems: list[Finding] = []
    for symbol, form in forms:
        try:
            pattern, _, meaning = form.partition("=>")
            meaning, _, cost = meaning.partition("!")
            for sequence in _expand(pattern.strip(), word_lists):
                production = Production(
                    symbol, _meaning(meaning.strip(), sequence), form, int(cost or 0)
                )
                node = root
                for piece in sequence:
                    if piece.startswith(WORD):
                        literals.add(piece.removeprefix(WORD))
                    node = node.following.setdefault(piece, Node())
                if not sequence:
                    raise ValueError("its pattern may be empty")
                if production not in node.complete:
                    node.complete.append(production)
        except ValueError as error:
            problems.append(
                Finding("questions.yaml", 1, f"the form {form!r} of {symbol!r}: {error}")
            )
    if problems:
        raise PackRejected(problems)
    return Grammar(root, frozenset(literals))


def _expand(pattern: str, word_lists: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Give every sequence of symbols a pattern stands for."""
    pieces = [match.group() for match in _PIECE.finditer(pattern)]
    if "".join(pieces) != "".join(pattern.split()):
        raise ValueError(f"its pattern {pattern!r} cannot be read")
    choices = _alternatives(pieces, word_lists)
    if pieces:
        raise ValueError(f"its pattern goes on with {pieces[0]!r}")
    return choices


def _alternatives(
    pieces: list[str], word_lists: Mapping[str, tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """Read alternatives up to a closing parenthesis or the end, consuming pieces."""
    choices: list[tuple[str, ...]] = []
    sequences: list[tuple[str, ...]] = [()]
    while pieces and pieces[0] != ")":
        piece = pieces.pop(0)
        if piece == "|":
            choices += sequences
            sequences = [()]
            continue
        slot: list[tuple[str, ...]]
        if piece == "(":
            slot = _alternatives(pieces, word_lists)
            if not pieces:
                raise ValueError("its pattern lacks a closing parenthesis")
            pieces.pop(0)
        elif piece.startswith("{"):
            slot = [(piece[1:-1],)]
        elif piece.startswith("@"):
            if piece[1:] not in word_lists:
                raise ValueError(
                    f"there is no word list {piece[1:]!r}; "
                    f"known are {', '.join(sorted(word_lists))}"
                )
            slot = [_literal(phrase) for phrase in word_lists[piece[1:]]]
        else:
            slot = [_literal(piece)]
        if pieces and pieces[0] == "?":
            pieces.pop(0)
            slot = [*slot, ()]
        sequences = [left + right for left in sequences for right in slot]
    return choices + sequences


def _literal(phrase: str) -> tuple[str, ...]:
    return tuple(WORD + word for word in words_of(phrase))


def _meaning(text: str, sequence: tuple[str, ...]) -> Call | int:
    """Read a meaning, constituents becoming positions among the symbols of the sequence."""
    symbols = [piece for piece in sequence if not piece.startswith(WORD)]
    tokens: list[str] = []
    position = 0
    while position < len(text):
        match = _MEANING.match(text, position)
        if match is None:
            raise ValueError(f"its meaning cannot be read at {text[position:]!r}")
        tokens.append(match["name"] or match["sign"])
        position = match.end()
    result = _call(tokens, symbols)
    if tokens:
        raise ValueError(f"its meaning goes on with {' '.join(tokens)!r}")
    if isinstance(result, str):
        raise ValueError(f"its meaning {result!r} is no constituent of the pattern")
    return result


def _call(tokens: list[str], symbols: list[str]) -> Call | int | str:
    if not tokens:
        raise ValueError("its meaning is incomplete")
    name = tokens.pop(0)
    if tokens and tokens[0] == "(":
        tokens.pop(0)
        arguments: list[Call | int | str] = []
        while tokens and tokens[0] != ")":
            arguments.append(_call(tokens, symbols))
            if tokens and tokens[0] == ",":
                tokens.pop(0)
        if not tokens:
            raise ValueError("its meaning lacks a closing parenthesis")
        tokens.pop(0)
        return Call(name, tuple(arguments))
    if name.startswith("$"):
        return name
    stem, count = (name[:-1], int(name[-1])) if name[-1].isdigit() else (name, 1)
    found = [index for index, symbol in enumerate(symbols) if symbol == stem]
    if len(found) >= count:
        return found[count - 1]
    if stem in WORDS:
        return stem
    raise ValueError(f"its meaning names {name!r}, which its pattern lacks")
