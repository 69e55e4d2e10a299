"""The conclusion: the verdict, its conflicts, and that nothing is there unneeded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .arithmetic import same_name
from .calls import Call
from .case import Case
from .format import CODES, Json, reject, require
from .rules import Arguments, agrees, complement, match, write_call
from .values import FALSE, TRUE, compare, value_of
from .walk import Rows, reached
from .witness import Witness


def check_verdict(case: Case, witness: Witness) -> None:
    """Compare the verdict with what was derived."""
    certificate = case.certificate
    verdict, code, answers = (certificate[key] for key in ("verdict", "code", "answers"))
    texts, case.where = [answer["atom"] for answer in answers], "answers"
    require(texts == sorted(set(texts)), "NOT_CANONICAL", "they are not sorted, or repeated")
    _check_answers(case, "answers", case.opposite if verdict == "REFUTED" else case.goal_sign)
    _check_answers(case, "refuted", case.opposite)
    for section, calls in certificate["witness"].items():
        for index, call in enumerate(calls):
            case.where = f"witness/{section}/{index}"
            for answer in call["answers" if section != "contested" else "sides"]:
                _require_proof(case, answer, "WITNESS_UNPROVED")
    _check_contested(case)
    if verdict == "CERTIFIED" and not case.is_ground and certificate["complete"]:
        case.trust("that the goal has no other answers than these")
    refuted, case.where = {item["atom"] for item in certificate["refuted"]}, "answers"
    both = refuted.intersection(map(complement, texts))
    require(not both, "VERDICT_MISMATCH", "an answer is refuted as well")
    one = len(answers) == 1 and not certificate["open"]
    expected = {
        "CERTIFIED": one or (answers and not case.is_ground),
        "REFUTED": one and case.is_ground,
        "ABSTAINED": not answers,
    }
    require(expected[verdict], "VERDICT_MISMATCH", f"not the answers of {verdict}")
    has_code, case.where = code is not None, "code"
    same = has_code == (verdict == "ABSTAINED")
    require(same, "VERDICT_MISMATCH", "abstentions have a code, and nothing else has")
    if verdict == "ABSTAINED":
        _check_abstention(case, witness, code)
    cut = certificate["complete"] or not case.is_ground or code == "BUDGET"
    require(cut, "VERDICT_MISMATCH", "it says that something was cut, and nothing was")
    case.where = "answers"
    _check_uncontested(case)


def _require_proof(case: Case, answer: Json, rejection: str) -> None:
    proved = case.atoms.get(answer["step"]) == answer["atom"]
    require(proved, rejection, f"step {answer['step']} does not prove {answer['atom']}")


def _check_answers(case: Case, section: str, expected: str) -> None:
    case.where = section
    for answer in case.certificate[section]:
        sign, row = case.ground(answer["atom"])
        is_answer = sign == expected and match(case.goal_tree, row, {}) is not None
        require(is_answer, "GOAL_MISMATCH", f"{answer['atom']} is no answer to the goal")
        _require_proof(case, answer, "VERDICT_MISMATCH")


def _check_abstention(case: Case, witness: Witness, code: str) -> None:
    certificate = case.certificate
    codes = [item["code"] for item in certificate["open"]]
    is_first = codes and min(codes, key=CODES.index) == code
    require(is_first, "OPEN_MISMATCH", "the code is not the first of the open requirements")
    is_cut = not certificate["complete"]
    require((code == "BUDGET") == is_cut, "VERDICT_MISMATCH", "a budget cut the search, or not")
    is_outside = code == "OUT_OF_SCOPE" or not case.out_of_scope
    require(is_outside, "VERDICT_MISMATCH", "the policy does not apply on this day")
    if code == "BUDGET":
        case.checked.append("nothing is concluded: the budget was used up")
        return
    if case.out_of_scope:
        case.checked.append("the policy does not apply on this day")
        return
    case.where = "witness"
    rows = witness.rows(case.goal_sign, case.goal, positive=True)
    answered = any(sure and match(case.goal_tree, row, {}) is not None for row, sure in rows)
    require(not answered, "VERDICT_MISMATCH", "the witness has an answer to the goal")
    _check_not_refuted(case, witness)
    doubt = code != "UNDETERMINED" or witness.undetermined
    require(doubt, "VERDICT_MISMATCH", "no comparison is undetermined")
    same = (code == "CONFLICT") == bool(witness.masked)
    require(same, "VERDICT_MISMATCH", "a conflict has its two sides")
    case.checked.append("the goal does not follow from these facts under these rules")


def _check_not_refuted(case: Case, witness: Witness) -> None:
    """No rule, and no fact at hand, gives the complement of the goal, but for what is listed."""
    found = [row for file in case.facts_files.values() for row in file.rows.of(case.opposite)]
    if any(case.opposite in policy.uses for policy in case.policies):
        rows = witness.rows(case.opposite, case.goal, positive=True)
        found += [row for row, sure in rows if sure]
    listed = [] if case.is_ground else [item["atom"] for item in case.certificate["refuted"]]
    named = [case.ground(atom)[1] for atom in listed]
    for row in found:
        if match(case.goal_tree, row, {}) is None or witness.is_masked(case.opposite, row):
            continue
        is_listed = any(_is_renamed(witness, row, other) for other in named)
        message = f"{write_call(case.opposite, row)} holds; it is not listed"
        require(is_listed, "VERDICT_MISMATCH", message)


def _is_renamed(witness: Witness, row: Arguments, listed: Arguments) -> bool:
    """Whether a row is a listed one, perhaps under other names, by the calls that are shown."""

    def names(term: str | None) -> list[str | None]:
        call = ("alias/2", (term, None))
        is_shown = witness.covering(*call) is not None
        return [found[1] for found, sure in witness.rows(*call) if sure] if is_shown else []

    return all(one == other or one in names(other) for one, other in zip(row, listed, strict=True))


def _check_contested(case: Case) -> None:
    """The two sides of each conflict contradict each other."""
    for index, item in enumerate(case.certificate["witness"]["contested"]):
        case.where = f"witness/contested/{index}"
        (sign, row), (other, other_row) = (case.ground(side["atom"]) for side in item["sides"])
        reason, _, name = item["reason"].partition(" ")
        holds = False
        match_ends = row[:-1] == other_row[:-1] and row != other_row
        if reason == "denied":
            holds = row == other_row and sign == complement(other)
        elif reason == "functional" and sign == other == f"{name}/2" and match_ends:
            values = value_of(str(row[1])), value_of(str(other_row[1]))
            holds = compare("=", *values) != TRUE
            case.trust_functional(name)
        elif reason == "disjoint" and sign == other and match_ends:
            holds = True
            case.trust_disjoint(str(row[-1]), str(other_row[-1]))
        require(holds, "OPEN_MISMATCH", "the two sides do not contradict each other")


def _check_uncontested(case: Case) -> None:
    """Reject a proof with an atom that facts files, which are at hand, contradict."""
    files = [file.rows for file in case.facts_files.values()]
    denied = {complement(sign) for rows in files for sign in rows.by_sign}
    functional = set[str]().union(*(policy.functional for policy in case.policies))
    names = functional | {sign.rpartition("/")[0] for sign in denied}
    if any(policy.precedence for policy in case.policies):
        return
    for step in case.proof_of(*case.certificate["answers"]):
        atom, is_leaf = step["conclusion"], "rule" not in step
        if step["id"] not in case.atoms or atom.partition("(")[0] not in names:
            continue
        sign, row = case.ground(atom)
        if sign in denied and any(rows.matching(complement(sign), row) for rows in files):
            reject("VERDICT_MISMATCH", f"a fact denies {atom}, which the proof uses")
        is_one = is_leaf and sign.endswith("/2") and sign[:-2] in functional
        call = (row[0], None) if is_one else ()
        for _, other in (pair for rows in files if is_one for pair in rows.matching(sign, call)):
            values = value_of(str(row[1])), value_of(str(other))
            is_other = not same_name(*values) and compare("=", *values) == FALSE
            if is_other and _told_apart(files, row[1], other):
                reject("VERDICT_MISMATCH", f"{sign} has two values beside {atom}")


def _told_apart(files: Sequence[Rows], left: str | None, right: str | None) -> bool:
    """Whether the facts files at hand let two values of one dimension exclude each other."""
    pairs = [pair for rows in files for pair in rows.of("same_as/2")]
    names = _graph([*pairs, *((other, one) for one, other in pairs)])
    classes = [pair for rows in files for pair in rows.of("subclass_of/2")]
    broader, narrower = _graph(classes), _graph((high, low) for low, high in classes)
    if right in _reached(left, names) or _reached(left, narrower) & _reached(right, narrower):
        return False
    if not {left, right}.isdisjoint([*broader, *narrower]):
        return bool(_reached(left, broader) & _reached(right, broader))
    return True


Graph = dict[str | None, list[str | None]]


def _graph(pairs: Iterable[Arguments]) -> Graph:
    found: Graph = {}
    for start, end in pairs:
        found.setdefault(start, []).append(end)
    return found


def _reached(start: str | None, graph: Graph) -> set[str | None]:
    return set(reached([start], lambda item: graph.get(item, ())))


# ---------------------------------------------------------------- use


def check_use(case: Case, witness: Witness) -> None:
    """Reject every step, rule, statement, source, assumption or call that nothing needs."""
    certificate = case.certificate
    given = certificate["witness"]
    roots = [certificate["answers"], certificate["refuted"]]
    roots += [call["answers"] for call in (*given["demands"], *given["lookups"])]
    roots += [item["sides"] for item in given["contested"]]
    used, seen = {answer["step"] for answers in roots for answer in answers}, set()
    for step in reversed(certificate["steps"]):
        case.where = f"steps/{step['id']}"
        if step["id"] not in used:
            reject("UNUSED", f"nothing needs step {step['id']}")
        used.update(step["premises"])
        if "statement" in step:
            case.use("statements", step["statement"])
        elif step["kind"] == "assumed":
            case.use("assumptions", step["conclusion"])
        key = (step["kind"], step["conclusion"], step.get("rule"), *step["premises"])
        if key in seen:
            reject("UNUSED", f"{step['conclusion']} is proved twice")
        seen.add(key)
    for section in ("statements", "rules", "sources", "assumptions"):
        if section != "assumptions" or certificate["verdict"] != "ABSTAINED":
            case.where = section
            for name in certificate[section]:
                if name not in case.used.get(section, ()):
                    reject("UNUSED", f"nothing needs {name}")
    assumptions, case.where = certificate["assumptions"], "assumptions"
    in_order = assumptions == sorted(set(assumptions))
    require(in_order, "NOT_CANONICAL", "the assumptions are not sorted, or repeated")
    for atom in assumptions:
        case.ground(atom)
    read = {(call.sign, call.pattern) for call in witness.demands if call.is_used}
    for call in (*witness.demands, *witness.lookups):
        case.where = call.where
        is_root = call.sign == case.goal_sign and agrees(call.pattern, case.goal)
        is_root = is_root or _names_an_answer(case, call)
        needed = call.is_used or (call.sign, call.pattern) in read or is_root
        require(needed, "UNUSED", "nothing reads this call")
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
        and any(call.pattern[0] in case.ground(item["atom"])[1] for item in answers)
    )
