"""Reads the text of a policy: header, declarations, clauses with their comments."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from dataclasses import dataclass, replace

from rapidfuzz import process

from .clause import Clause, ClosedDeclaration, Policy
from .errors import Finding
from .gate import Gate, gate_clause
from .metadata import Block, is_rule_name, read_blocks, read_header
from .source_text import SourceText, StatementText, normalize, scan
from .syntax import MISSING_STOP, Declaration, Fault, Rule, read_statement

_NEW_LINE = re.compile(r"\n-?[a-z]")
"""A line that begins as a statement does."""
_RULE_LINE = re.compile(r"\n(?=-?[a-z][^\n]*:-)")
"""Before a line that begins as a rule does."""
_LINE_END = re.compile(r"[ \t\f]*\n\s*")


@dataclass(slots=True)
class _PolicyReading:
    """What has been read of a policy so far."""

    source: SourceText
    clauses: list[Clause]
    closed: list[ClosedDeclaration]
    functional: list[str]
    disjoint: list[tuple[str, str]]
    precedence: list[tuple[str, str]]
    gates: list[Gate]
    findings: list[Finding]

    def statement(self, statement: StatementText, block: Block | None) -> None:
        read, faults = read_statement(statement.text)
        for fault in faults:
            at = statement.start + fault.offset
            self.findings.append(self.source.finding(at, fault.code, fault.message))
        line, column = self.source.position(statement.start)
        match read:
            case Declaration(name, labels, indicator):
                if block is not None:
                    message = f"a declaration such as {name} takes no comment of a rule"
                    self.findings.append(self.source.finding(block.start, "metadata", message))
                if name == "applies_under" and indicator is not None:
                    dimension, label = labels
                    self.gates.append(Gate(*indicator, dimension, label, statement.start))
                else:
                    self.declaration(name, labels, indicator, line)
            case Rule(head, body):
                values = block.values if block is not None else {}
                self.clauses.append(
                    Clause(
                        id=values.get("rule", ""),
                        head=head,
                        body=body,
                        text=_LINE_END.sub(" ", statement.text),
                        cite=values.get("cite", ""),
                        says=values.get("says", ""),
                        line=line,
                        column=column,
                    )
                )

    def declaration(
        self, name: str, labels: tuple[str, ...], indicator: tuple[str, int] | None, line: int
    ) -> None:
        if indicator is not None:
            self.closed.append(ClosedDeclaration(*indicator, labels[0], line))
        elif name == "functional":
            self.functional.append(labels[0])
        elif name == "disjoint":
            self.disjoint.append((labels[0], labels[1]))
        else:
            self.precedence.append((labels[0], labels[1]))


def _blocks_by_statement(
    source: SourceText, blocks: list[Block], findings: list[Finding]
) -> dict[int, Block]:
    """Tie each block to the statement that follows it; positions are statement starts."""
    starts = [statement.start for statement in source.statements]
    tied: dict[int, Block] = {}
    for block in blocks:
        if block.is_header or not block.values:
            continue
        following = bisect_left(starts, block.end)
        if following == len(starts):
            findings.append(
                source.finding(block.start, "metadata", "the comment names a rule; none follows")
            )
            continue
        earlier = tied.get(starts[following])
        if earlier is not None:
            findings.append(
                source.finding(earlier.start, "metadata", "the comment names a rule; none follows")
            )
        tied[starts[following]] = block
    return tied


def _name_clauses(
    clauses: list[Clause], tied: dict[int, Block], source: SourceText, findings: list[Finding]
) -> tuple[Clause, ...]:
    """Give each unnamed clause the id `PREDICATE.N` and report names given twice."""
    taken: dict[str, int] = {}
    for clause in clauses:
        if not clause.id:
            continue
        block = tied[source.line_starts[clause.line - 1] + clause.column - 1]
        at = block.offsets["rule"]
        if not is_rule_name(clause.id):
            message = (
                f"{clause.id!r} is no name of a rule; expected letters, digits, _ . : ( ) / + -"
            )
            findings.append(source.finding(at, "metadata", message))
        elif clause.id in taken:
            message = f"rule {clause.id!r} has its name already at line {taken[clause.id]}"
            findings.append(source.finding(at, "duplicate_rule", message))
        taken.setdefault(clause.id, clause.line)
    named: list[Clause] = []
    ordinals: dict[str, int] = {}
    for clause in clauses:
        name = clause.id
        while not name or (name in taken and not clause.id):
            predicate = clause.head.signature[0]
            ordinals[predicate] = ordinals.get(predicate, 0) + 1
            name = f"{predicate}.{ordinals[predicate]}"
        named.append(replace(clause, id=name))
    return tuple(named)


def _check_gates(reading: _PolicyReading) -> None:
    """Report gates of no rule of the policy, and of dimensions that no atom can be of."""
    heads = {clause.head.signature for clause in reading.clauses}
    for gate in reading.gates:
        name = f"{gate.predicate}/{gate.arity}"
        if gate.signature not in heads:
            known = sorted(f"{predicate}/{arity}" for predicate, arity in heads)
            nearest = process.extractOne(name, known, score_cutoff=60)
            hint = f"; the nearest is {nearest[0]}" if nearest else ""
            message = f"applies_under names {name}, which no rule of the policy derives{hint}"
        elif not gate.arity:
            message = f"applies_under names {name}, which has no argument to be under a class"
        elif re.fullmatch(r"[a-z][A-Za-z0-9_]*", gate.dimension) is None:
            message = f"applies_under names {gate.dimension!r}, which is no name of a dimension"
        else:
            continue
        reading.findings.append(reading.source.finding(gate.start, "declaration", message))
    reading.gates[:] = [gate for gate in reading.gates if gate.arity]


def _separate(source: SourceText, findings: list[Finding]) -> SourceText:
    """Cut statements where a full stop is missing, so that the next one is read by itself."""
    statements: list[StatementText] = []
    waiting = list(reversed(source.statements))
    while waiting:
        statement = waiting.pop()
        fault = _fault_before_a_line(statement)
        if fault is None:
            statements.append(statement)
            continue
        text, is_stop = statement.text, fault.message == MISSING_STOP
        findings.append(source.finding(statement.start + fault.offset, fault.code, fault.message))
        rule = _RULE_LINE.search(text, max(fault.offset - 1, 0))
        cut = fault.offset if is_stop else rule.start() if rule is not None else len(text)
        first = f"{text[:cut]}." if is_stop else text[:cut]
        end = statement.start + cut
        statements.append(StatementText(first, statement.start, end, is_faulty=not is_stop))
        rest = text[cut:].lstrip()
        if rest:
            start = statement.end - len(rest)
            waiting.append(StatementText(rest, start, statement.end, is_faulty=False))
    return replace(source, statements=tuple(statements))


def _fault_before_a_line(statement: StatementText) -> Fault | None:
    """Give the first fault of a statement that may hold another one from a line on."""
    if statement.is_faulty or not _NEW_LINE.search(statement.text):
        return None
    _, faults = read_statement(statement.text)
    return faults[0] if faults and faults[0].code == "syntax" else None


def read_policy(text: str, *, name: str) -> tuple[Policy, tuple[Finding, ...]]:
    """Read what can be read of a policy, with the findings of the reading alone, by position."""
    text = normalize(text)
    source = scan(text)
    metadata = read_blocks(source)
    header = read_header(source, metadata, name=name)
    findings = [*source.findings, *metadata.findings]
    source = _separate(source, findings)
    tied = _blocks_by_statement(source, metadata.blocks, findings)
    reading = _PolicyReading(source, [], [], [], [], [], [], findings)
    for statement in source.statements:
        if not statement.is_faulty:
            reading.statement(statement, tied.get(statement.start))
    _check_gates(reading)
    clauses = _name_clauses(reading.clauses, tied, source, findings)
    policy = Policy(
        id=header.policy,
        version=header.version,
        effective=header.effective,
        clauses=tuple(gate_clause(clause, reading.gates) for clause in clauses),
        closed=tuple(reading.closed),
        functional=tuple(reading.functional),
        disjoint=tuple(reading.disjoint),
        precedence=tuple(reading.precedence),
        text=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )
    return policy, tuple(sorted(findings))
