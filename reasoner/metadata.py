"""The `%!` comments of a policy: who it is, and what each rule is called, cites and says.

Names, citations and sentences live here; what changes meaning is never a comment (DESIGN section
4, Policies).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import yaml
from rapidfuzz import fuzz, process

from .errors import Finding
from .source_text import MetadataLine, SourceText

HEADER_KEYS = ("policy", "version", "effective")
RULE_KEYS = ("rule", "cite", "says")


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive `%!` lines: values by key, the offset of each key, and the offset of the end."""

    values: dict[str, str]
    offsets: dict[str, int]
    start: int
    end: int

    @property
    def is_header(self) -> bool:
        """Whether it describes the policy and not a rule."""
        return "policy" in self.values


@dataclass(frozen=True, slots=True)
class Header:
    """What the header says; `effective` is half-open `[start, end)`."""

    policy: str
    version: str
    effective: tuple[datetime.date | None, datetime.date | None] = (None, None)


@dataclass(slots=True)
class MetadataReading:
    """The blocks of a file and what was wrong with them."""

    blocks: list[Block] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def read_blocks(source: SourceText) -> MetadataReading:
    """Read every run of consecutive `%!` lines as one YAML mapping of texts."""
    reading = MetadataReading()
    run: list[MetadataLine] = []
    for line in source.metadata:
        if run and line.line != run[-1].line + 1:
            _read_block(source, run, reading)
            run = []
        run.append(line)
    if run:
        _read_block(source, run, reading)
    return reading


def _read_block(
    source: SourceText, lines: Sequence[MetadataLine], reading: MetadataReading
) -> None:
    def report(offset: int, message: str) -> None:
        reading.findings.append(source.finding(offset, "metadata", message))

    start, end = lines[0].start, lines[-1].start + len(lines[-1].text)
    text = "\n".join(line.text for line in lines)
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        row = min(mark.line, len(lines) - 1) if mark is not None else 0
        column = mark.column if mark is not None else 0
        report(lines[row].start + column, f"the comment is no YAML mapping: {error.problem}")
        return
    except yaml.YAMLError:
        report(start, "the comment holds a character that YAML does not allow")
        return
    if node is None:
        return
    if not isinstance(node, yaml.MappingNode):
        report(start, "the comment is no YAML mapping; expected lines such as `rule: insured`")
        return
    values: dict[str, str] = {}
    offsets: dict[str, int] = {}
    for key, value in node.value:
        at = lines[key.start_mark.line].start + key.start_mark.column
        name = str(key.value)
        if not isinstance(value, yaml.ScalarNode):
            report(at, f"{name!r} is no text; expected one value on its line")
        elif name not in HEADER_KEYS + RULE_KEYS:
            nearest = process.extractOne(name, HEADER_KEYS + RULE_KEYS, scorer=fuzz.ratio)
            report(
                at,
                f"{name!r} is no key; expected one of {', '.join(HEADER_KEYS + RULE_KEYS)}"
                + (f"; did you mean {nearest[0]!r}?" if nearest and nearest[1] >= 60 else ""),
            )
        elif name in values:
            report(at, f"{name!r} is given twice in one comment")
        else:
            values[name], offsets[name] = str(value.value).strip(), at
    block = Block(values, offsets, start, end)
    wrong = RULE_KEYS if block.is_header else HEADER_KEYS
    for name in wrong:
        if name in values:
            where = "the header" if block.is_header else "the comment of a rule"
            report(
                offsets[name],
                f"{name!r} does not belong into {where}; expected an empty line between the two",
            )
    if not block.is_header and values and "rule" not in values:
        report(start, "the comment names no rule; expected `rule: NAME`")
    reading.blocks.append(block)


_RULE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:()/+-]*\Z", re.ASCII)


def is_rule_name(name: str) -> bool:
    """Whether `name` may name a policy or a rule: ASCII, without spaces."""
    return _RULE_NAME.match(name) is not None


def read_header(source: SourceText, reading: MetadataReading, *, name: str) -> Header:
    """Read the header; a file without one is policy `name` in version 0, always in effect."""
    headers = [block for block in reading.blocks if block.is_header]
    for extra in headers[1:]:
        reading.findings.append(
            source.finding(extra.start, "metadata", "a second header; a policy has one")
        )
    if not headers:
        return Header(name, "0")
    block = headers[0]
    if not is_rule_name(block.values["policy"]):
        reading.findings.append(
            source.finding(
                block.offsets["policy"],
                "metadata",
                f"{block.values['policy']!r} is no name of a policy; expected letters, digits, "
                "_ . : ( ) / + -",
            )
        )
    effective: tuple[datetime.date | None, datetime.date | None] = (None, None)
    if "effective" in block.values:
        try:
            effective = _read_effective(block.values["effective"])
        except ValueError as error:
            reading.findings.append(
                source.finding(block.offsets["effective"], "metadata", str(error))
            )
    return Header(block.values["policy"], block.values.get("version", "0"), effective)


def _read_effective(text: str) -> tuple[datetime.date | None, datetime.date | None]:
    first, separator, last = text.partition("/")
    expected = "expected 2026-01-01/.. or 2026-01-01/2027-01-01 (the end is not included)"
    if not separator:
        raise ValueError(f"{text!r} is no interval; {expected}")
    try:
        start = None if first.strip() == ".." else datetime.date.fromisoformat(first.strip())
        end = None if last.strip() == ".." else datetime.date.fromisoformat(last.strip())
    except ValueError as error:
        raise ValueError(f"{text!r} is no interval: {error}; {expected}") from error
    if start is not None and end is not None and start >= end:
        raise ValueError(f"{text!r} is empty; the end must follow the start")
    return start, end
