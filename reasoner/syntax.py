"""The grammar: reads one statement or goal at a time into the values of `clause` and `atom`.

The home of lark; the grammar itself is `grammar.lark`, its manual docs/policy-language.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import resources

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput
from rapidfuzz import fuzz, process

from kb.errors import ValueUnreadable
from kb.quantity import parse_date, parse_number, parse_quantity

from .arithmetic import FUNCTIONS
from .atom import Atom, Constant, Symbol, Term, Variable
from .clause import (
    Absent,
    Aggregate,
    AggregateFunction,
    Comparison,
    Expression,
    Literal,
    Operation,
    Operator,
    Positive,
)

_OPERATORS = {"==": Operator.EQUAL} | {operator.value: operator for operator in Operator}
_MIRRORED = {
    Operator.LESS: Operator.GREATER,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.GREATER: Operator.LESS,
    Operator.AT_LEAST: Operator.AT_MOST,
}
READERS: dict[str, Callable[[str], Constant]] = {
    "decimal": parse_number,
    "date": parse_date,
    "quantity": parse_quantity,
}
_INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_TERMINALS = {
    "NUMBER": "a number",
    "STRING": "a text",
    "VARIABLE": "a variable",
    "NAME": "a name",
    "RELATION": "a comparison",
    "AGGREGATE": "an aggregate",
    "COMMA": ",",
    "DOT": ".",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "COLON": ":",
    "SEMICOLON": ";",
    "NOT": "not",
    "__ANON_0": ":-",
}
_REASONS = {
    "{": "a choice is not part of the language; write definite rules",
    "|": "alternatives in a head are not part of the language; write one rule for each body",
    ";": "alternatives in a head or pool are not part of the language; write one rule for each",
    ":": "conditional literals are not part of the language; write a rule for the condition",
    "&": "theory atoms are not part of the language",
    "*": "powers are not part of the language; expected one *",
    "\\": "the remainder is not part of the language",
    "~": "weak constraints are not part of the language",
}
_NUMBERED = re.compile(r"_[0-9]+")

LONGEST_NUMBER = 4300
"""Digits of the longest number; Python reads no longer one."""

MISSING_STOP = "a full stop is missing after this"
"""Message of the fault where one statement runs into the next."""

DECLARATIONS = {
    "closed": 2,
    "functional": 1,
    "disjoint": 2,
    "precedence": 2,
    "applies_under": 3,
}
"""Statements that declare instead of deriving, with their number of arguments."""


class Fault(Exception):
    """A problem in one statement, at an offset within it."""

    def __init__(self, offset: int, code: str, message: str) -> None:
        self.offset, self.code, self.message = offset, code, message
        super().__init__(message)


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = (resources.files(__package__) / "grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start=["statement", "goal"], propagate_positions=True)


def _parse(text: str, start: str) -> Tree[Token]:
    try:
        return _parser().parse(text, start=start)
    except UnexpectedInput as error:
        at = error.pos_in_stream if error.pos_in_stream is not None else len(text)
        token = getattr(error, "token", None)
        if token is not None and token.type == "$END":
            at, found = len(text.rstrip()), "the end"
        else:
            found = repr(str(token)) if token is not None else repr(text[at : at + 1])
        character = text[at : at + 1]
        if text.startswith(":-"):
            raise Fault(
                0, "unsupported", "constraints are not part of the language; give the rule a head"
            ) from error
        if text[at:].startswith("not") and "not" in text[:at].split()[-1:]:
            raise Fault(at, "unsupported", "double negation is not part of the language") from error
        if character in _REASONS:
            raise Fault(at, "unsupported", _REASONS[character]) from error
        wanted = getattr(error, "accepts", None) or getattr(error, "expected", None) or set()
        if isinstance(error, UnexpectedCharacters):
            wanted = error.allowed or set()
        before = text[:at].rstrip(" \t")
        if "DOT" in wanted and before.endswith("\n"):
            end = before.rstrip()
            raise Fault(len(end), "syntax", MISSING_STOP) from error
        names = sorted({_TERMINALS.get(name, "") for name in wanted} - {""})
        message = f"{found} is unexpected" + (f"; expected {_one_of(names)}" if names else "")
        raise Fault(at, "syntax", message) from error


def _one_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _nearest(name: str, choices: list[str]) -> str:
    found = process.extractOne(name, choices, scorer=fuzz.ratio)
    return f"; did you mean {found[0]!r}?" if found and found[1] >= 60 else ""


@dataclass(slots=True)
class _Builder:
    """Turns the tree of one statement into clauses; `_` becomes a fresh variable."""

    taken: set[str]
    may_number: bool = False
    fresh: int = 0

    def variable(self) -> Variable:
        while True:
            self.fresh += 1
            if f"_{self.fresh}" not in self.taken:
                return Variable(f"_{self.fresh}")

    def expression(self, tree: Tree[Token]) -> Expression:
        first = tree.children[0]
        match tree.data:
            case "number":
                if len(str(first)) > LONGEST_NUMBER:
                    message = f"a number of {len(str(first))} digits is too long"
                    raise Fault(_start_of(tree), "literal", message)
                return Fraction(int(str(first)))
            case "string":
                return _text_of(first)
            case "variable":
                if not self.may_number and _NUMBERED.fullmatch(str(first)):
                    raise Fault(_start_of(tree), "syntax", f"{first} is no variable; write _")
                return Variable(str(first))
            case "anonymous":
                return self.variable()
            case "bound" | "symbol":
                return Symbol(str(first))
            case "value":
                return _value_of(first, tree.children[1])
            case "negate":
                inner = self.expression(_subtree(first))
                return -inner if isinstance(inner, Fraction) else Operation("-", (inner,))
            case "call":
                name = str(first)
                arguments = _subtree(tree.children[1]).children
                if name not in FUNCTIONS:
                    raise Fault(
                        _start_of(tree),
                        "unknown_function",
                        f"{name!r} is no function; expected one of {', '.join(sorted(FUNCTIONS))}"
                        + _nearest(name, sorted(FUNCTIONS)),
                    )
                least, most = FUNCTIONS[name].arity
                if not least <= len(arguments) <= most:
                    raise Fault(
                        _start_of(tree),
                        "arity",
                        f"{name} takes {least if least == most else f'at least {least}'} "
                        f"arguments; found {len(arguments)}",
                    )
                return Operation(name, tuple(self.expression(_subtree(a)) for a in arguments))
            case data:
                left, right = (self.expression(_subtree(child)) for child in tree.children)
                return Operation(_INFIX[str(data)], (left, right))

    def term(self, tree: Tree[Token]) -> Term:
        if tree.data == "call":
            raise Fault(
                _start_of(tree),
                "unsupported",
                "function terms are not part of the language; use another argument, or compute "
                "the value in a comparison such as Y = min(X, 3)",
            )
        found = self.expression(tree)
        if isinstance(found, Operation):
            raise Fault(
                _start_of(tree),
                "unsupported",
                "arithmetic stands in comparisons only; write Y = X + 1 and use Y here",
            )
        return found

    def atom(self, tree: Tree[Token]) -> Atom:
        negated = tree.data == "negate"
        inner = _subtree(tree.children[0]) if negated else tree
        if inner.data == "symbol":
            return Atom(str(inner.children[0]), (), negated)
        if inner.data == "call":
            arguments = _subtree(inner.children[1]).children
            name = str(inner.children[0])
            return Atom(name, tuple(self.term(_subtree(a)) for a in arguments), negated)
        raise Fault(
            _start_of(tree),
            "syntax",
            "no atom stands here; expected such as p(X), or a comparison such as X < 3",
        )

    def literal(self, tree: Tree[Token]) -> Literal:
        match tree.data:
            case "literal":
                return Positive(self.atom(_subtree(tree.children[0])))
            case "absent":
                return Absent(self.atom(_subtree(tree.children[0])))
            case "comparison":
                left, relation, right = tree.children
                return Comparison(
                    _OPERATORS[str(relation)],
                    self.expression(_subtree(left)),
                    self.expression(_subtree(right)),
                )
            case "aggregate_right":
                result, relation, aggregate = tree.children
                operator = _OPERATORS[str(relation)]
                return self.aggregate(operator, _subtree(result), _subtree(aggregate))
            case _:
                aggregate, relation, result = tree.children
                operator = _OPERATORS[str(relation)]
                return self.aggregate(
                    _MIRRORED.get(operator, operator), _subtree(result), _subtree(aggregate)
                )

    def aggregate(self, operator: Operator, result: Tree[Token], tree: Tree[Token]) -> Aggregate:
        function, terms, conditions = tree.children
        inner: list[Positive | Absent | Comparison] = []
        for condition in _subtree(conditions).children if conditions else ():
            literal = self.literal(_subtree(condition))
            assert not isinstance(literal, Aggregate), "the grammar nests no aggregates"
            inner.append(literal)
        return Aggregate(
            operator,
            self.expression(result),
            AggregateFunction(str(function)[1:]),
            tuple(self.term(_subtree(term)) for term in _subtree(terms).children),
            tuple(inner),
        )


def _subtree(child: Tree[Token] | Token) -> Tree[Token]:
    assert isinstance(child, Tree), "the grammar puts a tree here"
    return child


def _start_of(tree: Tree[Token]) -> int:
    return int(tree.meta.start_pos)


def _token_start_of(token: Tree[Token] | Token) -> int:
    assert isinstance(token, Token), "the grammar puts a token here"
    return token.start_pos or 0


def _text_of(token: Tree[Token] | Token) -> str:
    try:
        text = str(json.loads(str(token), strict=False))
        text.encode()
    except (json.JSONDecodeError, UnicodeEncodeError) as error:
        raise Fault(
            _token_start_of(token),
            "syntax",
            f"{token!s} holds an unknown escape; write a backslash as \\\\",
        ) from error
    return text


def _value_of(name: Tree[Token] | Token, text: Tree[Token] | Token) -> Constant:
    kind = str(name)[1:]
    if kind not in READERS:
        raise Fault(
            _token_start_of(name),
            "unknown_literal",
            f"{name!s} is no kind of value; expected @decimal, @date or @quantity"
            + _nearest(kind, sorted(READERS)),
        )
    try:
        return READERS[kind](_text_of(text))
    except ValueUnreadable as error:
        raise Fault(_token_start_of(text), "literal", str(error)) from error


def _indicator(tree: Tree[Token]) -> tuple[str, int]:
    """Read `p/2` or `-p/2`."""
    if tree.data == "divide":
        left, right = _subtree(tree.children[0]), _subtree(tree.children[1])
        negated = left.data == "negate"
        name = _subtree(left.children[0]) if negated else left
        if name.data == "symbol" and right.data == "number":
            sign = "-" if negated else ""
            return f"{sign}{name.children[0]}", int(str(right.children[0]))
    raise Fault(_start_of(tree), "declaration", "expected a predicate and its arity, such as p/2")


def _label(tree: Tree[Token]) -> str:
    if tree.data == "string":
        return _text_of(tree.children[0])
    if tree.data == "symbol":
        return str(tree.children[0])
    raise Fault(_start_of(tree), "declaration", 'expected a name, such as "register"')


@dataclass(frozen=True, slots=True)
class Rule:
    """A clause as read: head and body, in the order written."""

    head: Atom
    body: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration: its labels, and for `closed` and `applies_under` predicate and arity."""

    name: str
    labels: tuple[str, ...]
    indicator: tuple[str, int] | None = None


