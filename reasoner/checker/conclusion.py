"""The conclusion: verdict, conflicts and open requirements, and that nothing is there unneeded."""

from __future__ import annotations

from collections.abc import Iterable

from .arithmetic import Tree
from .calls import Call
from .case import Case
from .format import CODES, Json, Rejected, reject, require
from .language import Unreadable
from .rules import (
    DECIDED_BY_ORDER,
    PRELUDE_HEADS,
    Arguments,
    Bindings,
    Planned,
    agrees,
    arguments,
    complement,
    match,
    names_in,
    read_atom,
    signature,
    write_call,
)
from .sources import digest_of
from .values import TRUE, compare, value_of, write_text
from .walk import Answers, Outcomes, Task, walk
from .witness import Witness


def check_verdict(case: Case, witness: Witness) -> None:
    """Compare the verdict with what was derived."""
    certificate = case.certificate
    verdict, code, answers = (certificate[key] for key in ("verdict", "code", "answers"))
    texts = [answer["atom"] for answer in answers]
    if texts != sorted(set(texts)):
        reject("NOT_CANONICAL", "answers", "the answers are not sorted, or repeated")
    _check_answers(case, "answers", case.opposite if verdict == "REFUTED" else case.goal_sign)
    _check_answers(case, "refuted", case.opposite)
    for section, calls in certificate["witness"].items():
        for index, call in enumerate(calls):
            for answer in call["answers" if section != "contested" else "sides"]:
                if case.atoms.get(answer["step"]) != answer["atom"]:
                    message = f"step {answer['step']} does not prove {answer['atom']}"
                    reject("WITNESS_UNPROVED", f"witness/{section}/{index}", message)
    _check_contested(case)
    if verdict == "CERTIFIED" and not case.is_ground and certificate["complete"]:
        case.trust("that the goal has no other answers than these")
    refuted = {item["atom"] for item in certificate["refuted"]}
    if any(complement(text) in refuted for text in texts):
        reject("VERDICT_MISMATCH", "refuted", "an answer is refuted as well")
    one = len(answers) == 1 and not certificate["open"]
    expected = {
        "CERTIFIED": one or (answers and not case.is_ground),
        "REFUTED": one and case.is_ground,
        "ABSTAINED": not answers,
    }
    require(expected[verdict], "VERDICT_MISMATCH", "answers", f"not the answers of {verdict}")
    if (code is None) == (verdict == "ABSTAINED"):
        reject("VERDICT_MISMATCH", "code", "abstentions have a code, and nothing else has")
    if verdict == "ABSTAINED":
        _check_abstention(case, witness, code)
    if not certificate["complete"] and case.is_ground and code != "BUDGET":
        reject("VERDICT_MISMATCH", "complete", "nothing was cut")
    _check_open(case, witness)


def _check_answers(case: Case, section: str, expected: str) -> None:
    for answer in case.certificate[section]:
        atom = answer["atom"]
        sign, row = case.ground(atom, section)
        if sign != expected or match(case.goal_tree, row, {}) is None:
            reject("GOAL_MISMATCH", section, f"{atom} is no answer to the goal")
        if case.atoms.get(answer["step"]) != atom:
            message = f"step {answer['step']} does not prove {atom}"
            reject("VERDICT_MISMATCH", section, message)


def _check_abstention(case: Case, witness: Witness, code: str) -> None:
    certificate = case.certificate
    codes = [item["code"] for item in certificate["open"]]
    if not codes or min(codes, key=CODES.index) != code:
        reject("OPEN_MISMATCH", "code", "the code is not the first of the open requirements")
    if (code == "BUDGET") == certificate["complete"]:
        reject("VERDICT_MISMATCH", "complete", "a budget cut the search, or it did not")
    if (code == "OUT_OF_SCOPE") != case.out_of_scope:
        reject("VERDICT_MISMATCH", "code", "the policy applies on this day, or it does not")
    if code == "BUDGET":
        case.checked.append("nothing is concluded: the budget was used up")
        return
    if code == "OUT_OF_SCOPE":
        case.checked.append("the policy does not apply on this day")
        return
    witness.where = "witness"
    rows = witness.rows(case.goal_sign, case.goal, positive=True)
    if any(sure and match(case.goal_tree, row, {}) is not None for row, sure in rows):
        reject("VERDICT_MISMATCH", "witness", "the witness has an answer to the goal")
    _check_not_refuted(case, witness)
    if code == "UNDETERMINED" and not witness.undetermined:
        reject("VERDICT_MISMATCH", "code", "no comparison is undetermined")
    if (code == "CONFLICT") != bool(witness.masked):
        reject("VERDICT_MISMATCH", "code", "a conflict has its two sides")
    case.checked.append("the goal does not follow from these facts under these rules")


