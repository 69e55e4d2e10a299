"""Terms and atoms, and their one canonical text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from json.encoder import encode_basestring

from kb.quantity import Date, Quantity, format_number


@dataclass(frozen=True, slots=True)
class Symbol:
    """A bare constant such as `acme`; different from the text `"acme"`."""

    name: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable such as `S`; `_` in source text becomes a fresh `_1`, `_2`, ... per clause."""

    name: str


Constant = Symbol | str | Fraction | Date | Quantity
"""A ground term. Names of entities, classes and texts are plain `str`; numbers are `Fraction`."""

Term = Constant | Variable


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate applied to terms; `negated` is strong negation, written `-p(..)`."""

    predicate: str
    arguments: tuple[Term, ...] = ()
    negated: bool = False

    @property
    def is_ground(self) -> bool:
        """Whether no argument is a variable."""
        return not any(isinstance(argument, Variable) for argument in self.arguments)

    @property
    def signature(self) -> tuple[str, int]:
        """Predicate name, with a leading `-` under strong negation, and arity."""
        return ("-" + self.predicate if self.negated else self.predicate, len(self.arguments))

    @property
    def complement(self) -> Atom:
        """The same atom under the other sign of strong negation."""
        return Atom(self.predicate, self.arguments, not self.negated)

    def __str__(self) -> str:
        sign = "-" if self.negated else ""
        if not self.arguments:
            return f"{sign}{self.predicate}"
        return f"{sign}{self.predicate}({', '.join(map(render_term, self.arguments))})"


def render_term(term: Term) -> str:
    """Write a term canonically: `acme`, `"Acme"`, `12`, `@decimal("0.05")`, `@date("2026-01")`.

    Integers are bare; other exact numbers are `@decimal("0.05")`, or `@decimal("1/3")`. Text is a
    JSON string without escaping of non-ASCII characters.
    """
    match term:
        case Variable(name) | Symbol(name):
            return name
        case str():
            return encode_basestring(term)
        case Fraction():
            text = format_number(term)
            return text if term.denominator == 1 else f'@decimal("{text}")'
        case Date():
            return f'@date("{term}")'
        case Quantity():
            return f'@quantity("{term}")'


_ANONYMOUS = re.compile(r"_[0-9]+\Z", re.ASCII)


def is_anonymous(variable: Variable) -> bool:
    """Whether it was written `_`."""
    return _ANONYMOUS.match(variable.name) is not None


def render_pattern(atom: Atom) -> str:
    """Write an atom as in source text: variables that were written `_` as `_` again."""
    named = tuple(
        Variable("_") if isinstance(item, Variable) and is_anonymous(item) else item
        for item in atom.arguments
    )
    return str(Atom(atom.predicate, named, atom.negated))


_PREDICATE = re.compile(r"[a-z][A-Za-z0-9_]*\Z", re.ASCII)


def is_predicate_name(name: str) -> bool:
    """Whether `name` may stand as a predicate: ASCII, a lower-case letter first."""
    return _PREDICATE.match(name) is not None


def fold(name: str) -> str:
    """Give the form under which names are the same: NFC, case folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
