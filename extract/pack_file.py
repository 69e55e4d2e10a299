"""YAML files of a pack, read with the line of every node, so that findings can point at it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from .errors import Finding

FAST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's reader where PyYAML was built with it."""


@dataclass(slots=True)
class Findings:
    """Collects what is wrong with a pack while it is read; nothing is raised before the end."""

    root: Path
    found: list[Finding] = field(default_factory=list)

    def add(self, file: Path, line: int, message: str) -> None:
        """Note one problem at a one-based line."""
        name = file.relative_to(self.root) if file.is_relative_to(self.root) else file
        self.found.append(Finding(name.as_posix(), line, message))


@dataclass(frozen=True, slots=True)
class PackNode:
    """A YAML node: where it stands and typed access that reports instead of raising."""

    node: yaml.Node
    file: Path
    findings: Findings

    @property
    def line(self) -> int:
        """One-based line of the node."""
        return int(self.node.start_mark.line) + 1

    def complain(self, message: str) -> None:
        """Note a problem at this node."""
        self.findings.add(self.file, self.line, message)

    def _at(self, node: yaml.Node) -> PackNode:
        return PackNode(node, self.file, self.findings)

    def pairs(self) -> tuple[tuple[PackNode, PackNode], ...]:
        """Give the entries of a mapping in order, repeated keys included."""
        if not isinstance(self.node, yaml.MappingNode):
            self.complain("expected a mapping of names to values")
            return ()
        return tuple((self._at(key), self._at(value)) for key, value in self.node.value)

    def items(self) -> tuple[PackNode, ...]:
        """Give the elements of a list; a single text counts as a list of one."""
        if isinstance(self.node, yaml.ScalarNode):
            return (self,) if self.node.tag != "tag:yaml.org,2002:null" else ()
        if not isinstance(self.node, yaml.SequenceNode):
            self.complain("expected a list")
            return ()
        return tuple(self._at(element) for element in self.node.value)

    def is_mapping(self) -> bool:
        """Whether the node is a mapping."""
        return isinstance(self.node, yaml.MappingNode)

    def is_list(self) -> bool:
        """Whether the node is a list."""
        return isinstance(self.node, yaml.SequenceNode)

    def text(self) -> str:
        """Give the text of a scalar as written."""
        if not isinstance(self.node, yaml.ScalarNode):
            self.complain("expected a text")
            return ""
        return str(self.node.value)

    def texts(self) -> tuple[str, ...]:
        """Give a list of texts."""
        return tuple(item.text() for item in self.items())

    def flag(self) -> bool:
        """Give a yes or no."""
        text = self.text().lower()
        if text not in ("true", "false"):
            self.complain(f"{text!r} is neither true nor false")
        return text == "true"

    def choice(self, allowed: Collection[str]) -> str:
        """Give a text that must be one of those allowed."""
        text = self.text()
        if text not in allowed:
            self.complain(f"{text!r} is unknown here; expected {_one_of(text, allowed)}")
        return text

    def fields(self, allowed: Collection[str], *, required: Collection[str] = ()) -> Fields:
        """Give the entries of a mapping by key; unknown, repeated and missing keys are reported."""
        entries: dict[str, PackNode] = {}
        for key, value in self.pairs():
            name = key.text()
            if name not in allowed:
                key.complain(f"{name!r} is no key here; expected {_one_of(name, allowed)}")
            elif name in entries:
                key.complain(f"{name!r} is given twice")
            else:
                entries[name] = value
        if self.is_mapping():
            for name in sorted(set(required) - set(entries)):
                self.complain(f"the key {name!r} is missing")
        return Fields(entries)


@dataclass(frozen=True, slots=True)
class Fields:
    """Entries of a mapping by key."""

    entries: dict[str, PackNode]

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def get(self, name: str) -> PackNode | None:
        """Give the node of a key, or None."""
        return self.entries.get(name)

    def text(self, name: str, default: str = "") -> str:
        """Give a text entry, or the default."""
        node = self.entries.get(name)
        return default if node is None else node.text()

    def texts(self, name: str) -> tuple[str, ...]:
        """Give a list entry, empty when it is absent."""
        node = self.entries.get(name)
        return () if node is None else node.texts()

    def items(self, name: str) -> Iterator[PackNode]:
        """Give the elements of a list entry, none when it is absent."""
        node = self.entries.get(name)
        yield from () if node is None else node.items()

    def flag(self, name: str, *, default: bool) -> bool:
        """Give a yes-or-no entry, or the default."""
        node = self.entries.get(name)
        return default if node is None else node.flag()

    def choice(self, name: str, allowed: Collection[str], default: str) -> str:
        """Give an entry that must be one of those allowed, or the default."""
        node = self.entries.get(name)
        return default if node is None else node.choice(allowed)


def _one_of(name: str, allowed: Collection[str]) -> str:
    near = nearest(name, allowed)
    listed = ", ".join(sorted(allowed))
    return f"one of {listed}" + (f"; nearest is {near!r}" if near else "")


def nearest(name: str, known: Collection[str]) -> str | None:
    """Give the known name nearest to a misspelt one, or None if none is near."""
    folded = {candidate.casefold(): candidate for candidate in sorted(known)}
    found = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def compose(text: str) -> yaml.Node | None:
    """Give the tree of a YAML text, by libyaml, ten times as fast; faults are worded in Python.

    Raises yaml.YAMLError.
    """
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=FAST_LOADER)
    except yaml.YAMLError:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    return node


def read_pack_file(file: Path, findings: Findings) -> PackNode | None:
    """Read one YAML file; syntax errors and empty files are reported and give None."""
    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        findings.add(file, 1, f"the file is no UTF-8 text ({error.reason} at byte {error.start})")
        return None
    try:
        node = compose(text)
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        findings.add(file, line, f"the file is no valid YAML: {error.problem}")
        return None
    except yaml.YAMLError as error:
        findings.add(file, 1, f"the file is no valid YAML: {error}")
        return None
    if node is None:
        findings.add(file, 1, "the file is empty; expected a mapping")
        return None
    return PackNode(node, file, findings)
