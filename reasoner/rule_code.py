"""Writes one rule for one call as Python: nested loops over rows, one function or several.

Names in the text: `v` variables of the rule, `z` of an aggregate, `c` constants, `k` keys, `q`
truths, `o` operators, `l` lookups and `m` what they gave, `t` tables of nodes, `n` functions that
answer a node in full, `f` and `a` parts of rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .atom import Atom, Constant, Variable
from .clause import Comparison, Expression, Operation, Operator
from .facts import Signature
from .goal_plan import GoalPlan
from .magic import Assign, Collect, Node, Positions, Read, Refute, RulePlan, Step, Test, names_of

Index = tuple[Signature, Positions]

_DEEPEST = 12
"""Loops in one function; Python allows 20 nested blocks, further ones go into a new function."""


@dataclass(slots=True)
class CodeWriter:
    """What all functions of one goal share."""

    plan: GoalPlan
    nodes: dict[Node, int]
    slots: tuple[tuple[str, ...], ...]
    functions: list[list[str]] = field(default_factory=list)
    constants: dict[Constant, int] = field(default_factory=dict)
    indexes: dict[Index, int] = field(default_factory=dict)
    operators: dict[Operator, int] = field(default_factory=dict)
    checks: dict[int, tuple[int, ...]] = field(default_factory=dict)
    defining: dict[int, frozenset[int]] = field(default_factory=dict)
    dispatches: list[str] = field(default_factory=list)

    def begin(self, definition: str) -> list[str]:
        lines = [f"    {definition}", "        nonlocal work"]
        self.functions.append(lines)
        return lines

    def name(self, prefix: str) -> str:
        return f"{prefix}{len(self.functions)}"

    def constant(self, value: Constant) -> str:
        return f"c{self.constants.setdefault(value, len(self.constants))}"

    def index(self, signature: Signature, bound: Positions) -> int:
        return self.indexes.setdefault((signature, bound), len(self.indexes))

    def operator(self, operator: Operator) -> str:
        return f"o{self.operators.setdefault(operator, len(self.operators))}"

    def waiting_group(self, node: Node) -> int | None:
        """Give the component of a node whose calls wait; None for one with a memo."""
        return self.plan.group[node] if node in self.plan.recursive else None


def tuple_text(items: Iterable[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items)})"


@dataclass(slots=True)
class _Function:
    """The function being written: its lines, what it knows, how it gives up."""

    writer: CodeWriter
    lines: list[str]
    names: dict[str, str]
    node: int
    known: set[str] = field(default_factory=set)
    checks: dict[int, str] = field(default_factory=dict)
    loops: int = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * (2 + self.loops) + text)

    def fail_if(self, condition: str) -> None:
        self.line(f"if {condition}: {'continue' if self.loops else 'return'}")

    def term(self, term: Variable | Constant) -> str:
        if isinstance(term, Variable):
            return self.names[term.name]
        return self.writer.constant(term)

    def row(self, terms: Iterable[Variable | Constant]) -> str:
        return tuple_text(self.term(term) for term in terms)

    def key(self, atom: Atom, bound: Positions) -> str:
        if len(bound) == 1:
            return self.term(atom.arguments[bound[0]])
        return self.row(atom.arguments[at] for at in bound)

    def expression(self, expression: Expression) -> str:
        if isinstance(expression, Operation):
            arguments = tuple_text(self.expression(argument) for argument in expression.arguments)
            return f"apply({expression.name!r}, {arguments})"
        return f"value({self.term(expression)})"

    def check(self, index: int) -> str:
        return self.checks.setdefault(index, f"q{index}")

    def match_head(self, arguments: Iterable[tuple[int, Variable | Constant]], width: int) -> None:
        for at, argument in arguments:
            part = "k" if width == 1 else f"k[{at}]"
            if isinstance(argument, Variable) and argument.name not in self.known:
                self.known.add(argument.name)
                self.line(f"{self.term(argument)} = {part}")
            else:
                self.fail_if(f"{part} != {self.term(argument)}")

    def rows(self, atom: Atom, bound: Positions) -> None:
        """Set `rows` to all rows of a call: looked up, or answered in full first."""
        writer = self.writer
        node = Node(atom.signature, bound)
        number = writer.nodes.get(node)
        if number is None:
            at = writer.index(atom.signature, bound)
            self.line(f"k = {self.key(atom, bound)}")
            self.line(f"rows = m{at}.get(k)")
            self.line("if rows is None:")
            self.line(f"    rows = m{at}[k] = l{at}(k)")
        elif writer.waiting_group(node) is None:
            self.line(f"k = {self.key(atom, bound)}")
            self.line(f"rows = t{number}.get(k)")
            self.line(f"if rows is None: rows = n{number}(k)")
        else:
            self.line(f"rows = n{number}({self.key(atom, bound)})")

    def unpack(self, atom: Atom) -> tuple[str, list[str]]:
        """Give targets for a row, and conditions where a variable comes twice."""
        targets: list[str] = []
        conditions: list[str] = []
        new: set[str] = set()
        for at, argument in enumerate(atom.arguments):
            if not isinstance(argument, Variable) or argument.name in self.known:
                targets.append("_")
            elif argument.name in new:
                targets.append(f"w{at}")
                conditions.append(f"w{at} != {self.term(argument)}")
            else:
                new.add(argument.name)
                targets.append(self.term(argument))
        self.known |= new
        return "".join(f"{target}, " for target in targets).strip(), conditions

    def loop(self, atom: Atom) -> None:
        """Go through `rows`."""
        targets, conditions = self.unpack(atom)
        self.line("work += len(rows)")
        self.line("if work > limit: tick()")
        self.line(f"for {targets} in rows:")
        self.loops += 1
        for condition in conditions:
            self.fail_if(condition)

    def state(self) -> list[str]:
        """Give what a further function needs."""
        names = [self.names[name] for name in sorted(self.known)]
        return ["out", *names, *(self.checks[index] for index in sorted(self.checks))]

    def go_on(self, name: str, state: list[str]) -> None:
        """Begin the further function, which takes `state` and a row or rows."""
        self.lines = self.writer.begin(f"def {name}(state, rows):")
        self.loops = 0
        self.line(f"{tuple_text(state)} = state")


def _write_steps(function: _Function, steps: tuple[Step, ...], group: int | None) -> None:
    """Write steps; `group` is the component whose calls wait, None where none may."""
    writer = function.writer
    for step in steps:
        match step:
            case Read(_, atom, bound):
                node = Node(atom.signature, bound)
                if (
                    group is not None
                    and node in writer.nodes
                    and (writer.waiting_group(node) == group)
                ):
                    name, state = writer.name("f"), function.state()
                    key = function.key(atom, bound)
                    function.line(
                        f"wait{group}({writer.nodes[node]}, {key}, {name}, {tuple_text(state)})"
                    )
                    function.go_on(name, state)
                    targets, conditions = function.unpack(atom)
                    if targets:
                        function.line(f"{targets} = rows")
                    for condition in conditions:
                        function.fail_if(condition)
                    continue
                function.rows(atom, bound)
                if len(bound) == len(atom.arguments):
                    function.fail_if("not rows")
                    continue
                if function.loops == _DEEPEST:
                    name, state = writer.name("f"), function.state()
                    function.line(f"{name}({tuple_text(state)}, rows)")
                    function.go_on(name, state)
                function.loop(atom)
            case Test(index, comparison, is_definition):
                _write_test(function, index, comparison, is_definition)
            case Assign(index, variable, expression):
                check, target = function.check(index), function.term(variable)
                function.known.add(variable.name)
                if isinstance(expression, Operation):
                    computed = function.expression(expression)
                    function.line(f"{target}, {check} = define({computed})")
                else:
                    function.line(f"{target} = {function.term(expression)}")
                    function.line(f"{check} = T")
            case Refute(index, atom, bound):
                check = function.check(index)
                function.rows(atom, bound)
                number = writer.nodes.get(Node(atom.signature, bound))
                if number is None:
                    function.fail_if("rows")
                    function.line(f"{check} = unstated({atom.signature!r}) if tainted else T")
                else:
                    function.line(f"{check} = absent({number}, rows) if rows or tainted else T")
                    function.fail_if(f"{check} is F")
            case Collect():
                _write_collect(function, step)


def _write_test(
    function: _Function, index: int, comparison: Comparison, is_definition: bool
) -> None:
    check = function.check(index)
    left = function.expression(comparison.left)
    right = function.expression(comparison.right)
    if is_definition:
        function.line(f"{check} = defined({left}, {right})")
    else:
        operator = function.writer.operator(comparison.operator)
        function.line(f"{check} = truth({operator}, {left}, {right})")
    function.fail_if(f"{check} is F")


def _write_collect(function: _Function, step: Collect) -> None:
    """Write the conditions of an aggregate as a function of their own, and what follows it."""
    writer, aggregate, check = function.writer, step.aggregate, function.check(step.index)
    name = writer.name("a")
    arguments = tuple_text(function.term(variable) for variable in step.globals)
    function.line("found = {}")
    function.line(f"{name}({arguments}, found)")
    numbers = _tuple_of_reads(writer, step)
    function.line(f"x, {check} = aggregate({aggregate.function.value!r}, found, {numbers})")
    if step.assigned is not None:
        target = function.term(step.assigned)
        function.known.add(step.assigned.name)
        function.line(f"{target}, {check} = conclude(x, {check})")
    else:
        operator = writer.operator(aggregate.operator)
        result = function.expression(aggregate.result)
        function.line(f"if {check} is T: {check} = truth({operator}, {result}, x)")
        function.fail_if(f"{check} is F")
    known = {variable.name for variable in step.globals}
    names = {variable.name: function.term(variable) for variable in step.globals}
    for inner_step in step.steps:
        for variable in _new_names(inner_step):
            names.setdefault(variable, f"z{len(names)}")
    inner = _Function(writer, writer.begin(f"def {name}(state, out):"), names, function.node, known)
    if known:
        inner.line(f"{arguments} = state")
    _write_steps(inner, step.steps, None)
    checks = [f"{check} is T" for check in inner.checks.values()]
    calls = [
        (writer.nodes[Node(read.atom.signature, read.bound)], inner.row(read.atom.arguments))
        for read in step.steps
        if isinstance(read, Read) and Node(read.atom.signature, read.bound) in writer.nodes
    ]
    if calls:
        pairs = tuple_text(f"({number}, {row})" for number, row in calls)
        checks.append(f"(not doubts or certain({pairs}))")
    inner.line(f"k = {inner.row(aggregate.terms)}")
    inner.line(f"if {' and '.join(checks) or 'True'}: out[k] = True")
    inner.line("else: out.setdefault(k, False)")


def _tuple_of_reads(writer: CodeWriter, step: Collect) -> str:
    """Give the derived nodes, by number, and the stored predicates that an aggregate reads."""
    reads = [inner for inner in step.steps if isinstance(inner, (Read, Refute))]
    nodes = [Node(inner.atom.signature, inner.bound) for inner in reads]
    numbers = sorted({writer.nodes[node] for node in nodes if node in writer.nodes})
    stored = sorted({node.signature for node in nodes if node not in writer.nodes})
    return tuple_text([*map(str, numbers), *map(repr, stored)])


def _new_names(step: Step) -> list[str]:
    match step:
        case Read(_, atom, _) | Refute(_, atom, _):
            return sorted(names_of(atom))
        case Assign(_, variable, _):
            return [variable.name]
        case _:
            return []


def write_rule(writer: CodeWriter, rule: RulePlan) -> str:
    """Write one rule for one node; give the name of its first function."""
    clause = writer.plan.clauses[rule.number]
    slots = writer.slots[rule.number]
    names = {name: f"v{at}" for at, name in enumerate(slots)}
    # Names of `subclass_of` that only enumerate classes are no part of the clause.
    for step in rule.steps:
        for name in _new_names(step):
            names.setdefault(name, f"y{len(names)}")
    first = writer.name("f")
    function = _Function(
        writer, writer.begin(f"def {first}(k, out):"), names, writer.nodes[rule.node]
    )
    bound = rule.node.bound
    head = [(place, clause.head.arguments[at]) for place, at in enumerate(bound)]
    function.match_head(head, len(bound))
    group = writer.waiting_group(rule.node)
    _write_steps(function, rule.steps, group)
    checks = sorted(function.checks)
    writer.checks[rule.number] = tuple(checks)
    writer.defining[rule.number] = writer.defining.get(rule.number, frozenset()) | {
        step.index
        for step in rule.steps
        if isinstance(step, Assign) or (isinstance(step, Collect) and step.assigned is not None)
    }
    function.line(f"x = {tuple_text([str(rule.number), *(names[name] for name in slots)])}")
    function.line("record(x)")
    if checks:
        truths = [function.checks[index] for index in checks]
        doubted = " or ".join(f"{truth} is not T" for truth in truths)
        function.line(f"row = {function.row(clause.head.arguments)}")
        function.line(f"if {doubted}: doubt(x, {tuple_text(truths)}, {function.node}, row)")
    else:
        function.line(f"row = {function.row(clause.head.arguments)}")
    if group is None:
        function.line("out[row] = None")
    else:
        function.line(f"if row not in out.seen: out.seen.add(row); g{group}.append((out, row))")
    return first
