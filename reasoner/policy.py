"""Reads policies, facts files and goals (docs/policy-language.md); all errors come together."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from importlib import resources

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput
from rapidfuzz import process

from kb.errors import ValueUnreadable
from kb.quantity import parse_date, parse_number, parse_quantity

from .arithmetic import FUNCTIONS
from .atom import Atom, Constant, Symbol, Term, Variable
from .clause import (
    Absent,
    Aggregate,
    AggregateFunction,
    Clause,
    ClosedDeclaration,
    Comparison,
    Expression,
    Literal,
    Operation,
    Operator,
    Policy,
    Positive,
)
from .errors import Finding, GoalRejected, PolicyRejected, Severity
from .lint import check_policy
from .metadata import Block, is_rule_name, read_blocks, read_header
from .source_text import SourceText, StatementText, normalize, scan

DECLARATIONS = {"closed": 2, "functional": 1, "disjoint": 2, "precedence": 2}

_OPERATORS = {"==": Operator.EQUAL} | {operator.value: operator for operator in Operator}
_MIRRORED = {
    Operator.LESS: Operator.GREATER,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.GREATER: Operator.LESS,
    Operator.AT_LEAST: Operator.AT_MOST,
}
_READERS = {"decimal": parse_number, "date": parse_date, "quantity": parse_quantity}
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
_LINE_END = re.compile(r"[ \t\f]*\n\s*")


class _Fault(Exception):
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
            raise _Fault(0, "unsupported", "constraints are not part of the language; give the "
                         "rule a head") from error
        if text[at:].startswith("not") and "not" in text[:at].split()[-1:]:
            raise _Fault(at, "unsupported", "double negation is not part of the language") from error
        if character in _REASONS and not isinstance(error, UnexpectedCharacters) or (
            character in _REASONS and character in "{|&\\~"
        ):
            raise _Fault(at, "unsupported", _REASONS[character]) from error
        wanted = getattr(error, "accepts", None) or getattr(error, "expected", None) or set()
        if isinstance(error, UnexpectedCharacters):
            wanted = error.allowed or set()
        names = sorted({_TERMINALS.get(name, "") for name in wanted} - {""})
        message = f"{found} is unexpected" + (f"; expected {_one_of(names)}" if names else "")
        raise _Fault(at, "syntax", message) from error


def _one_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _nearest(name: str, choices: list[str]) -> str:
    found = process.extractOne(name, choices)
    return f"; did you mean {found[0]!r}?" if found and found[1] >= 60 else ""


@dataclass(slots=True)
class _Builder:
    """Turns the tree of one statement into clauses; `_` becomes a fresh variable."""

    taken: set[str]
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
                return Fraction(int(str(first)))
            case "string":
                return _text_of(first)
            case "variable":
                return Variable(str(first))
            case "anonymous":
                return self.variable()
            case "bound" | "symbol":
                return Symbol(str(first))
            case "value":
                return _value_of(first, tree.children[1])
            case "negate":
                inner = self.expression(_tree(first))
                return -inner if isinstance(inner, Fraction) else Operation("-", (inner,))
            case "call":
                name = str(first)
                arguments = _tree(tree.children[1]).children
                if name not in FUNCTIONS:
                    raise _Fault(
                        _start(tree),
                        "unknown_function",
                        f"{name!r} is no function; expected one of {', '.join(sorted(FUNCTIONS))}"
                        + _nearest(name, sorted(FUNCTIONS)),
                    )
                least, most = FUNCTIONS[name].arity
                if not least <= len(arguments) <= most:
                    raise _Fault(
                        _start(tree),
                        "arity",
                        f"{name} takes {least if least == most else f'at least {least}'} "
                        f"arguments; found {len(arguments)}",
                    )
                return Operation(name, tuple(self.expression(_tree(a)) for a in arguments))
            case data:
                left, right = (self.expression(_tree(child)) for child in tree.children)
                return Operation(_INFIX[str(data)], (left, right))

    def term(self, tree: Tree[Token]) -> Term:
        if tree.data == "call":
            raise _Fault(
                _start(tree),
                "unsupported",
                "function terms are not part of the language; use another argument, or compute "
                "the value in a comparison such as Y = min(X, 3)",
            )
        found = self.expression(tree)
        if isinstance(found, Operation):
            raise _Fault(
                _start(tree),
                "unsupported",
                "arithmetic stands in comparisons only; write Y = X + 1 and use Y here",
            )
        return found

    def atom(self, tree: Tree[Token]) -> Atom:
        negated = tree.data == "negate"
        inner = _tree(tree.children[0]) if negated else tree
        if inner.data == "symbol":
            return Atom(str(inner.children[0]), (), negated)
        if inner.data == "call":
            arguments = _tree(inner.children[1]).children
            name = str(inner.children[0])
            return Atom(name, tuple(self.term(_tree(a)) for a in arguments), negated)
        raise _Fault(_start(tree), "syntax", "no atom stands here; expected such as p(X), or a "
                     "comparison such as X < 3")

    def literal(self, tree: Tree[Token]) -> Literal:
        match tree.data:
            case "literal":
                return Positive(self.atom(_tree(tree.children[0])))
            case "absent":
                return Absent(self.atom(_tree(tree.children[0])))
            case "comparison":
                left, relation, right = tree.children
                return Comparison(
                    _OPERATORS[str(relation)],
                    self.expression(_tree(left)),
                    self.expression(_tree(right)),
                )
            case "aggregate_right":
                result, relation, aggregate = tree.children
                return self.aggregate(_OPERATORS[str(relation)], _tree(result), _tree(aggregate))
            case _:
                aggregate, relation, result = tree.children
                operator = _OPERATORS[str(relation)]
                return self.aggregate(
                    _MIRRORED.get(operator, operator), _tree(result), _tree(aggregate)
                )

    def aggregate(
        self, operator: Operator, result: Tree[Token], tree: Tree[Token]
    ) -> Aggregate:
        function, terms, conditions = tree.children
        inner: list[Positive | Absent | Comparison] = []
        for condition in _tree(conditions).children if conditions else ():
            literal = self.literal(_tree(condition))
            assert not isinstance(literal, Aggregate), "the grammar nests no aggregates"
            inner.append(literal)
        return Aggregate(
            operator,
            self.expression(result),
            AggregateFunction(str(function)[1:]),
            tuple(self.term(_tree(term)) for term in _tree(terms).children),
            tuple(inner),
        )


def _tree(child: Tree[Token] | Token) -> Tree[Token]:
    assert isinstance(child, Tree), "the grammar puts a tree here"
    return child


def _start(tree: Tree[Token]) -> int:
    return int(tree.meta.start_pos)


def _token_start(token: Tree[Token] | Token) -> int:
    assert isinstance(token, Token), "the grammar puts a token here"
    return token.start_pos or 0


def _text_of(token: Tree[Token] | Token) -> str:
    try:
        text = str(json.loads(str(token), strict=False))
        text.encode()
    except (json.JSONDecodeError, UnicodeEncodeError) as error:
        raise _Fault(
            _token_start(token),
            "syntax",
            f"{str(token)} holds an unknown escape; write a backslash as \\\\",
        ) from error
    return text


def _value_of(name: Tree[Token] | Token, text: Tree[Token] | Token) -> Constant:
    kind = str(name)[1:]
    if kind not in _READERS:
        raise _Fault(
            _token_start(name),
            "unknown_literal",
            f"{str(name)} is no kind of value; expected @decimal, @date or @quantity"
            + _nearest(kind, sorted(_READERS)),
        )
    try:
        return _READERS[kind](_text_of(text))
    except ValueUnreadable as error:
        raise _Fault(_token_start(text), "literal", str(error)) from error


@dataclass(slots=True)
class _PolicyReading:
    """What has been read of a policy so far."""

    source: SourceText
    clauses: list[Clause]
    closed: list[ClosedDeclaration]
    functional: list[str]
    disjoint: list[tuple[str, str]]
    precedence: list[tuple[str, str]]
    findings: list[Finding]

    def statement(self, statement: StatementText, block: Block | None) -> None:
        try:
            tree = _parse(statement.text, "statement")
            head, rest = tree.children
            functor = _tree(_tree(head).children[0])
            name = str(functor.children[0]) if functor.data in ("symbol", "call") else ""
            if name in DECLARATIONS:
                self.declaration(functor, name, rest is not None, statement)
                return
        except _Fault as fault:
            self.report(statement, fault)
            return
        builder = _Builder(set(_NUMBERED.findall(statement.text)))
        atom: Atom | None = None
        body: list[Literal] = []
        try:
            atom = builder.atom(functor)
        except _Fault as fault:
            self.report(statement, fault)
        for literal in _tree(rest).children if rest is not None else ():
            try:
                body.append(builder.literal(_tree(literal)))
            except _Fault as fault:
                self.report(statement, fault)
                atom = None
        if atom is None:
            return
        line, column = self.source.position(statement.start)
        values = block.values if block is not None else {}
        self.clauses.append(
            Clause(
                id=values.get("rule", ""),
                head=atom,
                body=tuple(body),
                text=_LINE_END.sub(" ", statement.text),
                cite=values.get("cite", ""),
                says=values.get("says", ""),
                line=line,
                column=column,
            )
        )

    def report(self, statement: StatementText, fault: _Fault) -> None:
        at = statement.start + fault.offset
        self.findings.append(self.source.finding(at, fault.code, fault.message))

    def declaration(
        self, tree: Tree[Token], name: str, has_body: bool, statement: StatementText
    ) -> None:
        arguments = _tree(tree.children[1]).children if tree.data == "call" else []
        if has_body or len(arguments) != DECLARATIONS[name]:
            raise _Fault(
                0,
                "declaration",
                f"{name} is a declaration with {DECLARATIONS[name]} "
                f"argument{'s' if DECLARATIONS[name] > 1 else ''} and no body",
            )
        line = self.source.position(statement.start)[0]
        if name == "closed":
            predicate, arity = _indicator(_tree(arguments[0]))
            self.closed.append(
                ClosedDeclaration(predicate, arity, _label(_tree(arguments[1])), line)
            )
        elif name == "functional":
            self.functional.append(_label(_tree(arguments[0])))
        else:
            pair = (_label(_tree(arguments[0])), _label(_tree(arguments[1])))
            (self.disjoint if name == "disjoint" else self.precedence).append(pair)


def _indicator(tree: Tree[Token]) -> tuple[str, int]:
    """Read `p/2` or `-p/2`."""
    if tree.data == "divide":
        left, right = _tree(tree.children[0]), _tree(tree.children[1])
        negated = left.data == "negate"
        name = _tree(left.children[0]) if negated else left
        if name.data == "symbol" and right.data == "number":
            sign = "-" if negated else ""
            return f"{sign}{name.children[0]}", int(str(right.children[0]))
    raise _Fault(_start(tree), "declaration", "expected a predicate and its arity, such as p/2")


def _label(tree: Tree[Token]) -> str:
    if tree.data == "string":
        return _text_of(tree.children[0])
    if tree.data == "symbol":
        return str(tree.children[0])
    raise _Fault(_start(tree), "declaration", 'expected a name, such as "register"')


def _blocks_by_statement(
    source: SourceText, blocks: list[Block], findings: list[Finding]
) -> dict[int, Block]:
    """Tie each block to the statement that follows it; positions are statement starts."""
    starts = [statement.start for statement in source.statements]
    tied: dict[int, Block] = {}
    for block in blocks:
        if block.is_header or not block.values:
            continue
        following = bisect_left(starts, block.end)
        if following == len(starts):
            findings.append(
                source.finding(block.start, "metadata", "the comment names a rule; none follows")
            )
            continue
        earlier = tied.get(starts[following])
        if earlier is not None:
            findings.append(
                source.finding(earlier.start, "metadata", "the comment names a rule; none follows")
            )
        tied[starts[following]] = block
    return tied


def _name_clauses(
    clauses: list[Clause], tied: dict[int, Block], source: SourceText, findings: list[Finding]
) -> tuple[Clause, ...]:
    """Give each unnamed clause the id `PREDICATE.N` and report names given twice."""
    taken: dict[str, int] = {}
    for clause in clauses:
        if not clause.id:
            continue
        block = tied[source.line_starts[clause.line - 1] + clause.column - 1]
        at = block.offsets["rule"]
        if not is_rule_name(clause.id):
            message = (
                f"{clause.id!r} is no name of a rule; expected letters, digits, _ . : ( ) / + -"
            )
            findings.append(source.finding(at, "metadata", message))
        elif clause.id in taken:
            message = f"rule {clause.id!r} has its name already at line {taken[clause.id]}"
            findings.append(source.finding(at, "duplicate_rule", message))
        taken.setdefault(clause.id, clause.line)
    named: list[Clause] = []
    ordinals: dict[str, int] = {}
    for clause in clauses:
        name = clause.id
        while not name or (name in taken and not clause.id):
            predicate = clause.head.signature[0]
            ordinals[predicate] = ordinals.get(predicate, 0) + 1
            name = f"{predicate}.{ordinals[predicate]}"
        named.append(replace(clause, id=name))
    return tuple(named)


def read_policy(text: str, *, name: str) -> tuple[Policy, tuple[Finding, ...]]:
    """Read what can be read of a policy, with the findings of the reading alone, by position."""
    text = normalize(text)
    source = scan(text)
    metadata = read_blocks(source)
    header = read_header(source, metadata, name=name)
    findings = [*source.findings, *metadata.findings]
    tied = _blocks_by_statement(source, metadata.blocks, findings)
    reading = _PolicyReading(source, [], [], [], [], [], findings)
    for statement in source.statements:
        if not statement.is_faulty:
            reading.statement(statement, tied.get(statement.start))
    policy = Policy(
        id=header.policy,
        version=header.version,
        effective=header.effective,
        clauses=_name_clauses(reading.clauses, tied, source, findings),
        closed=tuple(reading.closed),
        functional=tuple(reading.functional),
        disjoint=tuple(reading.disjoint),
        precedence=tuple(reading.precedence),
        text=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )
    return policy, tuple(sorted(findings))


def parse_policy(text: str, *, name: str) -> Policy:
    """Read a policy; `name` stands for it in messages, and as its id where it has no header.

    Its digest is the SHA-256 of the text without byte order mark and with line feeds as line ends.
    Raises PolicyRejected with every error, of reading and of `check_policy`.
    """
    policy, findings = read_policy(text, name=name)
    errors = [*findings]
    errors += (f for f in check_policy(policy) if f.severity is Severity.ERROR)
    if errors:
        raise PolicyRejected(name, tuple(sorted(errors)))
    return policy


def parse_atom(text: str) -> Atom:
    """Read a goal such as `insured("Acme")` or `-insured(X)`; a full stop may follow.

    Raises GoalRejected, naming the column.
    """
    source = scan(normalize(text))
    for finding in source.findings:
        if finding.code != "syntax":
            raise GoalRejected(f"goal {text!r}, column {finding.column}: {finding.message}")
    try:
        tree = _parse(source.text, "goal")
        builder = _Builder(set(_NUMBERED.findall(text)))
        return builder.atom(_tree(_tree(tree.children[0]).children[0]))
    except _Fault as fault:
        message = f"goal {text!r}, column {fault.offset + 1}: {fault.message}"
        raise GoalRejected(message) from fault


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact of a facts file and its span `[start, end)` in the normalized text, with the stop."""

    atom: Atom
    start: int
    end: int


