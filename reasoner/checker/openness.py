"""What is open: without an answer, or with one that its rule refuses."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .arithmetic import Tree
from .case import Case
from .format import Json, Rejected, require
from .rules import (
    DECIDED_BY_ORDER,
    PRELUDE_HEADS,
    Arguments,
    Bindings,
    Ground,
    Planned,
    Rule,
    arguments,
    complement,
    match,
    names_in,
    read_atom,
    signature,
    written,
)
from .sources import digest_of
from .walk import Answers, Outcomes, Task, walk
from .witness import Witness


def check_open(case: Case, witness: Witness) -> None:
    """What is open has no answer: or, of an absence, has one."""
    certificate, seen = case.certificate, set[str]()
    for index, item in enumerate(certificate["open"]):
        case.where, atom, rule = f"open/{index}", item["atom"], item["rule"]
        digest = digest_of(f"{atom}\n{rule}")
        is_id = item["id"] == f"or:{digest[:16]}" and item["id"] not in seen
        require(is_id, "OPEN_MISMATCH", "the id is not the digest of the requirement")
        seen.add(item["id"])
        known = not rule or rule in case.rules or any(rule in p.rules for p in case.policies)
        known = known or any(rule == r.id for r in case.by_head.get(case.goal_sign, ()))
        require(known, "UNKNOWN_REFERENCE", f"no rule is named {rule!r}")
        for name in item["conflicting"]:
            case.use("statements", name)
            given = name in certificate["statements"]
            require(given, "UNKNOWN_REFERENCE", f"no statement {name!r}")
        if certificate["code"] == "BUDGET" or case.out_of_scope:
            continue
        if item["code"] == "UNDETERMINED":
            found = atom in witness.undetermined
            require(found, "OPEN_MISMATCH", f"{atom} is not undetermined")
            continue
        if item["code"] == "GAP_IN_CORPUS" and atom in witness.unsourced:
            continue  # an aggregate
        _check_requirement(case, witness, item)


def _check_requirement(case: Case, witness: Witness, item: Json) -> None:
    atom = item["atom"]
    absent = atom.removeprefix("not ")
    sign, row, tree = read_atom(absent, "OPEN_MISMATCH")
    require(written(tree) == absent, "NOT_CANONICAL", f"the canonical form is {written(tree)}")
    if item["code"] == "CONFLICT":
        require((sign, row) in witness.masked, "OPEN_MISMATCH", f"{atom} is not contested")
        return
    is_abstained = case.certificate["verdict"] == "ABSTAINED"
    require(is_abstained, "OPEN_MISMATCH", "only conflicts stay open beside answers")
    if absent != atom and item["code"] == "GAP_IN_CORPUS":
        lacks = (sign, row) in witness.unsourced_calls
        require(lacks, "OPEN_MISMATCH", f"no source that {absent} needs is absent")
        return
    rows = [sure for found, sure in witness.rows(sign, row) if match(tree, found, {}) is not None]
    rules = [p.rules[item["rule"]] for p in case.policies if item["rule"] in p.rules]
    if item["code"] == "OUT_OF_SCOPE":
        _check_outside(case, witness, sign, rules)
    if absent != atom:  # also what merely may hold stands in the way
        reads = [part.sign for rule in rules for part in rule.body if part.kind == "absent"]
        is_open = rows and sign in reads
        require(is_open, "OPEN_MISMATCH", f"no rule waits for the absence of {absent}")
    elif any(rows):
        refusal = Refusal(case, witness, (sign, row))
        for rule in rules:
            refusal.search(rule)
        if not refusal.is_found:
            message = f"{atom} has an answer, which no test of the rule refuses"
            require(refusal.is_unseen, "OPEN_MISMATCH", message)
            case.trust(f"that the rule {item['rule']} has no use for what answers {atom}")


def _check_outside(case: Case, witness: Witness, sign: str, rules: Iterable[Rule]) -> None:
    """Nothing at hand covers a predicate that is said to be covered by nothing, or a class."""
    classes = {
        str(arguments(literal.tree, {})[1])
        for rule in rules
        for literal in rule.body
        if literal.sign == "under/2"
    }
    known = {
        term
        for item in witness.lookups
        if item.sign == "subclass_of/2"
        for row in item.rows
        for term in row
    }
    unknown = sorted(classes - known - {"None"})
    signs = {sign, complement(sign)}
    stated = any(item.sign in signs and item.rows for item in witness.lookups)
    covered = stated or any(signs & {*p.uses, *p.closed} for p in case.policies)
    require(unknown or not covered, "OPEN_MISMATCH", f"{sign} is covered by a rule or a source")
    what = f"a taxonomy holds {' or '.join(unknown)}" if covered else f"a dimension gives {sign}"
    case.trust(f"that it is not so that {what}")


_MOST_ROWS = 100_000
"""Rows that a walk for what is open may read, before the refusal is trusted."""


class Refusal:
    """The search for a test by which a rule refuses what answers an open atom.

    The rule is walked with open variables where something else is missing: from the calls that the
    witness shows, and from the open atom alone (`is_general`), when its test may depend on a call
    that is not shown. Where that cannot be seen, or takes too long, the refusal `is_unseen`.
    """

    def __init__(self, case: Case, witness: Witness, atom: Ground) -> None:
        self.case, self.witness, (self.sign, self.pattern) = case, witness, atom
        self.is_found = self.is_unseen = self.is_partial = self.is_general = False
        self.budget = _MOST_ROWS

    def search(self, rule: Rule) -> None:
        """Walk a rule in both ways."""
        self.rule = rule
        self.parts = [literal.tree for literal in rule.body if literal.kind == "positive"]
        self.inner = [part.tree for item in rule.body for part in item.conditions if part.sign]
        outer = (rule.head, *self.parts)
        if not self._concerns((*outer, *self.inner), {}):
            return
        shown = [rule.called(d.pattern) for d in self.witness.demands if d.sign == rule.sign]
        asked = [match(tree, self.pattern, {}) for tree in outer if signature(tree) == self.sign]
        names = set().union(*map(names_in, outer))  # others are local to an aggregate
        for tree in self.inner:
            found = match(tree, self.pattern, {}) if signature(tree) == self.sign else None
            if found is not None:
                asked.append({name: found[name] for name in names & found.keys()})
        for starts, self.is_general in ((shown, False), (asked, True)):
            tasks = [Task(rule, ("", ()), rule.plan(s), 0, s) for s in starts if s is not None]
            for _ in walk(tasks, self._read, self._test):
                pass

    def _concerns(self, trees: Iterable[Tree], bindings: Bindings) -> bool:
        """Whether one of some atoms, as far as it is bound, is the one said to be open."""
        return any(
            all(None in pair or pair[0] == pair[1] for pair in zip(self.pattern, row, strict=True))
            for row in (arguments(tree, bindings) for tree in trees if signature(tree) == self.sign)
        )

    def _reading(self, names: Collection[str]) -> list[Tree]:
        """Give the atoms of the body that hold one of some names."""
        return [tree for tree in self.parts if not names_in(tree).isdisjoint(names)]

    def _may_refuse(self, task: Task, sign: str) -> bool:
        """Whether an atom that rules or the order of values decide is about what is open."""
        concluded = any(sign in policy.uses for policy in self.case.policies)
        if sign not in DECIDED_BY_ORDER and (sign in PRELUDE_HEADS or not concluded):
            return False
        names = task.plan[task.at].literal.names & task.bindings.keys()
        return self._concerns(self._reading(names), task.bindings)

    def _read(self, task: Task, sign: str, args: Arguments) -> Answers:
        decides = self._may_refuse(task, sign)
        # Stated in another kind of document, of another class, or what no rule concludes of it.
        decides = decides or any(sign == "stated_by/4" and args[0] in row for _, row in task.read)
        is_over = self.is_found or self.budget < 0
        if is_over or self.witness.covering(sign, args) is None:
            self.is_partial = True
            self.is_unseen |= decides or self.budget < 0
            return [] if is_over else [(args, True)]
        literal = task.plan[task.at].literal
        answers = [row for row, sure in self.witness.rows(sign, args) if sure]
        self.budget -= len(answers)
        # A variable that is open twice has one value.
        rows = [
            (row, True) for row in answers if match(literal.tree, row, task.bindings) is not None
        ]
        self.is_found |= decides and not rows
        if self.is_general and decides and literal.names & self.rule.head_names:
            self.is_unseen = True  # a call that binds more may have no row
        return rows or [(args, True)]

    def _test(self, planned: Planned, bindings: Bindings) -> Outcomes:
        literal = planned.literal
        is_test = literal.kind != "absent"
        conditions = [part.tree for part in literal.conditions if part.sign]
        atoms = (self.rule.head, *conditions, *self._reading(literal.names))
        concerns, unbound = self._concerns(atoms, bindings), [(bindings, True)]
        names = literal.names | planned.shared
        if self.is_general and is_test and names & self.rule.head_names:
            self.is_unseen |= concerns
        if not names - {planned.assigns} <= bindings.keys():
            self.is_unseen |= self.is_partial and concerns
            return unbound
        try:
            outcomes = list(self.witness.test(planned, bindings))
        except Rejected:  # it reads calls that are not there
            self.is_unseen |= is_test and concerns
            return unbound
        holds = any(sure for _, sure in outcomes)
        if planned.assigns and holds:
            return outcomes
        self.is_found |= is_test and not holds and concerns
        return unbound
