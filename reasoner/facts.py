"""Facts: ground atoms with the leaves that support them, and the indexed base that holds them."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

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

Signature = tuple[str, int]
Row = tuple[int, ...]
Key = int | Row
Lookup = Callable[[Key], Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Fact:
    """A ground atom that sources state.

    `leaf` names what supports it: a statement id (`st:...`) of the knowledge base or of a facts
    file, `provenance`, `identity`, `request`, or `assumed` for an assumption of the request.
    Several statements may give one atom: then there are several facts, and `leaf` order decides
    which is cited first. The fact is visible on the days of `validity`.
    """

    atom: Atom
    leaf: str
    validity: Validity = ALWAYS


def fact_id(atom: Atom) -> str:
    """Give the statement id of a fact of a facts file: `st:` and a digest of its text."""
    return f"st:{hashlib.sha256(str(atom).encode()).hexdigest()[:32]}"


def facts_of(
    statement_id: str, statement: Statement, evidence: Sequence[Evidence]
) -> tuple[Fact, ...]:
    """Give the facts of a statement: `d(S, V)`, `d(S, V, St)` and where it is stated.

    Only asserted statements of a dimension that can name a predicate give facts; a denial gives
    `-d(..)`.
    """
    name = statement.dimension
    if statement.modality is not Modality.ASSERTED or not is_predicate_name(name):
        return ()
    value: Constant
    match statement.value:
        case Entity(text) | TaxonClass(text) | Text(text):
            value = text
        case other:
            value = other
    subject, validity = statement.subject, statement.validity
    negated = statement.polarity is Polarity.DENIED
    sources = dict.fromkeys(sorted(item.source_sha256 for item in evidence))
    return (
        Fact(Atom(name, (subject, value), negated), statement_id, validity),
        Fact(Atom(name, (subject, value, statement_id), negated), statement_id, validity),
        *(
            Fact(Atom("stated_in", (statement_id, f"doc:{source}")), "provenance")
            for source in sources
        ),
    )


class Relation:
    """The rows of one signature, with indexes that are built when first asked for.

    Rows are in the order they came. A row is `bounded` if every fact that gives it is.
    """

    __slots__ = ("arity", "bounded", "facts", "indexes")

    def __init__(self, arity: int) -> None:
        self.arity = arity
        self.facts: dict[Row, tuple[Fact, ...]] = {}
        self.bounded: dict[Row, tuple[Validity, ...]] = {}
        self.indexes: dict[tuple[int, ...], dict[Key, Sequence[Row]]] = {}

    def index(self, positions: tuple[int, ...]) -> dict[Key, Sequence[Row]]:
        """Give rows by their values at `positions`: a bare id for one position, else a tuple."""
        found = self.indexes.get(positions)
        if found is None:
            grouped: dict[Key, list[Row]] = {}
            if not positions:
                grouped[()] = list(self.facts)
            elif len(positions) == 1:
                (at,) = positions
                for row in self.facts:
                    grouped.setdefault(row[at], []).append(row)
            elif len(positions) == self.arity:
                grouped = {row: [row] for row in self.facts}
            else:
                for row in self.facts:
                    grouped.setdefault(tuple([row[at] for at in positions]), []).append(row)
            # Published in one step: another thread sees no index or all of it.
            found = self.indexes[positions] = dict(grouped)
        return found

    def is_visible(self, row: Row, day: datetime.date | None) -> bool:
        """Whether the relation holds the row on that day; on any day for None."""
        if row not in self.facts:
            return False
        validities = self.bounded.get(row)
        return (
            day is None
            or validities is None
            or any(validity.holds_on(day) for validity in validities)
        )

    def lookup(self, positions: tuple[int, ...], day: datetime.date | None) -> Lookup:
        """Give the function from a key to the rows that are visible on `day`."""
        get = self.index(positions).get
        bounded = self.bounded
        if day is None or not bounded:
            return lambda key: get(key, ())

        def visible(key: Key) -> Sequence[Row]:
            rows = get(key, ())
            if any(row in bounded for row in rows):
                return [row for row in rows if self.is_visible(row, day)]
            return rows

        return visible


class FactBase:
    """An indexed, unchanging set of facts; constants are interned, rows are tuples of their ids.

    `with_facts` lays further facts over it without touching it. Building costs about 2 us per
    fact; each index is built at the first lookup that needs it.
    """

    __slots__ = ("_added_ids", "_added_values", "_ids", "_layers", "_signatures", "_values")

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._ids: dict[Constant, int] = {}
        self._values: list[Constant] = []
        self._added_ids: dict[Constant, int] = {}
        self._added_values: list[Constant] = []
        self._layers: dict[Signature, tuple[Relation, ...]] = {}
        self._signatures: frozenset[Signature] | None = None
        self._add(facts, self._ids, self._values, 0)

    def _add(
        self, facts: Iterable[Fact], ids: dict[Constant, int], values: list[Constant], first: int
    ) -> None:
        base = self._ids if first else ids
        fresh: dict[Signature, Relation] = {}
        for fact in facts:
            atom = fact.atom
            row: list[int] = []
            for argument in atom.arguments:
                if isinstance(argument, Variable):
                    raise ValueError(f"the fact {atom} holds a variable; facts are ground")
                number = base.get(argument)
                if number is None:
                    number = ids.get(argument)
                    if number is None:
                        number = ids[argument] = first + len(values)
                        values.append(argument)
                row.append(number)
            signature = atom.signature
            relation = fresh.get(signature)
            if relation is None:
                relation = fresh[signature] = Relation(signature[1])
            key = tuple(row)
            others = relation.facts.get(key)
            if others is None:
                relation.facts[key] = (fact,)
                if fact.validity is not ALWAYS and fact.validity != ALWAYS:
                    relation.bounded[key] = (fact.validity,)
            elif fact not in others:
                together = tuple(sorted((*others, fact), key=_leaf_order))
                relation.facts[key] = together
                if any(other.validity == ALWAYS for other in together):
                    relation.bounded.pop(key, None)
                else:
                    relation.bounded[key] = tuple(other.validity for other in together)
        for signature, relation in fresh.items():
            self._layers[signature] = (*self._layers.get(signature, ()), relation)

    def with_facts(self, facts: Iterable[Fact]) -> FactBase:
        """Give a base with further facts; the cost depends on what was and is laid over only."""
        laid = FactBase()
        laid._ids, laid._values = self._ids, self._values
        laid._added_ids, laid._added_values = dict(self._added_ids), list(self._added_values)
        laid._layers = dict(self._layers)
        laid._signatures = None
        laid._add(facts, laid._added_ids, laid._added_values, max(len(self._values), 1))
        return laid

    def signatures(self) -> frozenset[Signature]:
        """Give predicate (with `-` for denials) and arity of everything stated, on any day."""
        found = self._signatures
        if found is None:
            found = self._signatures = frozenset(self._layers)
        return found

    def facts(self) -> Iterator[Fact]:
        """Give every fact, whatever its validity, by signature and then as it came."""
        for signature in sorted(self._layers):
            for relation in self._layers[signature]:
                for facts in relation.facts.values():
                    yield from facts

    def __len__(self) -> int:
        return sum(
            len(facts)
            for layers in self._layers.values()
            for relation in layers
            for facts in relation.facts.values()
        )

    def match(self, pattern: Atom, valid_on: datetime.date | None) -> tuple[Fact, ...]:
        """Give the visible facts that match an atom, by (text, leaf).

        A variable matches anything, the same value wherever it stands twice.
        """
        positions, key_parts = [], []
        places: dict[str, list[int]] = {}
        terms = self.terms()
        for at, argument in enumerate(pattern.arguments):
            if isinstance(argument, Variable):
                places.setdefault(argument.name, []).append(at)
            else:
                positions.append(at)
                key_parts.append(terms.intern(argument))
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
        self, signature: Signature, positions: tuple[int, ...], valid_on: datetime.date | None
    ) -> Lookup:
        """Give the function from a key (values at `positions`) to the visible rows."""
        layers = self._layers.get(signature, ())
        if not layers:
            return _nothing
        if len(layers) == 1:
            return layers[0].lookup(positions, valid_on)
        lookups = [layer.lookup(positions, valid_on) for layer in layers]
        return lambda key: list(dict.fromkeys(chain(*[look(key) for look in lookups])))

    def facts_at(
        self, signature: Signature, row: Row, valid_on: datetime.date | None
    ) -> tuple[Fact, ...]:
        """Give the visible facts of one row, by leaf."""
        layers = self._layers.get(signature, ())
        if len(layers) == 1:
            found = layers[0].facts.get(row, ())
        else:
            several = chain(*[layer.facts.get(row, ()) for layer in layers])
            found = tuple(sorted(several, key=_leaf_order))
        if valid_on is None or all(map(_is_unbounded, found)):
            return found
        return tuple([fact for fact in found if fact.validity.holds_on(valid_on)])

    def terms(self) -> Terms:
        """Give a table of constants for one evaluation, which may add its own."""
        return Terms(self._ids, self._values, dict(self._added_ids), list(self._added_values))


def _leaf_order(fact: Fact) -> tuple[str, str, str]:
    return fact.leaf, str(fact.validity.start or ""), str(fact.validity.end or "")


def _is_unbounded(fact: Fact) -> bool:
    return fact.validity is ALWAYS


def _nothing(_: Key) -> Sequence[Row]:
    return ()


class Terms:
    """Constants by id and ids by constant: those of a base, and those added since."""

    __slots__ = ("_added_ids", "_added_values", "_first", "_ids", "_values")

    def __init__(
        self,
        ids: dict[Constant, int],
        values: list[Constant],
        added_ids: dict[Constant, int],
        added_values: list[Constant],
    ) -> None:
        self._ids, self._values = ids, values
        self._added_ids, self._added_values = added_ids, added_values
        self._first = max(len(values), 1)

    def intern(self, value: Constant) -> int:
        """Give the id of a constant, adding it if it is new."""
        number = self._ids.get(value)
        if number is None:
            number = self._added_ids.get(value)
            if number is None:
                number = self._added_ids[value] = self._first + len(self._added_values)
                self._added_values.append(value)
        return number

    def value(self, number: int) -> Constant:
        """Give the constant of an id."""
        first = self._first
        return self._values[number] if number < first else self._added_values[number - first]