_ARGUMENT = r"""(?:"(?:[^"\\\n]|\\[^\n])*"|-?[0-9]+|[a-z][A-Za-z0-9_]*|@[a-z]+\("[^"\\\n]*"\))"""
_SIMPLE_FACT = re.compile(
    rf"\s*((-?)(?!not\b)([a-z][A-Za-z0-9_]*)(?:\(\s*({_ARGUMENT}(?:\s*,\s*{_ARGUMENT})*)\s*\))?\s*\.)"
    r"(?![.0-9])",
    re.ASCII,
)
_ARGUMENTS = re.compile(rf"({_ARGUMENT})\s*,?\s*", re.ASCII)


def _read_argument(text: str) -> Constant | None:
    """Read a simple ground argument; None where the full parser must say what is wrong."""
    first = text[0]
    if first == '"':
        if "\\" not in text:
            return text[1:-1]
        try:
            return _text_of(Token("STRING", text))
        except _Fault:
            return None
    if first == "@":
        kind, _, quoted = text[1:-1].partition("(")
        try:
            return _READERS[kind](quoted[1:-1])
        except (KeyError, ValueUnreadable):
            return None
    if first.islower():
        return Symbol(text) if text != "not" else None
    return Fraction(int(text))


def _simple_facts(text: str) -> Iterator[FactLine | int]:
    """Read plain facts fast, up to the first that is not plain: then give its offset."""
    offset = 0
    match = _SIMPLE_FACT.match(text)
    while match is not None:
        arguments = match.group(4)
        read = [_read_argument(a) for a in _ARGUMENTS.findall(arguments)] if arguments else []
        if None in read:
            break
        constants = tuple(constant for constant in read if constant is not None)
        atom = Atom(match.group(3), constants, bool(match.group(2)))
        yield FactLine(atom, match.start(1), match.end(1))
        offset = match.end()
        match = _SIMPLE_FACT.match(text, offset)
    yield offset


