"""Policies: declarations, rules and their metadata, read from the text of a policy."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from .arithmetic import Tree
from .language import TOKEN, Reader, Unreadable, block_end
from .rules import IDENTITY, Rule


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
    uses: dict[str, set[str]] = field(default_factory=dict)


_METADATA = re.compile(r"\s*([a-z]+)\s*:(?:\s+(.*))?\Z")
_LINE_END = re.compile(r"[ \t\f]*\n\s*")


def read_metadata(lines: Sequence[str]) -> dict[str, str | None]:
    """Read `key: value` lines; a value that is not one plain or quoted scalar gives None."""
    values: dict[str, str | None] = {}
    last = ""
    for line in lines:
        found = _METADATA.match(line)
        if found is None:
            if last and line.strip():
                values[last] = None  # continued over several lines: left to the reader
            continue
        last, value = found[1], (found[2] or "").strip()
        values[last] = None
        if value[:1] == '"':
            try:
                values[last] = str(json.loads(value)).strip()
            except ValueError:
                continue
        elif value[:1] == "'":
            if re.fullmatch(r"'((?:[^']|'')*)'", value):
                values[last] = value[1:-1].replace("''", "'").strip()
        elif value[:1] not in ("|", ">", "&", "*", "!", "[", "{", "") and " #" not in value:
            values[last] = value
    return values


def _own_text(text: str, start: int, end: int) -> str:
    """Give the text of a statement on one line, without comments."""
    pieces, position = list[str](), start
    while position < end:
        found = TOKEN.match(text, position)
        assert found is not None, "it was read before"
        stop = block_end(text, position) if found.lastgroup == "block" else found.end()
        blank = found.lastgroup in ("block", "comment", "metadata")
        pieces.append(" " * (stop - position) if blank else text[position:stop])
        position = stop
    return _LINE_END.sub(" ", "".join(pieces))


@functools.lru_cache(maxsize=64)
def read_policy(text: str) -> PolicyText:
    """Read a whole policy text; raises Unreadable, or KeyError and its like for odd declarations.

    Lines of metadata that follow each other are one block: of the policy, or of the next rule.
    """
    reader = Reader(text)
    rules, taken = list[Rule](), 0
    header: dict[str, str | None] = {}
    policy = PolicyText("", "", "", {})
    while True:
        blocks = list[list[tuple[int, str]]]()
        for line in reader.metadata[taken:]:
            if blocks and text.count("\n", blocks[-1][-1][0], line[0]) == 1:
                blocks[-1].append(line)
            else:
                blocks.append([line])
        taken, own = len(reader.metadata), dict[str, str | None]()
        for block in blocks:
            values = read_metadata([line for _, line in block])
            header, own = (values, own) if "policy" in values else (header, values)
        if reader.kind == "end":
            break
        start, name = reader.start, reader.token
        if reader.kind == "name" and name in ("closed", "functional", "disjoint", "precedence"):
            _declare(policy, name, reader.expression())
            reader.expect(".")
            continue
        tree = reader.statement()
        rule_text = _own_text(text, start, reader.end)
        rules.append(
            Rule(own.get("rule") or "", tree, rule_text, own.get("cite", ""), own.get("says", ""))
        )
    for rule in name_rules(rules):
        policy.rules[rule.id] = rule
        policy.uses.setdefault(rule.sign, set()).update(*(item.signs() for item in rule.body))
    defaults = {"policy": "", "version": "0", "effective": "../.."}
    stated = [header.get(key, value) or "" for key, value in defaults.items()]
    return replace(policy, id=stated[0], version=stated[1], effective=stated[2])


def _declare(policy: PolicyText, name: str, tree: Tree) -> None:
    items = tree["arguments"]
    match name:
        case "closed":
            predicate, arity = items[0]["arguments"]
            sign = "-" if "operation" in predicate else ""
            symbol = predicate["arguments"][0] if sign else predicate
            policy.closed[f"{sign}{symbol['symbol']}/{arity['number']}"] = _label(items[1])
        case "functional":
            policy.functional.add(_label(items[0]))
        case "disjoint":
            policy.disjoint.add((_label(items[0]), _label(items[1])))
        case _:
            policy.precedence.append(tree)


def _label(tree: Tree) -> str:
    return str(tree["text"] if "text" in tree else tree["symbol"])


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


def identity_rule(sign: str) -> Rule:
    """Give the rule by which what holds of one name holds of the entity's other names."""
    name, _, arity = sign.rpartition("/")
    others = "".join(f", V{number}" for number in range(1, int(arity)))
    text = f"{name}(X{others}) :- alias(X, Y), {name}(Y{others})."
    says = "What is stated of {Y} holds of {X}: both name one entity"
    tree = Reader(text).statement()
    return Rule(f"{IDENTITY}{sign}", tree, text, "Proofweave prelude, identity", says)
