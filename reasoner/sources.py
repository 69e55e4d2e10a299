"""Where statements stand: what a certificate needs to know of its leaves, and who provides it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.statement import Evidence, Statement

from .atom import Atom
from .errors import GoalRejected, PolicyRejected
from .facts import Fact, FactBase, fact_id
from .policy import FactLine, parse_facts
from .source_text import normalize, scan
from .verify import NEVER_STATED, Texts

FACTS_DECODER = "facts/1"
"""Decoder of facts files; the checker reads such sources again to check what they do not hold."""


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """What a certificate says of a source."""

    media_type: str
    title: str
    decoder: str
    text_sha256: str


@dataclass(frozen=True, slots=True)
class StatementRecord:
    """A statement with its evidence; a fact of a facts file is an atom and no `statement`."""

    atom: Atom | None
    statement: Statement | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a search for an open requirement found.

    `accepted` passages are about the entity, `rejected` ones failed the entity check; both by
    title, best first.
    """

    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()


class Sources(Protocol):
    """Statements, sources and texts behind the facts of a request.

    `texts` is what the checker reads quotes from; it keeps what it has hashed. `fact_sources` are
    the digests of facts files if these hold *all* facts of the request, else empty.
    """

    @property
    def texts(self) -> Texts: ...

    @property
    def fact_sources(self) -> tuple[str, ...]: ...

    @property
    def functional(self) -> frozenset[str]:
        """Dimensions with one value at a time, beside those a policy declares."""
        ...

    @property
    def disjoint(self) -> frozenset[tuple[str, str]]:
        """Pairs of classes that exclude each other, beside those a policy declares."""
        ...

    def statement(self, statement_id: str) -> StatementRecord: ...

    def source(self, source_sha256: str) -> SourceRecord: ...

    def named(self, label: str) -> tuple[str, ...]:
        """Give the digests of whole sources of a name, as closed declarations name them."""
        ...

    def lacks(self, label: str) -> bool:
        """Whether a declaration means a file of a table that is not there as a whole."""
        ...

    def is_missing(self, label: str) -> bool:
        """Whether a declaration means a file of a table of which nothing is there."""
        ...

    def candidates(self, query: str, entity: str) -> Candidates:
        """Search for what would close an open requirement, about an entity."""
        ...

    def refused(self, dimension: str, entity: str) -> tuple[str, ...]:
        """Give the candidates of a dimension and entity that were refused: reason and place."""
        ...


@dataclass(frozen=True, slots=True)
class FactsFiles:
    """Sources of a request whose facts all stand in facts files."""

    records: dict[str, StatementRecord]
    sources: dict[str, SourceRecord]
    texts: Texts
    functional: frozenset[str] = frozenset()
    disjoint: frozenset[tuple[str, str]] = frozenset()

    @property
    def fact_sources(self) -> tuple[str, ...]:
        """All files: each is read again whole."""
        return tuple(sorted(self.sources))

    def statement(self, statement_id: str) -> StatementRecord:
        """Give a fact with the places where it stands."""
        return self.records[statement_id]

    def source(self, source_sha256: str) -> SourceRecord:
        """Give a facts file."""
        return self.sources[source_sha256]

    def named(self, label: str) -> tuple[str, ...]:  # noqa: ARG002 # protocol
        """Facts files are whole, whatever their names."""
        return ()

    def lacks(self, label: str) -> bool:  # noqa: ARG002 # protocol
        """Facts files stand for the sources that declarations name."""
        return False

    def is_missing(self, label: str) -> bool:  # noqa: ARG002 # protocol
        """Facts files stand for the sources that declarations name."""
        return False

    def candidates(self, query: str, entity: str) -> Candidates:  # noqa: ARG002 # protocol
        """Facts files hold no passages to search."""
        return Candidates()

    def refused(self, dimension: str, entity: str) -> tuple[str, ...]:  # noqa: ARG002 # protocol
        """A facts file is taken as a whole or not at all."""
        return ()


def facts_file_sources(*files: tuple[str, bytes | str]) -> tuple[FactBase, FactsFiles]:
    """Read facts files, each a name and its content, into a fact base and its sources.

    Each fact is a statement whose quote is its text in the file. Raises PolicyRejected with every
    error of a file, and GoalRejected for bytes that are no UTF-8.
    """
    facts: list[Fact] = []
    evidence: dict[str, list[Evidence]] = {}
    atoms: dict[str, Atom] = {}
    sources: dict[str, SourceRecord] = {}
    texts: dict[str, str] = {}
    for name, content in files:
        data = content.encode() if isinstance(content, str) else content
        try:
            text = normalize(data.decode())
        except UnicodeDecodeError as error:
            raise GoalRejected(
                f"{name} is no UTF-8 at byte {error.start}; expected facts as UTF-8 text"
            ) from error
        source, digest = hashlib.sha256(data).hexdigest(), hashlib.sha256(text.encode()).hexdigest()
        sources[source] = SourceRecord("text/x-proofweave-facts", name, FACTS_DECODER, digest)
        texts[digest] = text
        lines = parse_facts(text, name=name)
        _check_names(lines, text, name)
        _collect(lines, text, source, digest, facts, atoms, evidence)
    records = {
        name: StatementRecord(atom, None, tuple(evidence[name])) for name, atom in atoms.items()
    }
    return FactBase(facts), FactsFiles(records, sources, Texts(texts))


def _check_names(lines: Sequence[FactLine], text: str, name: str) -> None:
    """Refuse facts of what rules, the request, evidence or spelling conclude."""
    signs = {line: "{}/{}".format(*line.atom.signature) for line in lines}
    faults = {line: sign for line, sign in signs.items() if sign in NEVER_STATED}
    if faults:
        source = scan(text)
        findings = [
            source.finding(line.start, "reserved", f"{sign} is built in; no source states it")
            for line, sign in faults.items()
        ]
        raise PolicyRejected(name, tuple(findings))


def _collect(
    lines: Sequence[FactLine],
    text: str,
    source: str,
    digest: str,
    facts: list[Fact],
    atoms: dict[str, Atom],
    evidence: dict[str, list[Evidence]],
) -> None:
    for line in lines:
        name = fact_id(line.atom)
        if name not in atoms:
            atoms[name], evidence[name] = line.atom, []
            facts.append(Fact(line.atom, name))
        if not any(item.source_sha256 == source for item in evidence[name]):
            facts.append(Fact(Atom("stated_in", (name, f"doc:{source}")), "provenance"))
        evidence[name].append(
            Evidence(
                name, source, digest, line.start, line.end, text[line.start : line.end], "facts/1"
            )
        )
