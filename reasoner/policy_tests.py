"""Tests of a policy: facts, a day and a goal, with the verdict expected (`NAME.test.yaml`).

    tests:
      - name: an insured supplier is approved
        valid_on: 2026-06-01
        facts: |
          liability_cover("Acme", @quantity("5000000 EUR")).
        goal: insured("Acme")
        verdict: CERTIFIED
      - name: without a cover the cover is asked for
        goal: insured("Acme")
        verdict: ABSTAINED
        code: GAP_IN_CORPUS
        open:
          - liability_cover("Acme", C)

`facts` beside `tests` holds for all of them. `code`, `answers` and `open` are compared where given:
`answers` in full, `open` with the open requirements the verdict must name, variables matching any.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import yaml
from rapidfuzz import fuzz, process

from .atom import Atom, Variable
from .clause import Policy
from .decide import Decision, Request, decide
from .errors import Finding, GoalRejected, PolicyRejected, ReasonerError
from .policy import parse_atom, parse_facts
from .sources import facts_file_sources
from .verdict import AbstentionCode, Verdict
from .verify import NEVER_STATED

_KEYS = ("name", "facts", "valid_on", "goal", "verdict", "code", "answers", "open")


@dataclass(frozen=True, slots=True)
class PolicyTest:
    """One expectation. `answers` and `open` are None where any will do."""

    name: str
    facts: str
    valid_on: datetime.date | None
    goal: Atom
    verdict: Verdict
    code: AbstentionCode | None = None
    answers: tuple[Atom, ...] | None = None
    open: tuple[Atom, ...] | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class PolicyTestResult:
    """What came of a test; `detail` says what differs, one sentence for each difference."""

    name: str
    passed: bool
    detail: str


Decide = Callable[[Policy, PolicyTest], Decision]


def decide_test(policy: Policy, test: PolicyTest) -> Decision:
    """Decide the goal of a test from its facts alone.

    What no source can state, such as who stated something (`stated_by`), is assumed.
    """
    text, assumed = test.facts, []
    for line in parse_facts(text, name=test.name):
        if "{}/{}".format(*line.atom.signature) in NEVER_STATED:
            assumed.append(line.atom)
            blank = " " * (line.end - line.start)
            text = text[: line.start] + blank + text[line.end :]
    facts, sources = facts_file_sources((test.name, text))
    request = Request(goal=test.goal, valid_on=test.valid_on, assumptions=tuple(assumed))
    return decide(request, policy=policy, facts=facts, sources=sources)


def run_tests(
    policy: Policy, text: str, *, name: str, decide: Decide = decide_test
) -> tuple[PolicyTestResult, ...]:
    """Run the tests of a file, in its order; `name` stands for it in messages.

    A test whose facts or goal the policy rejects fails, naming the error. Raises PolicyRejected
    with every error of the file itself.
    """
    return tuple(_run(policy, test, decide) for test in read_tests(text, name=name))


def _run(policy: Policy, test: PolicyTest, decide: Decide) -> PolicyTestResult:
    try:
        found = decide(policy, test)
    except ReasonerError as error:
        return PolicyTestResult(test.name, False, f"{error}")
    differences = _differences(test, found)
    return PolicyTestResult(test.name, not differences, "; ".join(differences))


def _differences(test: PolicyTest, found: Decision) -> list[str]:
    differences: list[str] = []
    if found.verdict is not test.verdict:
        code = f" ({found.code.value})" if found.code is not None else ""
        differences.append(f"expected {test.verdict.value}, found {found.verdict.value}{code}")
    elif test.code is not None and found.code is not test.code:
        differences.append(
            f"expected {test.code.value}, found {found.code.value if found.code else 'no code'}"
        )
    if test.answers is not None:
        expected, answers = set(test.answers), set(found.answers)
        differences += [f"missing answer {a}" for a in sorted(map(str, expected - answers))]
        differences += [f"unexpected answer {a}" for a in sorted(map(str, answers - expected))]
    for pattern in test.open or ():
        atoms = [parse_atom(item.atom) for item in found.open if _is_atom(item.atom)]
        if not any(_matches(pattern, atom) for atom in atoms):
            named = ", ".join(item.atom for item in found.open) or "none"
            differences.append(f"missing open requirement {pattern}; found {named}")
    return differences


def _is_atom(text: str) -> bool:
    try:
        parse_atom(text)
    except GoalRejected:
        return False
    return True


def _matches(pattern: Atom, atom: Atom) -> bool:
    """Whether an atom is the pattern, any variable of the pattern standing for anything."""
    return pattern.signature == atom.signature and all(
        isinstance(mine, Variable) or mine == theirs
        for mine, theirs in zip(pattern.arguments, atom.arguments, strict=True)
    )


class _Reader:
    """Reads the file, keeping every finding."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.names: dict[str, int] = {}

    def report(self, node: yaml.Node, message: str) -> None:
        mark = node.start_mark
        self.findings.append(Finding(mark.line + 1, mark.column + 1, "policy_test", message))

    def mapping(self, node: yaml.Node, keys: Sequence[str], what: str) -> dict[str, yaml.Node]:
        """Read a mapping with known keys."""
        if not isinstance(node, yaml.MappingNode):
            self.report(node, f"{what} is no mapping; expected the keys {', '.join(keys)}")
            return {}
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = str(key.value)
            if name not in keys:
                near = process.extractOne(name, keys, scorer=fuzz.ratio, score_cutoff=60)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                self.report(key, f"{name!r} is no key of {what}{hint}")
            elif name in found:
                self.report(key, f"{name!r} is given twice")
            else:
                found[name] = value
        return found

    def text(self, node: yaml.Node | None) -> str | None:
        if node is None:
            return None
        if isinstance(node, yaml.ScalarNode):
            return str(node.value)
        self.report(node, "expected one text")
        return None

    def atom(self, node: yaml.Node | None) -> Atom | None:
        text = self.text(node)
        if text is None or node is None:
            return None
        try:
            return parse_atom(text)
        except GoalRejected as error:
            self.report(node, str(error))
            return None

    def atoms(self, node: yaml.Node | None) -> tuple[Atom, ...] | None:
        if node is None:
            return None
        if not isinstance(node, yaml.SequenceNode):
            self.report(node, "expected a list of atoms")
            return None
        found = [self.atom(item) for item in node.value]
        return tuple(atom for atom in found if atom is not None)

    def day(self, node: yaml.Node | None) -> datetime.date | None:
        text = self.text(node)
        if text is None or node is None:
            return None
        try:
            return datetime.date.fromisoformat(text)
        except ValueError:
            self.report(node, f"{text!r} is no day; expected such as 2026-06-01")
            return None

    def verdict(self, node: yaml.Node | None) -> Verdict | None:
        text = self.text(node)
        if text is None or node is None:
            return None
        names = [verdict.value for verdict in Verdict]
        if text.upper() not in names:
            self.report(node, f"{text!r} is no verdict; expected {', '.join(names)}")
            return None
        return Verdict(text.upper())

    def code(self, node: yaml.Node | None) -> AbstentionCode | None:
        text = self.text(node)
        if text is None or node is None:
            return None
        names = [code.value for code in AbstentionCode]
        if text.upper() not in names:
            self.report(node, f"{text!r} is no code; expected one of {', '.join(names)}")
            return None
        return AbstentionCode(text.upper())

    def test(self, node: yaml.Node, shared: str) -> PolicyTest | None:
        values = self.mapping(node, _KEYS, "a test")
        for key in ("goal", "verdict"):
            if values and key not in values:
                self.report(node, f"the test has no {key}")
        goal, verdict = self.atom(values.get("goal")), self.verdict(values.get("verdict"))
        name = self.text(values.get("name")) or (str(goal) if goal is not None else "")
        if name and name in self.names:
            self.report(node, f"the test {name!r} has its name already at line {self.names[name]}")
        line = node.start_mark.line + 1
        self.names.setdefault(name, line)
        code, answers = self.code(values.get("code")), self.atoms(values.get("answers"))
        open_, day = self.atoms(values.get("open")), self.day(values.get("valid_on"))
        facts = shared + (self.text(values.get("facts")) or "")
        if goal is None or verdict is None:
            return None
        return PolicyTest(name, facts, day, goal, verdict, code, answers, open_, line)


def read_tests(text: str, *, name: str) -> tuple[PolicyTest, ...]:
    """Read a file of tests. Raises PolicyRejected with every error."""
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        finding = Finding(line, column, "policy_test", f"the file is no YAML: {error.problem}")
        raise PolicyRejected(name, (finding,)) from error
    except yaml.YAMLError as error:
        finding = Finding(1, 1, "policy_test", f"the file is no YAML: {error}")
        raise PolicyRejected(name, (finding,)) from error
    reader = _Reader()
    shared = ""
    tests: yaml.Node | None = root
    if isinstance(root, yaml.MappingNode):
        values = reader.mapping(root, ("facts", "tests"), "the file")
        shared = reader.text(values.get("facts")) or ""
        tests = values.get("tests")
    found: list[PolicyTest] = []
    if isinstance(tests, yaml.SequenceNode) and tests.value:
        found = [t for node in tests.value if (t := reader.test(node, shared)) is not None]
    elif not reader.findings:
        finding = Finding(1, 1, "policy_test", "the file holds no tests; expected a list `tests`")
        reader.findings.append(finding)
    if reader.findings:
        raise PolicyRejected(name, tuple(sorted(reader.findings)))
    return tuple(found)
