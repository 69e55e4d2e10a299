"""Facts: ground atoms with the leaves that support them, and the indexed base that holds them."""

from __future__ import annotations

import datetime
import hashlib
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Protocol

from kb.statement import (
    ALWAYS,
    Entity,
    Evidence,
    Modality,
    Polarity,
    Statement,
    TaxonClass,
    Text,
    Validity,
)

from .atom import Atom, Constant, Variable, is_predicate_name
from .collection import paused_collection
from .relation import Key, Lookup, Positions, Relation, Row, Stating, leaf_order
from .retraction import ReducedRelation, Retraction
from .terms import Terms

Signature = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Fact:
    """A ground atom that sources state.

    `leaf` names what supports it: a statement id (`st:...`) of the knowledge base or of a facts
    file, `provenance`, `identity`, `request`, `declared` for what a policy or a dimension declares,
    or `assumed` for an assumption of the request.
    Several statements may give one atom: then there are several facts, and `leaf` order decides
    which is cited first. The fact is visible on the days of `validity`.
    """

    atom: Atom
    leaf: str
    validity: Validity = ALWAYS


def fact_id(atom: Atom) -> str:
    """Give the statement id of a fact of a facts file: `st:` and a digest of its text."""
    return f"st:{hashlib.sha256(str(atom).encode()).hexdigest()[:32]}"


def gives_facts(statement: Statement) -> bool:
    """Whether policies see a statement: asserted, of a dimension that can name a predicate."""
    return statement.modality is Modality.ASSERTED and is_predicate_name(statement.dimension)


def term_of(statement: Statement) -> Constant:
    """Give the value of a statement as policies see it: names, classes and texts are texts."""
    match statement.value:
        case Entity(text) | TaxonClass(text) | Text(text):
            return text
        case value:
            return value


def facts_of(
    statement_id: str, statement: Statement, evidence: Sequence[Evidence]
) -> tuple[Fact, ...]:
    """Give the facts of a statement: `d(S, V)`, `d(S, V, St)` and where it is stated.

    A statement that policies do not see gives none; a denial gives `-d(..)`.
    """
    if not gives_facts(statement):
        return ()
    name, subject, value = statement.dimension, statement.subject, term_of(statement)
    validity, negated = statement.validity, statement.polarity is Polarity.DENIED
    return (
        Fact(Atom(name, (subject, value), negated), statement_id, validity),
        Fact(Atom(name, (subject, value, statement_id), negated), statement_id, validity),
        *(
            Fact(Atom("stated_in", (statement_id, f"doc:{source}")), "provenance")
            for source in sorted({item.source_sha256 for item in evidence})
        ),
    )


Stated = tuple[int, int, str, Validity]
"""A statement: subject and value in ids, the statement id as its leaf, and when it holds."""


class StatementSource(Protocol):
    """What keeps the statements of a base until they are asked for; it does not change."""

    def predicates(self) -> Iterable[str]:
        """Give the predicates of which something is stated, with `-` for denials, each once."""

    def statements(self, predicate: str) -> Iterable[tuple[str, Statement]]:
        """Give the ids and statements of a predicate, in a fixed order."""

    def provenance(self) -> Iterable[tuple[str, str]]:
        """Give the id of every statement of the predicates with the digest of each its source."""


class _Statements:
    """The statements of a predicate, read when first asked for and kept."""

    __slots__ = ("_kept", "_lock", "_predicate", "_source", "_terms")

    def __init__(self, source: StatementSource, predicate: str, terms: Terms) -> None:
        self._source, self._predicate, self._terms = source, predicate, terms
        self._kept: list[Stated] | None = None
        self._lock = threading.Lock()

    def _read(self) -> list[Stated]:
        with self._lock:
            if self._kept is None:
                with self._terms.kept() as intern:
                    self._kept = [
                        (
                            intern(statement.subject),
                            intern(term_of(statement)),
                            leaf,
                            _lasting(statement.validity),
                        )
                        for leaf, statement in self._source.statements(self._predicate)
                    ]
            return self._kept

    def pairs(self) -> Iterator[tuple[Row, Stating]]:
        """Give the rows of subject and value."""
        return (((stated[0], stated[1]), stated[2:]) for stated in self._read())

    def triples(self) -> Iterator[tuple[Row, Stating]]:
        """Give the rows of subject, value and statement."""
        stated = self._read()
        with self._terms.kept() as intern:
            for subject, value, leaf, validity in stated:
                yield (subject, value, intern(leaf)), (leaf, validity)