def _check_not_refuted(case: Case, witness: Witness) -> None:
    """No rule, and no fact at hand, gives the complement of the goal, but for what is listed."""
    found = [row for file in case.facts_files().values() for row in file.rows.of(case.opposite)]
    if any(case.opposite in policy.uses for policy in case.policies):
        rows = witness.rows(case.opposite, case.goal, positive=True)
        found += [row for row, sure in rows if sure]
    listed = {item["atom"] for item in case.certificate["refuted"] if not case.is_ground}
    named = [case.ground(atom, "refuted")[1] for atom in sorted(listed)]
    for row in found:
        atom = write_call(case.opposite, row)
        if match(case.goal_tree, row, {}) is None or witness.is_masked(case.opposite, row):
            continue
        is_listed = atom in listed or any(_is_renamed(witness, row, other) for other in named)
        require(is_listed, "VERDICT_MISMATCH", "refuted", f"{atom} holds; it is not listed")


def _is_renamed(witness: Witness, row: Arguments, listed: Arguments) -> bool:
    """Whether a row is a listed one under other names, by the calls that are shown."""
    return all(
        one == other
        or (
            witness.covering("alias/2", (other, None)) is not None
            and any(
                sure and found[1] == one for found, sure in witness.rows("alias/2", (other, None))
            )
        )
        for one, other in zip(row, listed, strict=True)
    )


def _check_contested(case: Case) -> None:
    """The two sides of each conflict contradict each other."""
    for index, item in enumerate(case.certificate["witness"]["contested"]):
        where = f"witness/contested/{index}"
        (sign, row), (other, other_row) = (case.ground(s["atom"], where) for s in item["sides"])
        reason, _, name = item["reason"].partition(" ")
        holds = False
        match_ends = row[:-1] == other_row[:-1] and row != other_row
        if reason == "denied":
            holds = row == other_row and sign == complement(other)
        elif reason == "functional" and sign == other == f"{name}/2" and match_ends:
            values = value_of(str(row[1])), value_of(str(other_row[1]))
            holds = compare("=", *values) != TRUE
            if not any(name in policy.functional for policy in case.policies):
                case.trust(f"that the dimension {name} has one value at a time")
        elif reason == "disjoint" and sign == other and match_ends:
            holds, sides = True, {row[-1], other_row[-1]}
            pairs = [pair for policy in case.policies for pair in policy.disjoint]
            if sides not in [set(map(write_text, pair)) for pair in pairs]:
                case.trust(f"that {row[-1]} and {other_row[-1]} are disjoint")
        require(holds, "OPEN_MISMATCH", where, "the two sides do not contradict each other")


def _check_open(case: Case, witness: Witness) -> None:
    """What is open has no answer: or, of an absence, has one."""
    certificate, seen = case.certificate, set[str]()
    for index, item in enumerate(certificate["open"]):
        where, atom, rule, code = f"open/{index}", item["atom"], item["rule"], item["code"]
        digest = digest_of(f"{atom}\n{rule}")
        if item["id"] != f"or:{digest[:16]}" or item["id"] in seen:
            reject("OPEN_MISMATCH", f"{where}/id", "not the digest of the requirement")
        seen.add(item["id"])
        known = not rule or rule in case.rules or any(rule in p.rules for p in case.policies)
        known = known or any(rule == r.id for r in case.by_head.get(case.goal_sign, ()))
        require(known, "UNKNOWN_REFERENCE", f"{where}/rule", f"no rule is named {rule!r}")
        for name in item["conflicting"]:
            case.use("statements", name)
            if name not in certificate["statements"]:
                reject("UNKNOWN_REFERENCE", where, f"no statement {name!r}")
        if certificate["code"] in ("BUDGET", "OUT_OF_SCOPE"):
            continue
        if code == "UNDETERMINED":
            found = atom in witness.undetermined
            require(found, "OPEN_MISMATCH", where, f"{atom} is not undetermined")
            continue
        if code == "GAP_IN_CORPUS" and atom in witness.unsourced:
            continue  # an aggregate
        _check_requirement(case, witness, item, where)