def parse_facts(text: str, *, name: str) -> tuple[FactLine, ...]:
    """Read ground atoms, each with a full stop; comments are allowed, rules are not.

    Spans count code points of the text without byte order mark and with line feeds as line ends.
    Raises PolicyRejected with every error.
    """
    text = normalize(text)
    source = scan(text)
    findings = list(source.findings)
    facts: list[FactLine] = []
    for statement in source.statements:
        if statement.is_faulty:
            continue
        for found in _simple_facts(statement.text):
            if isinstance(found, FactLine):
                facts.append(FactLine(found.atom, statement.start, statement.end))
            elif found < len(statement.text):
                try:
                    facts.append(FactLine(_read_fact(statement), statement.start, statement.end))
                except _Fault as fault:
                    at = statement.start + fault.offset
                    findings.append(source.finding(at, fault.code, fault.message))
    if findings:
        raise PolicyRejected(name, tuple(sorted(findings)))
    return tuple(facts)


def _read_fact(statement: StatementText) -> Atom:
    tree = _parse(statement.text, "statement")
    if len(tree.children) > 1 and tree.children[1] is not None:
        raise _Fault(0, "rule_among_facts", "a rule stands among facts; rules belong into a policy")
    atom = _Builder(set()).atom(_tree(_tree(tree.children[0]).children[0]))
    if not atom.is_ground:
        raise _Fault(0, "unsafe", f"the fact {atom} holds a variable; facts are ground")
    return atom
