"""What is known of a certificate while it is examined, and its policies, rules and goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .format import Json, reject, require
from .language import Unreadable, write
from .policy import PolicyText, identity_rule, read_policy, value_rule
from .rules import (
    ANONYMOUS,
    IDENTITY,
    NEVER_RENAMED,
    PRELUDE_HEADS,
    PRELUDE_SHA256,
    VALUE_RULES,
    Arguments,
    Ground,
    Rule,
    arguments,
    complement,
    read_atom,
    write_call,
)
from .sources import FACTS_DECODER, FactsFile, Texts, TextsWithout, digest_of, plain_atom
from .values import read_day


@dataclass
class Case:
    """One certificate under examination: what was shown so far, and what the report will say."""

    certificate: Json
    texts: Texts | None
    checked: list[str] = field(default_factory=list)
    trusted: dict[str, None] = field(default_factory=dict)
    not_given: list[str] = field(default_factory=list)
    policies: list[PolicyText] = field(default_factory=list)
    rules: dict[str, Rule] = field(default_factory=dict)
    """The rules that the certificate names."""
    by_head: dict[str, list[Rule]] = field(default_factory=dict)
    """All rules of the policies, by signature of their heads."""
    retracted: list[Ground] = field(default_factory=list)
    """What the request leaves out."""
    out_of_scope: bool = False
    atoms: dict[str, str] = field(default_factory=dict)
    """What steps prove, by the id of the step."""
    claims: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Premises that are no atoms: kind and text, by the id of the step."""
    used: dict[str, set[str]] = field(default_factory=dict)
    """What something needs, by section of the certificate."""
    _ground: dict[str, Ground] = field(default_factory=dict)
    _terms: dict[str, str] = field(default_factory=dict)
    _by_constant: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    def trust(self, what: str) -> None:
        """Note something that the examination takes for granted, once."""
        self.trusted[what] = None

    def use(self, section: str, name: str) -> None:
        """Note that something is needed."""
        self.used.setdefault(section, set()).add(name)

    def is_term(self, term: str) -> bool:
        """Whether a text is a ground term in its canonical form."""
        found = self._terms.get(term)
        if found is None:
            plain = plain_atom(f"p({term})", 0, self._terms)
            found = plain[3][0] if plain is not None and len(plain[3]) == 1 else ""
        return found == term

    def ground(self, text: str, where: str, *, unknown: bool = False) -> Ground:
        """Read a ground atom in its canonical form; each once."""
        found = self._ground.get(text)
        if found is None:
            plain = plain_atom(text, 0, self._terms, unknown=unknown)
            try:
                sign, row = plain[2:] if plain is not None else read_atom(text)[:2]
            except Unreadable as error:
                reject("STRUCTURE", where, f"{text!r} is no atom: {error}")
            if None in row or write_call(sign, row) != text:
                reject("STRUCTURE", where, f"{text!r} is no ground atom in canonical form")
            found = sign, row
            if not unknown:
                self._ground[text] = found
        return found

    def facts_files(self) -> dict[str, FactsFile]:
        """Give the facts files that are at hand, by digest of the source."""
        texts = self.texts
        return {
            name: texts.facts(name, record)
            for name, record in self.certificate["sources"].items()
            if texts is not None and record["decoder"] == FACTS_DECODER
        }

    def answering(self, sign: str, pattern: Arguments) -> list[Rule]:
        """Give the rules whose head may have the first argument of a call, in order."""
        rules = self.by_head.get(sign, [])
        first = pattern[0] if pattern else None
        if first is None or len(rules) < 8:
            return rules
        if sign not in self._by_constant:
            index = self._by_constant[sign] = {}
            for place, rule in enumerate(rules):
                item = rule.head["arguments"][0]
                index.setdefault("" if "variable" in item else write(item), []).append(place)
        index = self._by_constant[sign]
        return [rules[place] for place in sorted(index.get("", []) + index.get(first, []))]

    # ------------------------------------------------------------ policies and goal

    def check_policies(self, expected: str | None) -> None:
        """Compare policies with their digests, and rules with what the policies say."""
        records = self.certificate["policies"]
        digests = [record["digest"] for record in records]
        for index, record in enumerate(records):
            self._check_policy(record, f"policies/{index}")
        if digests != sorted(set(digests)):
            reject("NOT_CANONICAL", "policies", "policies are not sorted by digest, or repeated")
        if expected is not None:
            for digest in {expected} - set(digests):
                reject("POLICY_MISMATCH", "policies", f"no policy has the digest {digest}")
            for digest in set(digests) - {expected, PRELUDE_SHA256}:
                reject("POLICY_MISMATCH", "policies", f"the policy {digest} is not expected")
            self.checked.append("the policy is the expected one")
        else:
            self.not_given.append("the digest of the expected policy")
        renaming = [self._check_rule(*item) for item in self.certificate["rules"].items()]
        for rule in renaming:
            if rule.id.startswith((IDENTITY, *VALUE_RULES)):
                self.by_head.setdefault(rule.sign, []).append(rule)
        self.checked.append("the rules are as the texts of the policies state them")

    def _check_policy(self, record: Json, where: str) -> None:
        same = digest_of(record["text"]) == record["digest"]
        require(same, "POLICY_MISMATCH", where, "the text of the policy has another digest")
        try:
            policy = read_policy(record["text"])
        except (Unreadable, LookupError, TypeError, ValueError) as error:
            reject("POLICY_MISMATCH", where, f"the policy cannot be read: {error}")
        for name in ("id", "version", "effective"):
            stated = getattr(policy, name)
            if stated and stated != record[name]:
                reject("POLICY_MISMATCH", f"{where}/{name}", f"the policy says {stated!r} here")
        self.policies.append(policy)
        for rule in policy.rules.values():
            self.by_head.setdefault(rule.sign, []).append(rule)
        first, last = interval(record["effective"])
        day = self.certificate["valid_on"]
        if day is not None and not (first or day) <= day < (last or "9999-99-99"):
            applies = self.certificate["code"] == "OUT_OF_SCOPE"
            require(applies, "POLICY_MISMATCH", where, f"the policy does not apply on {day}")
            self.out_of_scope = True

    def _check_rule(self, name: str, record: Json) -> Rule:
        where = f"rules/{name}"
        rule = next((p.rules[name] for p in self.policies if name in p.rules), None)
        if rule is None and name.startswith(IDENTITY):
            try:
                rule = identity_rule(name.removeprefix(IDENTITY))
            except (ValueError, Unreadable):
                reject("RULE_MISMATCH", where, f"{name!r} names no identity rule")
            if rule.sign in PRELUDE_HEADS | NEVER_RENAMED:
                reject("RULE_MISMATCH", where, f"{rule.sign} is not carried over to other names")
        if rule is None and name.startswith(tuple(VALUE_RULES)):
            try:
                rule = value_rule(name)
            except (ValueError, Unreadable):
                reject("RULE_MISMATCH", where, f"{name!r} names no rule about values")
        if rule is None:
            reject("RULE_MISMATCH", where, "no policy of the certificate has this rule")
        stated = {"clause": rule.tree, "text": rule.text, "cite": rule.cite, "says": rule.says}
        for key, value in stated.items():
            if value is not None and value != record[key]:
                reject("RULE_MISMATCH", f"{where}/{key}", "the policy states this differently")
        self.rules[name] = rule
        return rule

    def check_goal(self, expected: str | None) -> None:
        """Read the goal and compare it with the expected one, up to names of variables."""
        goal = self.certificate["goal"]
        try:
            self.goal_sign, self.goal, self.goal_tree = read_atom(goal)
        except Unreadable as error:
            reject("GOAL_MISMATCH", "goal", f"the goal cannot be read: {error}")
        names = [item.get("variable", "") for item in self.goal_tree["arguments"]]
        written = write(self.goal_tree, {n: "_" for n in names if ANONYMOUS.match(n)})
        require(written == goal, "NOT_CANONICAL", "goal", f"the canonical form is {written}")
        self.is_ground = None not in self.goal
        if expected is None:
            self.not_given.append("the text of the expected goal")
            return
        try:
            other = read_atom(expected)[2]
        except Unreadable as error:
            reject("GOAL_MISMATCH", "goal", f"the expected goal {expected!r} is none: {error}")
        if _renamed(other) != _renamed(self.goal_tree):
            reject("GOAL_MISMATCH", "goal", f"the goal is {goal}, expected {expected}")
        self.checked.append("the goal is the expected one")

    def check_retractions(self) -> None:
        """Read what the request leaves out; nothing of it is cited, and no lookup shows it."""
        if "retractions" not in self.certificate:
            return
        found = [(item["statement"], item["atom"]) for item in self.certificate["retractions"]]
        if not found or found != sorted(set(found)):
            reject("NOT_CANONICAL", "retractions", "retractions are not sorted, repeated or none")
        for index, (statement, atom) in enumerate(found):
            where = f"retractions/{index}"
            self.retracted.append(self.ground(atom, where))
            names = {statement, f"st:{digest_of(atom)[:32]}"}
            if not names.isdisjoint(self.certificate["statements"]):
                reject("LEAF_MISMATCH", where, f"{atom} is retracted, and cited")
        if self.texts is not None:
            self.texts = TextsWithout(self.texts, self.retracted)
        self.checked.append(f"nothing rests on what the request leaves out ({len(found)})")

    @property
    def opposite(self) -> str:
        """The signature of the strong negation of the goal."""
        return complement(self.goal_sign)


def _renamed(tree: Json) -> str:
    """Write an atom with its variables named in order."""
    names: Mapping[str, str] = {}
    for item in tree["arguments"]:
        if "variable" in item:
            names = {item["variable"]: f"V{len(names)}", **names}
    return write_call(f"{tree['negated']}{tree['predicate']}/", arguments(tree, names))


def interval(effective: str) -> tuple[str | None, str | None]:
    """Read `START/END`, `..` for an open side, as two days; raises ValueError for others."""
    sides = [None if day == ".." else day for day in effective.split("/")]
    first, last = sides
    for day in sides:
        if day is not None and str(read_day(day)) != day:
            raise ValueError(f"{day!r} is no day in the form YYYY-MM-DD")
    return first, last
