"""The one walk over rule bodies: for the witness, for what is open, and for minimality.

A body is walked literal by literal, in the order of its plan. Where rows come from, `read` says;
what a test gives, `test` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from .arithmetic import Tree, evaluate
from .rules import Arguments, Bindings, Ground, Planned, Rule, arguments, match
from .values import TRUE, UNDETERMINED, compare, write_value


class Rows:
    """Rows by signature, found again by any pattern of bound arguments; each certain or not."""

    def __init__(self) -> None:
        self.by_sign: dict[str, dict[Arguments, bool]] = {}
        self._indexes: dict[tuple[str, tuple[int, ...]], dict[Arguments, list[Arguments]]] = {}

    def add(self, sign: str, row: Arguments, *, certain: bool = True) -> bool:
        """Add a row; False if it was there already."""
        rows = self.by_sign.setdefault(sign, {})
        if row in rows:
            return False
        rows[row] = certain
        for (other, bound), index in self._indexes.items():
            if other == sign:
                index.setdefault(tuple([row[i] for i in bound]), []).append(row)
        return True

    def of(self, sign: str) -> Mapping[Arguments, bool]:
        """Give all rows of a predicate."""
        return self.by_sign.get(sign, {})

    def matching(self, sign: str, call: Arguments) -> Sequence[Arguments]:
        """Give the rows that agree with the bound arguments of a call, in order of addition."""
        rows = self.by_sign.get(sign)
        if not rows:
            return ()
        bound = tuple([i for i, item in enumerate(call) if item is not None])
        if len(bound) == len(call):
            return (call,) if call in rows else ()
        if not bound:
            return list(rows)
        index = self._indexes.get((sign, bound))
        if index is None:
            index = self._indexes[sign, bound] = {}
            for row in rows:
                index.setdefault(tuple([row[i] for i in bound]), []).append(row)
        return index.get(tuple([call[i] for i in bound]), ())


class Task(NamedTuple):
    """A body walked up to `at` for a call: what is bound, whether it is certain, what it read."""

    rule: Rule | None
    call: Ground
    plan: Sequence[Planned]
    at: int
    bindings: Bindings
    certain: bool = True
    read: tuple[Ground, ...] = ()

    def after(self, bindings: Bindings, sure: bool, *rows: Ground) -> Task:
        """Give the task after the next literal."""
        read, certain = (*self.read, *rows), self.certain and sure
        return Task(self.rule, self.call, self.plan, self.at + 1, bindings, certain, read)

    def beyond(self, sign: str, row: Arguments, sure: bool) -> Iterable[Task]:
        """Give the task after the next literal, an atom, if a row fits it."""
        bindings = match(self.plan[self.at].literal.tree, row, self.bindings)
        return () if bindings is None else (self.after(bindings, sure, (sign, row)),)


Item = TypeVar("Item")
Answers = Iterable[tuple[Arguments, bool]]
Outcomes = Iterable[tuple[Bindings, bool]]


def walk(
    tasks: list[Task],
    read: Callable[[Task, str, Arguments], Answers],
    test: Callable[[Planned, Bindings], Outcomes],
) -> Iterator[Task]:
    """Walk bodies until none is left, and yield each way in which one holds."""
    while tasks:
        task = tasks.pop()
        if task.at == len(task.plan):
            yield task
            continue
        planned = task.plan[task.at]
        literal = planned.literal
        if literal.kind == "positive":
            call = arguments(literal.tree, task.bindings)
            for row, sure in read(task, literal.sign, call):
                tasks.extend(task.beyond(literal.sign, row, sure))
        else:
            tasks += [task.after(*outcome) for outcome in test(planned, task.bindings)]


def reached(starts: Iterable[Item], following: Callable[[Item], Iterable[Item]]) -> list[Item]:
    """Give what can be reached in any number of steps, nearest first."""
    found = [*starts]
    known = set(found)
    for item in found:  # grows meanwhile
        for other in following(item):
            if other not in known:
                known.add(other)
                found.append(other)
    return found


# ---------------------------------------------------------------- comparisons


def truth_of(planned: Planned, bindings: Bindings) -> str:
    """Evaluate a comparison whose variables are all bound."""
    tree = planned.literal.tree
    left, right = evaluate(tree["left"], bindings), evaluate(tree["right"], bindings)
    if left is None or right is None:
        return UNDETERMINED
    if planned.literal.defined and left == right:
        return TRUE
    return compare(tree["operator"], left, right)


def definition(planned: Planned) -> Tree:
    """Give the side of an equation that gives its value to the open one."""
    tree = planned.literal.tree
    found: Tree = tree["right" if tree["left"].get("variable") == planned.assigns else "left"]
    return found


def computed(planned: Planned, bindings: Bindings) -> str | None:
    """Compute the value that an equation gives to its open side."""
    value = evaluate(definition(planned), bindings)
    return None if value is None else write_value(value)
