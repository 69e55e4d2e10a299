"""The language of policies, facts and goals: a parser and a writer of syntax trees.

A tree is what certificates hold: `{"head": atom, "body": [literal]}`, where an atom is
`{"predicate", "negated", "arguments"}`, and literals and terms are objects named by their kind.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .arithmetic import Tree
from .values import constant, write_text, write_value

_OPAQUE = re.compile(r'"(?:[^"\\\n]|\\.)*"|%\*|%[^\n]*', re.DOTALL)
_BLOCK_EDGE = re.compile(r"%\*|\*%")
_TOKEN = re.compile(
    r"""[ \t\f\n]*(?:
    (?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<number>[0-9]+)
    |(?P<variable>_*[A-Z][A-Za-z0-9_]*)
    |(?P<name>_*[a-z][A-Za-z0-9_]*)
    |(?P<anonymous>_[0-9]*)
    |(?P<at>@[a-z][A-Za-z0-9_]*)
    |(?P<aggregate>\#(?:count|sum|min|max)\b)
    |(?P<bound>\#(?:inf|sup)\b)
    |(?P<relation><=|>=|!=|==|[<>=])
    |(?P<sign>:-|[+\-*/(){}:;,.])
    |(?P<end>\Z))
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2}
_DEEPEST = 60
_STRINGS = json.JSONDecoder(strict=False)


class Unreadable(Exception):
    """A text that does not follow the language; `position` is in code points."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


def without_comments(text: str) -> tuple[str, list[tuple[int, str]]]:
    """Write blanks over comments, so that places stay; gives `%!` lines with their places, too."""
    pieces, metadata, position, found = list[str](), list[tuple[int, str]](), 0, None
    if "%" in text:
        found = _OPAQUE.search(text)
    while found is not None:
        (start, end), token = found.span(), found[0]
        if token == "%*":
            end = _block_end(text, start)
        elif token.startswith("%!"):
            metadata.append((start, token[2:]))
        is_comment = token[0] == "%"
        pieces += [text[position:start], " " * (end - start) if is_comment else token]
        position, found = end, _OPAQUE.search(text, end)
    return "".join([*pieces, text[position:]]), metadata


def _block_end(text: str, start: int) -> int:
    """Give the end of a block comment; they nest."""
    depth = 0
    for edge in _BLOCK_EDGE.finditer(text, start):
        depth += 1 if edge[0] == "%*" else -1
        if not depth:
            return edge.end()
    raise Unreadable("a block comment is not closed", start)


class Reader:
    """Reads one atom or statement after the other from a text without comments.

    The current token is `kind` and `token`. Only in goals may `_1` be a variable.
    """

    def __init__(self, text: str, position: int = 0, *, is_goal: bool = False) -> None:
        self.text, self.position, self.is_goal = text, position, is_goal
        self.kind = self.token = ""
        self.start = self.end = self.depth = 0
        self.advance()

    def advance(self) -> str:
        """Go to the next token; gives the token it leaves."""
        left, self.end = self.token, self.position
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            rest = self.text[self.position :].lstrip(" \t\f\n")
            raise Unreadable(f"unexpected {rest[0]!r}", len(self.text) - len(rest))
        self.kind = str(found.lastgroup)
        self.token, self.start, self.position = (
            found[self.kind],
            found.start(self.kind),
            found.end(),
        )
        return left

    def accept(self, *signs: str) -> bool:
        """Take a sign if one of these comes next."""
        return self.token in signs and bool(self.advance())

    def expect(self, sign: str) -> None:
        """Take a sign that must come next."""
        if not self.accept(sign):
            raise Unreadable(f"found {self.token!r}, expected {sign!r}", self.start)

    def many(self, read: Callable[[], Tree], *separators: str) -> list[Tree]:
        """Read one or more."""
        found = [read()]
        while self.accept(*separators):
            found.append(read())
        return found

    def statement(self) -> Tree:
        """Read `head.` or `head :- body.`"""
        head = self.atom()
        body = self.many(self.literal, ",", ";") if self.accept(":-") else []
        self.expect(".")
        tree = {"head": head, "body": body}
        name_anonymous(tree, itertools.count(1))
        return tree

    def literal(self) -> Tree:
        """Read a body literal."""
        if self.accept("not"):
            return {"absent": self.atom()}
        if self.kind == "aggregate":
            inner = self.aggregate()
            sign = self.relation()
            sign, result = _FLIPPED.get(sign, sign), self.expression()
        else:
            result = self.expression()
            if self.kind != "relation":
                return {"positive": self.as_atom(result)}
            sign = self.relation()
            if self.kind != "aggregate":
                sides = {"left": result, "right": self.expression()}
                return {"comparison": {"operator": sign, **sides}}
            inner = self.aggregate()
        # In this order `name_anonymous` comes by: conditions, result, terms.
        first = {"conditions": inner["conditions"], "result": result}
        return {"aggregate": {**first, **inner, "operator": sign}}

    def relation(self) -> str:
        """Read a comparison sign; `==` is `=`."""
        if self.kind != "relation":
            raise Unreadable(f"found {self.token!r}, expected a comparison", self.start)
        sign = self.advance()
        return "=" if sign == "==" else sign

    def aggregate(self) -> Tree:
        """Read `#sum{ terms : conditions }`."""
        function = self.advance()[1:]
        self.expect("{")
        terms = self.many(self.expression, ",")
        conditions = self.many(self.literal, ",") if self.accept(":") else []
        if any("aggregate" in item for item in conditions):
            raise Unreadable("an aggregate stands within another", self.start)
        self.expect("}")
        return {"conditions": conditions, "terms": terms, "function": function}

    def expression(self, least: int = 1) -> Tree:
        """Read what signs of a level or of a closer one join, from left to right."""
        self.depth += 1
        if self.depth > 2 * _DEEPEST:
            raise Unreadable("an expression is nested too deep", self.start)
        left = self.unary()
        while _LEVELS.get(self.token, 0) >= least:
            level, sign = _LEVELS[self.token], self.advance()
            left = {"operation": sign, "arguments": [left, self.expression(level + 1)]}
        self.depth -= 1
        return left

    def unary(self) -> Tree:
        """Read a primary; `-` before a number belongs to it."""
        signs = 0
        while self.accept("-"):
            signs += 1
        if signs > _DEEPEST:
            raise Unreadable("too many minus signs", self.start)
        tree = self.primary()
        for _ in range(signs):
            number = tree.get("number")
            if number is None:
                tree = {"operation": "-", "arguments": [tree]}
            elif number != "0":
                tree = {"number": number[1:] if number[0] == "-" else f"-{number}"}
        return tree

    def primary(self) -> Tree:
        """Read a term, a call or a group."""
        kind, start, token = self.kind, self.start, self.advance()
        match kind:
            case "number":
                return {"number": str(int(token))}
            case "string":
                return {"text": self.string(token, start)}
            case "variable":
                return {"variable": token}
            case "anonymous" if token == "_" or self.is_goal:
                return {"variable": "" if token == "_" else f"_{token}"}
            case "bound":
                return {"symbol": token}
            case "at":
                return self.constant(token[1:], start)
            case "name":
                if not self.accept("("):
                    return {"symbol": token}
                arguments = self.many(self.expression, ",")
                self.expect(")")
                return {"operation": token, "arguments": arguments}
            case "sign" if token == "(":
                tree = self.expression()
                self.expect(")")
                return tree
        raise Unreadable(f"unexpected {token!r}" if token else "the text ends too early", start)

    def constant(self, name: str, start: int) -> Tree:
        """Read what follows `@decimal`, `@date` or `@quantity`."""
        self.expect("(")
        if self.kind != "string":
            raise Unreadable(f"@{name} needs a text", self.start)
        inner = self.string(self.advance(), start)
        self.expect(")")
        try:
            value = constant(name, inner)
        except ValueError as error:
            raise Unreadable(str(error), start) from None
        written = write_value(value)
        if written[0] != "@":
            return {"number": written}
        kind, _, inner = written[1:-2].partition('("')
        return {"number" if kind == "decimal" else kind: inner}

    @staticmethod
    def string(token: str, start: int) -> str:
        """Give the text between the quotes."""
        try:
            return token[1:-1] if "\\" not in token else str(_STRINGS.decode(token))
        except ValueError:
            raise Unreadable(f"{token} is no text", start) from None

    def atom(self) -> Tree:
        """Read an atom."""
        return self.as_atom(self.expression())

    def as_atom(self, tree: Tree) -> Tree:
        """Take an expression as the atom it must be."""
        negated = tree.get("operation") == "-" and len(tree["arguments"]) == 1
        if negated:
            tree = tree["arguments"][0]
        name = str(tree.get("symbol", tree.get("operation", "")))
        arguments = tree.get("arguments", [])
        if not re.match(r"_*[a-z]", name):
            raise Unreadable("expected an atom", self.start)
        if any("operation" in argument for argument in arguments):
            raise Unreadable("an atom holds terms, not expressions", self.start)
        return {"predicate": name, "negated": negated, "arguments": arguments}


def name_anonymous(tree: Any, numbers: Iterator[int]) -> None:
    """Name each `_` below `_1`, `_2`, ..., in the order in which the reader lays trees out."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("variable") == "":
                part["variable"] = f"_{next(numbers)}"
            part = [*part.values()]
        if isinstance(part, list):
            waiting += reversed(part)


# ---------------------------------------------------------------- writing

UNBOUND: Mapping[str, str] = {}


def write(tree: Tree, bindings: Mapping[str, str] = UNBOUND, level: int = 0) -> str:
    """Write a term, expression, atom or literal canonically, bound variables as their values."""

    def listed(trees: list[Tree]) -> str:
        return ", ".join([write(item, bindings) for item in trees])

    if "predicate" in tree or tree.get("operation", "+") not in _LEVELS:
        name = tree.get("operation") or ("-" if tree["negated"] else "") + tree["predicate"]
        return f"{name}({listed(tree['arguments'])})" if tree["arguments"] else name
    if "operation" in tree:
        sign, (left, *right) = tree["operation"], tree["arguments"]
        if not right:
            return f"-{write(left, bindings, 3)}"
        own = _LEVELS[sign]
        text = f"{write(left, bindings, own)} {sign} {write(right[0], bindings, own + 1)}"
        return f"({text})" if own < level else text
    ((kind, content),) = tree.items()
    match kind:
        case "variable":
            return bindings.get(content, content)
        case "text":
            return write_text(content)
        case "number":
            return content if content.lstrip("-").isdigit() else f'@decimal("{content}")'
        case "date" | "quantity":
            return f'@{kind}("{content}")'
        case "positive":
            return write(content, bindings)
        case "absent":
            return f"not {write(content, bindings)}"
        case "comparison":
            left, right = (write(content[side], bindings) for side in ("left", "right"))
            return f"{left} {content['operator']} {right}"
        case "aggregate":
            inner = f"{listed(content['terms'])} : {listed(content['conditions'])}"
            result = write(content["result"], bindings)
            return f"{result} {content['operator']} #{content['function']}{{{inner}}}"
    return str(content)
