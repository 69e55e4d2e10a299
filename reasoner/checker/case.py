"""What is known of a certificate while it is examined, and its policies, rules and goal."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from .format import Json, reject, require
from .language import Unreadable, write
from .policy import PolicyText, built_in_rule, read_policy
from .rules import (
    IDENTITY,
    PRELUDE_SHA256,
    VALUE_RULES,
    Arguments,
    Ground,
    Rule,
    complement,
    read_atom,
    write_call,
    written,
)
from .sources import FACTS_DECODER, FactsFile, Texts, digest_of, plain_atom
from .values import in_form, read_day, write_text


@dataclass
class Case:
    """One certificate under examination: what was shown so far, and what the report will say."""

    certificate: Json
    texts: Texts | None
    where: str = ""
    """The place that is examined, as a path into the certificate; rejections name it."""
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
    _by_constant: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    def trust(self, what: str) -> None:
        """Note something that the examination takes for granted, once."""
        self.trusted[what] = None

    def use(self, section: str, name: str) -> None:
        """Note that something is needed."""
        self.used.setdefault(section, set()).add(name)

    def ground(self, text: str, where: str = "", *, unknown: bool = False) -> Ground:
        """Read a ground atom in its canonical form; each once."""
        found = self._ground.get(text)
        if found is None:
            self.where = where or self.where
            plain = plain_atom(text, unknown=unknown)
            if plain is None or write_call(*plain[2:]) != text:
                reject("STRUCTURE", f"{text!r} is no ground atom in canonical form")
            found = plain[2:]
            if not unknown:
                self._ground[text] = found
        return found

    @functools.cached_property
    def facts_files(self) -> dict[str, FactsFile]:
        """The facts files that are at hand, by digest of the source, without what is retracted."""
        return {
            name: self.texts.facts(name, record).without(self.retracted)
            for name, record in self.certificate["sources"].items()
            if self.texts is not None and record["decoder"] == FACTS_DECODER
        }

    def is_functional(self, dimension: str) -> bool:
        """Whether a policy declares that a dimension has one value at a time."""
        return any(dimension in policy.functional for policy in self.policies)

    def trust_functional(self, dimension: str) -> None:
        """Note that a dimension is taken to have one value at a time, if no policy declares it."""
        if not self.is_functional(dimension):
            self.trust(f"that the dimension {dimension} has one value at a time")

    def trust_disjoint(self, one: str, other: str) -> None:
        """Note that two classes are taken to be disjoint, if no policy declares it."""
        pairs = [set(map(write_text, pair)) for p in self.policies for pair in p.disjoint]
        if {one, other} not in pairs:
            self.trust(f"that {one} and {other} are disjoint")

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

    def proof_of(self, *answers: Json) -> list[Json]:
        """Give the steps that answers rest on, the last first."""
        needed, found = {answer["step"] for answer in answers}, list[Json]()
        last = max((int(name[1:]) for name in needed), default=0)
        for step in reversed(self.certificate["steps"][:last]):
            if step["id"] in needed:  # premises come before
                needed.update(step["premises"])
                found.append(step)
        return found

    @property
    def opposite(self) -> str:
        """The signature of the strong negation of the goal."""
        return complement(self.goal_sign)

    # ------------------------------------------------------------ policies and goal

    def check_policies(self, expected: str | None) -> None:
        """Compare policies with their digests, and rules with what the policies say."""
        records = self.certificate["policies"]
        digests = [record["digest"] for record in records]
        for index, record in enumerate(records):
            self.where = f"policies/{index}"
            self._check_policy(record)
        self.where = "policies"
        in_order = digests == sorted(set(digests))
        require(in_order, "NOT_CANONICAL", "policies are not sorted by digest, or repeated")
        if expected is None:
            self.not_given.append("the digest of the expected policy")
        else:
            same = {expected} <= {*digests} <= {expected, PRELUDE_SHA256}
            require(same, "POLICY_MISMATCH", f"they are {', '.join(digests)}, expected {expected}")
            self.checked.append("the policy is the expected one")
        for name, record in self.certificate["rules"].items():
            self.where = f"rules/{name}"
            self._check_rule(name, record)
        for name, rule in self.rules.items():
            if name.startswith((IDENTITY, *VALUE_RULES)):
                self.by_head.setdefault(rule.sign, []).append(rule)
        self.checked.append("the rules are as the texts of the policies state them")

    def _check_policy(self, record: Json) -> None:
        same = digest_of(record["text"]) == record["digest"]
        require(same, "POLICY_MISMATCH", "the text of the policy has another digest")
        try:
            policy = read_policy(record["text"])
        except (Unreadable, LookupError, TypeError, ValueError) as error:
            reject("POLICY_MISMATCH", f"the policy cannot be read: {error}")
        for name in ("id", "version", "effective"):
            stated = getattr(policy, name)
            same = stated in ("", record[name])
            require(same, "POLICY_MISMATCH", f"the {name} of the policy is {stated!r}")
        self.policies.append(policy)
        for rule in policy.rules.values():
            self.by_head.setdefault(rule.sign, []).append(rule)
        first, last = interval(record["effective"])
        day = self.certificate["valid_on"]
        if day is not None and not (first or day) <= day < (last or "9999-99-99"):
            applies = self.certificate["code"] == "OUT_OF_SCOPE"
            require(applies, "POLICY_MISMATCH", f"the policy does not apply on {day}")
            self.out_of_scope = True

    def _check_rule(self, name: str, record: Json) -> None:
        rule = next((p.rules[name] for p in self.policies if name in p.rules), None)
        rule = rule or built_in_rule(name)
        if rule is None:
            reject("RULE_MISMATCH", "no policy of the certificate has this rule")
        stated = {"clause": rule.tree, "text": rule.text, "cite": rule.cite, "says": rule.says}
        for key, value in stated.items():
            same = value in (None, record[key])
            require(same, "RULE_MISMATCH", f"the policy states the {key} differently")
        self.rules[name] = rule

    def check_goal(self, expected: str | None) -> None:
        """Read the goal and compare it with the expected one, up to names of variables."""
        self.where, goal = "goal", self.certificate["goal"]
        self.goal_sign, self.goal, tree = read_atom(goal, "GOAL_MISMATCH")
        require(written(tree) == goal, "NOT_CANONICAL", f"the canonical form is {written(tree)}")
        self.goal_tree, self.is_ground = tree, None not in self.goal
        if expected is None:
            self.not_given.append("the text of the expected goal")
            return
        same = _renamed(read_atom(expected, "GOAL_MISMATCH")[2]) == _renamed(tree)
        require(same, "GOAL_MISMATCH", f"the goal is {goal}, expected {expected}")
        self.checked.append("the goal is the expected one")

    def check_retractions(self) -> None:
        """Read what the request leaves out; nothing of it is cited, and no lookup shows it."""
        self.where = "retractions"
        if "retractions" not in self.certificate:
            return
        found = [(item["statement"], item["atom"]) for item in self.certificate["retractions"]]
        if not found or found != sorted(set(found)):
            reject("NOT_CANONICAL", "retractions are not sorted, repeated or none")
        for index, (statement, atom) in enumerate(found):
            self.retracted.append(self.ground(atom, f"retractions/{index}"))
            names = {statement, f"st:{digest_of(atom)[:32]}"}
            cited = names & self.certificate["statements"].keys()
            require(not cited, "LEAF_MISMATCH", f"{atom} is retracted, and cited")
        self.checked.append(f"nothing rests on what the request leaves out ({len(found)})")


def is_term(term: str) -> bool:
    """Whether a text is a ground term in its canonical form."""
    try:
        return in_form(term) == term
    except ValueError:
        return False


def _renamed(tree: Json) -> str:
    """Write an atom with its variables named in order."""
    names: dict[str, str] = {}
    for item in tree["arguments"]:
        if "variable" in item:
            names.setdefault(item["variable"], f"V{len(names)}")
    return write({**tree}, names)


def interval(effective: str) -> tuple[str | None, str | None]:
    """Read `START/END`, `..` for an open side, as two days; raises ValueError for others."""
    first, last = (None if day == ".." else day for day in effective.split("/"))
    for day in (first, last):
        if day is not None and str(read_day(day)) != day:
            raise ValueError(f"{day!r} is no day in the form YYYY-MM-DD")
    return first, last
