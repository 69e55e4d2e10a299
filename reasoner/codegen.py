"""Compiles a planned goal to Python, once per (shape, goal pattern); `bind` ties it to facts.

A call outside positive recursion is a function with a memo. A call within a component of positive
recursion waits: its rule is cut at that atom, and the rest becomes a function that runs once per
answer (semi-naive: each answer meets each waiting rule once). The text holds no value of a policy
but positions and numbers: constants come in by `bind`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .atom import Atom, Constant, Variable
from .clause import Clause, Operator, Positive
from .facts import Signature
from .goal_plan import GoalPlan
from .magic import Node, clause_names
from .rule_code import CodeWriter, Index, write_rule
from .shape import constant_of

Template = tuple[Signature, tuple[int, ...]]
"""An atom in terms of a record: places in it, or `~n` for constant n."""

_DISPATCH_FROM = 8
"""Rules of one call from which on only those are called whose heads meet its first value."""

_MANY = 200
"""Functions from which on the text keeps them in lists: Python's time to compile nested functions
grows with their number times the number of names around them."""


@dataclass(frozen=True, slots=True)
class CompiledGoal:
    """A planned goal as code, and what `bind` has to be given for it.

    Rows of `record` are (clause number, value ids in the order of `slots`); `checks` gives the body
    indexes whose truths stand beside a doubted record, `defining` those that compute a value. The
    plan and the code may be those of a shape, which `of` gives its clauses and constants.
    """

    plan: GoalPlan
    clauses: tuple[Clause, ...]
    nodes: tuple[Node, ...]
    constants: tuple[Constant, ...]
    indexes: tuple[Index, ...]
    operators: tuple[Operator, ...]
    slots: tuple[tuple[str, ...], ...]
    checks: dict[int, tuple[int, ...]]
    defining: dict[int, frozenset[int]]
    heads: dict[int, Template]
    bodies: dict[int, tuple[Template | None, ...]]
    derived: frozenset[Signature]
    source: str
    bind: Callable[..., Callable[[object], object]]

    def of(self, clauses: tuple[Clause, ...], constants: Sequence[Constant]) -> CompiledGoal:
        """Give the same code for clauses of this shape, with the constants behind its marks."""
        own = tuple([constant_of(mark, constants) for mark in self.constants])
        return replace(self, clauses=clauses, constants=own)


def _calls(writer: CodeWriter, node: Node, number: int, rules: list[str]) -> list[str]:
    """Write how a node calls its rules: each in turn, or the few whose heads meet its first value.

    Order is kept either way.
    """
    each = [f"{rule}(k, out)" for rule in rules]
    if not node.bound or len(rules) < _DISPATCH_FROM:
        return each
    clauses, place = writer.plan.clauses, node.bound[0]
    firsts = [clauses[rule.number].head.arguments[place] for rule in writer.plan.rules[node]]
    anything = [
        rule for rule, first in zip(rules, firsts, strict=True) if isinstance(first, Variable)
    ]
    if len(anything) > _DISPATCH_FROM:
        return each
    meeting: dict[str, list[str]] = {
        writer.constant(first): [] for first in firsts if not isinstance(first, Variable)
    }
    for rule, first in zip(rules, firsts, strict=True):
        every = list(meeting) if isinstance(first, Variable) else [writer.constant(first)]
        for constant in every:
            meeting[constant].append(rule)
    listed = [f"{constant}: ({', '.join(found)},)" for constant, found in meeting.items()]
    writer.dispatches += [
        f"    d{number} = {{{', '.join(listed)}}}",
        f"    e{number} = ({''.join(f'{rule}, ' for rule in anything)})",
    ]
    value = "k" if len(node.bound) == 1 else "k[0]"
    return [f"for rule in d{number}.get({value}, e{number}): rule(k, out)"]


def _write_node(writer: CodeWriter, node: Node, number: int, rules: list[str]) -> list[str]:
    """Write how a node is answered: from its facts and its rules."""
    group = writer.waiting_group(node)
    at = writer.index(node.signature, node.bound)
    calls = _calls(writer, node, number, rules)
    # A predicate that no fact gives has no lookup.
    look = [
        f"if l{at} is not None:",
        f"    rows = m{at}.get(k)",
        f"    if rows is None: rows = m{at}[k] = l{at}(k)",
    ]
    if group is None:
        lines = writer.begin(f"def n{number}(k):")
        body = [
            "work += 1",
            "if work > limit: tick()",
            f"t{number}[k] = BUSY",
            "out = {}",
            *look,
            "    for row in rows: out[row] = None",
            *calls,
            f"rows = t{number}[k] = tuple(out)",
            "return rows",
        ]
        lines += [f"        {text}" for text in body]
        return lines
    lines = writer.begin(f"def s{number}(k, out):")
    body = [
        *look,
        "    for row in rows:",
        f"        if row not in out.seen: out.seen.add(row); g{group}.append((out, row))",
        *calls,
    ]
    lines += [f"        {text}" for text in body]
    lines = writer.begin(f"def n{number}(k): return answer{group}({number}, t{number}, k)")
    del lines[1:]
    return lines


_GROUP = """\
    g{group} = []
    new{group} = []
    starts{group} = {{}}
    def wait{group}(number, k, function, state):
        nonlocal work
        table, start = starts{group}[number]
        cell = table.get(k)
        if cell is None:
            cell = table[k] = Cell(k, start)
            cell.frame = new{group}
            new{group}.append(cell)
            g{group}.append((cell, None))
            cell.waiting.append((function, state))
            return
        if not cell.done:
            if cell.frame is not new{group}: loop(number)
            cell.waiting.append((function, state))
        work += len(cell.rows)
        if work > limit: tick()
        for row in cell.rows: function(state, row)
    def answer{group}(number, table, k):
        nonlocal work, g{group}, new{group}
        cell = table.get(k)
        if cell is not None:
            if cell.done: return cell.rows
            loop(number)
        before, new_before = g{group}, new{group}
        g{group}, new{group} = [], []
        cell = table[k] = Cell(k, starts{group}[number][1])
        cell.frame = new{group}
        new{group}.append(cell)
        g{group}.append((cell, None))
        for here, row in g{group}:
            work += 1
            if work > limit: tick()
            if row is None:
                here.start(here.key, here)
            else:
                here.rows.append(row)
                if here.waiting:
                    for function, state in here.waiting[:]: function(state, row)
        for here in new{group}: here.done = True
        g{group}, new{group} = before, new_before
        return cell.rows"""


_NUMBERED = re.compile(r"\b([clmotnsfa])(\d+)\b")


def _in_lists(lines: list[str]) -> list[str]:
    """Write numbered names as elements of lists, and keep a function in its list once defined."""
    first = _NUMBERED.search(lines[0])
    assert first is not None, "a function begins with its numbered name"
    rest = [_NUMBERED.sub(r"\1_[\2]", line) for line in lines[1:]]
    head, _, tail = lines[0].partition(first.group())
    tail = _NUMBERED.sub(r"\1_[\2]", tail)
    return [f"{head}here{tail}", *rest, f"    {first[1]}_[{first[2]}] = here"]


def _template(writer: CodeWriter, atom: Atom, slots: tuple[str, ...]) -> Template:
    return atom.signature, tuple(
        slots.index(argument.name) + 1
        if isinstance(argument, Variable)
        else ~int(writer.constant(argument)[1:])
        for argument in atom.arguments
    )


def _prologue(writer: CodeWriter, *, in_lists: bool) -> list[str]:
    """Write how `bind` names what it is given."""
    lines = ["def bind(run, constants, lookups, operators, tables, memos):"]
    for letter, count, given in (
        ("c", len(writer.constants), "constants"),
        ("l", len(writer.indexes), "lookups"),
        ("m", len(writer.indexes), "memos"),
        ("o", len(writer.operators), "operators"),
        ("t", len(writer.nodes), "tables"),
    ):
        if in_lists:
            lines.append(f"    {letter}_ = {given}")
        elif count:
            lines.append(f"    {''.join(f'{letter}{n}, ' for n in range(count))} = {given}")
    if in_lists:
        lines.append("    n_, s_, f_, a_ = {}, {}, {}, {}")
    lines += [
        "    record, doubts, tainted, value = run.record, run.doubts, run.tainted, run.terms.value",
        "    truth, define, defined, apply = run.truth, run.define, run.defined, run.apply",
        "    absent, certain, aggregate, conclude = "
        "run.absent, run.certain, run.aggregate, run.conclude",
        "    doubt, unstated = run.doubt, run.unstated",
        "    loop, BUSY, Cell, T, F = run.loop, run.busy, run.cell, run.true, run.false",
        "    work, limit = 0, run.first_limit",
        "    def tick():",
        "        nonlocal limit",
        "        limit = work + run.tick()",
    ]
    return lines


def _write_text(writer: CodeWriter) -> str:
    plan, nodes = writer.plan, writer.nodes
    in_lists = len(writer.functions) > _MANY
    lines = _prologue(writer, in_lists=in_lists)
    lines += [
        _GROUP.format(group=group) for group in sorted({plan.group[n] for n in plan.recursive})
    ]
    for function in writer.functions:
        lines += _in_lists(function) if in_lists else function
    ends = writer.dispatches + [
        f"    starts{plan.group[node]}[{number}] = t{number}, s{number}"
        for node, number in nodes.items()
        if node in plan.recursive
    ]
    ends.append(f"    return n{nodes[plan.root]}")
    lines += [_NUMBERED.sub(r"\1_[\2]", line) for line in ends] if in_lists else ends
    return "\n".join(lines) + "\n"


def compile_goal(plan: GoalPlan) -> CompiledGoal:
    """Write and compile a planned goal; about 0.25 ms per rule."""
    nodes = {node: number for number, node in enumerate(plan.rules)}
    slots = tuple(clause_names(clause) for clause in plan.clauses)
    writer = CodeWriter(plan, nodes, slots)
    for node, number in nodes.items():
        _write_node(writer, node, number, [write_rule(writer, r) for r in plan.rules[node]])
    heads: dict[int, Template] = {}
    bodies: dict[int, tuple[Template | None, ...]] = {}
    for number in sorted({rule.number for rules in plan.rules.values() for rule in rules}):
        clause = plan.clauses[number]
        heads[number] = _template(writer, clause.head, slots[number])
        bodies[number] = tuple(
            _template(writer, literal.atom, slots[number])
            if isinstance(literal, Positive)
            else None
            for literal in clause.body
        )
    source = _write_text(writer)
    namespace: dict[str, Callable[..., Callable[[object], object]]] = {}
    exec(compile(source, "<goal>", "exec"), namespace)
    return CompiledGoal(
        plan=plan,
        clauses=plan.clauses,
        nodes=tuple(nodes),
        constants=tuple(writer.constants),
        indexes=tuple(writer.indexes),
        operators=tuple(writer.operators),
        slots=slots,
        checks=writer.checks,
        defining=writer.defining,
        heads=heads,
        bodies=bodies,
        derived=frozenset(clause.head.signature for clause in plan.clauses),
        source=source,
        bind=namespace["bind"],
    )
