"""How long a proof holds: the days of its statements and policies, and of its tests.

Where the day of the request goes into tests only, and each test changes once as days go by, the
day of the change is found by bisection; otherwise a proof that reads the day holds on it only.
"""

from __future__ import annotations

import bisect
import datetime

from .arithmetic import Tree, evaluate
from .case import Case, interval
from .format import Json, require
from .rules import Bindings, Planned, Rule, names_in, ordered
from .values import TRUE, day_after, read_day, write_value
from .walk import computed, definition, truth_of

_GROWING = (
    *("min", "max", "floor", "ceil", "round", "year", "earliest", "latest", "first_day"),
    *("last_day", "add_days", "add_months", "add_years", "+"),
)
_ELAPSED = ("days", "months", "years")
Days = tuple[datetime.date | None, datetime.date | None]
NEVER, ALWAYS = datetime.date.min, datetime.date.max


def check_validity(case: Case) -> None:
    """Compare the interval of a proof with that of its leaves, policies and tests."""
    certificate, case.where = case.certificate, "validity"
    found: list[tuple[str | None, str | None]] = []
    if certificate["verdict"] != "ABSTAINED":
        statements = certificate["statements"].values()
        records = [record["validity"] for record in statements if "validity" in record]
        found += [(record["start"], record["end"]) for record in records]
        found += [interval(record["effective"]) for record in certificate["policies"]]
        for start, end in _of_tests(case):
            found.append((str(start) if start else None, str(end) if end else None))
    first = max((start for start, _ in found if start), default=None)
    last = min((end for _, end in found if end), default=None)
    expected = {"start": first, "end": last, "next_change": last}
    same = certificate["validity"] == expected
    require(same, "VALIDITY_MISMATCH", f"the interval of the proof is {expected}")


def _of_tests(case: Case) -> list[Days]:
    day = read_day(case.certificate["valid_on"])
    if day is None:
        return []
    steps = case.certificate["steps"]
    requests = {step["id"] for step in steps if step["kind"] == "request"}
    own: Days = (day, day_after(day))
    found = [own for item in case.certificate["answers"] if item["step"] in requests]
    for step in steps:
        if "rule" in step and not requests.isdisjoint(step["premises"]):
            tests = DayTests(case.rules[step["rule"]], step["bindings"])
            found.append(tests.days_around(day) or own)
    return found


class DayTests:
    """The tests of a rule instance that depend on the day.

    `moves` holds for each variable that depends on the day whether it grows (1) or shrinks (-1) as
    days go by, None if that is not known; `definitions` are computed anew for each day.
    """

    def __init__(self, rule: Rule, bindings: Bindings) -> None:
        self.bindings = bindings
        atoms = [item for item in rule.body if item.kind != "comparison"]
        self.days = {
            item.tree["arguments"][0].get("variable", "")
            for item in atoms
            if item.sign == "valid_on/1" and item.kind == "positive"
        }
        self.moves: dict[str, int | None] = dict.fromkeys(self.days, 1)
        self.definitions: list[Planned] = []
        self.tests: list[Planned] = []
        bound = set[str]().union(*(item.names for item in atoms if item.kind != "absent"))
        comparisons = [item for item in rule.body if item.kind == "comparison"]
        for planned in ordered(comparisons, bound, rule.head_names):
            if self.moves.keys().isdisjoint(planned.literal.names):
                continue
            if planned.assigns:
                self.moves[planned.assigns] = self.move(definition(planned))
            (self.definitions if planned.assigns else self.tests).append(planned)
        others = [item.names | item.inside for item in atoms if item.sign != "valid_on/1"]
        elsewhere = rule.head_names.union(*others)
        self.goes_further = (
            "" in self.days or None in self.moves.values() or not elsewhere.isdisjoint(self.moves)
        )

    def move(self, tree: Tree) -> int | None:
        """Tell how a value moves as days go by: 1, -1, 0, or None if that is not known."""
        if "variable" in tree:
            return self.moves.get(tree["variable"], 0)
        if self.moves.keys().isdisjoint(names_in(tree)):
            return 0
        name, arguments = tree["operation"], tree["arguments"]
        inner = [self.move(item) for item in arguments]
        if None in inner:
            return None
        numbers = [move or 0 for move in inner]
        if name in (*_ELAPSED, "year") and not all(map(self._is_exact, arguments)):
            return None
        if name in _ELAPSED:
            numbers[0] = -numbers[0]
        elif name == "-":
            numbers[-1] = -numbers[-1]
        elif name in ("*", "/"):
            fixed = 1 if numbers[1] == 0 else 0
            value = None if numbers[fixed] else evaluate(arguments[fixed], self.bindings)
            if (name == "/" and not fixed) or value is None or value[0] != "number" or not value[1]:
                return None
            return numbers[1 - fixed] * (1 if value[1] > 0 else -1)
        elif name not in _GROWING:
            return None
        moving = set(numbers) - {0}
        return moving.pop() if len(moving) == 1 else None

    def _is_exact(self, tree: Tree) -> bool:
        if not self.moves.keys().isdisjoint(names_in(tree)):
            return True
        value = evaluate(tree, self.bindings)
        return value is None or value[0] != "date" or value[1] == value[2]

    def holds(self, test: Planned, day: datetime.date) -> bool:
        """Whether a test is true on another day."""
        term = write_value(("date", day, day))
        changed = {**self.bindings, **dict.fromkeys(self.days, term)}
        for planned in self.definitions:
            value = computed(planned, changed)
            if value is None:
                return False
            changed[planned.assigns] = value
        return truth_of(test, changed) == TRUE

    def days_around(self, day: datetime.date) -> Days | None:
        """Give the days around one on which the rule instance holds as it does.

        None where some test may change more than once.
        """
        edges: dict[datetime.date, list[datetime.date]] = {NEVER: [], ALWAYS: []}
        if self.goes_further:
            return None
        for test in self.tests:
            tree: Json = test.literal.tree
            left, right = self.move(tree["left"]), self.move(tree["right"])
            if left is None or right is None or tree["operator"] in ("=", "!="):
                return None
            if tree["operator"] in (">", ">="):
                left, right = right, left
            if not (left <= 0 <= right or right <= 0 <= left):
                return None
            limit = NEVER if left <= 0 <= right else ALWAYS
            if not self.holds(test, limit):
                edges[limit].append(self._change(test, *sorted((day, limit))))
        return max(edges[NEVER], default=None), min(edges[ALWAYS], default=None)

    def _change(self, test: Planned, first: datetime.date, last: datetime.date) -> datetime.date:
        """Give the day on which a test that changes once between two days is otherwise."""
        days = range(first.toordinal(), last.toordinal() + 1)
        before = self.holds(test, first)

        def is_after(day: int) -> bool:
            return self.holds(test, datetime.date.fromordinal(day)) != before

        return datetime.date.fromordinal(days[bisect.bisect_left(days, True, key=is_after)])
