"""Theories of exact triples and rules in brackets, as policy text and facts text.

A literal is `("Bob" "is" "green" "+")`: subject, relation, object, sign; `+` affirms, `-` denies
(strong negation), `~` says that it cannot be proved, the theory being all there is. A rule is
`((LITERAL ...) -> LITERAL)`; `someone` and `something` are variables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reasoner.atom import render_term

_LITERAL = re.compile(
    r'\(\s*"(?P<subject>[^"]*)"\s+"(?P<relation>[^"]*)"\s+"(?P<object>[^"]*)"\s+"(?P<sign>[-+~])"\s*\)'
)
_LEAF = re.compile(r"(?:triple|rule)\d+")
VARIABLES = ("someone", "something", "they", "it")
_RESERVED = frozenset(
    {
        "alias",
        "closed",
        "disjoint",
        "document_kind",
        "functional",
        "issued_on",
        "issuer",
        "not",
        "not_proved",
        "precedence",
        "same_as",
        "same_name",
        "stated_by",
        "stated_in",
        "subclass_of",
        "thing",
        "under",
        "valid_on",
    }
)


@dataclass(frozen=True, slots=True)
class TripleLiteral:
    """One literal as the theory writes it."""

    subject: str
    relation: str
    object: str
    sign: str


@dataclass(frozen=True, slots=True)
class TheoryRule:
    """A rule with its name and its English sentence."""

    name: str
    body: tuple[TripleLiteral, ...]
    head: TripleLiteral
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A literal asked, with its gold label, depth of proof and proofs.

    Each proof is the names of its triples and rules; none where the label rests on absence.
    """

    name: str
    literal: TripleLiteral
    answer: bool
    depth: int
    text: str
    proofs: tuple[frozenset[str], ...] = ()


@dataclass(frozen=True, slots=True)
class Theory:
    """Facts, rules and questions of one theory."""

    id: str
    facts: Mapping[str, TripleLiteral]
    rules: tuple[TheoryRule, ...]
    questions: tuple[Question, ...]

    @property
    def things(self) -> tuple[str, ...]:
        """Everything that is a subject or the object of a relation, sorted."""
        heads = [rule.head for rule in self.rules]
        bodies = [literal for rule in self.rules for literal in rule.body]
        asked = [question.literal for question in self.questions]
        literals = [*self.facts.values(), *heads, *bodies, *asked]
        found = {literal.subject for literal in literals}
        found |= {literal.object for literal in literals if literal.relation != "is"}
        return tuple(sorted(found.difference(VARIABLES)))


def read_theory(entry: Mapping[str, Any]) -> Theory:
    """Read one theory of a `meta` file of the RuleTaker data sets.

    Raises ValueError, naming theory and element, for a bracket form that cannot be read.
    """

    def literals(element: str, text: str) -> tuple[TripleLiteral, ...]:
        found = tuple(TripleLiteral(*match.groups()) for match in _LITERAL.finditer(text))
        if re.sub(r"[()\s]|->", "", _LITERAL.sub("", text)) or not found:
            raise ValueError(f"{entry['id']}, {element}: cannot read {text!r}")
        return found

    facts = {
        name: literals(name, fact["representation"])[0] for name, fact in entry["triples"].items()
    }
    rules = []
    for name, rule in entry["rules"].items():
        *body, head = literals(name, rule["representation"])
        rules.append(TheoryRule(name, tuple(body), head, rule["text"]))
    questions = [
        Question(
            name,
            literals(name, asked["representation"])[0],
            bool(asked["answer"]),
            int(asked["QDep"]),
            asked["question"],
            _proofs(asked["proofs"]),
        )
        for name, asked in entry["questions"].items()
    ]
    return Theory(str(entry["id"]), facts, tuple(rules), tuple(questions))


def _proofs(text: str) -> tuple[frozenset[str], ...]:
    """Read proofs such as `[(((triple1 triple2) -> rule3)) OR (triple4)]`."""
    if "FAIL" in text:
        return ()
    return tuple(frozenset(_LEAF.findall(proof)) for proof in text.split(" OR "))


