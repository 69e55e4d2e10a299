"""The witness: calls with their complete answers, from which it follows what is absent.

For every demand each rule is walked over the answers; every call made on the way must be covered,
and every head arrived at must be among the answers. Lookups are read again from their sources.
"""

from __future__ import annotations

import functools

from .arithmetic import aggregate_value, evaluate
from .calls import Call, add_built_in
from .case import Case
from .format import Json, reject, require
from .language import write
from .rules import (
    COMPLETE_ORDER,
    NEVER_RENAMED,
    PRELUDE_HEADS,
    PRELUDE_SHA256,
    VALUE_RULES,
    Arguments,
    Bindings,
    Ground,
    Literal,
    Planned,
    Rule,
    agrees,
    arguments,
    read_atom,
    write_call,
)
from .values import FALSE, TRUE, UNDETERMINED, UNKNOWN, Value, compare, value_of, write_value
from .walk import Answers, Outcomes, Rows, Task, computed, reached, truth_of, walk


class Witness:
    """The calls of a certificate, as the steps and the verdict read them.

    `masked` are contested atoms, `undetermined` the texts of tests that came out so, `unsourced`
    those of aggregates that lack a complete source, `unsourced_calls` absences that do. `reading`
    collects calls that are read; `_reads` are those that each demand reads, `closed_reads` those
    that absences and aggregates read. `is_renaming` if a step, or a facts file at hand, gives some
    entity another name.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.calls: dict[str, dict[tuple[int, ...], dict[Arguments, Call]]] = {}
        self.masked: set[Ground] = set()
        self.undetermined: set[str] = set()
        self.reading: dict[Ground, None] = {}
        self.closed_reads: dict[Ground, None] = {}
        self.closed_used: set[str] = set()
        self._reads: dict[Ground, list[Ground]] = {}
        self._unknown_signs: set[str] = set()
        self._absent_signs: set[str] = set()
        self.unsourced: set[str] = set()
        self.unsourced_calls: set[tuple[str, Arguments]] = set()
        self._declared = set[str]().union(*(policy.closed for policy in case.policies))
        derived = set[str]().union(*(policy.uses for policy in case.policies))
        self._closed = {*self._declared, *derived, "valid_on/1", "stated_in/2"}
        self._below = functools.cache(self._find_below)
        given = case.certificate["witness"]
        for index, conflict in enumerate(given["contested"]):
            case.where = f"witness/contested/{index}"
            require(len(conflict["sides"]) == 2, "STRUCTURE", "a conflict has two sides")
            self.masked.update(case.ground(item["atom"]) for item in conflict["sides"])
        self.demands, self.lookups = (
            self._read_calls(given[name], f"witness/{name}") for name in ("demands", "lookups")
        )
        add_built_in(case, self.demands, self.lookups)
        for sign, groups in self.calls.items():  # the closest call covers first
            closest = sorted(groups, key=lambda bound: (-len(bound), bound))
            self.calls[sign] = {bound: groups[bound] for bound in closest}
        if not PRELUDE_HEADS.isdisjoint(self.calls):
            case.where = "policies"
            digests = [record["digest"] for record in case.certificate["policies"]]
            known = PRELUDE_SHA256 in digests
            require(known, "WITNESS_INCOMPLETE", "the witness needs the prelude")
        self.is_renaming = self._is_stored("same_as/2") or any(
            step["conclusion"].startswith("same_as(") for step in case.certificate["steps"]
        )

    def _read_calls(self, records: list[Json], where: str) -> list[Call]:
        self._require_sorted([record["pattern"] for record in records], where)
        return [self._read_call(item, f"{where}/{at}") for at, item in enumerate(records)]

    def _require_sorted(self, texts: list[str], where: str) -> None:
        self.case.where = where
        require(texts == sorted(set(texts)), "NOT_CANONICAL", "they are not sorted, or repeated")

    def _read_call(self, record: Json, where: str) -> Call:
        self.case.where = where
        sign, pattern, _ = read_atom(record["pattern"], "STRUCTURE")
        written = write_call(sign, pattern)
        require(written == record["pattern"], "NOT_CANONICAL", f"the pattern is {written}")
        call = Call(sign, pattern, Rows(), record.get("basis", ""), where)
        if call.basis == "absent":
            self._absent_signs.add(sign)
        bound = tuple(i for i, item in enumerate(pattern) if item is not None)
        group = self.calls.setdefault(sign, {}).setdefault(bound, {})
        other = group.setdefault(tuple(pattern[i] for i in bound), call)
        call.answers = other.answers  # a predicate with rules and facts: both answer together
        certain = [answer["atom"] for answer in record["answers"]]
        for texts, sure in ((certain, True), (record.get("possible", []), False)):
            self._require_sorted(texts, where)
            for text in texts:
                row_sign, row = self.case.ground(text, unknown=not sure)
                if UNKNOWN in row:
                    self._unknown_signs.add(sign)
                if row_sign != sign or not agrees(pattern, row):
                    reject("WITNESS_UNPROVED", f"{text} is no answer to {written}")
                call.answers.add(sign, row, certain=sure)
        return call

    # ------------------------------------------------------------ reading answers

    def covering(self, sign: str, args: Arguments) -> Call | None:
        """Give the call that covers a call, if one does, and note that it is read."""
        for bound, group in self.calls.get(sign, {}).items():
            call = group.get(tuple([args[i] for i in bound]))
            if call is not None:
                call.is_used = True
                self.reading[call.sign, call.pattern] = None
                return call
        return None

    def rows(self, sign: str, args: Arguments, *, positive: bool = False) -> Answers:
        """Give the answers to a call, each with whether it is certain.

        What contested rows support is not certain, but they are not absent either. A call with a
        value that nobody knows has no answers; what lacks them for that is not certain.
        """
        if UNKNOWN in args:
            return []
        call = self.covering(sign, args)
        if call is None:
            reject("WITNESS_INCOMPLETE", f"no call covers {write_call(sign, args)}")
        certain = call.answers.of(sign)
        return [
            (row, certain[row] and not (positive and self.is_masked(sign, row)))
            for row in call.answers.matching(sign, args)
        ]

    def is_masked(self, sign: str, row: Arguments) -> bool:
        """Whether an atom is contested, also where it names its statement."""
        if self.masked and len(row) == 3 and str(row[2]).startswith('"st:'):
            sign, row = f"{sign[:-1]}2", row[:2]
        return (sign, row) in self.masked

    def _find_below(self, sign: str) -> list[str]:
        """Give a predicate and all that its rules use, over any number of rules."""
        policies = self.case.policies
        return reached(
            [sign], lambda item: sorted(set().union(*(p.uses.get(item, ()) for p in policies)))
        )

    def is_lacking(self, sign: str) -> bool:
        """Whether a predicate may have answers not found, for want of a value or of a source."""
        unknown = self._unknown_signs | self._absent_signs
        return bool(unknown) and not unknown.isdisjoint(self._below(sign))

    def _is_unsourced(self, literal: Literal) -> bool:
        """Whether an absence or an aggregate rests on a source that is not there."""
        return bool(self._absent_signs) and any(
            not self._absent_signs.isdisjoint(self._below(sign)) for sign in literal.signs()
        )

    def is_closed(self, sign: str) -> bool:
        """Whether a predicate is closed: declared, or derived from closed predicates only."""
        if sign in COMPLETE_ORDER:
            self.case.trust(
                "that taxonomies and names of entities show all that values have in common"
            )
            return True
        below = self._below(sign)
        self.closed_used |= self._declared.intersection(below)
        # Names alike are found only where asked for.
        return sign != "same_name/2" and self._closed.issuperset(below)

    # ------------------------------------------------------------ walking bodies

    def read(self, _: Task, sign: str, args: Arguments) -> Answers:
        """Read the rows of an atom of a body."""
        return self.rows(sign, args, positive=True)

    def test(self, planned: Planned, bindings: Bindings) -> Outcomes:
        """Check or compute a literal that is no atom.

        Nothing is absent because of contested rows: where there are any, an absence holds only if
        the call has no row, and aggregates count them.
        """
        literal = planned.literal
        if literal.kind == "absent":
            rows = list(self.rows(literal.sign, arguments(literal.tree, bindings)))
            if any(sure or self.masked for _, sure in rows):
                return []
            if not rows and self._is_unsourced(literal):
                self.unsourced_calls.add((literal.sign, arguments(literal.tree, bindings)))
            return [(bindings, not rows and not self.is_lacking(literal.sign))]
        value: str | None = None
        if literal.kind == "aggregate":
            truth, total = self._aggregated(planned, bindings)
            if self._is_unsourced(literal):
                self.unsourced.add(literal.text(bindings))
            value = None if total is None else write_value(total)
        elif planned.assigns:
            value = computed(planned, bindings)
            truth = UNDETERMINED if value is None else TRUE
        else:
            truth = truth_of(planned, bindings)
        if truth == UNDETERMINED:
            self.undetermined.add(literal.text(bindings))
        if planned.assigns:
            bindings = {**bindings, planned.assigns: UNKNOWN if value is None else value}
        return [] if truth == FALSE else [(bindings, truth == TRUE)]

    def _aggregated(self, planned: Planned, bindings: Bindings) -> tuple[str, Value | None]:
        """Compute an aggregate over complete answers, and whether it is as the body says."""
        tree = planned.literal.tree
        start = {name: bindings[name] for name in planned.shared}
        tuples, certain = set[tuple[str, ...]](), True
        for done in walk(
            [Task(None, ("", ()), planned.inner, 0, start)],
            lambda _, sign, args: self.rows(sign, args),
            self.test,
        ):
            certain = certain and done.certain
            terms = (write(term, done.bindings) for term in tree["terms"])
            tuples.add(tuple(map(self._first_name, terms)))
        if not certain or any(map(self.is_lacking, planned.literal.signs())):
            return UNDETERMINED, None
        values = [value_of(row[0]) for row in sorted(tuples)]
        value = aggregate_value(tree["function"], values)
        if value is None or planned.assigns:
            return (UNDETERMINED if value is None else TRUE), value
        result = evaluate(tree["result"], bindings)
        return UNDETERMINED if result is None else compare(tree["operator"], result, value), value

    def _first_name(self, term: str) -> str:
        """Give one name, first by text, that stands for all names of an entity.

        Where entities have other names, the names of everything that is counted must be shown.
        """
        if term[0] != '"' or not (self.is_renaming or self.covering("alias/2", (term, None))):
            return term
        return min([term, *(str(row[1]) for row, _ in self.rows("alias/2", (term, None)))])

    def check_closed(self, rule: Rule, literal: Literal, bindings: Bindings, text: str) -> None:
        """Check an absence or an aggregate that a step claims."""
        for sign in literal.signs():
            closed = self.is_closed(sign)
            require(closed, "NOT_CLOSED", f"{text} reads {sign}, which is not closed")
        self.reading = self.closed_reads
        if literal.kind == "absent":
            rows = self.rows(literal.sign, arguments(literal.tree, bindings))
            require(not rows, "COMPARISON", f"{text} fails: the witness has an answer")
            lacking = self.is_lacking(literal.sign)
            require(not lacking, "COMPARISON", f"{text} is undetermined: a source is absent")
            return
        planned = next(item for item in rule.plan(rule.variables) if item.literal is literal)
        truth, value = self._aggregated(planned, bindings)
        shown = "" if value is None else f": the aggregate is {write_value(value)}"
        require(truth == TRUE, "COMPARISON", f"{text} is {truth}{shown}")

    # ------------------------------------------------------------ completeness

    def check_calls(self) -> None:
        """Walk the rules of every demand, and hold every call against the facts at hand."""
        case = self.case
        looked_up = {(lookup.sign, lookup.pattern) for lookup in self.lookups}
        for call in (*self.demands, *self.lookups):
            # Whatever a call is said to rest on: the facts files that are at hand answer it, too.
            case.where = call.where
            for file in case.facts_files.values():
                complete = call.rows.issuperset(file.rows.matching(call.sign, call.pattern))
                require(complete, "LOOKUP_MISMATCH", "the facts hold more rows")
        only_demanded: dict[str, Call] = {}
        for demand in self.demands:
            if (demand.sign, demand.pattern) not in looked_up and demand.sign not in PRELUDE_HEADS:
                only_demanded.setdefault(demand.sign, demand)
        for demand in only_demanded.values():
            self._check_concluded(demand)
        for demand in self.demands:
            self._check_demand(demand)
        demanded, renamed = {demand.sign for demand in self.demands}, self.is_renaming
        for lookup in self.lookups:
            case.where = lookup.where
            carried = renamed and lookup.sign not in NEVER_RENAMED and self._is_stored(lookup.sign)
            if lookup.sign not in demanded and (carried or lookup.sign in case.by_head):
                reject("WITNESS_INCOMPLETE", f"rules conclude {lookup.sign}; expected a demand")
        self._check_no_open_lookup()
        if self.demands or self.lookups:
            counts = f"{len(self.demands)} demands and {len(self.lookups)} lookups"
            case.checked.append(f"{counts} are complete")

    def _is_stored(self, sign: str) -> bool:
        """Whether a lookup or a facts file that is at hand gives rows of a predicate."""
        return any(lookup.sign == sign and lookup.rows for lookup in self.lookups) or any(
            file.rows.of(sign) for file in self.case.facts_files.values()
        )

    def _check_concluded(self, demand: Call) -> None:
        """A call that is only demanded asks for what rules conclude, not for what is stored."""
        case, sign = self.case, demand.sign
        case.where = demand.where
        concluded = any(rule.id.startswith(tuple(VALUE_RULES)) for rule in case.by_head[sign])
        concluded = concluded or any(sign in policy.uses for policy in case.policies)
        require(concluded, "WITNESS_INCOMPLETE", f"{sign} is stored; expected a lookup, too")
        if case.texts is None or any(lookup.basis != "facts" for lookup in self.lookups):
            case.trust(f"that {sign} is concluded by rules only, and stated nowhere")

    def _check_demand(self, demand: Call) -> None:
        rows, self.reading, self.case.where = demand.answers.of(demand.sign), {}, demand.where
        for task in walk(tasks_of(self.case, demand.sign, demand.pattern), self.read, self.test):
            assert task.rule is not None, "the body of a demand is that of a rule"
            head = arguments(task.rule.head, task.bindings)
            sure = task.certain and not self.is_masked(demand.sign, head)
            if not rows.get(head, False) and (sure or head not in rows):
                atom = write_call(demand.sign, head)
                message = f"rule {task.rule.id} gives {atom}, which is not among the answers"
                reject("WITNESS_INCOMPLETE", message)
        self._reads[demand.sign, demand.pattern] = list(self.reading)

    def _check_no_open_lookup(self) -> None:
        """Reject absences that rest on what is merely not in a knowledge base."""
        reads = {*reached(self.closed_reads, lambda call: self._reads.get(call, ()))}
        for lookup in self.lookups:
            if lookup.basis == "knowledge" and (lookup.sign, lookup.pattern) in reads:
                # Names and classes that a knowledge base does not have are no gap: see is_closed.
                self.case.where = lookup.where
                named = lookup.sign in ("same_as/2", "subclass_of/2")
                require(named, "NOT_CLOSED", f"{lookup.sign} is not closed")


def tasks_of(case: Case, sign: str, pattern: Arguments) -> list[Task]:
    """Give a body to walk for each rule that may answer a call."""
    tasks = []
    for rule in case.answering(sign, pattern):
        bindings = rule.called(pattern)
        if bindings is not None:
            tasks.append(Task(rule, (sign, pattern), rule.plan(bindings), 0, bindings))
    return tasks