class FactBase:
    """An indexed, unchanging set of facts; constants are interned, rows are tuples of their ids.

    `with_facts` lays further facts over it without touching it. Building costs about 2 us per
    fact; each index is built at the first lookup that needs it. Several threads may read one base.
    """

    __slots__ = ("_layers", "_signatures", "_terms")

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._terms = Terms()
        self._layers: dict[Signature, tuple[Relation, ...]] = {}
        self._signatures: frozenset[Signature] | None = None
        with paused_collection():
            self._add(facts)

    @staticmethod
    def of_statements(source: StatementSource) -> FactBase:
        """Give the base of the facts that `facts_of` gives of each statement of a source.

        Statements of a predicate are read when it is first looked up, and where they are stated
        when that is: a goal costs what it reads.
        """
        base = FactBase()
        layers: dict[Signature, tuple[Relation, ...]] = {}
        for predicate in source.predicates():
            statements = _Statements(source, predicate, base._terms)
            layers[predicate, 2] = (Relation(2, statements.pairs),)
            layers[predicate, 3] = (Relation(3, statements.triples),)
        if layers:
            stated_in = Relation(2, partial(_provenance, source, base._terms))
            layers["stated_in", 2] = (*layers.get(("stated_in", 2), ()), stated_in)
        base._layers = layers
        return base

    def _add(self, facts: Iterable[Fact]) -> None:
        intern = self._terms.intern
        fresh: dict[Signature, Relation] = {}
        for fact in facts:
            row = tuple([intern(argument) for argument in _constants(fact.atom)])
            signature = fact.atom.signature
            relation = fresh.get(signature)
            if relation is None:
                relation = fresh[signature] = Relation(signature[1])
            relation.add(row, fact.leaf, _lasting(fact.validity))
        for signature, relation in fresh.items():
            self._layers[signature] = (*self._layers.get(signature, ()), relation)

    def with_facts(self, facts: Iterable[Fact]) -> FactBase:
        """Give a base with further facts; it shares this one's table of constants."""
        laid = FactBase()
        laid._terms, laid._layers = self._terms, dict(self._layers)
        laid._add(facts)
        return laid

    def without(
        self, retracted: Iterable[Retraction], places: Iterable[tuple[str, str]] = ()
    ) -> FactBase:
        """Give a base without some statements, without where they stand too.

        `places` are statements with one source each in which they then do not stand. The base
        shares this one's table of constants. What is not there is passed over.
        """
        intern, gone = self._terms.intern, dict[Signature, dict[Row, set[str]]]()
        for item in retracted:
            row = tuple([intern(argument) for argument in _constants(item.atom)])
            name, arity = item.atom.signature
            gone.setdefault((name, arity), {}).setdefault(row, set()).add(item.statement)
            statement = intern(item.statement)
            if arity == 2:
                gone.setdefault((name, 3), {})[(*row, statement)] = {item.statement}
            for place in self.lookup(("stated_in", 2), (0,), None)(statement):
                gone.setdefault(("stated_in", 2), {})[place] = {"provenance"}
        for name, source in places:
            place = (intern(name), intern(f"doc:{source}"))
            gone.setdefault(("stated_in", 2), {})[place] = {"provenance"}
        reduced = FactBase()
        reduced._terms, reduced._layers = self._terms, dict(self._layers)
        for signature in gone.keys() & self._layers.keys():
            reduced._layers[signature] = tuple(
                _reduced(layer, gone[signature]) for layer in self._layers[signature]
            )
        return reduced

    def signatures(self) -> frozenset[Signature]:
        """Give predicate (with `-` for denials) and arity of everything stated, on any day."""
        found = self._signatures
        if found is None:
            found = self._signatures = frozenset(self._layers)
        return found

    def facts(self) -> Iterator[Fact]:
        """Give every fact, whatever its validity, by signature and then as it came."""
        terms = self._terms
        for signature in sorted(self._layers):
            for relation in self._layers[signature]:
                for row, statings in relation.rows.items():
                    atom = terms.atom(signature, row)
                    yield from (Fact(atom, *stating) for stating in statings)

    def __len__(self) -> int:
        return sum(
            len(statings)
            for layers in self._layers.values()
            for relation in layers
            for statings in relation.rows.values()
        )

    def match(self, pattern: Atom, valid_on: datetime.date | None) -> tuple[Fact, ...]:
        """Give the visible facts that match an atom, by (text, leaf).

        A variable matches anything, the same value wherever it stands twice.
        """
        positions, key_parts = [], []
        places: dict[str, list[int]] = {}
        intern = self._terms.intern
        for at, argument in enumerate(pattern.arguments):
            if isinstance(argument, Variable):
                places.setdefault(argument.name, []).append(at)
            else:
                positions.append(at)
                key_parts.append(intern(argument))
        key: Key = key_parts[0] if len(key_parts) == 1 else tuple(key_parts)
        rows = self.lookup(pattern.signature, tuple(positions), valid_on)(key)
        found = [
            fact
            for row in rows
            if all(len({row[at] for at in group}) == 1 for group in places.values())
            for fact in self.facts_at(pattern.signature, row, valid_on)
        ]
        return tuple(sorted(found, key=lambda fact: (str(fact.atom), fact.leaf)))

    def lookup(
        self, signature: Signature, positions: Positions, valid_on: datetime.date | None
    ) -> Lookup:
        """Give the function from a key (values at `positions`) to the visible rows."""
        layers = self._layers.get(signature, ())
        if not layers:
            return _nothing
        if len(layers) == 1:
            return layers[0].lookup(positions, valid_on)
        lookups = [layer.lookup(positions, valid_on) for layer in layers]
        return lambda key: list(dict.fromkeys(chain(*[look(key) for look in lookups])))

    def statings(
        self, signature: Signature, valid_on: datetime.date | None
    ) -> Callable[[Row], Sequence[Stating]]:
        """Give the function from a row to what visibly states it, by leaf."""
        layers = self._layers.get(signature, ())
        if not layers:
            return _unstated
        if len(layers) > 1:
            return lambda row: self._statings(signature, row, valid_on)
        rows = layers[0].rows

        def find(row: Row) -> Sequence[Stating]:
            found = rows.get(row, ())
            if valid_on is None or (len(found) == 1 and found[0][1] is ALWAYS):
                return found
            return self._statings(signature, row, valid_on)

        return find

    def states(self, signature: Signature, row: Row, valid_on: datetime.date | None) -> bool:
        """Whether a visible fact gives the row."""
        return bool(self._statings(signature, row, valid_on))

    def _statings(
        self, signature: Signature, row: Row, valid_on: datetime.date | None
    ) -> Sequence[Stating]:
        layers = self._layers.get(signature, ())
        if len(layers) == 1:
            found: Sequence[Stating] = layers[0].rows.get(row, ())
        else:
            several = chain(*[layer.rows.get(row, ()) for layer in layers])
            found = sorted(several, key=leaf_order)
        if valid_on is None:
            return found
        return [
            stating for stating in found if stating[1] is ALWAYS or stating[1].holds_on(valid_on)
        ]

    def facts_at(
        self,
        signature: Signature,
        row: Row,
        valid_on: datetime.date | None,
    ) -> tuple[Fact, ...]:
        """Give the visible facts of one row, by leaf."""
        found = self._statings(signature, row, valid_on)
        if not found:
            return ()
        atom = self._terms.atom(signature, row)
        return tuple([Fact(atom, *stating) for stating in found])

    def terms(self) -> Terms:
        """Give the table of constants; an evaluation may add its own, which stay."""
        return self._terms


