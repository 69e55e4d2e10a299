"""Policies: declarations, rules and their metadata, read from the text of a policy."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from .arithmetic import Tree
from .language import Reader, Unreadable, without_comments, write
from .rules import IDENTITY, NEVER_RENAMED, PRELUDE_HEADS, VALUE_RULES, Rule

Metadata = dict[str, str | None]
"""Values by their keys; None for what is not one plain or quoted scalar."""


@dataclass(frozen=True)
class PolicyText:
    """A policy read from its text; `uses` are the predicates in the bodies for each head."""

    id: str
    version: str
    effective: str
    rules: dict[str, Rule]
    closed: dict[str, str] = field(default_factory=dict)
    functional: set[str] = field(default_factory=set)
    disjoint: set[tuple[str, str]] = field(default_factory=set)
    precedence: list[Tree] = field(default_factory=list)
    gates: list[tuple[str, str, str]] = field(default_factory=list)
    uses: dict[str, set[str]] = field(default_factory=dict)


_DECLARATIONS = ("closed", "functional", "disjoint", "precedence", "applies_under")
_CAPITALISED = re.compile(r"\b[A-Z]\w*")
_METADATA = re.compile(r"\s*([a-z]+)\s*:(?:\s+(.*))?\Z")
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_LINE_END = re.compile(r"[ \t\f]*\n\s*")


def _blocks(text: str, lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, Metadata]]:
    """Yield the blocks of `%!` lines that follow each other, each with the place of its end."""
    block = list[str]()
    for (start, line), (following, _) in itertools.pairwise([*lines, (len(text), "")]):
        block.append(line)
        if text[start:following].strip(" \t\f") != "\n" or following == len(text):
            yield start, _values(block)
            block = []


def _values(lines: Sequence[str]) -> Metadata:
    """Read `key: value` lines."""
    values: Metadata = {}
    last = ""
    for line in lines:
        found = _METADATA.match(line)
        if found is not None:
            last = found[1]
            values[last] = _scalar((found[2] or "").strip())
        elif last and line.strip():
            values[last] = None  # continued over several lines: left to the reader
    return values


def _scalar(text: str) -> str | None:
    """Read one plain or quoted scalar."""
    if text[:1] == '"':
        try:
            return str(json.loads(text)).strip()
        except ValueError:
            return None
    if text[:1] == "'":
        return text[1:-1].replace("''", "'").strip() if _QUOTED.fullmatch(text) else None
    is_plain = text[:1] not in ("|", ">", "&", "*", "!", "[", "{", "") and " #" not in text
    return text if is_plain else None


@functools.lru_cache(maxsize=64)
def read_policy(text: str) -> PolicyText:
    """Read a whole policy text; raises Unreadable, or KeyError and its like for odd declarations.

    A block of metadata is that of the policy, or of the next rule.
    """
    shown, lines = without_comments(text)
    reader, blocks = Reader(shown), [*_blocks(shown, lines)]
    rules, header, taken = list[Rule](), Metadata(), 0
    policy = PolicyText("", "", "", {})
    while True:
        own = Metadata()
        while taken < len(blocks) and blocks[taken][0] < reader.start:
            values = blocks[taken][1]
            header, own = (values, own) if "policy" in values else (header, values)
            taken += 1
        if reader.kind == "end":
            break
        start, name = reader.start, reader.token
        if name in _DECLARATIONS:
            _declare(policy, name, reader.expression())
            reader.expect(".")
            continue
        tree = reader.statement()
        stated = own.get("rule") or "", tree, _LINE_END.sub(" ", shown[start : reader.end])
        rules.append(Rule(*stated, own.get("cite", ""), own.get("says", "")))
    for rule in name_rules([_gated(rule, policy.gates) for rule in rules]):
        policy.rules[rule.id] = rule
        policy.uses.setdefault(rule.sign, set()).update(*(item.signs() for item in rule.body))
    defaults = {"policy": "", "version": "0", "effective": "../.."}
    names = [header.get(key, value) or "" for key, value in defaults.items()]
    return replace(policy, id=names[0], version=names[1], effective=names[2])


def _declare(policy: PolicyText, name: str, tree: Tree) -> None:
    items = tree["arguments"]
    match name:
        case "closed":
            policy.closed[_indicator(items[0])] = _label(items[1])
        case "applies_under":
            policy.gates.append((_indicator(items[0]), _label(items[1]), _label(items[2])))
        case "functional":
            policy.functional.add(_label(items[0]))
        case "disjoint":
            policy.disjoint.add((_label(items[0]), _label(items[1])))
        case _:
            policy.precedence.append(tree)


def _indicator(tree: Tree) -> str:
    """Read `p/2` or `-p/2`."""
    predicate, arity = tree["arguments"]
    sign = "-" if "operation" in predicate else ""
    symbol = predicate["arguments"][0] if sign else predicate
    return f"{sign}{symbol['symbol']}/{arity['number']}"


def _label(tree: Tree) -> str:
    return str(tree["text"] if "text" in tree else tree["symbol"])


def _gated(rule: Rule, gates: Sequence[tuple[str, str, str]]) -> Rule:
    """Add the conditions of `applies_under(p/n, dimension, "Class")` to a rule for p/n."""
    taken = set(_CAPITALISED.findall(rule.text))
    added: list[Tree] = []
    for _, dimension, label in (gate for gate in gates if gate[0] == rule.sign):
        stem = "".join(part[:1].upper() + part[1:] for part in dimension.split("_") if part)
        names = itertools.chain([stem], (f"{stem}{number}" for number in itertools.count(2)))
        value = {"variable": next(name for name in names if name not in taken)}
        taken.add(value["variable"])
        for predicate, terms in (
            (dimension, [rule.head["arguments"][0], value]),
            ("under", [value, {"text": label}]),
        ):
            atom = {"predicate": predicate, "negated": False, "arguments": terms}
            added.append({"positive": atom})
    if not added:
        return rule
    body = rule.tree["body"]
    text = rule.text.rstrip().removesuffix(".").rstrip()
    text += f"{', ' if body else ' :- '}{', '.join(map(write, added))}."
    return Rule(rule.id, {**rule.tree, "body": [*body, *added]}, text, rule.cite, rule.says)


def name_rules(rules: Sequence[Rule]) -> Iterator[Rule]:
    """Yield rules with their ids; one without is `PREDICATE.N`."""
    taken = [rule.id for rule in rules if rule.id]
    if len(taken) != len(set(taken)):
        raise Unreadable("two rules have the same name", 0)
    ordinals: dict[str, int] = {}
    for rule in rules:
        predicate = rule.sign.rpartition("/")[0]
        while not rule.id:
            ordinals[predicate] = ordinals.get(predicate, 0) + 1
            name = f"{predicate}.{ordinals[predicate]}"
            rule.id = "" if name in taken else name
        yield rule


# ---------------------------------------------------------------- built in


def identity_rule(sign: str) -> Rule:
    """Give the rule by which what holds of one name holds of the entity's other names."""
    name, _, arity = sign.rpartition("/")
    others = "".join(f", V{number}" for number in range(1, int(arity)))
    text = f"{name}(X{others}) :- alias(X, Y), {name}(Y{others})."
    says = "What is stated of {Y} holds of {X}: both name one entity"
    tree = Reader(text).statement()
    return Rule(f"{IDENTITY}{sign}", tree, text, "Proofweave prelude, identity", says)


def value_rule(name: str) -> Rule:
    """Give a rule by which one value of a dimension excludes another; ValueError for no such."""
    kind = next(kind for kind in VALUE_RULES if name.startswith(kind))
    dimension = name.removeprefix(kind).removesuffix("/2")
    if not re.fullmatch(r"_*[a-z][A-Za-z0-9_]*", dimension, re.ASCII):
        raise ValueError(name)
    text, says = (part.format(d=dimension) for part in VALUE_RULES[kind])
    tree = Reader(text).statement()
    return Rule(f"{kind}{dimension}/2", tree, text, "Proofweave prelude, meet", says)


def built_in_rule(name: str) -> Rule | None:
    """Give the built-in rule of a name; None where it names none."""
    try:
        if name.startswith(tuple(VALUE_RULES)):
            return value_rule(name)
        rule = identity_rule(name.removeprefix(IDENTITY)) if name.startswith(IDENTITY) else None
    except (ValueError, Unreadable):
        return None
    return None if rule is None or rule.sign in PRELUDE_HEADS | NEVER_RENAMED else rule