def _check_requirement(case: Case, witness: Witness, item: Json, where: str) -> None:
    absent = item["atom"].removeprefix("not ")
    try:
        sign, row, tree = read_atom(absent)
    except Unreadable as error:
        reject("OPEN_MISMATCH", where, f"{item['atom']} is no atom: {error}")
    if item["code"] == "CONFLICT":
        contested = (sign, row) in witness.masked
        require(contested, "OPEN_MISMATCH", where, f"{item['atom']} is not contested")
        return
    if case.certificate["verdict"] != "ABSTAINED":
        reject("OPEN_MISMATCH", where, "only conflicts stay open beside answers")
    witness.where = where
    if absent != item["atom"] and item["code"] == "GAP_IN_CORPUS":
        lacks = (sign, row) in witness.unsourced_calls
        require(lacks, "OPEN_MISMATCH", where, f"no source that {absent} needs is absent")
        return
    rows = [sure for found, sure in witness.rows(sign, row) if match(tree, found, {}) is not None]
    if absent != item["atom"]:  # also what merely may hold stands in the way
        rules = [p.rules[item["rule"]] for p in case.policies if item["rule"] in p.rules]
        reads = [part.sign for rule in rules for part in rule.body if part.kind == "absent"]
        is_open = bool(rows) and sign in reads
        require(is_open, "OPEN_MISMATCH", where, f"no rule waits for the absence of {absent}")
    elif any(rows):
        _check_refused(case, witness, item, sign, row, where)


_MOST_ROWS = 100_000
"""Rows that a walk for what is open may read, before the refusal is trusted."""


def _check_refused(
    case: Case, witness: Witness, item: Json, sign: str, pattern: Arguments, where: str
) -> None:
    """What is answered is open only for a rule that refuses the answers.

    The rule is walked with open variables where something else is missing: from the calls that the
    witness shows, and from the open atom alone, when its test may depend on a call that is not
    shown. Where that cannot be seen, or takes too long, the refusal is trusted, and reported so.
    """
    rules = [p.rules[item["rule"]] for p in case.policies if item["rule"] in p.rules]
    is_refused = is_unseen = is_partial = is_general = False
    budget = _MOST_ROWS

    def given(tree: Tree, bindings: Bindings) -> bool:
        """Whether an atom of the rule, as far as it is bound, is the one said to be open."""
        row = arguments(tree, bindings)
        return signature(tree) == sign and all(
            None in pair or pair[0] == pair[1] for pair in zip(pattern, row, strict=True)
        )

    def may_refuse(task: Task, other: str) -> bool:
        """Whether an atom that rules or the order of values decide is about what is open."""
        concluded = other not in PRELUDE_HEADS and any(other in p.uses for p in case.policies)
        if other not in DECIDED_BY_ORDER and not concluded:
            return False
        names = task.plan[task.at].literal.names & task.bindings.keys()
        return any(names & names_in(tree) and given(tree, task.bindings) for tree in parts)

    def read(task: Task, other: str, args: Arguments) -> Answers:
        nonlocal is_refused, is_unseen, is_partial, budget
        is_asked = may_refuse(task, other)
        entry = [row for _, row in task.read if other == "stated_by/4" and args[0] in row]
        if is_refused or budget < 0 or witness.covering(other, args) is None:
            is_partial, is_unseen = True, is_unseen or budget < 0 or bool(entry) or is_asked
            return [(args, True)] if budget >= 0 and not is_refused else []
        rows = [pair for pair in witness.rows(other, args) if pair[1]]
        budget -= len(rows)
        # Stated in another kind of document, of another class, or what no rule concludes of it.
        is_refused = is_refused or (not rows and (bool(entry) or is_asked))
        return rows or [(args, True)]

    def test(planned: Planned, bindings: Bindings) -> Outcomes:
        nonlocal is_refused, is_unseen
        literal = planned.literal
        atoms = [rule.head, *(part.tree for part in literal.conditions if part.sign)]
        atoms += [tree for tree in parts if literal.names & names_in(tree)]
        if is_general and literal.names & rule.head_names and literal.kind != "absent":
            is_unseen = is_unseen or any(given(tree, bindings) for tree in atoms)
        if not (literal.names | planned.shared) - {planned.assigns} <= bindings.keys():
            is_unseen = is_unseen or (is_partial and any(given(tree, bindings) for tree in atoms))
            return [(bindings, True)]
        try:
            outcomes = list(witness.test(planned, bindings))
        except Rejected:  # it reads calls that are not there
            concerns = literal.kind != "absent" and any(given(tree, bindings) for tree in atoms)
            is_unseen = is_unseen or concerns
            return [(bindings, True)]
        if planned.assigns and any(sure for _, sure in outcomes):
            return outcomes
        if literal.kind != "absent" and not any(sure for _, sure in outcomes):
            is_refused = is_refused or any(given(tree, bindings) for tree in atoms)
        return [(bindings, True)]

    for rule in rules:
        parts = [literal.tree for literal in rule.body if literal.kind == "positive"]
        inner = [part.tree for literal in rule.body for part in literal.conditions if part.sign]
        if not any(given(tree, {}) for tree in (rule.head, *parts, *inner)):
            continue
        shown = [rule.called(d.pattern) for d in witness.demands if d.sign == rule.sign]
        asked = [
            match(tree, pattern, {}) for tree in (rule.head, *parts) if signature(tree) == sign
        ]
        asked += [{} for tree in inner if signature(tree) == sign]
        is_general = False
        for starts in (shown, asked):
            tasks = [Task(rule, ("", ()), rule.plan(s), 0, s) for s in starts if s is not None]
            for _ in walk(tasks, read, test):
                pass
            is_general = True
    if not is_refused:
        message = f"{item['atom']} has an answer, which no test of the rule refuses"
        require(is_unseen, "OPEN_MISMATCH", where, message)
        case.trust(f"that the rule {item['rule']} has no use for what answers {item['atom']}")


