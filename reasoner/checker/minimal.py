"""Minimality: without any one of its leaves an answer would not follow, under all rules.

What is contested, with both its sides proved, yields nothing here.

Goal-directed with tables: each call is made once, and each of its answers continues each body that
waits for it once. Absences and aggregates hold as far as the witness shows them.
Source: Tamaki and Sato 1986, "OLD resolution with tabulation"; for what every derivation uses we
only follow what the alternatives of each step share.
"""

from __future__ import annotations

from collections.abc import Iterable

from .case import Case
from .format import Rejected, require
from .rules import Arguments, Bindings, Ground, Planned, arguments
from .walk import Answers, Outcomes, Rows, Task, reached, walk
from .witness import Witness, tasks_of

_MOST_WORK = 5_000_000


def check_minimality(case: Case, witness: Witness) -> None:
    """Show for each answer that without any one of its leaves it would not follow."""
    answers = case.certificate["answers"]
    is_cut, case.where = False, "answers"
    for answer in answers:
        leaves = dict[str, list[Ground]]()
        for step in case.proof_of(answer):
            if "rule" not in step and step["id"] in case.atoms:
                unit = step["statement"] if step["kind"] == "stated" else step["conclusion"]
                leaves.setdefault(unit, []).append(case.ground(step["conclusion"]))
        goal = case.ground(answer["atom"])
        search = Derivation(case, witness, leaves, 200_000 + 40 * len(case.certificate["steps"]))
        spare = search.spare_leaf(goal)
        require(spare is None, "NOT_MINIMAL", f"{answer['atom']} follows without {spare} as well")
        is_cut = is_cut or search.is_cut
    if is_cut:
        case.not_given.append("minimality: its check was cut, the proof is too large")
    elif answers:
        case.checked.append("each answer needs every leaf of its proof")


class Derivation:
    """What follows from the leaves of one answer under all rules, and which leaf is spare."""

    def __init__(
        self, case: Case, witness: Witness, leaves: dict[str, list[Ground]], budget: int
    ) -> None:
        self.case, self.witness, self.leaves, self.budget = case, witness, leaves, budget
        self.is_cut = False
        self.given: dict[Ground, list[str]] = {}
        self.facts, self.answers = Rows(), dict[Ground, dict[Arguments, None]]()
        for unit, atoms in leaves.items():
            for atom in atoms:
                self.given.setdefault(atom, []).append(unit)
                self.facts.add(*atom)
        self.waiting: dict[Ground, list[Task]] = {}
        self.tasks: list[Task] = []
        self.instances: dict[Ground, dict[tuple[Ground, ...], None]] = {}

    def spare_leaf(self, goal: Ground) -> str | None:
        """Give a leaf without which the goal still follows, or None if there is none."""
        self._derive(goal)
        forced = set() if self.is_cut else self._forced(goal)
        loose = [unit for unit in self.leaves if unit not in forced]
        size = sum(map(len, self.instances.values()))
        self.is_cut = self.is_cut or len(loose) * size > _MOST_WORK
        if self.is_cut:
            return None
        return next((unit for unit in loose if self._follows(goal, unit)), None)

    def _derive(self, goal: Ground) -> None:
        """Capture every instance of a rule that the goal may use."""
        self._call(*goal)
        for task in walk(self.tasks, self._read, self._test):
            assert task.rule is not None, "every body here is that of a rule"
            head = arguments(task.rule.head, task.bindings)
            atom = (task.call[0], head)
            if self.witness.is_masked(*atom):
                continue  # nothing is proved from what is contested
            if atom not in task.read:
                self.instances.setdefault(atom, {})[task.read] = None
            if head not in self.answers[task.call]:
                self.answers[task.call][head] = None
                for other in self.waiting[task.call]:
                    self.tasks.extend(other.beyond(task.call[0], head, True))

    def _call(self, sign: str, pattern: Arguments) -> Ground:
        call = (sign, pattern)
        if call not in self.answers:
            self.answers[call] = dict.fromkeys(self.facts.matching(sign, pattern))
            self.waiting[call] = []
            self.tasks.extend(tasks_of(self.case, sign, pattern))
        return call

    def _read(self, task: Task, sign: str, args: Arguments) -> Answers:
        self.budget -= 1
        if self.budget < 0:
            self.is_cut = True
            self.tasks.clear()
            return []
        if sign not in self.case.by_head:
            return [(row, True) for row in self.facts.matching(sign, args)]
        call = self._call(sign, args)
        self.waiting[call].append(task)
        return [(row, True) for row in self.answers[call]]

    def _test(self, planned: Planned, bindings: Bindings) -> Outcomes:
        try:
            return [item for item in self.witness.test(planned, bindings) if item[1]]
        except Rejected:
            return []  # the witness shows nothing of it

    def _forced(self, goal: Ground) -> set[str]:
        """Leaves that every derivation of the goal uses: what each step's alternatives share."""

        def shared(item: Ground | str) -> Iterable[Ground | str]:
            """Give what all ways to derive an atom have in common; leaves are texts."""
            if isinstance(item, str):
                return ()
            ways: list[Iterable[Ground | str]] = [*self.instances.get(item, ())]
            ways += [(unit,) for unit in self.given.get(item, ())]
            return set(ways[0]).intersection(*ways[1:]) if ways else ()

        start: list[Ground | str] = [goal]
        return {item for item in reached(start, shared) if isinstance(item, str)}

    def _follows(self, goal: Ground, without: str) -> bool:
        """Whether the goal is in the closure of the other leaves."""
        missing: list[int] = []
        users: dict[Ground, list[tuple[int, Ground]]] = {}
        ready = [atom for atom, units in self.given.items() if units != [without]]
        for head, tails in self.instances.items():
            for tail in tails:
                for atom in set(tail):
                    users.setdefault(atom, []).append((len(missing), head))
                if not tail:
                    ready.append(head)
                missing.append(len(set(tail)))
        done = set(ready)
        for atom in ready:  # grows meanwhile
            for user, head in users.get(atom, ()):
                missing[user] -= 1
                if not missing[user] and head not in done:
                    done.add(head)
                    ready.append(head)
        return goal in done