def read_statement(text: str) -> tuple[Rule | Declaration | None, tuple[Fault, ...]]:
    """Read one statement with its full stop; without a statement there is at least one fault."""
    try:
        tree = _parse(text, "statement")
        head, rest = tree.children
        functor = _subtree(_subtree(head).children[0])
        name = str(functor.children[0]) if functor.data in ("symbol", "call") else ""
        if name in DECLARATIONS:
            return _declaration(functor, name, has_body=rest is not None), ()
    except Fault as fault:
        return None, (fault,)
    builder = _Builder(set())
    faults: list[Fault] = []
    atom: Atom | None = None
    body: list[Literal] = []
    try:
        atom = builder.atom(functor)
    except Fault as fault:
        faults.append(fault)
    for literal in _subtree(rest).children if rest is not None else ():
        try:
            body.append(builder.literal(_subtree(literal)))
        except Fault as fault:
            faults.append(fault)
    if atom is None or faults:
        return None, tuple(faults)
    return Rule(atom, tuple(body)), ()


def _declaration(tree: Tree[Token], name: str, *, has_body: bool) -> Declaration:
    arguments = _subtree(tree.children[1]).children if tree.data == "call" else []
    count = DECLARATIONS[name]
    if has_body or len(arguments) != count:
        raise Fault(
            0,
            "declaration",
            f"{name} is a declaration with {count} argument{'s' if count > 1 else ''} and no body",
        )
    indicator = None
    if name in ("closed", "applies_under"):
        indicator = _indicator(_subtree(arguments[0]))
        arguments = arguments[1:]
    return Declaration(name, tuple(_label(_subtree(a)) for a in arguments), indicator)


def read_goal(text: str) -> Atom:
    """Read one atom, with or without a full stop. Raises Fault."""
    tree = _parse(text, "goal")
    builder = _Builder(set(_NUMBERED.findall(text)), may_number=True)
    return builder.atom(_subtree(_subtree(tree.children[0]).children[0]))


def read_text(quoted: str) -> str:
    """Read a text in its quotation marks. Raises Fault."""
    return _text_of(Token("STRING", quoted))