# ---------------------------------------------------------------- use


def check_use(case: Case, witness: Witness) -> None:
    """Reject every step, rule, statement, source, assumption or call that nothing needs."""
    certificate = case.certificate
    given = certificate["witness"]
    roots = [certificate["answers"], certificate["refuted"]]
    roots += [call["answers"] for call in (*given["demands"], *given["lookups"])]
    roots += [item["sides"] for item in given["contested"]]
    used = {answer["step"] for answers in roots for answer in answers}
    seen = set()
    for step in reversed(certificate["steps"]):
        where = f"steps/{step['id']}"
        if step["id"] not in used:
            reject("UNUSED", where, f"nothing needs step {step['id']}")
        used.update(step["premises"])
        if "statement" in step:
            case.use("statements", step["statement"])
        elif step["kind"] == "assumed":
            case.use("assumptions", step["conclusion"])
        key = (step["kind"], step["conclusion"], step.get("rule"), *step["premises"])
        if key in seen:
            reject("UNUSED", where, f"{step['conclusion']} is proved twice")
        seen.add(key)
    for section in ("statements", "rules", "sources", "assumptions"):
        if section != "assumptions" or certificate["verdict"] != "ABSTAINED":
            _require_all(case, section, certificate[section])
    assumptions = certificate["assumptions"]
    if assumptions != sorted(set(assumptions)):
        reject("NOT_CANONICAL", "assumptions", "the assumptions are not sorted, or repeated")
    for atom in assumptions:
        case.ground(atom, "assumptions")
    read = {(call.sign, call.pattern) for call in witness.demands if call.is_used}
    for call in (*witness.demands, *witness.lookups):
        is_root = call.sign == case.goal_sign and agrees(call.pattern, case.goal)
        is_root = is_root or _names_an_answer(case, call)
        if not (call.is_used or (call.sign, call.pattern) in read or is_root):
            reject("UNUSED", call.where, "nothing reads this call")
    for sign in sorted(witness.closed_used):
        case.trust(f"that the named source is complete for {sign}, as the policy declares")
    case.checked.append("nothing is there that nothing needs")


def _names_an_answer(case: Case, call: Call) -> bool:
    """Whether a call gives the other names of something that an open goal found."""
    answers = [*case.certificate["answers"], *case.certificate["refuted"]]
    return (
        call.sign == "alias/2"
        and call.pattern[1] is None
        and not case.is_ground
        and any(call.pattern[0] in case.ground(item["atom"], "answers")[1] for item in answers)
    )


def _require_all(case: Case, section: str, listed: Iterable[str]) -> None:
    for name in listed:
        if name not in case.used.get(section, ()):
            reject("UNUSED", f"{section}/{name}", f"nothing needs {name}")