@dataclass(frozen=True, slots=True)
class Translation:
    """A theory in the policy language; `goals` are the affirmed atoms asked, by question.

    `triples` gives the name of the triple behind each fact.

    `not_proved("Q1")` is derived where the atom of Q1 cannot be: the theory is all there is, so
    every predicate is declared closed by it.
    """

    policy: str
    facts: str
    goals: Mapping[str, str]
    triples: Mapping[str, str]


def translate(theory: Theory) -> Translation:
    """Write a theory as policy and facts."""
    names = _Names()
    triples: dict[str, str] = {}
    for name, fact in theory.facts.items():
        triples.setdefault(names.atom(fact, {}), name)
    facts = [f"{atom}." for atom in triples]
    facts += [f"thing({render_term(thing)})." for thing in theory.things]
    rules = [_rule(rule, names, theory.id) for rule in theory.rules]
    goals = {}
    for question in theory.questions:
        goals[question.name] = names.plain(question.literal, {})
        rules.append(
            f"%! rule: not_proved.{question.name}\n"
            f"not_proved({render_term(question.name)}) :- not {goals[question.name]}."
        )
    closed = [f"closed({name}, {render_term(theory.id)})." for name in names.indicators()]
    closed.append(f"closed(thing/1, {render_term(theory.id)}).")
    header = f"%! policy: {theory.id}\n%! version: 1"
    policy = "\n".join([header, *closed, "", *rules, ""])
    return Translation(policy, "\n".join(facts) + "\n", goals, triples)


def _rule(rule: TheoryRule, names: _Names, theory: str) -> str:
    variables: dict[str, str] = {}
    for literal in (*rule.body, rule.head):
        for term in (literal.subject, literal.object):
            if term in VARIABLES:
                variables.setdefault(term, f"X{len(variables) + 1}")
    body = [names.literal(literal, variables) for literal in rule.body]
    bound = {
        term
        for literal in rule.body
        if literal.sign != "~"
        for term in (literal.subject, literal.object)
    }
    body += [f"thing({name})" for term, name in variables.items() if term not in bound]
    says = json.dumps(rule.text.replace("{", "(").replace("}", ")"), ensure_ascii=False)
    head = names.literal(rule.head, variables)
    clause = f"{head} :- {', '.join(body)}." if body else f"{head}."
    return f"%! rule: {rule.name}\n%! cite: {theory} {rule.name}\n%! says: {says}\n{clause}"


class _Names:
    """Predicates for what a theory says: `is green` of one thing, `has` of two."""

    def __init__(self) -> None:
        self._taken: dict[str, tuple[str, int]] = {}

    def _predicate(self, words: str, arity: int) -> str:
        plain = re.sub(r"\W+", "_", words, flags=re.ASCII).strip("_").lower()
        name = plain if plain[:1].isalpha() and plain not in _RESERVED else f"r_{plain}"
        while self._taken.setdefault(name, (words, arity)) != (words, arity):
            name += "_"
        return name

    def plain(self, literal: TripleLiteral, variables: Mapping[str, str]) -> str:
        """Write a literal without its sign."""

        def term(text: str) -> str:
            return variables.get(text) or render_term(text)

        if literal.relation == "is":
            predicate = self._predicate(f"is {literal.object}", 1)
            return f"{predicate}({term(literal.subject)})"
        predicate = self._predicate(literal.relation, 2)
        return f"{predicate}({term(literal.subject)}, {term(literal.object)})"

    def atom(self, literal: TripleLiteral, variables: Mapping[str, str]) -> str:
        """Write a literal that is affirmed or denied."""
        return ("-" if literal.sign == "-" else "") + self.plain(literal, variables)

    def literal(self, literal: TripleLiteral, variables: Mapping[str, str]) -> str:
        """Write a literal of a body."""
        return (
            f"not {self.plain(literal, variables)}"
            if literal.sign == "~"
            else self.atom(literal, variables)
        )

    def indicators(self) -> Iterable[str]:
        """Give all predicates as `name/arity`, sorted."""
        return sorted(f"{name}/{arity}" for name, (_, arity) in self._taken.items())