def _constants(atom: Atom) -> Iterator[Constant]:
    for argument in atom.arguments:
        if isinstance(argument, Variable):
            raise ValueError(f"the fact {atom} holds a variable; facts are ground")
        yield argument


def _reduced(layer: Relation, gone: Mapping[Row, Collection[str]]) -> Relation:
    """Give a relation without some leaves of some rows; itself where it has none of them."""
    left = {}
    for row, leaves in gone.items():
        statings = layer.rows.get(row, ())
        kept = tuple(stating for stating in statings if stating[0] not in leaves)
        if len(kept) < len(statings):
            left[row] = kept
    return ReducedRelation(layer, left) if left else layer


def _provenance(source: StatementSource, terms: Terms) -> Iterator[tuple[Row, Stating]]:
    with terms.kept() as intern:
        for leaf, source_sha256 in source.provenance():
            yield (intern(leaf), intern(f"doc:{source_sha256}")), ("provenance", ALWAYS)


def _lasting(validity: Validity) -> Validity:
    """Give ALWAYS itself for a validity without bounds, so that it can be told by identity."""
    return ALWAYS if validity.start is None and validity.end is None else validity


def _unstated(_: Row) -> Sequence[Stating]:
    return ()


def _nothing(_: Key) -> Sequence[Row]:
    return ()
